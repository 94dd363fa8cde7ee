"""What models are asked at most, by stage, before anything is asked.

Counted from the items, released responses and labels, and the parameters, as if every model wrote
all that it is asked for, and every judge of a refinement found fault to the last step: the numbers
are the same before and after any stage, and whatever the store holds. A call is what has one
answer, however often it is tried; its reply is as long as its limit.
"""

from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import pandas as pd

from selfpref import paths, tables
from selfpref.errors import SelfprefError
from selfpref.models.open import responder
from selfpref.models.served import VERDICT_TOKENS
from selfpref.params import Params, hosted, load
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.studies.panickssery.recognition import PAIR_TASKS, article_index
from selfpref.studies.xu.items import CATEGORIES

COUNTS = ["calls", "reply tokens"]
COLUMNS = ["model", "engine", "stage", *COUNTS, "known after"]
# Calls, and the limit of the reply to each.
Counts = Iterator[tuple[float, int]]


def _verdict(use: Any) -> tuple[int, int]:
    """How often a model gives each verdict, and the limit of its reply."""
    words = getattr(use, "score_mode", "logprobs") != "logprobs" or use.prompts == "pair-v2"
    return getattr(use, "samples", None) or 1, use.max_tokens if words else VERDICT_TOKENS


def _of_pairs(params: Params, task: str, use: Any, name: str, items: pd.DataFrame) -> Counts:
    """What a model is asked about the responses to the items of one data set (Wataoka et al.)."""
    n, dataset = items["n"], items.attrs["dataset"]
    # Which questions are drawn is not looked at: these have the most calls.
    most = getattr(use, "questions", {}).get(dataset, len(items))
    if task == "respond":
        yield len(items), use.max_tokens
        return
    asked = n
    if task == "judge":
        asked = n * (n - 1) // 2
        if use.pairs == "own":
            asked = n - 1
        elif use.pairs != "all" and dataset not in params.wataoka.label and any(items["voted"]):
            asked = items["voted"]
    total = asked.groupby(items["cluster"]).sum().nlargest(most).sum()
    if task == "perplexity":
        alone = use.without_prompt is None or dataset in use.without_prompt
        yield (1 + alone) * total, 1
    else:
        repeats, limit = _verdict(use)
        # So many of others, and as many of its own.
        drawn = min(total, 2 * use.pairs) if isinstance(use.pairs, int) else total
        yield 2 * repeats * drawn, limit


def _of_summaries(params: Params, task: str, use: Any, name: str, items: pd.DataFrame) -> Counts:
    """The same of the summaries of one data set (Panickssery et al.)."""
    n, dataset, article = items["n"], items.attrs["dataset"], article_index(items)
    if task == "respond":
        yield len(items), use.max_tokens
    elif task == "finetune":
        for tuning in use.evaluators.values():
            others = (n[article < tuning.articles] - 1).sum() if tuning.on == dataset else 0
            yield round(2 * others * tuning.replay / (1 - tuning.replay)), VERDICT_TOKENS
    else:
        # One response to each article is the judge's own, or its base's.
        judged = n[article >= params.panickssery.articles[dataset].train]
        repeats, limit = _verdict(use)
        each = 2 * repeats * len(getattr(use, "evaluators", [name]))
        yield each * (len(PAIR_TASKS) * (judged - 1).sum() + judged.sum()), limit


def _of_contests(params: Params, task: str, use: Any, name: str, items: pd.DataFrame) -> Counts:
    """The same of contests, category by category (LiveBench)."""
    for category, entry in params.livebench.categories.items():
        number = len(items[items["category"].eq(category)].iloc[entry.start : entry.end])
        each = len(entry.responders)
        if task == "respond" and name in entry.responders:
            yield number * entry.respond, use.max_tokens
        if task == "judge" and name in entry.judges:
            marks = CHOICE_PROMPTS[use.prompts].mark_tokens
            yield number * each * use.tries * entry.score, marks
            repeats, limit = _verdict(use)
            turns = each if use.orders == "cyclic" else 1
            yield number * repeats * turns * entry.prefer, limit
        if task == "tie_break" and name == entry.tie_breaker:
            repeats, limit = _verdict(use)
            yield number * repeats, limit


def _of_refinement(params: Params, task: str, use: Any, name: str, items: pd.DataFrame) -> Counts:
    """The same of refinement, its own texts or those that an external model reads (Xu et al.).

    Each text is judged when it is written, by the writer or another, and read afresh at the end.
    """
    for kind in use.tasks:
        number = items["category"].eq(CATEGORIES[kind]).sum()
        rounds = use.rounds if kind == "correctness" else []
        texts = use.steps * (1 + len(use.arms)) + max([1, *use.best_of, *rounds])
        if task == "refine":
            yield number * texts, use.max_tokens
        yield number * texts * (1 + use.repeats), use.feedback_tokens


ASKED = {
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
    section = params.study(study)
    writers = {
        responder(params, name)
        for key, use in getattr(section, "refine" if study == "xu" else "respond").items()
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
    """What every stage asks of every model at most.

    Returns:
        `COLUMNS`. Where items are not there yet the counts are null, and `known after` is the
        command that reads them, which asks no model. No rows where nothing is asked.
    """
    params = params.model_copy(update={"models": {**params.models, **params.every_model()}})
    read, rows = cache(partial(_read, params)), []
    for study, task, key, use, model in _stages(params):
        entry = hosted(params.models[model])
        thought = entry.reasoning_tokens if entry and entry.reasons else 0
        found = {dataset: read(study, dataset) for dataset in _sets(params, study, use)}
        unread = [f"{study}-items@{name}" for name, items in found.items() if items is None]
        asked = [
            (calls, calls * (limit + thought))
            for name in params.names(key if task == "external" else model)
            for items in ([] if unread else found.values())
            for calls, limit in ASKED[study](params, task, use, name, items)
        ]
        counts = [None, None] if unread else map(sum, zip((0, 0), *asked, strict=True))
        stage = f"{study}.{'refine' if task == 'external' else task}.{key}"
        after = f"dvc repro {' '.join(unread)}" if unread else ""
        rows.append([model, params.models[model].engine, stage, *counts, after])
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))


def text(rows: pd.DataFrame) -> str:
    """The table for the terminal, with the sum and how it is counted."""
    shown = rows.astype(object).fillna("")
    table = shown.to_markdown(index=False, tablefmt="simple", intfmt=",")
    unread = "; the commands read the rest and ask no model" * bool(rows["calls"].isna().any())
    return (
        f"{table}\n\nAt most {rows['calls'].sum():,} calls{unread}.\nWhat is answered already "
        "counts too. Tokens of replies are their limits."
    )


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
