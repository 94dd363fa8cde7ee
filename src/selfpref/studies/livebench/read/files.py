"""The files of LiveBench's release: one table a category, with the model behind each name."""

import re
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
