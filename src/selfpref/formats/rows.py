"""Rows of judgments, whatever file they come from, and the tables that they make.

A format's reader turns each record of a file into a *row*: who compared which two responses to
which item, and what came of it. A row is a judge's verdict, with a person's vote beside it or
without one, or a vote alone (`judge` is missing). The columns are those of this project's own
format (`selfpref.formats.pairs`) and `status`, why a verdict is missing. Rows are gathered as
columns: a million of them take some hundred MB.
"""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow
from pyarrow import compute

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.tables.schemas import TIE

Frames = dict[str, pd.DataFrame]
Bools = npt.NDArray[np.bool_]
# A reader yields file, line and row; what a row does not have is missing.
Read = Iterable[tuple[Path, int, Mapping[str, Any]]]
WHO = ("item", "responder_a", "responder_b")
TEXTS = ("prompt", "text_a", "text_b")
NAMED = (*WHO, "label", "judge", "order", "verdict", "annotator", "cluster", "category", "status")
PROBABILITIES = ("probability_a", "probability_b")
ORDERS = ("ab", "ba")
HUMAN = "human"
CHUNK = 50_000


@dataclass(frozen=True)
class Rows:
    """Gathered rows.

    Attributes:
        frame: `NAMED` and `TEXTS` as text, null where missing; `PROBABILITIES`, NaN where missing;
            `repeat`; `file` (its place in `files`) and `line`.
        files: Where the rows stand, for errors.
        apart: Whether each vote is one of its own. Otherwise a vote may stand in several rows, once
            a judge and order, and counts once.
        word: What a place in a file is called.
    """

    frame: pd.DataFrame
    files: Sequence[str]
    apart: bool = False
    word: str = "line"

    def where(self, row: int) -> str:
        """The place of a row, for an error."""
        file, line = self.frame["file"].iloc[row], self.frame["line"].iloc[row]
        return f"{self.files[file]}, {self.word} {line}"

    def refuse(self, wrong: Bools, reason: str) -> None:
        """End with the first row of a mask; `{column}` in the reason is its value there.

        Raises:
            SelfprefError: There is such a row.
        """
        if len(found := np.flatnonzero(wrong)):
            row = self.frame.iloc[found[0]].to_dict()
            shown = {name: repr(value) for name, value in row.items()}
            raise SelfprefError(f"{self.where(int(found[0]))}: {reason.format(**shown)}")

    def of(self, frame: pd.DataFrame) -> "Rows":
        """The same with some of the rows."""
        return replace(self, frame=frame.reset_index(drop=True))

    def renamed(self, alias: Mapping[str, str]) -> "Rows":
        """With other names of judges and responders.

        Raises:
            SelfprefError: Both responses of a pair get one name.
        """
        if not alias:
            return self
        names = {name: self.frame[name].replace(dict(alias)) for name in WHO[1:]}
        # A vote or verdict that names a responder names it as the row does.
        sides = {name: _sides(self.frame, name) for name in ("label", "verdict")}
        judge = self.frame["judge"].replace(dict(alias))
        found = replace(self, frame=self.frame.assign(judge=judge, **names, **sides))
        same = found.frame["responder_a"].eq(found.frame["responder_b"]).to_numpy(dtype=bool)
        found.refuse(same, "--alias makes both responders {responder_a}; drop one alias")
        return found


def _texts(values: list[Any], name: str, where: Callable[[int], str]) -> pd.Series:
    """A column of texts; what is empty is missing, and numbers are written out.

    Args:
        values: The values.
        name: Of the column, for an error.
        where: The place of each value, for an error.
    """
    try:
        found = pyarrow.array(values, pyarrow.string())
    except pyarrow.ArrowException:
        for place, value in enumerate(values):
            if isinstance(value, dict | list):
                raise SelfprefError(
                    f"{where(place)}: {name} {str(value)[:40]}; give a text or a number"
                ) from None
        written = (None if value is None else str(value) for value in values)
        found = pyarrow.array(written, pyarrow.string())
    filled = compute.if_else(compute.equal(found, ""), None, found)
    return pd.Series(pd.array(filled, dtype="str"))


def _columns(
    rows: list[Mapping[str, Any]], names: Sequence[str], where: Callable[[int], str]
) -> dict[str, pd.Series]:
    there = set[str]().union(*rows)
    nothing = [None] * len(rows)
    found = {
        name: _texts([row.get(name) for row in rows] if name in there else nothing, name, where)
        for name in names
    }
    for name in PROBABILITIES:
        values = [row.get(name) for row in rows] if name in there else nothing
        found[name] = pd.Series([None if value == "" else value for value in values], dtype=float)
    repeats = [row.get("repeat") or 0 for row in rows] if "repeat" in there else 0
    return found | {"repeat": pd.Series(repeats, index=range(len(rows)), dtype="int64")}


def _where(paths: Sequence[Path], word: str, lines: Sequence[int], place: int) -> str:
    return f"{paths[place]}, {word} {lines[place]}"


def gather(read: Read, *, apart: bool = False, texts: bool = True, word: str = "line") -> Rows:
    """Rows as columns.

    Args:
        read: File, line and row, as a format's reader yields them.
        apart: Whether each vote is one of its own.
        texts: Whether prompts and responses are kept.
        word: What a place in a file is called.
    """
    names = [*NAMED, *(TEXTS if texts else ())]
    files: dict[str, int] = {}
    parts = [pd.DataFrame(_columns([], names, str)).assign(file=0, line=0)]
    left = iter(read)
    # The collector would walk the records of a chunk again and again.
    collected = gc.isenabled()
    gc.disable()
    try:
        while chunk := list(islice(left, CHUNK)):
            paths, lines, rows = zip(*chunk, strict=True)
            known = {path: files.setdefault(str(path), len(files)) for path in dict.fromkeys(paths)}
            where = partial(_where, paths, word, lines)
            part = pd.DataFrame(_columns(list(rows), names, where))
            parts.append(part.assign(file=[known[path] for path in paths], line=list(lines)))
    finally:
        if collected:
            gc.enable()
    return Rows(pd.concat(parts, ignore_index=True), list(files), apart, word)


def _sides(frame: pd.DataFrame, column: str) -> pd.Series:
    """A label or verdict as `a`, `b` or `tie`; others, and missing ones, as they are."""
    value = frame[column]
    for side, name in (("a", "responder_a"), ("b", "responder_b")):
        value = value.mask(value.eq(frame[name]) & value.ne(TIE), side)
    return value


def _checked(rows: Rows) -> Rows:
    """Rows of which names, orders and choices are known to be good; choices as `a`, `b`, `tie`."""
    frame = rows.frame
    for name in (*WHO, "judge"):
        unprintable = [value for value in frame[name].dropna().unique() if not value.isprintable()]
        wrong = frame[name].isin(unprintable).to_numpy(dtype=bool)
        rows.refuse(wrong, f"{name} {{{name}}} is not printable; rename it")
    same = frame["responder_a"].eq(frame["responder_b"]).to_numpy(dtype=bool)
    rows.refuse(same, "responder_a and responder_b are both {responder_a}")
    unknown = frame["order"].notna() & ~frame["order"].isin(ORDERS)
    rows.refuse(unknown.to_numpy(dtype=bool), "order {order}; give ab, ba or leave it empty")
    sides = {}
    for name in ("label", "verdict"):
        sides[name] = _sides(frame, name)
        wrong = sides[name].notna() & ~sides[name].isin(("a", "b", TIE))
        rows.refuse(
            wrong.to_numpy(dtype=bool),
            f"{name} names the unknown responder {{{name}}}; "
            "give a, b, tie, {responder_a} or {responder_b}",
        )
    return replace(rows, frame=frame.assign(**sides))


def _items(parts: Iterable[pd.DataFrame], dataset: str) -> pd.DataFrame:
    frame = pd.concat(parts, ignore_index=True).drop_duplicates("item")
    prompts = frame["prompt"] if "prompt" in frame else [None] * len(frame)
    return pd.DataFrame(
        {
            "item_id": f"{dataset}/" + frame["item"],
            "category": frame["category"],
            "cluster": f"{dataset}/" + frame["cluster"].fillna(frame["item"]),
            "messages": [
                [{"role": "user", "content": text}] if isinstance(text, str) else []
                for text in prompts
            ],
        }
    )


def _responses(frame: pd.DataFrame, dataset: str) -> pd.DataFrame:
    sides = [
        pd.DataFrame(
            {"item_id": frame["item"], "responder": frame[responder], "text": frame[text]}
        ).dropna(subset="text")
        for responder, text in (("responder_a", "text_a"), ("responder_b", "text_b"))
        if text in frame
    ]
    if not any(len(side) for side in sides):
        return pd.DataFrame()
    found = pd.concat(sides, ignore_index=True).drop_duplicates(["item_id", "responder"])
    return found.assign(item_id=f"{dataset}/" + found["item_id"])


def _votes(rows: Rows, dataset: str) -> pd.DataFrame:
    """Votes, each turned to the responder whose name sorts first."""
    frame = rows.frame[rows.frame["label"].notna()]
    swapped = frame["responder_a"] > frame["responder_b"]
    turned = frame["label"].map({"a": "b", "b": "a", TIE: TIE})
    votes = pd.DataFrame(
        {
            "item_id": f"{dataset}/" + frame["item"],
            "responder_a": frame["responder_a"].where(~swapped, frame["responder_b"]),
            "responder_b": frame["responder_b"].where(~swapped, frame["responder_a"]),
            "annotator": frame["annotator"].fillna(HUMAN),
            "label": frame["label"].where(~swapped, turned),
        }
    )
    if rows.apart:
        return votes
    key = ["item_id", "responder_a", "responder_b", "annotator"]
    number = votes.groupby(key, sort=False).ngroup().to_numpy()
    first = np.unique(number, return_index=True)[1][number]
    labels = votes["label"].to_numpy(dtype=object)
    if len(wrong := np.flatnonzero(labels != labels[first])):
        row, before = (int(votes.index[place]) for place in (wrong[0], first[wrong[0]]))
        raise SelfprefError(
            f"{rows.where(row)}: label {frame['label'][row]!r} contradicts {rows.where(before)}; "
            "if two people voted, name them in a column `annotator`"
        )
    return votes.drop_duplicates(key)


def _lists(first: pd.Series, second: pd.Series, kind: pyarrow.DataType) -> pyarrow.Array:
    """Lists of two, as Arrow's; null where the first is missing."""
    missing = first.isna().to_numpy(dtype=bool)
    values = pyarrow.Array.from_pandas(pd.concat([first, second], ignore_index=True), type=kind)
    place = np.arange(2 * len(first)).reshape(2, -1).T.ravel()
    if isinstance(values, pyarrow.ChunkedArray):
        values = values.combine_chunks()
    offsets = pyarrow.array(np.arange(0, 2 * len(first) + 1, 2, dtype=np.int32))
    return pyarrow.ListArray.from_arrays(
        offsets, values.take(pyarrow.array(place)), mask=pyarrow.array(missing)
    )


def _verdicts(rows: Rows, dataset: str) -> pd.DataFrame:
    frame, side = rows.frame, rows.frame["verdict"]
    one, two = (frame[name] for name in PROBABILITIES)
    given = one.notna().to_numpy()
    empty = given & ((one + two) == 0).to_numpy()
    likelier = np.where(one > two, "a", np.where(one < two, "b", TIE))
    told = given & ~empty
    rows.refuse(
        told & side.notna().to_numpy(dtype=bool) & (side != likelier).to_numpy(dtype=bool),
        "the verdict {verdict} contradicts the probabilities; give one of them",
    )
    side = side.mask(told, pd.Series(likelier, index=side.index)).mask(empty)
    choice = side.mask(side.eq("a"), frame["responder_a"]).mask(side.eq("b"), frame["responder_b"])
    turned = frame["order"].eq("ba")
    first = frame["responder_a"].where(~turned, frame["responder_b"])
    second = frame["responder_b"].where(~turned, frame["responder_a"])
    candidates = _lists(first, second, pyarrow.string())
    shares = _lists(one.where(~turned, two), two.where(~turned, one), pyarrow.float64())
    key = pd.DataFrame(
        {"item": frame["item"], "judge": frame["judge"], "first": first, "second": second}
    ).assign(repeat=frame["repeat"])
    if (doubled := key.duplicated().to_numpy()).any():
        row = int(np.flatnonzero(doubled)[0])
        earlier = int(np.flatnonzero(key.eq(key.iloc[row]).all(axis=1).to_numpy())[0])
        remedy = "remove one" + ("" if rows.apart else ", or number them in a column `repeat`")
        raise SelfprefError(
            f"{rows.where(row)}: the same item, pair, judge and order as {rows.where(earlier)}; "
            f"{remedy}"
        )
    failed = frame["status"].fillna("unparsable").mask(pd.Series(empty), "low-mass")
    return pd.DataFrame(
        {
            "item_id": f"{dataset}/" + frame["item"],
            "judge": frame["judge"],
            "candidates": pd.array(candidates, dtype=pd.ArrowDtype(candidates.type)),
            "order_known": frame["order"].notna(),
            "probabilities": pd.array(shares, dtype=pd.ArrowDtype(shares.type)),
            "mass": one + two,
            "choice": choice,
            "repeat": frame["repeat"],
            "status": failed.mask(choice.notna(), "ok"),
        }
    )


def tables_of(
    rows: Rows,
    dataset: str,
    study: str,
    judges: Iterable[str] | None = None,
    votes: Rows | None = None,
) -> Frames:
    """The tables of gathered rows.

    Args:
        rows: Verdicts with votes beside them, and votes.
        dataset: Prefix of the item ids, `<dataset>/<item>`.
        study: The study whose tables they fill.
        judges: Whose verdicts to keep; left out: all.
        votes: Votes from another file.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: A name, order or choice is no good, a verdict stands there twice, or votes
            contradict each other; names file and line.
    """
    sources = [_checked(part) for part in (rows, votes) if part is not None]
    found = sources[0]
    labels = pd.concat([_votes(part, dataset) for part in sources], ignore_index=True)
    key = ["item_id", "responder_a", "responder_b", "annotator"]
    judged = found.frame["judge"].notna()
    if judges is not None:
        judged &= found.frame["judge"].isin(list(judges))
    made = {
        "items": _items((part.frame for part in sources), dataset),
        "responses": _responses(found.frame, dataset),
        "labels": labels.assign(repeat=labels.groupby(key, sort=False).cumcount()),
        "verdicts": _verdicts(found.of(found.frame[judged]), dataset),
    }
    return {name: tables.fill(table, name, study=study) for name, table in made.items()}


def places(read: Iterator[tuple[int, dict[str, Any]]], path: Path) -> Read:
    """Records of one file with its path."""
    for number, record in read:
        yield path, number, record
