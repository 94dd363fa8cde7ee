"""`selfpref measure`: a file of judgments in, the answer out."""

from collections.abc import Sequence
from pathlib import Path

from selfpref.card import marks
from selfpref.card.marks import Marked
from selfpref.card.measured import RESAMPLES, SEED, STREAM, of_rows
from selfpref.card.numbers import Measured
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.statistics.bootstrap import ClusterBootstrap


def aliases(given: Sequence[str]) -> dict[str, str]:
    """Names by name, from `A=B`.

    Raises:
        SelfprefError: One is not of this form.

    >>> aliases(["gpt4=gpt-4"])
    {'gpt4': 'gpt-4'}
    """
    found = {}
    for entry in given:
        name, sign, other = entry.partition("=")
        if not (name and sign and other):
            raise SelfprefError(f"--alias {entry}: give A=B, A as the file has it")
        found[name] = other
    return found


def read(
    path: Path,
    *,
    judge: str | None = None,
    votes: Path | None = None,
    wanted: str = judgments.AUTO,
    alias: Sequence[str] = (),
) -> Measured | Marked:
    """What a file of judgments, or of marks, shows.

    Args:
        path: The file, or a folder of review files.
        judge: The only judge to have a card, as the file or an alias names it.
        votes: A file of votes.
        wanted: The format, or `auto`; files of votes are always recognised.
        alias: `A=B`, other names of judges and responders.

    Raises:
        SelfprefError: One or two lines with file, line, field and remedy.
    """
    names = aliases(alias)
    if marks.are(path) and wanted == judgments.AUTO:
        if votes is not None:
            raise SelfprefError(f"--votes {votes}: marks have a key, and no votes; leave it out")
        bootstrap = ClusterBootstrap(RESAMPLES, seed=SEED).within(STREAM)
        return marks.measure(marks.read(path, names), path.resolve().stem, judge, bootstrap)
    called = judgments.called([judge] if judge else [], names)
    rows = judgments.read(path, wanted, called)
    more = None if votes is None else judgments.votes(votes)
    return of_rows(rows, more, judge=judge, alias=names, name=path.resolve().stem)
