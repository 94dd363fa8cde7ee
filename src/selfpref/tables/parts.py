"""Whose tables a study reads: one file a data set, seed or model, as the parameters name them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import pandas as pd

from selfpref import paths, tables
from selfpref.params import Params

# What stands before the entries of a section in the names of files: seeds are numbers, and an
# evaluator may be tuned under its base's key.
PREFIXES = {"lab.seeds": "seed-", "lab.contests": "seed-", "finetune": "tuned-"}


def part(section: str, entry: object) -> str:
    """The file that an entry of a section of the parameters fills."""
    return f"{PREFIXES.get(section, '')}{entry}"


@dataclass(frozen=True)
class StudyTables:
    """The tables of one study.

    Attributes:
        name: The study.
        sections: By table, the sections of the parameters whose entries fill it, beside the data
            sets.
    """

    name: str
    sections: Mapping[str, Sequence[str]]

    def parts(self, params: Params, table: str) -> list[str]:
        """The files of a table: released data sets, then an entry of its sections each."""
        released = [name for name, entry in params.datasets.items() if entry.study == self.name]
        made = [
            part(section, entry)
            for section in self.sections.get(table, ())
            for entry in attrgetter(section)(params)
        ]
        return [*released, *made]

    def read(
        self, params: Params, table: str, columns: Sequence[str] | None = None
    ) -> pd.DataFrame:
        """One table, all its files together; `columns` as `tables.read` takes them."""
        return tables.read(params.profile, table, self.name, self.parts(params, table), columns)

    def whole(self, params: Params, names: Iterable[str]) -> dict[str, pd.DataFrame]:
        """Several tables by name."""
        return {name: self.read(params, name) for name in names}

    def write(self, params: Params, part: str, /, **made: pd.DataFrame) -> None:
        """Write one file each of several tables, given by their names."""
        for name, table in made.items():
            folder = paths.table_dir(params.profile, name, self.name)
            tables.write(table, name, folder / f"{part}.parquet")
