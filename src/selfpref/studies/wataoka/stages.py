"""The study's stages that ask models: a table, or a model's part of it, is filled whole.

`selfpref estimate` runs the very same functions with a meter in the place of the model, so that
what it counts is what would be asked.
"""

import pandas as pd

from selfpref import tables
from selfpref.ask.judging import judge_pairs
from selfpref.ask.perplexity import score_responses
from selfpref.ask.responding import respond, tallied
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


def responses(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every item answered by one model.

    Args:
        params: The stage's parameters.
        model: A key of `respond`.
        open_model: Opens the model for a data set.

    Returns:
        The responses table; and for each data set, how many items have no response, by reason, and
        how many responses were cut off at their limit.
    """
    use, made, counts = params.respond[model], [], {}
    for dataset in STUDY.parts(params, "items"):
        with open_model(params, model, dataset, f"respond {model} {dataset}") as asked:
            table, counts[dataset] = respond(
                _of(params, "items", dataset, ITEMS),
                models.responder(params, model),
                asked,
                LAYOUTS[use.prompts].respond,
                use,
                seed=params.seed,
            )
        made.append(table)
    return tables.together("responses", made), tallied(counts)


def verdicts(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> pd.DataFrame:
    """Every labelled pair judged by one model, in both orders: the verdicts table.

    Args:
        params: The stage's parameters.
        model: A key of `judge`.
        open_model: Opens the model for a data set.
    """
    use, made = params.judge[model], []
    written = STUDY.read(params, "responses", RESPONSES)
    for dataset in STUDY.parts(params, "labels"):
        with open_model(params, model, dataset, f"judge {model} {dataset}") as asked:
            made.append(
                judge_pairs(
                    _of(params, "items", dataset, ITEMS),
                    written,
                    _of(params, "labels", dataset, PAIRS),
                    models.responder(params, model),
                    asked,
                    LAYOUTS[use.prompts],
                    use,
                    seed=params.seed,
                )
            )
    return tables.together("verdicts", made)


def perplexities(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> pd.DataFrame:
    """Every response scored by one model: the perplexities table.

    Args:
        params: The stage's parameters.
        model: A key of `perplexity`.
        open_model: Opens the model for a data set.
    """
    use, made = params.perplexity[model], []
    written = STUDY.read(params, "responses", RESPONSES)
    for dataset in STUDY.parts(params, "items"):
        with open_model(params, model, dataset, f"perplexity {model} {dataset}") as asked:
            made.append(
                score_responses(
                    _of(params, "items", dataset, ITEMS),
                    written[written["item_id"].str.startswith(f"{dataset}/")],
                    models.responder(params, model),
                    asked,
                    LAYOUTS[use.prompts],
                )
            )
    return tables.together("perplexities", made)


STAGES = {"respond": responses, "judge": verdicts, "perplexity": perplexities}
