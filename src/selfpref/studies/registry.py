"""From the parameters of a stage to the tables and frames of its study."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from selfpref import paths
from selfpref.ask import sources
from selfpref.params import Params

if TYPE_CHECKING:
    from selfpref.statistics.bootstrap import ClusterBootstrap

Frames = dict[str, pd.DataFrame]
# From a data set's key, its entry in the parameters (whose class its reader decides) and its pinned
# files, or the user's own file, to tables.
Reader = Callable[[str, Any, Path], Frames]

# The readers of `datasets` and the modules that hold them; each is imported where it is used.
READERS = {
    "pairs": "formats.pairs",
    "scores": "formats.scores",
    "mt-bench": "studies.wataoka.read.mt_bench",
    "vicuna80": "studies.wataoka.read.vicuna80",
    "mt-bench-hub": "studies.wataoka.read.mt_bench_hub",
    "chatbot-arena": "studies.wataoka.read.chatbot_arena",
    "livebench": "studies.livebench.read",
    "livebench-hub": "studies.livebench.read.hub",
    "panickssery": "studies.panickssery.read",
    "xu": "studies.xu.read",
}


def reader_of(name: str) -> Reader:
    """What reads a kind of data set, a key of `READERS`."""
    found: Reader = import_module(f"selfpref.{READERS[name]}").read
    return found


def read(params: Params, dataset: str) -> Frames:
    """The tables of one entry of `datasets`.

    Args:
        params: The stage's parameters.
        dataset: The entry's key.
    """
    entry = params.datasets[dataset]
    return reader_of(entry.reader)(dataset, entry, paths.root() / entry.source)


def _bootstrap(params: Any) -> "ClusterBootstrap":
    """The intervals of every study."""
    from selfpref.statistics.bootstrap import ClusterBootstrap  # noqa: PLC0415

    return ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)


def _resampled(params: Any) -> dict[str, Any]:
    """What the settings of a study hold beside its own section: intervals and their seed."""
    return {"bootstrap": _bootstrap(params), "seed": params.seed}


def _wataoka(params: Any) -> Frames:
    from selfpref.studies.wataoka import measure as wataoka  # noqa: PLC0415
    from selfpref.studies.wataoka.measure.judged import COLUMNS, Settings  # noqa: PLC0415

    settings = Settings(**params.wataoka.model_dump(), **_resampled(params))
    published = pd.read_csv(paths.published_file("wataoka"))
    found = wataoka.compute(sources.load(params, "wataoka", COLUMNS), published, settings)
    if len(example := found["example"]):
        quotes = (
            sources.excerpt(params, "wataoka", name, example["item_id"])
            for name in ("items", "responses")
        )
        found["example"] = wataoka.quoted(example, *quotes)
    return found


def _livebench(params: Any) -> Frames:
    from selfpref.studies.livebench import measure as livebench  # noqa: PLC0415

    settings = livebench.Settings(**params.livebench.model_dump(), bootstrap=_bootstrap(params))
    published = pd.read_csv(paths.published_file("livebench"))
    tables = sources.whole(params, "livebench", livebench.TABLES)
    return livebench.compute(tables, published, settings)


def _panickssery(params: Any) -> Frames:
    from selfpref.studies.panickssery import evaluators  # noqa: PLC0415
    from selfpref.studies.panickssery import measure as panickssery  # noqa: PLC0415

    found = sources.whole(params, "panickssery", panickssery.TABLES)
    asked = sources.evaluators(params)
    judges = {*found["verdicts"]["judge"], *found["ratings"]["judge"]} - {*asked["evaluator"]}
    who = pd.concat([asked, evaluators.from_names(judges)], ignore_index=True)
    settings = panickssery.Settings(**params.panickssery.model_dump(), **_resampled(params))
    published = pd.read_csv(paths.published_file("panickssery"))
    return panickssery.compute(found, who, published, settings)


def _xu_inputs(params: Any) -> tuple[Frames, Any]:
    """The tables of the study of Xu et al., and its settings."""
    from selfpref.studies.xu import chains  # noqa: PLC0415
    from selfpref.studies.xu.measure import TABLES  # noqa: PLC0415
    from selfpref.studies.xu.measure.rows import Settings  # noqa: PLC0415

    use = params.xu.model_dump()
    settings = Settings(**use | {"sizes": tuple(use["sizes"])}, **_resampled(params))
    # The study is one whole: what stands before the sentence in an item's name is its language.
    whole = sources.whole(params, "xu", TABLES)
    whole["items"] = chains.under_conditions(whole["items"], whole["ratings"]["item_id"])
    return whole, settings


def _xu(params: Any) -> Frames:
    from selfpref.studies.xu.measure import compute  # noqa: PLC0415

    whole, settings = _xu_inputs(params)
    return compute(whole, pd.read_csv(paths.published_file("xu")), settings)


def _beyond(params: Any) -> Frames:
    """What the studies that are switched on can add."""
    from selfpref.studies.beyond import measure as beyond  # noqa: PLC0415
    from selfpref.studies.livebench import measure as livebench  # noqa: PLC0415
    from selfpref.studies.livebench.measure.panel import Panel  # noqa: PLC0415
    from selfpref.studies.wataoka.measure.judged import COLUMNS, Judged, Settings  # noqa: PLC0415

    settings = Settings(**params.wataoka.model_dump(), **_resampled(params))
    found = []
    if params.studies["wataoka"]:
        loaded = sources.load(params, "wataoka", COLUMNS)
        found.append(beyond.pairs(Judged(key, loaded[key], settings) for key in sorted(loaded)))
    if params.studies["livebench"]:
        tables_of = sources.whole(params, "livebench", livebench.TABLES)
        own = livebench.Settings(**params.livebench.model_dump(), bootstrap=_bootstrap(params))
        found.append(beyond.contests(Panel(tables_of, own), settings))
    if params.studies["panickssery"]:
        judged = pd.read_parquet(paths.metrics_dir(params.profile, "panickssery") / "pairs.parquet")
        texts = sources.whole(params, "panickssery", ["responses", "truths"])
        found.append(beyond.preferences(judged, texts, settings))
    if params.studies["xu"]:
        found.append(beyond.refinement(*_xu_inputs(params)))
    return beyond.compute(found, params.bootstrap.level)


# One line a study; each imports its own statistics alone.
COMPUTE: dict[str, Callable[[Any], Frames]] = {
    "wataoka": _wataoka,
    "livebench": _livebench,
    "panickssery": _panickssery,
    "xu": _xu,
    "beyond": _beyond,
}
