"""Read the study's tables, as the parameters say, and hand them to `measure.compute`."""

from collections.abc import Mapping

import pandas as pd

from selfpref import paths
from selfpref.params import Params
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.livebench import STUDY, measure
from selfpref.tables.asked import asked
from selfpref.tables.frames import Headline, nested


def compute(params: Params) -> dict[str, pd.DataFrame]:
    """Every frame of the study."""
    published = pd.read_csv(paths.published_file(STUDY.name))
    frames = measure.compute(load(params), published, settings(params))
    return {**frames, "asked": asked(STUDY, params)}


def load(params: Params) -> dict[str, pd.DataFrame]:
    """The tables of all data sets together."""
    return STUDY.whole(params.profile, measure.TABLES)


def settings(params: Params) -> measure.Settings:
    """What is equal, and how intervals are made."""
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    return measure.Settings(**params.livebench.settings(), bootstrap=bootstrap)


def headline(frames: Mapping[str, pd.DataFrame]) -> Headline:
    """By category and judge: how often it chose its own response, and that beyond the others."""
    shares, excess = frames["preference_shares"], frames["excess"]
    own = shares[shares["judge"].eq(shares["responder"])].rename(columns={"share": "own_share"})
    both = own.merge(excess[["category", "task", "judge", "excess"]], how="left")
    whole = both[both["task"].eq("all")]
    return nested(whole, ["category", "judge"], ["own_share", "excess"])
