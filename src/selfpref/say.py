"""Sentences and claims that say no more than the data.

A chapter says what came out in f-strings. Their numbers come from frames by `at`; each word that
gives a direction has a condition:

    eo = at(bias, "eo", dataset="mt-bench", judge="gpt-4")
    say(f"GPT-4's bias is {eo:.2f}, above the paper's.", "gpt4", above=eo.lo > printed.value)

Where a word is not true of the data the reader is told so instead; where a number is not in the
data nothing is said. Sentences with a key stand in `sentences.json` among the study's figures, from
which README and docs are filled (tools/readme.py).

What a paper claims, and what became of it on the released data, stands in data/claims.yaml: by
study its `paper`, and `claims`, each with

    claim, place, test   what the paper says, in our words; where; how it is tested here
    number               the address of a number, `table[column=value, ...].column`
    holds                what is true of the number's `value`, `lo` and `hi` if the verdict stands
    finding              the key of the sentence that says what came out
    no_data              in place of these three: why nothing can be said
    verdict              one of `VERDICTS`
    figure               the name of the figure that shows it; none without data
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import Markdown, display
from ruamel.yaml import YAML

from selfpref import paths
from selfpref.files import write_text

NAN = float("nan")
SENTENCES = "sentences.json"
# Stands in a sentence for a number that is not in the data.
ABSENT = "\N{WHITE SQUARE}"
ADDRESS = re.compile(r"(?P<table>\w+)(?:\[(?P<where>[^\]]*)\])?\.(?P<column>\w+)")
Frames = Mapping[str, pd.DataFrame]
Claim = Mapping[str, str]
VERDICTS = {
    "holds": "hold",
    "holds with a control": "hold with a control",
    "holds in part": "hold in part",
    "number holds, reading open": "come out as numbers that something else makes too",
    "does not hold": "do not hold",
    "undecided": "are undecided",
    "no data": "lack their data",
}


@dataclass(frozen=True)
class Estimate:
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
        value, lo, hi = (
            f"{end:{spec}}".replace("-", "\N{MINUS SIGN}") for end in (self.value, self.lo, self.hi)
        )
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
    if frame.empty:
        return Estimate(NAN)
    if unknown := {column, *where} - {*frame.columns}:
        raise LookupError(f"no column {', '.join(sorted(unknown))}")
    rows = frame
    for name, wanted in where.items():
        rows = rows[rows[name].eq(wanted)]
    if len(rows) > 1:
        raise LookupError(f"{column} where {where}: {len(rows)} rows")
    if rows.empty:
        return Estimate(NAN)
    pairs = ((f"{column}_lo", f"{column}_hi"), ("lo", "hi"))
    bounds = next((pair for pair in pairs if {*pair} <= {*frame.columns}), ())
    return Estimate(*(float(rows[name].iloc[0]) for name in (column, *bounds)))


class Sentences:
    """Says the sentences of one chapter: `say = Sentences(folder)`.

    Args:
        folder: The study's figures.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / SENTENCES
        self._said: dict[str, dict[str, Any]] = {}
        self._write()

    def __call__(self, text: str, key: str | None = None, **holds: object) -> None:
        """Display a sentence, and keep it under its key.

        Args:
            text: With its numbers in it.
            key: By which README, docs and claims quote it.
            holds: By word (`_` for a space) whether it is true of the data.
        """
        if ABSENT in text:
            return
        untrue = [word.replace("_", " ") for word, true in holds.items() if not true]
        if untrue:
            words = ", ".join(f"“{word}”" for word in untrue)
            text = f"(With these data and settings {words} is not true of: {text})"
        if key is not None:
            self._said[key] = {"text": text, "untrue": untrue}
            self._write()
        display(Markdown(text))

    def _write(self) -> None:
        text = json.dumps(self._said, indent=1, sort_keys=True, ensure_ascii=False)
        write_text(self._path, text + "\n")


def said(folder: Path) -> dict[str, dict[str, Any]]:
    """What a chapter said, by key: `text` and the `untrue` words; empty without a chapter."""
    path = folder / SENTENCES
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def papers() -> dict[str, Any]:
    """data/claims.yaml: by study its `paper` and its `claims`."""
    found: dict[str, Any] = YAML(typ="safe").load(paths.claims_source())
    return found


def _tested(claim: Claim, frames: Frames) -> tuple[str, Estimate, bool]:
    """Where the number of a claim stands, in words; the number; whether its verdict stands."""
    if "no_data" in claim:
        return "", Estimate(NAN), True
    address = ADDRESS.fullmatch(claim["number"])
    assert address is not None, claim["number"]
    named = dict(part.split("=") for part in (address["where"] or "").split(", ") if part)
    where = {name: int(of) if of.isdigit() else of for name, of in named.items()}
    number = at(frames[address["table"]], address["column"], **where)
    chosen = " where " * bool(where) + ", ".join(f"{name} = {of}" for name, of in where.items())
    stands = pd.DataFrame([vars(number)]).eval(claim["holds"]).item()
    return f"{address['table']}.csv: {address['column']}{chosen}", number, bool(stands)


def head(claims: Iterable[Claim], frames: Frames) -> pd.DataFrame:
    """The claims that the data can be asked about, for the head of a chapter.

    Args:
        claims: Of one study.
        frames: The study's, by name.
    """
    rows = []
    for claim in claims:
        _, number, stands = _tested(claim, frames)
        if "no_data" not in claim and pd.isna(number.value):
            continue
        tested = claim.get("no_data") or f"{claim['test']} {number:.2f}"
        rows.append(
            {"the paper's claim": f"{claim['claim']} ({claim['place']})"}
            | {"verdict": claim["verdict"] * stands, "tested here": tested}
        )
    return pd.DataFrame(rows)


def claim_rows(study: str, frames: Frames, folder: Path) -> list[dict[str, object]]:
    """The rows of data/claims.csv of one study.

    Args:
        study: Which.
        frames: Its figures' tables, by name.
        folder: Where these lie, and its sentences.

    Returns:
        study, paper, claim, place, test, finding, verdict, value, lo, hi, cell, figure. The verdict
        is missing where its condition, or a word of the finding, is not true of the data, or where
        these are not there.
    """
    paper, sentences, place = papers()[study], said(folder), folder.relative_to(paths.root())
    rows = []
    for claim in paper["claims"]:
        cell, number, stands = _tested(claim, frames)
        found = sentences.get(claim.get("finding"), {"text": "", "untrue": ["all"]})
        if "no_data" in claim:
            found = {"text": claim["no_data"], "untrue": []}
        row = {"study": study, "paper": paper["paper"]}
        row |= {name: claim[name] for name in ("claim", "place", "test")}
        row |= {"finding": found["text"]}
        row |= {"verdict": claim["verdict"] if stands and not found["untrue"] else None}
        row |= {name: None if pd.isna(one) else one for name, one in vars(number).items()}
        row |= {"cell": f"{place}/{cell}" if cell else ""}
        row |= {"figure": f"{place}/{claim['figure']}.svg" if "figure" in claim else ""}
        rows.append(row)
    return rows
