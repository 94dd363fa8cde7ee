"""The stages that ask models: what fills a table, whole, for one model.

`selfpref estimate` runs the very same functions with a meter in the place of the models, so that
what it counts is what would be asked.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.ask import sources
from selfpref.ask.judging import judge_pairs
from selfpref.ask.perplexity import score_responses
from selfpref.ask.responding import respond, tallied
from selfpref.ask.sources import Opens
from selfpref.prompts import LAYOUTS
from selfpref.studies.livebench import stages as contest_stages
from selfpref.studies.panickssery import stages as summary_stages
from selfpref.studies.xu.items import from_table
from selfpref.studies.xu.refine import LAYOUTS as REFINEMENTS
from selfpref.studies.xu.refine.experiment import Participant, Plan
from selfpref.studies.xu.refine.experiment import run as refine
from selfpref.studies.xu.refine.judges import Sampling

STUDY = "wataoka"
REFINEMENT = "xu"
# What is read of each table.
COLUMNS = {
    "items": ("study", "item_id", "messages"),
    "responses": ("study", "item_id", "responder", "step", "text"),
    "labels": ("study", "item_id", "responder_a", "responder_b"),
}


def _read(params: Any, table: str, names: list[str] | None = None) -> pd.DataFrame:
    parts = names or sources.parts(params, table, STUDY)
    return tables.read(params.profile, table, STUDY, parts, COLUMNS[table])


def responses(params: Any, model: str, opens: Opens) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every item answered by one model.

    Args:
        params: The stage's parameters.
        model: A key of `respond`.
        opens: Opens the model for a data set.

    Returns:
        The responses table; and for each data set, how many items have no response, by reason, and
        how many responses were cut off at their limit.
    """
    use, made, counts = params.respond[model], [], {}
    for dataset in sources.parts(params, "items", STUDY):
        with opens(params, model, dataset, f"respond {model} {dataset}") as calls:
            table, counts[dataset] = respond(
                _read(params, "items", [dataset]),
                sources.name(params, model),
                calls,
                LAYOUTS[use.prompts],
                max_tokens=use.max_tokens,
                temperature=use.temperature,
                seed=params.seed,
            )
        made.append(table)
    return pd.concat(made, ignore_index=True), tallied(counts)


def verdicts(params: Any, model: str, opens: Opens) -> pd.DataFrame:
    """Every labelled pair judged by one model, in both orders.

    Args:
        params: The stage's parameters.
        model: A key of `judge`.
        opens: Opens the model for a data set.

    Returns:
        The verdicts table.
    """
    use, written, made = params.judge[model], _read(params, "responses"), []
    for dataset in sources.parts(params, "labels", STUDY):
        with opens(params, model, dataset, f"judge {model} {dataset}") as calls:
            made.append(
                judge_pairs(
                    _read(params, "items", [dataset]),
                    written,
                    _read(params, "labels", [dataset]),
                    sources.name(params, model),
                    calls,
                    LAYOUTS[use.prompts],
                    use,
                    seed=params.seed,
                    part=sources.at_a_time(params, model),
                )
            )
    return pd.concat(made, ignore_index=True)


def perplexities(params: Any, model: str, opens: Opens) -> pd.DataFrame:
    """Every response scored by one model.

    Args:
        params: The stage's parameters.
        model: A key of `perplexity`.
        opens: Opens the model for a data set.

    Returns:
        The perplexities table.
    """
    use, written, made = params.perplexity[model], _read(params, "responses"), []
    for dataset in sources.parts(params, "items", STUDY):
        with opens(params, model, dataset, f"perplexity {model} {dataset}") as calls:
            made.append(
                score_responses(
                    _read(params, "items", [dataset]),
                    written[written["item_id"].str.startswith(f"{dataset}/")],
                    sources.name(params, model),
                    calls,
                    LAYOUTS[use.prompts],
                    part=sources.at_a_time(params, model),
                )
            )
    return pd.concat(made, ignore_index=True)


def refinements(
    params: Any, model: str, opens: Opens
) -> tuple[dict[str, pd.DataFrame], dict[str, int]]:
    """Every request written, judged and refined by one model, in every arm.

    Args:
        params: The stage's parameters.
        model: A key of `refine`.
        opens: Opens the model for a data set.

    Returns:
        The tables responses, ratings, truths and perplexities; and how many items have no rows, by
        reason.
    """
    use = params.refine[model]
    parts = sources.parts(params, "items", REFINEMENT)
    # A release holds no requests to be refined, and its texts are there already.
    asked = tables.read(
        params.profile, "items", REFINEMENT, [part for part in parts if part in params.requests]
    )
    items = [item for item in from_table(asked) if item.task in use.tasks]
    dataset = "".join(f"seed-{seed}" for seed in params.lab.refiners.seeds)
    sampling = Sampling(use.max_tokens, use.feedback_tokens, use.temperature, params.seed)
    plan = Plan(use.steps, tuple(use.arms), tuple(use.best_of), tuple(use.rounds), sampling)
    with ExitStack() as stack:
        cast = [
            Participant(
                sources.name(params, key),
                stack.enter_context(opens(params, key, dataset, f"refine {model}: {key}")),
                REFINEMENTS[use.prompts],
                scores=sources.scores(params, key),
            )
            for key in dict.fromkeys((model, use.external))
        ]
        return refine(REFINEMENT, items, cast[0], cast[1] if len(cast) > 1 else None, plan)


# By section of params.yaml, whose keys are models but for `finetune`.
STAGES: dict[str, Callable[[Any, str, Opens], object]] = {
    "respond": responses,
    "judge": verdicts,
    "perplexity": perplexities,
    "compete": contest_stages.compete,
    "assess": contest_stages.assess,
    "tie_breakers": contest_stages.break_ties,
    "refine": refinements,
    "summarise": summary_stages.summaries,
    "recognise": summary_stages.answers,
    "finetune": summary_stages.examples,
}
