"""How many calls every stage makes at most, before any is made.

Counted from the items, released responses and labels, and the parameters, as if every model wrote
all that it is asked for, and every judge of a refinement found fault to the last step: the numbers
are the same before and after any stage, and whatever the store holds. A call is what has one
answer, however often it is tried.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import pandas as pd

from selfpref import paths, tables
from selfpref.errors import SelfprefError
from selfpref.models.open import responder
from selfpref.params import Params, hosted, load
from selfpref.studies.panickssery.recognition import PAIR_TASKS, article_index
from selfpref.studies.xu.items import CATEGORIES

COLUMNS = ["model", "engine", "stage", "calls", "known after"]


def _repeats(use: Any) -> int:
    """How often a model gives each verdict."""
    return getattr(use, "samples", None) or 1


def _of_pairs(params: Params, task: str, use: Any, _: str, items: pd.DataFrame) -> float:
    """Calls of one model about one data set, whose items `_read` returns (Wataoka et al.)."""
    n, dataset = items["n"], items.attrs["dataset"]
    if task == "respond":
        return len(items)
    asked = n
    if task == "judge":
        asked = n * (n - 1) // 2
        if use.pairs == "own":
            asked = n - 1
        elif use.pairs != "all" and dataset not in params.wataoka.label and any(items["voted"]):
            asked = items["voted"]
    # Which questions are drawn is not looked at: these have the most calls.
    most = use.questions.get(dataset, len(items))
    total: float = asked.groupby(items["cluster"]).sum().nlargest(most).sum()
    if task == "perplexity":
        alone = use.without_prompt is None or dataset in use.without_prompt
        return (1 + alone) * total
    # So many of others, and as many of its own.
    drawn = min(total, 2 * use.pairs) if isinstance(use.pairs, int) else total
    return float(2 * _repeats(use) * drawn)


def _of_summaries(params: Params, task: str, use: Any, _: str, items: pd.DataFrame) -> float:
    """The same of summaries (Panickssery et al.)."""
    dataset, article = items.attrs["dataset"], article_index(items)
    # One response to each article is the judge's own, or its base's.
    others = items["n"] - 1
    if task == "respond":
        return len(items)
    if task == "finetune":
        tuned = [one for one in use.evaluators.values() if one.on == dataset]
        shares = [one.replay / (1 - one.replay) * others[article < one.articles] for one in tuned]
        return float(sum(round(2 * share.sum()) for share in shares))
    judged = others[article >= params.panickssery.articles[dataset].train]
    evaluators = len(getattr(use, "evaluators", [use]))
    return 2 * _repeats(use) * evaluators * float((len(PAIR_TASKS) * judged + judged + 1).sum())


def _of_contests(params: Params, task: str, use: Any, name: str, items: pd.DataFrame) -> float:
    """The same of contests, over all categories (LiveBench)."""
    calls = 0
    for category, entry in params.livebench.categories.items():
        number = len(items[items["category"].eq(category)].iloc[entry.start : entry.end])
        each = len(entry.responders)
        if task == "respond" and name in entry.responders:
            calls += number * entry.respond
        if task == "judge" and name in entry.judges:
            turns = each if use.orders == "cyclic" else 1
            calls += number * each * use.tries * entry.score
            calls += number * _repeats(use) * turns * entry.prefer
        if task == "tie_break" and name == entry.tie_breaker:
            calls += number * _repeats(use)
    return calls


def _of_refinement(_: Params, task: str, use: Any, __: str, items: pd.DataFrame) -> float:
    """The same of refinement, by the writer or the external model (Xu et al.).

    Each text is judged when it is written, by the writer or another, and read afresh at the end.
    """
    calls = 0
    for kind in use.tasks:
        rounds = use.rounds if kind == "correctness" else []
        texts = use.steps * (1 + len(use.arms)) + max([1, *use.best_of, *rounds])
        each = 1 + use.repeats + (task == "refine")
        calls += items["category"].eq(CATEGORIES[kind]).sum() * texts * each
    return calls


CALLS = {
    "wataoka": _of_pairs,
    "panickssery": _of_summaries,
    "livebench": _of_contests,
    "xu": _of_refinement,
}


def _sets(params: Params, study: str, use: Any) -> list[str]:
    """The data sets that an entry is asked about."""
    held = {"panickssery": "articles", "xu": "requests"}.get(study, "datasets")
    return getattr(use, "datasets", None) or [*getattr(params.study(study), held)]


def _read(params: Params, study: str, dataset: str) -> pd.DataFrame | None:
    """Items, `n` responses there will be to each, and `voted` of their pairs; None: not read."""
    names = ("items", "responses", *(["labels"] if study == "wataoka" else []))
    try:
        found = {name: tables.read(params.profile, name, study, [dataset]) for name in names}
    except SelfprefError:
        return None
    items, there = found["items"], found["responses"].groupby("item_id")["responder"].agg(set)
    task = "refine" if study == "xu" else "respond"
    writers = {
        responder(params, name)
        for key, use in getattr(params.study(study), task).items()
        for name in params.names(key)
        if dataset in _sets(params, study, use)
    }
    items["n"] = [len(writers | there.get(item, set())) for item in items["item_id"]]
    labels = found.get("labels", tables.empty("labels"))
    pairs = zip(labels["item_id"], labels["responder_a"], labels["responder_b"], strict=True)
    voted = Counter(item for item, _ in {(item, frozenset(pair)) for item, *pair in pairs})
    items["voted"] = [voted[item] for item in items["item_id"]]
    items.attrs = {"dataset": dataset}
    return items


def _stages(params: Params) -> Iterator[tuple[str, str, str, Any, str]]:
    """Study, task, key and entry of all that is asked, and the key of the model."""
    for study, task, uses in () if params.offline else params.tasks():
        for key, use in uses.items():
            yield study, task, key, use, getattr(use, "model", key)
            if task == "finetune" and use.method != "export":
                yield study, "recognise-tuned", key, use, use.model
            if task == "refine" and params.names(use.external) != [key]:
                yield study, "external", key, use, use.external


def bounds(params: Params) -> pd.DataFrame:
    """How often every stage asks every model at most.

    Returns:
        `COLUMNS`. Where items are not there yet the calls are null, and `known after` is the
        command that reads them, which asks no model. No rows where nothing is asked.
    """
    params = params.model_copy(update={"models": {**params.models, **params.every_model()}})
    read, rows = cache(partial(_read, params)), []
    for study, task, key, use, model in _stages(params):
        found = {dataset: read(study, dataset) for dataset in _sets(params, study, use)}
        unread = [f"{study}-items@{name}" for name, items in found.items() if items is None]
        names = params.names(key if task == "external" else model)
        calls = None
        if not unread:
            args = [(name, items) for name in names for items in found.values()]
            calls = sum(CALLS[study](params, task, use, *one) for one in args)
        stage = f"{study}.{'refine' if task == 'external' else task}.{key}"
        after = f"dvc repro {' '.join(unread)}" if unread else ""
        rows.append([model, params.models[model].engine, stage, calls, after])
    return pd.DataFrame(rows, columns=COLUMNS).astype({"calls": "Int64"})


def text(rows: pd.DataFrame) -> str:
    """The table for the terminal, with the sum."""
    shown = rows.astype(object).fillna("")
    table = shown.to_markdown(index=False, tablefmt="simple", intfmt=",")
    unread = "; the commands read the rest and ask no model" * bool(rows["calls"].isna().any())
    calls = f"At most {rows['calls'].sum():,} calls{unread}."
    return f"{table}\n\n{calls}\nWhat is answered already counts too."


def refuse(params: Params) -> None:
    """Refuse models that may be asked more than their `max_calls`, before anything is asked.

    Args:
        params: The whole, or what a stage has: its models are looked at, with all that asks them.

    Raises:
        SelfprefError: One may be; names it, its stages and the count.
    """
    entries = {key: hosted(entry) for key, entry in params.models.items()}
    limits = {key: one.max_calls for key, one in entries.items() if one and one.max_calls}
    # A limit changes no result: no stage declares the sections that are counted for it.
    rows = bounds(load(paths.params_file())) if limits else pd.DataFrame()
    for key, limit in limits.items():
        asked = rows[rows["model"].eq(key) & rows["calls"].gt(0)]
        if (calls := asked["calls"].sum()) > limit:
            raise SelfprefError(
                f"models.{key}.max_calls is {limit:,}: {', '.join(asked['stage'])} may ask "
                f"{calls:,} calls; nothing was asked.\nRaise it, or ask less by `sample`, `pairs` "
                "or `datasets`: `selfpref check` shows where the calls go"
            )
