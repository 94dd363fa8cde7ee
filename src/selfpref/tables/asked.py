"""What every model was asked in a study, and what came of it: rows by status."""

import pandas as pd

from selfpref.params import Params
from selfpref.tables.parts import StudyTables, part
from selfpref.tables.schemas import TABLES

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
    profile, found = params.profile, [pd.DataFrame(columns=[*KEY, "n"]).astype({"n": "int64"})]
    folders = {folder: table for table in FILLED for folder in study.folders(table)}
    for folder, table in folders.items():
        columns = TABLES[table].columns
        # Whose row it is: a responder's own where nobody judges.
        who = "judge" if "judge" in columns else "responder"
        wanted = [who, *(name for name in ("task", "status") if name in columns)]
        for name in study.parts(profile, folder):
            rows = pd.read_parquet(study.file(profile, folder, name), columns=wanted)
            counts = rows.rename(columns={who: "judge"}).value_counts().rename("n")
            found.append(counts.reset_index().assign(table=table))
    missing = [
        (key, folders.get(folder, ITEMS), NO_TABLE, 0)
        for folder, task, key in study.entries(params)
        if folder == ITEMS or (task != "datasets" and folder in folders)
        if not study.file(profile, folder, part(task, key)).exists()
    ]
    found.append(pd.DataFrame(missing, columns=["judge", "table", "status", "n"]))
    whole = pd.concat(found, ignore_index=True).fillna({"task": ""})
    return whole.groupby(KEY, as_index=False)["n"].sum()
