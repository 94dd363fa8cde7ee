"""The stages of the study: models answer, judges mark and choose, tie-breakers decide what is left.

A category of items says who responds, who judges and who breaks its ties.
"""

import json
from collections.abc import Callable

import pandas as pd

from selfpref import tables
from selfpref.ask.responding import respond
from selfpref.lab import experiment
from selfpref.lab.choice import rubric
from selfpref.lab.oracle import quality
from selfpref.models import open as models
from selfpref.params import Contest, Params
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.studies.livebench import STUDY
from selfpref.studies.livebench.judging import mark, prefer, question
from selfpref.studies.livebench.measure.panel import BREAK, settle
from selfpref.studies.livebench.measure.votes import MAJORITY, decide
from selfpref.studies.livebench.scorers import READINGS, has_key, score
from selfpref.tables import schemas


def _items(params: Params, dataset: str, wanted: Callable[[Contest], bool]) -> pd.DataFrame:
    """The items of a data set in the categories that are wanted, each from its start to its end."""
    items = tables.read(params.profile, "items", STUDY.name, [dataset])
    parts = [
        items[items["category"].eq(category)].iloc[entry.start : entry.end]
        for category, entry in params.contests.items()
        if wanted(entry)
    ]
    return pd.concat([items.iloc[:0], *parts]).sort_index()


def compete(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One model's responses to the items of its categories.

    Args:
        params: The stage's parameters.
        model: A key of `compete`.
        open_model: Opens the model for a data set.

    Returns:
        The responses table; and by data set how many responses were cut off at the limit, and how
        many items have none, by reason.
    """
    use = params.compete[model]
    made, dropped = [], {}
    for dataset in STUDY.parts(params, "items"):
        items = _items(params, dataset, lambda entry: entry.respond and model in entry.responders)
        with open_model(params, model, dataset, f"compete {model} {dataset}") as asked:
            found, dropped[dataset] = respond(
                items,
                models.responder(params, model),
                asked,
                CHOICE_PROMPTS[use.prompts].respond,
                use,
                seed=params.seed,
            )
        made.append(found)
    return tables.together("responses", made), pd.DataFrame(dropped).T.fillna(0).astype(int)


def assess(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """One judge's ratings and verdicts, in the categories that it judges.

    Args:
        params: The stage's parameters.
        model: A key of `assess`.
        open_model: Opens the model for a data set.
    """
    use = params.assess[model]
    prompts = CHOICE_PROMPTS[use.prompts]
    every = STUDY.read(params, "responses")
    ratings, verdicts = [], []
    for dataset in STUDY.parts(params, "items"):
        with open_model(params, model, dataset, f"assess {model} {dataset}") as asked:
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
        responder in params.contests[category].responders
        for responder, category in zip(found["responder"], found["category"], strict=True)
    ]
    return found[theirs].drop(columns="category").reset_index(drop=True)


def break_ties(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A tie-breaker's call on every item of its categories whose judges reach no majority.

    Args:
        params: The stage's parameters.
        model: A key of `tie_breakers`.
        open_model: Opens the model for a data set.

    Returns:
        The verdicts table, with the variant of a tie-breaker; and by category how the votes ended
        before it was asked.
    """
    use = params.tie_breakers[model]
    responses = STUDY.read(params, "responses")
    votes = tables.read(params.profile, "verdicts", STUDY.name, params.assess)
    ballots: dict[str, list[str | None]] = {}
    for (item_id, _), rows in votes.groupby(["item_id", "judge"]):
        read = zip(map(tuple, rows["candidates"]), rows["choice"], rows["status"], strict=True)
        choice, _ = settle(
            (names, said if status == "ok" else None, status) for names, said, status in read
        )
        ballots.setdefault(item_id, []).append(choice)
    ended = pd.Series({item: decide(ballot, [])[1] for item, ballot in ballots.items()}, dtype=str)
    made, ends = [], []
    for dataset in STUDY.parts(params, "items"):
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
    return tables.together("verdicts", made), pd.concat(ends).value_counts().unstack(fill_value=0)


def keyed(params: Params, responses: pd.DataFrame) -> pd.DataFrame:
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
    items = STUDY.read(params, "items").set_index("item_id")
    columns = ["study", "item_id", "responder", "text"]
    rows = []
    for study, item_id, responder, text in responses[columns].itertuples(index=False):
        if item_id in known:
            item = known[item_id]
            scores = dict.fromkeys(READINGS, quality(item, text)) | {
                "rubric": float(sum(rubric(item, text).values()))
            }
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


STAGES = {"compete": compete, "assess": assess, "tie_breakers": break_ties}
