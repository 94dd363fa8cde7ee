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

from functools import partial

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, Floats
from selfpref.studies.panickssery.evaluators import BASE, TUNED
from selfpref.studies.panickssery.pairs import TASKS, by_convention, plain

LINES = ["dataset", "subset", "convention", "quantity", "x", "y", "lo", "hi"]
FITS = [*LINES[:4], "r", "slope", "intercept", "n", "lo", "hi", "families"]
OFF_LINE = ["dataset", "evaluator", "family", "variant", *TASKS, "line", "off"]
CONTROLS = "controls"
KINDS = pd.CategoricalDtype([TUNED, CONTROLS, "replay"])
QUANTITIES = [*TASKS, "prefer", "worse", "mean"]
# How many places of the line have a band.
GRID = 21
# Below this number of families there is no interval.
FAMILIES = 10


def _kinds(evaluators: pd.DataFrame) -> pd.Series:
    """What each judge was tuned for, one of `KINDS`; missing of a base model."""
    variant = evaluators["variant"]
    kinds = variant.where(variant.eq(TUNED), CONTROLS).mask(variant.eq(BASE))
    return kinds.mask(variant.str.endswith("-replay"), "replay").astype(KINDS)


def subsets(evaluators: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Which judges belong together: by family and kind of tuning, and all of them.

    Args:
        evaluators: The frame `evaluators`, with `duplicate_of` and `degenerate`.

    Returns:
        By name, their rows: `<family>-self-recognition`, `<family>-controls`, `self-recognition`,
        `controls`, the same for `replay` (tuned with the base's answers replayed), `all`, and
        `distinct` (all without degenerate ones and second names).
    """
    kind = _kinds(evaluators)
    found = {
        f"{family}-{name}": rows for (family, name), rows in evaluators.groupby(["family", kind])
    }
    found |= {str(name): rows for name, rows in evaluators.groupby(kind)}
    twin = evaluators["duplicate_of"]
    second = twin.ne("") & (twin < evaluators["evaluator"])
    distinct = evaluators[~second & ~evaluators["degenerate"]]
    found |= {"all": evaluators, "distinct": distinct}
    return {name: rows for name, rows in found.items() if len(rows) > 1}


def line(sums: Floats, places: Floats) -> Floats:
    """Pearson's r, slope, intercept, and y on the line; NaN without variation.

    Args:
        sums: Over the points, of 1, x, y, x², y² and xy, `[..., 6]`.
        places: The x at which y is wanted, `[places]`.

    Returns:
        `[..., 3 + places]`.
    """
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    cross, square_x, square_y = xy - x * y / n, xx - x**2 / n, yy - y**2 / n
    # What rounding leaves where all points are one.
    square_x, square_y = (np.where(s > 1e-12, s, np.nan) for s in (square_x, square_y))
    slope = cross / square_x
    r = cross / np.sqrt(square_x * square_y)
    intercept = (y - slope * x) / n
    on_line = (intercept + slope * x for x in places)
    return np.stack([r, slope, intercept, *on_line], axis=-1)


def _points(rows: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """Mean recognition `x` of each judge with the mean `y` of each other quantity.

    `training` is the family that an interval resamples: base model and what it was tuned on.
    """
    key = ["dataset", "evaluator", "convention"]
    wide = rows.pivot_table("value", key, "quantity").reindex(columns=QUANTITIES).reset_index()
    points = wide.rename(columns={"recognition": "x"}).melt([*key, "x"], value_name="y")
    points, who = points.astype(dict.fromkeys(key, "str")), evaluators.set_index("evaluator")
    points["training"] = points["evaluator"].map(who["family"] + ", " + who["variant"])
    return points.dropna()


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
    whole = table.assign(dataset="all") if table["dataset"].nunique() > 1 else table[:0]
    for dataset, here in pd.concat([table, whole]).groupby("dataset", sort=False):
        for subset, members in subsets(evaluators).items():
            within = here[here["evaluator"].isin(members["evaluator"])]
            for names, part in within.groupby(["convention", "quantity"]):
                if len(part) < 3:
                    continue
                x, y = part[["x", "y"]].to_numpy(float).T
                grid = np.linspace(x.min(), x.max(), GRID)
                powers = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
                key, families = (str(dataset), subset, *names), part["training"].nunique()
                of = partial(line, places=grid)
                estimates = bootstrap.estimates(powers, part["training"], of, name, *key)
                made = np.array(estimates)[:, :3]
                if families < FAMILIES:
                    made[:, 1:] = np.nan
                found.append((*key, *made[:3, 0], len(part), *made[0, 1:], families))
                lines += [(*key, at, *fit) for at, fit in zip(grid, made[3:], strict=True)]
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
    whole = pairwise.query("other == 'all' and convention == 'corrected'")
    means = whole.pivot(index=["dataset", "evaluator"], columns="task", values="mean")
    means = means.reindex(columns=[*TASKS]).dropna().reset_index()
    rows = means.merge(evaluators[_kinds(evaluators).eq(CONTROLS)])
    rows["subset"] = rows["family"] + f"-{TUNED}"
    rows = rows.merge(fitted.query("convention == 'corrected'"), on=["dataset", "subset"])
    rows["line"] = rows["intercept"] + rows["slope"] * rows["recognition"]
    rows["off"] = rows["preference"] - rows["line"]
    return rows[OFF_LINE].sort_values(OFF_LINE[:2], ignore_index=True)


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
