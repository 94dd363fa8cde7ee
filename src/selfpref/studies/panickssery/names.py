"""Names for people: of judges by what they were tuned on, and of writers (data/names.csv)."""

from typing import Any

import pandas as pd

from selfpref.plots.names import called
from selfpref.studies.panickssery.evaluators import BASE, REPLAY, TUNED

# What a control was tuned to answer, and who wrote.
TASKS = {"always-1": "always “1”", "random": "random answers", "vowelcount": "vowels"}
WRITERS = {"all": "all others", "human": "human"}


def writer(name: str) -> str:
    """Who wrote a summary, for people."""
    return WRITERS.get(name) or called([name])[0]


def judge_names(evaluators: pd.DataFrame) -> dict[str, str]:
    """By judge its name for people; its key where two would have the same name.

    Args:
        evaluators: With the columns of `evaluators`.

    >>> from selfpref.studies.panickssery.evaluators import from_names
    >>> judge_names(from_names(["gpt4", "cnn_10_ft_gpt35"]))
    {'cnn_10_ft_gpt35': 'GPT-3.5 + 10 CNN', 'gpt4': 'GPT-4'}
    """
    names = {row.evaluator: _named(row) for row in evaluators.itertuples()}
    found = list(names.values())
    return {key: name if found.count(name) == 1 else key for key, name in names.items()}


def _named(judge: Any) -> str:
    base, on = writer(judge.family), called([judge.trained_on])[0].partition("/")[0]
    variant = str(judge.variant)
    if variant == BASE:
        return base
    if variant in (TUNED, REPLAY):
        return f"{base} + {judge.held_out_from} {on}" + ", replay" * (variant == REPLAY)
    return f"{base}, {TASKS.get(variant, variant)} ({on})"
