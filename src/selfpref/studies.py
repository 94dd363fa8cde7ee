"""From the parameters of a stage to the frames of its study: which tables, which statistics."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from selfpref import paths, sources, tables

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


def _xu(params: Any) -> Frames:
    from selfpref.metrics.bootstrap import ClusterBootstrap  # noqa: PLC0415
    from selfpref.metrics.xu.rows import Settings  # noqa: PLC0415
    from selfpref.metrics.xu.study import TABLES, compute  # noqa: PLC0415

    use = params.xu.model_dump()
    settings = Settings(
        **use | {"sizes": tuple(use["sizes"])},
        bootstrap=ClusterBootstrap(**params.bootstrap.model_dump()),
        seed=params.seed,
    )
    # The study is one whole: what stands before the sentence in an item's name is its language.
    parts = sources.released(params, "xu")
    whole = {name: tables.read(params.profile, name, "xu", parts) for name in TABLES}
    return compute(whole, pd.read_csv(paths.published_file("xu")), settings)


# One line a study; each imports its own statistics alone.
COMPUTE: dict[str, Callable[[Any], Frames]] = {"wataoka": _wataoka, "xu": _xu}
