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

What refinement brings, other arms, fresh draws, model sizes; professional raters. Of sentences from
given words, and of mathematics, a score is 1 if the model says that all is there, or right, and the
truth is 1 if it is, so that both means are shares: `predicted` and `true`, their difference the
bias.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import (
    Floats,
    bounded,
    difference,
    divided,
    ratio,
    share_interval,
)
from selfpref.studies.xu import bias
from selfpref.studies.xu.bias import (
    CONVENTIONS,
    KEY,
    MODELS,
    Settings,
    by_group,
    paper_chains,
    read_as,
    summary,
)
from selfpref.studies.xu.feedback import quoted, well_formed
from selfpref.studies.xu.items import BEST, PARAPHRASE, RESCORED, TASKS

CHAIN = ["language", "model", "convention"]
PLAIN = {"condition": {"": "plain"}}
MEANS = bounded("self_mean", "truth_mean")


def best_of_k(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
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
    choice = ["language", "model", "k", "convention"]
    # Candidates are step 0, the text chosen among them is step 1.
    drawn = rows[rows["own"] & rows["condition"].str.startswith(BEST)]
    drawn = drawn.assign(k=drawn["condition"].str.removeprefix(BEST).astype(int))
    chosen = drawn.assign(step=drawn["k"])[drawn["step"].eq(1)]
    table = by_group(summary, chosen, settings, "best of k").rename(columns={"step": "k"})
    noise = by_group(_chosen, drawn, settings, "best of noise", by=choice[:3])
    noise = noise.reindex(columns=[*choice, "noise_bias", *bounded("beyond")])
    return table.merge(noise, on=choice, how="left").sort_values(choice, ignore_index=True)


def expected_greatest(levels: Floats, counts: Floats, k: int) -> Floats:
    """Mean of the greatest of k draws with replacement from scores.

    Args:
        levels: The different scores, ascending, `[levels]`.
        counts: How often each occurs, `[levels, batch]`.
        k: At least 1.

    Returns:
        `[batch]`; NaN where nothing counts.
    """
    reached = divided(np.cumsum(counts, axis=0), counts.sum(axis=0))
    greatest: Floats = levels @ np.diff(reached**k, axis=0, prepend=0.0)
    return greatest


def beside_noise(rows: pd.DataFrame, settings: Settings, *names: str) -> pd.DataFrame:
    """A judge of pure noise beside what was measured, from the same resamples.

    Args:
        rows: One responder under one scoring, as `summary` takes them, with, in each cell, the
            scores that are `drawn` from, the truths that are taken `off`, the measured `value`, all
            NaN where there is none, and of how many `draws` the greatest is kept.
        settings: The intervals.
        names: Of the random stream.

    Returns:
        `KEY`, the number of `scores` to draw from, `noise_score`, `noise_bias` (less the mean
        truth) and `beyond` (the mean measured value less that), with their bounds; no row of a
        cell without scores.
    """
    cells, parts = [], []
    clusters = sorted({*rows["cluster"]})

    def sums(part: pd.DataFrame, name: str) -> Floats:
        known = part[name].groupby(part["cluster"]).agg(["sum", "count"])
        return np.array(known.reindex(clusters, fill_value=0).T, dtype=float)

    for key, cell in rows.groupby(KEY):
        known = cell.dropna(subset="drawn")
        if known.empty:
            continue
        table = pd.crosstab(known["drawn"], known["cluster"])
        counts = table.reindex(columns=clusters, fill_value=0).to_numpy(dtype=float)
        cells.append((*key, len(known)))
        values = sums(cell, "off"), sums(cell, "value")
        parts.append((table.index.to_numpy(), counts, *values, cell["draws"].iloc[0]))

    def statistics(weights: Floats) -> Floats:
        found = []
        for levels, counts, off, value, draws in parts:
            score = expected_greatest(levels, counts @ weights, draws)
            over = score - ratio((off @ weights).T)
            found.append([score, over, ratio((value @ weights).T) - over])
        return np.swapaxes(found, 0, 1)

    columns = ("noise_score", "noise_bias", "beyond")
    table = pd.DataFrame(cells, columns=[*KEY, "scores"])
    if table.empty:
        return table.reindex(columns=[*table, *columns])
    return bias.over_cells(table, rows, statistics, settings, *names, columns=columns)


def _chosen(rows: pd.DataFrame, settings: Settings, *names: str) -> pd.DataFrame:
    """The noise judge of one model's k under one scoring: one row, or none without scores."""
    score = rows["score"]
    chosen = rows["step"].eq(1)
    truth = rows["truth"].where(chosen)
    value = score.where(truth.notna())
    rows = rows.assign(step=1, drawn=score.mask(chosen), off=0.0, value=value, draws=rows["k"])
    made = beside_noise(rows, settings, *names)
    return made.assign(noise_bias=made["noise_score"] - truth.mean())


def refined_by_noise(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Refinement judged by pure noise, of every task.

    The accept rule is the paper's. Scores are drawn from those that the model gave its first texts;
    the true score stays what it is at step 0, since nothing is learned about any text. Both judges
    are compared on the sentences that count at step 0 and at the step.

    Args:
        rows: As `rated` returns them.
        settings: The intervals.

    Returns:
        `language` (and `average`, where a model has all languages of the study), `model, step,
        convention, noise_score, noise_bias` with its bounds, `scores`, and `beyond` with its
        bounds: the measured bias less the noise judge's; NaN at step 0, no row where none was
        measured.
    """
    found = []
    for task in TASKS:
        own = paper_chains(rows, task)
        own = own.assign(languages=own["language"].nunique())
        found.append(by_group(_refined, own, settings, "refined by noise"))
    columns = [*CHAIN, "step", "scores", *bounded("noise_score", "noise_bias", "beyond")]
    return pd.concat(found, ignore_index=True).reindex(columns=columns)


def _refined(rows: pd.DataFrame, settings: Settings, *names: str) -> pd.DataFrame:
    """One model under one scoring: a row a language and step, then the means over languages."""
    known, place = rows[rows["gap"].notna()], ["language", "item_id"]
    start = known.loc[known["step"].eq(0), [*place, "score", "truth"]]
    both = known.merge(start.rename(columns={"score": "drawn", "truth": "off"}), on=place)
    # At step 0 both judges are the same, and rounding is all that is left.
    value = both["gap"].mask(both["step"].eq(0))
    return beside_noise(both.assign(value=value, draws=both["step"] + 1), settings, *names)


# A judge read the text at hand if at least this share of the spans that it quotes stand there; of
# fewer spans nothing follows.
QUOTED, SPANS = 0.8, 10
# Between these true scores, in points of MQM, texts count as equally good: they lie between the
# plateaus of the map from BLEURT.
EQUAL = (-22.5, -17.5, -12.5, -7.5, -3.0)


def reads_its_text(rows: pd.DataFrame) -> pd.Series:
    """Whether the readings of texts by others, or by their writer afresh, quote these texts.

    Args:
        rows: As `rated` returns them.

    Returns:
        Of each row that is not `own`: whether its reading as a whole quotes the texts that it is
        filed under, or their sources (`QUOTED`); never where the texts are not at hand.
    """
    rows = rows[~rows["own"]]
    texts = rows[["reply", "text", "source"]].dropna()
    counts = [quoted(*text) for text in texts.itertuples(index=False)]
    spans = pd.DataFrame(counts, texts.index, ["found", "all"], dtype=float)
    reading = [*bias.CELL, "judge", "variant", "repeat"]
    whole = rows.join(spans).groupby(reading)[["found", "all"]].transform("sum")
    return whole["all"].ge(SPANS) & whole["found"].ge(QUOTED * whole["all"])


def _matched(totals: Floats) -> Floats:
    """Mean over bins of (own mean - others' mean), weighted by the own texts in each bin.

    Args:
        totals: By bin, of own texts and of others', sum and count: `[batch, bins, 2, 2]`.
    """
    means = ratio(totals)
    gap = means[..., 0] - means[..., 1]
    weight = np.where(np.isnan(gap), 0.0, totals[..., 0, 1])
    return divided(np.nansum(gap * weight, axis=-1), weight.sum(axis=-1))


def _comparisons(rows: pd.DataFrame) -> pd.DataFrame:
    """The texts that a judge read, its own and others', against the truth and against each control.

    Returns:
        `judge, control` (empty: the truth), `own, cluster, truth, gap`.
    """
    start = rows.query("step == 0 and repeat == 0 and task == 'mqm' and variant == 'plain'")
    start = start.dropna(subset="gap")
    # Own texts in the languages in which the judge read others' too.
    both = start.loc[~start["own"], ["judge", "language"]].drop_duplicates()
    read = start[~start["own"] | start["condition"].eq("")].merge(both)
    controls = start.rename(columns={"judge": "control", "score": "against"})
    pairs = read.merge(controls[[*bias.TEXT, "control", "against"]], on=bias.TEXT)
    # What the control wrote is no other's text to it.
    pairs = pairs.query("control != judge and control != responder")
    pairs["gap"] = pairs["score"] - pairs["against"]
    return pd.concat([read.assign(control=""), pairs], ignore_index=True)


def matched(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
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
    found = []
    quoting = reads_its_text(rows).reindex(rows.index, fill_value=True)
    for convention in CONVENTIONS:
        read = read_as(rows, convention)
        if convention == "corrected":
            read = read[quoting]
        for (judge, by), part in _comparisons(read).groupby(["judge", "control"]):
            own = part["own"]
            if own.nunique() < 2:
                continue
            # Of each row gap and count, in its bin, own or others'.
            cells = np.zeros((len(part), len(EQUAL) + 1, 2, 2))
            side = (~own).astype(int)
            bins = np.digitize(part["truth"], EQUAL)
            cells[np.arange(len(part)), bins, side] = part[["gap"]].assign(n=1.0)
            key = judge, by or "none"
            sampled = cells, part["cluster"]
            interval = settings.intervals.estimate(*sampled, _matched, "matched", *key)
            found.append((*key, convention, own.sum(), (~own).sum(), *interval[:3]))
    columns = ["judge", "control", "convention", "n_own", "n_others", *bounded("matched")]
    return pd.DataFrame(found, columns=columns)


def gains(found: pd.DataFrame) -> pd.DataFrame:
    """What refinement has brought by the last step: to the model's own score, and to the truth.

    Returns:
        `language, model, convention, best_step` (where the mean truth is greatest, of equals the
        first), `last_step`, and by then the changes since step 0 of score, truth, bias and D with
        their intervals; the last step is the last one with a truth.
    """
    known = bias.translation(found).query("n > 0")
    known = known.sort_values([*CHAIN, "step"], ignore_index=True)
    chains = known.groupby(CHAIN)
    best = known["step"][chains["truth_mean"].idxmax()].to_numpy()
    last = chains.tail(1).rename(columns={"step": "last_step"}).assign(best_step=best)
    return last.query("last_step > 0").reset_index(drop=True)


def arms(found: pd.DataFrame) -> pd.DataFrame:
    """Refinement under other conditions (another run, another accept rule) beside the plain one."""
    key = ["language", "model"]
    other = found.query("condition != ''")[key].drop_duplicates()
    return found.query("language != @bias.AVERAGE").merge(other, on=key).replace(PLAIN)


def expected(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Eq. 1 by a fresh draw of the writer's score of each text, which selected nothing.

    Beside it `translation` has the bias of the score that drove the refinement.

    Returns:
        `condition, model` and the columns of `summary`; empty where nothing was read afresh.
    """
    fresh = rows[rows["variant"].eq(RESCORED)].query("judge == responder")
    fresh = fresh[~fresh["condition"].str.startswith(BEST)]
    table = by_group(summary, fresh, settings, "expected", by=MODELS, conventions=("corrected",))
    table = table.drop(columns="convention").replace(PLAIN)
    return table.sort_values(bias.CELL, ignore_index=True)


def sizes(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The models that differ in size alone: each beside the next smaller one.

    Args:
        rows: As `rated` returns them.
        settings: Which models, in ascending order.

    Returns:
        `language, model, step, convention`, and `difference`, what the bias is above that of the
        next smaller model on the sentences that count for both, with its interval.
    """
    found = []
    own = paper_chains(rows, "mqm")
    read = pd.concat([read_as(own, name) for name in CONVENTIONS])
    place = ["language", "step", "convention"]
    gaps = read.pivot(index=[*place, "cluster", "item_id"], columns="model", values="gap")
    apart = gaps.reindex(columns=settings.use.sizes).diff(axis="columns")
    known = apart.melt(ignore_index=False).dropna().reset_index()
    for (larger, *cell), part in known.groupby(["model", *place], sort=False):
        names = ("size", cell[0], larger, str(cell[1]))
        mean = settings.intervals.mean(part["value"], part["cluster"], *names)
        found.append((*cell, larger, *mean[:3]))
    return pd.DataFrame(found, columns=[*place, "model", *bounded("difference")])


def first_and_last(table: pd.DataFrame) -> pd.DataFrame:
    """The headline: each model's bias at the first and at the last step, corrected.

    Args:
        table: The table `translation`.

    Returns:
        `model, first, last`, means of the languages; what is missing at a step stays missing.
    """
    mean = table.query("language == @bias.AVERAGE and convention == 'corrected'")
    over = mean.sort_values("step").groupby("model")["bias"]
    return over.agg(["first", "last"], skipna=False).reset_index()


def rated_by_people(rows: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame:
    """The texts of refinement that people rated; their score is `truth`, the metric's `metric`.

    Args:
        rows: As `rated` returns them.
        truths: The truths table.
    """
    own = paper_chains(rows, "mqm")
    human = bias.truth_of(own, truths, "human-mqm")
    return own.assign(metric=own["truth"], truth=human).dropna(subset="truth")


def human(
    rows: pd.DataFrame, truths: pd.DataFrame, published: pd.DataFrame, settings: Settings
) -> pd.DataFrame:
    """The human study: own scores against human MQM, and the bias that the paper prints.

    The scores are those of the release's own rule, as in the paper.

    Returns:
        By language, model and step; `metric_mean` is that of the truth used elsewhere, and
        `noise_bias` that of a judge of pure noise (`refined_by_noise`), both on the same sentences.
    """
    place = ["model", "step"]
    own = rated_by_people(rows, truths)
    table, noise = (
        by_group(function, own, settings, "human", conventions=("released",))
        for function in (summary, _refined)
    )
    table.columns = table.columns.str.replace("truth_", "human_")
    noise = noise.reindex(columns=[*KEY, "model", "noise_bias"])
    printed = published.query("item == 'human' and quantity == 'bias'").set_index(place)
    metric = own.groupby(place)["metric"].mean()
    beside = pd.DataFrame({"metric_mean": metric, "bias_published": printed["value"]})
    table = table.merge(noise, how="left").join(beside, on=place)
    return table.sort_values(place, ignore_index=True)


def examples(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Scores of single sentences, no texts, for the paper's schematic Fig. 1.

    They are those of the human study's cell with the greatest bias at step 0.

    Returns:
        `language, model, step, sentence, said, truth`; the cell's `bias` and `dskew`.
    """
    own = read_as(rated_by_people(rows, truths), "released")
    own = own.query("step == 0")
    own = own.dropna(subset="score")
    own = own.rename(columns={"cluster": "sentence", "score": "said"})
    cells = own.groupby(["language", "model"])
    part = cells.get_group(cells["gap"].mean().idxmax()) if len(own) else own
    skew = bias.distance_skewness(part["gap"].to_numpy(), settings.use.gamma).item()
    part = part.assign(bias=part["gap"].mean(), dskew=skew)
    columns = ["language", "model", "step", "sentence", "said", "truth", "bias", "dskew"]
    return part[columns].reset_index(drop=True)


def checks(found: pd.DataFrame, form: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """What the paper prints, as far as it is known, beside what is recomputed here.

    Args:
        found: As `human` returns it.
        form: The frame `format`.
        published: data/published/xu.csv.

    Returns:
        Each printed number with `recomputed` and `difference`, NaN where what is counted was not
        released; empty where none of the paper's models is there.
    """
    place = ["model", "step"]
    # The steps at which the paper tells the share of well-formed feedback.
    shares = form.query("step in [1, 5]")["well_formed"]
    ends = {"least share": shares.min(), "greatest share": shares.max()}
    if not found["model"].isin(published["model"]).any():
        published = published.iloc[:0]
    known = found.astype({"step": float}).set_index(place)["bias"]
    table = published.rename(columns={"value": "published"}).join(known, on=place)
    recomputed = table.pop("bias").fillna(table["quantity"].map(ends)).astype(float)
    return table.assign(recomputed=recomputed, difference=recomputed - table["published"])


def commongen(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Constrained generation: says "all covered" against holds every concept.

    Returns:
        `model, step, convention`, the shares `predicted` and `true` (with Wilson's intervals),
        `bias` and `dskew` with their bounds, `n` and `unusable`.
    """
    own = paper_chains(rows, "coverage")
    table = _shares(own, settings, CONVENTIONS, "commongen", settings.use.matcher)
    return table.sort_values(["model", "step", "convention"], ignore_index=True)


def mathematics(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Mathematics: says that its answer is correct against gives the right one.

    Returns:
        `condition` (`plain`, an arm, or `self-consistency`, whose steps are rounds of votes),
        `language, model, step, predicted, true, bias, dskew` with intervals, the change of the bias
        since step 0, `n` and `unusable`; the intervals of the two shares are Wilson's.
    """
    own = bias.chained(rows).query("task == 'correctness'")
    # No release has a rule of its own here; both conventions are one.
    table = _shares(own, settings, ("corrected",), "mathematics")
    table = table.drop(columns="convention").replace(PLAIN)
    return table.sort_values(["language", "model", "condition", "step"], ignore_index=True)


def _shares(
    rows: pd.DataFrame,
    settings: Settings,
    conventions: Sequence[bias.Convention],
    *names: str,
) -> pd.DataFrame:
    """The table of `summary` with Wilson's intervals for the two means, which are shares."""
    table = by_group(_of_shares, rows, settings, *names, by=MODELS, conventions=conventions)
    shares = table[MEANS].set_axis(bounded("predicted", "true"), axis="columns")
    return table.drop(columns=MEANS).join(shares)


def _of_shares(rows: pd.DataFrame, settings: Settings, *names: str) -> pd.DataFrame:
    """One responder's; where the bias does not vary over sentences, its interval is Newcombe's."""
    found = summary(rows, settings, *names).set_index(KEY)
    for cell, part in bias.counted(rows, KEY).groupby(KEY):
        said, true = (
            share_interval(part[name], part["cluster"], settings.bootstrap.level)
            for name in ("score", "truth")
        )
        found.loc[cell, MEANS] = *said[:3], *true[:3]
        # What is the same in every sentence has no interval by resampling, and D has none.
        if found.at[cell, "bias_lo"] == found.at[cell, "bias_hi"]:
            found.loc[cell, ["bias_lo", "bias_hi"]] = difference(said, true)[1:3]
            found.loc[cell, ["dskew_lo", "dskew_hi"]] = np.nan
    return found.reset_index()


def style(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """A translator's text, judged; then the judge's own paraphrase of it, judged by the same.

    Returns:
        `language, system, judge, text` (`translation` or `paraphrase`), `convention`, the
        quantities of `summary`, and for the paraphrase their change.
    """
    aside = rows[rows["condition"].str.startswith(PARAPHRASE)]
    aside = aside.assign(system=aside["condition"].str.removeprefix(PARAPHRASE))
    table = by_group(summary, aside, settings, "style", by=["system", "judge"])
    table["text"] = table.pop("step").map({0: "translation", 1: "paraphrase"})
    order = ["language", "system", "judge", "text", "convention"]
    return table.sort_values(order, ignore_index=True)


def format_accuracy(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The share of feedback on one's own translations that keeps to the declared grammar.

    Args:
        rows: As `rated` returns them.
        settings: The level of the intervals, which are Wilson's (`selfpref.statistics.bootstrap`).

    Returns:
        `model, step, n`, and the shares `well_formed` (`selfpref.studies.xu.feedback.well_formed`)
        and `usable` (a score can be read), each with its bounds: means of the languages, of models
        that have all of them.
    """
    found = []
    key = ["model", "step"]
    own = paper_chains(rows, "mqm").dropna(subset="reply")
    well = own["reply"].map(well_formed).astype(bool)
    # Each language counts the same, however many replies it has.
    replies = own.groupby([*key, "language"])["reply"].transform("size")
    own = own.assign(well_formed=well / replies, usable=own["status"].eq("ok") / replies)
    languages = own.groupby(key)["language"].transform("nunique")
    whole = own.assign(weight=1 / replies)[languages.eq(own["language"].nunique())]
    for values, part in whole.groupby(key):
        well, usable = (
            share_interval(part[[name, "weight"]], part["cluster"], settings.bootstrap.level)
            for name in ("well_formed", "usable")
        )
        found.append((*values, len(part), *well[:3], *usable[:3]))
    return pd.DataFrame(found, columns=[*key, "n", *bounded("well_formed", "usable")])
