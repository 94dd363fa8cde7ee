"""The study's stage that asks models: every request written, judged and refined."""

from contextlib import ExitStack

import pandas as pd

from selfpref import tables
from selfpref.models import open as models
from selfpref.params import Params
from selfpref.studies.xu import STUDY
from selfpref.studies.xu.items import from_table
from selfpref.studies.xu.lab import LAB
from selfpref.studies.xu.prompts import AUTHORS, PLAIN
from selfpref.studies.xu.refine import run
from selfpref.studies.xu.refine.judges import Participant

LAYOUTS = {"lab": LAB, "authors": AUTHORS, "plain": PLAIN}


def refine(
    params: Params, model: str, open_model: models.OpenModel = models.open_model
) -> dict[str, pd.DataFrame]:
    """Every request written, judged and refined by one model, in every arm.

    Args:
        params: The stage's parameters.
        model: A model of `xu.refine`.
        open_model: Opens the model, and its external judge.

    Returns:
        responses, ratings, truths, perplexities, and `dropped`: how many items have no rows, by
        reason.
    """
    use = params.xu.refine[model]
    # A release holds no requests to be refined, and its texts are there already.
    asked = tables.read(params.profile, "items", STUDY.name, params.xu.requests)
    items = [item for item in from_table(asked) if item.task in use.tasks]
    with ExitStack() as stack:
        writer, *others = [
            Participant(
                models.responder(params, key),
                stack.enter_context(open_model(params, key, "", f"refine {model}: {key}")),
                LAYOUTS[use.prompts],
                use,
                params.seed,
                scores=models.gives_likelihoods(params, key),
            )
            for key in dict.fromkeys((model, use.external))
        ]
        found, missing = run(STUDY.name, items, writer, others[0] if others else None)
    return {**found, "dropped": pd.DataFrame([missing], index=[""]).astype(int)}


STAGES = {"refine": refine}
