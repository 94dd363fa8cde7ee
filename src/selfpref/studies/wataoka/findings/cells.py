"""Where the numbers of the study's sentences stand; several sentences and claims share them."""

from collections.abc import Callable

import numpy as np
import pandas as pd

from selfpref.statements import AbsentError, Cell, Frames, estimate, value
from selfpref.statistics.bias import FEW

MT_BENCH = {"dataset": "mt-bench", "judge": "gpt-4"}
VICUNA80 = {"dataset": "vicuna80", "judge": "gpt-4"}
PAPER = {"dataset": "chatbot-arena", "judge": "gpt-4"}
ARENA = {"dataset": "arena", "judge": "gpt-4"}
ARENA_GPT4 = {"dataset": "arena", "responder": "gpt-4"}


def counted(table: str, what: Callable[[pd.DataFrame], float]) -> Cell:
    """What is counted over a table's rows of Vicuna-80."""
    return named(table, lambda rows: float(what(rows)))


def named(table: str, what: Callable[[pd.DataFrame], float | str]) -> Cell:
    """A number or name found in a table's rows of Vicuna-80."""

    def found(frames: Frames) -> float | str:
        rows = frames[table]
        if rows.empty or (rows := rows[rows["dataset"].eq("vicuna80")]).empty:
            raise AbsentError(table)
        return what(rows)

    return found


def limit(_: Frames) -> int:
    """What is too few."""
    return FEW


def apart(rows: pd.DataFrame, name: str) -> int:
    """Rows of other judges than GPT-4 whose interval lies on one side of 0."""
    others = rows[rows["judge"].ne("gpt-4")]
    return int((others[f"{name}_lo"].gt(0) | others[f"{name}_hi"].lt(0)).sum())


def enough(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with enough pairs on every human side."""
    return rows[~rows["few"].astype(bool)]


def differing(rows: pd.DataFrame) -> list[str]:
    """Judges whose excess has another sign in another variant with enough pairs."""
    signs = enough(rows)["excess"].gt(0).groupby(rows["judge"]).nunique()
    return sorted(signs.index[signs.gt(1)])


def common_few(rows: pd.DataFrame) -> int:
    """Judges with too few pairs among those that all judges decide."""
    return int((rows["variant"].eq("common") & rows["few"].astype(bool)).sum())


def towards(responder: str) -> Cell:
    """GPT-4's bias towards a model's responses on Chatbot Arena."""
    where = {"dataset": "arena", "judge": "gpt-4", "responder": responder}
    return estimate("bias_by_judge_and_responder", "eo", **where)


def share_of(by: str) -> Callable[[pd.DataFrame], float]:
    """The share of the variance of the cells' EO that lies between responders, or judges."""

    def share(rows: pd.DataFrame) -> float:
        of_each = rows.groupby(by)["eo"].transform("mean")
        return float(of_each.var(ddof=0) / rows["eo"].var(ddof=0))

    return share


def left(rows: pd.DataFrame) -> tuple[float, float]:
    """The share of the variance that neither judges nor responders hold, and own cells' of it."""
    wide = rows.pivot(index="judge", columns="responder", values="eo")
    left = wide.sub(wide.mean(axis=1), axis=0).sub(wide.mean(), axis=1) + wide.stack().mean()
    square = left.stack() ** 2
    own = square[square.index.get_level_values(0) == square.index.get_level_values(1)]
    total = ((wide - wide.stack().mean()) ** 2).stack().sum()
    return float(square.sum() / total), float(own.sum() / square.sum())


def flips(rows: pd.DataFrame) -> pd.Series:
    """By judge the share of pairs whose outcome differs between the orders."""
    every = rows[rows["pairs"].eq("all")]
    return every.set_index("judge")["flip_rate"]


def same_signs(frames: Frames) -> int:
    """Models whose sign in the paper is that of GPT-4's bias towards their responses."""
    rows = frames["bias_by_judge_and_responder"]
    if rows.empty or (rows := rows[rows["dataset"].eq("arena")]).empty:
        raise AbsentError("arena")
    found = rows.set_index("responder")["eo"]
    signs = frames["paper_signs"].set_index("judge")["sign"]
    return int((np.sign(found.reindex(signs.index)) == signs).sum())


def paper_sides(frames: Frames) -> tuple[float, float]:
    """Pairs that people decided for and against GPT-4's response in the paper's counts."""
    row = frames["paper_bias"].iloc[0]
    return float(row["tp"] + row["fn"]), float(row["fp"] + row["tn"])


def arena_wins(frames: Frames, column: str) -> float:
    """A number of GPT-4's battles that people decided on Chatbot Arena."""
    found = value("wins_by_human", column, **ARENA_GPT4)(frames)
    assert isinstance(found, float)
    return found


EXCESS: dict[str, Cell] = {
    "excess": estimate("fig1b_bias", "excess", **VICUNA80),
    "eo": estimate("fig1b_bias", "eo", **VICUNA80),
    "others": estimate("fig1b_bias", "eo_others", **VICUNA80),
    "half": estimate("excess", "excess", **VICUNA80, variant="half-ties"),
}
PERSON: dict[str, Cell] = {
    "vicuna": estimate("fig1b_bias", "eo_no_preference", **VICUNA80),
    "vicuna_judge": estimate("fig1b_bias", "eo_one_vote", **VICUNA80),
    "vicuna_beyond": estimate("fig1b_bias", "beyond_no_preference", **VICUNA80),
    "mt": estimate("fig1b_bias", "eo_no_preference", **MT_BENCH),
    "mt_judge": estimate("fig1b_bias", "eo_one_vote", **MT_BENCH),
    "mt_beyond": estimate("fig1b_bias", "beyond_no_preference", **MT_BENCH),
}

EXPECTED: dict[str, Cell] = {
    "experts": estimate("without_self", "eo_without_self", votes_of="mt-bench"),
    "experts_share": estimate("without_self", "share_of_printed", votes_of="mt-bench"),
    "voters": estimate("without_self", "eo_without_self", votes_of="vicuna80"),
    "voters_share": estimate("without_self", "share_of_printed", votes_of="vicuna80"),
    "experts_rho": estimate("without_self", "agreement_beyond_chance", votes_of="mt-bench"),
    "voters_rho": estimate("without_self", "agreement_beyond_chance", votes_of="vicuna80"),
    "printed": value("paper_bias", "eo_printed", **PAPER),
}
