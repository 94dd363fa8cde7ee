"""What refinement brings, beside other arms and fresh draws; D beside its nulls; model sizes."""

import itertools

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounded
from selfpref.studies.xu import bias
from selfpref.studies.xu.chains import BEST, RESCORED
from selfpref.studies.xu.skewness import distance_skewness, null_band, sign_flips

# Quantities whose change since step 0 is told.
MOVED = bounded(*bias.CHANGES.values())
NULLS = [*bias.KEY, "n", "dskew", "p", "flip_upper", "band_mean", "band_upper", "repeated"]
SIZES = ["language", "model", "step", "convention"]
EXPECTED = ["condition", "language", "model", "step"]


def change(found: pd.DataFrame) -> pd.DataFrame:
    """How score, truth, bias and D have changed since step 0, with paired intervals."""
    later = found["step"].gt(0) & found["condition"].eq("")
    columns = ["language", "model", "step", "convention", *MOVED, "n_both"]
    return found.loc[later, columns].reset_index(drop=True)


def gains(found: pd.DataFrame) -> pd.DataFrame:
    """What refinement has brought by the last step: to the model's own score, and to the truth.

    Returns:
        `language, model, convention, best_step` (where the mean truth is greatest), `last_step`,
        and by then the changes since step 0 of score, truth, bias and D with their intervals; the
        last step is the last one with a truth.
    """
    key = ["language", "model", "convention"]
    known = found[found["condition"].eq("") & found["n"].gt(0)].sort_values([*key, "step"])
    # Of equals the first.
    best = known.sort_values("truth_mean", ascending=False, kind="stable").drop_duplicates(key)
    last = known.drop_duplicates(key, keep="last").rename(columns={"step": "last_step"})
    last = last[last["last_step"].gt(0)].merge(
        best[[*key, "step"]].rename(columns={"step": "best_step"}), on=key
    )
    return last[[*key, "best_step", "last_step", "n_both", *MOVED]]


def arms(found: pd.DataFrame) -> pd.DataFrame:
    """Refinement under other conditions (another run, another accept rule) beside the plain one."""
    key = ["language", "model"]
    other = found.loc[found["condition"].ne(""), key].drop_duplicates()
    kept = found.merge(other, on=key)
    kept = kept[kept["language"].ne(bias.AVERAGE)]
    return kept.assign(condition=kept["condition"].replace("", "plain"))[
        ["condition", *bias.TRANSLATION]
    ].reset_index(drop=True)


def expected(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Eq. 1 by fresh draws of the writer's score, which selected nothing (`bias.averaged`).

    Beside it `translation` has the bias of the score that drove the refinement.

    Returns:
        `condition, language, model, step, texts, draws` (usable ones, over all texts), and the
        quantities of `summary`; empty where nothing was read afresh.
    """
    fresh = rows[rows["variant"].eq(RESCORED) & rows["judge"].eq(rows["responder"])]
    fresh = fresh[~fresh["condition"].str.startswith(BEST)]
    table = bias.by_group(
        bias.summary, fresh, settings, "expected", by=bias.MODELS, conventions=("corrected",)
    )
    counts = fresh.rename(columns=bias.MODELS).groupby(EXPECTED)["draws"]
    counts = counts.agg(texts="size", draws="sum").reset_index()
    table = counts.merge(table.drop(columns="convention"), on=EXPECTED)
    return table.assign(condition=table["condition"].replace("", "plain"))


def nulls(rows: pd.DataFrame, settings: bias.Settings, *names: str) -> pd.DataFrame:
    """Whether D is more than chance would give: two nulls.

    Args:
        rows: As for `summary`.
        settings: Gamma, the number of random signs, and the level of the bands.
        names: Of the random stream.

    Returns:
        The columns `NULLS`: D, `p` and `flip_upper` (signs drawn at random), `band_mean` and
        `band_upper` (as many normal values), and `repeated`: whether an earlier step of the
        language has the same values, since texts and feedback have stayed.
    """
    level, found = settings.bootstrap.level, []
    rng, known = settings.intervals.rng(*names, "flips"), {}
    cells = bias.grids(rows)["gap"]
    for key, row in zip(cells.index, cells.to_numpy(), strict=True):
        values = row[~np.isnan(row)]
        alike = values.tobytes()
        if alike not in known:
            p, upper = sign_flips(values, settings.use.gamma, settings.use.flips, level, rng)
            mean, band = null_band(len(values), level) if len(values) else (np.nan, np.nan)
            known[alike] = {
                "dskew": float(distance_skewness(values, settings.use.gamma)),
                **{"p": p, "flip_upper": upper, "band_mean": mean, "band_upper": band},
            }
        cell = dict(zip(bias.KEY, key, strict=True)) | known[alike]
        found.append(cell | {"n": len(values), "values": alike})
    table = pd.DataFrame(found, columns=[*NULLS, "values"])
    return table.assign(repeated=table.duplicated(["language", "values"]))[NULLS]


def skewness(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """D of every cell beside its nulls (`nulls`)."""
    by = {"responder": "model"}
    return bias.by_group(nulls, bias.paper_chains(rows), settings, "skewness", by=by, columns=NULLS)


def sizes(rows: pd.DataFrame, table: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """The models that differ in size alone, in ascending order, in the languages they share.

    Args:
        rows: As `rated` returns them.
        table: The table `translation`.
        settings: Which models.

    Returns:
        The rows of the table with `difference`, what the bias is above that of the next smaller
        model on the sentences that count for both, and its interval; NaN for the smallest.
    """
    read = bias.under_scorings(bias.paper_chains(rows, "mqm"))
    gaps = read.assign(gap=read["score"] - read["truth"]).pivot(
        index=["convention", "language", "step", "cluster", "item_id"],
        columns="responder",
        values="gap",
    )
    gaps, found = gaps.reindex(columns=[*settings.use.sizes]), []
    for smaller, larger in itertools.pairwise(settings.use.sizes):
        apart = (gaps[larger] - gaps[smaller]).dropna().rename("apart").reset_index()
        for (convention, language, step), part in apart.groupby(["convention", "language", "step"]):
            place = (str(language), larger, step)
            names = ("size", *map(str, place))
            mean = settings.intervals.mean(part["apart"], part["cluster"], *names)
            cell = dict(zip(SIZES, (*place, convention), strict=True))
            found.append(cell | mean.columns("difference"))
    table = table[table["model"].isin(settings.use.sizes) & table["language"].ne(bias.AVERAGE)]
    shared = table.groupby("language")["model"].transform("nunique").eq(len(settings.use.sizes))
    order = {name: i for i, name in enumerate(settings.use.sizes)}
    return (
        table[shared]
        .assign(size=table["model"].map(order))
        .sort_values(["language", "size", "step", "convention"], ignore_index=True)
        .drop(columns="size")
        .merge(pd.DataFrame(found, columns=[*SIZES, *bounded("difference")]), how="left")
    )


def first_and_last(table: pd.DataFrame) -> pd.DataFrame:
    """The headline: each model's bias at the first and at the last step, corrected.

    Args:
        table: The table `translation`.

    Returns:
        `model, first, last`, means of the languages; what is missing at a step stays missing.
    """
    mean = table[table["language"].eq(bias.AVERAGE) & table["convention"].eq("corrected")]
    over = mean.sort_values("step").set_index("model")["bias"]
    ends = {end: over[~over.index.duplicated(keep=end)] for end in ("first", "last")}
    return pd.DataFrame(ends).reset_index()
