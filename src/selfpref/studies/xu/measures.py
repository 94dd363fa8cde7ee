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
from selfpref.studies.xu.bias import CONVENTIONS, MODELS, framed
from selfpref.studies.xu.controls import expected_greatest
from selfpref.studies.xu.feedback import well_formed
from selfpref.studies.xu.items import BEST, PARAPHRASE, RESCORED
from selfpref.studies.xu.skewness import distance_skewness, null_band, sign_flips
from selfpref.studies.xu.truths import MATCHERS

CHAIN = ["language", "model", "convention"]
REPLIES = ["language", "model", "step"]
PLAIN = {"condition": {"": "plain"}}
# At which the paper tells the share of well-formed feedback.
STEPS = (1, 5)
# Gaps in points of MQM, and how many sentences have each; all true scores are the middle one.
MADE_UP = ((-2.0, 80), (8.0, 20))
MIDDLE = -12.5


def change(found: pd.DataFrame) -> pd.DataFrame:
    """How score, truth, bias and D have changed since step 0, with paired intervals."""
    later = found.query("step > 0 and condition == ''")
    return framed(later, "change").reset_index(drop=True)


def gains(found: pd.DataFrame) -> pd.DataFrame:
    """What refinement has brought by the last step: to the model's own score, and to the truth.

    Returns:
        `language, model, convention, best_step` (where the mean truth is greatest, of equals the
        first), `last_step`, and by then the changes since step 0 of score, truth, bias and D with
        their intervals; the last step is the last one with a truth.
    """
    known = found.query("condition == '' and n > 0").sort_values([*CHAIN, "step"])
    best = known.sort_values("truth_mean", ascending=False, kind="stable").drop_duplicates(CHAIN)
    best = best[[*CHAIN, "step"]].rename(columns={"step": "best_step"})
    last = known.drop_duplicates(CHAIN, keep="last").rename(columns={"step": "last_step"})
    return framed(last.query("last_step > 0").merge(best, on=CHAIN), "gains")


def arms(found: pd.DataFrame) -> pd.DataFrame:
    """Refinement under other conditions (another run, another accept rule) beside the plain one."""
    key = ["language", "model"]
    other = found.loc[found["condition"].ne(""), key].drop_duplicates()
    kept = found[found["language"].ne(bias.AVERAGE)].merge(other, on=key).replace(PLAIN)
    table = framed(kept, "translation")
    table.insert(0, "condition", kept["condition"])
    return table


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
    table = bias.by_group(*of, by=MODELS, conventions=("corrected",)).drop(columns="convention")
    draws = fresh.groupby(bias.CELL)["draws"].agg(texts="size", draws="sum")
    return draws.reset_index().merge(table, on=bias.CELL).replace(PLAIN)


def nulls(rows: pd.DataFrame, settings: bias.Settings, *names: str) -> pd.DataFrame:
    """Whether D is more than chance would give: two nulls.

    Args:
        rows: As for `summary`.
        settings: Gamma, the number of random signs, and the level of the bands.
        names: Of the random stream.

    Returns:
        Of each cell `n`, D, `p` and `flip_upper` (signs drawn at random), `band_mean` and
        `band_upper` (as many normal values), and `repeated`: whether an earlier step of the
        language has the same values, since texts and feedback have stayed.
    """
    level, use, found = settings.bootstrap.level, settings.use, []
    rng, known = settings.intervals.rng(*names, "flips"), dict[bytes, list[float]]()
    rows = bias.counted(rows, bias.KEY).sort_values(["cluster", "item_id"], kind="stable")
    for key, gaps in rows.groupby(bias.KEY)["gap"]:
        values = gaps.dropna().to_numpy()
        alike = values.tobytes()
        if alike not in known:
            flips = sign_flips(values, use.gamma, use.flips, level, rng)
            band = null_band(len(values), level)
            known[alike] = [distance_skewness(values, use.gamma).item(), *flips, *band]
        found.append([*key, len(values), *known[alike], alike])
    columns = ["n", "dskew", "p", "flip_upper", "band_mean", "band_upper", "values"]
    table = pd.DataFrame(found, columns=[*bias.KEY, *columns])
    return table.assign(repeated=table.duplicated(["language", "values"]))


def skewness(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """D of every cell beside its nulls (`nulls`)."""
    table = bias.by_group(nulls, bias.paper_chains(rows), settings, "skewness")
    return framed(table, "skewness")


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
    read = pd.concat([bias.read_as(own, name) for name in CONVENTIONS])
    read = read.assign(gap=read["score"] - read["truth"])
    place = ["language", "step", "convention"]
    gaps = read.pivot(index=[*place, "cluster", "item_id"], columns="model", values="gap")
    gaps = gaps.reindex(columns=models)
    for smaller, larger in pairwise(models):
        apart = (gaps[larger] - gaps[smaller]).dropna().rename("apart").reset_index("cluster")
        for cell, part in apart.groupby(place):
            names = ("size", cell[0], larger, str(cell[1]))
            mean = settings.intervals.mean(part["apart"], part["cluster"], *names)
            row = dict(zip(place, cell, strict=True)) | {"model": larger}
            found.append(row | mean.columns("difference"))
    table = table[table["model"].isin(models) & table["language"].ne(bias.AVERAGE)]
    table = table[table.groupby("language")["model"].transform("nunique").eq(len(models))]
    table = table.assign(size=table["model"].map(models.index))
    table = table.sort_values(["language", "size", "step", "convention"], ignore_index=True)
    differences = pd.DataFrame(found, columns=[*place, "model", *bounded("difference")])
    return table.drop(columns="size").merge(differences, how="left")


def first_and_last(table: pd.DataFrame) -> pd.DataFrame:
    """The headline: each model's bias at the first and at the last step, corrected.

    Args:
        table: The table `translation`.

    Returns:
        `model, first, last`, means of the languages; what is missing at a step stays missing.
    """
    mean = table.query("language == @bias.AVERAGE and convention == 'corrected'")
    over = mean.sort_values("step").set_index("model")["bias"]
    ends = {end: over[~over.index.duplicated(keep=end)] for end in ("first", "last")}
    return pd.DataFrame(ends).reset_index()


def rated_by_people(rows: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame:
    """The texts of refinement that people rated; their score is `truth`, the metric's `metric`.

    Args:
        rows: As `rated` returns them.
        truths: The truths table.
    """
    own = bias.paper_chains(rows, "mqm")
    own = own.assign(metric=own["truth"], truth=bias.truth_of(own, truths, "human-mqm"))
    return own[own["truth"].notna()]


def human(
    rows: pd.DataFrame, truths: pd.DataFrame, published: pd.DataFrame, settings: bias.Settings
) -> pd.DataFrame:
    """The human study: own scores against human MQM, and the bias that the paper prints.

    The scores are those of the release's own rule, as in the paper.

    Returns:
        By model and step; `noise_bias` is that of a judge of pure noise by the same accept
        rule (`selection`), on the same sentences.
    """
    own, noise = rated_by_people(rows, truths), []
    table = bias.by_group(bias.summary, own, settings, "human", conventions=("released",))
    table = table.rename(columns=lambda name: str(name).replace("truth_", "human_"))
    first = bias.read_as(own.query("step == 0"), "released")
    for model, step in zip(table["model"], table["step"], strict=True):
        part = first[first["model"].eq(model)]
        levels, counts = np.unique(part["score"], return_counts=True)
        score = expected_greatest(levels, counts[:, None].astype(float), step + 1)
        noise.append(float(score[0]) - part["truth"].mean())
    printed = published.query("item == 'human' and quantity == 'bias'")
    printed = printed.rename(columns={"value": "bias_published"})
    printed = printed[["model", "step", "bias_published"]]
    table = table.assign(noise_bias=noise).merge(printed, on=["model", "step"], how="left")
    return framed(table.sort_values(["model", "step"], ignore_index=True), "human")


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
    return framed(found, "human_truth")


def examples(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Rows for the paper's two schematic figures: the scores of single sentences, no texts.

    Figure 1: the human study's cell with the greatest bias at step 0. Figure 2 is made up
    (`MADE_UP`): most texts are under-rated a little, a few over-rated by much, so that a bias of 0
    hides an asymmetry. No released step shows it: where the bias is about 0, D is that of chance.

    Returns:
        `figure, language, model, step, sentence, said, truth`; the cell's `bias` and `dskew`.
    """
    own = bias.read_as(rated_by_people(rows, truths), "released")
    own = own.query("step == 0").dropna(subset="score").assign(figure=1)
    own = own.assign(sentence=own["cluster"], said=own["score"], gap=own["score"] - own["truth"])
    cells = own.groupby(["language", "model"])
    rated = [cells.get_group(cells["gap"].mean().idxmax())] if len(own) else []
    gaps = np.concatenate([np.full(count, gap) for gap, count in MADE_UP])
    made = pd.DataFrame({"gap": gaps, "said": MIDDLE + gaps, "truth": MIDDLE, "step": 0})
    made["sentence"] = [f"made up/{n}" for n in range(1, len(made) + 1)]
    parts = [*rated, made.assign(language="made up", model="made up", figure=2)]
    found = []
    for part in parts:
        skew = distance_skewness(part["gap"].to_numpy(), settings.use.gamma).item()
        found.append(framed(part.assign(bias=part["gap"].mean(), dskew=skew), "examples"))
    return pd.concat(found, ignore_index=True)


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
    known = found.set_index(["model", "step"])["bias"].to_dict()
    shares = form.loc[form["language"].eq(bias.AVERAGE) & form["step"].isin(STEPS), "well_formed"]
    ends = {"least share": shares.min(), "greatest share": shares.max()}
    table = published if found["model"].isin(published["model"]).any() else published.iloc[:0]
    places = zip(table["model"], table["step"], strict=True)
    bias_of = pd.Series([known.get(place, np.nan) for place in places], table.index, dtype=float)
    recomputed = bias_of.where(table["item"].eq("human"), table["quantity"].map(ends))
    table = table.assign(recomputed=recomputed, difference=recomputed - table["value"])
    return framed(table.rename(columns={"value": "published"}), "checks")


def commongen(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Constrained generation: says "all covered" against holds every concept, for both matchers.

    Returns:
        `model, step, predicted, true, bias, dskew, n, matcher, convention`, what else `summary`
        returns, and the intervals of bias, `predicted` and `true`; those of the two shares are
        Wilson's.
    """
    own, found = bias.paper_chains(rows, "coverage"), []
    for matcher in MATCHERS:
        held = own.assign(truth=bias.truth_of(own, truths, f"coverage-{matcher}"))
        table = _shares(held, settings, CONVENTIONS, "commongen", matcher)
        found.append(table.assign(matcher=matcher))
    order = ["model", "step", "convention", "matcher"]
    table = pd.concat(found).sort_values(order, ignore_index=True)
    return framed(table, "commongen", more=True)


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
    table = table.drop(columns="convention").replace(PLAIN)
    return table.sort_values(["language", "model", "condition", "step"], ignore_index=True)


def _shares(
    rows: pd.DataFrame, settings: bias.Settings, conventions: Sequence[bias.Convention], *names: str
) -> pd.DataFrame:
    """The table of `summary` with Wilson's intervals for the two means, which are shares.

    Where the bias does not vary over sentences, its interval is Newcombe's.
    """
    of, cell = (bias.summary, rows, settings, *names), [*MODELS, *bias.KEY]
    table = bias.by_group(*of, by=MODELS, conventions=conventions)
    read = pd.concat([bias.read_as(rows, name) for name in conventions])
    found, level = [], settings.bootstrap.level
    for values, part in bias.counted(read, cell).groupby(cell):
        said, true = (share_interval(part[of], part["cluster"], level) for of in ("score", "truth"))
        row = dict(zip(cell, values, strict=True)) | difference(said, true).columns("apart")
        found.append(row | said.columns("predicted") | true.columns("true"))
    shares = pd.DataFrame(found, columns=[*cell, *bounded("apart", "predicted", "true")])
    whole = table.drop(columns=bounded("self_mean", "truth_mean")).merge(shares, on=cell)
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
    table = bias.by_group(bias.summary, aside, settings, "style", by=["system", "judge"])
    table["text"] = table.pop("step").map({0: "translation", 1: "paraphrase"})
    table = framed(table, "style", more=True)
    return table.sort_values([*table.columns[:5]], ignore_index=True)


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
    own, found = bias.paper_chains(rows, "mqm").dropna(subset="reply"), []
    whole = own["reply"].map(well_formed).astype(bool)
    cut = own["reply"].map(lambda reply: well_formed(reply.rstrip().rpartition("\n")[0]))
    forms = {"well_formed": whole, "but_for_cut": whole | cut.astype(bool)}
    forms["usable"] = own["status"].eq("ok")
    own = own.assign(weight=1.0, **forms)
    # In the mean each language counts the same, however many replies it has.
    weight = 1 / own.groupby(REPLIES)["reply"].transform("size")
    held = own.groupby(["model", "step"])["language"].transform("nunique")
    languages = own["language"].nunique()
    mean = own.assign(language=bias.AVERAGE, weight=weight)[held.eq(languages) & (languages > 1)]
    for replies in (own, mean):
        for values, part in replies.groupby(REPLIES):
            row: dict[str, object] = dict(zip(REPLIES, values, strict=True)) | {"n": len(part)}
            for name in forms:
                parts = np.stack([part[name] * part["weight"], part["weight"]], axis=-1)
                share = share_interval(parts, part["cluster"], settings.bootstrap.level)
                row |= share.columns(name)
            found.append(row)
    return framed(found, "format")
