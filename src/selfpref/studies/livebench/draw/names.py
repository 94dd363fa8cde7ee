"""What people call the release's models, categories and tasks."""

from collections.abc import Mapping
from typing import Final

import pandas as pd

from selfpref.plots.frame import Look
from selfpref.plots.frame import looks as looks_of

MODELS: Final[Mapping[str, str]] = {
    "o3-mini": "o3-mini",
    "claude-3-7-sonnet": "Claude 3.7",
    "gemini-2.0-flash": "Gemini 2.0",
    "o1-preview": "o1-preview",
}
ITSELF = "the responder itself"


def titled(name: str) -> str:
    """A category's or task's name in words."""
    return name.replace("_", " ")


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with models, categories and tasks in words; a name without another one stays.

    >>> named(pd.DataFrame({"judge": ["claude-3-7-sonnet", "mine"]}))["judge"].tolist()
    ['Claude 3.7', 'mine']
    """
    models = {
        column: rows[column].map(lambda name: MODELS.get(name, name))
        for column in ("judge", "responder")
        if column in rows
    }
    others = {column: rows[column].map(titled) for column in ("category", "task") if column in rows}
    return rows.assign(**models, **others)


def looks(names: "pd.Series[str]") -> dict[str, Look]:
    """Colour and marker of each model by its name in words, the same in every figure."""
    return looks_of(names, [*MODELS.values()][:3])
