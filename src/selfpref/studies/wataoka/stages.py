"""The study's stages that ask models: a table, or a model's part of it, is filled whole."""

from collections.abc import Iterator

import pandas as pd

from selfpref import tables
from selfpref.ask import earlier_turns, judge_pairs, score_responses, tallied
from selfpref.ask import respond as answered
from selfpref.models.calls import OpenModel, responder
from selfpref.params import Judge, Params
from selfpref.params.studies import Perplexity, Respond
from selfpref.prompts import LAYOUTS
from selfpref.seeds import sampled
from selfpref.studies.wataoka import STUDY

KEY, SIDES = ["study", "item_id"], ["responder_a", "responder_b"]
Made = dict[str, pd.DataFrame]


def _items(params: Params, use: Respond | Judge | Perplexity) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each data set that a model is asked about, with its items."""
    for dataset in use.datasets or STUDY.parts(params.profile, "items"):
        yield dataset, tables.read(params.profile, "items", STUDY.name, [dataset])


def respond(params: Params, model: str, open_model: OpenModel) -> Made:
    """Every item answered by one model that has no response of it yet.

    Args:
        params: The stage's parameters.
        model: A model of `wataoka.respond`.
        open_model: Opens the model for a data set.

    Returns:
        responses, and `dropped`: for each data set how many items have no response, by reason, and
        how many responses were cut off at their limit.
    """
    use, own = params.wataoka.respond[model], responder(params, model)
    prompt, made, counts = LAYOUTS[use.prompts].respond, [], {}
    for dataset, items in _items(params, use):
        there = tables.read(params.profile, "responses", STUDY.name, [dataset])
        mine = there[there["responder"].eq(own)].set_index("item_id")["text"].to_dict()
        left = items[~items["item_id"].isin(mine)]
        more = {"seed": params.seed, "answered": mine}
        with open_model(params, model, dataset, f"respond {model} {dataset}") as asked:
            table, counts[dataset] = answered(left, own, asked, prompt, use, **more)
        made.append(table)
    return {"responses": tables.together("responses", made), "dropped": tallied(counts)}


def judge(params: Params, model: str, open_model: OpenModel) -> Made:
    """Pairs of responses judged by one model, in both orders.

    Args:
        params: The stage's parameters.
        model: A model of `wataoka.judge`.
        open_model: Opens the model for a data set.

    Returns:
        verdicts.
    """
    use, own = params.wataoka.judge[model], responder(params, model)
    layout, made = LAYOUTS[use.prompts], []
    written, labels = (STUDY.read(params.profile, name) for name in ("responses", "labels"))
    for dataset, every in _items(params, use):
        items = _drawn(every, use, dataset)
        voted = labels[labels["item_id"].isin(items["item_id"])]
        pairs = _to_judge(items, voted, written, own, use.pairs)
        if len(pairs):
            with open_model(params, model, dataset, f"judge {model} {dataset}") as asked:
                place = items, written, pairs, own, asked, layout, use
                made.append(judge_pairs(*place, seed=params.seed))
    return {"verdicts": tables.together("verdicts", made)}


def _drawn(items: pd.DataFrame, use: Judge | Perplexity, dataset: str) -> pd.DataFrame:
    """The items of so many questions (clusters) as are wanted of a data set."""
    questions = sampled(items["cluster"].unique(), use.questions.get(dataset))
    return items[items["cluster"].isin(questions)]


def _to_judge(
    items: pd.DataFrame, labels: pd.DataFrame, written: pd.DataFrame, own: str, which: str | int
) -> pd.DataFrame:
    """The pairs of one data set that a judge reads (`selfpref.params.Judge`)."""
    # People voted on responses, too, that no file holds: nobody else can read them.
    pairs = _pairs(items, labels, written)
    names = pairs["item_id"].str.cat(pairs[SIDES], "/")
    # Either order of a labelled pair is the same pair.
    known = (labels["item_id"].str.cat(labels[sides], "/") for sides in (SIDES, SIDES[::-1]))
    labelled = names.isin(pd.concat(known))
    mine = pairs[SIDES].eq(own).any(axis=1)
    if which == "labelled" and len(labels):
        return pairs[labelled]
    if isinstance(which, str):
        return pairs[mine] if which == "own" else pairs
    drawn = (name for kind in (labelled & ~mine, mine) for name in sampled(names[kind], which))
    return pairs[names.isin([*drawn])]


def _pairs(items: pd.DataFrame, labels: pd.DataFrame, written: pd.DataFrame) -> pd.DataFrame:
    """Every two responses to an item; those to a turn before another one only where it is voted on.

    Returns:
        `study, item_id, responder_a, responder_b`, the names of a pair in alphabetical order.
    """
    turns = zip(items["item_id"], items["messages"], strict=True)
    passed = {turn for one in turns for turn in earlier_turns(*one)} - {*labels["item_id"]}
    ends = {*items["item_id"]} - passed
    texts = written.loc[written["item_id"].isin(ends), [*KEY, "responder"]]
    pairs = texts.merge(texts, on=KEY, suffixes=("_a", "_b"))
    return pairs[pairs["responder_a"] < pairs["responder_b"]].reset_index(drop=True)


def perplexity(params: Params, model: str, open_model: OpenModel) -> Made:
    """Every response scored by one model.

    Args:
        params: The stage's parameters.
        model: A model of `wataoka.perplexity`.
        open_model: Opens the model for a data set.

    Returns:
        perplexities.
    """
    use, own = params.wataoka.perplexity[model], responder(params, model)
    made, written = [], STUDY.read(params.profile, "responses")
    for dataset, every in _items(params, use):
        items = _drawn(every[every["item_id"].isin(written["item_id"])], use, dataset)
        texts = written[written["item_id"].isin(items["item_id"])]
        alone = use.without_prompt is None or dataset in use.without_prompt
        with open_model(params, model, dataset, f"perplexity {model} {dataset}") as asked:
            place = items, texts, own, asked, LAYOUTS[use.prompts]
            made.append(score_responses(*place, alone=alone))
    return {"perplexities": tables.together("perplexities", made)}


STAGES = {"respond": respond, "judge": judge, "perplexity": perplexity}
