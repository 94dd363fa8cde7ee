"""From the parameters of a stage to the frames of its study: which tables, which statistics."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from selfpref import paths, sources

Frames = dict[str, pd.DataFrame]


def _resampled(params: Any) -> dict[str, Any]:
    """What the settings of every study hold beside its own section: intervals and their seed."""
    from selfpref.metrics.bootstrap import ClusterBootstrap  # noqa: PLC0415

    return {
        "bootstrap": ClusterBootstrap(**params.bootstrap.model_dump()),
        "seed": params.seed,
    }


def _wataoka(params: Any) -> Frames:
    from selfpref.metrics import wataoka  # noqa: PLC0415
    from selfpref.metrics.judged import COLUMNS, Settings  # noqa: PLC0415

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
    from selfpref.metrics import livebench  # noqa: PLC0415

    settings = livebench.Settings(**params.livebench.model_dump(), **_resampled(params))
    published = pd.read_csv(paths.published_file("livebench"))
    tables = sources.whole(params, "livebench", livebench.TABLES)
    return livebench.compute(tables, published, settings)


def _panickssery(params: Any) -> Frames:
    from selfpref import evaluators  # noqa: PLC0415
    from selfpref.metrics import panickssery  # noqa: PLC0415

    found = sources.whole(params, "panickssery", panickssery.TABLES)
    asked = sources.evaluators(params)
    judges = {*found["verdicts"]["judge"], *found["ratings"]["judge"]} - {*asked["evaluator"]}
    who = pd.concat([asked, evaluators.from_names(judges)], ignore_index=True)
    settings = panickssery.Settings(**params.panickssery.model_dump(), **_resampled(params))
    published = pd.read_csv(paths.published_file("panickssery"))
    return panickssery.compute(found, who, published, settings)


def _xu_inputs(params: Any) -> tuple[Frames, Any]:
    """The tables of the study of Xu et al., and its settings."""
    from selfpref.metrics.xu.rows import Settings  # noqa: PLC0415
    from selfpref.metrics.xu.study import TABLES  # noqa: PLC0415
    from selfpref.refinement import chains  # noqa: PLC0415

    use = params.xu.model_dump()
    settings = Settings(**use | {"sizes": tuple(use["sizes"])}, **_resampled(params))
    # The study is one whole: what stands before the sentence in an item's name is its language.
    whole = sources.whole(params, "xu", TABLES)
    whole["items"] = chains.under_conditions(whole["items"], whole["ratings"]["item_id"])
    return whole, settings


def _xu(params: Any) -> Frames:
    from selfpref.metrics.xu.study import compute  # noqa: PLC0415

    whole, settings = _xu_inputs(params)
    return compute(whole, pd.read_csv(paths.published_file("xu")), settings)


def _beyond(params: Any) -> Frames:
    """What the studies that are switched on can add."""
    from selfpref.metrics import beyond, livebench  # noqa: PLC0415
    from selfpref.metrics.judged import COLUMNS, Judged, Settings  # noqa: PLC0415
    from selfpref.metrics.livebench.panel import Panel  # noqa: PLC0415

    settings = Settings(**params.wataoka.model_dump(), **_resampled(params))
    found = []
    if params.studies["wataoka"]:
        loaded = sources.load(params, "wataoka", COLUMNS)
        found.append(beyond.pairs(Judged(key, loaded[key], settings) for key in sorted(loaded)))
    if params.studies["livebench"]:
        tables_of = sources.whole(params, "livebench", livebench.TABLES)
        own = livebench.Settings(**params.livebench.model_dump(), **_resampled(params))
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
