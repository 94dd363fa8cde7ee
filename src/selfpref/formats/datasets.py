"""What readers of data sets share, and files of judgments as data sets."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.formats.rows import Frames, renamed, tables_of
from selfpref.params import Dataset


def read(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of a file of judgments in the format that the entry's reader names.

    Rows of judges that the entry leaves out are skipped. A vote that stands in several rows of a
    user's own file (once a judge and order) counts once.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<item>`.
        entry: The study, the format, the judges to read, and other names.
        source: The file, or a folder of reviews.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: As `selfpref.formats.judgments.read`.
    """
    names = judgments.called(entry.judges or (), entry.aliases)
    rows = renamed(judgments.read(source, entry.reader, names, texts=True), entry.aliases)
    judges_of(dataset, entry, rows["judge"].dropna().unique())
    return tables_of(rows, dataset, entry.study, entry.judges)


def judges_of(dataset: str, entry: Dataset, known: Iterable[str]) -> set[str]:
    """The judges to read of a source: those that its entry names, or all.

    Args:
        dataset: The entry's key, for errors.
        entry: The entry.
        known: The judges that the source has.

    Raises:
        SelfprefError: The entry names a judge that is not among them.
    """
    there = set(known)
    if unknown := sorted(set(entry.judges or ()) - there):
        raise SelfprefError(
            f"{entry.study}.datasets.{dataset}.judges: {unknown[0]!r} is unknown; choose of "
            f"{', '.join(sorted(there))}"
        )
    return set(entry.judges or there)


def written(rows: Iterable[tuple[str, str, str]], study: str) -> pd.DataFrame:
    """The responses table of a source with one text a responder: item_id, responder and text."""
    columns = ["item_id", "responder", "text"]
    return tables.fill(pd.DataFrame(rows, columns=columns), "responses", study=study)


def audited(study: str, file: str, rows: int, found: Mapping[str, int]) -> pd.DataFrame:
    """The audit table of one file of so many rows: how many of them each finding concerns."""
    made = [{"finding": finding, "affected": count} for finding, count in found.items() if count]
    return tables.fill(made, "audit", study=study, file=file, rows=rows)
