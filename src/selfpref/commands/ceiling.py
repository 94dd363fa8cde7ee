"""What models are asked at most, by stage, before anything is asked.

Counted from the items, released responses and labels, and the parameters, as if every model wrote
all that it is asked for and every judge of a refinement found fault to the last step: the numbers
are the same before and after any stage, and whatever the store holds. A call is what has one
answer, however often it is tried; its reply is as long as its limit. Tokens of prompts are guessed:
the words of the wording's longest prompt, an item's and responses of mean length, those to come at
their limits.
"""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from selfpref import paths, tables
from selfpref.errors import SelfprefError
from selfpref.models.open import gives_likelihoods, responder
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
# Calls, how many responses each reads, and the limit of its reply.
Counts = Iterator[tuple[int, int, int]]


class _Asked(NamedTuple):
    """One model, asked about one data set by a task's entry; its items as `_read` returns them."""

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
        return
    wanted = at.use.questions.get(at.dataset)
    if at.task == "perplexity":
        # Which questions are drawn depends on who responds: these have most responses.
        most = at.items.groupby("cluster")["n"].sum().nlargest(wanted or len(at.items))
        alone = at.use.without_prompt is None or at.dataset in at.use.without_prompt
        yield (1 + alone) * most.sum(), 1, 1
        return
    items = at.items[at.items["cluster"].isin(sampled(at.items["cluster"].unique(), wanted))]
    own, which, label = responder(at.params, at.name), at.use.pairs, at.params.wataoka.label
    mine = sum(len(wrote) - 1 for wrote in items["wrote"] if own in wrote)
    pairs = int((items["n"] * (items["n"] - 1)).sum()) // 2
    if which != "all" and at.dataset in label:
        pairs = min(pairs, label[at.dataset].pairs or pairs)
    if isinstance(which, int):
        mine, pairs = min(which, mine), min(which, pairs) + min(which, mine)
    yield at.verdicts(2 * (mine if which == "own" else pairs), 2)


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
            yield number * kept * gives_likelihoods(at.params, use.external), 1, 1
        yield number * (heard + use.repeats * kept), 1, use.feedback_tokens


STUDIES = {"wataoka": _wataoka, "livebench": _livebench, "panickssery": _panickssery, "xu": _xu}


def _sets(params: Params, study: str, use: Any) -> list[str]:
    """The data sets that an entry is asked about."""
    held = {"panickssery": "articles", "xu": "requests"}.get(study, "datasets")
    return getattr(use, "datasets", None) or [*getattr(params.study(study), held)]


def _read(params: Params, study: str, dataset: str) -> pd.DataFrame | None:
    """Items with who will have responded; None: not there yet.

    Of each item `wrote` is who, `n` how many, `asked` its tokens and `long` those of a response in
    the mean.
    """
    try:
        items = tables.read(params.profile, "items", study, [dataset])
        there = tables.read(params.profile, "responses", study, [dataset])
    except SelfprefError:
        return None
    section, writers, tokens = params.study(study), set(), [*map(of_text, there["text"])]
    for key, use in getattr(section, "refine" if study == "xu" else "respond").items():
        if dataset in _sets(params, study, use):
            writers |= {responder(params, name) for name in params.names(key)}
            tokens += [use.max_tokens] * len(items) * len(params.names(key))
    wrote = there.groupby("item_id")["responder"].agg(set).to_dict()
    items["wrote"] = [writers | wrote.get(item, set()) for item in items["item_id"]]
    items["n"] = items["wrote"].map(len)
    items["asked"] = [sum(of_text(one["content"]) for one in said) for said in items["messages"]]
    return items.assign(long=sum(tokens) / max(len(tokens), 1))


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
        command that reads them. No rows where nothing is asked.
    """
    params = params.model_copy(update={"models": {**params.models, **params.every_model()}})
    read, rows = cache(partial(_read, params)), []
    for study, task, key, use, model in _stages(params):
        entry, sets = hosted(params.models[model]), _sets(params, study, use)
        thought = entry.reasoning_tokens if entry and entry.reasons else 0
        found = {dataset: read(study, dataset) for dataset in sets}
        unread = [f"{study}-items@{name}" for name, items in found.items() if items is None]
        counts = pd.Series(0, COUNTS)
        for name, dataset in product(params.names(getattr(use, "model", key)), sets):
            if (items := found[dataset]) is not None:
                for calls, texts, limit in STUDIES[study](
                    _Asked(params, task, use, name, dataset, items)
                ):
                    read_each = WORDS[use.prompts] + (items["asked"] + texts * items["long"]).mean()
                    counts += [calls, int(calls and calls * read_each), calls * (limit + thought)]
        stage = f"{study}.{'refine' if task == 'external' else task}.{key}"
        row = {"model": model, "engine": params.models[model].engine, "stage": stage}
        row["known after"] = f"dvc repro {' '.join(unread)}" if unread else ""
        rows.append(row if unread else row | dict(counts))
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(COUNTS, "Int64"))


def text(rows: pd.DataFrame) -> str:
    """The table for the terminal, with the sum and how it is counted."""
    table = rows.astype(object).where(rows.notna(), "")
    told = f"At most {rows['calls'].sum():,} calls"
    if rows["calls"].isna().any():
        told += " of what is known; the commands read the rest and ask no model"
    return (
        f"{table.to_markdown(index=False, tablefmt='simple', intfmt=',')}\n\n{told}.\n"
        "What is answered already counts too. Tokens of replies are their limits, those of prompts "
        "a\nguess: four bytes each."
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
