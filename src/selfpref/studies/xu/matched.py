"""Own texts against others' texts that are equally good.

Bias grows with how bad a text is, whoever wrote it.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import Floats, bounded, ratio
from selfpref.studies.xu.bias import CONVENTIONS, TEXT, Settings, read_as
from selfpref.studies.xu.feedback import quoted

# A judge read the text at hand if at least this share of the spans that it quotes stand there; of
# fewer spans nothing follows.
QUOTED, SPANS = 0.8, 10
# Bounds of the true score, in points of MQM, within which texts count as equally good: between the
# plateaus of the map from BLEURT.
EQUAL = (-np.inf, -22.5, -17.5, -12.5, -7.5, -3.0, np.inf)
READING = ["condition", "language", "responder", "step", "judge", "variant", "repeat"]
PAIR = ["judge", "control"]
MATCHED = [
    *(*PAIR, "convention", "n_own", "n_others", "own_gap", "others_gap", "difference"),
    *bounded("matched"),
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
        totals: By bin, of own texts and of others', sum and count: `[batch, bins, 2, 2]`.
    """
    own, others = totals[..., 0, :], totals[..., 1, :]
    gap = ratio(own) - ratio(others)
    weight = np.where(np.isnan(gap), 0.0, own[..., 1])
    return ratio(np.stack([np.nansum(gap * weight, axis=-1), weight.sum(axis=-1)], axis=-1))


def _comparisons(rows: pd.DataFrame) -> pd.DataFrame:
    """The texts that a judge read, its own and others', against the truth and against each control.

    Returns:
        `judge, control` (empty: the truth), `own, cluster, truth, gap`.
    """
    start = rows[rows["step"].eq(0) & rows["truth"].notna() & rows["score"].notna()]
    start = start[start["task"].eq("mqm") & start["variant"].eq("plain") & start["repeat"].eq(0)]
    # Own texts in the languages in which the judge read others' too.
    both = start.loc[~start["own"], ["judge", "language"]].drop_duplicates()
    read = start[~start["own"] | start["condition"].eq("")].merge(both)
    controls = start[[*TEXT, "judge", "score"]]
    controls = controls.rename(columns={"judge": "control", "score": "against"})
    pairs = read.merge(controls, on=TEXT)
    # What the control wrote is no other's text to it.
    pairs = pairs[pairs["control"].ne(pairs["judge"]) & pairs["control"].ne(pairs["responder"])]
    found = pd.concat([read.assign(control="", against=read["truth"]), pairs], ignore_index=True)
    return found.assign(gap=found["score"] - found["against"])


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
    quoting = reads_its_text(rows).reindex(rows.index, fill_value=True)
    found = []
    for convention in CONVENTIONS:
        read = read_as(rows, convention)
        compared = _comparisons(read[quoting] if convention == "corrected" else read)
        for (judge, control), part in compared.groupby(PAIR):
            own = part["own"]
            if own.all() or not own.any():
                continue
            mine, theirs = part.loc[own, "gap"].mean(), part.loc[~own, "gap"].mean()
            pair = (str(judge), str(control) or "none")
            matched = settings.intervals.estimate(
                _binned(part), part["cluster"], _matched, "matched", *pair
            )
            found.append(
                dict(zip(PAIR, pair, strict=True))
                | {"convention": convention, "n_own": own.sum(), "n_others": (~own).sum()}
                | {"own_gap": mine, "others_gap": theirs, "difference": mine - theirs}
                | matched.columns("matched")
            )
    return pd.DataFrame(found, columns=MATCHED)


def _binned(rows: pd.DataFrame) -> Floats:
    """Sum and count of each row's gap in its bin, own or others', `[rows, bins, 2, 2]`."""
    cells = np.zeros((len(rows), len(EQUAL) - 1, 2, 2))
    bins = np.digitize(rows["truth"], EQUAL[1:-1])
    side = (~rows["own"]).to_numpy(dtype=int)
    cells[np.arange(len(rows)), bins, side] = np.stack([rows["gap"], np.ones(len(rows))], axis=-1)
    return cells
