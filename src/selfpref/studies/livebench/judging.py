"""What judges are asked: every response marked by a rubric, and which of several is best.

    total(response)  = sum of its eleven marks, 0 to 11, added up here; with the authors' prompts
                       the total that the judge states
    choice(item)     = the response behind the label that the judge holds most probable

Which response stands first moves a verdict: the *seeded* order of an item is a permutation drawn
from the item, the judge and the run's seed, and stored with the verdict; *cyclic* orders are its k
rotations, in which every response stands once in every place. They are numbered by `repeat`, the
seeded one 0. A tie is an answer of its own where the prompts offer one; a reply that cannot be read
is missing and counted, never a tie and never a low score.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Literal

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.ask import Columns, Question, ask
from selfpref.ask.judging import Judging
from selfpref.models import Generate, Text
from selfpref.models.calls import Model
from selfpref.params import Verdicts
from selfpref.prompts.choices import ChoicePrompts
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
    model: Model,
    prompts: ChoicePrompts,
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
        model: The judge's model.
        prompts: The prompts.
        use: How it comes to a verdict.
        orders: See `presented`.
        seed: Of the orders, and of verdicts in words.
        variant: A vote, or a tie-breaker's call.

    Returns:
        The verdicts table.
    """
    texts = responses.set_index(["item_id", "responder"])["text"].to_dict()
    writers = responses.groupby("item_id")["responder"].unique()
    asked = dict(zip(items["item_id"], map(question, items["messages"]), strict=True))
    rows = [
        {"study": study, "item_id": item, "repeat": turn, "candidates": names}
        for study, item in items[["study", "item_id"]].itertuples(index=False)
        for turn, names in enumerate(presented(item, judge, writers[item], orders, seed))
    ]

    def questions(some: pd.DataFrame) -> Iterator[Question]:
        for item, names in some[["item_id", "candidates"]].itertuples(index=False):
            # The labels differ with the number of responses.
            judging = Judging(use, (*prompts.letters[: len(names)], *prompts.tie), prompts.marker)
            prompt = prompts.prefer(asked[item], [texts[item, name] for name in names])
            yield judging.verdict(prompt, names, seed, judge, item, *names)

    return ask(model, pd.DataFrame(rows), "verdicts", questions, judge=judge, variant=variant)


def question(messages: list[dict[str, str]]) -> str:
    """An item's question; the study has one turn."""
    return messages[0]["content"]


def mark(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    model: Model,
    prompts: ChoicePrompts,
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
        model: The judge's model.
        prompts: The prompts.
        tries: At least 1.
        temperature: 0 is greedy; a second try of a greedy model is the first again.
        seed: Of the samples.

    Returns:
        The ratings table: `score` the total, `marks` the eleven marks where all can be read,
        `reply` the judge's words.
    """
    asked = dict(zip(items["item_id"], map(question, items["messages"]), strict=True))

    def questions(attempt: int, some: pd.DataFrame) -> Iterator[Question]:
        for item, responder, text in some[["item_id", "responder", "text"]].itertuples(index=False):
            draw = seed_of(seed, judge, item, responder, attempt)
            prompt = prompts.rubric(asked[item], text)
            call = Generate(prompt, prompts.mark_tokens, temperature, draw)
            yield Question([call], partial(_marked, prompts))

    made, left = [], responses
    for attempt in range(tries):
        read = ask(model, left, "ratings", partial(questions, attempt), judge=judge, task="rubric")
        again = read["status"].eq("unparsable").to_numpy() & (attempt < tries - 1)
        made.append(read[~again])
        left = left[again]
    return tables.together("ratings", made)


def _marked(prompts: ChoicePrompts, answer: Text) -> Columns:
    total, marks = prompts.marks(answer.text) if answer.status != "truncated" else (None, None)
    if total is None:
        status = "truncated" if answer.status == "truncated" else "unparsable"
        return {"score": None, "marks": None, "reply": answer.text, "status": status}
    found = None if marks is None else [float(value) for value in marks]
    return {"score": float(total), "marks": found, "reply": answer.text, "status": "ok"}
