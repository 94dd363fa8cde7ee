"""A study's tables: one file a data set, model or group of models.

What is in a table's folder is the table: `sweep` takes away what no entry of the parameters makes
any longer, before any stage reads.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from selfpref import paths, tables
from selfpref.params import Params

# What stands before the keys of a task in the names of files: an evaluator may be tuned under its
# base's key, and a data set's labels may be made here.
PREFIXES = {"finetune": "tuned-", "label": "labelled-"}


def _owner(rows: pd.DataFrame) -> pd.Series:
    """The data set of each row: before the first slash of its item_id. A file may hold several."""
    return rows["item_id"].str.replace(r"/.*", "", regex=True)


def part(task: str, key: str) -> str:
    """The file that an entry of a study's section fills."""
    return f"{PREFIXES.get(task, '')}{key}"


@dataclass(frozen=True)
class StudyTables:
    """The tables of one study.

    Attributes:
        name: The study.
        filled: The tables that its data sets fill.
        tasks: By folder of tables, the tasks of the study's section whose entries fill it, beside
            its data sets.
        folders: By table, its folders where it has more than the one of its name.
    """

    name: str
    filled: Sequence[str]
    tasks: Mapping[str, Sequence[str]]
    folders: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def file(self, profile: str, folder: str, part: str) -> Path:
        """Where a part of a table lies."""
        return paths.table_dir(profile, folder, self.name) / f"{part}.parquet"

    def parts(self, profile: str, table: str) -> list[str]:
        """The files of a folder of tables, sorted."""
        folder = paths.table_dir(profile, table, self.name)
        return sorted(path.stem for path in folder.glob("*.parquet"))

    def read(self, profile: str, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """One table, all its files together; `columns` as `tables.read` takes them."""
        found = [
            tables.read(profile, table, self.name, self.parts(profile, name), columns, folder=name)
            for name in self.folders.get(table, (table,))
        ]
        return found[0] if len(found) == 1 else pd.concat(found, ignore_index=True)

    def by_dataset(
        self, profile: str, columns: Mapping[str, Sequence[str]]
    ) -> dict[str, dict[str, pd.DataFrame]]:
        """Several tables of every data set.

        Args:
            profile: Whose data.
            columns: Which tables, and of each the columns that are wanted, as `tables.read` takes
                them.

        Returns:
            By data set, sorted, then by table. Of a `text` no more than its `length` is kept, in
            characters; verdicts are `released` with their data set, or were asked for here.
        """
        # A file of scores or perplexities has no items; its rows are other data sets'.
        held = {
            file: {*_owner(tables.read(profile, "items", self.name, [file], ("item_id",)))}
            for file in self.parts(profile, "items")
        }
        datasets = sorted(set[str]().union(*held.values()))
        found: dict[str, dict[str, pd.DataFrame]] = {name: {} for name in datasets}
        for name, wanted in columns.items():
            pieces: dict[str, list[pd.DataFrame]] = {dataset: [] for dataset in found}
            # Part by part: a second copy of all parts would be most of what loading takes.
            for some in [[file] for file in self.parts(profile, name)] or [[]]:
                table = tables.read(profile, name, self.name, some, wanted)
                if "text" in table:
                    table["length"] = table.pop("text").str.len()
                    tables.release()
                if name == "verdicts":
                    table["released"] = any(held.get(file) for file in some)
                owner = _owner(table)
                for dataset, kept in pieces.items():
                    kept.append(table[owner.eq(dataset)])
            for dataset, kept in pieces.items():
                found[dataset][name] = pd.concat(kept, ignore_index=True)
        return found

    def of_items(self, profile: str, table: str, items: pd.Series) -> pd.DataFrame:
        """The rows of a table that are of some items, read part by part."""
        found = [tables.empty(table)]
        for file in self.parts(profile, table):
            rows = tables.read(profile, table, self.name, [file])
            found.append(rows[rows["item_id"].isin(items)])
        return pd.concat(found, ignore_index=True)

    def whole(self, profile: str, names: Iterable[str]) -> dict[str, pd.DataFrame]:
        """Several tables by name."""
        return {name: self.read(profile, name) for name in names}

    def write(self, profile: str, part: str, /, **made: pd.DataFrame) -> None:
        """Write one file each of several tables, given by their names."""
        for name, table in made.items():
            tables.write(table, self.table_of(name), self.file(profile, name, part))

    def sweep(self, params: Params) -> list[str]:
        """Take away the files that no entry of the parameters makes; DVC's cache still has them.

        Returns:
            The files, as paths in the repository.
        """
        gone = []
        for folder in sorted(paths.study_dir(params.profile, self.name).glob("*/")):
            wanted = self._wanted(params, folder.name)
            for path in sorted(folder.glob("*.parquet")):
                if path.stem not in wanted:
                    path.unlink()
                    gone.append(str(path.relative_to(paths.root())))
        return gone

    def _wanted(self, params: Params, folder: str) -> set[str]:
        """The files of a folder that data sets and entries make."""
        section = params.study(self.name)
        wanted = {*section.datasets} if folder in self.filled else set()
        for task in self.tasks.get(folder, ()):
            wanted |= {part(task, key) for key in getattr(section, task)}
        return wanted

    def table_of(self, folder: str) -> str:
        """The table that a folder is of: its own name, or the one that has several."""
        names = [name for name, folders in self.folders.items() if folder in folders]
        return names[0] if names else folder
