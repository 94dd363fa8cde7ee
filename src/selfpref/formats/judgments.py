"""Which format a file of judgments has, by its fields; and its rows.

| format | fields |
|---|---|
| pairs | item, responder_a, responder_b, judge (`selfpref.formats.pairs`) |
| fastchat | question_id, model_1, model_2, g1_winner, g2_winner, judge |
| arena | question_id or id, model_a, model_b, winner or winner_tie |
| arena-hard | uid or question_id, model, judge, games |
| alpaca-eval | instruction, generator_1, generator_2, annotator, preference |
| reviews | question_id or message_id, score; the names in the file's name |

A format is recognised by the first record, which has to have all of its fields.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.formats import alpaca_eval, arena, arena_hard, fastchat, pairs, reviews
from selfpref.formats.records import Records, records
from selfpref.formats.rows import Read, gather, refuse

AUTO = "auto"
# Of a file of marks, which holds no judgments (`selfpref.card.marks`).
MARKS = ("item", "judge", "responder", "score", "key")
# Fields that have to be there and may be empty; all others that have to be there hold names.
EMPTY = {"label", "g1_winner", "g2_winner", "preference", "games", *reviews.FIELDS}
EMPTY |= {"winner or winner_tie"}


class Format(NamedTuple):
    """One format of files.

    Attributes:
        fields: What every record of judgments has.
        voted: What every record of votes has; None where the format has none.
        rows: From records to rows.
        place: What a place in a file is called.
        field: What a field is called.
    """

    fields: tuple[str, ...]
    voted: tuple[str, ...] | None
    rows: Callable[[pd.DataFrame], pd.DataFrame]
    place: str = "line"
    field: str = "field"


PAIRS = Format(pairs.REQUIRED, pairs.VOTED, pairs.rows, field="column")
ALPACA = Format(alpaca_eval.FIELDS, alpaca_eval.FIELDS, alpaca_eval.rows, place="entry")
FORMATS: Mapping[str, Format] = {
    "pairs": PAIRS,
    "fastchat": Format(fastchat.FIELDS, None, fastchat.rows),
    "arena": Format(arena.FIELDS, arena.FIELDS, arena.rows),
    "arena-hard": Format(arena_hard.FIELDS, None, arena_hard.rows),
    "alpaca-eval": ALPACA,
    "reviews": Format(reviews.FIELDS, reviews.FIELDS, reviews.rows),
}


def _files(path: Path) -> list[Path]:
    """The file, or the review files of a folder."""
    if not path.exists():
        raise SelfprefError(f"{path}: no such file; correct the path or `source`")
    if not path.is_dir():
        return [path]
    found = sorted(
        file for file in path.rglob("*.json*") if file.is_file() and reviews.is_review(file)
    )
    if not found:
        raise SelfprefError(
            f"{path}: a folder without review files (<first>-vs-<second>-<judge>-reviewer.jsonl); "
            "give one file"
        )
    return found


def _lacking(record: Mapping[str, Any], fields: Sequence[str]) -> list[str]:
    """The fields that a record has not, by any of their names."""
    return [field for field in fields if not any(name in record for name in field.split(" or "))]


def _called(found: Records, path: Path, columns: Mapping[str, str]) -> Records:
    """The records with columns under other names, by the file's own."""
    if not columns:
        yield from found
        return
    for number, record in found:
        if lacking := [name for name in columns if name not in record]:
            there = ", ".join(map(repr, list(record)[:12]))
            told = f"--columns {columns[lacking[0]]}={lacking[0]}: no such column; it has {there}"
            raise SelfprefError(f"{path}: {told}")
        yield number, {columns.get(name, name): value for name, value in record.items()}


def unread(path: Path, columns: Mapping[str, str]) -> list[str]:
    """The columns of a file in this project's own format that nothing reads, sorted."""
    file = _files(path)[0]
    if _recognised(file, columns=columns) is not PAIRS:
        return []
    _, record = next(_called(records(file), file, columns))
    return sorted({*record} - {*pairs.REQUIRED, *pairs.OPTIONAL})


def _recognised(
    path: Path, wanted: str = AUTO, *, columns: Mapping[str, str], voted: bool = False
) -> Format:
    """The format of a file.

    Raises:
        SelfprefError: Its first record has not all fields of the wanted format, or of any.
    """
    if wanted not in (AUTO, *FORMATS):
        raise SelfprefError(f"--format {wanted}: unknown; choose of {', '.join((AUTO, *FORMATS))}")
    _, record = next(_called(records(path), path, columns), (0, None))
    if record is None:
        raise SelfprefError(f"{path}: no record; is the file empty?")
    told, looked, least = "of no known format", [], len(record) + 1
    for name, form in FORMATS.items():
        needed = form.voted if voted else form.fields
        if wanted not in (AUTO, name) or needed is None:
            continue
        if not (lacking := _lacking(record, needed)):
            return form
        looked.append(f"{name}: {', '.join(needed)}")
        if wanted == name or len(lacking) < min(least, len(needed) / 2):
            near = "" if wanted == name else f" for the format {name}, the nearest"
            told, least = f"no {form.field} {', '.join(map(repr, lacking))}{near}", len(lacking)
    if wanted == AUTO and not voted:
        looked.append(f"marks: {', '.join(MARKS)}")
    shown = ", ".join(map(repr, list(record)[:12])) or "none"
    other = "" if voted else " (other names: --columns item=NAME)"
    raise SelfprefError(
        f"{path}: {told}; it has the fields {shown}\nlooked for {'; '.join(looked)}{other}"
    )


def _checked(found: Records, file: str, form: Format, *, voted: bool) -> Read:
    """The records, all of which have the fields, and values in those that hold names."""
    needed = (form.voted if voted else None) or form.fields
    filled = [name for name in needed if name not in EMPTY]
    fields: tuple[str, ...] = ()
    for number, record in found:
        # Records mostly have the fields of the one before.
        if fields != (fields := tuple(record)) and (lacking := _lacking(record, needed)):
            told = f"no {form.field} {lacking[0]!r}; it needs {', '.join(needed)}"
            raise SelfprefError(f"{file} {number}: {told}")
        for name in filled:
            if all(record.get(one) in (None, "", []) for one in name.split(" or ")):
                raise SelfprefError(f"{file} {number}: {name} is empty; fill it or remove it")
        yield file, number, record


def called(judges: Sequence[str], aliases: Mapping[str, str]) -> list[str]:
    """The names that judges may have in a file: their own, and those that aliases turn into them.

    >>> called(["gpt-4"], {"gpt4": "gpt-4", "x": "y"})
    ['gpt-4', 'gpt4']
    """
    return [*judges, *(old for old, new in aliases.items() if new in judges)]


def read(
    path: Path,
    wanted: str = AUTO,
    judges: Sequence[str] = (),
    *,
    texts: bool = False,
    columns: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """The rows of a file of judgments, or of a folder of review files.

    Args:
        path: The file or folder.
        wanted: A format, or `auto`.
        judges: Names that judges may have, where only file names tell them.
        texts: Whether prompts and responses are kept.
        columns: What columns of the file are to be called, by their names there.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    files = _files(path)
    form = _recognised(files[0], wanted, columns=columns)
    rows = partial(reviews.rows, judges=judges) if form.rows is reviews.rows else form.rows
    found = gather(_read(files, form, columns), rows, texts=texts)
    nobody = found["judge"].isna() & found["annotator"].isna()
    refuse(found, nobody, "no judge; name the judge, or give votes as --votes")
    return found


def votes(path: Path) -> pd.DataFrame:
    """The votes of a file of votes, each a row.

    Raises:
        SelfprefError: As `read`.
    """
    files = _files(path)
    form = _recognised(files[0], columns={}, voted=True)
    return _voted(_read(files, form, {}, voted=True), form)


def of_frame(frame: pd.DataFrame, name: str, *, voted: bool = False) -> pd.DataFrame:
    """The rows of a frame in the columns of `selfpref.formats.pairs`.

    Args:
        frame: A row a verdict; a vote, where it was `voted`.
        name: Of the frame, for errors.
        voted: Whether it holds votes alone.

    Raises:
        SelfprefError: A row breaks the rules of the format; names row and column.
    """
    values = frame.astype(object).where(frame.notna(), None).rename(columns=str)
    found = enumerate(values.to_dict("records"))
    read = _checked(found, f"{name}, row", PAIRS, voted=voted)
    return _voted(read, PAIRS) if voted else gather(read, pairs.rows, texts=False)


def _read(
    files: Sequence[Path], form: Format, columns: Mapping[str, str], *, voted: bool = False
) -> Read:
    for path in files:
        found = _called(records(path), path, columns)
        yield from _checked(found, f"{path}, {form.place}", form, voted=voted)


def _voted(read: Read, form: Format) -> pd.DataFrame:
    """Votes alone, whatever else a file says."""
    found = gather(read, form.rows, texts=False)
    if form in (FORMATS["arena"], ALPACA):
        # Whoever judges in a file of votes is a person.
        said = {"annotator": "judge", "label": "verdict"}
        found = found.assign(**{name: found[name].fillna(found[by]) for name, by in said.items()})
    return found.assign(judge=pd.Series(None, found.index, "str"))
