"""Items of self-refinement: what is asked, and what an answer is checked against.

The items table holds the request in `messages` (the source sentence, the concepts, the problem),
the right translation or answer in `reference`, and the rest in `metadata`:

    task        mqm | coverage | correctness
    language    of the source, in words ("Yoruba"); mqm only
    target      of the translation, in words ("English"); mqm only
    concepts    list of words; coverage only
    oracle      true where the grammar of the testbed says what is wrong; mqm only
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import pandas as pd

from selfpref.errors import SelfprefError

Task = Literal["mqm", "coverage", "correctness"]
TASKS: Final[tuple[Task, ...]] = get_args(Task)
METADATA = ("task", "language", "target", "concepts", "oracle")
CATEGORIES: Final[dict[Task, str]] = {
    "mqm": "translation",
    "coverage": "commongen",
    "correctness": "mathematics",
}


@dataclass(frozen=True)
class Item:
    """One item.

    Attributes:
        item_id: `<language or task>/<number>`.
        task: By what its answers are judged.
        request: The source sentence, the concepts joined by commas, or the problem.
        reference: The right translation or answer; None for concepts.
        language: Of the source; empty but for translations.
        target: Of the translation; empty but for translations.
        concepts: Which an answer has to hold; empty but for constrained generation.
        oracle: Whether the testbed's grammar knows the errors of a translation.
        cluster: What a bootstrap resamples; the item itself unless said.
    """

    item_id: str
    task: Task
    request: str
    reference: str | None = None
    language: str = ""
    target: str = ""
    concepts: tuple[str, ...] = ()
    oracle: bool = False
    cluster: str = ""


def to_table(study: str, items: Iterable[Item]) -> pd.DataFrame:
    """The items table."""
    return pd.DataFrame(
        {
            "study": study,
            "item_id": item.item_id,
            "category": CATEGORIES[item.task],
            "cluster": item.cluster or item.item_id,
            "messages": [{"role": "user", "content": item.request}],
            "reference": item.reference,
            "metadata": _metadata(item),
        }
        for item in items
    )


def _metadata(item: Item) -> str:
    held = {name: getattr(item, name) for name in METADATA}
    return json.dumps({name: value for name, value in held.items() if value})


def from_table(items: pd.DataFrame) -> list[Item]:
    """The items of a table, in its order.

    Raises:
        SelfprefError: A row's metadata names no task.
    """
    return [_item(row) for row in items.to_dict("records")]


def _item(row: dict[str, Any]) -> Item:
    held = json.loads(row["metadata"])
    if held.get("task") not in TASKS:
        raise SelfprefError(
            f"item {row['item_id']!r}: its metadata has the task {held.get('task')!r}; "
            f"only items with one of {', '.join(TASKS)} can be refined"
        )
    concepts = tuple(held.pop("concepts", ()))
    reference = None if pd.isna(row["reference"]) else row["reference"]
    return Item(
        row["item_id"],
        request=row["messages"][-1]["content"],
        reference=reference,
        concepts=concepts,
        cluster=row["cluster"],
        **held,
    )
