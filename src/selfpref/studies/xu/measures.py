"""The study's frames: what refinement brings; people, other tasks, paraphrases, forms of feedback.

Of translation: other arms, fresh draws, D beside its nulls, model sizes. Of sentences from given
words, and of mathematics, a score is 1 if the model says that all is there, or right, and the truth
is 1 if it is, so that both means are shares: `predicted` and `true`, their difference the bias.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounded, difference, share_interval
from selfpref.studies.xu import bias
from selfpref.studies.xu.controls import expected_greatest
from selfpref.studies.xu.feedback import well_formed
from selfpref.studies.xu.items import BEST, PARAPHRASE, RESCORED
from selfpref.studies.xu.skewness import distance_skewness, null_band, sign_flips
from selfpref.studies.xu.truths import MATCHERS

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


MODEL = {"responder": "model"}
HUMAN = [
    *("model", "step", "human_mean", "self_mean", *bounded("bias"), "dskew", "n"),
    *(*bounded("bias_change", "human_change"), "noise_bias", "bias_published"),
]
REPLIES = ["language", "model", "step"]
HUMAN_TRUTH = [*REPLIES, *bounded("human_mean"), "truth_mean", "n", "correlation"]
EXAMPLES = ["figure", "language", "model", "step", "sentence", "said", "truth", "bias", "dskew"]
CHECKS = [
    *("item", "model", "step", "quantity", "published", "recomputed", "difference"),
    *("source", "place", "how_read"),
]
COMMONGEN = ["model", "step", "predicted", "true", "bias", "dskew", "n", "matcher"]
CELL = [*bias.MODELS.values(), *bias.KEY]
STYLE = ["language", "system", "judge", "text", "convention"]
FORMS = ["well_formed", "but_for_cut", "usable"]
# At which the paper tells the share of well-formed feedback.
STEPS = (1, 5)
# Gaps in points of MQM, and how many sentences have each; all true scores are the middle one.
MADE_UP = ((-2.0, 80), (8.0, 20))
MIDDLE = -12.5


def rated_by_people(rows: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame:
    """The texts of refinement that people rated; their score is `truth`, the metric's `metric`.

    Args:
        rows: As `rated` returns them.
        truths: The truths table.
    """
    own = bias.paper_chains(rows, "mqm")
    own = own.assign(metric=own["truth"], truth=bias.truth_of(own, truths, "human-mqm"))
    return own[own["truth"].notna()].rename(columns=MODEL)


def human(
    rows: pd.DataFrame, truths: pd.DataFrame, published: pd.DataFrame, settings: bias.Settings
) -> pd.DataFrame:
    """The human study: own scores against human MQM, and the bias that the paper prints.

    The scores are those of the release's own rule, as in the paper.

    Returns:
        The columns of `HUMAN`; `noise_bias` is that of a judge of pure noise by the same accept
        rule (`selection`), on the same sentences.
    """
    own = rated_by_people(rows, truths)
    of = (bias.summary, own, settings, "human")
    table = bias.by_group(*of, by={"model": "model"}, conventions=("released",))
    table = table.rename(columns=lambda name: str(name).replace("truth_", "human_"))
    first, noise = bias.read_as(own[own["step"].eq(0)], "released"), []
    for model, step in zip(table["model"], table["step"], strict=True):
        part = first[first["model"].eq(model)]
        levels, counts = np.unique(part["score"], return_counts=True)
        score = expected_greatest(levels, counts[:, None].astype(float), step + 1)
        noise.append(float(score[0]) - part["truth"].mean())
    printed = published[published["item"].eq("human") & published["quantity"].eq("bias")]
    printed = printed.rename(columns={"value": "bias_published"})
    table = table.assign(noise_bias=noise).merge(
        printed[["model", "step", "bias_published"]], on=["model", "step"], how="left"
    )
    return table[HUMAN].sort_values(["model", "step"], ignore_index=True)


def human_truth(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Mean human MQM by step beside the truth used here, on the same sentences.

    Returns:
        `language, model, step, human_mean` with its bounds, `truth_mean, n, correlation` (over
        sentences).
    """
    own, found = rated_by_people(rows, truths).dropna(subset="metric"), []
    for place, part in own.groupby(REPLIES):
        names = ("human truth", *map(str, place))
        mean = settings.intervals.mean(part["truth"], part["cluster"], *names)
        row = dict(zip(REPLIES, place, strict=True)) | mean.columns("human_mean")
        row |= {"truth_mean": part["metric"].mean(), "n": len(part)}
        found.append(row | {"correlation": part["truth"].corr(part["metric"])})
    return pd.DataFrame(found, columns=HUMAN_TRUTH)


def examples(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Rows for the paper's two schematic figures: the scores of single sentences, no texts.

    Figure 1: the human study's cell with the greatest bias at step 0. Figure 2 is made up
    (`MADE_UP`): most texts are under-rated a little, a few over-rated by much, so that a bias of 0
    hides an asymmetry. No released step shows it: where the bias is about 0, D is that of chance.

    Returns:
        `figure, language, model, step, sentence, said, truth`; the cell's `bias` and `dskew`.
    """
    own = bias.read_as(rated_by_people(rows, truths), "released")
    own = own[own["step"].eq(0) & own["score"].notna()].drop(columns="metric")
    own = own.rename(columns={"cluster": "sentence", "score": "said"})
    cells = own.assign(gap=own["said"] - own["truth"]).groupby(["language", "model"])
    rated = [cells.get_group(cells["gap"].mean().idxmax())] if len(own) else []
    made = np.concatenate([np.full(count, gap) for gap, count in MADE_UP])
    schematic = pd.DataFrame({"said": MIDDLE + made, "truth": MIDDLE, "step": 0})
    schematic["sentence"] = [f"made up/{n}" for n in range(1, len(made) + 1)]
    schematic[["language", "model"]] = "made up"
    found = []
    for figure, part in [*((1, part) for part in rated), (2, schematic)]:
        gap = part["said"] - part["truth"]
        skew = float(distance_skewness(gap.to_numpy(), settings.use.gamma))
        found.append(part.assign(figure=figure, bias=gap.mean(), dskew=skew)[EXAMPLES])
    return pd.concat(found, ignore_index=True)


def checks(found: pd.DataFrame, form: pd.DataFrame, published: pd.DataFrame) -> pd.DataFrame:
    """What the paper prints, as far as it is known, beside what is recomputed here.

    Args:
        found: As `human` returns it.
        form: The frame `format`.
        published: data/published/xu.csv.

    Returns:
        The columns of `CHECKS`; `recomputed` is NaN where what is counted was not released; empty
        where none of the paper's models is there.
    """
    known = found.set_index(["model", "step"])["bias"].to_dict()
    shares = form.loc[form["language"].eq(bias.AVERAGE) & form["step"].isin(STEPS), "well_formed"]
    extremes = {"least share": shares.min(), "greatest share": shares.max()}
    table = published if found["model"].isin(published["model"]).any() else published.iloc[:0]
    places = zip(table["model"], table["step"], strict=True)
    bias_of = pd.Series([known.get(place, np.nan) for place in places], table.index, dtype=float)
    share = table["quantity"].map(extremes)
    recomputed = bias_of.where(table["item"].eq("human"), share)
    away = recomputed - table["value"]
    table = table.assign(recomputed=recomputed, difference=away)
    return table.rename(columns={"value": "published"})[CHECKS]


def commongen(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Constrained generation: says "all covered" against holds every concept, for both matchers.

    Returns:
        The columns `COMMONGEN`, `convention`, what else `summary` returns, and the intervals of
        bias, `predicted` and `true`; those of the two shares are Wilson's.
    """
    own, found = bias.paper_chains(rows, "coverage"), []
    for matcher in MATCHERS:
        held = own.assign(truth=bias.truth_of(own, truths, f"coverage-{matcher}"))
        table = _shares(held, settings, bias.CONVENTIONS, "commongen", matcher)
        found.append(table.assign(matcher=matcher))
    table = _in_front(pd.concat(found, ignore_index=True), COMMONGEN)
    return table.sort_values(["model", "step", "convention", "matcher"], ignore_index=True)


def _in_front(table: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """The table with these columns first."""
    return table[[*columns, *table.columns.difference(columns, sort=False)]]


def mathematics(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Mathematics: says that its answer is correct against gives the right one.

    Returns:
        `condition` (`plain`, an arm, or `self-consistency`, whose steps are rounds of votes),
        `language, model, step, predicted, true, bias, dskew` with intervals, the change of the bias
        since step 0, `n` and `unusable`; the intervals of the two shares are Wilson's.
    """
    own = bias.chained(rows)
    # No release has a rule of its own here; both conventions are one.
    table = _shares(own[own["task"].eq("correctness")], settings, ("corrected",), "mathematics")
    table = table.drop(columns="convention").replace({"condition": {"": "plain"}})
    return table.sort_values(["language", "model", "condition", "step"], ignore_index=True)


def _shares(
    rows: pd.DataFrame, settings: bias.Settings, conventions: Sequence[bias.Convention], *names: str
) -> pd.DataFrame:
    """The table of `summary` with Wilson's intervals for the two means, which are shares.

    Where the bias does not vary over sentences, its interval is Newcombe's.
    """
    of = (bias.summary, rows, settings, *names)
    table = bias.by_group(*of, by=bias.MODELS, conventions=conventions)
    read = pd.concat([bias.read_as(rows, name) for name in conventions])
    found, level = [], settings.bootstrap.level
    for values, part in bias.counted(read.rename(columns=bias.MODELS), CELL).groupby(CELL):
        said = share_interval(part["score"], part["cluster"], level)
        true = share_interval(part["truth"], part["cluster"], level)
        row = dict(zip(CELL, values, strict=True)) | difference(said, true).columns("apart")
        found.append(row | said.columns("predicted") | true.columns("true"))
    shares = pd.DataFrame(found, columns=[*CELL, *bounded("apart", "predicted", "true")])
    whole = table.drop(columns=bounded("self_mean", "truth_mean")).merge(shares, on=CELL)
    # A bias that is the same in every sentence has no interval by resampling, and D has none.
    alike = whole["bias_lo"].eq(whole["bias_hi"])
    for end in ("_lo", "_hi"):
        whole[f"bias{end}"] = whole[f"bias{end}"].mask(alike, whole[f"apart{end}"])
        whole[f"dskew{end}"] = whole[f"dskew{end}"].mask(alike)
    return whole.drop(columns=bounded("apart"))


def style(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """A translator's text, judged; then the judge's own paraphrase of it, judged by the same.

    Returns:
        `language, system, judge, text` (`translation` or `paraphrase`), `convention`, the
        quantities of `summary`, and for the paraphrase their change.
    """
    aside = rows[rows["condition"].str.startswith(PARAPHRASE)]
    aside = aside.assign(system=aside["condition"].str.removeprefix(PARAPHRASE))
    by = {"system": "system", "judge": "judge"}
    table = bias.by_group(bias.summary, aside, settings, "style", by=by)
    table["text"] = table.pop("step").map({0: "translation", 1: "paraphrase"})
    return _in_front(table, STYLE).sort_values(STYLE, ignore_index=True)


def format_accuracy(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """The share of feedback on one's own translations that keeps to the declared grammar.

    Args:
        rows: As `rated` returns them.
        settings: The level of the intervals, which are Wilson's (`selfpref.statistics.bootstrap`).

    Returns:
        `language` (and `average`, the mean of the languages), `model, step, n`, and the shares
        `well_formed` (`selfpref.studies.xu.feedback.well_formed`), `but_for_cut` (well formed, or
        so but for a last line that was cut off) and `usable` (a score can be read), each with its
        bounds.
    """
    own = bias.paper_chains(rows, "mqm").dropna(subset="reply").rename(columns=MODEL)
    whole = own["reply"].map(well_formed).astype(bool)
    lines = own["reply"].map(lambda reply: reply.rstrip().rpartition("\n")[0])
    cut = lines.map(well_formed).astype(bool)
    usable = own["status"].eq("ok")
    own = own.assign(well_formed=whole, but_for_cut=whole | cut, usable=usable)
    # In the mean each language counts the same, however many replies it has.
    size = own.groupby(REPLIES)["reply"].transform("size")
    held = own.groupby(["model", "step"])["language"].transform("nunique")
    languages = own["language"].nunique()
    mean = own[held.eq(languages) & (languages > 1)].assign(language=bias.AVERAGE)
    found = []
    for place, weights in ((own, size / size), (mean, 1 / size)):
        for values, part in place.assign(weight=weights).groupby(REPLIES):
            row: dict[str, object] = dict(zip(REPLIES, values, strict=True)) | {"n": len(part)}
            for name in FORMS:
                parts = np.stack([part[name] * part["weight"], part["weight"]], axis=-1)
                share = share_interval(parts, part["cluster"], settings.bootstrap.level)
                row |= share.columns(name)
            found.append(row)
    return pd.DataFrame(found, columns=[*REPLIES, "n", *bounded(*FORMS)])
