"""Does preference follow recognition? One point an evaluator, its mean recognition and preference.

Pearson's r and the least-squares line y = a + b x over the points. The interval resamples articles:
it says how well these evaluators' means are known. It says nothing of other evaluators: the points
of a release are tunes of one or two families and not independent.
"""

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import Interval, ratio
from selfpref.statistics.clusters import Groups
from selfpref.statistics.scores import Floats
from selfpref.studies.panickssery.measure.pairs import by_convention
from selfpref.studies.panickssery.measure.pairwise import plain
from selfpref.studies.panickssery.measure.settings import Settings

CORRELATION = ["dataset", "subset", "convention", "r", "slope", "intercept", "n", "lo", "hi"]
LINES = ["dataset", "subset", "convention", "x", "y", "lo", "hi"]
LEFT_OUT = [
    *("dataset", "subset", "convention", "r", "slope", "n"),
    *("r_min", "r_min_without", "r_max", "r_max_without", "slope_min", "slope_max"),
]
WORDINGS = ("prefer", "worse", "mean")
POOLED = "all"
# How many places of the line have a band.
GRID = 21
# By subset, convention and quantity of the vertical axis: the points.
Fits = Mapping[tuple[str, ...], pd.DataFrame]


def subsets(evaluators: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Which evaluators belong together: by family and kind of tuning, and all of them.

    Args:
        evaluators: As `evaluators` describes them, with `duplicate_of` and `degenerate`.

    Returns:
        By name, their rows: `<family>-self-recognition`, `<family>-controls`, `self-recognition`,
        `controls`, the same for `replay` (tuned with the base's answers replayed), `all`, and
        `distinct` (all without degenerate ones and second names).
    """
    base, tuned = (evaluators["variant"].eq(kind) for kind in ("base", "self-recognition"))
    again = evaluators["variant"].str.endswith("-replay")
    kinds = {"self-recognition": tuned, "controls": ~base & ~tuned & ~again, "replay": again}
    found = {
        f"{family}-{kind}": evaluators[mask & evaluators["family"].eq(family)]
        for family in sorted(evaluators.loc[~base, "family"].unique())
        for kind, mask in kinds.items()
    }
    found |= {kind: evaluators[mask] for kind, mask in kinds.items()}
    second = evaluators["duplicate_of"].ne("") & (
        evaluators["duplicate_of"] < evaluators["evaluator"]
    )
    found |= {"all": evaluators, "distinct": evaluators[~second & ~evaluators["degenerate"]]}
    return {name: rows for name, rows in found.items() if len(rows) > 1}


def line(x: Floats, y: Floats) -> Floats:
    """Pearson's r, slope and intercept: `[..., points]` -> `[..., 3]`; NaN without variation."""
    mean_x, mean_y = x.mean(axis=-1, keepdims=True), y.mean(axis=-1, keepdims=True)
    cross = ((x - mean_x) * (y - mean_y)).sum(axis=-1)
    square_x, square_y = ((x - mean_x) ** 2).sum(axis=-1), ((y - mean_y) ** 2).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = cross / square_x
        r = cross / np.sqrt(square_x * square_y)
    return np.stack([r, slope, mean_y[..., 0] - slope * mean_x[..., 0]], axis=-1)


def points(rows: pd.DataFrame, x: str, y: Collection[str]) -> tuple[Groups, pd.DataFrame]:
    """The means of two quantities of every evaluator.

    Args:
        rows: `dataset, evaluator, quantity, convention, cluster, value`.
        x: The quantity on the horizontal axis.
        y: Those on the vertical axis.

    Returns:
        The groups, and one row a data set, evaluator, convention and `quantity` of the vertical
        axis with both means: `x` and `y`, and the places of their groups, `place_x` and `place_y`.
    """
    groups = Groups.of(rows, ["dataset", "evaluator", "convention", "quantity"])
    keys = groups.keys.astype("str").assign(mean=groups.means, place=np.arange(len(groups.keys)))
    keys = keys[keys["mean"].notna()]
    one, two = (
        keys[chosen].rename(columns={"mean": axis, "place": f"place_{axis}"})
        for chosen, axis in ((keys["quantity"].eq(x), "x"), (keys["quantity"].isin(y), "y"))
    )
    same = ["dataset", "evaluator", "convention"]
    return groups, one.drop(columns="quantity").merge(two, on=same)


def _selected(table: pd.DataFrame, evaluators: pd.DataFrame) -> list[tuple[str, Fits]]:
    """By data set, and for all pooled: the points of each subset and convention."""
    datasets = sorted(table["dataset"].unique())
    found: list[tuple[str, Fits]] = []
    for dataset in [*datasets, POOLED] if len(datasets) > 1 else datasets:
        here = table if dataset == POOLED else table[table["dataset"].eq(dataset)]
        fits = {
            (subset, *map(str, names)): part
            for subset, members in subsets(evaluators).items()
            for names, part in here[here["evaluator"].isin(members["evaluator"])].groupby(
                ["convention", "quantity"]
            )
            if len(part) > 2
        }
        found.append((str(dataset), fits))
    return found


def _grid(part: pd.DataFrame) -> Floats:
    grid: Floats = np.linspace(part["x"].min(), part["x"].max(), GRID)
    return grid


def _fitted(
    groups: Groups, fits: Fits, settings: Settings, *names: str
) -> dict[tuple[str, ...], list[Interval]]:
    """r, slope, intercept and the line at `GRID` places: every fit from the same resamples."""
    if not fits:
        return {}
    places = [part[["place_x", "place_y"]].to_numpy() for part in fits.values()]
    used, place = np.unique(np.concatenate(places), return_inverse=True)
    parts = np.split(place.reshape(-1, 2), np.cumsum([len(one) for one in places])[:-1])
    sums = groups.sums[:, used]
    sums = sums[sums[..., 1].any(axis=1)]

    def statistics(totals: Floats) -> Floats:
        means, found = ratio(totals), []
        for part, where in zip(fits.values(), parts, strict=True):
            fit = line(means[..., where[:, 0]], means[..., where[:, 1]])
            found += [fit, fit[..., 2:] + fit[..., 1:2] * _grid(part)]
        return np.concatenate(found, axis=-1)

    intervals = settings.bootstrap.intervals(sums, statistics, settings.rng(*names))
    each = 3 + GRID
    return {key: intervals[n * each : (n + 1) * each] for n, key in enumerate(fits)}


def correlation(
    pairs: pd.DataFrame, evaluators: pd.DataFrame, settings: Settings
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Preference on recognition, over the evaluators of each subset (Figs. 1 and 7).

    Args:
        pairs: As `confidences` returns them.
        evaluators: As for `subsets`.
        settings: For the intervals.

    Returns:
        The columns of `CORRELATION`, where the data set `all` pools the points of every one; the
        lines, the columns of `LINES`; and what one evaluator can do, the columns of `LEFT_OUT`:
        the extremes of r and slope over all subsets with one evaluator left out.
    """
    rows = by_convention(plain(pairs)).rename(columns={"task": "quantity"})
    found, lines, left_out = [], [], []
    groups, table = points(rows, "recognition", ["preference"])
    for dataset, fits in _selected(table, evaluators):
        fitted = _fitted(groups, fits, settings, "correlation", dataset)
        for names, (r, slope, intercept, *band) in fitted.items():
            part = fits[names]
            key = {"dataset": dataset, "subset": names[0], "convention": names[1]}
            values = {"r": r.value, "slope": slope.value, "intercept": intercept.value}
            found.append(key | values | {"n": len(part), "lo": r.lo, "hi": r.hi})
            lines += [
                key | {"x": x, "y": at.value, "lo": at.lo, "hi": at.hi}
                for x, at in zip(_grid(part), band, strict=True)
            ]
            left_out.append(key | values | _leave_one_out(part))
    return (
        pd.DataFrame(found, columns=CORRELATION),
        pd.DataFrame(lines, columns=LINES),
        pd.DataFrame(left_out, columns=LEFT_OUT),
    )


def _leave_one_out(part: pd.DataFrame) -> dict[str, object]:
    """The extremes of r and slope with one evaluator left out, on every data set that it is in."""
    names = part["evaluator"].unique()
    kept = [part[part["evaluator"].ne(name)] for name in names]
    fits = np.array([line(rest["x"].to_numpy(), rest["y"].to_numpy()) for rest in kept])
    r, slope = fits[:, 0], fits[:, 1]
    if np.isnan(r).all():
        return {"n": len(part)}
    low, high = int(np.nanargmin(r)), int(np.nanargmax(r))
    return {
        "n": len(part),
        "r_min": r[low],
        "r_min_without": names[low],
        "r_max": r[high],
        "r_max_without": names[high],
        "slope_min": np.nanmin(slope),
        "slope_max": np.nanmax(slope),
    }


def inverted_correlation(
    both: pd.DataFrame, evaluators: pd.DataFrame, settings: Settings
) -> pd.DataFrame:
    """Recognition against each wording of preference and their mean, over evaluators.

    Args:
        both: As `selfpref.studies.panickssery.measure.inverted.both_wordings` returns it.
        evaluators: As for `subsets`.
        settings: For the intervals.

    Returns:
        `dataset, subset, convention, quantity` (prefer, worse, mean), `r, slope, n, lo, hi`.
    """
    found = []
    groups, table = points(both, "recognition", WORDINGS)
    for dataset, fits in _selected(table, evaluators):
        fitted = _fitted(groups, fits, settings, "inverted", dataset)
        found += [
            {"dataset": dataset, "subset": subset, "convention": convention}
            | {"quantity": quantity, "r": r.value, "slope": slope.value}
            | {"n": len(fits[subset, convention, quantity]), "lo": r.lo, "hi": r.hi}
            for (subset, convention, quantity), (r, slope, *_) in fitted.items()
        ]
    columns = ["dataset", "subset", "convention", "quantity", "r", "slope", "n", "lo", "hi"]
    return pd.DataFrame(found, columns=columns)
