"""Own texts against others' texts that are equally good.

Bias grows with how bad a text is, whoever wrote it.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from selfpref.statistics.scores import Floats
from selfpref.studies.xu.feedback import quoted
from selfpref.studies.xu.rows import CONVENTIONS, TEXT, Settings, read_as

# A judge read the text at hand if at least this share of the spans that it quotes stand there; of
# fewer spans nothing follows.
QUOTED, SPANS = 0.8, 10
# Bounds of the true score, in points of MQM, within which texts count as equally good: between the
# plateaus of the map from BLEURT.
EQUAL = (-np.inf, -22.5, -17.5, -12.5, -7.5, -3.0, np.inf)
READING = ["condition", "language", "responder", "step", "judge", "variant", "repeat"]
MATCHED = [
    *("judge", "control", "convention", "n_own", "n_others", "own_gap", "others_gap"),
    *("difference", "matched", "matched_lo", "matched_hi"),
]


def reads_its_text(rows: pd.DataFrame) -> pd.Series:
    """Whether the readings of texts by others, or by their writer afresh, quote these texts.

    Args:
        rows: As `rated` returns them.

    Returns:
        Of each row that is not `own`: whether its reading as a whole quotes the texts that it is
        filed under, or their sources (`QUOTED`); never where the texts are not at hand.
    """
    rows = rows[~rows["own"]]
    counts = [
        quoted(reply, text, source) if isinstance(reply, str) and isinstance(text, str) else (0, 0)
        for reply, text, source in zip(rows["reply"], rows["text"], rows["source"], strict=True)
    ]
    found, total = zip(*counts, strict=True) if counts else ((), ())
    spans = rows.assign(spans=list(total), found=list(found))
    whole = spans.groupby(READING)[["spans", "found"]].transform("sum")
    return whole["spans"].ge(SPANS) & whole["found"].ge(QUOTED * whole["spans"])


def _matched(totals: Floats) -> Floats:
    """Mean over bins of (own mean - others' mean), weighted by the own texts in each bin.

    Args:
        totals: Sum and count of own, sum and count of others, by bin: `[batch, bins, 4]`.
    """
    own, n_own, others, n_others = (totals[..., i] for i in range(4))
    both = (n_own > 0) & (n_others > 0)
    gap = np.divide(own, n_own, out=np.zeros_like(own), where=both) - np.divide(
        others, n_others, out=np.zeros_like(own), where=both
    )
    weight = np.where(both, n_own, 0.0)
    whole = weight.sum(axis=-1)
    mean: Floats = np.divide(
        (gap * weight).sum(axis=-1), whole, out=np.full_like(whole, np.nan), where=whole > 0
    )
    return mean


def _comparisons(
    rows: pd.DataFrame, settings: Settings
) -> Iterator[tuple[str, str, pd.DataFrame, pd.DataFrame]]:
    """Judge, control, and the gaps of its own texts and of others' texts that it read."""
    start = rows[rows["step"].eq(0) & rows["truth"].notna() & rows["said"].notna()]
    start = start[start["task"].eq("mqm") & start["variant"].eq("plain") & start["repeat"].eq(0)]
    own, others = start[start["own"] & start["condition"].eq("")], start[~start["own"]]
    for judge, theirs in others.groupby("judge"):
        mine = own[own["responder"].eq(judge) & own["language"].isin(theirs["language"])]
        if mine.empty:
            continue
        yield str(judge), "none", _gaps(mine, mine["truth"]), _gaps(theirs, theirs["truth"])
        for control, readings in start[start["judge"].ne(judge)].groupby("judge"):
            scores = readings.set_index(TEXT)["said"].rename("control")
            # What the control wrote is no other's text to it.
            neutral = theirs[theirs["responder"].ne(control)]
            pair = [part.join(scores, on=TEXT) for part in (mine, neutral)]
            pair = [part[part["control"].notna()] for part in pair]
            if all(len(part) for part in pair):
                yield str(judge), str(control), *(_gaps(part, part["control"]) for part in pair)


def _gaps(rows: pd.DataFrame, against: pd.Series) -> pd.DataFrame:
    return rows.assign(gap=rows["said"] - against)[["cluster", "truth", "gap"]]


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
        `judge, control, convention, n_own, n_others, own_gap, others_gap, difference` (not matched)
        and `matched` with its interval.
    """
    quoting = reads_its_text(rows)
    found = []
    for convention in CONVENTIONS:
        read = read_as(rows, convention)
        if convention == "corrected":
            read = pd.concat([read[read["own"]], read.loc[quoting.index[quoting]]])
        for judge, control, own, others in _comparisons(read, settings):
            interval = settings.intervals.estimate(
                np.concatenate([_binned(own, 0), _binned(others, 2)]),
                pd.concat([own["cluster"], others["cluster"]]),
                _matched,
                *("matched", judge, control),
            )
            found.append(
                {
                    "judge": judge,
                    "control": control,
                    "convention": convention,
                    "n_own": len(own),
                    "n_others": len(others),
                    "own_gap": own["gap"].mean(),
                    "others_gap": others["gap"].mean(),
                    "difference": own["gap"].mean() - others["gap"].mean(),
                }
                | interval.columns("matched")
            )
    return pd.DataFrame(found, columns=MATCHED)


def _binned(rows: pd.DataFrame, first: int) -> Floats:
    """Sum and count of each row's gap in its bin, `[rows, bins, 4]`, from position `first`."""
    cells = np.zeros((len(rows), len(EQUAL) - 1, 4))
    at = np.arange(len(rows)), np.digitize(rows["truth"], EQUAL[1:-1])
    cells[(*at, first)] = rows["gap"]
    cells[(*at, first + 1)] = 1.0
    return cells
