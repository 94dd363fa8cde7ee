"""What refinement brings, beside other arms and fresh draws; D beside its nulls; model sizes."""

from itertools import pairwise

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounded
from selfpref.studies.xu import bias
from selfpref.studies.xu.items import BEST, RESCORED
from selfpref.studies.xu.skewness import distance_skewness, null_band, sign_flips

CHAIN = ["language", "model", "convention"]
STEP = ["language", "model", "step", "convention"]
EXPECTED = ["condition", "language", "model", "step"]
NULLS = [*bias.KEY, "n", "dskew", "p", "flip_upper", "band_mean", "band_upper", "repeated"]


def change(found: pd.DataFrame) -> pd.DataFrame:
    """How score, truth, bias and D have changed since step 0, with paired intervals."""
    later = found[found["step"].gt(0) & found["condition"].eq("")]
    return later[[*STEP, *bounded(*bias.CHANGES), "n_both"]].reset_index(drop=True)


def gains(found: pd.DataFrame) -> pd.DataFrame:
    """What refinement has brought by the last step: to the model's own score, and to the truth.

    Returns:
        `language, model, convention, best_step` (where the mean truth is greatest), `last_step`,
        and by then the changes since step 0 of score, truth, bias and D with their intervals; the
        last step is the last one with a truth.
    """
    known = found[found["condition"].eq("") & found["n"].gt(0)].sort_values([*CHAIN, "step"])
    # Of equals the first.
    best = known.sort_values("truth_mean", ascending=False, kind="stable").drop_duplicates(CHAIN)
    best = best[[*CHAIN, "step"]].rename(columns={"step": "best_step"})
    last = known.drop_duplicates(CHAIN, keep="last").rename(columns={"step": "last_step"})
    last = last[last["last_step"].gt(0)].merge(best, on=CHAIN)
    return last[[*CHAIN, "best_step", "last_step", "n_both", *bounded(*bias.CHANGES)]]


def arms(found: pd.DataFrame) -> pd.DataFrame:
    """Refinement under other conditions (another run, another accept rule) beside the plain one."""
    key = ["language", "model"]
    other = found.loc[found["condition"].ne(""), key].drop_duplicates()
    kept = found[found["language"].ne(bias.AVERAGE)].merge(other, on=key)
    return kept.replace({"condition": {"": "plain"}})[["condition", *bias.TRANSLATION]]


def expected(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Eq. 1 by fresh draws of the writer's score, which selected nothing (`bias.averaged`).

    Beside it `translation` has the bias of the score that drove the refinement.

    Returns:
        `condition, language, model, step, texts, draws` (usable ones, over all texts), and the
        quantities of `summary`; empty where nothing was read afresh.
    """
    fresh = rows[rows["variant"].eq(RESCORED) & rows["judge"].eq(rows["responder"])]
    fresh = fresh[~fresh["condition"].str.startswith(BEST)]
    of = (bias.summary, fresh, settings, "expected")
    table = bias.by_group(*of, by=bias.MODELS, conventions=("corrected",))
    draws = fresh.rename(columns=bias.MODELS).groupby(EXPECTED)["draws"]
    draws = draws.agg(texts="size", draws="sum").reset_index()
    table = draws.merge(table.drop(columns="convention"), on=EXPECTED)
    return table.replace({"condition": {"": "plain"}})


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
    level, gamma, found = settings.bootstrap.level, settings.use.gamma, []
    rng, known = settings.intervals.rng(*names, "flips"), dict[bytes, dict[str, float]]()
    rows = bias.counted(rows, bias.KEY).sort_values(["cluster", "item_id"], kind="stable")
    for key, gaps in rows.groupby(bias.KEY)["gap"]:
        values = gaps.dropna().to_numpy()
        alike = values.tobytes()
        if alike not in known:
            p, upper = sign_flips(values, gamma, settings.use.flips, level, rng)
            mean, band = null_band(len(values), level) if len(values) else (np.nan, np.nan)
            known[alike] = {"dskew": float(distance_skewness(values, gamma)), "p": p}
            known[alike] |= {"flip_upper": upper, "band_mean": mean, "band_upper": band}
        cell = dict(zip(bias.KEY, key, strict=True)) | known[alike]
        found.append(cell | {"n": len(values), "values": alike})
    table = pd.DataFrame(found)
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
    models, own, found = settings.use.sizes, bias.paper_chains(rows, "mqm"), []
    for convention in bias.CONVENTIONS:
        sentence = ["language", "step", "cluster", "item_id"]
        read = bias.read_as(own, convention)
        gaps = read.assign(gap=read["score"] - read["truth"])
        gaps = gaps.pivot(index=sentence, columns="responder", values="gap").reindex(columns=models)
        for smaller, larger in pairwise(models):
            apart = (gaps[larger] - gaps[smaller]).dropna().rename("apart").reset_index()
            for (language, step), part in apart.groupby(sentence[:2]):
                place = (str(language), larger, step)
                names = ("size", *map(str, place))
                mean = settings.intervals.mean(part["apart"], part["cluster"], *names)
                cell = dict(zip(STEP, (*place, convention), strict=True))
                found.append(cell | mean.columns("difference"))
    table = table[table["model"].isin(models) & table["language"].ne(bias.AVERAGE)]
    table = table[table.groupby("language")["model"].transform("nunique").eq(len(models))]
    table = table.assign(size=table["model"].map(models.index))
    table = table.sort_values(["language", "size", "step", "convention"], ignore_index=True)
    differences = pd.DataFrame(found, columns=[*STEP, *bounded("difference")])
    return table.drop(columns="size").merge(differences, how="left")


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
