"""`selfpref measure`: files of judgments in, the answer out."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd

from selfpref.card import marks
from selfpref.card.measured import RESAMPLES, SEED, STREAM, of_rows
from selfpref.card.numbers import Card
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.statistics.bootstrap import ClusterBootstrap


@contextmanager
def _files(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The files; standard input (`-`) and pipes, which are read once, as files of their own."""
    with TemporaryDirectory(prefix="selfpref-") as scratch:
        found = list(paths)
        for number, path in enumerate(paths):
            if str(path) == "-" or path.is_fifo():
                found[number] = Path(scratch, str(number))
                with sys.stdin.buffer if str(path) == "-" else path.open("rb") as stream:
                    found[number].write_bytes(stream.read())
        yield found


def read(
    *paths: Path | str,
    judge: str | None = None,
    votes: Path | str | None = None,
    wanted: str = judgments.AUTO,
    alias: Mapping[str, str] = judgments.NO_NAMES,
    columns: Mapping[str, str] = judgments.NO_NAMES,
) -> Card:
    """What files of judgments, or a file of marks, show.

    Args:
        paths: The files, or folders of review files; `-` is standard input.
        judge: The only judge to have a card, as the files or an alias name it.
        votes: A file of votes.
        wanted: The format, or `auto`; files of votes are always recognised.
        alias: Other names of judges and responders, by those of the files.
        columns: What the files call a column, by its name.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    called = {there: name for name, there in columns.items()}
    name = Path(paths[0]).resolve().stem if str(paths[0]) != "-" else "stdin"
    with _files([Path(path) for path in paths]) as files:
        given = [(Path(path).name, file) for path, file in zip(paths, files, strict=True)]
        given += [(Path(votes).name, Path(votes))] if votes is not None else []
        forms = [judgments.recognised(file, wanted, called) for file in files]
        for file, (_, unread) in zip(files, forms, strict=True):
            if unread:
                print(f"{file.name}: not read: {', '.join(unread)}", file=sys.stderr)
        if forms[0][0] == "marks":
            if votes is not None or files[1:]:
                raise SelfprefError("marks have a key, and no votes: give one file, and no --votes")
            bootstrap = ClusterBootstrap(RESAMPLES, seed=SEED).within(STREAM)
            found = marks.measure(marks.read(files[0], alias), name, judge, bootstrap)
        else:
            whom = judgments.called([judge] if judge else [], alias)
            parts = [judgments.read(file, wanted, whom, columns=called) for file in files]
            more = None if votes is None else judgments.votes(Path(votes))
            rows = pd.concat(parts, ignore_index=True)
            found = of_rows(rows, more, judge=judge, alias=alias, name=name)
        digests = {
            name: sha256(file.read_bytes()).hexdigest()[:16]
            for name, file in given
            if file.is_file()
        }
    options = [f"--alias {old}={new}" for old, new in alias.items()]
    options += [f"--columns {name}={there}" for there, name in called.items()]
    options += [f"--judge {judge}"] if judge else []
    found.numbers["made"] |= {"files": digests, "options": " ".join(options)}
    return found
