"""Items of self-refinement: what is asked, and what an answer is checked against.

An item is `<language>/<number>`, such as `yor-en/12`; texts that came about otherwise have the
condition in front: `best-of-8/yor-en/12`, `accept-all/lab-en/12`.

The items table holds the request in `messages` (the source sentence, the concepts, the problem),
the right translation or answer in `reference`, and the rest in `metadata`:

    task        mqm | coverage | correctness
    language    of the source, in words ("Yoruba"); mqm only
    target      of the translation, in words ("English"); mqm only
    concepts    list of words; coverage only
    oracle      true where the grammar of the testbed says what is wrong; mqm only
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal, get_args

import pandas as pd

Task = Literal["mqm", "coverage", "correctness"]
TASKS: Final[tuple[Task, ...]] = get_args(Task)
CATEGORIES: Final[dict[Task, str]] = dict(
    zip(TASKS, ("translation", "commongen", "mathematics"), strict=True)
)
# Conditions: the best of so many candidates, and the paraphrase of a translator's text.
BEST = "best-of-"
PARAPHRASE = "paraphrase/"
# The variant of ratings of kept texts that were read afresh, by draws that selected nothing.
RESCORED = "rescored"


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
    known = pd.DataFrame([vars(item) for item in items])
    held = known[["task", "language", "target", "concepts", "oracle"]].to_dict("records")
    return known[["item_id", "reference"]].assign(
        study=study,
        category=known["task"].map(CATEGORIES),
        cluster=known["cluster"].where(known["cluster"].ne(""), known["item_id"]),
        messages=[[{"role": "user", "content": request}] for request in known["request"]],
        metadata=[json.dumps({key: of for key, of in row.items() if of}) for row in held],
    )


def from_table(items: pd.DataFrame) -> list[Item]:
    """The items of a table, in its order."""
    found = []
    for row in items.to_dict("records"):
        held = json.loads(row["metadata"])
        held["concepts"] = tuple(held.get("concepts", ()))
        reference = None if pd.isna(row["reference"]) else row["reference"]
        request = row["messages"][-1]["content"]
        item = Item(row["item_id"], request=request, reference=reference, **held)
        found.append(replace(item, cluster=row["cluster"]))
    return found


def addressed(item_ids: pd.Series) -> pd.DataFrame:
    """What an item's name holds: `<condition>/<language>/<sentence>`, the condition often empty.

    Args:
        item_ids: Such as `yor-en/12` or `best-of-8/yor-en/12`.

    Returns:
        `condition, language`; a condition may hold slashes itself.
    """
    found = item_ids.astype("str").str.extract(
        r"^(?:(?P<condition>.+)/)?(?P<language>[^/]+)/[^/]+$"
    )
    return found.fillna("")


def under_conditions(items: pd.DataFrame, item_ids: pd.Series) -> pd.DataFrame:
    """The items table with a row for every item that occurs under a condition.

    Args:
        items: The items table; a source may name items under conditions itself.
        item_ids: Those that occur in other tables, such as `accept-all/lab-en/12`.
    """
    named = pd.DataFrame({"item_id": sorted(set(item_ids) - set(items["item_id"]))}, dtype="str")
    where = addressed(named["item_id"])
    named["plain"] = where["language"] + "/" + named["item_id"].str.rsplit("/", n=1).str[-1]
    plain = items.rename(columns={"item_id": "plain"})
    added = named.merge(plain, on="plain").reindex(columns=list(items))
    return pd.concat([items, added], ignore_index=True)
