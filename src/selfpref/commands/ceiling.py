"""What models behind an endpoint are asked at most, by stage, before anything is asked.

Counted from the items, released responses and labels, and the parameters, as if every model wrote
all that it is asked for beside what was released, and every judge of a refinement found fault to
the last step: the numbers are the same before and after any stage, and whatever the store holds. A
call is what has one answer, however often it is tried; its reply is as long as its limit. Tokens of
prompts are guessed: the words of the wording's longest prompt, an item's and responses of mean
length, those to come at their limits. Pinned sets that are not read yet have the size and mean
lengths of `sizes.csv`: those of the releases' own copies, and of the Arena as published (arXiv
2309.11998, Table 1).
"""

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import paths, tables
from selfpref.errors import SelfprefError
from selfpref.models.served import VERDICT_TOKENS
from selfpref.params import Contest, Hosted, Params, load
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.studies.panickssery.recognition import PAIR_TASKS, article_index
from selfpref.studies.xu.items import CATEGORIES

COUNTS = ["calls", "prompt tokens", "reply tokens"]
COLUMNS = ["model", "stage", *COUNTS, "known after"]
# Tokens of the longest prompt of each wording, without its texts.
WORDS = {"lab": 20, "chat": 100, "plain": 180, "pair-v2": 290, "authors": 700}
# Bytes of text for each token: English prose has 4 to 5, code and other scripts fewer.
BYTES = 4
SIZES = Path(__file__).with_name("sizes.csv")
# Calls, how many responses each reads, and the limit of its reply.
Counts = Iterator[tuple[float, int, int]]


def _tokens(text: str) -> int:
    """A guess at the tokens of a text, since no tokenizer is known."""
    return -(-len(text.encode()) // BYTES)


def _asked(params: Params, stage: tuple[str, str, str, Any], items: pd.DataFrame) -> Counts:
    """What a stage (study, task, key, entry) asks about the items of one data set; see `_read`."""
    study, task, key, use = stage
    n, dataset, repeats = items["n"], items.attrs["dataset"], getattr(use, "samples", None) or 1
    in_words = getattr(use, "score_mode", "logprobs") != "logprobs" or use.prompts == "pair-v2"
    limit = use.max_tokens if in_words else VERDICT_TOKENS
    match study, task:
        case "wataoka" | "panickssery", "respond":
            yield len(items), 0, use.max_tokens
        case "wataoka", "judge":
            pairs = n * (n - 1) // 2
            if use.pairs == "own":
                pairs = (n - 1).clip(lower=0)
            elif use.pairs != "all" and items["voted"].any():
                pairs = items["voted"]
            # Which questions are drawn is not looked at: these have the most calls.
            most = use.questions.get(dataset, len(items))
            total = pairs.groupby(items["cluster"]).sum().nlargest(most).sum()
            # So many of others, and as many of its own.
            drawn = min(total, 2 * use.pairs) if isinstance(use.pairs, int) else total
            yield 2 * repeats * drawn, 2, limit
        case "panickssery", "finetune":
            for tuning in (one for one in use.evaluators.values() if one.on == dataset):
                read = n[article_index(items) < tuning.articles]
                yield round(2 * (read - 1).sum() * tuning.replay / (1 - tuning.replay)), 2, limit
        case "panickssery", "recognise":
            # One response to each article is the judge's own.
            judged = n[article_index(items) >= params.panickssery.articles[dataset].train]
            yield 2 * repeats * len(PAIR_TASKS) * (judged - 1).sum(), 2, limit
            yield 2 * repeats * judged.sum(), 1, limit
        case "xu", _:
            # A text is judged when it is written, by the writer or another, and read afresh.
            for kind in use.tasks:
                number = items["category"].eq(CATEGORIES[kind]).sum()
                rounds = use.rounds if kind == "correctness" else []
                texts = use.steps * (1 + len(use.arms)) + max([1, *use.best_of, *rounds])
                yield number * texts * (task == "refine"), 2, use.max_tokens
                # An external model reads the texts of each model that the entry stands for.
                writers = len(params.names(key)) if task == "external" else 1
                yield number * writers * texts * (1 + use.repeats), 1, use.feedback_tokens
        case "livebench", _:
            for category, contest in params.livebench.categories.items():
                number = len(items[items["category"].eq(category)][contest.start : contest.end])
                for once, texts, longest in _contested(task, key, use, contest, repeats, limit):
                    yield number * once, texts, longest


def _contested(task: str, key: str, use: Any, contest: Contest, repeats: int, limit: int) -> Counts:
    """The same of one item of a contest."""
    each = len(contest.responders)
    if task == "respond" and key in contest.responders:
        yield contest.respond, 0, use.max_tokens
    if task == "judge" and key in contest.judges:
        yield each * use.tries * contest.score, 1, CHOICE_PROMPTS[use.prompts].mark_tokens
        turns = each if use.orders == "cyclic" else 1
        yield repeats * turns * contest.prefer, each, limit
    if task == "tie_break" and key == contest.tie_breaker:
        yield repeats, each, limit


def _sets(params: Params, study: str, use: Any) -> list[str]:
    """The data sets that an entry is asked about."""
    held = {"panickssery": "articles", "xu": "requests"}.get(study, "datasets")
    return getattr(use, "datasets", None) or [*getattr(params.study(study), held)]


def _there(params: Params, study: str, dataset: str) -> pd.DataFrame:
    """The items of a set that was read, with what of `_read` is released."""
    items, responses = (
        tables.read(params.profile, name, study, [dataset]).set_index("item_id")
        for name in ("items", "responses")
    )
    items["asked"] = [sum(_tokens(one["content"]) for one in said) for said in items["messages"]]
    responses["text"] = responses["text"].map(_tokens).astype(float)
    said = responses.groupby("item_id")
    items = items.assign(n=said["responder"].nunique(), long=said["text"].sum(), voted=0)
    # Where models' own responses get labels these may be on any pair.
    if study == "wataoka" and dataset not in params.wataoka.label:
        labels = tables.read(params.profile, "labels", study, [dataset])
        sides = labels[["item_id", "responder_a", "responder_b"]].itertuples(index=False)
        pairs = {(item, *sorted(pair)) for item, *pair in sides}
        items["voted"] = pd.Series([item for item, *_ in pairs], dtype="str").value_counts()
    return items.fillna({"n": 0, "long": 0, "voted": 0})


def _foreseen(entry: Any) -> pd.DataFrame | None:
    """The same of a pinned set that is not read yet; None: its size is not known."""
    sizes = pd.read_csv(SIZES, index_col="source").to_dict("index")
    if (size := sizes.get(Path(entry.source).stem)) is None:
        return None
    wanted = (getattr(entry, limit, None) for limit in ("articles", "first", "sample"))
    places = range(min([size["items"], *filter(None, wanted)]))
    items = pd.DataFrame({"cluster": places, "category": size["category"], "voted": 0})
    items["metadata"] = [f'{{"index": {place}}}' for place in places]
    items["asked"], items["n"] = size["prompt bytes"] // BYTES, size["responders"]
    return items.assign(long=items["n"] * size["response bytes"] // BYTES)


def _read(params: Params, study: str, dataset: str) -> pd.DataFrame | None:
    """The items of a data set; None: nothing is known of them.

    Of each item `n` is how many responses it will have, `long` the tokens of them all, `voted` how
    many pairs of them are labelled, and `asked` its tokens; of the attributes `read` is whether
    the items are there.
    """
    section, items, read = params.study(study), None, True
    try:
        items = _there(params, study, dataset)
    except SelfprefError:
        items, read = _foreseen(section.datasets[dataset]), False
    if items is not None:
        for key, use in getattr(section, "refine" if study == "xu" else "respond").items():
            if dataset in _sets(params, study, use):
                items["n"] += len(params.names(key))
                items["long"] += len(params.names(key)) * use.max_tokens
        items.attrs = {"dataset": dataset, "read": read}
    return items


def bounds(params: Params) -> pd.DataFrame:
    """What every stage asks of every model behind an endpoint at most.

    Returns:
        `COLUMNS`. Where items are not there yet the counts are by the size of their set, null
        where it is not known, and `known after` is the command that reads them. No rows where
        nothing is asked.
    """
    stages = []
    for study, task, uses in () if params.offline else params.tasks():
        for key, use in uses.items():
            stages.append(((study, task, key, use), getattr(use, "model", key)))
            if task == "refine" and params.names(use.external) != [key]:
                stages.append(((study, "external", key, use), use.external))
    rows, read = [], cache(partial(_read, params))
    for stage, model in stages:
        study, task, key, use = stage
        if not isinstance(entry := params.models[model], Hosted):
            continue
        counts, thought = pd.Series(0, COUNTS), entry.reasoning_tokens * entry.reasons
        sets = {dataset: read(study, dataset) for dataset in _sets(params, study, use)}
        unread = [name for name, one in sets.items() if one is None or not one.attrs["read"]]
        known = [one for one in sets.values() if one is not None]
        blind = len(known) < len(sets)
        for items in () if blind else known:
            long = items["long"].sum() / max(items["n"].sum(), 1)
            for calls, texts, limit in _asked(params, stage, items):
                prompt = WORDS[use.prompts] + items["asked"].mean() + texts * long
                counts += [calls, int(calls and calls * prompt), calls * (limit + thought)]
        after = " ".join(["dvc repro", *(f"{study}-items@{name}" for name in unread)])
        name = f"{study}.{'refine' if task == 'external' else task}.{key}"
        rows.append(
            [model, name, *([None] * len(COUNTS) if blind else counts), after if unread else ""]
        )
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))


def text(rows: pd.DataFrame) -> str:
    """The table for the terminal, with the sum and how it is counted."""
    shown = rows.astype(object).where(rows.notna(), "")
    table = shown.to_markdown(index=False, tablefmt="simple", intfmt=",")
    return (
        f"{table}\n\nAt most {rows['calls'].sum():,} calls, answered ones among them; what is not "
        "read yet counts by its published size, if it has one.\n"
        "Tokens of replies are their limits, those of prompts a guess."
    )


def refuse(params: Params) -> None:
    """Refuse models that may be asked more than their `max_calls`, before anything is asked.

    Args:
        params: The whole, or what a stage has: its models are looked at, with all that asks them.

    Raises:
        SelfprefError: One may be; names it, its stages and the count.
    """
    limits = {key: getattr(one, "max_calls", None) for key, one in params.models.items()}
    if not any(limits.values()):
        return
    # A limit changes no result: no stage declares the sections that are counted for it.
    asked = bounds(load(paths.params_file())).query("calls > 0")
    for model, own in asked.groupby("model"):
        limit, calls = limits.get(model), own["calls"].sum()
        if limit and calls > limit:
            raise SelfprefError(
                f"models.{model}.max_calls is {limit:,}: {', '.join(own['stage'])} may ask "
                f"{calls:,} calls; nothing was asked.\nRaise it, or ask less by `sample`, `pairs` "
                "or `datasets`: `selfpref check` shows where the calls go"
            )
