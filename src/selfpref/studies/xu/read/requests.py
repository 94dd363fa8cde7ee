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

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.download.fetch import fetch, open_set
from selfpref.errors import SelfprefError
from selfpref.formats.datasets import audited
from selfpref.formats.records import json_lines
from selfpref.params import Dataset, LabRequests, Requests, Sentences
from selfpref.studies.xu.items import TASKS, Item, boxed, to_table

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
# What a line of a user's file holds, by task.
KEYS = {
    "mqm": {"request", "reference", "language", "target"},
    "coverage": {"concepts"},
    "correctness": {"request", "reference"},
}
# What there is to know of an item but its name.
Rows = Iterator[dict[str, Any]]


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
    if isinstance(entry, LabRequests):
        # Tokens and texts of the testbed; a profile without one need not load them.
        from selfpref.studies.xu.lab import draw  # noqa: PLC0415

        counts = entry.translations, entry.concepts, entry.sums
        items = draw(entry.seed, dict(zip(TASKS, counts, strict=True)))
        bare = 0
    else:
        rows = [*_READERS[entry.reader](entry, source)]
        whole = [row for row in rows if row["task"] == "coverage" or row["reference"]]
        bare = len(rows) - len(whole)
        if entry.first is not None and entry.first > len(whole):
            raise SelfprefError(
                f"{source}: {entry.first} asked for, {len(whole)} there; "
                f"lower xu.datasets.{key}.first"
            )
        items = [Item(f"{key}/{n}", **row) for n, row in enumerate(whole[: entry.first], start=1)]
    audit = audited(STUDY, key, len(items), {"left out: no answer in a box": bare})
    return {"items": to_table(STUDY, items), "audit": audit}


def _flores(entry: Sentences, source: Path) -> Rows:
    first, second = (
        {row["id"]: row["text"] for row in open_set(source, ("id", "text"), code)}
        for code in (entry.code, entry.target_code)
    )
    named = {"task": "mqm", "language": entry.language, "target": entry.target}
    for name in sorted(first):
        sentence = {"request": first[name], "reference": second[name]}
        yield {**named, **sentence, "cluster": f"flores/{name}"}


def _commongen(entry: Dataset, source: Path) -> Rows:
    (local,) = dict(fetch(source)).values()
    for _, row in json_lines(local):
        words = row["concepts"]
        yield {"task": "coverage", "request": ", ".join(words), "concepts": tuple(words)}


def _math(_: Dataset, source: Path) -> Rows:
    for subject in SUBJECTS:
        for row in open_set(source, ("problem", "solution"), subject):
            answer = boxed(row["solution"])
            yield {"task": "correctness", "request": row["problem"], "reference": answer}


def _own(_: Dataset, source: Path) -> Rows:
    for place, record in json_lines(source):
        task = next((task for task, keys in KEYS.items() if record.keys() == keys), None)
        words = record.pop("concepts", [])
        texts = [*words, *record.values()] if isinstance(words, list) else [None]
        if task is None or not all(isinstance(text, str) and text.strip() for text in texts):
            raise SelfprefError(
                f"{place}: give texts as request and reference, with language and "
                "target of a translation; or a list of words as concepts"
            )
        yield {"task": task, "request": ", ".join(words), "concepts": tuple(words), **record}


_READERS: dict[str, Callable[..., Rows]] = {
    "flores": _flores,
    "commongen-hard": _commongen,
    "math": _math,
    "requests": _own,
}
