"""Read the study's tables, as the parameters say, and hand them to `measure.compute`."""

import pandas as pd

from selfpref import paths
from selfpref.params import Params
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.livebench import STUDY, measure
from selfpref.tables.asked import asked


def compute(params: Params) -> dict[str, pd.DataFrame]:
    """Every frame of the study."""
    published = pd.read_csv(paths.published_file(STUDY.name))
    frames = measure.compute(load(params), published, settings(params))
    return {**frames, "asked": asked(STUDY, params.profile)}


def load(params: Params) -> dict[str, pd.DataFrame]:
    """The tables of all data sets together."""
    return STUDY.whole(params.profile, measure.TABLES)


def settings(params: Params) -> measure.Settings:
    """What is equal, and how intervals are made."""
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    return measure.Settings(**params.livebench.settings(), bootstrap=bootstrap)
