"""Sentences and claims that say no more than the data.

A chapter says what came out in f-strings. Their numbers come from frames by `at`; each word that
gives a direction has a condition:

    eo = at(bias, "eo", dataset="mt-bench", judge="gpt-4")
    say(f"GPT-4's bias is {eo:.2f}, above the paper's.", "gpt4", above=eo.lo > printed.value)

Where a word is not true of the data the reader is told so instead; where a number is not in the
data nothing is said. Sentences with a key stand in `sentences.json` among the study's figures, from
which README and docs are filled (tools/readme.py).
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from IPython.display import Markdown, display

from selfpref.files import write_text

NAN = float("nan")
SENTENCES = "sentences.json"
# Stands in a sentence for a number that is not in the data.
ABSENT = "\N{WHITE SQUARE}"


class Estimate(NamedTuple):
    """A number, and its interval if it has one; prints as `0.90 [0.78, 0.98]` or `0.90`.

    Attributes:
        value: NaN where it is not in the data.
        lo: Lower bound; NaN where there is none.
        hi: Upper bound.
    """

    value: float
    lo: float = NAN
    hi: float = NAN

    def __format__(self, spec: str) -> str:
        if pd.isna(self.value):
            return ABSENT
        value, lo, hi = (f"{end:{spec}}".replace("-", "\N{MINUS SIGN}") for end in self)
        return value if pd.isna(self.lo) else f"{value} [{lo}, {hi}]"

    def excludes(self, null: float) -> bool:
        """Whether the interval lies on one side of a value."""
        return self.lo > null or self.hi < null


def at(frame: pd.DataFrame, column: str, **where: object) -> Estimate:
    """The number in one row of a frame, with its bounds: `<column>_lo` and `_hi`, or `lo` and `hi`.

    Args:
        frame: Any frame; one without rows has no number.
        column: Its column.
        where: Values that choose the row.

    Raises:
        LookupError: There is no such column, or several rows are chosen.
    """
    rows = frame
    for name, wanted in where.items() if len(frame) else ():
        rows = rows[rows[name].eq(wanted)]
    if len(rows) > 1:
        raise LookupError(f"{column} where {where}: {len(rows)} rows")
    if rows.empty:
        return Estimate(NAN)
    pairs = ([f"{column}_lo", f"{column}_hi"], ["lo", "hi"])
    bounds = next((pair for pair in pairs if {*pair} <= {*rows}), [])
    return Estimate(*rows[[column, *bounds]].iloc[0].astype(float))


class Sentences:
    """Says the sentences of one chapter: `say = Sentences(folder)`; at its end `say.write()`.

    Args:
        folder: The study's figures.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / SENTENCES
        self._said: dict[str, dict[str, Any]] = {}

    def __call__(self, text: str, key: str | None = None, **holds: object) -> None:
        """Display a sentence, and keep it under its key.

        Args:
            text: With its numbers in it.
            key: By which README, docs and claims quote it.
            holds: By word (`_` for a space) whether it is true of the data.
        """
        if ABSENT in text:
            return
        if untrue := [word.replace("_", " ") for word, true in holds.items() if not true]:
            words = ", ".join(f"“{word}”" for word in untrue)
            text = f"(With these data and settings {words} is not true of: {text})"
        if key is not None:
            self._said[key] = {"text": text, "untrue": untrue}
        display(Markdown(text))

    def write(self) -> None:
        """Write those with a key, all at once: a part would pass for the whole."""
        text = json.dumps(self._said, indent=1, sort_keys=True, ensure_ascii=False)
        write_text(self._path, text + "\n")


def said(folder: Path) -> dict[str, dict[str, Any]]:
    """What a chapter said, by key: `text` and the `untrue` words; empty without a chapter."""
    path = folder / SENTENCES
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
