"""Texts that others read, or their writer a second time.

- Cross-judging: what another judge's score takes off the writer's own.
- Kinship: own texts against others' texts that are equally good, since bias grows with how bad a
  text is, whoever wrote it.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ratio
from selfpref.statistics.scores import Floats
from selfpref.statistics.threads import at_once
from selfpref.studies.xu.feedback import quoted
from selfpref.studies.xu.measure.rows import BEST, CONVENTIONS, TEXT, Settings, read_as
from selfpref.studies.xu.measure.skewness import distance_skewness

# A judge read the text at hand if at least this share of the spans that it quotes stand there; of
# fewer spans nothing follows.
QUOTED, SPANS = 0.8, 10
# Bounds of the true score, in points of MQM, within which texts count as equally good: between the
# plateaus of the map from BLEURT.
EQUAL = (-np.inf, -22.5, -17.5, -12.5, -7.5, -3.0, np.inf)
READING = ["condition", "language", "responder", "step", "judge", "variant", "repeat"]
_MEASURED = [
    *("unusable", "judge_mean", "truth_mean", "n", "bias", "bias_lo", "bias_hi", "dskew"),
    *("own_mean", "n_both", "difference", "difference_lo", "difference_hi"),
    *("spans", "quoted", "reads_its_text"),
]
MATCHED = [
    *("judge", "control", "convention", "n_own", "n_others", "own_gap", "others_gap"),
    *("difference", "matched", "matched_lo", "matched_hi"),
]
_READ = [
    *("status", "said", "truth", "cluster", "own_said"),
    *("spans", "spans_found", "reads_its_text"),
]


def second_readings(rows: pd.DataFrame) -> pd.DataFrame:
    """The readings of texts by others, or by their writer afresh, and whether they quote the texts.

    Args:
        rows: As `rated` returns them.

    Returns:
        The rows that are not `own`, each with `spans` that it quotes, `spans_found` in the text or
        its source (0 and 0 where the text is not at hand), and `reads_its_text`, the same for all
        rows of a reading.
    """
    rows = rows[~rows["own"]]
    counts = [
        quoted(reply, text, source) if isinstance(reply, str) and isinstance(text, str) else (0, 0)
        for reply, text, source in zip(rows["reply"], rows["text"], rows["source"], strict=True)
    ]
    found, total = zip(*counts, strict=True) if counts else ((), ())
    rows = rows.assign(spans=list(total), spans_found=list(found))
    whole = rows.groupby(READING)[["spans", "spans_found"]].transform("sum")
    known = whole["spans"].ge(SPANS) & whole["spans_found"].ge(QUOTED * whole["spans"])
    return rows.assign(reads_its_text=known)


def cross_judge(rows: pd.DataFrame, second: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Texts read a second time: by another judge, or by their writer afresh.

    Under `released` a judge's scores stand beside the true scores of the texts that the source
    names. Under `corrected` they do only where the feedback quotes these texts (`QUOTED`).

    Args:
        rows: As `rated` returns them.
        second: As `second_readings` returns them.
        settings: Gamma and intervals.

    Returns:
        One row a text's `condition, language, model, step`, its `judge, variant, repeat` and
        `convention`: `judge_mean, truth_mean`, `bias` with its interval, `dskew`, `n, unusable`;
        the writer's own mean on the same texts and `difference` (own minus this judge's: what the
        judge takes off) with its interval and `n_both`; `spans`, the share `quoted` of them, and
        whether that is enough (`reads_its_text`).
    """
    second = second[~second["condition"].str.startswith(BEST)]
    # The different readings, and which of them stands in each row.
    parts: list[tuple[tuple[str, ...], pd.DataFrame]] = []
    last: dict[tuple[str, ...], int] = {}
    held: list[tuple[str, int]] = []
    for convention in CONVENTIONS:
        first = read_as(rows[rows["own"] & rows["sample"].eq(0)], convention)
        own = first.set_index(TEXT)["said"].rename("own_said")
        read = read_as(second, convention).join(own, on=TEXT)
        if convention == "corrected":
            # What is said of another text is held against neither truth nor writer.
            other = ~read["reads_its_text"]
            read = read.assign(
                truth=read["truth"].mask(other), own_said=read["own_said"].mask(other)
            )
        for values, part in read[[*READING, *_READ]].groupby(READING):
            # Most readings are the same under both scorings.
            if values not in last or not part.equals(parts[last[values]][1]):
                last[values] = len(parts)
                parts.append((values, part))
            held.append((convention, last[values]))
    made = at_once(_reading, ((part, settings, *map(str, values)) for values, part in parts))
    found = [
        dict(zip(READING, parts[number][0], strict=True))
        | {"convention": convention}
        | made[number]
        for convention, number in held
    ]
    table = pd.DataFrame(found, columns=[*READING, "convention", *_MEASURED])
    return table.rename(columns={"responder": "model"})


def _reading(rows: pd.DataFrame, settings: Settings, *names: str) -> dict[str, object]:
    """One judge's reading of one step's texts."""
    held: dict[str, object] = {"unusable": int(rows["status"].ne("ok").sum())}
    read = rows[rows["said"].notna() & rows["truth"].notna()]
    gaps = (read["said"] - read["truth"]).to_numpy(dtype=float)
    # Where no truth is known, the mean of the scores alone.
    held |= {"judge_mean": (read if len(read) else rows)["said"].mean()}
    held |= {"truth_mean": read["truth"].mean(), "n": len(read)}
    mean = settings.intervals.mean
    held |= mean(gaps, read["cluster"], "second reading", *names).columns("bias")
    held |= {"dskew": float(distance_skewness(gaps, settings.gamma)) if len(gaps) else np.nan}
    both = rows[rows["own_said"].notna() & rows["said"].notna()]
    taken_off = (both["own_said"] - both["said"]).to_numpy(dtype=float)
    held |= {"own_mean": both["own_said"].mean(), "n_both": len(both)}
    held |= mean(taken_off, both["cluster"], "difference", *names).columns("difference")
    quotes = rows[["spans_found", "spans"]].sum().to_numpy(dtype=float)
    held |= {"spans": int(quotes[1]), "quoted": float(ratio(quotes))}
    return held | {"reads_its_text": bool(rows["reads_its_text"].all())}


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


def matched(rows: pd.DataFrame, second: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Does a judge over-rate its own texts more than others' texts that are equally good?

    Own texts are those before refinement; others' texts are all that it read of other writers.
    With the control `none` the gap is the score minus the true one, so that the difference mixes
    kinship with whatever else sets the texts apart. With another judge as control the gap is the
    score minus the control's score of the same text, own against others': a difference in
    differences. Both are taken within bins of the true score (`EQUAL`).

    Args:
        rows: As `rated` returns them.
        second: As `second_readings` returns them.
        settings: The intervals.

    Returns:
        `judge, control, convention, n_own, n_others, own_gap, others_gap, difference` (not matched)
        and `matched` with its interval.
    """
    found = []
    for convention in CONVENTIONS:
        read = read_as(rows, convention)
        if convention == "corrected":
            theirs = second.index[second["reads_its_text"]]
            read = pd.concat([read[read["own"]], read.loc[theirs]])
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
