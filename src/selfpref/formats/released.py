"""Files of others as data sets: FastChat's, Arena's, AlpacaEval's and reviews, votes among them."""

from pathlib import Path

from selfpref.formats import judgments
from selfpref.formats.records import judges_of
from selfpref.formats.rows import Frames, tables_of
from selfpref.params import Dataset


def read(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of a file in the format that the entry's reader names.

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
    rows = judgments.read(source, entry.reader, names, texts=True).renamed(entry.aliases)
    found = tables_of(rows, dataset, entry.study, entry.judges)
    judges_of(dataset, entry, rows.frame["judge"].dropna().unique())
    return found
