"""Pairwise verdicts of one judge, in both orders, from its label probabilities.

The verdict is read from the judge's own next token after `[[` (Wataoka et al., Eq. 3): the
probabilities of A and B there, every surface form of a label summed. What the two labels hold of
the whole is the verdict's mass; below `min_mass` the model answered something else.
"""

import itertools

import pandas as pd

from selfpref.engines import Choice
from selfpref.engines.calls import Calls
from selfpref.prompts import Layout
from selfpref.responding import compared, dialogues
from selfpref.schemas import TIE


def judge_pairs(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    labels: pd.DataFrame,
    judge: str,
    calls: Calls,
    layout: Layout,
    *,
    min_mass: float,
) -> pd.DataFrame:
    """Judge every pair that a human labelled, in both orders.

    Args:
        items: The items table.
        responses: The responses table.
        labels: The labels table; it says which pairs there are.
        judge: Whose verdicts these are.
        calls: The model behind the store.
        layout: The prompts.
        min_mass: Below this mass a verdict has the status low-mass.

    Returns:
        The verdicts table: two rows a pair.
    """
    said = dialogues(items, responses)
    pairs = labels[["study", "item_id", "responder_a", "responder_b"]].drop_duplicates()
    orders = [
        (study, item, names)
        for study, item, a, b in pairs.itertuples(index=False)
        for names in itertools.permutations((a, b))
    ]
    prompts = [layout.judge(*compared(said, item, names)) for _, item, names in orders]
    choices = calls.choose(prompts, layout.labels)
    return pd.DataFrame(
        [
            {"study": study, "item_id": item, "judge": judge, "candidates": list(names)}
            | _verdict(names, choice, min_mass)
            for (study, item, names), choice in zip(orders, choices, strict=True)
        ]
    ).assign(task="preference", variant="plain", order_known=True, repeat=0, stored=None)


def _verdict(names: tuple[str, ...], choice: Choice, min_mass: float) -> dict[str, object]:
    if choice.status != "ok":
        return {"probabilities": None, "mass": None, "choice": None, "status": choice.status}
    read = {"probabilities": list(choice.probabilities), "mass": choice.mass}
    if choice.mass < min_mass:
        return read | {"choice": None, "status": "low-mass"}
    first, second = choice.probabilities
    return read | {"choice": TIE if first == second else names[first < second], "status": "ok"}
