"""The DBG score of ratings (Z.-Y. Chen et al., arXiv 2506.02592), in the rows `gold_gap`.

    gold_gap = mean of the scores that judge j gives its own texts - mean gold score of these texts

in points of the judge's own scale, so that only a gold score on this scale will do: the mean score
of the other judges of the same text, the true rubric (testbed), the true or learnt MQM score,
the share of covered concepts. An answer key of 0 to 1 is no gold for rubric totals of 0 to 11; it
enters the regression, which has a slope for it. Judges who see only their own texts (Xu et al.)
have a gap and no regression; of their refinement step 0 enters, before any rule has chosen among
texts.
"""

from collections.abc import Iterator

import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.scores import text_lengths, value_of
from selfpref.studies.beyond.measure.effects import of_ratings
from selfpref.studies.beyond.measure.sets import Row, known, missing
from selfpref.studies.livebench.measure.panel import Panel
from selfpref.studies.livebench.measure.ratings import rated
from selfpref.studies.xu.rows import Settings as XuSettings
from selfpref.studies.xu.rows import chained, read_as, truth_of

OTHERS, RUBRIC = "other judges", "rubric"
UNITS = {"mqm": "MQM points", "coverage": "share", "correctness": "share"}


def gap(rows: pd.DataFrame, place: Row, bootstrap: ClusterBootstrap, *names: str) -> Row:
    """The DBG score of one judge.

    Args:
        rows: Its own texts: `cluster, score, gold`.
        place: The row's key and unit.
        bootstrap: The interval.
        names: Of its stream.
    """
    row = place | {"statistic": "gold_gap"}
    difference = rows["score"] - rows["gold"]
    used = difference.notna()
    if not used.any():
        return missing(row, len(rows), "no own text with a score and a gold score")
    found = bootstrap.mean(difference, rows["cluster"], *names)
    return known(row, found, int(used.sum()), int((~used).sum()))


def _others(rows: pd.DataFrame) -> pd.Series:
    """The mean score that the other judges give the text of each row."""
    by_text = rows.groupby(["item_id", "responder"])["score"]
    number = by_text.transform("size")
    return (by_text.transform("sum") - rows["score"]) / (number - 1).where(number.gt(1))


def of_contests(panel: Panel, level: float) -> Iterator[Row]:
    """Rubric totals of the LiveBench study, under every gold score that there is."""
    rows, truths = rated(panel), panel.tables["truths"]
    if rows.empty:
        return
    responses = panel.tables["responses"]
    lengths = text_lengths(responses, responses["text"].str.len())
    length = pd.Series(value_of(lengths, rows["item_id"], rows["responder"]), index=rows.index)
    golds = {OTHERS: _others(rows)}
    for metric in sorted(set(truths["metric"])):
        score = truths[truths["metric"].eq(metric)].set_index(["item_id", "responder"])["score"]
        gold = value_of(score, rows["item_id"], rows["responder"])
        golds[metric] = pd.Series(gold, index=rows.index)
    own = rows["judge"].eq(rows["responder"])
    for name, gold in golds.items():
        named = name if name in (OTHERS, RUBRIC) else f"key-{name}"
        place: Row = {"study": "livebench", "dataset": "livebench", "gold": named}
        place |= {"unit": "rubric points"}
        if name in (OTHERS, RUBRIC):
            for judge, part in rows.assign(gold=gold)[own].groupby("judge", sort=True):
                names = ("gold_gap", str(judge), name)
                yield gap(part, place | {"judge": judge}, panel.bootstrap, *names)
        if name != OTHERS:
            yield from of_ratings(rows, gold, length, place, level)


def of_refinement(rows: pd.DataFrame, truths: pd.DataFrame, settings: XuSettings) -> Iterator[Row]:
    """Own scores of the texts at step 0 of the study of Xu et al.

    Args:
        rows: As `selfpref.studies.xu.rows.rated` returns them.
        truths: The truths table.
        settings: Which truth.
    """
    plain = chained(read_as(rows, "corrected"))
    first = plain[plain["condition"].eq("") & plain["step"].eq(0)]
    for (task, judge), part in first.groupby(["task", "judge"], sort=True):
        golds = {settings.metric(str(task)): part["truth"]}
        human = truth_of(part, truths, "human-mqm")
        if task == "mqm" and human.notna().any():
            # People graded one language; the rows of the others are out of its scope.
            golds["human-mqm"] = human.dropna()
        for name, gold in golds.items():
            scored = part.loc[gold.index].assign(score=part["said"], gold=gold)
            place: Row = {"study": "xu", "dataset": task, "judge": judge, "gold": name}
            place |= {"unit": UNITS.get(str(task), "points")}
            names = ("beyond", "xu", str(task), str(judge), name)
            yield gap(scored, place, settings.bootstrap, *names)
