"""Sentences from given words, mathematics, and translations that a judge has paraphrased.

Of the first two a score is 1 if the model says that all is there, or right, and the truth is 1 if
it is, so that both means are shares: `predicted` and `true`, their difference the bias.
"""

from collections.abc import Sequence

import pandas as pd

from selfpref.statistics.bootstrap import bounded
from selfpref.statistics.shares import difference, share_interval
from selfpref.studies.xu.chains import PARAPHRASE
from selfpref.studies.xu.curves import KEY, by_group, summary
from selfpref.studies.xu.rows import (
    CONVENTIONS,
    Convention,
    Settings,
    chained,
    paper_chains,
    truth_of,
    under_scorings,
)
from selfpref.studies.xu.translation import MODELS
from selfpref.studies.xu.truths import MATCHERS

COMMONGEN = ["model", "step", "predicted", "true", "bias", "dskew", "n", "matcher"]
CELL = [*MODELS.values(), *KEY]


def commongen(rows: pd.DataFrame, truths: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Constrained generation: says "all covered" against holds every concept, for both matchers.

    Returns:
        The columns `COMMONGEN`, `convention`, what else `summary` returns, and the intervals of
        bias, `predicted` and `true`; those of the two shares are Wilson's.
    """
    own, found = paper_chains(rows, "coverage"), []
    for matcher in MATCHERS:
        held = own.assign(truth=truth_of(own, truths, f"coverage-{matcher}"))
        table = _shares(held, settings, CONVENTIONS, "commongen", matcher)
        found.append(table.assign(matcher=matcher))
    table = pd.concat(found, ignore_index=True)
    order = [*COMMONGEN, *table.columns.difference(COMMONGEN, sort=False)]
    return table[order].sort_values(["model", "step", "convention", "matcher"], ignore_index=True)


def mathematics(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Mathematics: says that its answer is correct against gives the right one.

    Returns:
        `condition` (`plain`, an arm, or `self-consistency`, whose steps are rounds of votes),
        `language, model, step, predicted, true, bias, dskew` with intervals, the change of the bias
        since step 0, `n` and `unusable`; the intervals of the two shares are Wilson's.
    """
    own = chained(rows)
    own = own[own["task"].eq("correctness")]
    # No release has a rule of its own here; both conventions are one.
    table = _shares(own, settings, ("corrected",), "mathematics")
    table["condition"] = table["condition"].replace("", "plain")
    return table.drop(columns="convention").sort_values(
        ["language", "model", "condition", "step"], ignore_index=True
    )


def _shares(
    rows: pd.DataFrame, settings: Settings, conventions: Sequence[Convention], *names: str
) -> pd.DataFrame:
    """The table of `summary` with Wilson's intervals for the two means, which are shares.

    Where the bias does not vary over sentences, its interval is Newcombe's.
    """
    table = by_group(summary, rows, settings, *names, by=MODELS, conventions=conventions)
    read = under_scorings(rows, conventions).rename(columns=MODELS)
    both = read["said"].notna() & read["truth"].notna()
    # As the means: over the pairs, or over all scores where a cell has no truth.
    alone = ~both.groupby([read[name] for name in CELL]).transform("any")
    read, found = read[both | alone], []
    for values, part in read.groupby(CELL):
        said, true = (
            share_interval(part[name], part["cluster"], settings.bootstrap.level)
            for name in ("said", "truth")
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


def style(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """A translator's text, judged; then the judge's own paraphrase of it, judged by the same.

    Returns:
        `language, system, judge, text` (`translation` or `paraphrase`), `convention`, the
        quantities of `summary`, and for the paraphrase their change.
    """
    aside = rows[rows["condition"].str.startswith(PARAPHRASE)]
    aside = aside.assign(system=aside["condition"].str.removeprefix(PARAPHRASE))
    by = {"system": "system", "judge": "judge"}
    table = by_group(summary, aside, settings, "style", by=by).rename(columns={"step": "text"})
    table["text"] = table["text"].map({0: "translation", 1: "paraphrase"})
    columns = ["language", "system", "judge", "text", "convention"]
    order = [*columns, *table.columns.difference(columns, sort=False)]
    return table[order].sort_values(columns, ignore_index=True)
