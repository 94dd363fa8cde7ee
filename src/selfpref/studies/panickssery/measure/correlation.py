"""Does preference follow recognition? Over judges, and pair by pair within one judge.

**Over judges**: one point a judge, its mean recognition and preference; Pearson's r and the
least-squares line y = a + b x over the points. The interval resamples articles: it says how well
the means of these judges are known. It says nothing of other judges: the points of a release are
fine-tuned from one or two models and not independent.

**Within a judge** (Table A): Kendall's tau-b, Spearman's rho and Pearson's r of the two confidences
of the same pair. Scores that are saturated or heavily tied make tau-b unstable, hence three
measures; pooling sources mixes differences between sources into all of them, hence each source too.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, pearsonr, spearmanr

from selfpref.statistics.bootstrap import ClusterBootstrap, Groups, Interval, ratio
from selfpref.statistics.scores import Floats
from selfpref.studies.panickssery.measure.pairs import TASKS, by_convention, plain, pooled

POOLED = "all"
SUBSET_KEY = ["dataset", "subset", "convention"]
CORRELATION = [*SUBSET_KEY, "r", "slope", "intercept", "n", "lo", "hi"]
LINES = [*SUBSET_KEY, "x", "y", "lo", "hi"]
LEFT_OUT = [
    *(*SUBSET_KEY, "r", "slope", "n"),
    *("r_min", "r_min_without", "r_max", "r_max_without", "slope_min", "slope_max"),
]
FIT_KEY = [*SUBSET_KEY, "quantity"]
INVERTED = [*FIT_KEY, "r", "slope", "n", "lo", "hi"]
JUDGE_KEY = ["dataset", "evaluator", "other", "convention"]
# How many places of the line have a band.
GRID = 21
ASSOCIATIONS = {"tau_b": kendalltau, "spearman": spearmanr, "pearson": pearsonr}


def subsets(evaluators: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Which judges belong together: by family and kind of tuning, and all of them.

    Args:
        evaluators: The frame `evaluators`, with `duplicate_of` and `degenerate`.

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
    twin = evaluators["duplicate_of"]
    second = twin.ne("") & (twin < evaluators["evaluator"])
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


class Fit(NamedTuple):
    """The line over the points of one subset of judges.

    Attributes:
        key: Data set (`all` pools the points of every one), subset, convention and quantity of the
            vertical axis.
        points: `evaluator, x, y`, a row a judge and data set.
        r: Pearson's r.
        slope: Of the line.
        intercept: Of the line.
        band: The line at the places of `_grid`.
    """

    key: dict[str, str]
    points: pd.DataFrame
    r: Interval
    slope: Interval
    intercept: Interval
    band: list[Interval]


def _grid(points: pd.DataFrame) -> Floats:
    """Places from the smallest to the largest x."""
    grid: Floats = np.linspace(points["x"].min(), points["x"].max(), GRID)
    return grid


def _points(groups: Groups) -> pd.DataFrame:
    """Mean recognition `x` of each judge with the mean `y` of each other quantity.

    The columns `place_x` and `place_y` number their groups.
    """
    keys = groups.keys.astype("str").assign(mean=groups.means, place=np.arange(len(groups.keys)))
    keys = keys[keys["mean"].notna()]
    across = keys["quantity"].eq("recognition")
    one, two = (
        keys[chosen].rename(columns={"mean": axis, "place": f"place_{axis}"})
        for chosen, axis in ((across, "x"), (~across, "y"))
    )
    return one.drop(columns="quantity").merge(two, on=["dataset", "evaluator", "convention"])


def _intervals(
    groups: Groups, parts: list[pd.DataFrame], bootstrap: ClusterBootstrap, *names: str
) -> list[list[Interval]]:
    """r, slope, intercept and band of the points of each part, all from the same resamples."""
    places = [part[["place_x", "place_y"]].to_numpy() for part in parts]
    used, place = np.unique(np.concatenate(places), return_inverse=True)
    within = np.split(place.reshape(-1, 2), np.cumsum([len(part) for part in parts])[:-1])
    sums = groups.sums[:, used]
    sums = sums[sums[..., 1].any(axis=1)]

    def statistics(totals: Floats) -> Floats:
        means, found = ratio(totals), []
        for part, at in zip(parts, within, strict=True):
            fit = line(means[..., at[:, 0]], means[..., at[:, 1]])
            found += [fit, fit[..., 2:] + fit[..., 1:2] * _grid(part)]
        return np.concatenate(found, axis=-1)

    found = bootstrap.of_sums(sums, statistics, *names)
    each = 3 + GRID
    return [found[n * each : (n + 1) * each] for n in range(len(parts))]


def fits(
    rows: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap, name: str
) -> Iterator[Fit]:
    """The lines of every other quantity on recognition, of every subset of three judges or more.

    Args:
        rows: `dataset, evaluator, quantity, convention, cluster, value`.
        evaluators: As for `subsets`.
        bootstrap: For the intervals.
        name: Of the stream of resamples.
    """
    groups = Groups.of(rows, ["dataset", "evaluator", "convention", "quantity"])
    table = _points(groups)
    datasets = sorted(table["dataset"].unique())
    for dataset in [*datasets, POOLED] if len(datasets) > 1 else datasets:
        here = table if dataset == POOLED else table[table["dataset"].eq(dataset)]
        parts = [
            (dict(zip(FIT_KEY, (str(dataset), subset, *names), strict=True)), part)
            for subset, members in subsets(evaluators).items()
            for names, part in here[here["evaluator"].isin(members["evaluator"])].groupby(
                FIT_KEY[2:]
            )
            if len(part) > 2
        ]
        if parts:
            found = _intervals(groups, [part for _, part in parts], bootstrap, name, str(dataset))
            for (key, part), (r, slope, intercept, *band) in zip(parts, found, strict=True):
                yield Fit(key, part, r, slope, intercept, band)


def correlation(
    pairs: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Preference on recognition, over the judges of each subset (Figs. 1 and 7).

    Args:
        pairs: As `confidences` returns them.
        evaluators: As for `subsets`.
        bootstrap: For the intervals.

    Returns:
        The columns of `CORRELATION`; the lines, the columns of `LINES`; and what one judge can do,
        the columns of `LEFT_OUT`: the extremes of r and slope over all subsets with one left out.
    """
    rows = by_convention(plain(pairs)).rename(columns={"task": "quantity"})
    found, lines, left_out = [], [], []
    for fit in fits(rows, evaluators, bootstrap, "correlation"):
        values = {"r": fit.r.value, "slope": fit.slope.value, "n": len(fit.points)}
        row = fit.key | values
        found.append(row | {"intercept": fit.intercept.value, "lo": fit.r.lo, "hi": fit.r.hi})
        lines += [
            fit.key | {"x": x, "y": at.value, "lo": at.lo, "hi": at.hi}
            for x, at in zip(_grid(fit.points), fit.band, strict=True)
        ]
        left_out.append(row | _leave_one_out(fit.points))
    return (
        pd.DataFrame(found, columns=CORRELATION),
        pd.DataFrame(lines, columns=LINES),
        pd.DataFrame(left_out, columns=LEFT_OUT),
    )


def _leave_one_out(points: pd.DataFrame) -> dict[str, object]:
    """The extremes of r and slope with one judge left out, on every data set that it is in."""
    names = points["evaluator"].unique()
    kept = [points[points["evaluator"].ne(name)] for name in names]
    lines = np.array([line(rest["x"].to_numpy(), rest["y"].to_numpy()) for rest in kept])
    r, slope = lines[:, 0], lines[:, 1]
    if np.isnan(r).all():
        return {}
    low, high = int(np.nanargmin(r)), int(np.nanargmax(r))
    return {
        "r_min": r[low],
        "r_min_without": names[low],
        "r_max": r[high],
        "r_max_without": names[high],
        "slope_min": np.nanmin(slope),
        "slope_max": np.nanmax(slope),
    }


def inverted_correlation(
    both: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap
) -> pd.DataFrame:
    """Each wording of preference and their mean on recognition, over judges.

    Args:
        both: As `both_wordings` returns it.
        evaluators: As for `subsets`.
        bootstrap: For the intervals.

    Returns:
        `dataset, subset, convention, quantity` (prefer, worse, mean), `r, slope, n, lo, hi`.
    """
    found = [
        fit.key
        | {"r": fit.r.value, "slope": fit.slope.value, "n": len(fit.points)}
        | {"lo": fit.r.lo, "hi": fit.r.hi}
        for fit in fits(both, evaluators, bootstrap, "inverted")
    ]
    return pd.DataFrame(found, columns=INVERTED)


def per_example(pairs: pd.DataFrame) -> pd.DataFrame:
    """Association of the two confidences over the pairs of each judge.

    Args:
        pairs: As `confidences` returns them.

    Returns:
        `dataset, evaluator, other, convention, rows, tau_b, spearman, pearson, n`; `rows` is `all`,
        or `unambiguous`: without the pairs that one of the two questions decides by position. NaN
        where one of the confidences is constant.
    """
    rows = by_convention(plain(pairs))
    key = [*JUDGE_KEY, "item_id", "repeat"]
    one, two = (
        rows.loc[rows["task"].eq(task), [*key, "value", "ambiguous"]].rename(
            columns={"value": task, "ambiguous": f"ambiguous_{task}"}
        )
        for task in TASKS
    )
    both = one.merge(two, on=key)
    clear = both["ambiguous_recognition"].eq(0) & both["ambiguous_preference"].eq(0)
    found = [
        dict(zip(JUDGE_KEY, names, strict=True)) | {"rows": kind} | _association(part)
        for kind, chosen in {"all": both, "unambiguous": both[clear]}.items()
        for names, part in pooled(chosen).groupby(JUDGE_KEY, observed=True)
    ]
    table = pd.DataFrame(found, columns=[*JUDGE_KEY, "rows", *ASSOCIATIONS, "n"])
    return table.sort_values([*JUDGE_KEY, "rows"], ignore_index=True)


def _association(part: pd.DataFrame) -> dict[str, float]:
    x, y = part["recognition"].to_numpy(), part["preference"].to_numpy()
    if len(part) < 3 or not np.ptp(x) or not np.ptp(y):
        return dict.fromkeys(ASSOCIATIONS, np.nan) | {"n": len(part)}
    found = {name: float(measure(x, y).statistic) for name, measure in ASSOCIATIONS.items()}
    return found | {"n": len(part)}
