"""What people call the models and languages of the release."""

from collections.abc import Iterable, Mapping
from typing import Final

import pandas as pd

AVERAGE = "average"
# The paper's six models come first and keep their looks in every figure.
MODELS: Final[Mapping[str, str]] = {
    "gpt-4": "GPT-4",
    "gpt-3.5-turbo": "GPT-3.5",
    "gemini": "Gemini",
    "mistral_moe": "Mixtral",
    "llama2-7b": "Llama2-7B",
    "deepseek_moe": "DeepSeek",
    "llama2-13b": "Llama2-13B",
    "llama2-70b": "Llama2-70B",
    "madlad400-10b-mt": "Madlad",
    "nllb-moe-54b": "NLLB",
    "human": "people",
}
PAPER: Final = tuple(MODELS.values())[:6]
LANGUAGES: Final[Mapping[str, str]] = {
    "yor-en": "Yoruba → English",
    "jav_Latn-en": "Javanese → English",
    "hye_Armn-en": "Armenian → English",
    "ibo_Latn-en": "Igbo → English",
    "lab-en": "Lab → English",
    "commongen": "given words",
    AVERAGE: "mean of the languages",
}
_NAMES: Final = {**MODELS, **LANGUAGES}
# Columns that hold names.
_COLUMNS: Final = ("model", "judge", "system", "language", "control")


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with the names that people know; a name without another one stays.

    >>> named(pd.DataFrame({"model": ["gpt-4", "fair"]}))["model"].tolist()
    ['GPT-4', 'fair']
    """
    return rows.assign(
        **{
            column: rows[column].map(lambda name: _NAMES.get(name, name))
            for column in _COLUMNS
            if column in rows
        }
    )


def listed(names: Iterable[str]) -> str:
    """Names in alphabetical order, as people know them.

    >>> listed(["yor-en", "gpt-4"])
    'GPT-4, Yoruba → English'
    """
    return ", ".join(sorted(_NAMES.get(name, name) for name in set(names)))
