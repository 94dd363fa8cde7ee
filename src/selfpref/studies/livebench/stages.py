"""The stages of the study: models answer, judges mark and choose, tie-breakers decide what is left.

A category of items says who responds, who judges and who breaks its ties.
"""

import json
from collections.abc import Callable

import pandas as pd

from selfpref import tables
from selfpref.ask.responding import respond as answered
from selfpref.ask.responding import tallied
from selfpref.models import open as models
from selfpref.params import Contest, Params
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.studies.livebench import STUDY, lab
from selfpref.studies.livebench.judging import mark, prefer, question
from selfpref.studies.livebench.measure.panel import BREAK, settle
from selfpref.studies.livebench.measure.votes import MAJORITY, decide
from selfpref.studies.livebench.scorers import has_key, score
from selfpref.tables import schemas


def _items(params: Params, dataset: str, wanted: Callable[[Contest], bool]) -> pd.DataFrame:
    """The items of a data set in the categories that are wanted, each from its start to its end."""
    items = tables.read(params.profile, "items", STUDY.name, [dataset])
    parts = [
        items[items["category"].eq(category)].iloc[entry.start : entry.end]
        for category, entry in params.livebench.categories.items()
        if wanted(entry)
    ]
    return pd.concat([items.iloc[:0], *parts]).sort_index()


def respond(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """One model's responses to the items of its categories, scored by their answer keys.

    Args:
        params: The stage's parameters.
        model: A model of `livebench.respond`.
        open_model: Opens the model for a data set.

    Returns:
        responses, truths, and `dropped`: by data set how many responses were cut off at the limit,
        and how many items have none, by reason.
    """
    use = params.livebench.respond[model]
    made, counts = [], {}
    for dataset in STUDY.parts(params.profile, "items"):
        items = _items(params, dataset, lambda entry: entry.respond and model in entry.responders)
        with open_model(params, model, dataset, f"respond {model} {dataset}") as asked:
            found, counts[dataset] = answered(
                items,
                models.responder(params, model),
                asked,
                CHOICE_PROMPTS[use.prompts].respond,
                use,
                seed=params.seed,
            )
        made.append(found)
    responses = tables.together("responses", made)
    return {"responses": responses, "truths": keyed(params, responses), "dropped": tallied(counts)}


def judge(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """One judge's ratings and verdicts, in the categories that it judges.

    Args:
        params: The stage's parameters.
        model: A model of `livebench.judge`.
        open_model: Opens the model for a data set.
    """
    use = params.livebench.judge[model]
    prompts = CHOICE_PROMPTS[use.prompts]
    every = STUDY.read(params.profile, "responses")
    ratings, verdicts = [], []
    for dataset in STUDY.parts(params.profile, "items"):
        with open_model(params, model, dataset, f"judge {model} {dataset}") as asked:
            items = _items(params, dataset, lambda entry: entry.score and model in entry.judges)
            ratings.append(
                mark(
                    items,
                    _of(every, items, params),
                    models.responder(params, model),
                    asked,
                    prompts,
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
                    models.responder(params, model),
                    asked,
                    prompts,
                    use,
                    orders=use.orders,
                    seed=params.seed,
                )
            )
    return {
        "ratings": tables.together("ratings", ratings),
        "verdicts": tables.together("verdicts", verdicts),
    }


def _of(responses: pd.DataFrame, items: pd.DataFrame, params: Params) -> pd.DataFrame:
    """The responses to these items by the responders of their categories."""
    found = responses.merge(items[["item_id", "category"]], on="item_id")
    theirs = [
        responder in params.livebench.categories[category].responders
        for responder, category in zip(found["responder"], found["category"], strict=True)
    ]
    return found[theirs].drop(columns="category").reset_index(drop=True)


def tie_break(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """A tie-breaker's call on every item of its categories whose judges reach no majority.

    Args:
        params: The stage's parameters.
        model: A model of `livebench.tie_break`.
        open_model: Opens the model for a data set.

    Returns:
        tie-breaks: verdicts with the variant of a tie-breaker; and `dropped`: by category how the
        votes ended before it was asked.
    """
    use = params.livebench.tie_break[model]
    responses = STUDY.read(params.profile, "responses")
    judges = {name for entry in params.livebench.categories.values() for name in entry.judges}
    votes = tables.read(
        params.profile, "verdicts", STUDY.name, STUDY.parts(params.profile, "verdicts")
    )
    votes = votes[votes["judge"].isin(judges)]
    ballots: dict[str, list[str | None]] = {}
    for (item_id, _), rows in votes.groupby(["item_id", "judge"]):
        read = zip(map(tuple, rows["candidates"]), rows["choice"], rows["status"], strict=True)
        choice, _ = settle(
            (names, said if status == "ok" else None, status) for names, said, status in read
        )
        ballots.setdefault(item_id, []).append(choice)
    ended = pd.Series({item: decide(ballot, [])[1] for item, ballot in ballots.items()}, dtype=str)
    made, ends = [], []
    for dataset in STUDY.parts(params.profile, "items"):
        items = _items(params, dataset, lambda entry: entry.tie_breaker == model)
        outcome = items["item_id"].map(ended)
        ends.append(items.assign(outcome=outcome)[["category", "outcome"]])
        open_ = items[outcome.notna() & outcome.ne(MAJORITY)]
        with open_model(params, model, dataset, f"tie-break {model} {dataset}") as asked:
            made.append(
                prefer(
                    open_,
                    _of(responses, open_, params),
                    models.responder(params, model),
                    asked,
                    CHOICE_PROMPTS[use.prompts],
                    use,
                    orders="seeded",
                    seed=params.seed,
                    variant=BREAK,
                )
            )
    ended_how = pd.concat(ends).value_counts().unstack(fill_value=0)
    return {"tie-breaks": tables.together("verdicts", made), "dropped": ended_how}


def keyed(params: Params, responses: pd.DataFrame) -> pd.DataFrame:
    """Objective scores of responses: the testbed's by its oracle, LiveBench's by its keys.

    Args:
        params: The stage's parameters.
        responses: The responses table.

    Returns:
        The truths table: `strict` and `tolerant`, 0 to 1; in the testbed also `rubric`, the
        total that the eleven marks have by rule.
    """
    items = STUDY.read(params.profile, "items")
    known, items = lab.drawn(items), items.set_index("item_id")
    columns = ["study", "item_id", "responder", "text"]
    rows = []
    for study, item_id, responder, text in responses[columns].itertuples(index=False):
        if item_id in known:
            scores = lab.truths(known[item_id], text)
        else:
            item = items.loc[item_id]
            task = json.loads(item["metadata"])["task"]
            if not has_key(task, item["reference"]):
                continue
            scores = score(task, question(item["messages"]), item["reference"], text)
        rows += [
            {"study": study, "item_id": item_id, "responder": responder, "metric": metric}
            | {"score": value, "step": 0}
            for metric, value in scores.items()
        ]
    return pd.DataFrame(rows, columns=list(schemas.TABLES["truths"].columns))


STAGES = {"respond": respond, "judge": judge, "tie_break": tie_break}
