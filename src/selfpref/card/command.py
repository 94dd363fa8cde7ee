"""`selfpref measure`: files of judgments in, the answer out."""

import gzip
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import file_digest
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from selfpref.card import marks
from selfpref.card.marks import Marked
from selfpref.card.measured import RESAMPLES, SEED, STREAM, of_rows
from selfpref.card.numbers import Measured
from selfpref.card.rule import ODDS
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.statistics.bootstrap import ClusterBootstrap

# How the bytes of a file begin, and what it is called then; others are tables.
STARTS = {b"PAR1": "rows.parquet", b"{": "lines.jsonl", b"[": "list.json"}
PACKED = b"\x1f\x8b"


def _pairs(option: str, given: Sequence[str], form: str) -> dict[str, str]:
    """The two names of each `A=B`, by the first.

    >>> _pairs("--alias", ["gpt4=gpt-4"], "A=B, A as the file has it")
    {'gpt4': 'gpt-4'}
    """
    found = {}
    for entry in given:
        name, sign, other = entry.partition("=")
        if not (name and sign and other):
            raise SelfprefError(f"{option} {entry}: give {form}")
        found[name] = other
    return found


@contextmanager
def _files(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The files; standard input (`-`) and pipes, which are read once, as files of their own."""
    with TemporaryDirectory(prefix="selfpref-") as scratch:
        found = []
        for number, path in enumerate(paths):
            if str(path) != "-" and not path.is_fifo():
                found.append(path)
                continue
            kept = Path(scratch, str(number))
            with sys.stdin.buffer if str(path) == "-" else path.open("rb") as stream:
                kept.write_bytes(stream.read())
            with kept.open("rb") as stream:
                packed = stream.read(2) == PACKED
            with (gzip.open if packed else open)(kept, "rb") as stream:
                first = stream.readline(100_000)
            table = "table.tsv" if b"\t" in first else "table.csv"
            kind = next((name for start, name in STARTS.items() if first.startswith(start)), table)
            kind += ".gz" if packed else ""
            found.append(kept.rename(f"{kept}-{kind}"))
        yield found


def read(
    *paths: Path | str,
    judge: str | None = None,
    votes: Path | str | None = None,
    wanted: str = judgments.AUTO,
    alias: Sequence[str] = (),
    columns: Sequence[str] = (),
    odds: float = ODDS,
) -> Measured | Marked:
    """What files of judgments, or a file of marks, show.

    Args:
        paths: The files, or folders of review files; `-` is standard input.
        judge: The only judge to have a card, as the files or an alias name it.
        votes: A file of votes.
        wanted: The format, or `auto`; files of votes are always recognised.
        alias: `A=B`, other names of judges and responders.
        columns: `A=B`, A for the column that the files call B.
        odds: What multiplies the odds of choosing itself by so much matters.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    names = _pairs("--alias", alias, "A=B, A as the file has it")
    other = _pairs("--columns", columns, "A=B, B as the file has it")
    called = {there: name for name, there in other.items()}
    with _files([Path(path) for path in paths]) as files:
        given = [(Path(path).name, file) for path, file in zip(paths, files, strict=True)]
        given += [(Path(votes).name, Path(votes))] if votes is not None else []
        digests = {name: _digest(file) for name, file in given if file.is_file()}
        name = Path(paths[0]).resolve().stem if str(paths[0]) != "-" else "stdin"
        if marks.are(files[0]) and wanted == judgments.AUTO and not called:
            if votes is not None or files[1:]:
                raise SelfprefError("marks have a key, and no votes: give one file, and no --votes")
            bootstrap = ClusterBootstrap(RESAMPLES, seed=SEED).within(STREAM)
            marked = marks.measure(marks.read(files[0], names), name, judge, bootstrap)
            return replace(marked, made=marked.made | {"files": digests})
        for file in files:
            if extra := judgments.unread(file, called):
                print(f"{file.name}: not read: {', '.join(extra)}", file=sys.stderr)
        whom = judgments.called([judge] if judge else [], names)
        parts = [judgments.read(file, wanted, whom, columns=called) for file in files]
        rows = pd.concat(parts, ignore_index=True)
    more = None if votes is None else judgments.votes(Path(votes))
    found = of_rows(rows, more, judge=judge, alias=names, name=name, odds=odds)
    options = [f"--alias {entry}" for entry in alias] + [f"--columns {entry}" for entry in columns]
    options += [f"--judge {judge}"] * bool(judge) + [f"--odds {odds:g}"] * (odds != ODDS)
    return replace(found, made=found.made | {"files": digests, "options": " ".join(options)})


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").hexdigest()[:16]
