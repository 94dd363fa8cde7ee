"""What the parameters say about who fills which table, and the models behind the store."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import pandas as pd

from selfpref import paths, tables
from selfpref.ask.responding import PART
from selfpref.models import Engine
from selfpref.models.calls import Model
from selfpref.models.ray_pool import RayEndpoint, RayPool
from selfpref.models.served import HostedModel, Sender
from selfpref.params import Hosted, Ray, hosted
from selfpref.params import Model as Entry
from selfpref.store import Store, store_path
from selfpref.studies.panickssery.evaluators import BASE, COLUMNS

TABLES = ("items", "responses", "labels", "truths", "verdicts", "perplexities")
# For a batch, which may take a day and so many at most, and Ray's workers, who load their model.
LARGE_PART = 50_000
# What a release may hold; the studies read of it what they need.
RELEASED = (*TABLES, "ratings", "audit")
# Which mappings of the parameters name what fills a study's table, beside the data sets.
MODELS = {
    "wataoka": {
        "responses": ["respond"],
        "verdicts": ["judge"],
        "perplexities": ["perplexity"],
    },
    "livebench": {
        "responses": ["compete"],
        "truths": ["compete"],
        "ratings": ["assess"],
        "verdicts": ["assess", "tie_breakers"],
    },
    "panickssery": {
        "items": ["articles"],
        "audit": ["articles"],
        "responses": ["articles", "summarise"],
        "truths": ["articles", "summarise"],
        "verdicts": ["recognise", "finetune"],
        "ratings": ["recognise", "finetune"],
    },
    "xu": {
        "items": ["requests"],
        "audit": ["requests"],
        "responses": ["refine"],
        "ratings": ["refine"],
        "truths": ["refine"],
        "perplexities": ["refine"],
    },
}


def released(params: Any, study: str) -> list[str]:
    """The entries of `datasets` that fill a study's tables."""
    return [name for name, entry in params.datasets.items() if entry.study == study]


def datasets(params: Any, study: str = "wataoka") -> list[str]:
    """The data sets of a study: those of `datasets`, and one a seed of the laboratory."""
    seeds = params.lab.contests if study == "livebench" else params.lab.seeds
    return [*released(params, study), *(f"seed-{seed}" for seed in seeds)]


def parts(params: Any, table: str, study: str = "wataoka") -> list[str]:
    """The files of a table: one a data set or model, as the parameters name them.

    Args:
        params: With `datasets`, `lab` and, for tables that models fill, their mapping.
        table: A key of `selfpref.tables.schemas.TABLES`.
        study: Which study.
    """
    if (mappings := MODELS.get(study, {}).get(table)) is None:
        return datasets(params, study)
    models = [part(mapping, name) for mapping in mappings for name in getattr(params, mapping)]
    return [*released(params, study), *models]


def part(mapping: str, name: str) -> str:
    """The file that an entry of a mapping fills; evaluators may be tuned under their base's key."""
    return f"tuned-{name}" if mapping == "finetune" else name


def whole(params: Any, study: str, names: Iterable[str]) -> dict[str, pd.DataFrame]:
    """The named tables of a study, all data sets together.

    Args:
        params: As for `parts`, with `profile`.
        study: Which study.
        names: Which tables.
    """
    return {
        name: tables.read(params.profile, name, study, parts(params, name, study)) for name in names
    }


def load(
    params: Any, study: str, columns: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, pd.DataFrame]]:
    """The tables of every data set.

    Args:
        params: As for `parts`, with `profile`.
        study: Which study.
        columns: Which tables, and of each the columns that are wanted, as `tables.read` takes them.

    Returns:
        By data set, then by table. Of a `text` no more than its `length` is kept, in characters.
    """
    found: dict[str, dict[str, pd.DataFrame]] = {name: {} for name in datasets(params, study)}
    for name, wanted in columns.items():
        pieces: dict[str, list[pd.DataFrame]] = {dataset: [] for dataset in found}
        # Part by part: a second copy of all parts would be most of what loading takes.
        for file in sorted(parts(params, name, study)):
            table = tables.read(params.profile, name, study, [file], wanted)
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


def excerpt(params: Any, study: str, table: str, items: pd.Series) -> pd.DataFrame:
    """The rows of a table that are of some items.

    Args:
        params: As for `parts`, with `profile`.
        study: Which study.
        table: A key of `selfpref.tables.schemas.TABLES`.
        items: Which items.
    """
    found = [tables.empty(table)]
    for file in sorted(parts(params, table, study)):
        rows = tables.read(params.profile, table, study, [file])
        found.append(rows[rows["item_id"].isin(items)])
    return pd.concat(found, ignore_index=True)


def name(params: Any, model: str) -> str:
    """What the tables call a model: its own responses are those of the responder of this name.

    Args:
        params: With `models`.
        model: A key of `models`.
    """
    return params.models[model].responder or model


def scores(params: Any, model: str) -> bool:
    """Whether a model tells the likelihood of a given text.

    Args:
        params: With `models`.
        model: A key of `models`.
    """
    entry = hosted(params.models[model])
    return entry is None or (entry.server == "vllm" and not entry.batch)


def at_a_time(params: Any, model: str) -> int:
    """How many prompts to make and to ask at a time: most of a stage's memory, were it all.

    Args:
        params: With `models`.
        model: A key of `models`.
    """
    entry = params.models[model]
    begins_anew = isinstance(entry, Ray) or (isinstance(entry, Hosted) and entry.batch)
    return LARGE_PART if begins_anew else PART


def evaluators(params: Any) -> pd.DataFrame:
    """Who evaluates summaries, as `selfpref.studies.panickssery.evaluators` describes it.

    Args:
        params: With `recognise`, `finetune` and `summarise`.

    Returns:
        Its columns. The number of examples is what the articles give where every source has
        written; the variant of an evaluator tuned with replay ends in `-replay`.
    """
    bases = [(name, use.own or name, use.tuned) for name, use in params.recognise.items()]
    tuned = [
        (f"{key}-{name}", use.model, tuning)
        for key, use in params.finetune.items()
        if use.method != "export"
        for name, tuning in use.evaluators.items()
    ]
    # Beside the own summaries stand those of the other models and of the human, in two orders.
    an_article = 2 * len(params.summarise)
    rows = [
        (name, own, tuning.on, tuning.variant + "-replay" * (tuning.replay > 0),
         an_article * tuning.articles, tuning.articles)
        if tuning
        else (name, own, "", BASE, 0, 0)
        for name, own, tuning in sorted([*bases, *tuned], key=lambda row: row[0])
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


# As `calls`: opens a model, a key of `models`, for a data set; last what its progress bar says.
Opens = Callable[[Any, str, str, str], AbstractContextManager[Model]]


@contextmanager
def calls(params: Any, model: str, dataset: str, title: str) -> Iterator[Model]:
    """One model behind the store.

    Args:
        params: With `models` and `offline`.
        model: A key of `models`; `{dataset}` in its path stands for the data set.
        dataset: The data set whose items it will read.
        title: What the progress bar says.
    """
    with Store(store_path(paths.root())) as store:
        engine = open_engine(model, params.models[model], dataset, store)
        yield Model(engine, store, offline=params.offline, title=title)


def open_engine(name: str, entry: Entry, dataset: str, store: Store | None) -> Engine:
    """What answers for one entry of `models`.

    Args:
        name: Its key.
        entry: The entry.
        dataset: What `{dataset}` in its path stands for.
        store: Where batches under way are noted; a worker of Ray has none.
    """
    if isinstance(entry, Ray):
        return _pool(name, entry, dataset)
    # Each library is loaded only where it is used: torch takes seconds.
    if isinstance(entry, Hosted):
        return HostedModel(name, entry, _sender(name, entry, store))
    from selfpref.models.local import LocalModel  # noqa: PLC0415

    return LocalModel(entry, paths.root(), dataset)


def _pool(name: str, entry: Ray, dataset: str) -> RayPool:
    open_inner = partial(open_engine, name, entry.inner, dataset, None)
    if isinstance(entry.inner, Hosted):
        reader = HostedModel(name, entry.inner, _sender(name, entry.inner, None))
        return RayEndpoint(entry, open_inner, reader, paths.root(), paths.ray_log())
    from selfpref.models.local.weights import identity  # noqa: PLC0415

    known = identity(entry.inner, paths.root(), dataset)
    return RayPool(entry, open_inner, known, paths.root(), paths.ray_log())


def _sender(name: str, entry: Hosted, store: Store | None) -> Sender:
    if entry.batch and store is not None:
        from selfpref.models.served.batch import Batch  # noqa: PLC0415

        return Batch(name, entry, store)
    from selfpref.models.served.live import Live  # noqa: PLC0415

    return Live(name, entry)
