"""Translation: bias and D by model, language and step, and what refinement brings.

The mean over languages, `average`, stands where a model has all languages of its condition.
"""

import itertools
from functools import partial

import pandas as pd

from selfpref.statistics.bootstrap import bounded
from selfpref.studies.xu.chains import BEST, RESCORED
from selfpref.studies.xu.curves import AVERAGE, CHANGES, NULLS, by_group, nulls, summary
from selfpref.studies.xu.rows import (
    Settings,
    chained,
    paper_chains,
    under_scorings,
)

MODELS = {"condition": "condition", "responder": "model"}
TRANSLATION = [
    *("language", "model", "step", "convention", "self_mean", "truth_mean"),
    *(*bounded("bias", "dskew"), "n", "unusable"),
]
# Quantities whose change since step 0 is told.
MOVED = bounded(*CHANGES.values())
SIZES = ["language", "model", "step", "convention", *bounded("difference")]
EXPECTED = ["condition", "language", "model", "step", "texts", "draws"]


def curves(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Bias and D of every condition, model, language and step of translation.

    Args:
        rows: As `rated` returns them.
        settings: Gamma and intervals.

    Returns:
        `condition` (empty: the paper's rule), `model`, and the columns of `summary`.
    """
    own = chained(rows)
    own = own[own["task"].eq("mqm")]
    found = by_group(partial(summary, averaged=True), own, settings, "translation", by=MODELS)
    # Sizes of one model stand in one language only; a mean over languages needs all of the study.
    alone = found[found["language"].ne(AVERAGE)]
    languages = alone.groupby("condition")["language"].nunique()
    held = alone.groupby(["condition", "model"])["language"].nunique().rename("held")
    whole = found.join(held, on=["condition", "model"])["held"].eq(
        found["condition"].map(languages)
    )
    found = found[found["language"].ne(AVERAGE) | whole]
    return found.sort_values(
        ["condition", "language", "model", "step", "convention"], ignore_index=True
    )


def translation(found: pd.DataFrame) -> pd.DataFrame:
    """The paper's figure: refinement by its own rule, the columns `TRANSLATION`.

    Args:
        found: As `curves` returns it.
    """
    return found.loc[found["condition"].eq(""), TRANSLATION].reset_index(drop=True)


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
    kept = kept[kept["language"].ne(AVERAGE)]
    return kept.assign(condition=kept["condition"].replace("", "plain"))[
        ["condition", *TRANSLATION]
    ].reset_index(drop=True)


def expected(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Eq. 1 by fresh draws of the writer's score, which selected nothing (`rows.averaged`).

    Beside it `translation` has the bias of the score that drove the refinement.

    Returns:
        `condition, language, model, step, texts, draws` (usable ones, over all texts), and the
        quantities of `summary`; empty where nothing was read afresh.
    """
    fresh = rows[rows["variant"].eq(RESCORED) & rows["judge"].eq(rows["responder"])]
    fresh = fresh[~fresh["condition"].str.startswith(BEST)]
    table = by_group(summary, fresh, settings, "expected", by=MODELS, conventions=("corrected",))
    counts = fresh.rename(columns=MODELS).groupby(EXPECTED[:4])["draws"]
    counts = counts.agg(texts="size", draws="sum").reset_index()
    table = counts.merge(table.drop(columns="convention"), on=EXPECTED[:4])
    return table.assign(condition=table["condition"].replace("", "plain"))


def skewness(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """D of every cell beside its nulls (`curves.nulls`)."""
    by = {"responder": "model"}
    return by_group(nulls, paper_chains(rows), settings, "skewness", by=by, columns=NULLS)


def sizes(rows: pd.DataFrame, table: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The models that differ in size alone, in ascending order, in the languages they share.

    Args:
        rows: As `rated` returns them.
        table: The table `translation`.
        settings: Which models.

    Returns:
        The rows of the table with `difference`, what the bias is above that of the next smaller
        model on the sentences that count for both, and its interval; NaN for the smallest.
    """
    table = table[table["model"].isin(settings.sizes) & table["language"].ne(AVERAGE)]
    shared = table.groupby("language")["model"].nunique().eq(len(settings.sizes))
    table = table[table["language"].map(shared).eq(True)]
    order = table["model"].map({name: i for i, name in enumerate(settings.sizes)})
    table = table.assign(size=order).sort_values(
        ["language", "size", "step", "convention"], ignore_index=True
    )
    apart = _larger_less_smaller(paper_chains(rows, "mqm"), settings)
    return table.drop(columns="size").merge(apart, on=SIZES[:4], how="left")


def _larger_less_smaller(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """What each model's bias is above the next smaller one's, by language, step and scoring."""
    read = under_scorings(rows)
    gaps = read.assign(gap=read["said"] - read["truth"]).pivot(
        index=["convention", "language", "step", "cluster", "item_id"],
        columns="responder",
        values="gap",
    )
    gaps, found = gaps.reindex(columns=[*settings.sizes]), []
    for smaller, larger in itertools.pairwise(settings.sizes):
        apart = (gaps[larger] - gaps[smaller]).dropna().rename("apart").reset_index()
        for (convention, language, step), part in apart.groupby(["convention", "language", "step"]):
            key = {"language": language, "model": larger, "step": step}
            names = ("size", *map(str, key.values()))
            mean = settings.intervals.mean(part["apart"], part["cluster"], *names)
            found.append(key | {"convention": convention} | mean.columns("difference"))
    return pd.DataFrame(found, columns=SIZES)


def first_and_last(table: pd.DataFrame) -> pd.DataFrame:
    """The headline: each model's bias at the first and at the last step, corrected.

    Args:
        table: The table `translation`.

    Returns:
        `model, first, last`, means of the languages; what is missing at a step stays missing.
    """
    mean = table[table["language"].eq(AVERAGE) & table["convention"].eq("corrected")]
    bias = mean.sort_values("step").set_index("model")["bias"]
    ends = {end: bias[~bias.index.duplicated(keep=end)] for end in ("first", "last")}
    return pd.DataFrame(ends).reset_index()
