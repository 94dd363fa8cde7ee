"""The files of LiveBench's release: one table a category, and the log of the tie-breaker.

The vote ran in a notebook whose output names, for every row without a majority, the three votes in
the order in which their responses were shown, and the model that was then credited. The number in
the tie-breaker's reply is not in the log; it counts positions *as shown*, and was looked up in the
*configured* order. So what it chose is the vote at the place that the credited model has there.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from selfpref.errors import SelfprefError

NAMES = {
    "openai/o3-mini-2025-01-31": "o3-mini",
    "anthropic/claude-3-7-sonnet-20250219": "claude-3-7-sonnet",
    "gemini/gemini-2.0-flash": "gemini-2.0-flash",
    "gemini/gemini-2.0-flash-thinking-exp": "gemini-2.0-flash",
}
# The configured order: of the responses in every prompt, and of the judges' votes.
SHOWN = ["o3-mini", "claude-3-7-sonnet", "gemini-2.0-flash"]
FOLDER = "results/LiveBench/"
FILES = {
    "instruction_following": f"{FOLDER}voting/livebench_if_judgement.csv",
    "language": f"{FOLDER}voting/livebench_lang_judgement.csv",
    "coding": f"{FOLDER}voting/livebench_coding_judgement.csv",
    "data_analysis": f"{FOLDER}voting/livebench_data_analysis_judgement.csv",
    "reasoning": f"{FOLDER}voting/livebench_reasoning_judgement.csv",
    "math": f"{FOLDER}judgements/livebench_math_judgement.csv",
}
LOG = "results.ipynb"
# The lines of the log.
CATEGORY = re.compile(r"category: (\w+)")
CALL = re.compile(r"Result was Counter\(\{(.*)\}\)")
CREDITED = re.compile(r"tiebreaker decision: (\S+)")
# What it says where a call or its answer failed.
TROUBLES = {
    "Invalid Response Number. Trying again.": "tie-breaker replied without a usable number",
    "Error during API call": "call of the tie-breaker failed",
}

# What precedes and what follows the stem of a question.
STEM = re.compile(
    r"(?:.*?(?:### Question:?|The question is:))?(.*?)"
    r"(?:The solution is:|### Format|\$\\textbf\{\(A\)|Please (?:put|give|think)|If you cannot|\Z)",
    re.DOTALL,
)


def stem(question: str) -> str:
    """The question itself, without the form of its answer, options, gaps and blanks."""
    found = STEM.match(question)
    return " ".join((found[1] if found else question).split())


class Sheet:
    """One category's file.

    Args:
        category: A key of `FILES`.
        local: Where the file lies.

    Raises:
        SelfprefError: It cannot be read, or lacks a column.
    """

    def __init__(self, category: str, local: Path) -> None:
        self.category = category
        try:
            self.rows = pd.read_csv(local, dtype=str, keep_default_na=False)
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise SelfprefError(f"{local}: not readable ({reason}); fetch it again") from error
        self.models = {NAMES[column]: column for column in self.rows if column in NAMES}
        wanted = ["question_id", "question", "task"]
        for judge in SHOWN:
            wanted += [self.models.get(judge, judge), self._preference(judge)]
            wanted += [self._rating(judge, kind, to) for to in SHOWN for kind in ("SCORING", "SR")]
        if missing := [column for column in wanted if column not in self.rows]:
            raise SelfprefError(f"{local}: no column {missing[0]!r}; not a file of this release")
        self.stems = self.rows["question"].map(stem)

    def __len__(self) -> int:
        return len(self.rows)

    def _preference(self, judge: str) -> str:
        return f"{self.models.get(judge, judge)}_PREFERENCE"

    def _rating(self, judge: str, kind: str, responder: str) -> str:
        names = (self.models.get(name, name) for name in (judge, responder))
        return f"_{kind}_".join(names)

    def texts(self, responder: str) -> pd.Series:
        """The responses of one model."""
        return self.rows[self.models[responder]]

    def choices(self, judge: str) -> pd.Series:
        """Whom a judge chose, by row; empty where the file has nothing.

        Raises:
            SelfprefError: It names a model that did not respond.
        """
        chosen = self.rows[self._preference(judge)]
        if strange := sorted(set(chosen) - {*self.models.values(), ""}):
            raise SelfprefError(f"{self.category}: {judge} chose {strange[0]!r}, no responder")
        return chosen.map(lambda model: NAMES.get(model, ""))

    def totals(self, judge: str, responder: str) -> pd.Series:
        """The stored rubric totals, as text; empty where the file has nothing.

        Raises:
            SelfprefError: One is no number.
        """
        stored = self.rows[self._rating(judge, "SCORING", responder)]
        if len(strange := stored[~stored.str.fullmatch(r"(\d+(\.\d+)?)?")]):
            raise SelfprefError(
                f"{self.category}: {judge} rated {responder} {strange.iloc[0]!r}, no number"
            )
        return stored

    def reasons(self, judge: str, responder: str) -> pd.Series:
        """What followed the total in the judge's reply."""
        return self.rows[self._rating(judge, "SR", responder)]

    def votes(self) -> list[list[str]]:
        """The choices of the three judges on every row, in the configured order."""
        return [list(row) for row in zip(*map(self.choices, SHOWN), strict=True)]


@dataclass
class TieBreak:
    """One call: the models in the order shown, and the one credited (None: no decision logged)."""

    shown: list[str]
    credited: str | None = None

    @property
    def chosen(self) -> str | None:
        """Whom the tie-breaker's number meant.

        Raises:
            SelfprefError: The credited model did not respond.
        """
        if self.credited and self.credited not in SHOWN:
            raise SelfprefError(
                f"{LOG}: the tie-breaker decided for {self.credited!r}, no responder"
            )
        return self.shown[SHOWN.index(self.credited)] if self.credited else None


@dataclass(frozen=True)
class Log:
    """The calls of each category in the order of its rows, and how often what went wrong."""

    calls: dict[str, list[TieBreak]]
    troubles: Counter[str]


def read_log(path: Path) -> Log:
    """The log from the notebook's outputs.

    Raises:
        SelfprefError: The file is no notebook, or holds no such log.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise SelfprefError(f"{path}: not a notebook ({error}); fetch it again") from error
    text = "\n".join("".join(output.get("text", [])) for output in outputs)
    calls: dict[str, list[TieBreak]] = {}
    troubles: Counter[str] = Counter()
    category = ""
    for line in text.splitlines():
        if found := CATEGORY.fullmatch(line.strip()):
            category = found[1]
            calls[category] = []
        elif found := CALL.fullmatch(line.strip()):
            shown = [NAMES.get(model, model) for model in re.findall(r"'([^']+)'", found[1])]
            calls.setdefault(category, []).append(TieBreak(shown))
        elif (found := CREDITED.fullmatch(line.strip())) and calls.get(category):
            calls[category][-1].credited = NAMES.get(found[1], found[1])
        elif line.strip() in TROUBLES:
            troubles[TROUBLES[line.strip()]] += 1
    if not calls:
        raise SelfprefError(f"{path}: no log of the tie-breaker; not a file of this release")
    return Log(calls, troubles)
