"""Which format a file of judgments has, by its fields; and its rows.

| format | fields |
|---|---|
| pairs | item, responder_a, responder_b, label, judge, order (`selfpref.formats.pairs`) |
| fastchat | question_id, model_1, model_2, g1_winner, g2_winner, judge |
| arena | question_id, model_a, model_b, winner |
| alpaca-eval | instruction, generator_1, generator_2, annotator, preference |
| reviews | question_id or message_id, score; the names in the file's name |

A format is recognised by the first record, which has to have all of its fields.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.formats import alpaca_eval, arena, fastchat, pairs, reviews
from selfpref.formats.records import Records, entries, rows_of
from selfpref.formats.rows import WHO, Read, Rows, gather

AUTO = "auto"


@dataclass(frozen=True)
class Format:
    """One format of files.

    Attributes:
        fields: What every record of judgments has.
        rows: From records to rows.
        votes: The same of a file of votes; None where the format has none.
        filled: Fields that may not be empty.
        voted: What every record of votes has; left out: `fields`.
        others: All further fields that a record may have; None where any may.
        apart: Whether each vote is one of its own.
        place: What a place in a file is called.
        field: What a field is called.
    """

    fields: tuple[str, ...]
    rows: Callable[[pd.DataFrame], pd.DataFrame]
    votes: Callable[[pd.DataFrame], pd.DataFrame] | None
    filled: tuple[str, ...] = ()
    voted: tuple[str, ...] = ()
    others: tuple[str, ...] | None = None
    apart: bool = True
    place: str = "line"
    field: str = "field"

    def needed(self, voted: bool) -> tuple[str, ...]:
        """What every record of a file has."""
        return self.voted or self.fields if voted else self.fields


FORMATS: Mapping[str, Format] = {
    "pairs": Format(
        pairs.REQUIRED,
        pairs.rows,
        pairs.rows,
        filled=(*WHO, "judge"),
        voted=pairs.VOTED,
        others=(*pairs.REQUIRED, *pairs.OPTIONAL),
        apart=False,
        field="column",
    ),
    "fastchat": Format(
        fastchat.FIELDS,
        fastchat.rows,
        None,
        filled=("question_id", "model_1", "model_2", "judge"),
    ),
    "arena": Format(
        arena.FIELDS,
        arena.rows,
        partial(arena.rows, votes=True),
        filled=("question_id", "model_a", "model_b"),
    ),
    "alpaca-eval": Format(
        alpaca_eval.FIELDS,
        alpaca_eval.rows,
        partial(alpaca_eval.rows, votes=True),
        filled=("instruction", "generator_1", "generator_2", "annotator"),
        place="entry",
    ),
    "reviews": Format(reviews.FIELDS, reviews.rows, reviews.rows),
}


def _files(path: Path) -> list[Path]:
    """The file, or the review files of a folder."""
    if not path.is_dir():
        if not path.exists():
            raise SelfprefError(f"{path}: no such file; correct the path or `source`")
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


def _records(path: Path) -> Records:
    return (rows_of if path.suffix in (".jsonl", ".csv") else entries)(path)


def _has(record: Mapping[str, Any], field: str) -> bool:
    return any(name in record for name in field.split(" or "))


def _recognised(path: Path, wanted: str, voted: bool) -> Format:
    """The format of a file.

    Raises:
        SelfprefError: Its first record has not all fields of the wanted format, or of any.
    """
    if wanted not in (AUTO, *FORMATS):
        raise SelfprefError(f"--format {wanted}: unknown; choose of {', '.join((AUTO, *FORMATS))}")
    _, record = next(_records(path), (0, None))
    if record is None:
        raise SelfprefError(f"{path}: no record; is the file empty?")
    options = {
        name: form
        for name, form in FORMATS.items()
        if wanted in (AUTO, name) and not (voted and form.votes is None)
    }
    for form in options.values():
        if all(_has(record, field) for field in form.needed(voted)):
            return form
    told, looked = "of no known format", []
    for name, form in options.items():
        needed = form.needed(voted)
        looked.append(f"{name}: {', '.join(needed)}")
        if wanted == name:
            told = f"no {form.field} {next(f for f in needed if not _has(record, f))!r}"
    shown = ", ".join(map(repr, list(record)[:12])) or "none"
    raise SelfprefError(
        f"{path}: {told}; it has the fields {shown}\n"
        f"looked for {'; '.join(looked) or 'a format with votes'}"
    )


def _checked(records: Records, file: str, form: Format, voted: bool) -> Read:
    """The records, all of which have the fields, and values in those that hold names."""
    needed = form.needed(voted)
    filled = [name for name in form.filled if name in needed]
    fields: tuple[str, ...] = ()
    for number, record in records:
        # Records mostly have the fields of the one before.
        if fields != (fields := tuple(record)):
            if missing := [name for name in needed if not _has(record, name)]:
                raise SelfprefError(
                    f"{file} {number}: no {form.field} {missing[0]!r}; it needs {', '.join(needed)}"
                )
            if form.others is not None and (unknown := set(fields) - {*form.others}):
                raise SelfprefError(
                    f"{file} {number}: unknown {form.field} {min(unknown)!r}; remove it"
                )
        for name in filled:
            if record[name] in (None, "", []):
                raise SelfprefError(f"{file} {number}: {name} is empty; fill it or remove it")
        yield file, number, record


def called(judges: Sequence[str], aliases: Mapping[str, str]) -> list[str]:
    """The names that judges may have in a file: their own, and those that aliases turn into them.

    >>> called(["gpt-4"], {"gpt4": "gpt-4", "x": "y"})
    ['gpt-4', 'gpt4']
    """
    return [*judges, *(old for old, new in aliases.items() if new in judges)]


def read(
    path: Path, wanted: str = AUTO, judges: Sequence[str] = (), *, texts: bool = False
) -> Rows:
    """The rows of a file of judgments, or of a folder of review files.

    Args:
        path: The file or folder.
        wanted: A format, or `auto`.
        judges: Names that judges may have, where only file names tell them.
        texts: Whether prompts and responses are kept.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    files = _files(path)
    form = _recognised(files[0], wanted, voted=False)
    rows = partial(reviews.rows, judges=judges) if form.rows is reviews.rows else form.rows
    return gather(_read(files, form), rows, apart=form.apart, texts=texts)


def votes(path: Path, wanted: str = AUTO) -> Rows:
    """The votes of a file of votes, each a row.

    Raises:
        SelfprefError: As `read`.
    """
    files = _files(path)
    form = _recognised(files[0], wanted, voted=True)
    return _voted(_read(files, form, voted=True), form)


def of_frame(frame: pd.DataFrame, name: str, *, voted: bool = False) -> Rows:
    """The rows of a frame in the columns of `selfpref.formats.pairs`.

    Args:
        frame: A row a verdict; a vote, where it was `voted`.
        name: Of the frame, for errors.
        voted: Whether it holds votes alone.

    Raises:
        SelfprefError: A row breaks the rules of the format; names row and column.
    """
    form = FORMATS["pairs"]
    values = frame.astype(object).where(frame.notna(), None).rename(columns=str)
    records = enumerate(values.to_dict("records"))
    read = _checked(records, f"{name}, row", form, voted)
    return _voted(read, form) if voted else gather(read, form.rows, apart=False, texts=False)


def _read(files: Sequence[Path], form: Format, voted: bool = False) -> Read:
    for path in files:
        yield from _checked(_records(path), f"{path}, {form.place}", form, voted)


def _voted(read: Read, form: Format) -> Rows:
    """Votes alone, whatever else a file says."""
    assert form.votes is not None
    found = gather(read, form.votes, apart=True, texts=False)
    frame = found.frame.assign(judge=None).astype({"judge": "str"})
    return Rows(frame, apart=True)
