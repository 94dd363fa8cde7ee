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

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.formats import alpaca_eval, arena, fastchat, pairs, reviews
from selfpref.formats.records import entries, rows_of
from selfpref.formats.rows import Read, Rows, gather

Found = Iterator[tuple[Path, int, Mapping[str, Any]]]
AUTO = "auto"


@dataclass(frozen=True)
class Format:
    """One format of files.

    Attributes:
        fields: What every record of judgments has.
        rows: From records, and the names that judges may have, to rows.
        votes: The same of a file of votes; None where the format has none.
        voted: What every record of votes has.
        apart: Whether each vote is one of its own.
        word: What a place in a file is called.
        filled: Fields that may not be empty, where the reader does not look itself.
    """

    fields: tuple[str, ...]
    rows: Callable[[Read, Sequence[str]], Found]
    votes: Callable[[Read], Found] | None
    voted: tuple[str, ...]
    apart: bool = True
    word: str = "line"
    filled: tuple[str, ...] = ()


FORMATS: Mapping[str, Format] = {
    "pairs": Format(
        pairs.REQUIRED,
        lambda records, _: pairs.checked(records),
        lambda records: pairs.checked(records, pairs.VOTED),
        pairs.VOTED,
        apart=False,
    ),
    "fastchat": Format(
        fastchat.FIELDS,
        lambda records, _: fastchat.rows(records),
        None,
        fastchat.FIELDS,
        filled=("question_id", "model_1", "model_2", "judge"),
    ),
    "arena": Format(
        arena.FIELDS,
        lambda records, _: arena.rows(records),
        lambda records: arena.rows(records, votes=True),
        arena.FIELDS,
        filled=("question_id", "model_a", "model_b"),
    ),
    "alpaca-eval": Format(
        alpaca_eval.FIELDS,
        lambda records, _: alpaca_eval.rows(records),
        lambda records: alpaca_eval.rows(records, votes=True),
        alpaca_eval.FIELDS,
        word="entry",
        filled=("instruction", "generator_1", "generator_2", "annotator"),
    ),
    "reviews": Format(
        reviews.FIELDS, reviews.rows, lambda records: reviews.rows(records, ()), reviews.FIELDS
    ),
}


def _files(path: Path) -> list[Path]:
    """The file, or the review files of a folder."""
    if not path.is_dir():
        if not path.exists():
            raise SelfprefError(f"{path}: no such file; correct the path")
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


def _records(files: Sequence[Path]) -> Found:
    for path in files:
        listed = path.suffix not in (".jsonl", ".csv")
        for number, record in (entries if listed else rows_of)(path):
            yield path, number, record


def _has(record: Mapping[str, Any], fields: Sequence[str]) -> bool:
    return all(any(name in record for name in field.split(" or ")) for field in fields)


def _recognised(path: Path, record: Mapping[str, Any], wanted: str, voted: bool) -> str:
    """The format's name.

    Raises:
        SelfprefError: The record has not all fields of the wanted format, or of any.
    """
    options = {
        name: form.voted if voted else form.fields
        for name, form in FORMATS.items()
        if wanted in (AUTO, name) and not (voted and form.votes is None)
    }
    for name, fields in options.items():
        if _has(record, fields):
            return name
    looked = "; ".join(f"{name}: {', '.join(fields)}" for name, fields in options.items())
    shown = ", ".join(map(repr, list(record)[:12])) or "none"
    raise SelfprefError(
        f"{path}: of no known format; it has the fields {shown}\n"
        f"looked for {looked or 'a format with votes'}"
    )


def _read(path: Path, wanted: str, judges: Sequence[str], *, voted: bool, texts: bool) -> Rows:
    if wanted not in (AUTO, *FORMATS):
        raise SelfprefError(f"--format {wanted}: unknown; choose of {', '.join((AUTO, *FORMATS))}")
    files = _files(path)
    records = _records(files)
    first = next(records, None)
    if first is None:
        raise SelfprefError(f"{files[0]}: no record; is the file empty?")
    form = FORMATS[_recognised(files[0], first[2], wanted, voted)]
    needed = form.voted if voted else form.fields
    whole = _whole(chain([first], records), needed, form)
    rows = form.votes(whole) if voted and form.votes else form.rows(whole, judges)
    return gather(rows, apart=voted or form.apart, texts=texts, word=form.word)


def _whole(records: Found, fields: Sequence[str], form: Format) -> Found:
    """The records, all of which have the fields, and names in those that hold names."""
    single = [field for field in fields if " or " not in field]
    there: tuple[str, ...] = ()
    for path, number, record in records:
        if there != (there := tuple(record)) and not set(single) <= set(there):
            name = next(field for field in single if field not in there)
            raise SelfprefError(
                f"{path}, {form.word} {number}: no field {name!r}; it needs {', '.join(fields)}"
            )
        for name in form.filled:
            if record[name] in (None, "", []):
                raise SelfprefError(
                    f"{path}, {form.word} {number}: {name} is empty; fill it or remove it"
                )
        yield path, number, record


def called(judges: Sequence[str], aliases: Mapping[str, str]) -> list[str]:
    """The names that judges may have in a file: their own, and those that aliases turn into them.

    >>> called(["gpt-4"], {"gpt4": "gpt-4", "x": "y"})
    ['gpt-4', 'gpt4']
    """
    return [*judges, *(old for old, new in aliases.items() if new in judges)]


def read(
    path: Path, wanted: str = AUTO, judges: Sequence[str] = (), *, texts: bool = False
) -> Rows:
    """The rows of a file of judgments.

    Args:
        path: The file, or a folder of review files.
        wanted: A format, or `auto`.
        judges: Names that a judge may have, for formats that tell them in the file's name.
        texts: Whether prompts and responses are kept.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    return _read(path, wanted, judges, voted=False, texts=texts)


def votes(path: Path, wanted: str = AUTO) -> Rows:
    """The votes of a file of votes, each a row.

    Raises:
        SelfprefError: As `read`.
    """
    found = _read(path, wanted, (), voted=True, texts=False)
    return found.of(found.frame.assign(judge=None).astype({"judge": "str"}))
