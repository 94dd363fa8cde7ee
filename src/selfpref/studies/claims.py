"""The papers' claims beside what came out: data/claims.csv, from the released data's tables.

The tables are the CSVs of figures/recorded, which git holds; so the claims are of the released data
whichever profile is active.
"""

from pathlib import Path

import pandas as pd

from selfpref import paths, say
from selfpref.files import atomic


def sentence(study: str, key: str) -> str:
    """What the chapter of a study says of the released data under a key.

    Raises:
        KeyError: It says no such thing.
    """
    return str(say.said(paths.figure_dir(paths.RELEASED, study))[key]["text"])


class Tables(dict[str, pd.DataFrame]):
    """A study's tables of the released data by name, each read when it is asked for.

    A study that was not drawn has none: its claims keep their rows, without a finding.
    """

    def __init__(self, study: str) -> None:
        super().__init__()
        self.folder = paths.figure_dir(paths.RELEASED, study)

    def __missing__(self, name: str) -> pd.DataFrame:
        path = self.folder / f"{name}.csv"
        if not self.folder.is_dir():
            return pd.DataFrame()
        if not path.is_file():
            raise LookupError(f"{path.relative_to(paths.root())} is not there")
        self[name] = pd.read_csv(path) if path.read_bytes().strip() else pd.DataFrame()
        return self[name]


def table() -> pd.DataFrame:
    """Every claim, in the columns of `say.claim_rows`."""
    rows = []
    for study in say.papers():
        frames = Tables(study)
        rows += say.claim_rows(study, frames, frames.folder)
    return pd.DataFrame(rows)


def counted(found: pd.DataFrame) -> str:
    """A sentence: how many claims of a table there are of each verdict; empty without a verdict."""
    count = found["verdict"].value_counts() if len(found) else found
    told = [f"{count[name]} {words}" for name, words in say.VERDICTS.items() if name in count]
    if not told:
        return ""
    parts = ", and ".join(filter(None, (", ".join(told[:-1]), told[-1])))
    return f"On public data, of {len(found)} claims of the papers and their releases, {parts}."


def write(path: Path) -> None:
    """Write the table as CSV."""
    with atomic(path) as scratch:
        table().to_csv(scratch, index=False, float_format="%.6g", lineterminator="\n")
