"""The testbed's tables: its prompts, and what is true of the responses to them.

A draw of prompts is one data set. The oracle, with an annotator's noise, stands for the human.
Truths of a response:

    quality        share of the asked-for parts that are right, 0..1
    rule-<judge>   the score by which the judge's tuning labels were made: quality plus its bonus
                   for its own style

and one truth a judge of the whole data set, `beta`, the injected bonus (its item is the data set).
"""

import json
from itertools import combinations

import numpy as np
import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.lab.injected import Family, human_label, rule_score
from selfpref.lab.oracle import quality
from selfpref.lab.world import CONTEST_TASKS, Item, Task, draw_items


def draw(dataset: str, seed: int, prompts: int) -> dict[str, Item]:
    """The items of one data set by item_id.

    Raises:
        SelfprefError: The world has fewer prompts.
    """
    return _drawn(dataset, prompts, np.random.SeedSequence([seed, 10]))


def draw_contest(dataset: str, seed: int, prompts: int) -> dict[str, Item]:
    """The items of one data set of contests by item_id, the six tasks in turn.

    Raises:
        SelfprefError: The world has fewer prompts.
    """
    return _drawn(dataset, prompts, np.random.SeedSequence([seed, 20]), CONTEST_TASKS)


def _drawn(
    dataset: str, prompts: int, seed: np.random.SeedSequence, *tasks: tuple[Task, ...]
) -> dict[str, Item]:
    try:
        items = draw_items(prompts, seed, *tasks)
    except ValueError as error:
        raise SelfprefError(f"params.yaml: datasets.{dataset}.{error}") from error
    return {f"{dataset}/{item.item_id}": item for item in items}


def items_table(study: str, seed: int, items: dict[str, Item]) -> pd.DataFrame:
    """The items table; a prompt is its own cluster."""
    return pd.DataFrame(
        {
            "study": study,
            "item_id": item_id,
            "category": item.task,
            "cluster": item_id,
            "messages": [{"role": "user", "content": item.question}],
            "reference": None,
            "metadata": json.dumps({"held_out": item.held_out, "seed": seed}),
        }
        for item_id, item in items.items()
    )


def annotate(
    study: str,
    dataset: str,
    seed: int,
    items: dict[str, Item],
    responses: pd.DataFrame,
    families: list[Family],
    *,
    pairs: int,
    noise: float,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Draw the pairs to be judged, label them, and write down what is true.

    Args:
        study: The study.
        dataset: The data set.
        seed: Its seed.
        items: As `draw` returns them.
        responses: The responses table.
        families: The trained families.
        pairs: How many pairs of responses to one item are drawn, without replacement.
        noise: Scale of the annotator's noise, in units of quality.

    Returns:
        The labels and the truths table.
    """
    texts = responses.set_index(["item_id", "responder"])["text"].to_dict()
    writers = sorted(set(responses["responder"]))
    every = [
        (item, *pair)
        for item in items
        for pair in combinations(writers, 2)
        if all((item, name) in texts for name in pair)
    ]
    rng = np.random.default_rng(np.random.SeedSequence([seed, 11]))
    labels = []
    for number in rng.permutation(len(every))[:pairs]:
        item, *names = every[int(number)]
        # Which response is called A is drawn, so that no family always stands first.
        a, b = names if rng.random() < 0.5 else names[::-1]
        vote = human_label(items[item], texts[item, a], texts[item, b], rng, noise)
        labels.append({"item_id": item, "responder_a": a, "responder_b": b, "label": vote})
    truths = [
        {"item_id": item, "responder": responder, "metric": metric, "score": score}
        for (item, responder), text in texts.items()
        for metric, score in _scores(items[item], text, families)
    ]
    truths += [
        {"item_id": dataset, "responder": f.name, "metric": "beta", "score": f.beta}
        for f in families
    ]
    return (
        pd.DataFrame(labels).assign(study=study, annotator="human", repeat=0),
        pd.DataFrame(truths).assign(study=study, step=0),
    )


def _scores(item: Item, text: str, families: list[Family]) -> list[tuple[str, float]]:
    rules = [(f"rule-{f.name}", rule_score(item, text, f.style, f.beta)) for f in families]
    return [("quality", quality(item, text)), *rules]
