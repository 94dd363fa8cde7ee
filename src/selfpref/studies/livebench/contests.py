"""Contests: every response marked by a rubric, and which of several is best.

    total(response)  = sum of its eleven marks, 0 to 11, added up here and not by the judge
    choice(item)     = the response behind the letter that the judge holds most probable

Which response stands first moves a verdict: the *seeded* order of an item is a permutation drawn
from the item, the judge and the run's seed, and stored with the verdict; *cyclic* orders are its k
rotations, in which every response stands once in every place. They are numbered by `repeat`, the
seeded one 0. A tie is an answer of its own; a reply that cannot be read is missing and counted,
never a tie and never a low score.
"""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.ask.judging import Judging, draws
from selfpref.models import Generate
from selfpref.models.calls import Model
from selfpref.params import Verdicts
from selfpref.prompts.contests import Contest
from selfpref.seeds import seed_of
from selfpref.studies.livebench.measure.panel import VOTE

Orders = Literal["seeded", "cyclic"]


def presented(
    item_id: str, judge: str, responders: Sequence[str], orders: Orders, seed: int
) -> list[tuple[str, ...]]:
    """The orders in which a judge reads the responses to an item.

    Args:
        item_id: The item.
        judge: Who reads.
        responders: Whose responses, in any order.
        orders: `seeded`: one order; `cyclic`: all its rotations, itself the first.
        seed: The run's seed.

    Returns:
        One or k permutations of the responders.
    """
    rng = np.random.default_rng(seed_of(seed, judge, item_id))
    drawn = [str(name) for name in rng.permutation(sorted(responders))]
    turns = len(drawn) if orders == "cyclic" else 1
    return [tuple(drawn[turn:] + drawn[:turn]) for turn in range(turns)]


def prefer(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    calls: Model,
    contest: Contest,
    use: Verdicts,
    *,
    orders: Orders,
    seed: int,
    variant: str = VOTE,
) -> pd.DataFrame:
    """Which response to each item is best, in one or in all cyclic orders.

    Args:
        items: The items table.
        responses: Two or more responses to each of these items.
        judge: Whose verdicts these are.
        calls: The model behind the store.
        contest: The prompts.
        use: How it comes to a verdict.
        orders: See `presented`.
        seed: Of the orders, and of verdicts in words.
        variant: A vote, or a tie-breaker's call.

    Returns:
        The verdicts table.
    """
    texts = responses.set_index(["item_id", "responder"])["text"].to_dict()
    writers = responses.groupby("item_id")["responder"].unique()
    readings = [
        (study, item_id, turn, names, contest.prefer(asked, [texts[item_id, n] for n in names]))
        for study, item_id, asked in zip(
            items["study"], items["item_id"], map(question, items["messages"]), strict=True
        )
        for turn, names in enumerate(presented(item_id, judge, writers[item_id], orders, seed))
    ]
    found: dict[int, dict[str, object]] = {}
    # The labels differ with the number of responses.
    for size in sorted({len(names) for *_, names, _ in readings}):
        alike = [i for i, (*_, names, _) in enumerate(readings) if len(names) == size]
        made = Judging(calls, (*contest.letters[:size], contest.tie), use).verdicts(
            [readings[i][-1] for i in alike],
            [draws(use, seed, judge, readings[i][1], *readings[i][3]) for i in alike],
            [readings[i][3] for i in alike],
        )
        found |= zip(alike, made, strict=True)
    return pd.DataFrame(
        [
            {"study": study, "item_id": item_id, "judge": judge, "candidates": list(names)}
            | {"repeat": turn, **found[number]}
            for number, (study, item_id, turn, names, _) in enumerate(readings)
        ],
        columns=list(tables.empty("verdicts").columns),
    ).assign(task="preference", variant=variant, order_known=True, stored=None)


def question(messages: list[dict[str, str]]) -> str:
    """An item's question; contests have one turn."""
    return messages[0]["content"]


def mark(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    calls: Model,
    contest: Contest,
    *,
    tries: int,
    temperature: float,
    seed: int,
) -> pd.DataFrame:
    """Mark every response by the rubric.

    A reply that cannot be read is asked again with another seed, `tries` times at most.

    Args:
        items: The items table.
        responses: The responses to these items.
        judge: Whose marks these are.
        calls: The model behind the store.
        contest: The prompts.
        tries: At least 1.
        temperature: 0 is greedy; a second try of a greedy model is the first again.
        seed: Of the samples.

    Returns:
        The ratings table: `marks` the eleven marks, `score` their sum, `reply` the judge's words.
    """
    questions = dict(zip(items["item_id"], map(question, items["messages"]), strict=True))
    keys = list(zip(responses["item_id"], responses["responder"], strict=True))
    prompts = [
        contest.rubric(questions[item_id], text)
        for (item_id, _), text in zip(keys, responses["text"], strict=True)
    ]
    found: dict[int, dict[str, Any]] = {}
    for attempt in range(tries):
        left = [
            i for i in range(len(keys)) if found.get(i, {}).get("status") in (None, "unparsable")
        ]
        made = calls.ask(
            [
                Generate(
                    prompts[i],
                    contest.mark_tokens,
                    temperature,
                    seed_of(seed, judge, *keys[i], attempt),
                )
                for i in left
            ]
        )
        for i, generation in zip(left, made, strict=True):
            marks = contest.marks(generation.text) if generation.status != "truncated" else None
            status = generation.status if generation.status == "truncated" else "unparsable"
            found[i] = {
                "score": None if marks is None else float(sum(marks)),
                "marks": None if marks is None else [float(value) for value in marks],
                "reply": generation.text,
                "status": status if marks is None else "ok",
            }
    rows = responses[["study", "item_id", "responder", "step", "sample"]].reset_index(drop=True)
    read = pd.DataFrame([found[i] for i in range(len(keys))])
    return pd.concat([rows, read], axis=1).assign(
        judge=judge, task="rubric", variant="plain", repeat=0,
        distribution=None, mass=None, stored=None,
    )  # fmt: skip
