"""Sentences that say no more than the data: numbers come from frames, and words are held to them.

A statement is a template with names in braces. Each name is an address (a table, a column, and the
values that choose one row) or a function of the frames. Each word that gives a direction (rises,
higher, stays, none) has a condition on these numbers; a statement whose condition fails is not
made, and what fails is told in its place. A claim is a statement with a verdict on what a paper
says, a row of data/claims.csv.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, get_args

import pandas as pd
from IPython.display import Markdown, display

from selfpref.plots.show import shown

Frames = Mapping[str, pd.DataFrame]
Verdict = Literal["holds", "holds with a control", "not identifiable", "does not hold"]
VERDICTS: tuple[str, ...] = get_args(Verdict)
# The bounds of the column `x` are `x_lo` and `x_hi`, or `lo` and `hi` in a table of one estimate.
LO, HI = "lo", "hi"


class AbsentError(Exception):
    """The data do not hold the row, or its value is missing: there is nothing to say."""


def present(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows.

    Raises:
        AbsentError: There are none.
    """
    if rows.empty:
        raise AbsentError("no rows")
    return rows


class Number(float):
    """A number as prose prints it, with a minus sign."""

    def __format__(self, spec: str) -> str:
        return super().__format__(spec).replace("-", "\N{MINUS SIGN}")


class Estimate(NamedTuple):
    """A value with its interval; prints as `0.90 [0.78, 0.98]`."""

    value: Number
    lo: Number
    hi: Number

    def __format__(self, spec: str) -> str:
        return f"{self.value:{spec}} [{self.lo:{spec}}, {self.hi:{spec}}]"

    def excludes(self, null: float) -> bool:
        """Whether the interval lies on one side of a value."""
        return self.lo > null or self.hi < null


@dataclass(frozen=True)
class Address:
    """Where one number stands.

    Attributes:
        table: The frame, and the CSV among the study's figures.
        column: Its column.
        where: Values that choose one row.
        interval: Whether bounds belong to it.
    """

    table: str
    column: str
    where: Mapping[str, object]
    interval: bool

    def __call__(self, frames: Frames) -> Number | Estimate | str:
        """The number.

        Raises:
            AbsentError: No row is chosen, or its value is missing.
            LookupError: There is no such table, a table with rows lacks the column, or several
                rows are chosen.
        """
        frame = frames[self.table]
        if frame.empty:
            # Where nothing could be computed there need not be columns either.
            raise AbsentError(str(self))
        bounds = [f"{self.column}_{end}" for end in (LO, HI)]
        if not {*bounds} <= {*frame.columns}:
            bounds = [LO, HI]
        columns = [self.column, *(bounds if self.interval else ())]
        if missing := {*columns, *self.where} - {*frame.columns}:
            raise LookupError(f"{self.table} has no column {', '.join(sorted(missing))}")
        for name, wanted in self.where.items():
            frame = frame[frame[name].eq(wanted)]
        if len(frame) > 1:
            raise LookupError(f"{self}: {len(frame)} rows")
        if frame.empty or frame[columns].isna().any(axis=None):
            raise AbsentError(str(self))
        found = [frame[name].iloc[0] for name in columns]
        if isinstance(found[0], str):
            return found[0]
        numbers = [Number(value) for value in found]
        return Estimate(*numbers) if self.interval else numbers[0]

    def __str__(self) -> str:
        chosen = ", ".join(f"{name} = {value}" for name, value in self.where.items())
        return f"{self.table}.csv: {self.column}" + (f" where {chosen}" if chosen else "")


def value(table: str, column: str, **where: object) -> Address:
    """The address of a number (or a text) without bounds."""
    return Address(table, column, where, interval=False)


def estimate(table: str, column: str, **where: object) -> Address:
    """The address of a number with bounds: `<column>_lo` and `<column>_hi`, else `lo` and `hi`."""
    return Address(table, column, where, interval=True)


Cell = Address | Callable[[Frames], Any]
# Of the numbers by name, as attributes, whether a word is true.
Condition = Callable[[Any], bool]


@dataclass(frozen=True)
class Statement:
    """A sentence, where its numbers come from, and what each of its words needs.

    Attributes:
        text: The template, such as `"EO is {eo:.2f}"`.
        cells: By name an address, or a function of the frames for what is counted on the spot
            (which raises `AbsentError` where there is nothing to count).
        holds: By word a condition on the numbers.
    """

    text: str
    cells: Mapping[str, Cell]
    holds: Mapping[str, Condition]

    def numbers(self, frames: Frames) -> dict[str, Any]:
        """The numbers by name.

        Raises:
            AbsentError: One of them is not in the data.
            LookupError: A table or column does not exist, or an address chooses several rows.
        """
        return {
            name: Number(found) if isinstance(found := cell(frames), float | int) else found
            for name, cell in self.cells.items()
        }

    def broken(self, numbers: Mapping[str, Any]) -> list[str]:
        """The words that are not true of these numbers."""
        given = SimpleNamespace(**numbers)
        return [word for word, true in self.holds.items() if not true(given)]

    def said(self, frames: Frames) -> str:
        """The sentence; empty where its numbers are not in the data.

        Where a word is not true of the data, the sentence says so instead.

        Raises:
            LookupError: As `numbers`; a name of the template that no cell gives.
        """
        try:
            numbers = self.numbers(frames)
        except AbsentError:
            return ""
        text = self.text.format_map(numbers)
        if not (broken := self.broken(numbers)):
            return text
        words = ", ".join(f"“{word}”" for word in broken)
        return f"(With these data and settings {words} is not true of: {text})"


@dataclass(frozen=True, kw_only=True)
class Claim(Statement):
    """What a paper claims, and what came out; `text` says what, its first cell is the number.

    Where there are no data the first cell is no address, and the row has no number.

    Attributes:
        claim: What the paper says, in our words.
        place: Where in the paper.
        test: How it is tested here.
        verdict: One of four.
        figure: The figure of the study that shows it, without ending; empty if there is none.
    """

    claim: str
    place: str
    test: str
    verdict: Verdict
    figure: str

    def row(self, frames: Frames) -> dict[str, object]:
        """The row of data/claims.csv, without its study.

        The verdict is missing where a word of the finding is not true of the data, or where its
        numbers are not there.
        """
        first = next(iter(self.cells.values()))
        addressed = isinstance(first, Address)
        try:
            numbers = self.numbers(frames)
        except AbsentError:
            numbers = {}
        shown = next(iter(numbers.values()), None) if addressed else None
        bounds = shown[1:] if isinstance(shown, Estimate) else (None, None)
        stands = bool(numbers) and not self.broken(numbers)
        return {
            "claim": self.claim,
            "place": self.place,
            "test": self.test,
            "finding": self.said(frames),
            "verdict": self.verdict if stands else None,
            "value": shown.value if isinstance(shown, Estimate) else shown,
            "lo": bounds[0],
            "hi": bounds[1],
            "cell": str(first) if addressed else "",
            "figure": self.figure,
        }


class Teller:
    """Says the findings of a study in its chapter: `say = Teller(FINDINGS, data)`.

    Args:
        findings: By key.
        frames: What they speak of.
    """

    def __init__(self, findings: Mapping[str, Statement], frames: Frames) -> None:
        self.findings, self.frames = findings, frames

    def __call__(self, *keys: str) -> Markdown | None:
        """The sentences of these keys, one after the other; several become a list, none nothing."""
        told = [text for key in keys if (text := self.findings[key].said(self.frames))]
        if not told:
            return None
        return Markdown(told[0] if len(told) == 1 else "\n".join(f"- {text}" for text in told))


def claimed(claims: Sequence[Claim], frames: Frames) -> None:
    """Display the claims that the data can be asked about: claim and place, verdict, finding.

    Args:
        claims: Of a study.
        frames: What they speak of.
    """
    rows = [claim.row(frames) for claim in claims]
    told = [
        {
            "the paper's claim": f"{row['claim']} ({row['place']})",
            "verdict": row["verdict"] or "",
            "what came out": row["finding"],
        }
        for row in rows
        if row["finding"]
    ]
    if told:
        shown(pd.DataFrame(told))
    else:
        display(Markdown("None of the claims is about these data."))
