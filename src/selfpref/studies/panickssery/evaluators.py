"""Who evaluates in the study of Panickssery et al., whose texts are its own, what it was tuned on.

One row a judge:

| column | meaning |
|---|---|
| evaluator | the judge: the paper says evaluator |
| family | the responder whose texts are its own: a tuned model is asked about its base's texts |
| trained_on | the data set that it was tuned on; empty for a base model |
| variant | base, self-recognition; or a control: always-1, random, readability, length, … |
| examples | how many tuning examples; 0 for a base model |
| held_out_from | index of the first article that it was not tuned on; 0 for a base model |
"""

import itertools
import re
from collections.abc import Iterable
from typing import Any

import pandas as pd

from selfpref.params import Panickssery, Tuning
from selfpref.plots.show import called

COLUMNS = ["evaluator", "family", "trained_on", "variant", "examples", "held_out_from"]
BASE, TUNED, REPLAY = "base", "self-recognition", "self-recognition-replay"
UNTUNED = ("", BASE, 0, 0)
# The release's names: `xsum_10_ft_gpt35` was tuned on 10 articles, the controls on 500.
NAME = re.compile(r"([a-z]+)_(\w+)_ft_(\w+)")
# What a control was tuned to answer, and who wrote.
TASKS = {"always-1": "always “1”", "random": "random answers", "vowelcount": "vowels"}
WRITERS = {"all": "all others", "human": "human"}
# Two models whose mean grades of the same texts differ by less, on a scale of 1 to 5, are one.
ONE_MODEL = 0.01


def described(section: Panickssery, judges: Iterable[str], responders: set[str]) -> pd.DataFrame:
    """Those whom the parameters name, then those whom the release's names describe.

    Args:
        section: The study's parameters.
        judges: Who answered.
        responders: Whose summaries there are, the human among them.

    Returns:
        The columns above, a row a judge. The number of examples is what the articles give where
        every source has written; the variant of a judge tuned with replay ends in `-replay`.
    """
    # Whose summaries are a judge's own, and what it was tuned on.
    named: dict[str, tuple[str, Tuning | None]] = {
        f"{base}-{name}": (entry.model if base == key else base, tuning)
        for key, entry in reversed(section.finetune.items())
        for base in {key, *responders}
        for name, tuning in entry.evaluators.items()
    }
    named |= {name: (use.own or name, use.tuned) for name, use in section.recognise.items()}
    rows = []
    for name in sorted(named.keys() & {*judges}):
        own, tuning = named[name]
        told = UNTUNED
        if tuning is not None:
            # Beside the own summaries stand those of the others, in two orders.
            examples = 2 * (len(responders) - 1) * tuning.articles
            variant = tuning.variant + "-replay" * bool(tuning.replay)
            told = (tuning.on, variant, examples, tuning.articles)
        rows.append((name, own, *told))
    others = from_names({*judges} - named.keys())
    return pd.concat([pd.DataFrame(rows, columns=COLUMNS), others], ignore_index=True)


def from_names(names: Iterable[str]) -> pd.DataFrame:
    """The judges that the release's names describe; any other name is a base model.

    Args:
        names: Such as `gpt4` or `xsum_always_1_ft_llama`.

    Returns:
        The columns above, sorted by judge.
    """
    rows = []
    for name in sorted(set(names)):
        family, told = name, UNTUNED
        if match := NAME.fullmatch(name):
            on, kind, family = match.groups()
            articles, variant = 500, kind.replace("_", "-")
            if kind.isdigit():
                articles, variant = int(kind), TUNED
            # Every article is compared with four other sources in both orders.
            told = (on, variant, 8 * articles, articles)
        rows.append((name, family, *told))
    return pd.DataFrame(rows, columns=COLUMNS)


def grade_distances(grades: pd.DataFrame) -> pd.DataFrame:
    """How far the grades of each two judges lie apart on the same texts.

    Args:
        grades: `evaluator, cluster, target, released`: stored quality scores, 1..5.

    Returns:
        `one, two, distance` (mean absolute difference), `n` (texts that both graded), the closest
        first. Judges whose grades hardly vary are left out.
    """
    text = ["cluster", "target"]
    wide, found = grades.pivot_table("released", text, "evaluator"), []
    varied = wide.columns[wide.std() > 10 * ONE_MODEL]
    for one, two in itertools.combinations(varied, 2):
        gap = (wide[one] - wide[two]).abs()
        found.append((one, two, gap.mean(), gap.count()))
    table = pd.DataFrame(found, columns=["one", "two", "distance", "n"])
    return table[table["n"].gt(0)].sort_values(["distance", "one", "two"], ignore_index=True)


def duplicated(distances: pd.DataFrame) -> dict[str, str]:
    """Judges that are one model under two names, by their grades of the same texts.

    Two models that answer at random about the same mean still differ from text to text; the mean
    absolute difference of their grades tells them from one model that was asked twice.

    Args:
        distances: As `grade_distances` returns them.

    Returns:
        By judge, the other name.
    """
    same = distances[distances["distance"].lt(ONE_MODEL)]
    one, two = same["one"], same["two"]
    return dict(zip([*one, *two], [*two, *one], strict=True))


def writer(name: str) -> str:
    """Who wrote a summary, for people."""
    return WRITERS.get(name) or called([name])[0]


def judge_names(evaluators: pd.DataFrame) -> dict[str, str]:
    """By judge its name for people; its key where two would have the same name.

    Args:
        evaluators: With the columns of `evaluators`.

    >>> judge_names(from_names(["gpt4", "cnn_10_ft_gpt35"]))
    {'cnn_10_ft_gpt35': 'GPT-3.5 + 10 CNN', 'gpt4': 'GPT-4'}
    """
    names = {judge.evaluator: _named(judge) for judge in evaluators.itertuples()}
    found = [*names.values()]
    return {key: name if found.count(name) == 1 else key for key, name in names.items()}


def _named(judge: Any) -> str:
    base, on = writer(judge.family), called([judge.trained_on])[0].partition("/")[0]
    variant = str(judge.variant)
    if variant == BASE:
        return base
    if variant in (TUNED, REPLAY):
        return f"{base} + {judge.held_out_from} {on}" + ", replay" * (variant == REPLAY)
    return f"{base}, {TASKS.get(variant, variant)} ({on})"
