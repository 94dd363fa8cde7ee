"""The testbed's side of the study: its prompts, and an annotator that knows the truth."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.lab import world
from selfpref.lab.dialogues import human_label, load_families, rule_score
from selfpref.lab.world import quality
from selfpref.params import LabPrompts
from selfpref.params.studies import Label
from selfpref.studies.wataoka import STUDY


def read(dataset: str, entry: LabPrompts, source: Path) -> dict[str, pd.DataFrame]:
    """The prompts of one data set.

    Args:
        dataset: Its key.
        entry: Seed and number.
        source: The testbed's folder in `src`, which makes them.
    """
    items = world.draw(dataset, entry.seed, entry.prompts)
    return {"items": world.prompts_table(STUDY.name, entry.seed, items)}


def label(
    use: Label, table: pd.DataFrame, written: pd.DataFrame, models: Path
) -> dict[str, pd.DataFrame]:
    """Pairs of responses to a data set's prompts, labelled by the oracle with noise.

    Truths of a response:

        quality        share of the asked-for parts that are right, 0..1
        rule-<judge>   the score by which the judge's tuning labels were made: quality plus its
                       bonus for its own style

    and one truth a judge of the whole data set, `beta`, the injected bonus (its item is the data
    set).

    Args:
        use: How many pairs, without replacement, and the scale of the annotator's noise, in units
            of quality.
        table: The items of one data set.
        written: The responses table.
        models: The folder of its models, which has its name.

    Returns:
        labels and truths.
    """
    assert use.noise is not None
    families = load_families(models)
    items = world.redrawn(table)
    seed = json.loads(table["metadata"].iloc[0])["seed"]
    known = written.query("item_id in @items")
    texts = known.set_index(["item_id", "responder"])["text"].to_dict()
    writers = {item: sorted(of) for item, of in known.groupby("item_id")["responder"]}
    every = [(item, *pair) for item in items for pair in combinations(writers.get(item, ()), 2)]
    rng = np.random.default_rng(np.random.SeedSequence([seed, 11]))
    labels = []
    for number in rng.permutation(len(every))[: use.pairs]:
        item, *names = every[int(number)]
        # Which response is called A is drawn, so that no family always stands first.
        a, b = names if rng.random() < 0.5 else names[::-1]
        vote = human_label(items[item], texts[item, a], texts[item, b], rng, use.noise)
        labels.append({"item_id": item, "responder_a": a, "responder_b": b, "label": vote})
    truths = [(models.name, family.name, "beta", family.beta) for family in families]
    for (item, name), text in texts.items():
        truths.append((item, name, "quality", quality(items[item], text)))
        for one in families:
            score = rule_score(items[item], text, one.style, one.beta)
            truths.append((item, name, f"rule-{one.name}", score))
    rows = pd.DataFrame(truths, columns=["item_id", "responder", "metric", "score"])
    return {
        "labels": tables.fill(labels, "labels", study=STUDY.name, annotator="human"),
        "truths": tables.fill(rows, "truths", study=STUDY.name),
    }
