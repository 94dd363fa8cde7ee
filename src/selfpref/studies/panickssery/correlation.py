"""Does preference follow recognition over judges, and do those tuned on controls as well?

**Over judges**: one point a judge, its mean recognition and preference; Pearson's r and the
least-squares line y = a + b x over the points. Judges that are fine-tuned from one model for one
task are not independent, so the interval resamples *families*: all judges of one base model and one
training (the base itself; self-recognition; one control task), whatever data set and however many
examples they were tuned on, and on every data set they judge. With fewer than `FAMILIES` families
there is no interval: a few clusters cannot show how much they vary. Families of one base model may
resemble each other still, so even this interval is rather too narrow.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, Floats, Interval
from selfpref.studies.panickssery.evaluators import BASE, TUNED

FITS = ["dataset", "subset", "convention", "quantity", "r", "slope", "intercept", "n"]
FITS += ["lo", "hi", "families"]
# Below this number of families there is no interval.
FAMILIES = 10


def subsets(evaluators: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Which judges belong together: by family and kind of tuning, and all of them.

    Args:
        evaluators: As `selfpref.studies.panickssery.evaluators` describes them.

    Returns:
        By name, their rows: `<family>-self-recognition`, `<family>-controls`, `self-recognition`,
        `controls` (without judges tuned with their base's answers replayed), and `all`.
    """
    variant, family = evaluators["variant"], evaluators["family"]
    control = ~variant.isin((BASE, TUNED)) & ~variant.str.endswith("-replay")
    kinds = {TUNED: evaluators[variant.eq(TUNED)], "controls": evaluators[control]}
    found = {
        f"{base}-{name}": rows[rows["family"].eq(base)]
        for base in sorted(family[variant.ne(BASE)].unique())
        for name, rows in kinds.items()
    }
    found |= kinds | {"all": evaluators}
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


def _points(rows: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """Mean recognition `x` of each judge with the mean `y` of each other quantity.

    `training` is the family that an interval resamples: base model and what it was tuned on.
    """
    key = ["dataset", "evaluator", "convention"]
    by = rows.astype({"quantity": "str"}).groupby([*key, "quantity"], observed=True)["value"]
    wide = by.mean().unstack().rename(columns={"recognition": "x"}).reset_index()
    wide = wide.assign(x=wide.get("x"))
    points = wide.astype(dict.fromkeys(key, "str")).melt([*key, "x"], value_name="y")
    names = (evaluators["family"] + ", " + evaluators["variant"]).set_axis(evaluators["evaluator"])
    return points.assign(training=points["evaluator"].map(names)).dropna()


def fits(
    rows: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap, name: str
) -> pd.DataFrame:
    """The lines of every other quantity on recognition, of every subset of three judges or more.

    Of preference they are Figs. 1 and 7; of either wording of it, the question turned round.

    Args:
        rows: `dataset, evaluator, quantity` (or `task`), `convention, cluster, value`.
        evaluators: As for `subsets`.
        bootstrap: For the intervals.
        name: Of the stream of resamples.

    Returns:
        The columns of `FITS`, a row a line, with the interval of r; the data set `all` pools the
        points of every one.
    """
    table, found = _points(rows.rename(columns={"task": "quantity"}), evaluators), []
    whole = table.assign(dataset="all") if table["dataset"].nunique() > 1 else table[:0]
    for dataset, here in pd.concat([table, whole]).groupby("dataset", sort=False):
        for subset, members in subsets(evaluators).items():
            within = here[here["evaluator"].isin(members["evaluator"])]
            for names, part in within.groupby(["convention", "quantity"]):
                if len(part) < 3:
                    continue
                x, y = part["x"].to_numpy(), part["y"].to_numpy()
                powers = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=-1)
                key, families = (str(dataset), subset, *names), part["training"].nunique()
                r, *fit = bootstrap.estimates(powers, part["training"], line, name, *key)
                if families < FAMILIES:
                    r = Interval(r.value)
                slope, intercept = (one.value for one in fit)
                told = (r.value, slope, intercept, len(part), r.lo, r.hi, families)
                found.append((*key, *told))
    return pd.DataFrame(found, columns=FITS)
