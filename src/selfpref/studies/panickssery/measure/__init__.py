"""The study of Panickssery, Bowman & Feng (arXiv 2404.13076): from the tables to the numbers.

Judges are asked which of two summaries they wrote, and which they prefer; one of the two is their
own. The paper's claim is that the second follows the first.

`pairs` makes confidences of verdicts; `means` gives them by judge and condition; `correlation`
relates the two questions; `alternatives` tests what else a preference could be; `individual` is of
single summaries; `defects` shows what is wrong with the scores that were released.
"""

from collections.abc import Mapping

import pandas as pd

from selfpref.params import Panickssery
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.panickssery.evaluators import duplicated, grade_distances
from selfpref.studies.panickssery.measure import defects
from selfpref.studies.panickssery.measure.alternatives import (
    both_wordings,
    inverted,
    oracle,
    wordings,
)
from selfpref.studies.panickssery.measure.correlation import (
    correlation,
    inverted_correlation,
    off_line,
)
from selfpref.studies.panickssery.measure.individual import individual, scores
from selfpref.studies.panickssery.measure.means import deltas, labels, ordering, pairwise
from selfpref.studies.panickssery.measure.pairs import answers, confidences

__all__ = ["TABLES", "compute", "statuses", "with_defects"]
TABLES = ("items", "truths", "verdicts", "ratings", "audit")
Frames = dict[str, pd.DataFrame]
CHECKS = [
    *("item", "where", "quantity", "published", "recomputed", "difference"),
    *("source", "place", "how_read"),
]
# Answers of a broken model; a dropped row or an odd token is not one.
BROKEN = ("failed", "low-mass")


def statuses(verdicts: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """How many answers have which status: `dataset, evaluator, task, variant, status, n`."""
    columns = ["item_id", "judge", "task", "variant", "status"]
    rows = pd.concat([verdicts[columns], ratings[columns]], ignore_index=True)
    rows = rows.assign(dataset=rows.pop("item_id").str.replace(r"/.*", "", regex=True))
    by = ["dataset", "judge", "task", "variant", "status"]
    return rows.groupby(by).size().rename("n").reset_index().rename(columns={"judge": "evaluator"})


def with_defects(
    evaluators: pd.DataFrame,
    found: pd.DataFrame,
    rated: pd.DataFrame,
    distances: pd.DataFrame,
    unusable: float,
) -> pd.DataFrame:
    """The judges with what is to be known before a number of theirs is believed.

    Args:
        evaluators: As `selfpref.studies.panickssery.evaluators` describes them.
        found: As `statuses` returns it.
        rated: As `scores` returns it.
        distances: As `grade_distances` returns them.
        unusable: The share of broken answers above which a judge is degenerate, 0..1.

    Returns:
        The judges with `duplicate_of` (another name of the same model), `broken` (the largest
        share of answers of one task and data set that are not a number or without mass), `constant`
        (whether it gives every text the same score) and `degenerate` (broken or constant).
    """
    plain = found[found["variant"].eq("plain")]
    lost = plain["n"].where(plain["status"].isin(BROKEN), 0)
    by = ["evaluator", "dataset", "task"]
    share = plain.assign(lost=lost).groupby(by)[["lost", "n"]].sum()
    broken = (share["lost"] / share["n"]).groupby("evaluator").max()
    known = rated[rated["released"].notna()]
    values = known.groupby(["evaluator", "dataset", "task"], observed=True)["released"]
    constant = (values.nunique().eq(1) & values.size().gt(1)).groupby("evaluator").any()
    twins = duplicated(distances)
    table = evaluators.assign(
        duplicate_of=[twins.get(name, "") for name in evaluators["evaluator"]],
        broken=evaluators["evaluator"].map(broken),
        constant=evaluators["evaluator"].map(constant).eq(True),
    )
    return table.assign(degenerate=table["broken"].gt(unusable) | table["constant"])


def checks(frames: Mapping[str, pd.DataFrame], published: pd.DataFrame) -> pd.DataFrame:
    """What is printed or was computed of the same release, beside what is recomputed here.

    Args:
        frames: The frames of the study, by name.
        published: data/published/panickssery.csv. A row names a frame (`item`), what of it
            (`where`: `column=value`, separated by blanks), the column that holds the value
            (`quantity`), where it comes from (`source`, `place`) and how it was read there
            (`how_read`): copied from a printed table, or a self-check of the reader, which is a
            number that other code made of the same files.

    Returns:
        The columns of `CHECKS`; a number without a counterpart, of another profile or without its
        data set, is left out.
    """
    parts = [pd.DataFrame(columns=CHECKS)]
    conditions = [dict(part.split("=", 1) for part in text.split()) for text in published["where"]]
    rows = published.assign(
        names=[tuple(chosen) for chosen in conditions],
        key=[tuple(chosen.values()) for chosen in conditions],
    )
    for (item, names), part in rows.groupby(["item", "names"], sort=False):
        frame = frames[str(item)].astype(dict.fromkeys(names, "str")).set_index(list(names))
        frame = frame[~frame.index.duplicated(keep=False)]
        here = part[part["key"].isin(frame.index)]
        recomputed = [
            float(frame.at[key, column])
            for key, column in zip(here["key"], here["quantity"], strict=True)
        ]
        parts.append(here.rename(columns={"value": "published"}).assign(recomputed=recomputed))
    table = pd.concat(parts).sort_index().astype({"published": float, "recomputed": float})
    table["difference"] = table["recomputed"] - table["published"]
    return table[CHECKS].reset_index(drop=True)


def compute(
    tables: Mapping[str, pd.DataFrame],
    evaluators: pd.DataFrame,
    published: pd.DataFrame,
    section: Panickssery,
    bootstrap: ClusterBootstrap,
) -> Frames:
    """Every frame of the study.

    Args:
        tables: Those of `TABLES`; a table may be empty.
        evaluators: Who evaluates, as `selfpref.studies.panickssery.evaluators` describes them.
        published: What is printed, data/published/panickssery.csv.
        section: Which answers enter.
        bootstrap: For the intervals.

    Returns:
        `pairwise`, `ordering`, `deltas`, `correlation`, `lines`, `off_line`, `inverted`, `wordings`
        (the same with intervals, both conventions), `inverted_correlation`, `individual`, `labels`,
        `oracle`, `evaluators`, `statuses`, `grade_distances`, those of `defects` (`stored_as`,
        `swapped_labels`, `fills`, `tuned_on`, `always_first`), `audit`, `checks`, and `pairs`, one
        row a judged pair, and `answers`, one row an answer.
    """
    items, ratings = tables["items"], tables["ratings"]
    pairs = confidences(tables["verdicts"], items, evaluators, section.min_mass)
    rated = scores(ratings, items, evaluators)
    found = statuses(tables["verdicts"], ratings)
    distances = grade_distances(rated[rated["task"].eq("quality")])
    who = with_defects(evaluators, found, rated, distances, section.unusable)
    both = both_wordings(pairs)
    worded = wordings(both, bootstrap)
    means = pairwise(pairs, bootstrap)
    line, lines = correlation(pairs, who, bootstrap)
    frames = {
        "pairwise": means,
        "ordering": ordering(pairs),
        "deltas": deltas(pairs, who, bootstrap),
        "correlation": line,
        "lines": lines,
        "off_line": off_line(means, line, who),
        "inverted": inverted(worded),
        "wordings": worded,
        "inverted_correlation": inverted_correlation(both, who, bootstrap),
        "individual": individual(rated, who, bootstrap),
        "labels": labels(pairs, bootstrap),
        "oracle": oracle(pairs, tables["truths"], bootstrap),
        "evaluators": who,
        "statuses": found,
        "grade_distances": distances,
        "stored_as": defects.stored_as(pairs),
        "swapped_labels": defects.swapped_labels(pairs),
        "fills": defects.fills(pairs),
        "tuned_on": defects.tuned_on(pairs),
        "always_first": defects.always_first(pairs, who),
        "audit": tables["audit"].drop(columns="study"),
        "pairs": pairs,
        "answers": answers(tables["verdicts"], evaluators, pairs),
    }
    return frames | {"checks": checks(frames, published)}
