"""What else raises a score: a second scoring of the same text, selection, and a judge's own style.

- Re-scoring: an unchanged text that is judged again and kept because the second score is kinder.
- Selection: the best of k scores rises with k for any judge that is not perfectly sure.
- Style: a translator's text, and the judge's own paraphrase of it.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounds, cluster_sums, ratio
from selfpref.studies.xu import chains
from selfpref.studies.xu.measure.grid import summary
from selfpref.studies.xu.measure.noise import BEST_KEY, best_of_noise
from selfpref.studies.xu.measure.rows import (
    BEST,
    CONVENTIONS,
    PARAPHRASE,
    Settings,
    chained,
    read_as,
)

# What the comparison of a step with its predecessor needs.
_LINKED = (
    *("item_id", "language", "responder", "step", "cluster", "text", "reply", "truth"),
    "contaminated",
)


def rescoring(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """How much of the gain in the own score came without any change of the text.

    Returns:
        `language, model, convention, links` (pairs of a step and its predecessor, with scores for
        both), `edited`, `rescored`, `gain` (points summed over sentences and steps), `gain_edited`,
        `gain_rescored`, and `share` (of `gain_rescored` in `gain`) with its interval.
    """
    own = chained(rows)
    own = own[own["condition"].eq("")]
    found = []
    for convention in CONVENTIONS:
        read = read_as(own, convention)
        linked = chains.links(read[[*_LINKED]].assign(own=read["said"], fine=False))
        chain = linked.groupby(["item_id", "responder"])
        before = chain[["step", "own", "contaminated"]].shift()
        gain = (linked["own"] - before["own"]).where(before["step"].eq(linked["step"] - 1))
        if convention == "corrected":
            gain = gain.mask(linked["contaminated"] | before["contaminated"].eq(True))
        linked = linked.assign(gain=gain)[gain.notna()]
        for (language, model), part in linked.groupby(["language", "responder"]):
            again = part["gain"].where(part["rescored"], 0.0)
            sums = cluster_sums(np.stack([again, part["gain"]], axis=1), part["cluster"])
            rng = settings.rng("rescoring", str(language), str(model))
            found.append(
                {
                    "language": language,
                    "model": model,
                    "convention": convention,
                    "links": len(part),
                    "edited": int(part["text_changed"].sum()),
                    "rescored": int(part["rescored"].sum()),
                    "gain": part["gain"].sum(),
                    "gain_edited": part["gain"].where(part["text_changed"], 0.0).sum(),
                    "gain_rescored": again.sum(),
                }
                | bounds("share", settings.bootstrap.interval(sums, ratio, rng))
            )
    return pd.DataFrame(found)


def best_of_k(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The candidate that a model scores highest among k of its own.

    A k that has texts or truths but no readable scores keeps its row, without values.

    Returns:
        `language, model, k, convention`, the quantities of `summary` for the chosen text, and
        `noise_bias`: that of a judge whose scores are noise (`selfpref.studies.xu.measure.noise`).
    """
    best = rows[rows["condition"].str.startswith(BEST)]
    best = best.assign(k=best["condition"].str.removeprefix(BEST).astype(int))
    chosen, noise = best[best["step"].eq(1) & best["own"]], best_of_noise(rows)
    found = [pd.DataFrame()]
    for convention in CONVENTIONS:
        for model, part in read_as(chosen, convention).groupby("responder"):
            table = summary(part.assign(step=part["k"]), settings, "best of k", str(model))
            found.append(table.assign(model=model, convention=convention))
    table = pd.concat(found, ignore_index=True)
    if table.empty:
        return table
    table = table.rename(columns={"step": "k", "said": "self_mean", "truth": "truth_mean"})
    table = table[[name for name in table if "_change" not in str(name)]]
    return (
        table.merge(_offered(truths), on=["language", "model", "k"], how="outer")
        .pipe(_both_conventions)
        .merge(noise[[*BEST_KEY, "noise_bias"]], on=BEST_KEY, how="left")
        .sort_values(BEST_KEY, ignore_index=True)
    )


def _offered(truths: pd.DataFrame) -> pd.DataFrame:
    """Every model and k that the source scored."""
    scored = truths[["item_id", "responder"]].join(chains.addressed(truths["item_id"]))
    scored = scored[scored["condition"].str.startswith(BEST)]
    scored = scored.assign(k=scored["condition"].str.removeprefix(BEST).astype(int))
    return (
        scored[["language", "responder", "k"]]
        .drop_duplicates()
        .rename(columns={"responder": "model"})
    )


def _both_conventions(table: pd.DataFrame) -> pd.DataFrame:
    """Rows without scores stand under both conventions, with n = 0."""
    bare = table[table["convention"].isna()]
    filled = [bare.assign(convention=name, n=0, unusable=0) for name in CONVENTIONS]
    return pd.concat([table[table["convention"].notna()], *filled], ignore_index=True).astype(
        {"n": "int64", "unusable": "int64"}
    )


def style(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """A translator's text, judged; then the judge's own paraphrase of it, judged by the same.

    Returns:
        `language, system, judge, text` (`translation` or `paraphrase`), `convention`, the
        quantities of `summary`, and for the paraphrase their change.
    """
    aside = rows[rows["condition"].str.startswith(PARAPHRASE)]
    aside = aside.assign(system=aside["condition"].str.removeprefix(PARAPHRASE))
    found = [pd.DataFrame()]
    for convention in CONVENTIONS:
        read = read_as(aside, convention)
        for (system, judge), part in read.groupby(["system", "judge"]):
            table = summary(part, settings, "style", str(system), str(judge))
            found.append(table.assign(system=system, judge=judge, convention=convention))
    table = pd.concat(found, ignore_index=True)
    if table.empty:
        return table
    names = {"said": "self_mean", "truth": "truth_mean"}
    names |= {f"said_change{end}": f"self_change{end}" for end in ("", "_lo", "_hi")}
    table = table.rename(columns=names).assign(
        text=table["step"].map({0: "translation", 1: "paraphrase"})
    )
    columns = ["language", "system", "judge", "text", "convention"]
    order = [*columns, *(name for name in table if name not in {*columns, "step"})]
    return table[order].sort_values(columns, ignore_index=True)
