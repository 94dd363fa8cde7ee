"""What models refine: sentences of FLORES, the concepts of CommonGen-Hard, problems of MATH.

- FLORES-200 in its maintained form, FLORES+ (gated; CC BY-SA 4.0). A sentence and its translation
  have one id in every language; the same sentence in several languages is one cluster. Xu et al.
  took the first 100 of `devtest`.
- CommonGen-Hard: lists of 20 to 30 words, as the release of Xu et al. (arXiv 2402.11436) holds it.
- MATH (Hendrycks et al., arXiv 2103.03874): the seven subjects in alphabetical order; the reference
  is the content of the last box of the solution. Problems without one are left out and counted.
- A user's own, a JSONL file with a line a request: `request`, `reference`, `language` and `target`
  of a translation; `concepts`, a list of words; or `request` and `reference` of a problem.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.download.hub import open_set
from selfpref.errors import SelfprefError
from selfpref.formats.datasets import audited
from selfpref.formats.records import json_lines
from selfpref.params import Dataset, LabRequests, Requests, Sentences
from selfpref.studies.xu.items import Item, Task, to_table
from selfpref.studies.xu.truths import boxed

STUDY = "xu"
SUBJECTS = (
    "algebra",
    "counting_and_probability",
    "geometry",
    "intermediate_algebra",
    "number_theory",
    "prealgebra",
    "precalculus",
)


def read(key: str, entry: Requests, source: Path | None) -> dict[str, pd.DataFrame]:
    """The requests of one entry.

    Args:
        key: The entry's key: the first part of the item ids of a language or set.
        entry: Which requests.
        source: The file that pins them; None for the testbed, which draws its own.

    Returns:
        items, and audit: what was left out.

    Raises:
        SelfprefError: The set cannot be had, has fewer rows than asked for, or rows that do not fit
            together.
    """
    items, left_out = _READERS[entry.reader](key, entry, source)
    audit = audited(STUDY, key, len(items), left_out)
    return {"items": to_table(STUDY, items), "audit": audit}


# What a line of a user's file holds, by task.
KEYS: dict[Task, set[str]] = {
    "mqm": {"request", "reference", "language", "target"},
    "coverage": {"concepts"},
    "correctness": {"request", "reference"},
}
Row = TypeVar("Row")
_Found = tuple[list[Item], dict[str, int]]


def _lab(key: str, entry: LabRequests, source: Path | None) -> _Found:
    # Tokens and texts of the testbed; a profile without one need not load them.
    from selfpref.studies.xu.lab import draw  # noqa: PLC0415

    counts: dict[Task, int] = {
        "mqm": entry.translations,
        "coverage": entry.concepts,
        "correctness": entry.sums,
    }
    return draw(entry.seed, counts), {}


def _flores(key: str, entry: Sentences, source: Path) -> _Found:
    columns = ("id", "text")
    texts = {
        code: {row["id"]: row["text"] for row in open_set(source, columns, code)}
        for code in (entry.code, entry.target_code)
    }
    first, second = texts.values()
    if set(first) != set(second):
        raise SelfprefError(
            f"{source}: {entry.code} and {entry.target_code} have different sentences; "
            "take another language or revision"
        )
    chosen = _first(sorted(first), entry.first, source, key)
    return [
        Item(
            f"{key}/{number}",
            "mqm",
            first[name],
            second[name],
            entry.language,
            entry.target,
            cluster=f"flores/{name}",
        )
        for number, name in enumerate(chosen, start=1)
    ], {}


def _commongen(key: str, entry: Dataset, source: Path) -> _Found:
    (local,) = dict(fetch(source)).values()
    lists = [row["concepts"] for _, row in json_lines(local)]
    return [
        Item(f"{key}/{number}", "coverage", ", ".join(words), concepts=tuple(words))
        for number, words in enumerate(_first(lists, entry.first, source, key), start=1)
    ], {}


def _math(key: str, entry: Dataset, source: Path) -> _Found:
    rows = [
        (row["problem"], boxed(row["solution"]))
        for subject in SUBJECTS
        for row in open_set(source, ("problem", "solution"), subject)
    ]
    whole = [(problem, answer) for problem, answer in rows if answer]
    return [
        Item(f"{key}/{number}", "correctness", problem, answer)
        for number, (problem, answer) in enumerate(_first(whole, entry.first, source, key), start=1)
    ], {"left out: no answer in a box": len(rows) - len(whole)}


def _own(key: str, entry: Dataset, source: Path) -> _Found:
    items = [
        _item(f"{key}/{number}", record, f"{source}, line {number}")
        for number, record in json_lines(source)
    ]
    return _first(items, entry.first, source, key), {}


def _item(name: str, record: dict[str, Any], where: str) -> Item:
    task = next((task for task, keys in KEYS.items() if record.keys() == keys), None)
    words = record.get("concepts", [])
    texts = [*(words if isinstance(words, list) else [None]), *record.values()]
    if task is None or not all(value if value is words else _text(value) for value in texts):
        raise SelfprefError(
            f"{where}: give texts as request and reference, with language and target of a "
            "translation; or a list of words as concepts"
        )
    others = {key: value for key, value in record.items() if key != "concepts"}
    return Item(name, task, **{"request": ", ".join(words), **others}, concepts=tuple(words))


def _text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _first(rows: list[Row], wanted: int | None, source: Path, key: str) -> list[Row]:
    if wanted is not None and wanted > len(rows):
        raise SelfprefError(
            f"{source}: {wanted} asked for, {len(rows)} there; lower xu.datasets.{key}.first"
        )
    return rows[:wanted]


_READERS: dict[str, Callable[..., _Found]] = {
    "lab": _lab,
    "flores": _flores,
    "commongen-hard": _commongen,
    "math": _math,
    "requests": _own,
}
