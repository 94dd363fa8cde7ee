"""The files of the release: what their paths say, and their rows as columns.

A file is a JSON list of objects, where a bare `NaN` stands for a missing number; a value that a row
lacks is missing in its column. All files are pinned by their checksums: what they hold is known.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow

Floats = npt.NDArray[np.float64]
LABELS = ("1", "2")

_SET, _EVALUATOR = r"(?P<dataset>xsum|cnn)", r"(?P<evaluator>\w+)"
_RESULTS = rf"{_SET}/{_EVALUATOR}_results\.json"
# What each path holds, in the order in which they are read: scores of one order come before the raw
# probabilities that they belong to. The wordings that name the others were tried on XSum alone.
PATTERNS = {
    "summaries": rf"summaries/{_SET}/\w+?_train_{_EVALUATOR}_responses\.json",
    "pairwise": rf"results/{_RESULTS}",
    "worse": rf"results_with_worse/{_RESULTS}",
    "named": rf"results_vs_(?P<condition>human|model)/{_EVALUATOR}_results\.json",
    "labels": rf"label_results/(?P<condition>correct|wrong|random)_label_results/{_RESULTS}",
    "raw-labels": rf"label_results/raw_llama_label_results/{_SET}_label_{_EVALUATOR}_raw\.json",
    "generations": rf"comparisons/{_SET}/{_EVALUATOR}_comparisons\.json",
    "recognition": rf"individual_setting_results/recognition_results/{_RESULTS}",
    "quality": rf"individual_setting_results/score_results/{_RESULTS}",
}


class Released(NamedTuple):
    """One file and what its path says.

    Attributes:
        path: In the repository.
        local: On this machine.
        kind: A key of `PATTERNS`.
        evaluator: Who judged; of summaries, who wrote.
        dataset: `xsum` or `cnn`.
        condition: Of labels and wordings, which.
    """

    path: str
    local: Path
    kind: str
    evaluator: str
    dataset: str = "xsum"
    condition: str = ""


def released_file(path: str, local: Path) -> Released | None:
    """What a path says; None for a file that no study reads."""
    for kind, pattern in PATTERNS.items():
        if match := re.fullmatch(pattern, path):
            return Released(path, local, kind, **match.groupdict())
    return None


def lists(values: Floats, kept: npt.NDArray[np.bool_]) -> pd.Series:
    """A column of lists from `[rows, values]`, missing where not kept.

    A million Python lists would take ten times the memory.
    """
    rows, each = values.shape
    ends = pyarrow.array(np.arange(rows + 1, dtype=np.int32) * each)
    array = pyarrow.ListArray.from_arrays(ends, values.ravel(), mask=pyarrow.array(~kept))
    return pd.Series(pd.arrays.ArrowExtensionArray(array))


def numbers(frame: pd.DataFrame, name: str) -> Floats:
    """The numbers of a field that the release or a row may lack: NaN there."""
    found: Floats = frame.reindex(columns=[name])[name].to_numpy(dtype=float, na_value=np.nan)
    return found


def by_label(values: pd.Series, labels: Sequence[str]) -> Floats:
    """Probabilities `[rows, labels]` of a field that maps labels to them; NaN where missing."""
    maps = [value if isinstance(value, dict) else {} for value in values]
    return np.array([[found.get(label) for label in labels] for found in maps], dtype=float)
