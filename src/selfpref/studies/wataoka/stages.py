"""The study's stages that ask models: a table, or a model's part of it, is filled whole.

`selfpref estimate` runs the very same functions with a meter in the place of the model, so that
what it counts is what would be asked.
"""

import pandas as pd

from selfpref import tables
from selfpref.ask.judging import judge_pairs
from selfpref.ask.perplexity import score_responses
from selfpref.ask.responding import respond as answered
from selfpref.ask.responding import tallied
from selfpref.formats.dialogues import sampled
from selfpref.models import open as models
from selfpref.params import Params
from selfpref.prompts import LAYOUTS
from selfpref.studies.wataoka import STUDY

# What is read of each table.
ITEMS = ("study", "item_id", "messages")
RESPONSES = ("study", "item_id", "responder", "step", "text")
PAIRS = ("study", "item_id", "responder_a", "responder_b")


def _of(params: Params, table: str, dataset: str, columns: tuple[str, ...]) -> pd.DataFrame:
    return tables.read(params.profile, table, STUDY.name, [dataset], columns)


def respond(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """Every item answered by one model.

    Args:
        params: The stage's parameters.
        model: A model of `wataoka.respond`.
        open_model: Opens the model for a data set.

    Returns:
        responses, and `dropped`: for each data set how many items have no response, by reason, and
        how many responses were cut off at their limit.
    """
    use, made, counts = params.wataoka.respond[model], [], {}
    for dataset in use.datasets or STUDY.parts(params.profile, "items"):
        with open_model(params, model, dataset, f"respond {model} {dataset}") as asked:
            table, counts[dataset] = answered(
                _of(params, "items", dataset, ITEMS),
                models.responder(params, model),
                asked,
                LAYOUTS[use.prompts].respond,
                use,
                seed=params.seed,
            )
        made.append(table)
    return {"responses": tables.together("responses", made), "dropped": tallied(counts)}


def judge(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """Every labelled pair, or some of them, judged by one model, in both orders.

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
    of = labels["item_id"].str.replace(r"/.*", "", regex=True)
    for dataset in use.datasets or sorted(of.unique()):
        with open_model(params, model, dataset, f"judge {model} {dataset}") as asked:
            made.append(
                judge_pairs(
                    _of(params, "items", dataset, ITEMS),
                    written,
                    _some(labels[of.eq(dataset)], written, own, use.pairs),
                    own,
                    asked,
                    LAYOUTS[use.prompts],
                    use,
                    seed=params.seed,
                )
            )
    return {"verdicts": tables.together("verdicts", made)}


def _some(labels: pd.DataFrame, written: pd.DataFrame, own: str, size: int | None) -> pd.DataFrame:
    """Pairs to judge: the labelled ones, or so many of them and of the judge's own."""
    if size is None:
        return labels
    key, sides = ["study", "item_id"], ["responder_a", "responder_b"]
    texts = written[written["item_id"].isin(labels["item_id"])][[*key, "responder"]]
    pairs = texts.merge(texts, on=key, suffixes=("_a", "_b"))
    pairs = pairs[pairs["responder_a"] < pairs["responder_b"]]
    # Either order of a labelled pair is the same pair.
    turned = labels.rename(columns=dict(zip(sides, reversed(sides), strict=True)))
    labelled = pairs.merge(pd.concat([labels, turned])[[*key, *sides]].drop_duplicates())
    drawn = []
    for some, mine in ((labelled, False), (pairs, True)):
        kind = some[some[sides].eq(own).any(axis=1).eq(mine)]
        names = kind[["item_id", *sides]].agg("/".join, axis=1)
        drawn.append(kind[names.isin(sampled(names, size))])
    return pd.concat(drawn)


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
    for dataset in STUDY.parts(params.profile, "items"):
        items = _of(params, "items", dataset, (*ITEMS, "cluster"))
        questions = sampled(items["cluster"].unique(), use.questions.get(dataset))
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
