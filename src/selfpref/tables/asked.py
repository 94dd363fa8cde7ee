"""What every model was asked in a study, and what came of it: rows by status."""

from pathlib import Path

import pandas as pd
import pyarrow.parquet

from selfpref import paths
from selfpref.tables.parts import StudyTables

# What models fill; in `responses` a row is one's own writing.
FILLED = ("responses", "verdicts", "ratings", "perplexities")
KEY = ["judge", "table", "task", "status"]


def asked(study: StudyTables, profile: str) -> pd.DataFrame:
    """How many rows of each status every model has in a study's tables.

    Args:
        study: Whose tables.
        profile: Of which profile.

    Returns:
        The columns `KEY` and `n`; `task` is empty in tables without one.
    """
    found = [pd.DataFrame(columns=[*KEY, "n"]).astype({"n": "int64"})]
    for table in FILLED:
        for folder in study.folders.get(table, (table,)):
            for path in sorted(paths.table_dir(profile, folder, study.name).glob("*.parquet")):
                counts = pyarrow.parquet.read_table(path, columns=_columns(path)).to_pandas()
                counts = counts.rename(columns={"responder": "judge"}).value_counts()
                found.append(counts.rename("n").reset_index().assign(table=table))
    whole = pd.concat(found, ignore_index=True).fillna({"task": ""})
    return whole.groupby(KEY, as_index=False)["n"].sum()


def _columns(path: Path) -> list[str]:
    """Whose row it is, and which: a responder's own where nobody judges."""
    names = pyarrow.parquet.read_schema(path).names
    who = "judge" if "judge" in names else "responder"
    return [name for name in (who, "task", "status") if name in names]
