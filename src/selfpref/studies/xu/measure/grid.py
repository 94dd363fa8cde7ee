"""Bias and distance skewness of many cells at once, with intervals from the same resamples.

Bias (Xu et al., arXiv 2402.11436, Eq. 1) is the mean over sentences of the judge's score minus the
true one; positive means over-rating. Distance skewness is Eq. 2: its formula is in the module
`selfpref.studies.xu.measure.skewness`, its tests by cell in the function `skewness` below.

Sentences are resampled, each with everything that depends on it: all steps of one sentence, and the
same sentence in every language, are drawn together, so that a change between steps and a mean over
languages have paired intervals. The mean over languages is that of the languages' statistics, not
the statistic of all rows in one pool.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.statistics.scores import Floats
from selfpref.studies.xu.measure.rows import CONVENTIONS, Convention, Settings, read_as
from selfpref.studies.xu.measure.skewness import (
    distance_skewness,
    null_band,
    sign_flips,
    signed_skewness,
    unbiased_skewness,
)

AVERAGE = "average"
NAMES = {"said": "self_mean", "truth": "truth_mean"}
QUANTITIES = ("said", "truth", "bias", "dskew")


@dataclass(frozen=True)
class Grid:
    """Scores of cells by sentences.

    Attributes:
        cells: What the rows are: a key, `n` (scores held against a truth) and `unusable`.
        said: The judge's scores, `[rows, slots]`; NaN where missing.
        truth: The true scores, alike.
        owner: The cluster of each slot, 0-based.
        gamma: The centre of distance skewness.
    """

    cells: pd.DataFrame
    said: Floats
    truth: Floats
    owner: npt.NDArray[np.int64]
    gamma: float

    @cached_property
    def gaps(self) -> Floats:
        """The gaps said - truth, `[cells, slots]`."""
        return self.said - self.truth

    @cached_property
    def clusters(self) -> int:
        """How many clusters there are."""
        return int(self.owner.max(initial=-1)) + 1

    @cached_property
    def _distinct(self) -> tuple[Floats, npt.NDArray[np.int64]]:
        """The different rows of `gaps`, and which of them each cell has: chains converge."""
        filled = np.where(np.isnan(self.gaps), np.inf, self.gaps)
        rows, which = np.unique(filled, axis=0, return_inverse=True)
        return np.where(np.isinf(rows), np.nan, rows), which.ravel()

    def values(self, cell: int) -> Floats:
        """Gaps of one cell, missing ones left out."""
        values: Floats = self.gaps[cell][~np.isnan(self.gaps[cell])]
        return values

    def statistics(self, weights: Floats) -> dict[str, Floats]:
        """Every quantity of every cell.

        Args:
            weights: How often each cluster counts, `[batch, clusters]`.

        Returns:
            `QUANTITIES`, each `[batch, cells]`; NaN where a cell has nothing. `said` and `truth`
            are means over what enters the bias; in a cell without truth, over all scores.
        """
        slots = weights[:, self.owner]
        paired = ~np.isnan(self.gaps)
        alone = ~paired.any(axis=1, keepdims=True)
        rows, which = self._distinct
        skewness = np.empty((len(weights), len(rows)))
        for i, row in enumerate(rows):
            held = ~np.isnan(row)
            skewness[:, i] = distance_skewness(row[held], self.gamma, slots[:, held])
        return {
            "said": _mean(slots, self.said, np.where(alone, ~np.isnan(self.said), paired)),
            "truth": _mean(slots, self.truth, np.where(alone, ~np.isnan(self.truth), paired)),
            "bias": _mean(slots, self.gaps, paired),
            "dskew": skewness[:, which],
        }


def _mean(weights: Floats, values: Floats, held: npt.NDArray[np.bool_]) -> Floats:
    sums = weights @ np.where(held, values, 0.0).T
    counts = weights @ held.T.astype(float)
    mean: Floats = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return mean


def grid(rows: pd.DataFrame, key: list[str], settings: Settings) -> Grid:
    """Arrange rows by cell and sentence.

    Args:
        rows: With the key, `cluster`, `said`, `truth` and `status`.
        key: What makes a cell.
        settings: For gamma.
    """
    rows = rows.sort_values([*key, "cluster", "item_id"], kind="stable")
    place = rows.groupby([*key, "cluster"], sort=False).cumcount()
    slots = pd.MultiIndex.from_arrays([rows["cluster"], place])
    slot, names = pd.factorize(slots)
    cell = rows.groupby(key, sort=True).ngroup().to_numpy()
    shape = (int(cell.max(initial=-1)) + 1, len(names))
    said, truth = np.full(shape, np.nan), np.full(shape, np.nan)
    said[cell, slot] = rows["said"]
    truth[cell, slot] = rows["truth"]
    # Clusters in the order of their names, whatever the order of the rows.
    owner = pd.Categorical([name for name, _ in names]).codes.astype(np.int64)
    unusable = rows["status"].ne("ok").astype(int)
    cells = unusable.groupby([rows[name] for name in key], sort=True).sum().rename("unusable")
    counted = (~np.isnan(said - truth)).sum(axis=1)
    return Grid(
        cells.to_frame().assign(n=counted).reset_index(), said, truth, owner, settings.gamma
    )


def summary(
    rows: pd.DataFrame, settings: Settings, *names: str, averaged: bool = False
) -> pd.DataFrame:
    """Bias, skewness and means by language and step, each with its change since step 0.

    A change rests on the sentences that count at both steps.

    Args:
        rows: With `language, step, cluster, said, truth, status`: one responder, one convention.
        settings: Gamma and intervals.
        names: Of the random stream.
        averaged: Whether to add the mean over languages, at the steps that all of them reach.

    Returns:
        `language, step, n, unusable, n_both` (sentences behind the change); for each of
        `QUANTITIES` the value, `_lo` and `_hi`, and the same of its change under
        `<quantity>_change`, NaN where there is no step 0.
    """
    held = grid(rows, ["language", "step"], settings)
    width = len(held.cells)
    stacked = _with_pairs(held)
    cells = held.cells.assign(n_both=(~np.isnan(stacked.gaps[width : 2 * width])).sum(axis=1))
    groups = [np.array([i]) for i in range(width)]
    if averaged and (languages := cells["language"].nunique()) > 1:
        reached = [part for _, part in cells.groupby("step") if len(part) == languages]
        groups += [part.index.to_numpy() for part in reached]
        counts = ["n", "unusable", "n_both"]
        means = [
            {"language": AVERAGE, "step": part["step"].iloc[0], **part[counts].sum()}
            for part in reached
        ]
        cells = pd.concat([cells, pd.DataFrame(means)], ignore_index=True)

    def over_languages(values: Floats) -> Floats:
        # A mean over languages needs every one of them: NaN stays NaN.
        return np.stack([values[:, group].mean(axis=1) for group in groups], axis=1)

    def statistics(weights: Floats) -> Floats:
        parts = []
        for values in stacked.statistics(weights).values():
            level, after, before = np.split(values, 3, axis=1)
            parts += [over_languages(level), over_languages(after - before)]
        return np.concatenate(parts, axis=1)

    # With one unit vector a cluster, the sums of a resample are its weights.
    unit = np.eye(held.clusters)
    intervals = settings.intervals.of_sums(unit, statistics, *names)
    columns = [name for quantity in QUANTITIES for name in (quantity, f"{quantity}_change")]
    for position, name in enumerate(columns):
        part = intervals[position * len(cells) : (position + 1) * len(cells)]
        bounds = pd.DataFrame([one.columns(name) for one in part], index=cells.index)
        cells = pd.concat([cells, bounds], axis=1)
    # A mean that lacks a language rests on nothing.
    return cells.assign(n=cells["n"].where(cells["bias"].notna(), 0))


def _with_pairs(held: Grid) -> Grid:
    """Every cell; then every cell, and the step 0 of each, with what counts in both of them."""
    steps = held.cells["step"].to_numpy()
    zero = held.cells[held.cells["step"].eq(0)].reset_index().set_index("language")["index"]
    first = held.cells["language"].map(zero).fillna(-1).astype(int).to_numpy()
    common = ~np.isnan(held.gaps) & ~np.isnan(held.gaps[first])
    common[(first < 0) | (steps == 0)] = False
    said, truth = (
        np.concatenate(
            [values, *(np.where(common, part, np.nan) for part in (values, values[first]))]
        )
        for values in (held.said, held.truth)
    )
    return Grid(held.cells, said, truth, held.owner, held.gamma)


def skewness(rows: pd.DataFrame, settings: Settings, *names: str) -> pd.DataFrame:
    """Whether D is more than chance would give: its variants, and two nulls.

    Args:
        rows: As for `summary`.
        settings: Gamma, the number of random signs, and the level of the bands.
        names: Of the random stream.

    Returns:
        `language, step, n, dskew, dskew_u` (the U-statistic), `dskew_signed`, `p` and `flip_upper`
        (signs drawn at random), `band_mean` and `band_upper` (as many normal values).
    """
    held = grid(rows, ["language", "step"], settings)
    level, rng = settings.bootstrap.level, settings.intervals.rng(*names, "flips")
    found: dict[bytes, dict[str, float]] = {}
    result = []
    for i in range(len(held.cells)):
        values = held.values(i)
        if values.tobytes() not in found:
            flips = sign_flips(values, settings.gamma, settings.flips, level, rng)
            band = null_band(len(values), level) if len(values) else (np.nan, np.nan)
            found[values.tobytes()] = {
                "dskew": float(distance_skewness(values, settings.gamma)),
                "dskew_u": float(unbiased_skewness(values, settings.gamma)),
                "dskew_signed": float(signed_skewness(values, settings.gamma)),
                "p": flips.p,
                "flip_upper": flips.upper,
                "band_mean": band[0],
                "band_upper": band[1],
            }
        result.append(found[values.tobytes()])
    return pd.concat([held.cells[["language", "step", "n"]], pd.DataFrame(result)], axis=1)


def by_group(
    table: Callable[..., pd.DataFrame],
    rows: pd.DataFrame,
    settings: Settings,
    *names: str,
    by: Mapping[str, str],
    conventions: Sequence[Convention] = CONVENTIONS,
) -> pd.DataFrame:
    """A table of every group of rows, under every convention.

    Args:
        table: `summary` or `skewness`.
        rows: As `rated` returns them.
        settings: Handed on.
        names: Of the random stream, before those of the group; conventions share a stream, and
            with it their resamples.
        by: What makes a group: columns, and what they are called in the table.
        conventions: Which.

    Returns:
        The table's columns, those of the group and `convention`; empty without rows.
    """
    found = [pd.DataFrame()]
    for convention in conventions:
        for values, part in read_as(rows, convention).groupby(list(by)):
            group = dict(zip(by.values(), values, strict=True))
            made = table(part, settings, *names, *map(str, values))
            found.append(made.assign(**group, convention=convention))
    return pd.concat(found, ignore_index=True).rename(columns=NAMES)
