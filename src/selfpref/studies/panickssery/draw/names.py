"""Names for people: of judges, of what they were tuned on, of data sets and of writers."""

from collections.abc import Callable
from typing import Any

import pandas as pd

TITLES = {"xsum": "XSum", "cnn": "CNN/DailyMail"}
SHORT = TITLES | {"cnn": "CNN"}
WRITERS = {
    "gpt35": "GPT-3.5",
    "gpt4": "GPT-4",
    "llama": "Llama-2",
    "claude": "Claude 2.1",
    "all": "all others",
}
TASKS = {"always-1": "always “1”", "random": "random answers", "vowelcount": "vowels"}
# Of the judges of one base model; `measure.correlation.subsets`.
SUBSETS = ("self-recognition", "controls", "replay")
BASE, TUNED, REPLAY = "base", "self-recognition", "self-recognition-replay"


def title(dataset: str) -> str:
    """The heading of a data set."""
    return TITLES.get(dataset, dataset)


def short(dataset: str) -> str:
    """A data set in a name or a narrow place."""
    return SHORT.get(dataset, dataset)


def writer(name: str) -> str:
    """Who wrote a summary."""
    return WRITERS.get(name, name)


def task(variant: str) -> str:
    """What a control was tuned to answer."""
    return TASKS.get(variant, variant)


def subset(name: str) -> str:
    """Which judges a line is of.

    >>> subset("gpt35-self-recognition"), subset("controls")
    ('GPT-3.5, self-recognition', 'controls')
    """
    kind = next((kind for kind in SUBSETS if name.endswith(f"-{kind}")), "")
    return f"{writer(name.removesuffix(f'-{kind}'))}, {kind}" if kind else name


def judge_names(evaluators: pd.DataFrame) -> dict[str, str]:
    """By judge its name for people; its key where two would have the same name.

    Args:
        evaluators: The frame `evaluators`.

    >>> judge_names(pd.DataFrame({
    ...     "evaluator": ["cnn_10_ft_gpt35"], "family": "gpt35", "trained_on": "cnn",
    ...     "variant": "self-recognition", "held_out_from": 10,
    ... }))
    {'cnn_10_ft_gpt35': 'GPT-3.5 + 10 CNN'}
    """
    names = {row.evaluator: _named(row) for row in evaluators.itertuples()}
    found = list(names.values())
    return {key: name if found.count(name) == 1 else key for key, name in names.items()}


# Columns of tables that hold names of judges, besides `evaluator`.
JUDGES = ("one", "two", "duplicate_of")


def for_readers(frame: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """A table with names for people, and `judge` for `evaluator`.

    Args:
        frame: With some of `dataset`, `evaluator`, `other`, `target`, `family`, `subset` and
            those of `JUDGES`.
        evaluators: The frame `evaluators`.
    """
    names = judge_names(evaluators)
    words: dict[str, Callable[[str], str]] = dict.fromkeys(("other", "target", "family"), writer)
    words |= dict.fromkeys(("evaluator", *JUDGES), lambda judge: names.get(judge, judge))
    words |= {"dataset": short, "subset": subset}
    told = {name: frame[name].astype("str").map(words[name]) for name in words if name in frame}
    return frame.assign(**told).rename(columns={"evaluator": "judge", "dataset": "data set"})


def _named(judge: Any) -> str:
    base, on = writer(judge.family), short(judge.trained_on)
    variant, articles = judge.variant, judge.held_out_from
    if variant == BASE:
        return base
    if variant in (TUNED, REPLAY):
        return f"{base} + {articles} {on}" + (", replay" if variant == REPLAY else "")
    return f"{base}, {task(variant)} ({on})"
