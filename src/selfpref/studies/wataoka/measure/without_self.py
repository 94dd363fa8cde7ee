"""How much of the paper's value for GPT-4 a judge with no self in it would show.

A battle of Chatbot Arena has one vote, so how people differ about one pair cannot be told from it.
The share m of decided votes that prefer GPT-4's response can; how alike two people's votes on one
pair with GPT-4's response are, beyond chance, is known from sets with several votes a pair,

    rho = 1 - D / (2 m' (1 - m')),      D = P(two votes differ),   m' = P(a vote is for GPT-4),

the intraclass correlation of the votes. With the same rho at Arena's m, another person in the
judge's place (`selfpref.statistics.no_preference`) shows

    EO_0 = (2 m - 1) (1 - rho).

It is set against the EO of the counts that the paper prints. That rho is the same on both sets is
an assumption, so every set that has one gives a row of its own.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.bias import CELLS
from selfpref.statistics.no_preference import vote_cells
from selfpref.statistics.scores import Floats
from selfpref.studies.wataoka.measure.judged import Judged

# Whose votes are many but single, and the paper's judge.
ARENA, MODEL = "arena", "gpt-4"
VALUES = ("win_rate", "agreement_beyond_chance", "eo_without_self", "share_of_printed")


def without_self(judged: Sequence[Judged], paper: pd.DataFrame) -> pd.DataFrame:
    """EO of another person in GPT-4's place on Chatbot Arena, beside the paper's.

    Args:
        judged: The data sets, `arena` among them.
        paper: As `paper_bias` returns it.

    Returns:
        A row for each set with two votes a pair: `votes_of` (the set), `win_rate` (m),
        `agreement_beyond_chance` (rho), `eo_without_self` (EO_0), `share_of_printed` (EO_0 over the
        paper's EO, whose counts are taken as they are), each with bounds; `n` (decided votes of
        Arena) and `n_two_votes` (pairs). No rows without Arena or the paper's counts.
    """
    sets = {data.name: data for data in judged}
    printed = paper.loc[paper["judge"].eq(MODEL), "eo"]
    if ARENA not in sets or printed.empty:
        return pd.DataFrame()
    votes, clusters = _votes(sets.pop(ARENA))
    rows = []
    for name, data in sets.items():
        pairs, of_pairs = _pairs(data)
        if not len(pairs):
            continue
        values = np.zeros((len(votes) + len(pairs), 2 + len(CELLS)))
        values[: len(votes), :2], values[len(votes) :, 2:] = votes, pairs
        found = data.bootstrap.estimates(
            values,
            np.array([*clusters, *of_pairs]),
            lambda totals: _without_self(totals, float(printed.iloc[0])),
            "without self",
        )
        row: dict[str, object] = {"votes_of": name}
        for column, interval in zip(VALUES, found, strict=True):
            row |= interval.columns(column)
        rows.append(row | {"n": len(votes), "n_two_votes": len(pairs)})
    return pd.DataFrame(rows)


def _clusters(data: Judged, items: pd.Series) -> list[str]:
    known = data.tables["items"].set_index("item_id")["cluster"]
    return [f"{data.name}: {cluster}" for cluster in items.map(known)]


def _votes(data: Judged) -> tuple[Floats, list[str]]:
    """Of each decided vote on a pair with the model's response, won and lost; its cluster."""
    decided = data.votes(MODEL).query("vote != 0.5")
    won = decided["vote"].to_numpy(dtype=float)
    return np.stack([won, 1 - won], axis=-1), _clusters(data, decided["item_id"])


def _pairs(data: Judged) -> tuple[Floats, list[str]]:
    """The cells of two votes on each pair with the model's response; its cluster."""
    cells = vote_cells(data.votes(MODEL), ["item_id", "opponent"], "drop")
    return cells[CELLS].to_numpy(dtype=float), _clusters(data, cells["item_id"])


def _without_self(totals: Floats, printed: float) -> Floats:
    """`VALUES` from sums of won, lost and the cells: `[..., 6]` to `[..., 4]`."""
    won, lost, tp, fn, fp, tn = np.moveaxis(totals, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        rate, pairs = won / (won + lost), tp + fn + fp + tn
        there = (tp + fn) / pairs
        alike = 1 - (fn + fp) / pairs / (2 * there * (1 - there))
        bias = (2 * rate - 1) * (1 - alike)
    return np.stack([rate, alike, bias, bias / printed], axis=-1)
