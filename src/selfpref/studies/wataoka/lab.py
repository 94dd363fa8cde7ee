"""The testbed's side of the study: its prompts, and an annotator that knows the truth."""

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd

from selfpref import paths, tables
from selfpref.lab import world
from selfpref.lab.dialogues import human_label, load_families, rule_score
from selfpref.lab.world import quality
from selfpref.params import LabPrompts, Params
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


def label(params: Params, dataset: str) -> dict[str, pd.DataFrame]:
    """Pairs of responses to a data set's prompts, labelled by the oracle with noise.

    Truths of a response:

        quality        share of the asked-for parts that are right, 0..1
        rule-<judge>   the score by which the judge's tuning labels were made: quality plus its
                       bonus for its own style

    and one truth a judge of the whole data set, `beta`, the injected bonus (its item is the data
    set).

    Args:
        params: With `wataoka.label.<dataset>`: how many pairs, without replacement, and the scale
            of the annotator's noise, in units of quality.
        dataset: The data set; its models lie in the folder of its name.

    Returns:
        labels and truths.
    """
    use = params.wataoka.label[dataset]
    assert use.noise is not None
    table = tables.read(params.profile, "items", STUDY.name, [dataset])
    items, seed = world.redrawn(table), int(json.loads(table["metadata"].iloc[0])["seed"])
    families = load_families(paths.models_dir(params.profile) / dataset)
    responses = STUDY.read(params.profile, "responses")
    responses = responses[responses["item_id"].isin(items)]
    texts = responses.set_index(["item_id", "responder"])["text"].to_dict()
    every = [
        (item, *pair)
        for item in items
        for pair in combinations(sorted(set(responses["responder"])), 2)
        if all((item, name) in texts for name in pair)
    ]
    rng = np.random.default_rng(np.random.SeedSequence([seed, 11]))
    labels = []
    for number in rng.permutation(len(every))[: use.pairs]:
        item, *names = every[int(number)]
        # Which response is called A is drawn, so that no family always stands first.
        a, b = names if rng.random() < 0.5 else names[::-1]
        vote = human_label(items[item], texts[item, a], texts[item, b], rng, use.noise)
        labels.append({"item_id": item, "responder_a": a, "responder_b": b, "label": vote})
    truths = [(dataset, family.name, "beta", family.beta) for family in families]
    for (item, name), text in texts.items():
        truths.append((item, name, "quality", quality(items[item], text)))
        for one in families:
            score = rule_score(items[item], text, one.style, one.beta)
            truths.append((item, name, f"rule-{one.name}", score))
    known = pd.DataFrame(truths, columns=["item_id", "responder", "metric", "score"])
    return {
        "labels": tables.fill(labels, "labels", study=STUDY.name, annotator="human"),
        "truths": tables.fill(known, "truths", study=STUDY.name),
    }
