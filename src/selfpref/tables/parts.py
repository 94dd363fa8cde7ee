"""A study's tables: one file a data set, model or group of models; and what models were asked.

What is in a table's folder is the table: `sweep` takes away what no entry of the parameters makes
any longer, before any stage reads.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from selfpref import paths, tables
from selfpref.params import Params
from selfpref.tables.schemas import TABLES

# What stands before the keys of a task in the names of files: an evaluator may be tuned under its
# base's key, and a data set's labels may be made here.
PREFIXES = {"finetune": "tuned-", "label": "labelled-"}
# What models fill; in `responses` a row is one's own writing.
FILLED = ("responses", "verdicts", "ratings", "perplexities")
KEY = ["judge", "table", "task", "status"]
# What data sets fill.
ITEMS = "items"


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
        further: Folders beside those of the tables' names, with the table that each is of.
    """

    name: str
    filled: Sequence[str]
    tasks: Mapping[str, Sequence[str]]
    further: Mapping[str, str] = field(default_factory=dict)

    def file(self, profile: str, folder: str, part: str) -> Path:
        """Where a part of a table lies."""
        return paths.table_dir(profile, folder, self.name) / f"{part}.parquet"

    def parts(self, profile: str, folder: str) -> list[str]:
        """The files of a folder of tables, sorted."""
        found = paths.table_dir(profile, folder, self.name).glob("*.parquet")
        return sorted(path.stem for path in found)

    def read(self, profile: str, table: str, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """One table, all its files together; `columns` as `tables.read` takes them."""
        found = [
            tables.read(profile, table, self.name, self.parts(profile, name), columns, folder=name)
            for name, of in {table: table, **self.further}.items()
            if of == table
        ]
        return pd.concat(found, ignore_index=True)

    def by_dataset(self, profile: str, names: Iterable[str]) -> dict[str, dict[str, pd.DataFrame]]:
        """Several tables of every data set.

        Args:
            profile: Whose data.
            names: Which tables.

        Returns:
            By data set, sorted, then by table. Of a `text` no more than its `length` is kept, in
            characters; verdicts are `released` with their data set, or were asked for here.
        """
        items = {
            file: tables.read(profile, "items", self.name, [file], ("item_id",))
            for file in self.parts(profile, "items")
        }
        datasets = sorted({name for part in items.values() for name in _owner(part)})
        found = {dataset: dict[str, pd.DataFrame]() for dataset in datasets}
        for name in names:
            pieces = [tables.empty(name).assign(released=True)]
            for file in self.parts(profile, name):
                rows = tables.read(profile, name, self.name, [file])
                pieces.append(rows.assign(released=file in items))
            table = pd.concat(pieces, ignore_index=True)
            if name != "verdicts":
                table = table.drop(columns="released")
            if "text" in table:
                table["length"] = table.pop("text").str.len()
            owner = _owner(table)
            for dataset, of in found.items():
                of[name] = table[owner.eq(dataset)].reset_index(drop=True)
        return found

    def of_items(self, profile: str, table: str, items: pd.Series) -> pd.DataFrame:
        """The rows of a table that are of some items."""
        rows = self.read(profile, table)
        return rows[rows["item_id"].isin(items)].reset_index(drop=True)

    def whole(self, profile: str, names: Iterable[str]) -> dict[str, pd.DataFrame]:
        """Several tables by name."""
        return {name: self.read(profile, name) for name in names}

    def write(self, profile: str, part: str, /, **made: pd.DataFrame) -> None:
        """Write one file each of several tables, given by their folders; other frames are left."""
        for folder, rows in made.items():
            if (table := self.further.get(folder, folder)) in TABLES:
                tables.write(rows, table, self.file(profile, folder, part))

    def entries(self, params: Params) -> list[tuple[str, str, str, Path]]:
        """What data sets (the task `datasets`) and entries fill: folder, task, key, and file."""
        tasks = [(folder, "datasets") for folder in self.filled]
        tasks += [(folder, task) for folder, those in self.tasks.items() for task in those]
        return [
            (folder, task, key, self.file(params.profile, folder, part(task, key)))
            for folder, task in tasks
            for key in getattr(params.study(self.name), task)
        ]

    def sweep(self, params: Params) -> list[str]:
        """Take away the files that no entry of the parameters makes; DVC's cache still has them.

        Returns:
            The files, as paths in the repository.
        """
        there = paths.study_dir(params.profile, self.name).glob("*/*.parquet")
        gone = sorted({*there} - {file for *_, file in self.entries(params)})
        for path in gone:
            path.unlink()
        return [str(path.relative_to(paths.root())) for path in gone]


def asked(study: StudyTables, params: Params) -> pd.DataFrame:
    """How many rows of each status every model has in a study's tables.

    Args:
        study: Whose tables.
        params: Which profile, and who fills the tables.

    Returns:
        The columns `KEY` and `n`; `task` is empty in tables without one. An entry of the parameters
        whose table is not there has a row `no table`, under its key; so has a data set without
        items.
    """
    found = []
    for table in FILLED:
        # Whose row it is: a responder's own where nobody judges.
        who = "responder" if table == "responses" else "judge"
        wanted = [who, *(name for name in ("task", "status") if name in TABLES[table].columns)]
        rows = study.read(params.profile, table, wanted)
        found.append(rows.rename(columns={who: "judge"}).assign(table=table, n=1))
    for folder, task, key, file in study.entries(params):
        table = study.further.get(folder, folder)
        asked_for = table == ITEMS or (task != "datasets" and table in FILLED)
        if asked_for and not file.exists():
            row = {"judge": key, "table": table, "status": "no table", "n": 0}
            found.append(pd.DataFrame([row]))
    whole = pd.concat(found, ignore_index=True).reindex(columns=[*KEY, "n"])
    return whole.fillna({"task": ""}).groupby(KEY, as_index=False)["n"].sum()
