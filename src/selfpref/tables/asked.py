"""What every model was asked in a study, and what came of it: rows by status."""

import pandas as pd
import pyarrow.parquet

from selfpref import paths
from selfpref.params import Params
from selfpref.tables.parts import StudyTables, part

# What models fill; in `responses` a row is one's own writing.
FILLED = ("responses", "verdicts", "ratings", "perplexities")
KEY = ["judge", "table", "task", "status"]
# What data sets fill.
ITEMS = "items"
# Of a model or data set whose stage failed.
NO_TABLE = "no table"


def asked(study: StudyTables, params: Params) -> pd.DataFrame:
    """How many rows of each status every model has in a study's tables.

    Args:
        study: Whose tables.
        params: Which profile, and who fills the tables.

    Returns:
        The columns `KEY` and `n`; `task` is empty in tables without one. An entry of the parameters
        whose table is not there has a row `NO_TABLE`, under its key; so has a data set without
        items.
    """
    found = [pd.DataFrame(columns=[*KEY, "n"]).astype({"n": "int64"})]
    for table in FILLED:
        for folder in study.folders.get(table, (table,)):
            for path in sorted(
                paths.table_dir(params.profile, folder, study.name).glob("*.parquet")
            ):
                # Whose row it is: a responder's own where nobody judges.
                wanted = ["judge", "responder", "task", "status"]
                rows = pyarrow.parquet.ParquetFile(path).read(wanted).to_pandas()
                who = rows["judge" if "judge" in rows else "responder"]
                counts = (
                    rows.drop(columns="responder", errors="ignore").assign(judge=who).value_counts()
                )
                found.append(counts.rename("n").reset_index().assign(table=table))
    found.append(_missing(study, params))
    whole = pd.concat(found, ignore_index=True).fillna({"task": ""})
    return whole.groupby(KEY, as_index=False)["n"].sum()


def _missing(study: StudyTables, params: Params) -> pd.DataFrame:
    """A row for each data set and entry whose table is not there."""
    section = params.study(study.name)
    rows = [
        (key, ITEMS)
        for key in section.datasets
        if not study.file(params.profile, ITEMS, key).exists()
    ]
    rows += [
        (key, table)
        for table in FILLED
        for folder in study.folders.get(table, (table,))
        for task in study.tasks.get(folder, ())
        for key in getattr(section, task)
        if not study.file(params.profile, folder, part(task, key)).exists()
    ]
    return pd.DataFrame(rows, columns=KEY[:2]).assign(status=NO_TABLE, n=0)
