"""What models are asked at most, by stage, before anything is asked.

Counted from the items, released responses and labels, and the parameters, as if every model wrote
all that it is asked for, and every judge of a refinement found fault to the last step: the numbers
are the same before and after any stage, and whatever the store holds. A call is what has one
answer, however often it is tried; its reply is as long as its limit. Tokens of prompts are guessed:
the words of the wording's longest prompt, an item's and responses of mean length, those to come at
their limits. Pinned sets that are not read yet have the size and mean lengths of `sizes.csv`: those
of the releases' own copies, and of the Arena as published (arXiv 2309.11998, Table 1).
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import paths, tables
from selfpref.errors import SelfprefError
from selfpref.models import VERDICT_TOKENS
from selfpref.models.calls import responder
from selfpref.params import Hosted, Params, load
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.statistics.bias import PAIR, oriented_votes
from selfpref.studies.panickssery.recognition import PAIR_TASKS, article_index
from selfpref.studies.xu.items import CATEGORIES

COUNTS = ["calls", "prompt tokens", "reply tokens"]
COLUMNS = ["model", "engine", "stage", *COUNTS, "known after"]
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


def _verdict(params: Params, use: Any, name: str) -> tuple[int, int]:
    """How often a model gives each verdict, and the limit of its reply."""
    label = VERDICT_TOKENS if isinstance(params.models[name], Hosted) else 1
    words = getattr(use, "score_mode", "logprobs") != "logprobs" or use.prompts == "pair-v2"
    return getattr(use, "samples", None) or 1, use.max_tokens if words else label


def _asked(params: Params, task: str, use: Any, name: str, items: pd.DataFrame) -> Counts:
    """What one model is asked about the items of one data set, as `_read` returns them."""
    n, dataset, (repeats, limit) = items["n"], items.attrs["dataset"], _verdict(params, use, name)
    # Which questions are drawn is not looked at: these have the most calls.
    most = getattr(use, "questions", {}).get(dataset, len(items))
    match task:
        case "respond":
            yield len(items), 0, use.max_tokens
        case "judge":
            pairs, label = n * (n - 1) // 2, params.wataoka.label.get(dataset)
            if use.pairs == "own":
                pairs = items["wrote"].map(lambda one: responder(params, name) in one) * (n - 1)
            elif use.pairs != "all" and not label and items["voted"].any():
                pairs = items["voted"]
            total = pairs.groupby(items["cluster"]).sum().nlargest(most).sum()
            if label and label.pairs and use.pairs == "labelled":
                total = min(total, label.pairs + items["voted"].sum())
            # So many of others, and as many of its own.
            drawn = min(total, 2 * use.pairs) if isinstance(use.pairs, int) else total
            yield 2 * repeats * drawn, 2, limit
        case "perplexity":
            alone = use.without_prompt is None or dataset in use.without_prompt
            yield (1 + alone) * n.groupby(items["cluster"]).sum().nlargest(most).sum(), 1, 1
        case "finetune":
            for tuning in use.evaluators.values():
                read = article_index(items) < (tuning.articles if tuning.on == dataset else 0)
                share = tuning.replay / (1 - tuning.replay)
                yield round(2 * (n[read] - 1).sum() * share), 2, limit
        case "recognise" | "recognise-tuned":
            # One response to each article is the judge's own, or its base's.
            judged = n[article_index(items) >= params.panickssery.articles[dataset].train]
            each = 2 * repeats * (len(use.evaluators) if task == "recognise-tuned" else 1)
            yield each * len(PAIR_TASKS) * (judged - 1).sum(), 2, limit
            yield each * judged.sum(), 1, limit


def _contested(params: Params, task: str, use: Any, name: str, items: pd.DataFrame) -> Counts:
    """The same of contests, category by category."""
    repeats, limit = _verdict(params, use, name)
    for category, entry in params.livebench.categories.items():
        number = len(items[items["category"].eq(category)].iloc[entry.start : entry.end])
        each = len(entry.responders)
        if task == "respond" and name in entry.responders:
            yield number * entry.respond, 0, use.max_tokens
        if task == "judge" and name in entry.judges:
            marks = CHOICE_PROMPTS[use.prompts].mark_tokens
            yield number * each * use.tries * entry.score, 1, marks
            turns = each if use.orders == "cyclic" else 1
            yield number * repeats * turns * entry.prefer, each, limit
        if task == "tie_break" and name == entry.tie_breaker:
            yield number * repeats, each, limit


def _refined(params: Params, task: str, use: Any, name: str, items: pd.DataFrame) -> Counts:
    """The same of refinement, its own texts or those that an external model reads.

    Each text is judged when it is written, by the writer or another, and read afresh at the end.
    """
    for kind in use.tasks:
        number = items["category"].eq(CATEGORIES[kind]).sum()
        rounds = use.rounds if kind == "correctness" else []
        texts = use.steps * (1 + len(use.arms)) + max([1, *use.best_of, *rounds])
        if task == "refine":
            yield number * texts, 2, use.max_tokens
        yield number * texts * 2, 1, use.feedback_tokens


def _sets(params: Params, study: str, use: Any) -> list[str]:
    """The data sets that an entry is asked about."""
    held = {"panickssery": "articles", "xu": "requests"}.get(study, "datasets")
    return getattr(use, "datasets", None) or [*getattr(params.study(study), held)]


def _foreseen(entry: Any) -> tuple[pd.DataFrame, pd.DataFrame] | None:
    """Items and responses as many and as long as a pinned set's; None: its size is not known."""
    sizes = pd.read_csv(SIZES, index_col="source").to_dict("index")
    if (size := sizes.get(Path(entry.source).stem)) is None:
        return None
    wanted = (getattr(entry, limit, None) for limit in ("articles", "first", "sample"))
    names = [*map(str, range(min([size["items"], *filter(None, wanted)])))]
    items = pd.DataFrame({"item_id": names, "cluster": names, "category": size["category"]})
    items["metadata"] = '{"index": ' + items["item_id"] + "}"
    items["messages"] = [[{"content": "x" * size["prompt bytes"]}]] * len(names)
    wrote = pd.DataFrame({"responder": range(size["responders"])})
    wrote["text"] = "x" * size["response bytes"]
    return items, items[["item_id"]].merge(wrote, "cross")


def _read(params: Params, study: str, dataset: str) -> pd.DataFrame | None:
    """Items with who will have responded; None: neither there yet nor of a known size.

    Of each item `wrote` is who, `n` how many, `voted` how many of their pairs are labelled, and
    `asked` its tokens; of the attributes `long` is the tokens of a response in the mean, and `read`
    whether the items are there.
    """
    section = params.study(study)
    read = partial(tables.read, params.profile, study=study, parts=[dataset])
    try:
        items, there, foreseen = read("items"), read("responses"), None
    except SelfprefError:
        if (foreseen := _foreseen(section.datasets[dataset])) is None:
            return None
        items, there = foreseen
    writers = set()
    tokens = [*map(_tokens, there["text"])]
    for key, use in (section.refine if study == "xu" else section.respond).items():
        if dataset in _sets(params, study, use):
            writers |= {responder(params, name) for name in params.names(key)}
            tokens += [use.max_tokens] * len(items) * len(params.names(key))
    wrote = there.groupby("item_id")["responder"].agg(set).to_dict()
    items["wrote"] = [writers | wrote.get(item, set()) for item in items["item_id"]]
    items["n"] = items["wrote"].map(len)
    voteless = foreseen or study != "wataoka"
    votes = oriented_votes(tables.empty("labels") if voteless else read("labels"))
    voted = votes.drop_duplicates(PAIR)["item_id"].value_counts()
    items["voted"] = items["item_id"].map(voted).fillna(0).astype(int)
    items["asked"] = [sum(_tokens(one["content"]) for one in said) for said in items["messages"]]
    long = sum(tokens) / (len(tokens) or 1)
    items.attrs = {"dataset": dataset, "long": long, "read": foreseen is None}
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
        `COLUMNS`. Where items are not there yet the counts are by the size of their set, null
        where it is not known, and `known after` is the command that reads them. No rows where
        nothing is asked.
    """
    params = params.model_copy(update={"models": params.models | params.every_model()})
    read = cache(partial(_read, params))
    rows = []
    for study, task, key, use, model in _stages(params):
        entry = params.models[model]
        counts = pd.Series(0, COUNTS)
        thought = entry.reasoning_tokens if isinstance(entry, Hosted) and entry.reasons else 0
        found = {dataset: read(study, dataset) for dataset in _sets(params, study, use)}
        unread = [
            f"{study}-items@{name}"
            for name, items in found.items()
            if items is None or not items.attrs["read"]
        ]
        blind = any(items is None for items in found.values())
        asked = {"livebench": _contested, "xu": _refined}.get(study, _asked)
        names = params.names(key if task == "external" else model)
        for name, items in () if blind else product(names, found.values()):
            for calls, texts, limit in asked(params, task, use, name, items):
                prompt = WORDS[use.prompts] + items["asked"].mean() + texts * items.attrs["long"]
                counts += [calls, int(calls and calls * prompt), calls * (limit + thought)]
        stage = f"{study}.{'refine' if task == 'external' else task}.{key}"
        known = [None] * len(COUNTS) if blind else [*counts]
        after = f"dvc repro {' '.join(unread)}" if unread else ""
        rows.append([model, entry.engine, stage, *known, after])
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))


def text(rows: pd.DataFrame) -> str:
    """The table for the terminal, with the sum and how it is counted."""
    shown = rows.astype(object).fillna("")
    table = shown.to_markdown(index=False, tablefmt="simple", intfmt=",")
    foreseen = rows["calls"].notna() & rows["known after"].ne("")
    unread = ", by the sizes of sets that are not read yet" * bool(foreseen.any())
    unread += "; the commands read the rest and ask no model" * bool(rows["calls"].isna().any())
    return (
        f"{table}\n\nAt most {rows['calls'].sum():,} calls{unread}.\nWhat is answered already "
        "counts too. Tokens of replies are their limits, those of prompts a guess."
    )


def refuse(params: Params) -> None:
    """Refuse models that may be asked more than their `max_calls`, before anything is asked.

    Args:
        params: The whole, or what a stage has: its models are looked at, with all that asks them.

    Raises:
        SelfprefError: One may be; names it, its stages and the count.
    """
    limits = {
        key: one.max_calls
        for key, one in params.models.items()
        if isinstance(one, Hosted) and one.max_calls
    }
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
