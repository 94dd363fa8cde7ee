"""What the parameters say about who fills which table, and the models behind the store."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pandas as pd

from selfpref import paths, tables
from selfpref.engines.calls import Calls
from selfpref.store import Store, store_path

TABLES = ("items", "responses", "labels", "truths", "verdicts", "perplexities")
# Which mapping of the parameters names the models that fill a table, beside the data sets.
MODELS = {"responses": "respond", "verdicts": "judge", "perplexities": "perplexity"}


def datasets(params: Any) -> list[str]:
    """The data sets: those of `datasets`, and one a seed of the laboratory."""
    return [*params.datasets, *(f"seed-{seed}" for seed in params.lab.seeds)]


def parts(params: Any, table: str) -> list[str]:
    """The files of a table: one a data set or model, as the parameters name them.

    Args:
        params: With `datasets`, `lab` and, for tables that models fill, their mapping.
        table: A key of `selfpref.schemas.TABLES`.
    """
    if table not in MODELS:
        return datasets(params)
    return [*params.datasets, *getattr(params, MODELS[table])]


def load(params: Any, study: str) -> dict[str, dict[str, pd.DataFrame]]:
    """Every table of every data set: by data set, then by table.

    Args:
        params: As for `parts`, with `profile`.
        study: Which study.
    """
    whole = {name: tables.read(params.profile, name, study, parts(params, name)) for name in TABLES}
    # Everything before the first slash of an item_id is its data set.
    owner = {
        name: table["item_id"].str.replace(r"/.*", "", regex=True) for name, table in whole.items()
    }
    return {
        dataset: {
            name: table[owner[name].eq(dataset)].reset_index(drop=True)
            for name, table in whole.items()
        }
        for dataset in datasets(params)
    }


@contextmanager
def calls(params: Any, model: str, dataset: str, title: str) -> Iterator[Calls]:
    """One model behind the store.

    Args:
        params: With `models` and `offline`.
        model: A key of `models`; `{dataset}` in its path stands for the data set.
        dataset: The data set whose items it will read.
        title: What the progress bar says.
    """
    # torch is loaded only where a model answers.
    from selfpref.engines.local import LocalModel  # noqa: PLC0415

    entry = params.models[model]
    folder = paths.root() / entry.model.format(dataset=dataset)
    with Store(store_path(paths.root())) as store:
        yield Calls(LocalModel(folder, entry.threads), store, offline=params.offline, title=title)
