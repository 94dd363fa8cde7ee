"""What pictures and tables for readers call data sets, languages and models: data/names.csv."""

from collections.abc import Iterable
from functools import cache

import pandas as pd

from selfpref import paths

COLUMNS = (
    *("dataset", "judge", "responder", "opponent", "who", "votes_of"),
    *("model", "system", "control", "language"),
)
# Longer names would leave no room for what they name.
LONGEST = 32


@cache
def _known() -> dict[str, str]:
    table = pd.read_csv(paths.names_file())
    return dict(zip(table["name"], table["shown"], strict=True))


def called(names: Iterable[str]) -> list[str]:
    """Names by those that readers know; a user's own by theirs, cut if long."""
    known = [str(_known().get(name, name)) for name in names]
    return [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in known]


def readable(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with `called` names in the columns that hold names."""
    named = {name: called(rows[name]) for name in COLUMNS if name in rows}
    return rows.assign(**{name: pd.Series(of, rows.index, "str") for name, of in named.items()})
