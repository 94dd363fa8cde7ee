"""The figures of Panickssery et al.: a function returns the picture, its numbers and its caption.

`plane` draws preference on recognition, `judges` judge by judge (`moves` draws the rows), `sizes`
along the size of the tuning; `names` are for people.
"""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import caption, lost
from selfpref.plots.frame import PALETTE
from selfpref.studies.panickssery.draw.names import judge_names, title

# So many judges are named, more are counted.
NAMED = 5
QUESTIONS = ("recognition", "preference")
# Intervals of means resample articles.
caption_of_articles = partial(caption, of="articles")


def family_colors(evaluators: pd.DataFrame) -> dict[str, str]:
    """A colour a family; tuned families first, so that they keep the clearest ones."""
    tuned = sorted(evaluators.loc[evaluators["variant"].ne("base"), "family"].unique())
    names = [*tuned, *sorted(set(evaluators["family"]) - set(tuned))]
    return dict(zip(names, PALETTE * len(names), strict=False))


def count(judges: int) -> str:
    """So many judges, in words."""
    return "1 judge" if judges == 1 else f"{judges} judges"


def pair_counts(pairwise: pd.DataFrame) -> str:
    """How many corrected pairs each data set gives, of how many judges."""
    rows = pairwise[pairwise["other"].eq("all") & pairwise["task"].eq("recognition")]
    parts = [
        f"{title(str(dataset))}: {part['n'].sum()} pairs, {count(part['evaluator'].nunique())}"
        for dataset, part in rows[rows["convention"].eq("corrected")].groupby("dataset")
    ]
    return f"Corrected: {'; '.join(parts) or 'no pairs'}"


def unusable(statuses: pd.DataFrame, tasks: Sequence[str]) -> str:
    """How many answers to the plain questions were not usable."""
    rows = statuses[statuses["variant"].eq("plain") & statuses["task"].isin(tasks)]
    return lost(rows, "answers")


def overview(
    pairwise: pd.DataFrame, evaluators: pd.DataFrame, statuses: pd.DataFrame, params: Params
) -> str:
    """What this copy of the chapter holds, in words."""
    tuned = evaluators[evaluators["variant"].ne("base")]
    stored = "with" if pairwise["convention"].eq("released").any() else "without"
    names = evaluators["evaluator"].map(judge_names(evaluators))
    degenerate = list(names[evaluators["degenerate"]])
    told = ", ".join(degenerate) if len(degenerate) <= NAMED else count(len(degenerate))
    twins = sorted(names[evaluators["duplicate_of"].ne("")])
    return caption_of_articles(
        f"{count(len(evaluators))}, {len(tuned)} of them fine-tuned",
        pair_counts(pairwise),
        unusable(statuses, QUESTIONS),
        f"These data come {stored} scores that others stored",
        f"Unusable (more than {params.panickssery.unusable:.0%} of the answers to a question are "
        "not a number or give neither answer any probability, or every text gets the same score): "
        f"{told or 'none'}",
        f"One model under two names: {', '.join(twins) or 'none'}",
        params=params,
    )
