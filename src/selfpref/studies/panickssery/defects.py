"""What is wrong with the release's scores, demonstrated on its own rows; and what others printed.

Each function takes the pairs that `confidences` returns and asks one question; nothing here knows
which files are at fault. `checks` puts what is printed of the release beside what comes out here.
"""

from collections.abc import Mapping

import pandas as pd

from selfpref.studies.panickssery.evaluators import duplicated
from selfpref.studies.panickssery.pairs import TASKS, data_set, plain

# Two computations of one number from p and 1 - p differ by rounding of half precision.
SAME = 1e-3
# Two computations of one number from the same probabilities do not differ.
EXACT = 1e-6
# What a stored score is, if it is so in more than this share of the rows.
MOST = 0.9
# Answers of a broken model; a dropped row or an odd token is not one.
BROKEN = ("failed", "low-mass")
JUDGED = ["dataset", "evaluator", "task"]
READINGS = {
    (True, False, False): "confidence",
    (False, True, False): "the other question",
    (True, True, False): "cannot be told",
    (False, False, True): "position bias",
}
CHECKS = [
    *("item", "where", "quantity", "published", "recomputed", "difference"),
    *("source", "place", "how_read"),
]
SWAPPED = ["dataset", "evaluator", "n", "as_own", "as_inverse", "r_released", "r_corrected"]


def statuses(verdicts: pd.DataFrame, ratings: pd.DataFrame) -> pd.DataFrame:
    """How many answers have which status: `dataset, evaluator, task, variant, status, n`."""
    columns = ["item_id", "judge", "task", "variant", "status"]
    rows = pd.concat([verdicts[columns], ratings[columns]]).rename(columns={"judge": "evaluator"})
    rows["dataset"] = data_set(rows["item_id"]).astype("str")
    return rows.groupby([*JUDGED, "variant", "status"]).size().reset_index(name="n")


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
    lost = found["n"].where(found["status"].isin(BROKEN), 0)
    plainly = found.assign(lost=lost)[found["variant"].eq("plain")]
    share = plainly.groupby(JUDGED)[["lost", "n"]].sum().eval("lost / n")
    values = rated.groupby(JUDGED)["released"]
    same = values.nunique().eq(1) & values.count().gt(1)
    who, twins = evaluators["evaluator"], duplicated(distances)
    found = evaluators.assign(
        duplicate_of=[twins.get(name, "") for name in who],
        broken=who.map(share.groupby("evaluator").max()),
        constant=who.map(same.groupby("evaluator").any()).eq(True),
    )
    return found.assign(degenerate=found["broken"].gt(unusable) | found["constant"])


def _own(pairs: pd.DataFrame) -> pd.Series:
    """The confidence in the own text from the probabilities, of whichever article."""
    return 0.5 * (pairs["forward"] + pairs["backward"])


def stored_as(pairs: pd.DataFrame) -> pd.DataFrame:
    """What the stored scores are: confidence, position bias, or the other question's answer.

    Only judges whose stored score and probabilities of both questions are there.

    Returns:
        `dataset, evaluator, task`; the share of rows in which the stored score is the confidence in
        the own text (`as_own`), P of the text read first (`as_position`), or what the answers to
        the other question give (`as_other_question`): either their confidence or the probability of
        the own text's label not divided by the mass of both, which is what the release stores
        there; the mean `distance` of the stored score from the confidence, `n` rows, and what
        follows, `reading`. Where both questions are answered alike to the last digit, a swap cannot
        be told.
    """
    key = [*JUDGED, "other", "item_id", "repeat"]
    rows = plain(pairs).assign(own=_own(pairs)).astype({"task": "str"})
    rows = rows.dropna(subset=["released", "own"])
    swapped = rows["task"].map(dict(zip(TASKS, TASKS[::-1], strict=True)))
    other = rows.assign(task=swapped)[[*key, "own", "undivided"]]
    rows = rows.merge(other, on=key, suffixes=("", "_other"))
    gap = rows[["own", "own_other", "undivided_other", "position"]]
    gap = gap.sub(rows["released"], axis=0).abs()
    same = gap.lt(EXACT)
    told = {
        "as_own": same["own"],
        "as_other_question": same["own_other"] | same["undivided_other"],
        "as_position": same["position"],
        "distance": gap["own"],
    }
    grouped = rows.assign(**told).groupby(JUDGED)
    table = grouped[[*told]].mean().assign(n=grouped.size()).reset_index()
    most = table[[*told][:3]].gt(MOST).itertuples(index=False, name=None)
    return table.assign(reading=[READINGS.get(found, "none of these") for found in most])


def swapped_labels(pairs: pd.DataFrame) -> pd.DataFrame:
    """The sign of the scores under swapped labels.

    Where random labels happened to be swapped, the judge read the same prompt as under swapped
    ones: the two runs must agree row by row, with a correlation near 1.

    Returns:
        The columns of `SWAPPED`: `as_own` and `as_inverse`, shares of rows whose stored score is
        the confidence in the own text, and one minus it; `r_released` and `r_corrected`,
        correlation with the rows of the random run.
    """
    rows = pairs[pairs["task"].eq("preference")].assign(own=_own(pairs))
    rows["as_own"] = (rows["released"] - rows["own"]).abs().lt(SAME)
    rows["as_inverse"] = (rows["released"] + rows["own"] - 1).abs().lt(SAME)
    swapped = rows[rows["variant"].eq("labels-swapped") & rows["own"].notna()]
    if swapped.empty:
        return pd.DataFrame(columns=SWAPPED)
    key = [*JUDGED[:2], "other", "item_id", "repeat"]
    random = rows.loc[rows["variant"].eq("labels-random-swapped"), [*key, "released", "own"]]
    both = swapped.merge(random, "left", on=key, suffixes=("", "_random"))
    grouped = both.groupby(JUDGED[:2])
    table = grouped[["as_own", "as_inverse"]].mean().assign(n=grouped.size())
    for name, of in {"r_released": "released", "r_corrected": "own"}.items():
        random = f"{of}_random"
        table[name] = grouped[[of, random]].corr()[random].xs(of, level=-1)
    return table.reset_index()[SWAPPED]


def fills(pairs: pd.DataFrame) -> pd.DataFrame:
    """Numbers that are stored where the answer is none.

    Returns:
        `dataset, evaluator, task, filled` (rows), `at_half` (of these, how many are exactly ½),
        `n` (rows with a stored score), and the released mean with and without them.
    """
    rows = plain(pairs.dropna(subset="released"))
    stored, filled = rows["released"], rows["status"].isin(BROKEN)
    at_half = filled & stored.eq(0.5)
    rows = rows.assign(filled=filled, at_half=at_half, n=1, without=stored.mask(filled))
    grouped = rows.groupby(JUDGED)
    table = grouped[["filled", "at_half", "n"]].sum()
    table = table.join(grouped[["released", "without"]].mean())
    return table.query("filled > 0").reset_index()


def tuned_on(pairs: pd.DataFrame) -> pd.DataFrame:
    """Judges that were evaluated on articles that they were tuned on, or on those before.

    Returns:
        `dataset, evaluator, task, variant, tuned_on, n` (rows), and the mean stored score there
        (`released_tuned_on`) and on the held-out articles (`released_held_out`).
    """
    rows = pairs.dropna(subset="released")
    stored, kept = rows["released"], rows["held_out"]
    rows = rows.assign(released_tuned_on=stored.mask(kept), released_held_out=stored.where(kept))
    grouped = rows.groupby([*JUDGED, "variant"])
    table = grouped[["released_tuned_on", "released_held_out"]].mean()
    table = table.assign(n=grouped.size(), tuned_on=grouped["released_tuned_on"].count())
    return table.query("tuned_on > 0").reset_index()


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
    parts = []
    for (item, quantity), rows in published.groupby(["item", "quantity"]):
        places = rows["where"].str.findall(r"(\w+)=(\S+)").map(dict)
        where = pd.DataFrame([*places], rows.index)
        found = frames[item].astype(dict.fromkeys(where, "str") | {quantity: float})
        found = found.set_index([*where])[quantity].rename("recomputed")
        there = where.join(found, on=[*where], how="inner")
        parts.append(rows.join(there["recomputed"], how="inner"))
    table = pd.concat(parts).sort_index().rename(columns={"value": "published"})
    table["difference"] = table["recomputed"] - table["published"]
    return table[CHECKS].reset_index(drop=True)
