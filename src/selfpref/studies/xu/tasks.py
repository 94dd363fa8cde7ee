"""Sentences from given words, mathematics, paraphrased translations, and the format of feedback.

Of the first two tasks a score is 1 if the model says that all is there, or right, and the truth is
1 if it is, so that both means are shares: `predicted` and `true`, their difference the bias.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import bounded
from selfpref.statistics.shares import difference, share_interval
from selfpref.studies.xu import bias
from selfpref.studies.xu.chains import PARAPHRASE
from selfpref.studies.xu.feedback import well_formed
from selfpref.studies.xu.truths import MATCHERS

COMMONGEN = ["model", "step", "predicted", "true", "bias", "dskew", "n", "matcher"]
CELL = [*bias.MODELS.values(), *bias.KEY]
FORMS = ["well_formed", "but_for_cut", "usable"]
REPLIES = ["language", "model", "step"]


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
    table = pd.concat(found, ignore_index=True)
    order = [*COMMONGEN, *table.columns.difference(COMMONGEN, sort=False)]
    return table[order].sort_values(["model", "step", "convention", "matcher"], ignore_index=True)


def mathematics(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """Mathematics: says that its answer is correct against gives the right one.

    Returns:
        `condition` (`plain`, an arm, or `self-consistency`, whose steps are rounds of votes),
        `language, model, step, predicted, true, bias, dskew` with intervals, the change of the bias
        since step 0, `n` and `unusable`; the intervals of the two shares are Wilson's.
    """
    own = bias.chained(rows)
    own = own[own["task"].eq("correctness")]
    # No release has a rule of its own here; both conventions are one.
    table = _shares(own, settings, ("corrected",), "mathematics")
    table["condition"] = table["condition"].replace("", "plain")
    return table.drop(columns="convention").sort_values(
        ["language", "model", "condition", "step"], ignore_index=True
    )


def _shares(
    rows: pd.DataFrame, settings: bias.Settings, conventions: Sequence[bias.Convention], *names: str
) -> pd.DataFrame:
    """The table of `summary` with Wilson's intervals for the two means, which are shares.

    Where the bias does not vary over sentences, its interval is Newcombe's.
    """
    table = bias.by_group(
        bias.summary, rows, settings, *names, by=bias.MODELS, conventions=conventions
    )
    read = bias.under_scorings(rows, conventions).rename(columns=bias.MODELS)
    found = []
    for values, part in bias.counted(read, CELL).groupby(CELL):
        said, true = (
            share_interval(part[name], part["cluster"], settings.bootstrap.level)
            for name in ("score", "truth")
        )
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
    table = bias.by_group(bias.summary, aside, settings, "style", by=by).rename(
        columns={"step": "text"}
    )
    table["text"] = table["text"].map({0: "translation", 1: "paraphrase"})
    columns = ["language", "system", "judge", "text", "convention"]
    order = [*columns, *table.columns.difference(columns, sort=False)]
    return table[order].sort_values(columns, ignore_index=True)


def format_accuracy(rows: pd.DataFrame, settings: bias.Settings) -> pd.DataFrame:
    """The share of feedback on one's own translations that keeps to the declared grammar.

    Args:
        rows: As `rated` returns them.
        settings: The level of the intervals, which are Wilson's (`selfpref.statistics.shares`).

    Returns:
        `language` (and `average`, the mean of the languages), `model, step, n`, and the shares
        `well_formed` (`selfpref.studies.xu.feedback.well_formed`), `but_for_cut` (well formed, or
        so but for a last line that was cut off) and `usable` (a score can be read), each with its
        bounds.
    """
    own = bias.paper_chains(rows, "mqm")
    own = own[own["reply"].notna()]
    replies = own["reply"].map(str.rstrip)
    cut = replies.map(lambda reply: well_formed(reply.rpartition("\n")[0])).astype(bool)
    own = own.rename(columns={"responder": "model"}).assign(
        well_formed=own["reply"].map(well_formed).astype(bool),
        but_for_cut=lambda made: made["well_formed"] | cut,
        usable=own["status"].eq("ok"),
        weight=1.0,
    )
    languages = own["language"].nunique()
    held = own.groupby(["model", "step"])["language"].transform("nunique")
    # Each language counts the same, however many replies it has.
    each = own.assign(weight=1 / own.groupby(REPLIES)["weight"].transform("size"))
    mean = each[held.eq(languages) & (languages > 1)].assign(language=bias.AVERAGE)
    found = []
    for place in (own, mean):
        for values, part in place.groupby(REPLIES):
            row: dict[str, object] = dict(zip(REPLIES, values, strict=True)) | {"n": len(part)}
            for name in FORMS:
                parts = np.stack([part[name] * part["weight"], part["weight"]], axis=-1)
                share = share_interval(parts, part["cluster"], settings.bootstrap.level)
                row |= share.columns(name)
            found.append(row)
    return pd.DataFrame(found, columns=[*REPLIES, "n", *bounded(*FORMS)])
