"""Contests: one judge marks every response by a rubric, and says which of several is the best.

    total(response)  = sum of its eleven marks, 0 to 11, added up here and not by the judge
    choice(item)     = the response behind the letter that the judge holds most probable

Which response stands first moves a verdict. The *seeded* order of an item is a permutation drawn
from the item, the judge and the run's seed, and stored with the verdict; *cyclic* orders are its k
rotations, in which every response stands once in every place. A tie is an answer of its own; a
reply that cannot be read is missing and counted, never a tie and never a low score.
"""

from collections.abc import Sequence
from typing import Any, Literal
from zlib import crc32

import numpy as np
import pandas as pd

from selfpref.engines import Choice
from selfpref.engines.calls import Calls
from selfpref.prompts.contests import Contest
from selfpref.responding import question
from selfpref.schemas import TIE

Orders = Literal["seeded", "cyclic"]
# The variants of a verdict: its item's seeded order, or one of its rotations.
SEEDED, ROTATED = "seeded", "rotated"


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
    rng = np.random.default_rng(crc32(f"{seed}/{judge}/{item_id}".encode()))
    drawn = [str(name) for name in rng.permutation(sorted(responders))]
    turns = len(drawn) if orders == "cyclic" else 1
    return [tuple(drawn[turn:] + drawn[:turn]) for turn in range(turns)]


def prefer(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    calls: Calls,
    contest: Contest,
    *,
    orders: Orders,
    min_mass: float,
    seed: int,
) -> pd.DataFrame:
    """Which response to each item is best, in one or in all cyclic orders.

    Args:
        items: The items table.
        responses: Two or more responses to each of these items.
        judge: Whose verdicts these are.
        calls: The model behind the store.
        contest: The prompts.
        orders: See `presented`.
        min_mass: Below this mass of letters and tie a verdict has the status low-mass.
        seed: Of the orders.

    Returns:
        The verdicts table; `variant` tells an item's seeded order from its rotations.
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
    # The labels differ with the number of responses, and with them the call.
    choices: dict[int, Choice] = {}
    for size in sorted({len(names) for *_, names, _ in readings}):
        alike = [i for i, (*_, names, _) in enumerate(readings) if len(names) == size]
        labels = (*contest.letters[:size], contest.tie)
        choices |= zip(alike, calls.choose([readings[i][-1] for i in alike], labels), strict=True)
    return pd.DataFrame(
        {"study": study, "item_id": item_id, "judge": judge, "candidates": list(names)}
        | {"variant": ROTATED if turn else SEEDED}
        | _verdict(names, choices[number], min_mass)
        for number, (study, item_id, turn, names, _) in enumerate(readings)
    ).assign(task="preference", order_known=True, repeat=0, stored=None)


def _verdict(names: tuple[str, ...], choice: Choice, min_mass: float) -> dict[str, Any]:
    if choice.status != "ok":
        return {"probabilities": None, "mass": None, "choice": None, "status": choice.status}
    read = {"probabilities": list(choice.probabilities[:-1]), "mass": choice.mass}
    if choice.mass < min_mass:
        return read | {"choice": None, "status": "low-mass"}
    best = int(np.argmax(choice.probabilities))
    return read | {"choice": (*names, TIE)[best], "status": "ok"}


def mark(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    calls: Calls,
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
        open_ = [
            i for i in range(len(keys)) if found.get(i, {}).get("status") in (None, "unparsable")
        ]
        seeds = [crc32(f"{seed}/{judge}/{'/'.join(keys[i])}/{attempt}".encode()) for i in open_]
        made = calls.generate(
            [prompts[i] for i in open_],
            max_tokens=contest.mark_tokens,
            temperature=temperature,
            seeds=seeds,
        )
        for i, generation in zip(open_, made, strict=True):
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
