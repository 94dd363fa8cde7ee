"""The study's stages that ask models: a table, or a model's part of it, is filled whole."""

import pandas as pd

from selfpref import tables
from selfpref.ask.judging import judge_pairs
from selfpref.ask.responding import earlier_turns, score_responses, tallied
from selfpref.ask.responding import respond as answered
from selfpref.models import open as models
from selfpref.params import Params
from selfpref.prompts import LAYOUTS
from selfpref.seeds import sampled
from selfpref.studies.wataoka import STUDY

# What is read of each table.
ITEMS = ("study", "item_id", "messages", "reference")
RESPONSES = ("study", "item_id", "responder", "step", "text")
PAIRS = ("study", "item_id", "responder_a", "responder_b")
KEY, SIDES = ["study", "item_id"], ["responder_a", "responder_b"]


def _of(params: Params, table: str, dataset: str, columns: tuple[str, ...]) -> pd.DataFrame:
    return tables.read(params.profile, table, STUDY.name, [dataset], columns)


def respond(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """Every item answered by one model that has no response of it yet.

    Args:
        params: The stage's parameters.
        model: A model of `wataoka.respond`.
        open_model: Opens the model for a data set.

    Returns:
        responses, and `dropped`: for each data set how many items have no response, by reason, and
        how many responses were cut off at their limit.
    """
    use, made, counts = params.wataoka.respond[model], [], {}
    own = models.responder(params, model)
    for dataset in use.datasets or STUDY.parts(params.profile, "items"):
        items = _of(params, "items", dataset, ITEMS)
        there = _of(params, "responses", dataset, RESPONSES)
        there = there[there["responder"].eq(own)].set_index("item_id")["text"]
        with open_model(params, model, dataset, f"respond {model} {dataset}") as asked:
            table, counts[dataset] = answered(
                items[~items["item_id"].isin(there.index)],
                own,
                asked,
                LAYOUTS[use.prompts].respond,
                use,
                seed=params.seed,
                answered=there.to_dict(),
            )
        made.append(table)
    return {"responses": tables.together("responses", made), "dropped": tallied(counts)}


def judge(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """Pairs of responses judged by one model, in both orders.

    Args:
        params: The stage's parameters.
        model: A model of `wataoka.judge`.
        open_model: Opens the model for a data set.

    Returns:
        verdicts.
    """
    use, made = params.wataoka.judge[model], []
    own = models.responder(params, model)
    written = STUDY.read(params.profile, "responses", RESPONSES)
    labels = STUDY.read(params.profile, "labels", PAIRS)
    for dataset in use.datasets or STUDY.parts(params.profile, "items"):
        items = _of(params, "items", dataset, (*ITEMS, "cluster"))
        questions = sampled(items["cluster"].unique(), use.questions.get(dataset))
        items = items[items["cluster"].isin(questions)]
        voted = labels[labels["item_id"].isin(items["item_id"])]
        pairs = _to_judge(items, voted, written, own, use.pairs)
        if pairs.empty:
            continue
        with open_model(params, model, dataset, f"judge {model} {dataset}") as asked:
            made.append(
                judge_pairs(
                    items,
                    written,
                    pairs,
                    own,
                    asked,
                    LAYOUTS[use.prompts],
                    use,
                    seed=params.seed,
                )
            )
    return {"verdicts": tables.together("verdicts", made)}


def _to_judge(
    items: pd.DataFrame, labels: pd.DataFrame, written: pd.DataFrame, own: str, which: str | int
) -> pd.DataFrame:
    """The pairs of one data set that a judge reads (`selfpref.params.Judge`)."""
    if which == "labelled" and len(labels):
        # People voted on responses that no file holds: nobody else can read them.
        there = pd.MultiIndex.from_frame(written[["item_id", "responder"]])
        sides = [pd.MultiIndex.from_frame(labels[["item_id", side]]).isin(there) for side in SIDES]
        return labels[sides[0] & sides[1]]
    pairs = _pairs(items, labels, written)
    mine = pairs[SIDES].eq(own).any(axis=1)
    if which == "own":
        return pairs[mine]
    if isinstance(which, str):
        return pairs
    # Either order of a labelled pair is the same pair.
    turned = labels.rename(columns=dict(zip(SIDES, reversed(SIDES), strict=True)))
    known = pd.concat([labels, turned])[[*KEY, *SIDES]].drop_duplicates()
    labelled = pairs.merge(known)
    others = labelled[~labelled[SIDES].eq(own).any(axis=1)]
    drawn = []
    for kind in (others, pairs[mine]):
        names = kind[["item_id", *SIDES]].agg("/".join, axis=1)
        drawn.append(kind[names.isin(sampled(names, which))])
    return pd.concat(drawn)


def _pairs(items: pd.DataFrame, labels: pd.DataFrame, written: pd.DataFrame) -> pd.DataFrame:
    """Every two responses to an item; those to a turn before another one only where it is voted on.

    Returns:
        `study, item_id, responder_a, responder_b`, the names of a pair in alphabetical order.
    """
    turns = zip(items["item_id"], items["messages"], strict=True)
    passed = {turn for one in turns for turn in earlier_turns(*one)} - {*labels["item_id"]}
    ends = items.loc[~items["item_id"].isin(passed), "item_id"]
    texts = written.loc[written["item_id"].isin(ends), [*KEY, "responder"]]
    pairs = texts.merge(texts, on=KEY, suffixes=("_a", "_b"))
    return pairs[pairs["responder_a"] < pairs["responder_b"]].reset_index(drop=True)


def perplexity(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """Every response scored by one model.

    Args:
        params: The stage's parameters.
        model: A model of `wataoka.perplexity`.
        open_model: Opens the model for a data set.

    Returns:
        perplexities.
    """
    use, made = params.wataoka.perplexity[model], []
    written = STUDY.read(params.profile, "responses", RESPONSES)
    for dataset in use.datasets or STUDY.parts(params.profile, "items"):
        items = _of(params, "items", dataset, (*ITEMS, "cluster"))
        answered_to = items[items["item_id"].isin(written["item_id"])]
        questions = sampled(answered_to["cluster"].unique(), use.questions.get(dataset))
        items = items[items["cluster"].isin(questions)]
        with open_model(params, model, dataset, f"perplexity {model} {dataset}") as asked:
            made.append(
                score_responses(
                    items,
                    written[written["item_id"].isin(items["item_id"])],
                    models.responder(params, model),
                    asked,
                    LAYOUTS[use.prompts],
                    alone=use.without_prompt is None or dataset in use.without_prompt,
                )
            )
    return {"perplexities": tables.together("perplexities", made)}


STAGES = {"respond": respond, "judge": judge, "perplexity": perplexity}
