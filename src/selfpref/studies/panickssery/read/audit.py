"""What was found in each file of the release; `MEANINGS` says what each finding counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

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
COLUMNS = ["study", "file", "finding", "rows", "affected", "detail"]


@dataclass
class Finding:
    """What a finding affects: rows of its file, each counted once, or something else."""

    rows: int
    affected: int = 0
    mask: Bools | None = None
    detail: list[str] = field(default_factory=list)


@dataclass
class Audit:
    """Collects findings; one that affects nothing is none."""

    study: str
    found: dict[tuple[str, str], Finding] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    def note(self, path: str, finding: str, mask: Bools, detail: str = "") -> None:
        """Note which rows of a file a finding affects, `[rows]`; further notes add theirs."""
        if mask.any():
            known = self._finding(path, len(mask), finding, detail)
            known.mask = mask if known.mask is None else known.mask | mask
            known.affected = int(known.mask.sum())

    def count(self, path: str, rows: int, finding: str, affected: int, detail: str = "") -> None:
        """Note a number of other things than the rows of a file."""
        if affected:
            self._finding(path, rows, finding, detail).affected += affected

    def _finding(self, path: str, rows: int, finding: str, detail: str) -> Finding:
        known = self.found.setdefault((path, finding), Finding(rows))
        known.detail += [detail] if detail else []
        return known

    def mark(self, path: str, finding: str, detail: str = "") -> None:
        """Note what affects a file as a whole."""
        rows = self.sizes.get(path, 0)
        self.found[path, finding] = Finding(rows, rows, detail=[detail] if detail else [])

    def read(self, path: str, rows: int) -> None:
        """Note that a file was read to its end."""
        self.sizes[path] = rows

    def table(self) -> pd.DataFrame:
        """The audit table: a file that was read and of which nothing was found is `ok`."""
        fine = self.sizes.keys() - {path for path, _ in self.found}
        found = self.found | {(path, "ok"): Finding(self.sizes[path]) for path in fine}
        return pd.DataFrame(
            [
                (self.study, path, finding, row.rows, row.affected, "; ".join(row.detail) or None)
                for (path, finding), row in found.items()
            ],
            columns=COLUMNS,
        )


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
