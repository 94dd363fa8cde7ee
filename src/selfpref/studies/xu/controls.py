"""What selection does by itself: keeping the best of several scores, by a judge of pure noise.

Such a judge draws each score at random from those that the real judge gave, whatever the text.
Whoever keeps the greatest of k such scores has, for the sorted scores s_1 <= ... <= s_N,

    E = sum over i of s_i ((i/N)^k - ((i-1)/N)^k)

which rises with k, while the texts that are kept are texts at random. The best of k is drawn from
the candidates of that k. Refinement under the rule "keep if my own score rose" keeps the greatest
of t + 1 scores after t steps; they are drawn from the scores of the texts of step 0.

What a measured bias has *beyond* that of noise is told with an interval: sentences are resampled,
each with its scores, its candidates and its truths in every language.

Bias also grows with how bad a text is, whoever wrote it: so own texts are held against texts of
others that are equally good (`matched`).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import Floats, bounded, ratio
from selfpref.studies.xu import bias
from selfpref.studies.xu.feedback import quoted
from selfpref.studies.xu.items import BEST, TASKS


def best_of_k(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """The candidate that a model scores highest among k of its own, beside a judge of pure noise.

    The noise judge draws from the scores that the model gave the candidates of this k, and its true
    score is taken to be the mean over the texts that the model chose.

    Args:
        rows: As `rated` returns them.
        settings: The intervals.

    Returns:
        `language, model, k, convention`, the quantities of `summary` for the chosen text,
        `noise_bias`, and `beyond` with its bounds: the score of the model's own choice less the
        noise judge's.
    """
    drawn, choice = _candidates(rows[rows["own"]]), ["language", "model", "k", "convention"]
    chosen = drawn.query("step == 1")
    table = bias.by_group(bias.summary, chosen.assign(step=chosen["k"]), settings, "best of k")
    noise = bias.by_group(_chosen, drawn, settings, "best of noise", by=choice[:3])
    noise = noise.reindex(columns=[*choice, "noise_bias", *bounded("beyond")])
    found = table.rename(columns={"step": "k"}).merge(noise, on=choice, how="left")
    return bias.framed(found.sort_values(choice, ignore_index=True), "best_of_k")


def _candidates(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of candidates (step 0) and of the text chosen among them (step 1), with k."""
    best = rows[rows["condition"].str.startswith(BEST)]
    return best.assign(k=best["condition"].str.removeprefix(BEST).astype(int))


def expected_greatest(levels: Floats, counts: Floats, k: int) -> Floats:
    """Mean of the greatest of k draws with replacement from scores.

    Args:
        levels: The different scores, ascending, `[levels]`.
        counts: How often each occurs, `[levels, batch]`.
        k: At least 1.

    Returns:
        `[batch]`; NaN where nothing counts.
    """
    whole = counts.sum(axis=0)
    share = np.divide(counts, whole, out=np.full_like(counts, np.nan), where=whole > 0)
    reached = np.minimum(np.cumsum(share, axis=0), 1.0)
    greatest: Floats = levels @ np.diff(reached**k, axis=0, prepend=0.0)
    return greatest


def beside_noise(
    held: Sequence[tuple[pd.DataFrame, pd.DataFrame, int]],
    cells: pd.DataFrame,
    rows: pd.DataFrame,
    settings: bias.Settings,
    *names: str,
    languages: int = 0,
) -> pd.DataFrame:
    """A judge of pure noise beside what was measured, from the same resamples.

    Args:
        held: Of each cell the rows whose `score` is drawn from, with the `truth` that is taken off;
            the rows with the measured `value`; and how many draws the greatest is of. What is
            missing is left out.
        cells: Their names, and counts.
        rows: With all `cluster`s that are resampled.
        settings: The intervals.
        names: Of the random stream.
        languages: As for `bias.over_cells`.

    Returns:
        The cells with `noise_score`, `noise_bias` (less the mean truth) and `beyond` (the mean
        measured value less that), with their bounds.
    """
    clusters = sorted({*rows["cluster"]})

    def sums(rows: pd.DataFrame, name: str) -> Floats:
        known = rows[name].groupby(rows["cluster"]).agg(["sum", "count"])
        return np.array(known.reindex(clusters, fill_value=0).T, dtype=float)

    parts = []
    for pool, measured, k in held:
        levels = pd.crosstab(pool["score"], pool["cluster"]).reindex(columns=clusters, fill_value=0)
        parts.append((levels, sums(pool, "truth"), sums(measured, "value"), k))

    def statistics(weights: Floats) -> Floats:
        found = []
        for levels, truth, value, k in parts:
            counts = levels.to_numpy(dtype=float) @ weights
            score = expected_greatest(levels.index.to_numpy(dtype=float), counts, k)
            over = score - ratio((truth @ weights).T)
            found.append([score, over, ratio((value @ weights).T) - over])
        return np.swapaxes(found, 0, 1)

    of = (cells, languages, len(clusters), statistics, settings, *names)
    return bias.over_cells(*of, columns=("noise_score", "noise_bias", "beyond"))


def _chosen(rows: pd.DataFrame, settings: bias.Settings, *names: str) -> pd.DataFrame:
    """The noise judge of one model's k under one scoring: one row, or none without scores."""
    drawn, chosen = rows.query("step == 0").dropna(subset="score"), rows.query("step == 1")
    if drawn.empty:
        return drawn
    measured = chosen.assign(value=chosen["score"].where(chosen["truth"].notna()))
    held = (drawn.assign(truth=0.0), measured, int(rows["k"].iloc[0]))
    cells = drawn[bias.KEY].head(1).reset_index(drop=True)
    made = beside_noise([held], cells, rows, settings, *names)
    return made.assign(noise_bias=made["noise_score"] - chosen["truth"].mean())


def refined_by_noise(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Refinement judged by pure noise, of every task.

    The accept rule is the paper's. Scores are drawn from those that the model gave its first texts;
    the true score stays what it is at step 0, since nothing is learned about any text.

    Args:
        rows: As `rated` returns them.
        settings: The intervals.

    Returns:
        `language` (and `average`, where a model has all languages of the study), `model, step,
        convention, noise_score, noise_bias` with its bounds, `scores`, and `beyond` with its
        bounds: the measured bias less the noise judge's; NaN at step 0, and where none was
        measured.
    """
    found = []
    for task in TASKS:
        own = bias.paper_chains(rows, task)
        own = own.assign(languages=own["language"].nunique())
        found.append(bias.by_group(_refined, own, settings, "refined by noise"))
    return bias.framed(pd.concat(found, ignore_index=True), "refined_by_noise")


def _refined(rows: pd.DataFrame, settings: bias.Settings, *names: str) -> pd.DataFrame:
    """One model under one scoring: a row a language and step, then the means over languages."""
    gap, first = rows["score"] - rows["truth"], rows["step"].eq(0)
    pools = dict(iter(rows[first & gap.notna()].groupby("language")))
    # At step 0 both are the same, and rounding is all that is left.
    known = rows.assign(value=gap.mask(first))[rows["language"].isin([*pools])]
    if known.empty:
        return known
    cells = known.groupby(bias.KEY).size().reset_index()[bias.KEY]
    cells["scores"] = [len(pools[language]) for language in cells["language"]]
    held = [(pools[key[1]], part, key[2] + 1) for key, part in known.groupby(bias.KEY)]
    return beside_noise(held, cells, rows, settings, *names, languages=rows["languages"].iloc[0])


# A judge read the text at hand if at least this share of the spans that it quotes stand there; of
# fewer spans nothing follows.
QUOTED, SPANS = 0.8, 10
# Bounds of the true score, in points of MQM, within which texts count as equally good: between the
# plateaus of the map from BLEURT.
EQUAL = (-np.inf, -22.5, -17.5, -12.5, -7.5, -3.0, np.inf)
READING = ["condition", "language", "responder", "step", "judge", "variant", "repeat"]


def reads_its_text(rows: pd.DataFrame) -> pd.Series:
    """Whether the readings of texts by others, or by their writer afresh, quote these texts.

    Args:
        rows: As `rated` returns them.

    Returns:
        Of each row that is not `own`: whether its reading as a whole quotes the texts that it is
        filed under, or their sources (`QUOTED`); never where the texts are not at hand.
    """
    rows = rows[~rows["own"]]
    known = rows["reply"].notna() & rows["text"].notna()
    texts = zip(known, rows["reply"], rows["text"], rows["source"], strict=True)
    counts = [quoted(*of) if there else (0, 0) for there, *of in texts]
    spans = pd.DataFrame(counts, rows.index, ["found", "all"], dtype=int)
    whole = spans.groupby([rows[name] for name in READING]).transform("sum")
    return whole["all"].ge(SPANS) & whole["found"].ge(QUOTED * whole["all"])


def _matched(totals: Floats) -> Floats:
    """Mean over bins of (own mean - others' mean), weighted by the own texts in each bin.

    Args:
        totals: By bin, of own texts and of others', sum and count: `[batch, bins, 2, 2]`.
    """
    own, others = totals[..., 0, :], totals[..., 1, :]
    gap = ratio(own) - ratio(others)
    weight = np.where(np.isnan(gap), 0.0, own[..., 1])
    return ratio(np.stack([np.nansum(gap * weight, axis=-1), weight.sum(axis=-1)], axis=-1))


def _comparisons(rows: pd.DataFrame) -> pd.DataFrame:
    """The texts that a judge read, its own and others', against the truth and against each control.

    Returns:
        `judge, control` (empty: the truth), `own, cluster, truth, gap`.
    """
    start = rows.query("step == 0 and task == 'mqm' and variant == 'plain' and repeat == 0")
    start = start.dropna(subset=["truth", "score"])
    # Own texts in the languages in which the judge read others' too.
    both = start.loc[~start["own"], ["judge", "language"]].drop_duplicates()
    read = start[~start["own"] | start["condition"].eq("")].merge(both)
    controls = start[[*bias.TEXT, "judge", "score"]]
    controls = controls.rename(columns={"judge": "control", "score": "against"})
    pairs = read.merge(controls, on=bias.TEXT)
    # What the control wrote is no other's text to it.
    pairs = pairs[pairs["control"].ne(pairs["judge"]) & pairs["control"].ne(pairs["responder"])]
    found = pd.concat([read.assign(control="", against=read["truth"]), pairs], ignore_index=True)
    return found.assign(gap=found["score"] - found["against"])


def matched(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Does a judge over-rate its own texts more than others' texts that are equally good?

    Own texts are those before refinement; others' texts are all that it read of other writers.
    With the control `none` the gap is the score minus the true one, so that the difference mixes
    kinship with whatever else sets the texts apart. With another judge as control the gap is the
    score minus the control's score of the same text, own against others': a difference in
    differences. Both are taken within bins of the true score (`EQUAL`). Corrected, a reading counts
    only where it quotes the texts that it is filed under (`reads_its_text`).

    Args:
        rows: As `rated` returns them.
        settings: The intervals.

    Returns:
        `judge, control, convention, n_own, n_others`, and `matched` with its interval.
    """
    quoting, found = reads_its_text(rows).reindex(rows.index, fill_value=True), []
    for convention in bias.CONVENTIONS:
        read = bias.read_as(rows, convention)
        compared = _comparisons(read[quoting] if convention == "corrected" else read)
        for (judge, by), part in compared.groupby(["judge", "control"]):
            own, control = part["own"], by or "none"
            if own.all() or not own.any():
                continue
            sums, names = _binned(part), ("matched", judge, control)
            interval = settings.intervals.estimate(sums, part["cluster"], _matched, *names)
            row = {"judge": judge, "control": control, "convention": convention}
            row |= {"n_own": own.sum(), "n_others": (~own).sum()}
            found.append(row | interval.columns("matched"))
    return bias.framed(found, "matched")


def _binned(rows: pd.DataFrame) -> Floats:
    """Sum and count of each row's gap in its bin, own or others', `[rows, bins, 2, 2]`."""
    cells = np.zeros((len(rows), len(EQUAL) - 1, 2, 2))
    bins = np.digitize(rows["truth"], EQUAL[1:-1])
    side = (~rows["own"]).to_numpy(dtype=int)
    cells[np.arange(len(rows)), bins, side] = np.stack([rows["gap"], np.ones(len(rows))], axis=-1)
    return cells
