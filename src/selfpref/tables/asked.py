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
    found = []
    for table in FILLED:
        # Whose row it is: a responder's own where nobody judges.
        who = "responder" if table == "responses" else "judge"
        wanted = [who, *(name for name in ("task", "status") if name in TABLES[table].columns)]
        rows = study.read(params.profile, table, wanted)
        found.append(rows.rename(columns={who: "judge"}).assign(table=table, n=1))
    for folder, task, key in study.entries(params):
        table = study.further.get(folder, folder)
        asked_for = table == ITEMS or (task != "datasets" and table in FILLED)
        if asked_for and not study.file(params.profile, folder, part(task, key)).exists():
            row = {"judge": key, "table": table, "status": NO_TABLE, "n": 0}
            found.append(pd.DataFrame([row]))
    whole = pd.concat(found, ignore_index=True).reindex(columns=[*KEY, "n"])
    return whole.fillna({"task": ""}).groupby(KEY, as_index=False)["n"].sum()
