"""The study's frames: what refinement brings; people, other tasks, paraphrases, forms of feedback.

Of translation: other arms, fresh draws, model sizes. Of sentences from given
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
from selfpref.studies.xu.skewness import distance_skewness

CHAIN = ["language", "model", "convention"]
REPLIES = ["language", "model", "step"]
PLAIN = {"condition": {"": "plain"}}
# At which the paper tells the share of well-formed feedback.
STEPS = (1, 5)


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
        By language, model and step; `metric_mean` is that of the truth used elsewhere, and
        `noise_bias` that of a judge of pure noise by the same accept rule (`selection`), both on
        the same sentences.
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
    printed = printed.set_index(["model", "step"])["value"]
    metric = own.groupby(["model", "step"])["metric"].mean()
    place = ["model", "step"]
    table = table.assign(noise_bias=noise).join(metric.rename("metric_mean"), on=place)
    table = table.join(printed.rename("bias_published"), on=place)
    return framed(table.sort_values(["model", "step"], ignore_index=True), "human")


def examples(rows: pd.DataFrame, truths: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Scores of single sentences, no texts, for the paper's schematic Fig. 1.

    They are those of the human study's cell with the greatest bias at step 0.

    Returns:
        `language, model, step, sentence, said, truth`; the cell's `bias` and `dskew`.
    """
    own = bias.read_as(rated_by_people(rows, truths), "released")
    own = own.query("step == 0").dropna(subset="score")
    own = own.assign(sentence=own["cluster"], said=own["score"], gap=own["score"] - own["truth"])
    if own.empty:
        return framed(own, "examples")
    cells = own.groupby(["language", "model"])
    part = cells.get_group(cells["gap"].mean().idxmax())
    skew = distance_skewness(part["gap"].to_numpy(), settings.use.gamma).item()
    found = framed(part.assign(bias=part["gap"].mean(), dskew=skew), "examples")
    return found.reset_index(drop=True)


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


def commongen(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Constrained generation: says "all covered" against holds every concept.

    Returns:
        `model, step, convention`, the shares `predicted` and `true` (with Wilson's intervals),
        `bias` and `dskew` with their bounds, `n` and `unusable`.
    """
    own = bias.paper_chains(rows, "coverage")
    table = _shares(own, settings, CONVENTIONS, "commongen", settings.use.matcher)
    order = ["model", "step", "convention"]
    return framed(table.sort_values(order, ignore_index=True), "commongen")


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
    table = framed(table, "style")
    return table.sort_values([*table.columns[:5]], ignore_index=True)


def format_accuracy(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """The share of feedback on one's own translations that keeps to the declared grammar.

    Args:
        rows: As `rated` returns them.
        settings: The level of the intervals, which are Wilson's (`selfpref.statistics.bootstrap`).

    Returns:
        `language` (and `average`, the mean of the languages), `model, step, n`, and the shares
        `well_formed` (`selfpref.studies.xu.feedback.well_formed`) and `usable` (a score can be
        read), each with its bounds.
    """
    own, found = bias.paper_chains(rows, "mqm").dropna(subset="reply"), []
    well = own["reply"].map(well_formed).astype(bool)
    own = own.assign(weight=1.0, well_formed=well, usable=own["status"].eq("ok"))
    # In the mean each language counts the same, however many replies it has.
    weight = 1 / own.groupby(REPLIES)["reply"].transform("size")
    held = own.groupby(["model", "step"])["language"].transform("nunique")
    languages = own["language"].nunique()
    mean = own.assign(language=bias.AVERAGE, weight=weight)[held.eq(languages) & (languages > 1)]
    for replies in (own, mean):
        for values, part in replies.groupby(REPLIES):
            row: dict[str, object] = dict(zip(REPLIES, values, strict=True)) | {"n": len(part)}
            for name in ("well_formed", "usable"):
                parts = np.stack([part[name] * part["weight"], part["weight"]], axis=-1)
                share = share_interval(parts, part["cluster"], settings.bootstrap.level)
                row |= share.columns(name)
            found.append(row)
    return framed(found, "format")
