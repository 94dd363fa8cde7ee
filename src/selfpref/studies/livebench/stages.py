"""What is run: models answer, judges mark and choose, tie-breakers decide what is left.

A category of items says who responds, who judges and who breaks its ties. A judge marks every
response by a rubric, and says which of several is best:

    total(response)  = sum of its eleven marks, 0 to 11, added up here; with the authors' prompts
                       the total that the judge states
    choice(item)     = the response behind the label that the judge holds most probable

Which response stands first moves a verdict: the *seeded* order of an item is a permutation drawn
from the item, the judge and the run's seed, and stored with the verdict; *cyclic* orders are its k
rotations, in which every response stands once in every place. They are numbered by `repeat`, the
seeded one 0. A tie is an answer of its own where the prompts offer one; a reply that cannot be read
is missing and counted, never a tie and never a low score.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.ask import Columns, Judging, Question, ask, tallied
from selfpref.ask import respond as answered
from selfpref.models import Generate, Text
from selfpref.models.calls import Model, OpenModel, responder
from selfpref.params import Contest, Params
from selfpref.prompts.choices import CHOICE_PROMPTS, ChoicePrompts
from selfpref.seeds import seed_of
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.livebench import STUDY, lab, panel, scorers

Orders = Literal["seeded", "cyclic"]
Made = dict[str, pd.DataFrame]


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
    drawn = rng.permutation(sorted(responders)).tolist()
    turns = len(drawn) if orders == "cyclic" else 1
    return [tuple(drawn[turn:] + drawn[:turn]) for turn in range(turns)]


class Asked(NamedTuple):
    """A model that is asked: its name in the tables, its entry of the task, and the run's seed."""

    name: str
    model: Model
    use: Any
    seed: int

    @property
    def prompts(self) -> ChoicePrompts:
        """The prompts in the wording that it is asked in."""
        return CHOICE_PROMPTS[self.use.prompts]


def prefer(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: Asked,
    orders: Orders,
    variant: str = panel.VOTE,
) -> pd.DataFrame:
    """Which response to each item is best, in one or in all cyclic orders.

    Args:
        items: The items table.
        responses: Two or more responses to each of these items.
        judge: Who judges.
        orders: See `presented`.
        variant: A vote, or a tie-breaker's call.

    Returns:
        The verdicts table.
    """
    texts = responses.set_index(["item_id", "responder"])["text"].to_dict()
    writers = responses.groupby("item_id")["responder"].unique()
    asked = _asked(items)
    shown = [presented(item, judge.name, writers[item], orders, judge.seed) for item in asked]
    rows = items[["study", "item_id"]].assign(candidates=shown).explode("candidates")
    rows["repeat"] = rows.groupby("item_id").cumcount()

    def questions(some: pd.DataFrame) -> Iterator[Question]:
        for item, names in zip(some["item_id"], some["candidates"], strict=True):
            # The labels differ with the number of responses.
            labels = (*judge.prompts.letters[: len(names)], *judge.prompts.tie)
            judging = Judging(judge.use, labels, judge.prompts.marker)
            prompt = judge.prompts.prefer(asked[item], [texts[item, name] for name in names])
            yield judging.verdict(prompt, names, judge.seed, judge.name, item, *names)

    return ask(judge.model, rows, "verdicts", questions, judge=judge.name, variant=variant)


def _asked(items: pd.DataFrame) -> dict[str, str]:
    """The question of each item; the study has one turn."""
    return {item: turns[0]["content"] for item, turns in items[["item_id", "messages"]].to_numpy()}


def mark(items: pd.DataFrame, responses: pd.DataFrame, judge: Asked) -> pd.DataFrame:
    """Mark every response by the rubric.

    A reply that cannot be read is asked again with another seed, `tries` times at most. At a
    temperature of 0 a second try is the first again.

    Args:
        items: The items table.
        responses: The responses to these items.
        judge: Who marks.

    Returns:
        The ratings table: `score` the total, `marks` the eleven marks where all can be read,
        `reply` the judge's words.
    """
    asked = _asked(items)
    prompts = judge.prompts

    def read(answer: Text) -> Columns:
        (total, marks) = prompts.marks(answer.text)
        status = "ok"
        if total is None:
            marks = None
            status = "truncated" if answer.status == "truncated" else "unparsable"
        return {"score": total, "marks": marks, "reply": answer.text, "status": status}

    def questions(some: pd.DataFrame, attempt: int) -> Iterator[Question]:
        for item, writer, text in some[["item_id", "responder", "text"]].to_numpy():
            draw = seed_of(judge.seed, judge.name, item, writer, attempt)
            limits = prompts.mark_tokens, judge.use.temperature, draw
            yield Question([Generate(prompts.rubric(asked[item], text), *limits)], read)

    made = []
    left = responses
    told = {"judge": judge.name, "task": "rubric"}
    for attempt in range(judge.use.tries):
        found = ask(judge.model, left, "ratings", partial(questions, attempt=attempt), **told)
        again = found["status"].eq("unparsable").to_numpy() & (attempt < judge.use.tries - 1)
        made.append(found[~again])
        left = left[again]
    return tables.together("ratings", made)


def _each(
    params: Params, task: str, model: str, open_model: OpenModel
) -> Iterator[tuple[str, pd.DataFrame, Asked]]:
    """Each data set, its items, and the model opened for it."""
    use = getattr(params.livebench, task)[model]
    own = responder(params, model)
    for dataset in STUDY.parts(params.profile, "items"):
        items = tables.read(params.profile, "items", STUDY.name, [dataset])
        title = f"{task.replace('_', '-')} {model} {dataset}"
        with open_model(params, model, dataset, title) as opened:
            yield dataset, items, Asked(own, opened, use, params.seed)


def _items(params: Params, items: pd.DataFrame, wanted: Callable[[Contest], bool]) -> pd.DataFrame:
    """The items in the categories that are wanted, each from its start to its end."""
    parts = [
        items[items["category"].eq(category)].iloc[entry.start : entry.end]
        for category, entry in params.livebench.categories.items()
        if wanted(entry)
    ]
    return pd.concat([items.iloc[:0], *parts]).sort_index()


def _of(responses: pd.DataFrame, items: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The responses to these items by the responders of their categories."""
    who = {category: one.responders for category, one in params.livebench.categories.items()}
    wanted = items.assign(responder=items["category"].map(who)).explode("responder")
    return responses.merge(wanted[["item_id", "responder"]])


def respond(params: Params, model: str, open_model: OpenModel) -> Made:
    """One model's responses to the items of its categories, scored by their answer keys.

    Args:
        params: The stage's parameters.
        model: A model of `livebench.respond`.
        open_model: Opens the model for a data set.

    Returns:
        responses, truths, and `dropped`: by data set how many responses were cut off at the limit,
        and how many items have none, by reason.
    """
    made = []
    counts = {}
    for dataset, items, one in _each(params, "respond", model, open_model):
        mine = _items(params, items, lambda entry: entry.respond and model in entry.responders)
        how = one.name, one.model, one.prompts.respond, one.use
        found, counts[dataset] = answered(mine, *how, seed=one.seed)
        made.append(found)
    responses = tables.together("responses", made)
    items = STUDY.read(params.profile, "items")
    truths = scorers.keyed(items, responses, lab.oracle(items))
    return {"responses": responses, "truths": truths, "dropped": tallied(counts)}


def judge(params: Params, model: str, open_model: OpenModel) -> Made:
    """One judge's ratings and verdicts, in the categories that it judges.

    Args:
        params: The stage's parameters.
        model: A model of `livebench.judge`.
        open_model: Opens the model for a data set.
    """
    every = STUDY.read(params.profile, "responses")
    ratings = []
    verdicts = []
    for _, items, one in _each(params, "judge", model, open_model):
        some = _items(params, items, lambda entry: entry.score and model in entry.judges)
        ratings.append(mark(some, _of(every, some, params), one))
        some = _items(params, items, lambda entry: entry.prefer and model in entry.judges)
        verdicts.append(prefer(some, _of(every, some, params), one, one.use.orders))
    made = {"ratings": ratings, "verdicts": verdicts}
    return {name: tables.together(name, parts) for name, parts in made.items()}


def tie_break(params: Params, model: str, open_model: OpenModel) -> Made:
    """A tie-breaker's call on every item of its categories whose judges reach no majority.

    Args:
        params: The stage's parameters.
        model: A model of `livebench.tie_break`.
        open_model: Opens the model for a data set.

    Returns:
        tie-breaks: verdicts with the variant of a tie-breaker; and `dropped`: by category how the
        votes ended before it was asked.
    """
    given = STUDY.whole(params.profile, ["items", "responses", "verdicts"])
    judges = {name for entry in params.livebench.categories.values() for name in entry.judges}
    given["verdicts"] = given["verdicts"].loc[lambda cast: cast["judge"].isin(judges)]
    choices = panel.Panel(given, 0.0, ClusterBootstrap()).choices
    how = panel.NOBODY
    made = []
    ends = []
    for _, votes in choices.groupby("category"):
        how = pd.concat([how, panel.ended(votes, panel.NOBODY)["outcome"]])
    for _, items, one in _each(params, "tie_break", model, open_model):
        mine = _items(params, items, lambda entry: entry.tie_breaker == model)
        mine = mine.assign(outcome=mine["item_id"].map(how)).dropna(subset="outcome")
        left = mine[mine["outcome"].ne(panel.MAJORITY)]
        read = _of(given["responses"], left, params)
        made.append(prefer(left, read, one, "seeded", panel.BREAK))
        ends.append(mine)
    found = pd.concat(ends)
    dropped = pd.crosstab(found["category"], found["outcome"])
    return {"tie-breaks": tables.together("verdicts", made), "dropped": dropped}


STAGES = {"respond": respond, "judge": judge, "tie_break": tie_break}
