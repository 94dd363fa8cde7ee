"""From the parameters of a stage to the frames of its study: which tables, which statistics."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from selfpref import paths, sources

Frames = dict[str, pd.DataFrame]


def _wataoka(params: Any) -> Frames:
    from selfpref.metrics import wataoka  # noqa: PLC0415
    from selfpref.metrics.bootstrap import ClusterBootstrap  # noqa: PLC0415
    from selfpref.metrics.judged import Settings  # noqa: PLC0415

    settings = Settings(
        **params.wataoka.model_dump(),
        bootstrap=ClusterBootstrap(**params.bootstrap.model_dump()),
        seed=params.seed,
    )
    published = pd.read_csv(paths.published_file("wataoka"))
    return wataoka.compute(sources.load(params, "wataoka"), published, settings)


def _livebench(params: Any) -> Frames:
    from selfpref.metrics import livebench  # noqa: PLC0415
    from selfpref.metrics.bootstrap import ClusterBootstrap  # noqa: PLC0415

    settings = livebench.Settings(
        **params.livebench.model_dump(),
        bootstrap=ClusterBootstrap(**params.bootstrap.model_dump()),
        seed=params.seed,
    )
    published = pd.read_csv(paths.published_file("livebench"))
    tables = sources.whole(params, "livebench", livebench.TABLES)
    return livebench.compute(tables, published, settings)


# One line a study; each imports its own statistics alone.
COMPUTE: dict[str, Callable[[Any], Frames]] = {"wataoka": _wataoka, "livebench": _livebench}
