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
from selfpref.statistics.threads import at_once
from selfpref.studies.xu.measure.rows import CONVENTIONS, Convention, Settings, read_as
from selfpref.studies.xu.measure.skewness import (
    distance_skewness,
    null_band,
    resampled_skewness,
    sign_flips,
)

AVERAGE = "average"
# What a study's tables call the quantities of `summary`, and their bounds.
NAMES = {
    old + end: new + end
    for old, new in (("said", "self_mean"), ("truth", "truth_mean"), ("said_change", "self_change"))
    for end in ("", "_lo", "_hi")
}
KEY = ["convention", "language", "step"]
QUANTITIES = ("said", "truth", "bias", "dskew")
# What they are called in a table.
QUANTITY_COLUMNS = [
    NAMES.get(name, name)
    for quantity in QUANTITIES
    for change in ("", "_change")
    for end in ("", "_lo", "_hi")
    for name in [quantity + change + end]
]


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

    def values(self, cell: int) -> Floats:
        """Gaps of one cell, missing ones left out."""
        values: Floats = self.gaps[cell][~np.isnan(self.gaps[cell])]
        return values

    def statistics(self, weights: Floats) -> dict[str, Floats]:
        """Every quantity of every cell.

        Args:
            weights: How often each cluster counts, `[clusters, batch]`.

        Returns:
            `QUANTITIES`, each `[cells, batch]`; NaN where a cell has nothing. `said` and `truth`
            are means over what enters the bias; in a cell without truth, over all scores.
        """
        # Chains converge, and most cells are the same under both scorings.
        rows, which = _distinct(np.concatenate([self.said, self.truth], axis=1))
        said, truth = np.split(rows, 2, axis=1)
        gaps = said - truth
        paired = ~np.isnan(gaps)
        alone = ~paired.any(axis=1, keepdims=True)
        found = {
            "said": self._mean(weights, said, np.where(alone, ~np.isnan(said), paired)),
            "truth": self._mean(weights, truth, np.where(alone, ~np.isnan(truth), paired)),
            "bias": self._mean(weights, gaps, paired),
            "dskew": self._skewness(weights, gaps),
        }
        return {name: values[which] for name, values in found.items()}

    def _mean(self, weights: Floats, values: Floats, held: npt.NDArray[np.bool_]) -> Floats:
        """Means of the values that are held, `[cells, batch]`."""
        masks, which = np.unique(held, axis=0, return_inverse=True)
        sums, counts = (
            (part @ np.eye(self.clusters)[self.owner]) @ weights
            for part in (np.where(held, values, 0.0), masks.astype(float))
        )
        counts = counts[which.ravel()]
        mean: Floats = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
        return mean

    def _skewness(self, weights: Floats, gaps: Floats) -> Floats:
        """D of the gaps, `[cells, batch]`."""
        rows, which = _distinct(gaps)
        found = np.empty((len(rows), weights.shape[1]))
        for i, row in enumerate(rows):
            held = ~np.isnan(row)
            found[i] = resampled_skewness(row[held], self.gamma, self.owner[held], weights)
        return found[which]


def _distinct(rows: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    """The different rows, and which of them each row is; missing values are equal."""
    found, which = np.unique(np.where(np.isnan(rows), np.inf, rows), axis=0, return_inverse=True)
    return np.where(np.isinf(found), np.nan, found), which.ravel()


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
        rows: With `convention, language, step, cluster, said, truth, status`: one responder.
        settings: Gamma and intervals.
        names: Of the random stream.
        averaged: Whether to add the mean over languages, at the steps that all of them reach.

    Returns:
        `convention, language, step, n, unusable, n_both` (sentences behind the change); for each of
        `QUANTITIES` the value, `_lo` and `_hi`, and the same of its change under
        `<quantity>_change`, NaN where there is no step 0.
    """
    held = grid(rows, KEY, settings)
    width = len(held.cells)
    stacked = _with_pairs(held)
    cells = held.cells.assign(n_both=(~np.isnan(stacked.gaps[width : 2 * width])).sum(axis=1))
    averages: list[npt.NDArray[np.int64]] = []
    if averaged and (languages := cells["language"].nunique()) > 1:
        by_step = cells.groupby(["convention", "step"])
        reached = [part for _, part in by_step if len(part) == languages]
        averages = [part.index.to_numpy() for part in reached]
        counts = ["n", "unusable", "n_both"]
        means = [
            {**part[["convention", "step"]].iloc[0], "language": AVERAGE, **part[counts].sum()}
            for part in reached
        ]
        cells = pd.concat([cells, pd.DataFrame(means)], ignore_index=True)

    def statistics(weights: Floats) -> Floats:
        parts = []
        for values in stacked.statistics(np.ascontiguousarray(weights.T)).values():
            level, after, before = np.split(values, 3)
            for part in (level, after - before):
                # A mean over languages needs every one of them: NaN stays NaN.
                parts += [part, *(part[cell].mean(axis=0)[None] for cell in averages)]
        return np.concatenate(parts).T

    intervals = settings.intervals.of_weights(held.clusters, statistics, *names)
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
    zero = held.cells[held.cells["step"].eq(0)].reset_index().set_index(KEY[:-1])["index"]
    first = zero.reindex(pd.MultiIndex.from_frame(held.cells[KEY[:-1]]))
    first = first.fillna(-1).astype(int).to_numpy()
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
    """Whether D is more than chance would give: two nulls.

    Args:
        rows: As for `summary`.
        settings: Gamma, the number of random signs, and the level of the bands.
        names: Of the random stream.

    Returns:
        `convention, language, step, n, dskew, p` and `flip_upper` (signs drawn at random),
        `band_mean` and `band_upper` (as many normal values), and `repeated`: whether an earlier
        step of the language has the same values, since texts and feedback have stayed.
    """
    held = grid(rows, KEY, settings)
    level = settings.bootstrap.level
    result = []
    for _, cells in held.cells.groupby("convention"):
        rng = settings.intervals.rng(*names, "flips")
        found: dict[bytes, dict[str, float]] = {}
        met: set[tuple[object, bytes]] = set()
        for cell, language in cells["language"].items():
            values = held.values(int(str(cell)))
            if values.tobytes() not in found:
                flips = sign_flips(values, settings.gamma, settings.flips, level, rng)
                band = null_band(len(values), level) if len(values) else (np.nan, np.nan)
                found[values.tobytes()] = {
                    "dskew": float(distance_skewness(values, settings.gamma)),
                    "p": flips.p,
                    "flip_upper": flips.upper,
                    "band_mean": band[0],
                    "band_upper": band[1],
                }
            key = (language, values.tobytes())
            result.append(found[values.tobytes()] | {"repeated": key in met})
            met.add(key)
    return pd.concat([held.cells[[*KEY, "n"]], pd.DataFrame(result)], axis=1)


def by_group(
    table: Callable[..., pd.DataFrame],
    rows: pd.DataFrame,
    settings: Settings,
    *names: str,
    by: Mapping[str, str],
    conventions: Sequence[Convention] = CONVENTIONS,
) -> pd.DataFrame:
    """A table of every group of rows, under every scoring.

    Args:
        table: `summary` or `skewness`.
        rows: As `rated` returns them.
        settings: Handed on.
        names: Of the random stream, before those of the group; scorings share a stream, and
            with it their resamples.
        by: What makes a group: columns, and what they are called in the table.
        conventions: Which.

    Returns:
        The table's columns, those of the group and `convention`; one scoring after the other;
        empty without rows.
    """
    wanted = [*by, *KEY[1:], "cluster", "item_id", "said", "truth", "status"]
    read = pd.concat([read_as(rows, one)[wanted].assign(convention=one) for one in conventions])
    groups = list(read.groupby(list(by)))
    if not groups:
        return pd.DataFrame()
    calls = ((part, settings, *names, *map(str, values)) for values, part in groups)
    found = [
        made.assign(
            **dict(zip(by.values(), values, strict=True)), convention=made.pop("convention")
        )
        for made, (values, _) in zip(at_once(table, calls), groups, strict=True)
    ]
    whole = pd.concat(found, ignore_index=True).rename(columns=NAMES)
    rank = whole["convention"].map(list(conventions).index)
    return whole.iloc[np.argsort(rank, kind="stable")].reset_index(drop=True)
