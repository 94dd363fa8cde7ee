"""Does preference follow recognition over judges, and do those tuned on controls as well?

**Over judges**: one point a judge, its mean recognition and preference; Pearson's r and the
least-squares line y = a + b x over the points. Judges that are fine-tuned from one model for one
task are not independent, so the interval resamples *families*: all judges of one base model and one
training (the base itself; self-recognition; one control task), whatever data set and however many
examples they were tuned on, and on every data set they judge. With fewer than `FAMILIES` families
there is no interval: a few clusters cannot show how much they vary. Families of one base model may
resemble each other still, so even this interval is rather too narrow.

**Off the line**: how far the judges tuned on a control task lie from the line of the judges of the
same base that were tuned on self-recognition,

    off = preference - (a + b recognition)
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, Floats, Groups, Interval
from selfpref.studies.panickssery.pairs import TASKS, by_convention, plain

POOLED = "all"
FITS = [
    *("dataset", "subset", "convention", "quantity"),
    *("r", "slope", "intercept", "n", "lo", "hi", "families"),
]
LINES = [*FITS[:4], "x", "y", "lo", "hi"]
OFF_LINE = [
    *("dataset", "evaluator", "family", "variant"),
    *("recognition", "preference", "line", "off"),
]
# How many places of the line have a band.
GRID = 21
# Below this number of families there is no interval.
FAMILIES = 10


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


def line(sums: Floats) -> Floats:
    """Pearson's r, slope and intercept; NaN without variation.

    Args:
        sums: Over the points, of 1, x, y, x², y² and xy, `[..., 6]`.

    Returns:
        `[..., 3]`.
    """
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        cross, square_x, square_y = xy - x * y / n, xx - x**2 / n, yy - y**2 / n
        # What rounding leaves where all points are one.
        square_x, square_y = (np.where(s > 1e-12, s, np.nan) for s in (square_x, square_y))
        slope = cross / square_x
        r = cross / np.sqrt(square_x * square_y)
        return np.stack([r, slope, (y - slope * x) / n], axis=-1)


def training(evaluators: pd.DataFrame) -> "pd.Series[str]":
    """The family that an interval resamples, by judge: its base model and what it was tuned on."""
    names = evaluators["family"] + ", " + evaluators["variant"]
    return names.set_axis(evaluators["evaluator"])


def _points(rows: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """Mean recognition `x` of each judge with the mean `y` of each other quantity."""
    key = ["dataset", "evaluator", "convention"]
    groups = Groups.of(rows, [*key, "quantity"])
    means = groups.keys.assign(y=groups.means).dropna(subset="y")
    across = means["quantity"].eq("recognition")
    x = means[across].drop(columns="quantity").rename(columns={"y": "x"})
    both = x.merge(means[~across], on=key)
    return both.assign(training=both["evaluator"].map(training(evaluators)))


def _fit(
    points: pd.DataFrame, grid: Floats, bootstrap: ClusterBootstrap, *names: str
) -> list[Interval]:
    """r, slope, intercept, and the line on a grid; without bounds for few families."""
    x, y = (points[axis].to_numpy(dtype=float) for axis in ("x", "y"))

    def statistics(sums: Floats) -> Floats:
        found = line(sums)
        return np.concatenate([found, found[..., 2:] + found[..., 1:2] * grid], axis=-1)

    powers = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)
    if points["training"].nunique() < FAMILIES:
        (values,) = statistics(powers.sum(axis=0, keepdims=True))
        return [Interval(float(value)) for value in values]
    return bootstrap.estimates(powers, points["training"], statistics, *names)


def fits(
    rows: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap, name: str
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The lines of every other quantity on recognition, of every subset of three judges or more.

    Args:
        rows: `dataset, evaluator, quantity, convention, cluster, value`.
        evaluators: As for `subsets`.
        bootstrap: For the intervals.
        name: Of the stream of resamples.

    Returns:
        The columns of `FITS`, a row a line (the data set `all` pools the points of every one); and
        those of `LINES`, `GRID` rows a line.
    """
    table, found, lines = _points(rows, evaluators), [], []
    datasets = sorted(table["dataset"].unique())
    for dataset in [*datasets, POOLED] if len(datasets) > 1 else datasets:
        here = table if dataset == POOLED else table[table["dataset"].eq(dataset)]
        for subset, members in subsets(evaluators).items():
            within = here[here["evaluator"].isin(members["evaluator"])]
            for names, part in within.groupby(["convention", "quantity"]):
                if len(part) < 3:
                    continue
                key = (str(dataset), subset, *names)
                grid = np.linspace(part["x"].min(), part["x"].max(), GRID)
                r, slope, intercept, *band = _fit(part, grid, bootstrap, name, *key)
                told = (r.value, slope.value, intercept.value, len(part), r.lo, r.hi)
                found.append((*key, *told, part["training"].nunique()))
                ends = zip(grid, band, strict=True)
                lines += [(*key, x, at.value, at.lo, at.hi) for x, at in ends]
    return pd.DataFrame(found, columns=FITS), pd.DataFrame(lines, columns=LINES)


def correlation(
    pairs: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Preference on recognition, over the judges of each subset (Figs. 1 and 7).

    Args:
        pairs: As `confidences` returns them.
        evaluators: As for `subsets`.
        bootstrap: For the intervals.

    Returns:
        As `fits`, without the column `quantity`.
    """
    rows = by_convention(plain(pairs)).rename(columns={"task": "quantity"})
    found, lines = fits(rows, evaluators, bootstrap, "correlation")
    return found.drop(columns="quantity"), lines.drop(columns="quantity")


def off_line(
    pairwise: pd.DataFrame, fitted: pd.DataFrame, evaluators: pd.DataFrame
) -> pd.DataFrame:
    """How far judges tuned on a control task lie from their base's line of self-recognition.

    Args:
        pairwise: The frame of this name (`pairs.pairwise`).
        fitted: The frame `correlation`.
        evaluators: As for `subsets`.

    Returns:
        The columns of `OFF_LINE`, of corrected means, a row a judge and data set.
    """
    whole = pairwise[pairwise["other"].eq("all") & pairwise["convention"].eq("corrected")]
    means = whole.pivot(index=["dataset", "evaluator"], columns="task", values="mean")
    means = means.reindex(columns=list(TASKS)).dropna().reset_index()
    rows = means.merge(evaluators, on="evaluator")
    tuned = ~rows["variant"].isin(("base", "self-recognition"))
    rows = rows[tuned & ~rows["variant"].str.endswith("-replay")]
    suffix = "-self-recognition"
    own = fitted[fitted["subset"].str.endswith(suffix) & fitted["convention"].eq("corrected")]
    own = own.assign(family=own["subset"].str.removesuffix(suffix))
    rows = rows.merge(own[["dataset", "family", "slope", "intercept"]], on=["dataset", "family"])
    rows = rows.assign(line=rows["intercept"] + rows["slope"] * rows["recognition"])
    found = rows.assign(off=rows["preference"] - rows["line"])[OFF_LINE]
    return found.sort_values(OFF_LINE[:2], ignore_index=True)


def inverted_correlation(
    both: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap
) -> pd.DataFrame:
    """Each wording of preference and their mean on recognition, over judges.

    Args:
        both: As `both_wordings` returns it.
        evaluators: As for `subsets`.
        bootstrap: For the intervals.

    Returns:
        `dataset, subset, convention, quantity` (prefer, worse, mean), `r, slope, n, lo, hi,
        families`.
    """
    return fits(both, evaluators, bootstrap, "inverted")[0].drop(columns="intercept")
