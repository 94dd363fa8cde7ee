"""What else raises a score: a second reading of the same text, selection, and how bad the text is.

- Re-scoring: an unchanged text that is judged again and kept because the second score is kinder.
- Selection: the best of k scores rises with k for any judge that is not perfectly sure.
- Leniency: bias grows with how bad a text is, whoever wrote it.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from selfpref.metrics.bootstrap import Interval, bounds, cluster_sums
from selfpref.metrics.scores import Floats
from selfpref.metrics.skewness import distance_skewness
from selfpref.metrics.xu.grid import summary
from selfpref.metrics.xu.noise import BEST_KEY, best_of_noise
from selfpref.metrics.xu.rows import (
    BEST,
    CONVENTIONS,
    PARAPHRASE,
    TEXT,
    Settings,
    chained,
    read_as,
)
from selfpref.refinement import chains
from selfpref.refinement.feedback import quoted

# A judge read the text at hand if at least this share of the spans that it quotes stand there; of
# fewer spans nothing follows.
QUOTED, SPANS = 0.8, 10
# Bounds of the true score, in points of MQM, within which texts count as equally good: between the
# plateaus of the map from BLEURT.
EQUAL = (-np.inf, -22.5, -17.5, -12.5, -7.5, -3.0, np.inf)
READING = ["condition", "language", "responder", "step", "judge", "variant", "repeat"]


# What the comparison of a step with its predecessor needs.
_LINKED = (
    *("item_id", "language", "responder", "step", "cluster", "text", "reply", "truth"),
    "contaminated",
)


def _share(totals: Floats) -> Floats:
    part, whole = totals[..., 0], totals[..., 1]
    share: Floats = np.divide(part, whole, out=np.full_like(part, np.nan), where=whole != 0)
    return share


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
                | bounds("share", settings.bootstrap.interval(sums, _share, rng))
            )
    return pd.DataFrame(found)


def _reads_its_text(rows: pd.DataFrame) -> pd.DataFrame:
    """Whether feedback quotes the texts that it is filed under, reading by reading.

    Returns:
        Beside each row `spans` that it quotes, `spans_found` in the text or its source (0 and 0
        where the text is not at hand), and `reads_its_text`, the same for all rows of a reading.
    """
    counts = [
        quoted(reply, text, source) if isinstance(reply, str) and isinstance(text, str) else (0, 0)
        for reply, text, source in zip(rows["reply"], rows["text"], rows["source"], strict=True)
    ]
    found, total = zip(*counts, strict=True) if counts else ((), ())
    rows = rows.assign(spans=list(total), spans_found=list(found))
    whole = rows.groupby(READING)[["spans", "spans_found"]].transform("sum")
    known = whole["spans"].ge(SPANS) & whole["spans_found"].ge(QUOTED * whole["spans"])
    return rows.assign(reads_its_text=known)


def cross_judge(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Texts read a second time: by another judge, or by their writer afresh.

    Under `released` a judge's scores stand beside the true scores of the texts that the source
    names. Under `corrected` they do only where the feedback quotes these texts (`QUOTED`).

    Returns:
        One row a text's `condition, language, model, step`, its `judge, variant, repeat` and
        `convention`: `judge_mean, truth_mean`, `bias` with its interval, `dskew`, `n, unusable`;
        the writer's own mean on the same texts and `difference` (own minus this judge's: what the
        judge takes off) with its interval and `n_both`; `spans`, the share `quoted` of them, and
        whether that is enough (`reads_its_text`).
    """
    second = _reads_its_text(rows[~rows["own"] & ~rows["condition"].str.startswith(BEST)])
    found = []
    for convention in CONVENTIONS:
        first = read_as(rows[rows["own"] & rows["sample"].eq(0)], convention)
        own = first.set_index(TEXT)["said"].rename("own_said")
        read = read_as(second, convention).join(own, on=TEXT)
        if convention == "corrected":
            # What is said of another text is held against neither truth nor writer.
            other = ~read["reads_its_text"]
            read = read.assign(
                truth=read["truth"].mask(other), own_said=read["own_said"].mask(other)
            )
        for values, part in read.groupby(READING):
            held = dict(zip(READING, values, strict=True)) | {"convention": convention}
            found.append(held | _reading(part, settings, *map(str, values)))
    return pd.DataFrame(found).rename(columns={"responder": "model"})


def _reading(rows: pd.DataFrame, settings: Settings, *names: str) -> dict[str, object]:
    """One judge's reading of one step's texts."""
    held: dict[str, object] = {"unusable": int(rows["status"].ne("ok").sum())}
    read = rows[rows["said"].notna() & rows["truth"].notna()]
    gaps = (read["said"] - read["truth"]).to_numpy(dtype=float)
    # Where no truth is known, the mean of the scores alone.
    held |= {"judge_mean": (read if len(read) else rows)["said"].mean()}
    held |= {"truth_mean": read["truth"].mean(), "n": len(read)}
    held |= bounds("bias", _mean(gaps, read["cluster"], settings, "second reading", *names))
    held |= {"dskew": float(distance_skewness(gaps, settings.gamma)) if len(gaps) else np.nan}
    both = rows[rows["own_said"].notna() & rows["said"].notna()]
    taken_off = (both["own_said"] - both["said"]).to_numpy(dtype=float)
    held |= {"own_mean": both["own_said"].mean(), "n_both": len(both)}
    held |= bounds("difference", _mean(taken_off, both["cluster"], settings, "difference", *names))
    quotes = rows[["spans_found", "spans"]].sum().to_numpy(dtype=float)
    held |= {"spans": int(quotes[1]), "quoted": float(_share(quotes))}
    return held | {"reads_its_text": bool(rows["reads_its_text"].all())}


def _mean(values: Floats, clusters: pd.Series, settings: Settings, *names: str) -> Interval:
    """A mean with its interval; NaN without values."""
    if not len(values):
        return Interval(np.nan, np.nan, np.nan, np.nan)
    sums = cluster_sums(np.stack([values, np.ones(len(values))], axis=1), clusters)
    return settings.bootstrap.interval(sums, _share, settings.rng(*names))


def _matched(totals: Floats) -> Floats:
    """Mean over bins of (own mean - others' mean), weighted by the own texts in each bin.

    Args:
        totals: Sum and count of own, sum and count of others, by bin: `[batch, bins, 4]`.
    """
    own, n_own, others, n_others = (totals[..., i] for i in range(4))
    both = (n_own > 0) & (n_others > 0)
    gap = np.divide(own, n_own, out=np.zeros_like(own), where=both) - np.divide(
        others, n_others, out=np.zeros_like(own), where=both
    )
    weight = np.where(both, n_own, 0.0)
    whole = weight.sum(axis=-1)
    mean: Floats = np.divide(
        (gap * weight).sum(axis=-1), whole, out=np.full_like(whole, np.nan), where=whole > 0
    )
    return mean


def _comparisons(
    rows: pd.DataFrame, settings: Settings
) -> Iterator[tuple[str, str, pd.DataFrame, pd.DataFrame]]:
    """Judge, control, and the gaps of its own texts and of others' texts that it read."""
    start = rows[rows["step"].eq(0) & rows["truth"].notna() & rows["said"].notna()]
    start = start[start["task"].eq("mqm") & start["variant"].eq("plain") & start["repeat"].eq(0)]
    own, others = start[start["own"] & start["condition"].eq("")], start[~start["own"]]
    for judge, theirs in others.groupby("judge"):
        mine = own[own["responder"].eq(judge) & own["language"].isin(theirs["language"])]
        if mine.empty:
            continue
        yield str(judge), "none", _gaps(mine, mine["truth"]), _gaps(theirs, theirs["truth"])
        for control, readings in start[start["judge"].ne(judge)].groupby("judge"):
            scores = readings.set_index(TEXT)["said"].rename("control")
            # What the control wrote is no other's text to it.
            neutral = theirs[theirs["responder"].ne(control)]
            pair = [part.join(scores, on=TEXT) for part in (mine, neutral)]
            pair = [part[part["control"].notna()] for part in pair]
            if all(len(part) for part in pair):
                yield str(judge), str(control), *(_gaps(part, part["control"]) for part in pair)


def _gaps(rows: pd.DataFrame, against: pd.Series) -> pd.DataFrame:
    return rows.assign(gap=rows["said"] - against)[["cluster", "truth", "gap"]]


def matched(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Does a judge over-rate its own texts more than others' texts that are equally good?

    Own texts are those before refinement; others' texts are all that it read of other writers.
    With the control `none` the gap is the score minus the true one, so that the difference mixes
    kinship with whatever else sets the texts apart. With another judge as control the gap is the
    score minus the control's score of the same text, own against others': a difference in
    differences. Both are taken within bins of the true score (`EQUAL`).

    Returns:
        `judge, control, convention, n_own, n_others, own_gap, others_gap, difference` (not matched)
        and `matched` with its interval.
    """
    found = []
    for convention in CONVENTIONS:
        read = read_as(rows, convention)
        if convention == "corrected":
            second = _reads_its_text(read[~read["own"]])
            read = pd.concat([read[read["own"]], second[second["reads_its_text"]]])
        for judge, control, own, others in _comparisons(read, settings):
            parts = [_binned(own, 0), _binned(others, 2)]
            clusters = pd.concat([own["cluster"], others["cluster"]])
            sums = cluster_sums(np.concatenate(parts), clusters)
            rng = settings.rng("matched", judge, control)
            found.append(
                {
                    "judge": judge,
                    "control": control,
                    "convention": convention,
                    "n_own": len(own),
                    "n_others": len(others),
                    "own_gap": own["gap"].mean(),
                    "others_gap": others["gap"].mean(),
                    "difference": own["gap"].mean() - others["gap"].mean(),
                }
                | bounds("matched", settings.bootstrap.interval(sums, _matched, rng))
            )
    return pd.DataFrame(found)


def _binned(rows: pd.DataFrame, first: int) -> Floats:
    """Sum and count of each row's gap in its bin, `[rows, bins, 4]`, from position `first`."""
    cells = np.zeros((len(rows), len(EQUAL) - 1, 4))
    at = np.arange(len(rows)), np.digitize(rows["truth"], EQUAL[1:-1])
    cells[(*at, first)] = rows["gap"]
    cells[(*at, first + 1)] = 1.0
    return cells


def best_of_k(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The candidate that a model scores highest among k of its own.

    A k that has texts or truths but no readable scores keeps its row, without values.

    Returns:
        `language, model, k, convention`, the quantities of `summary` for the chosen text, and
        `noise_bias`: that of a judge whose scores are noise (`selfpref.metrics.xu.noise`).
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
