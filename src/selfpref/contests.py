"""Contests: models answer, mark every response by a rubric, and say which of several is best.

    total(response)  = sum of its eleven marks, 0 to 11, added up here and not by the judge
    choice(item)     = the response behind the letter that the judge holds most probable

Who responds, judges and breaks ties is set for each category of items. Which response stands first
moves a verdict: the *seeded* order of an item is a permutation drawn from the item, the judge and
the run's seed, and stored with the verdict; *cyclic* orders are its k rotations, in which every
response stands once in every place. They are numbered by `repeat`, the seeded one 0. A tie is an
answer of its own; a reply that cannot be read is missing and counted, never a tie and never a low
score.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal
from zlib import crc32

import numpy as np
import pandas as pd

from selfpref import schemas, sources, tables
from selfpref.engines.calls import Calls
from selfpref.judging import Judging, draws
from selfpref.lab import experiment
from selfpref.lab.contest import rubric
from selfpref.lab.oracle import quality
from selfpref.metrics.livebench.panel import BREAK, VOTE, settle
from selfpref.metrics.livebench.votes import MAJORITY, decide
from selfpref.params import Verdicts
from selfpref.prompts.contests import CONTESTS, Contest
from selfpref.responding import respond
from selfpref.scorers import READINGS, has_key, score

Orders = Literal["seeded", "cyclic"]
# As `sources.calls`.
Opens = Callable[[Any, str, str, str], AbstractContextManager[Calls]]
STUDY = "livebench"


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
    rng = np.random.default_rng(_seed(seed, judge, item_id))
    drawn = [str(name) for name in rng.permutation(sorted(responders))]
    turns = len(drawn) if orders == "cyclic" else 1
    return [tuple(drawn[turn:] + drawn[:turn]) for turn in range(turns)]


def prefer(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    calls: Calls,
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
            items["study"], items["item_id"], map(_asked, items["messages"]), strict=True
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


def _asked(messages: list[dict[str, str]]) -> str:
    """An item's question; contests have one turn."""
    return messages[0]["content"]


def _seed(*parts: object) -> int:
    return crc32("/".join(map(str, parts)).encode())


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
    questions = dict(zip(items["item_id"], map(_asked, items["messages"]), strict=True))
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
        seeds = [_seed(seed, judge, *keys[i], attempt) for i in left]
        made = calls.generate(
            [prompts[i] for i in left],
            max_tokens=contest.mark_tokens,
            temperature=temperature,
            seeds=seeds,
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


def _items(params: Any, dataset: str, wanted: Callable[[Any], bool]) -> pd.DataFrame:
    """The items of a data set in the categories that are wanted, each from its start to its end."""
    items = tables.read(params.profile, "items", STUDY, [dataset])
    parts = [
        items[items["category"].eq(category)].iloc[entry.start : entry.end]
        for category, entry in params.contests.items()
        if wanted(entry)
    ]
    return pd.concat([items.iloc[:0], *parts]).sort_index()


def compete(params: Any, model: str, opens: Opens) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One model's responses to the items of its categories.

    Args:
        params: The stage's parameters.
        model: A key of `compete`.
        opens: Opens the model for a data set.

    Returns:
        The responses table; and by data set how many responses were cut off at the limit, and how
        many items have none, by reason.
    """
    use = params.compete[model]
    made, dropped = [tables.empty("responses")], {}
    for dataset in sources.datasets(params, STUDY):
        items = _items(params, dataset, lambda entry: entry.respond and model in entry.responders)
        with opens(params, model, dataset, f"compete {model} {dataset}") as calls:
            found, dropped[dataset] = respond(
                items,
                sources.name(params, model),
                calls,
                CONTESTS[use.prompts],
                max_tokens=use.max_tokens,
                temperature=use.temperature,
                seed=params.seed,
            )
        made.append(found)
    return pd.concat(made, ignore_index=True), pd.DataFrame(dropped).T.fillna(0).astype(int)


def assess(params: Any, model: str, opens: Opens) -> dict[str, pd.DataFrame]:
    """One judge's ratings and verdicts, in the categories that it judges.

    Args:
        params: The stage's parameters.
        model: A key of `assess`.
        opens: Opens the model for a data set.
    """
    use = params.assess[model]
    contest = CONTESTS[use.prompts]
    every = sources.whole(params, STUDY, ("responses",))["responses"]
    ratings, verdicts = [tables.empty("ratings")], [tables.empty("verdicts")]
    for dataset in sources.datasets(params, STUDY):
        with opens(params, model, dataset, f"assess {model} {dataset}") as calls:
            items = _items(params, dataset, lambda entry: entry.score and model in entry.judges)
            ratings.append(
                mark(
                    items,
                    _of(every, items, params),
                    sources.name(params, model),
                    calls,
                    contest,
                    tries=use.tries,
                    temperature=use.temperature,
                    seed=params.seed,
                )
            )
            items = _items(params, dataset, lambda entry: entry.prefer and model in entry.judges)
            verdicts.append(
                prefer(
                    items,
                    _of(every, items, params),
                    sources.name(params, model),
                    calls,
                    contest,
                    use,
                    orders=use.orders,
                    seed=params.seed,
                )
            )
    return {
        "ratings": pd.concat(ratings, ignore_index=True),
        "verdicts": pd.concat(verdicts, ignore_index=True),
    }


def _of(responses: pd.DataFrame, items: pd.DataFrame, params: Any) -> pd.DataFrame:
    """The responses to these items by the responders of their categories."""
    found = responses.merge(items[["item_id", "category"]], on="item_id")
    theirs = [
        responder in params.contests[category].responders
        for responder, category in zip(found["responder"], found["category"], strict=True)
    ]
    return found[theirs].drop(columns="category").reset_index(drop=True)


def break_ties(params: Any, model: str, opens: Opens) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A tie-breaker's call on every item of its categories whose judges reach no majority.

    Args:
        params: The stage's parameters.
        model: A key of `tie_breakers`.
        opens: Opens the model for a data set.

    Returns:
        The verdicts table, with the variant of a tie-breaker; and by category how the votes ended
        before it was asked.
    """
    use = params.tie_breakers[model]
    responses = sources.whole(params, STUDY, ("responses",))["responses"]
    votes = tables.read(params.profile, "verdicts", STUDY, params.assess)
    ballots: dict[str, list[str | None]] = {}
    for (item_id, _), rows in votes.groupby(["item_id", "judge"]):
        read = zip(map(tuple, rows["candidates"]), rows["choice"], rows["status"], strict=True)
        choice, _ = settle(
            (names, said if status == "ok" else None, status) for names, said, status in read
        )
        ballots.setdefault(item_id, []).append(choice)
    ended = pd.Series({item: decide(ballot, [])[1] for item, ballot in ballots.items()}, dtype=str)
    made, ends = [tables.empty("verdicts")], []
    for dataset in sources.datasets(params, STUDY):
        items = _items(params, dataset, lambda entry: entry.tie_breaker == model)
        outcome = items["item_id"].map(ended)
        ends.append(items.assign(outcome=outcome)[["category", "outcome"]])
        asked = items[outcome.notna() & outcome.ne(MAJORITY)]
        with opens(params, model, dataset, f"tie-break {model} {dataset}") as calls:
            made.append(
                prefer(
                    asked,
                    _of(responses, asked, params),
                    sources.name(params, model),
                    calls,
                    CONTESTS[use.prompts],
                    use,
                    orders="seeded",
                    seed=params.seed,
                    variant=BREAK,
                )
            )
    return pd.concat(made, ignore_index=True), pd.concat(ends).value_counts().unstack(fill_value=0)


def keyed(params: Any, responses: pd.DataFrame) -> pd.DataFrame:
    """Objective scores of responses: the laboratory's by its oracle, LiveBench's by its keys.

    Args:
        params: With `lab` and what names the data sets.
        responses: The responses table.

    Returns:
        The truths table: `strict` and `tolerant`, 0 to 1; in the laboratory also `rubric`, the
        total that the eleven marks have by rule.
    """
    known = {
        item_id: item
        for seed in params.lab.contests
        for item_id, item in experiment.draw_contest(seed, params.lab.contest_prompts).items()
    }
    items = sources.whole(params, STUDY, ("items",))["items"].set_index("item_id")
    columns = ["study", "item_id", "responder", "text"]
    rows = []
    for study, item_id, responder, text in responses[columns].itertuples(index=False):
        if item_id in known:
            item = known[item_id]
            scores = dict.fromkeys(READINGS, quality(item, text)) | {
                "rubric": float(sum(rubric(item, text)))
            }
        else:
            item = items.loc[item_id]
            task = json.loads(item["metadata"])["task"]
            if not has_key(task, item["reference"]):
                continue
            scores = score(task, _asked(item["messages"]), item["reference"], text)
        rows += [
            {"study": study, "item_id": item_id, "responder": responder, "metric": metric}
            | {"score": value, "step": 0}
            for metric, value in scores.items()
        ]
    return pd.DataFrame(rows, columns=list(schemas.TABLES["truths"].columns))
