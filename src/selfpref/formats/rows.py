"""Rows of judgments, whatever file they come from, and the tables that they make.

A format turns each record of a file into a *row*: who compared which two responses to which item,
and what came of it. A row is a judge's verdict, with a person's vote beside it or without one, or a
vote alone (`judge` is missing). The columns are those of this project's own format
(`selfpref.formats.pairs`), `status` (why a verdict is missing), and `file` and `line`, where the
row stands.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.tables.schemas import TIE

Frames = dict[str, pd.DataFrame]
# The file (with the word for a place in it: `f.jsonl, line`), the number of the place, the record.
Read = Iterable[tuple[str, int, Mapping[str, Any]]]
WHO = ("item", "responder_a", "responder_b")
TEXTS = ("prompt", "text_a", "text_b")
NAMED = (*WHO, "label", "judge", "order", "verdict", "annotator", "cluster", "category", "status")
PROBABILITIES = ("probability_a", "probability_b")
ORDERS = ("ab", "ba")
HUMAN = "human"
# Records are gathered so many at a time: as Python's, a million take gigabytes.
CHUNK = 50_000
# Of a value in an error.
MOST_SHOWN = 60


def where(frame: pd.DataFrame, row: int) -> str:
    """The place of a row, for an error."""
    return f"{frame['file'].iloc[row]} {frame['line'].iloc[row]}"


def refuse(frame: pd.DataFrame, wrong: pd.Series, reason: str, **more: str) -> None:
    """End with the first row of a mask.

    Args:
        frame: Rows with their places.
        wrong: The mask.
        reason: What to say after the place; `{column}` is the row's value there.
        more: Other words of the reason.

    Raises:
        SelfprefError: There is such a row.
    """
    if len(found := np.flatnonzero(wrong)):
        values = frame.iloc[found[0]].to_dict()
        shown = {
            name: repr(None if isinstance(value, float) and np.isnan(value) else value)[:MOST_SHOWN]
            for name, value in values.items()
        }
        told = reason.format_map({**shown, **more})
        raise SelfprefError(f"{where(frame, int(found[0]))}: {told}")


def refuse_again(frame: pd.DataFrame, keys: pd.DataFrame, wrong: pd.Series, reason: str) -> None:
    """As `refuse`; `{before}` is the place of the first row with the same key."""
    if len(found := np.flatnonzero(wrong)):
        first = np.flatnonzero(keys.eq(keys.iloc[found[0]]).all(axis=1))[0]
        refuse(frame, wrong, reason, before=where(frame, int(first)))


def named(raw: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Some columns of records under other names, missing where no record has them; the places."""
    return raw.reindex(columns=[*names, "file", "line"]).rename(columns=names)


def filled(raw: pd.DataFrame, name: str) -> pd.Series:
    """Where a column of records has a value; nowhere, where no record has the column."""
    if name not in raw:
        return pd.Series(False, index=raw.index)
    return raw[name].notna() & raw[name].ne("")


def numbers(raw: pd.DataFrame, name: str) -> pd.Series:
    """The numbers in a column of records; NaN where there is none."""
    if name not in raw:
        return pd.Series(np.nan, index=raw.index)
    return pd.to_numeric(raw[name].astype("str"), errors="coerce").astype(float)


def renamed(frame: pd.DataFrame, alias: Mapping[str, str]) -> pd.DataFrame:
    """Rows with other names of judges and responders.

    Raises:
        SelfprefError: Both responses of a pair get one name.
    """
    if not alias:
        return frame
    names = {name: frame[name].replace(dict(alias)) for name in (*WHO[1:], "judge")}
    # A vote or verdict that names a responder names it as the row does.
    frame = frame.assign(**names, **_sides(frame))
    same = frame["responder_a"].eq(frame["responder_b"])
    refuse(frame, same, "--alias makes both responders {responder_a}; drop one alias")
    return frame


def gather(
    read: Read, rows: Callable[[pd.DataFrame], pd.DataFrame], *, texts: bool
) -> pd.DataFrame:
    """Records as rows.

    Args:
        read: File, line and record.
        rows: From records, as columns of Python's values with `file` and `line`, to rows.
        texts: Whether prompts and responses are kept.

    Returns:
        `NAMED` and `TEXTS` as text, null where missing; `PROBABILITIES`, NaN where missing;
        `repeat`, NaN where the format has none; `file` and `line`, the place. A vote without a
        judge beside it is one of its own.

    Raises:
        SelfprefError: A list or mapping stands where a name or text does.
    """
    left, parts = iter(read), []
    while chunk := list(islice(left, CHUNK)):
        files, lines, records = zip(*chunk, strict=True)
        raw = pd.DataFrame(list(records), dtype=object).assign(file=files, line=lines)
        parts.append(_typed(rows(raw), texts))
    return pd.concat(parts, ignore_index=True)


def _typed(rows: pd.DataFrame, texts: bool) -> pd.DataFrame:
    """Texts, empty ones missing and numbers written out; numbers."""
    names = [*NAMED, *TEXTS]
    kept = rows if texts else rows.drop(columns=[*TEXTS], errors="ignore")
    frame = kept.reindex(columns=[*names, *PROBABILITIES, "repeat", "file", "line"])
    for name in names:
        nested = frame[name].map(lambda value: isinstance(value, dict | list))
        refuse(frame, nested, f"{name} {{{name}}}; give a text or a number")
        frame[name] = frame[name].astype("str").replace("", None)
    return frame.astype(dict.fromkeys((*PROBABILITIES, "repeat"), float) | {"file": "str"})


def _sides(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """Labels and verdicts as `a`, `b` or `tie`; others, and missing ones, as they are."""
    found = {}
    for column in ("label", "verdict"):
        value = frame[column]
        for side, name in (("a", "responder_a"), ("b", "responder_b")):
            value = value.mask(value.eq(frame[name]) & value.ne(TIE), side)
        found[column] = value
    return found


def _checked(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of which names, orders and choices are known to be good; choices as `a`, `b`, `tie`."""
    for name in (*WHO, "judge"):
        unprintable = [value for value in frame[name].dropna().unique() if not value.isprintable()]
        wrong = frame[name].isin(unprintable)
        refuse(frame, wrong, f"{name} {{{name}}} is not printable; rename it")
    for name in WHO[1:]:
        side = frame[name].isin(("a", "b", TIE))
        refuse(frame, side, f"{name} {{{name}}} is what a label calls a side; rename it")
    same = frame["responder_a"].eq(frame["responder_b"])
    refuse(frame, same, "responder_a and responder_b are both {responder_a}; give two")
    unknown = frame["order"].notna() & ~frame["order"].isin(ORDERS)
    refuse(frame, unknown, "order {order}; give ab, ba or leave it empty")
    sides = _sides(frame)
    for name, side in sides.items():
        refuse(
            frame,
            side.notna() & ~side.isin(("a", "b", TIE)),
            f"{name} names the unknown responder {{{name}}}; "
            "give a, b, tie, {responder_a} or {responder_b}, or leave it empty",
        )
    return frame.assign(**sides)


def _items(frame: pd.DataFrame, dataset: str) -> pd.DataFrame:
    first = frame.drop_duplicates("item")
    return pd.DataFrame(
        {
            "item_id": f"{dataset}/" + first["item"],
            "category": first["category"],
            "cluster": f"{dataset}/" + first["cluster"].fillna(first["item"]),
            "messages": [
                [{"role": "user", "content": text}] if isinstance(text, str) else []
                for text in first["prompt"]
            ],
        }
    )


def _responses(frame: pd.DataFrame, dataset: str) -> pd.DataFrame:
    columns = ["item_id", "responder", "text"]
    sides = (frame[["item", f"responder_{side}", f"text_{side}"]] for side in "ab")
    found = pd.concat([side.set_axis(columns, axis=1) for side in sides], ignore_index=True)
    found = found.dropna(subset="text").drop_duplicates(["item_id", "responder"])
    return found.assign(item_id=f"{dataset}/" + found["item_id"])


def _turned(
    frame: pd.DataFrame, one: str, two: str, turn: pd.Series
) -> tuple[pd.Series, pd.Series]:
    """Two columns, changed for each other in some rows."""
    return frame[one].where(~turn, frame[two]), frame[two].where(~turn, frame[one])


def _votes(frame: pd.DataFrame, dataset: str) -> pd.DataFrame:
    """Votes, each turned to the responder whose name sorts first."""
    frame = frame[frame["label"].notna()].reset_index(drop=True)
    swapped = frame["responder_a"] > frame["responder_b"]
    first, second = _turned(frame, "responder_a", "responder_b", swapped)
    turned = frame["label"].map({"a": "b", "b": "a", TIE: TIE})
    key = {
        "item_id": f"{dataset}/" + frame["item"],
        "responder_a": first,
        "responder_b": second,
        "annotator": frame["annotator"].fillna(HUMAN),
        # Beside a judge's verdicts a vote stands once a judge and order, and counts once.
        "repeat": np.where(frame["judge"].isna(), frame.index, -1),
    }
    votes = pd.DataFrame({**key, "label": frame["label"].where(~swapped, turned)})
    said = votes.drop_duplicates()
    refuse_again(
        frame.loc[said.index],
        said[list(key)],
        said.duplicated(list(key)),
        "label {label} contradicts {before}; "
        "if two people voted, name them in a column `annotator`",
    )
    return said.assign(repeat=said.groupby([*key][:-1], sort=False).cumcount())


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """Verdicts without those that stand there again, beside the vote of another person."""
    if frame["annotator"].isna().all():
        return frame.reset_index(drop=True)
    said = [*WHO, "judge", "order", "repeat", "verdict", *PROBABILITIES, "status"]
    another = frame["annotator"].notna() & ~frame.duplicated([*said, "annotator"])
    return frame[~(frame.duplicated(said) & another)].reset_index(drop=True)


def _pairs(one: pd.Series, two: pd.Series) -> list[list[Any] | None]:
    """Lists of two; None where the first is missing."""
    there = one.notna()
    return [list(pair) if given else None for *pair, given in zip(one, two, there, strict=True)]


def _verdicts(frame: pd.DataFrame, dataset: str) -> pd.DataFrame:
    side, (one, two) = frame["verdict"], (frame[name] for name in PROBABILITIES)
    empty = (one + two).eq(0)
    told = one.notna() & ~empty
    likelier = pd.Series(np.select([one > two, one < two], ["a", "b"], TIE), index=frame.index)
    refuse(
        frame,
        told & side.notna() & side.ne(likelier),
        "the verdict {verdict} contradicts the probabilities; give one of them",
    )
    side = side.mask(told, likelier).mask(empty)
    choice = side.mask(side.eq("a"), frame["responder_a"]).mask(side.eq("b"), frame["responder_b"])
    turned = frame["order"].eq("ba")
    first, second = _turned(frame, "responder_a", "responder_b", turned)
    repeat = frame["repeat"].fillna(0).astype("int64")
    key = frame[["item", "judge"]].assign(repeat=repeat, first=first, second=second)
    numbered = ", or number them in a column `repeat`" if frame["repeat"].notna().any() else ""
    refuse_again(
        frame,
        key,
        key.duplicated(),
        f"the same item, pair, judge and order as {{before}}; remove one{numbered}",
    )
    failed = frame["status"].fillna("unparsable").mask(empty, "low-mass")
    return pd.DataFrame(
        {
            "item_id": f"{dataset}/" + frame["item"],
            "judge": frame["judge"],
            "candidates": _pairs(first, second),
            "order_known": frame["order"].notna(),
            "probabilities": _pairs(*_turned(frame, *PROBABILITIES, turned)),
            "mass": one + two,
            "choice": choice,
            "repeat": repeat,
            "status": failed.mask(choice.notna(), "ok"),
        }
    )


def tables_of(
    rows: pd.DataFrame, dataset: str, study: str, judges: Iterable[str] | None = None
) -> Frames:
    """The tables of gathered rows.

    Args:
        rows: Verdicts with votes beside them, and votes.
        dataset: Prefix of the item ids, `<dataset>/<item>`.
        study: The study whose tables they fill.
        judges: Whose verdicts to keep; left out: all.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: A name, order or choice is no good, a verdict stands there twice, or votes
            contradict each other; names file and line.
    """
    frame = _checked(rows)
    judged = frame["judge"].notna() if judges is None else frame["judge"].isin(list(judges))
    made = {
        "items": _items(frame, dataset),
        "responses": _responses(frame, dataset),
        "labels": _votes(frame, dataset),
        "verdicts": _verdicts(_once(frame[judged]), dataset),
    }
    return {name: tables.fill(table, name, study=study) for name, table in made.items()}
