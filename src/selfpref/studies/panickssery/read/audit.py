"""What was found in each file of the release; `MEANINGS` says what each finding counts."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref import tables

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
# What each finding counts.
MEANINGS = {
    "ok": "none: nothing was found",
    "position-bias-stored": 'stored as confidence in its own text: the mean of P("1")',
    "swapped-tasks": "stored for one task: what the other task's answers give",
    "inverted-sign": "stored: one minus the confidence in the own text",
    "stored-differs": "stored: none of these, and not what p and 1 - p give either",
    "nan-filled": "a number is stored where the answer is not a number",
    "mass-filled": "a number is stored where neither label has any probability",
    "not-a-number": "the answer is not a number",
    "missing-order": "a row lacks an order",
    "missing-backward-probability": "P of the order with the own text second was never stored",
    "no-probabilities": "choices only",
    "single-order": "judged with the own text first only",
    "ties-stored-as-first": 'equal probabilities, stored as the choice "1"',
    "missing-p-yes": 'dropped from the file, since "Yes" was not among the two likeliest tokens',
    "yes-undercounted": "other spellings of yes hold probability, too",
    "wrong-ground-truth": "the field says that no text is the judge's own",
    "family-as-model": "the field names the base model instead of the judge",
    "held-out-violation": "articles that the judge was tuned on",
    "missing-articles": "held-out articles that the file lacks (a count of articles)",
    "foreign-articles": "articles of the other data set",
    "repeated-rows": "a pair that the file holds before",
    "left-out": "not read: another judge was asked for",
    "unknown-file": "not read: no file that a study reads",
}
# Two computations of one number differ by rounding of the release's half precision.
SAME = 1e-3


@dataclass
class Audit:
    """Collects findings; one that affects nothing is none.

    Attributes:
        rows: How many rows each file has that was read.
        noted: By file and finding, what it affects and a detail; nothing of a file as a whole.
    """

    rows: dict[str, int] = field(default_factory=dict)
    noted: dict[tuple[str, str], list[tuple[Bools, str]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def note(self, path: str, finding: str, affected: npt.ArrayLike, detail: str = "") -> None:
        """Note what a finding affects: of a file's rows a mask, each counted once; or others."""
        if np.any(mask := np.asarray(affected, dtype=bool)):
            self.noted[path, finding].append((mask, detail))

    def table(self, study: str) -> pd.DataFrame:
        """The audit table: a file that was read and of which nothing was found is `ok`."""
        fine = self.rows.keys() - {path for path, _ in self.noted}
        found = [
            {
                "file": path,
                "finding": finding,
                "rows": self.rows.get(path, 0),
                "affected": int(np.any([mask for mask, _ in notes], axis=0).sum()),
                "detail": "; ".join(detail for _, detail in notes if detail) or None,
            }
            for (path, finding), notes in (self.noted | {(path, "ok"): [] for path in fine}).items()
        ]
        return tables.fill(found, "audit", study=study)


def close(a: Floats, b: Floats) -> Bools:
    """Where two computations agree; False where either is missing."""
    with np.errstate(invalid="ignore"):
        near: Bools = np.abs(a - b) < SAME
    return near


def explained(stored: Floats, formulas: Mapping[str, Floats]) -> tuple[str, Bools]:
    """Which formula the stored scores follow best, by mean absolute distance.

    Args:
        stored: The release's scores, NaN where missing.
        formulas: By name, what each would give; the first wins ties. NaN where it gives nothing.

    Returns:
        Its name, and where it gives the stored score; `nothing` where no formula gives it in nine
        of ten rows.
    """
    best, least, where = "nothing", np.inf, np.zeros(len(stored), dtype=bool)
    for name, values in formulas.items():
        both = ~np.isnan(stored) & ~np.isnan(values)
        if not both.any():
            continue
        agree = close(stored, values)
        distance = float(np.abs(stored - values)[both].mean())
        if agree.sum() >= 0.9 * both.sum() and distance < least:
            best, least, where = name, distance, agree
    return best, where
