"""What models are asked at most, by stage, before anything is asked.

Counted from the items, released responses and labels, and the parameters, as if every model wrote
all that it is asked for and every judge of a refinement found fault to the last step: the numbers
are the same before and after any stage, and whatever the store holds. A call is what has one
answer, however often it is tried; its reply is as long as its limit. Tokens of prompts are guessed:
the words of the wording's longest prompt, an item's and responses of mean length, those to come at
their limits. Pinned sets that are not read yet have the size and mean lengths of `sizes.csv`, a
dialogue counted as one item: those of the releases' own copies, and of the Arena as published
(arXiv 2309.11998, Table 1).
"""

import json
import os
from collections import Counter
from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from selfpref import paths, tables
from selfpref.errors import SelfprefError
from selfpref.models.open import responder
from selfpref.models.served import VERDICT_TOKENS, of_text
from selfpref.params import Params, Verdicts, hosted, load
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.seeds import sampled
from selfpref.studies.panickssery.recognition import PAIR_TASKS, article_index
from selfpref.studies.xu.items import CATEGORIES

COUNTS = ["calls", "prompt tokens", "reply tokens"]
COLUMNS = ["model", "engine", "stage", *COUNTS, "known after"]
# Tokens of the longest prompt of each wording, without its texts.
WORDS = {"lab": 20, "chat": 100, "plain": 180, "pair-v2": 290, "authors": 700}
SIZES = Path(__file__).with_name("sizes.csv")
# Calls, how many responses each reads, and the limit of its reply.
Counts = Iterator[tuple[int, int, int]]


class _Asked(NamedTuple):
    """One model, asked about one data set by a task's entry.

    Its items have the columns of `_read`.
    """

    params: Params
    task: str
    use: Any
    name: str
    dataset: str
    items: pd.DataFrame

    def verdicts(self, number: int, texts: int) -> tuple[int, int, int]:
        """Verdicts on so many responses each, with their repeats."""
        use = self.use if isinstance(self.use, Verdicts) else Verdicts(min_mass=0.0)
        words = use.score_mode != "logprobs" or self.use.prompts == "pair-v2"
        label = 1 if hosted(self.params.models[self.name]) is None else VERDICT_TOKENS
        return number * (use.samples or 1), texts, use.max_tokens if words else label


def _wataoka(at: _Asked) -> Counts:
    if at.task == "respond":
        yield len(at.items), 0, at.use.max_tokens
    elif at.task == "judge":
        asked = sampled(at.items["cluster"].unique(), at.use.questions.get(at.dataset))
        some = at._replace(items=at.items[at.items["cluster"].isin(asked)])
        yield at.verdicts(2 * _pairs(some), 2)
    else:
        # Which questions are drawn depends on who responds: these have most responses.
        most = at.items.groupby("cluster")["n"].sum().sort_values(ascending=False)
        alone = at.use.without_prompt is None or at.dataset in at.use.without_prompt
        yield (1 + alone) * most.iloc[: at.use.questions.get(at.dataset)].sum(), 1, 1


def _pairs(at: _Asked) -> int:
    """The pairs of responses that a judge reads."""
    own, which = responder(at.params, at.name), at.use.pairs
    mine = sum(len(wrote) - 1 for wrote in at.items["wrote"] if own in wrote)
    every = int((at.items["n"] * (at.items["n"] - 1)).sum()) // 2
    try:
        labels = tables.read(at.params.profile, "labels", "wataoka", [at.dataset])
    except SelfprefError:
        labels = tables.empty("labels")
    labels = labels[labels["item_id"].isin(at.items["item_id"])]
    sides = labels[["item_id", "responder_a", "responder_b"]].itertuples(index=False)
    voted = len({(item, *sorted(pair)) for item, *pair in sides})
    if label := at.params.wataoka.label.get(at.dataset):
        # A file of votes may be on all of them.
        voted += label.pairs or every
    if isinstance(which, int):
        return min(which, voted) + min(which, mine)
    return {"labelled": voted or every, "own": mine, "all": every}[which]


def _livebench(at: _Asked) -> Counts:
    for category, entry in at.params.livebench.categories.items():
        items = at.items[at.items["category"].eq(category)].iloc[entry.start : entry.end]
        number, each = len(items), len(entry.responders)
        if at.task == "respond" and entry.respond and at.name in entry.responders:
            yield number, 0, at.use.max_tokens
        if at.task == "judge" and entry.score and at.name in entry.judges:
            yield number * each * at.use.tries, 1, CHOICE_PROMPTS[at.use.prompts].mark_tokens
        if at.task == "judge" and entry.prefer and at.name in entry.judges:
            yield at.verdicts(number * (each if at.use.orders == "cyclic" else 1), each)
        if at.task == "tie_break" and at.name == entry.tie_breaker:
            yield at.verdicts(number, each)


def _panickssery(at: _Asked) -> Counts:
    # One response to each article is the judge's own, or its base's.
    place, others = article_index(at.items), at.items["n"] - 1
    judged = place >= at.params.panickssery.articles[at.dataset].train
    if at.task == "respond":
        yield len(at.items), 0, at.use.max_tokens
    elif at.task == "finetune":
        for tuning in at.use.evaluators.values():
            learned = 2 * others[place < tuning.articles].sum() * (tuning.on == at.dataset)
            yield at.verdicts(round(learned * tuning.replay / (1 - tuning.replay)), 2)
    else:
        judges = len(at.use.evaluators) if at.task == "recognise-tuned" else 1
        yield at.verdicts(judges * 2 * len(PAIR_TASKS) * others[judged].sum(), 2)
        yield at.verdicts(judges * 2 * at.items["n"][judged].sum(), 1)


def _xu(at: _Asked) -> Counts:
    use, arms, best = at.use, {*at.use.arms}, max([0, *at.use.best_of])
    # In the first step the arms that the writer judges are one.
    judged = 1 + (use.steps - 1) * (1 + len(arms & {"accept-all", "accept-random"}))
    revised = judged + use.steps * len(arms & {"external", "noise"})
    for kind in use.tasks:
        number = at.items["category"].eq(CATEGORIES[kind]).sum()
        rounds = use.rounds if kind == "correctness" else []
        kept = revised + max(1, best) + len(rounds)
        if at.task == "refine":
            heard = 1 + judged + best
            yield number * (max([1, best, *rounds]) + revised), 2, use.max_tokens
        else:
            heard = (1 + use.steps) * ("external" in arms)
        yield number * (heard + use.repeats * kept), 1, use.feedback_tokens


STUDIES = {"wataoka": _wataoka, "livebench": _livebench, "panickssery": _panickssery, "xu": _xu}


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
    places = range(min([int(size["items"]), *filter(None, wanted)]))
    asked = [{"role": "user", "content": "x" * int(size["prompt bytes"])}]
    items = pd.DataFrame({"item_id": map(str, places), "category": size["category"]})
    items["metadata"] = [json.dumps({"index": place}) for place in places]
    items["cluster"], items["messages"] = items["item_id"], [asked] * len(places)
    wrote = pd.DataFrame({"responder": [f"of the set {n}" for n in range(int(size["responders"]))]})
    there = items[["item_id"]].merge(wrote, how="cross")
    return items, there.assign(text="x" * int(size["response bytes"]))


class _Found(NamedTuple):
    """A data set's items, mean tokens of the responses to them, and whether they are read."""

    items: pd.DataFrame
    mean: float
    read: bool


def _read(params: Params, study: str, dataset: str) -> _Found | None:
    """Items with who will have responded, and mean tokens of that; None: not there yet.

    Of each item `wrote` is who, `n` how many, `asked` its tokens.
    """
    try:
        items = tables.read(params.profile, "items", study, [dataset])
        there = tables.read(params.profile, "responses", study, [dataset])
        foreseen = None
    except SelfprefError:
        if (foreseen := _foreseen(params.study(study).datasets[dataset])) is None:
            return None
        items, there = foreseen
    section, writers, tokens = params.study(study), set(), [*map(of_text, there["text"])]
    for key, use in getattr(section, "refine" if study == "xu" else "respond").items():
        if dataset in _sets(params, study, use):
            writers |= {responder(params, name) for name in params.names(key)}
            tokens += [use.max_tokens] * len(items) * len(params.names(key))
    wrote = there.groupby("item_id")["responder"].agg(set).to_dict()
    items["wrote"] = [writers | wrote.get(item, set()) for item in items["item_id"]]
    items["n"] = items["wrote"].map(len)
    items["asked"] = [sum(of_text(one["content"]) for one in said) for said in items["messages"]]
    return _Found(items, sum(tokens) / max(len(tokens), 1), foreseen is None)


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
    params = params.model_copy(update={"models": {**params.models, **params.every_model()}})
    read, rows = cache(partial(_read, params)), []
    for study, task, key, use, model in _stages(params):
        entry, sets = hosted(params.models[model]), _sets(params, study, use)
        thought = entry.reasoning_tokens if entry and entry.reasons else 0
        found = {dataset: read(study, dataset) for dataset in sets}
        unread = [
            f"{study}-items@{name}" for name, data in found.items() if not (data and data.read)
        ]
        total = Counter(dict.fromkeys(COUNTS, 0))
        for name, dataset in product(params.names(getattr(use, "model", key)), sets):
            if data := found[dataset]:
                at = _Asked(params, task, use, name, dataset, data.items)
                for calls, texts, limit in STUDIES[study](at):
                    prompt = WORDS[use.prompts] + data.items["asked"].mean() + texts * data.mean
                    counts = calls, calls and calls * prompt, calls * (limit + thought)
                    total.update(dict(zip(COUNTS, map(int, counts), strict=True)))
        row = {"model": model, "engine": params.models[model].engine}
        row["stage"] = f"{study}.{'refine' if task == 'external' else task}.{key}"
        row["known after"] = f"dvc repro {' '.join(unread)}" if unread else ""
        rows.append(row if None in found.values() else row | total)
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))


def text(rows: pd.DataFrame) -> str:
    """The table for the terminal, with the sum and how it is counted."""
    table, known = rows.astype(object).where(rows.notna(), ""), rows["calls"].notna()
    foreseen = (known & rows["known after"].ne("")).any()
    told = f"{'About' if foreseen else 'At most'} {rows['calls'].sum():,} calls"
    if foreseen:
        told += ", by the sizes of sets that are not read yet"
    if not known.all():
        told += " of what is known"
    if foreseen or not known.all():
        told += "; the commands read the rest and ask no model"
    if not known.any():
        told = "No count is known yet; the commands read the items and ask no model"
    return (
        f"{table.to_markdown(index=False, tablefmt='simple', intfmt=',')}\n\n{told}.\n"
        "What is answered already counts too. Tokens of replies are their limits, those of prompts "
        "a\nguess: four bytes each."
    )


def notes(params: Params) -> list[str]:
    """What is likely wrong with an endpoint and can be right: its address, its key."""
    found = []
    for name, model in params.models.items():
        endpoint = hosted(model)
        if endpoint is None:
            continue
        if not endpoint.base_url.rstrip("/").endswith("/v1"):
            told = f"{endpoint.base_url} does not end in /v1, as most servers want it"
            found.append(f"models.{name}.base_url: {told}")
        if endpoint.key is not None and not os.environ.get(endpoint.key):
            found.append(f"models.{name}.key: ${endpoint.key} is not set; export it before a run")
    return found


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
