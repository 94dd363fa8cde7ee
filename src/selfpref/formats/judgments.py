"""Files of judgments: which format each has, by its fields, and its rows.

| format | fields |
|---|---|
| pairs | item, responder_a, responder_b, judge: a user's own, below |
| fastchat | question_id, model_1, model_2, g1_winner, g2_winner, judge |
| arena | question_id or id, model_a, model_b, winner or winner_tie |
| arena-hard | uid or question_id, model, judge, games |
| alpaca-eval | instruction, generator_1, generator_2, annotator, preference |
| reviews | question_id or message_id, score; the names in the file's name |
| marks | item, judge, responder, score, key: no judgments of pairs (`selfpref.card.marks`) |

A format is recognised by the first record, which has to have all of its fields. A user's own file
has a row a verdict:

| column | value |
|---|---|
| item | any id of the prompt |
| responder_a, responder_b | who wrote the two responses |
| judge | who judged; its own responses are those of the responder of the same name |
| label | the human's vote: `a`, `b`, `tie` or a responder's name; empty where nobody voted |
| order | which response the judge read first: `ab` or `ba`; empty where it is not known |
| verdict | the judge's choice, spelled as the label; empty where it gave none |
| probability_a, probability_b | instead of, or beside, the verdict: of the two labels |

`label` may be left out beside a file of votes, `order` where it is nowhere known. Optional, too:
`repeat` (a number, where a judge read one pair in one order more than once), `annotator`
(who voted), `cluster` (what a bootstrap resamples; default: the item), `category`, `prompt`,
`text_a`, `text_b`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.formats import others
from selfpref.formats.records import Record, Records, frames, place, records
from selfpref.formats.rows import NAMED, PROBABILITIES, TEXTS, WHO, refuse, typed

AUTO = "auto"
NO_NAMES: Mapping[str, str] = MappingProxyType({})
MARKS = ("item", "judge", "responder", "score", "key")
# What is read of a user's own file.
KNOWN = {*NAMED, *PROBABILITIES, *TEXTS, "repeat"}


def own(record: Record) -> Iterator[Record]:
    """A user's own record, which is a row."""
    yield record


class Format(NamedTuple):
    """One format of files.

    Attributes:
        rows: From a record to its rows.
        fields: What the first record of judgments has.
        voted: What the first record of votes has; empty where the format has none.
    """

    rows: Callable[[Record], Iterator[Record]]
    fields: tuple[str, ...]
    voted: tuple[str, ...] = ()


BATTLE = ("question_id or id", "model_a", "model_b", "winner or winner_tie")
ANNOTATION = ("instruction", "generator_1", "generator_2", "annotator", "preference")
REVIEW = ("question_id or message_id", "score")
GAMES = ("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge")
FORMATS: Mapping[str, Format] = {
    "pairs": Format(own, (*WHO, "judge"), (*WHO, "label")),
    "fastchat": Format(others.fastchat, GAMES),
    "arena": Format(others.arena, BATTLE, BATTLE),
    "arena-hard": Format(others.arena_hard, ("uid or question_id", "model", "judge", "games")),
    "alpaca-eval": Format(others.alpaca_eval, ANNOTATION, ANNOTATION),
    "reviews": Format(others.reviews, REVIEW, REVIEW),
    "marks": Format(own, MARKS),
}


def _files(path: Path) -> list[Path]:
    """The file, or the review files of a folder."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*.json*") if others.REVIEW.fullmatch(file.stem))
    if not found:
        raise SelfprefError(
            f"{path}: a folder without review files (<first>-vs-<second>-<judge>-reviewer.jsonl); "
            "give one file"
        )
    return found


def _called(path: Path, columns: Mapping[str, str]) -> Records:
    """The records, with columns under other names."""
    found = records(path)
    if not columns:
        return found
    return (
        (number, {columns.get(name, name): value for name, value in record.items()})
        for number, record in found
    )


def recognised(
    path: Path,
    wanted: str = AUTO,
    columns: Mapping[str, str] = NO_NAMES,
    *,
    voted: bool = False,
) -> tuple[str, list[str]]:
    """The format of a file, and the columns that nothing reads of a user's own.

    Args:
        path: The file or folder.
        wanted: A format, or `auto`.
        columns: What columns of the file are to be called, by their names there.
        voted: Whether it holds votes alone.

    Raises:
        SelfprefError: Its first record has not all fields of the wanted format, or of any.
    """
    file = _files(path)[0]
    record = next((record for _, record in _called(file, columns)), None)
    if record is None:
        raise SelfprefError(f"{file}: no record; is the file empty?")
    for there, name in columns.items():
        if name not in record:
            told = f"--columns {name}={there}: no such column; it has {', '.join(record)}"
            raise SelfprefError(f"{file}: {told}")
    lacking = {}
    for name, form in FORMATS.items():
        fields = form.voted if voted else form.fields
        if fields and wanted in (AUTO, name):
            lack = [one for one in fields if record.keys().isdisjoint(one.split(" or "))]
            if not lack:
                return name, sorted({*record} - KNOWN) if name == "pairs" else []
            lacking[name] = lack
    told = "; ".join(f"{name} needs {', '.join(lack)}" for name, lack in lacking.items())
    there = ", ".join(map(repr, list(record)[:12])) or "none"
    raise SelfprefError(
        f"{file}: of no known format; it has the fields {there}\n"
        f"besides them, {told} (other names: --columns item=NAME)"
    )


def _rows(path: Path, form: Format, columns: Mapping[str, str], judges: Sequence[str]) -> Records:
    """The rows of every record, with its number."""
    more = {"names": others.named(path, judges)} if form.rows is others.reviews else {}
    for number, record in _called(path, columns):
        try:
            yield from ((number, row) for row in form.rows(record | more if more else record))
        except (KeyError, ValueError) as error:
            lacks = f"no field {error}; it needs {', '.join(form.fields)}"
            told = lacks if isinstance(error, KeyError) else str(error)
            raise SelfprefError(f"{place(path)} {number}: {told}") from error


def _gathered(raw: Iterable[pd.DataFrame], form: str, *, texts: bool, voted: bool) -> pd.DataFrame:
    """Good rows; of votes, alone."""
    found = pd.concat([typed(part, texts=texts) for part in raw], ignore_index=True)
    if not voted:
        nobody = found["judge"].isna() & (found["annotator"].isna() | found["verdict"].notna())
        refuse(found, nobody, "no judge; name the judge, or give votes as --votes")
        return found
    if form != "pairs":
        # Whoever judges in a file of votes of others is a person.
        said = {"annotator": "judge", "label": "verdict"}
        found = found.assign(**{to: found[to].fillna(found[by]) for to, by in said.items()})
    return found.assign(judge=pd.Series(None, found.index, "str"))


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
    columns: Mapping[str, str] = NO_NAMES,
    voted: bool = False,
) -> pd.DataFrame:
    """The rows of a file of judgments, or of a folder of review files.

    Args:
        path: The file or folder.
        wanted: A format, or `auto`.
        judges: Names that judges may have, where only file names tell them.
        texts: Whether prompts and responses are kept.
        columns: What columns of the file are to be called, by their names there.
        voted: Whether it holds votes alone, each of which is a row.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    name, _ = recognised(path, wanted, columns, voted=voted)
    raw = (
        part
        for file in _files(path)
        for part in frames(_rows(file, FORMATS[name], columns, judges), place(file))
    )
    return _gathered(raw, name, texts=texts, voted=voted)


def votes(path: Path) -> pd.DataFrame:
    """The votes of a file of votes, each a row; see `read`."""
    return read(path, voted=True)


def of_frame(frame: pd.DataFrame, name: str, *, voted: bool = False) -> pd.DataFrame:
    """The rows of a frame in the columns of a user's own file.

    Args:
        frame: A row a verdict; a vote, where it was `voted`.
        name: Of the frame, for errors.
        voted: Whether it holds votes alone.

    Raises:
        SelfprefError: A row breaks the rules of the format; names row and column.
    """
    needed = FORMATS["pairs"].voted if voted else FORMATS["pairs"].fields
    if lacking := [column for column in needed if column not in frame]:
        raise SelfprefError(f"{name}: no column {lacking[0]!r}; it needs {', '.join(needed)}")
    raw = frame.astype(object).where(frame.notna(), None).rename(columns=str)
    raw = raw.assign(file=f"{name}, row", line=range(len(raw)))
    return _gathered([raw], "pairs", texts=False, voted=voted)
