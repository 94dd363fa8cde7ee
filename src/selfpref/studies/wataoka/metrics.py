"""Read the study's tables, as the parameters say, and hand them to `measure.compute`."""

from collections.abc import Mapping, Sequence

import pandas as pd

from selfpref import paths, tables
from selfpref.params import Params
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.wataoka import STUDY, measure
from selfpref.studies.wataoka.measure.example import quoted
from selfpref.studies.wataoka.measure.judged import COLUMNS, Settings
from selfpref.tables.asked import asked
from selfpref.tables.frames import Headline, nested


def compute(params: Params) -> dict[str, pd.DataFrame]:
    """Every frame of the study."""
    published = pd.read_csv(paths.published_file(STUDY.name))
    found = measure.compute(load(params, COLUMNS), published, settings(params))
    if len(example := found["example"]):
        quotes = (_of_items(params, name, example["item_id"]) for name in ("items", "responses"))
        found["example"] = quoted(example, *quotes)
    audit = STUDY.read(params.profile, "audit").drop(columns="study")
    return {**found, "asked": asked(STUDY, params), "audit": audit}


def settings(params: Params) -> Settings:
    """Which rows enter, and how intervals are made."""
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    return Settings(**params.wataoka.settings(), bootstrap=bootstrap)


def load(
    params: Params, columns: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, pd.DataFrame]]:
    """The tables of every data set.

    Args:
        params: The stage's parameters.
        columns: Which tables, and of each the columns that are wanted, as `tables.read` takes them.

    Returns:
        By data set, then by table. Of a `text` no more than its `length` is kept, in characters.
    """
    datasets = [
        name
        for name in STUDY.parts(params.profile, "items")
        # A file of scores or perplexities has no items; its rows are other data sets'.
        if len(tables.read(params.profile, "items", STUDY.name, [name], ("item_id",)))
    ]
    found: dict[str, dict[str, pd.DataFrame]] = {name: {} for name in datasets}
    for name, wanted in columns.items():
        pieces: dict[str, list[pd.DataFrame]] = {dataset: [] for dataset in found}
        # Part by part: a second copy of all parts would be most of what loading takes.
        files = [[file] for file in STUDY.parts(params.profile, name)]
        for some in files or [[]]:
            table = tables.read(params.profile, name, STUDY.name, some, wanted)
            if "text" in table:
                table["length"] = table.pop("text").str.len()
                tables.release()
            # Everything before the first slash of an item_id is its data set.
            owner = table["item_id"].str.replace(r"/.*", "", regex=True)
            for dataset, kept in pieces.items():
                kept.append(table[owner.eq(dataset)])
        for dataset, kept in pieces.items():
            found[dataset][name] = pd.concat(kept, ignore_index=True)
    return found


def _of_items(params: Params, table: str, items: pd.Series) -> pd.DataFrame:
    """The rows of a table that are of some items, read part by part."""
    found = [tables.empty(table)]
    for file in STUDY.parts(params.profile, table):
        rows = tables.read(params.profile, table, STUDY.name, [file])
        found.append(rows[rows["item_id"].isin(items)])
    return pd.concat(found, ignore_index=True)


def headline(frames: Mapping[str, pd.DataFrame]) -> Headline:
    """Of every judge with responses of its own: equal opportunity, demographic parity, excess."""
    return nested(frames["fig1b_bias"], ["dataset", "judge"], ["eo", "dp", "excess"])
