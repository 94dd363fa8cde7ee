"""Records of files, the rows of judgments that formats make of them, and the tables of rows.

*Records* are those of JSON Lines, a JSON list, CSV, TSV or parquet, with errors that name the line.
What a file holds is told by how it begins, whatever its name; texts may be packed by gzip.

A format turns each record of a file into *rows*: who compared which two responses to which item,
and what came of it. A row is a judge's verdict, with a person's vote beside it or without one, or a
vote alone (`judge` is missing). The columns are those of this project's own format
(`selfpref.formats.judgments`), `status` (why a verdict is missing), and `place`, the file and line
where the row stands.
"""

import csv
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyarrow import ArrowException, parquet

from selfpref import tables, texts
from selfpref.errors import SelfprefError
from selfpref.tables.schemas import ROUNDING, TIE

Record = dict[str, Any]
# What is called how: other names of judges, or what a file calls a column, by its name.
Names = Mapping[str, str]
NO_NAMES: Names = {}
# A place, `f.jsonl, line 3`, and what stands there.
Records = Iterator[tuple[str, Record]]
# A response may be longer than the 128 KB at which the csv module gives up.
csv.field_size_limit(2**31 - 1)
PARQUET, GZIP = b"PAR1", b"\x1f\x8b"
# What is wrong with a file that is cut off, of another kind, or no UTF-8.
WRONG = (EOFError, zlib.error, ValueError, RecursionError, OSError, csv.Error, ArrowException)
REMEDY = "give a whole file of JSON lines, a JSON list, CSV, TSV or parquet, in UTF-8"
# Records are gathered so many at a time: as Python's, a million take gigabytes.
CHUNK = 50_000
Frames = dict[str, pd.DataFrame]
PAIR = ("responder_a", "responder_b")
WHO = ("item", *PAIR)
TEXTS = ("prompt", "text_a", "text_b")
NAMED = (*WHO, "label", "judge", "order", "verdict", "annotator", "cluster", "category", "status")
PROBABILITIES = ("probability_a", "probability_b")
HUMAN = "human"
SIDES = ("a", "b", TIE)


class Lines:
    """The lines of a text file, packed by gzip or not, and the number of the last one."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0

    def __iter__(self) -> Iterator[str]:
        with self.path.open("rb") as plain:
            packed = plain.read(2) == GZIP
        with (gzip.open if packed else open)(self.path, "rb") as handle:
            for self.number, line in enumerate(handle, start=1):
                yield line.decode("utf-8-sig")


def _decoded(text: str) -> Any:
    """What a JSON text says, without lone surrogates, which no file of text can hold."""
    found = json.loads(text)
    if "\\ud" in text.lower():
        return json.loads(texts.whole(json.dumps(found, ensure_ascii=False)))
    return found


def _parsed(lines: Lines) -> Iterator[tuple[str, Any]]:
    """Whatever stands in each place, and the place."""
    with lines.path.open("rb") as handle:
        if handle.read(4) == PARQUET:
            batches = parquet.ParquetFile(lines.path).iter_batches()
            rows = chain.from_iterable(batch.to_pylist() for batch in batches)
            yield from zip(map("row {}".format, count(1)), rows, strict=False)
            return
    left = iter(lines)
    first = next(filter(str.strip, left), "")
    text = chain([first], left)
    if first.lstrip().startswith("["):
        entries = _decoded("".join(Lines(lines.path)))
        yield from zip(map("entry {}".format, count(1)), entries, strict=False)
    elif first.lstrip().startswith("{"):
        yield from ((f"line {lines.number}", _decoded(line)) for line in text if line.strip())
    elif first:
        delimiter = max(",\t;", key=first.count)
        for row in csv.DictReader(text, strict=True, delimiter=delimiter):
            if None in row or None in row.values():
                raise ValueError("not as many cells as columns (quote cells with commas)")
            yield f"line {lines.number}", row


def records(path: Path, columns: Names = NO_NAMES) -> Records:
    """Place and record of each line of a text, entry of a JSON list, or row of parquet.

    Args:
        path: The file.
        columns: What the file calls a field, by its name.

    Raises:
        SelfprefError: It is none of them, or cut off; names file and line.
    """
    called: Names = {there: name for name, there in columns.items()}
    lines = Lines(path)
    try:
        for place, found in _parsed(lines):
            if not isinstance(found, dict):
                told = f"{str(found)[:20]} is not a JSON object"
                raise SelfprefError(f"{path}, {place}: {told}; {REMEDY}")
            yield f"{path}, {place}", {called.get(key, key): found[key] for key in found}
    except WRONG as error:
        if strerror := getattr(error, "strerror", None):
            raise SelfprefError(f"{path}: {strerror}; correct the path or `source`") from error
        line = max(lines.number, getattr(error, "lineno", 0))
        reason = str(getattr(error, "msg", error)).partition("\n")[0]
        where = f"{path}, line {line}" if line else path
        raise SelfprefError(f"{where}: {reason}; {REMEDY}") from error


# What studies call it that read files of lines alone.
json_lines = records


def frames(found: Records) -> Iterator[pd.DataFrame]:
    """Records, some at a time, as columns of Python's values, and their `place`."""
    while chunk := [*islice(found, CHUNK)]:
        places, rows = zip(*chunk, strict=True)
        yield pd.DataFrame([*rows], dtype=object).assign(place=places)


def refuse(frame: pd.DataFrame, wrong: pd.Series, reason: str, **more: str) -> None:
    """End with the first row of a mask.

    Args:
        frame: Rows with their `place`.
        wrong: The mask.
        reason: What to say after the place; `{column}` is the row's value there.
        more: Other words of the reason.

    Raises:
        SelfprefError: There is such a row.
    """
    if wrong.any():
        row = frame[wrong].iloc[0]
        shown = {name: repr(value)[:60] for name, value in row.to_dict().items()}
        raise SelfprefError(f"{row['place']}: {reason.format_map(shown | more)}")


def refuse_again(frame: pd.DataFrame, key: Sequence[str], reason: str) -> None:
    """End with the first row whose key stands there before; `{before}` is that place."""
    keys = frame[[*key]]
    if (again := keys.duplicated()).any():
        same = keys.eq(keys[again].iloc[0]).all(axis=1)
        refuse(frame, again, reason, before=frame.loc[same, "place"].iloc[0])


def numbers(raw: pd.DataFrame, name: str) -> pd.Series:
    """The numbers in a column; NaN where there is none.

    Raises:
        SelfprefError: A value is no number; names the place.
    """
    found = pd.to_numeric(raw[name].astype("str"), errors="coerce").astype(float)
    given = raw[name].notna() & raw[name].ne("")
    refuse(raw, given & ~np.isfinite(found), f"{name} {{{name}}} is no number")
    return found


def whole(
    path: Path,
    names: Sequence[str],
    values: Sequence[str],
    optional: Sequence[str] = (),
    called: Names = NO_NAMES,
    alias: Names = NO_NAMES,
) -> pd.DataFrame:
    """The rows of a file of these columns, and their `place`.

    Args:
        path: The file.
        names: Those that hold a text, which together are a row's own.
        values: Those that hold a number.
        optional: Texts that a row may leave out.
        called: What the file calls a column, by its name.
        alias: Other names of those who stand in all columns of text but the first.

    Raises:
        SelfprefError: One is missing, unknown or no number, or a row stands there twice; names
            file, line and column.
    """
    columns = [*names, *values]
    known = [*columns, *optional, "place"]
    parts = [pd.DataFrame(columns=known), *frames(records(path, called))]
    rows = pd.concat(parts, ignore_index=True)
    for name in columns:
        empty = rows[name].isna() | rows[name].eq("")
        refuse(rows, empty, f"no {name!r}; it needs {', '.join(columns)}")
    for name in rows.columns.difference(known):
        refuse(rows, rows[name].notna(), f"unknown column {name!r}; remove or rename it")
    rows = rows[known].astype(dict.fromkeys([*names, *optional], "str"))
    rows = rows.assign(**{name: numbers(rows, name) for name in values})
    rows = renamed(rows, alias, names[1:])
    refuse_again(rows, names, f"the same {', '.join(names)} as in {{before}}; keep one row")
    return rows


def typed(raw: pd.DataFrame, texts: bool = False) -> pd.DataFrame:
    """Rows that are good.

    Args:
        raw: Columns of Python's values, and `place`.
        texts: Whether prompts and responses are kept.

    Returns:
        `NAMED` and `TEXTS` as text, null where missing, labels and verdicts as `a`, `b` or `tie`;
        `PROBABILITIES` and `repeat`, NaN where missing; and `place`.

    Raises:
        SelfprefError: A name, order, choice or number is none; names file and line.
    """
    text, numeric = [*NAMED, *TEXTS, "place"], [*PROBABILITIES, "repeat"]
    kept = raw if texts else raw.drop(columns=[*TEXTS], errors="ignore")
    frame = kept.reindex(columns=[*text, *numeric])
    frame[text] = frame[text].astype("str").replace("", None)
    taken = {"item": (None,), **dict.fromkeys(PAIR, (None, *SIDES)), "judge": ()}
    for name, bad in taken.items():
        odd = [one for one in frame[name].dropna().unique() if not one.isprintable()]
        told = f"{name} {{{name}}}; fill or rename it: names are printable, and none is a, b or tie"
        refuse(frame, frame[name].isin([*bad, *odd]), told)
    known = frame["order"].isin(("ab", "ba", None))
    refuse(frame, ~known, "order {order}; give ab, ba or leave it empty")
    for name in ("label", "verdict"):
        for side, responder in zip("ab", PAIR, strict=True):
            frame[name] = frame[name].mask(frame[name].eq(frame[responder]), side)
        known = frame[name].isin((*SIDES, None))
        refuse(frame, ~known, f"{name} {{{name}}}; give a, b, tie or a responder")
    for name in numeric:
        frame[name] = numbers(frame, name)
    one, two = (frame[name] for name in PROBABILITIES)
    bad = one.isna().ne(two.isna()) | one.lt(0) | two.lt(0) | (one + two).gt(1 + ROUNDING)
    told = "give two from 0 to 1, in sum 1 at most, not logarithms or percentages"
    refuse(frame, bad, f"probabilities {{probability_a}}, {{probability_b}}; {told}")
    return frame


def renamed(
    frame: pd.DataFrame, alias: Names, names: Sequence[str] = (*PAIR, "judge")
) -> pd.DataFrame:
    """Rows with other names of judges and responders, who stand in these columns."""
    return frame.replace({name: dict(alias) for name in names})


def _turned(frame: pd.DataFrame, turn: pd.Series, *pairs: Sequence[str]) -> pd.DataFrame:
    """The frame with the two columns of each pair changed for each other in some rows."""
    made = frame.copy()
    for pair in pairs:
        made.loc[turn, [*pair]] = frame.loc[turn, [*pair[::-1]]].to_numpy()
    return made


def _votes(frame: pd.DataFrame) -> pd.DataFrame:
    """Votes, each turned to the responder whose name sorts first."""
    frame = frame[frame["label"].notna()].reset_index(drop=True)
    swapped = frame["responder_a"] > frame["responder_b"]
    votes = _turned(frame, swapped, PAIR).assign(
        annotator=frame["annotator"].fillna(HUMAN),
        # Beside a judge's verdicts a vote stands once a judge and order, and counts once.
        repeat=np.where(frame["judge"].isna(), frame.index, -1),
        side=frame["label"].mask(swapped, frame["label"].replace({"a": "b", "b": "a"})),
    )
    key = ["item_id", *PAIR, "annotator"]
    said = votes.drop_duplicates([*key, "repeat", "side"])
    told = "label {label} contradicts {before}; if two people voted, name them in `annotator`"
    refuse_again(said, [*key, "repeat"], told)
    return said[key].assign(label=said["side"], repeat=said.groupby(key, sort=False).cumcount())


def _once(frame: pd.DataFrame) -> pd.DataFrame:
    """Verdicts without those that stand there again, beside the vote of another person."""
    said = [*WHO, "judge", "order", "repeat", "verdict", *PROBABILITIES, "status"]
    another = frame["annotator"].notna() & ~frame.duplicated([*said, "annotator"])
    return frame[~(frame.duplicated(said) & another)].reset_index(drop=True)


def _verdicts(frame: pd.DataFrame) -> pd.DataFrame:
    side, (one, two) = frame["verdict"], (frame[name] for name in PROBABILITIES)
    empty = (one + two).eq(0)
    told = one.notna() & ~empty
    likelier = pd.Series(np.select([one > two, one < two], ["a", "b"], TIE), index=frame.index)
    other = told & side.notna() & side.ne(likelier)
    refuse(frame, other, "the verdict {verdict} contradicts the probabilities; give one")
    side = side.mask(told, likelier).mask(empty)
    choice = side.mask(side.eq("a"), frame["responder_a"]).mask(side.eq("b"), frame["responder_b"])
    read = _turned(frame, frame["order"].eq("ba"), PAIR, PROBABILITIES)
    read["repeat"] = frame["repeat"].fillna(0).astype("int64")
    again = "the same item, pair, judge and order as {before}"
    remedy = "remove one, or number them in `repeat`"
    refuse_again(read, [*WHO, "judge", "repeat"], f"{again}; {remedy}")
    failed = frame["status"].fillna("unparsable").mask(empty, "low-mass")
    given = pd.Series(read[[*PROBABILITIES]].to_numpy().tolist(), frame.index)
    return read[["judge", "repeat", "item_id"]].assign(
        candidates=read[[*PAIR]].to_numpy(object).tolist(),
        order_known=frame["order"].notna(),
        probabilities=given.where(one.notna(), None),
        mass=one + two,
        choice=choice,
        status=failed.mask(choice.notna(), "ok"),
    )


def tables_of(
    rows: pd.DataFrame, dataset: str, study: str, judges: Iterable[str] | None = None
) -> Frames:
    """The tables of rows.

    Args:
        rows: Verdicts with votes beside them, and votes, as `typed` returns them.
        dataset: Prefix of the item ids, `<dataset>/<item>`.
        study: The study whose tables they fill.
        judges: Whose verdicts to keep; left out: all.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: Both responses are of one name, a verdict stands there twice, or votes
            contradict each other; names file and line.
    """
    same = rows["responder_a"].eq(rows["responder_b"])
    refuse(rows, same, "both responders are {responder_a}; give two, or drop an alias")
    judged = rows["judge"].notna() if judges is None else rows["judge"].isin(list(judges))
    cluster = rows["cluster"].fillna(rows["item"])
    rows = rows.assign(item_id=f"{dataset}/" + rows["item"], cluster=f"{dataset}/" + cluster)
    items, sides = rows.drop_duplicates("item"), {"responder": [*PAIR], "text": [*TEXTS[1:]]}
    asked = items["prompt"].fillna("")
    messages = [[{"role": "user", "content": text}] if text else [] for text in asked]
    written = pd.lreshape(rows[["item_id", *PAIR, *TEXTS[1:]]], sides)
    made = {
        "items": items[["category", "item_id", "cluster"]].assign(messages=messages),
        "responses": written.drop_duplicates(["item_id", "responder"]),
        "labels": _votes(rows),
        "verdicts": _verdicts(_once(rows[judged])),
    }
    return {name: tables.fill(table, name, study=study) for name, table in made.items()}
