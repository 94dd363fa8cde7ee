"""Read the study's tables, as the parameters say, and hand them to `measure.compute`."""

from collections.abc import Mapping

import pandas as pd

from selfpref import paths
from selfpref.params import Params
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.xu import STUDY, chains, measure
from selfpref.studies.xu.measure.rows import Settings
from selfpref.tables.asked import asked
from selfpref.tables.frames import Headline, nested


def compute(params: Params) -> dict[str, pd.DataFrame]:
    """Every frame of the study."""
    published = pd.read_csv(paths.published_file(STUDY.name))
    frames = measure.compute(load(params), published, settings(params))
    return {**frames, "asked": asked(STUDY, params)}


def load(params: Params) -> dict[str, pd.DataFrame]:
    """The tables of all languages and models together, and the items under every condition."""
    whole = STUDY.whole(params.profile, measure.TABLES)
    whole["items"] = chains.under_conditions(whole["items"], whole["ratings"]["item_id"])
    return whole


def settings(params: Params) -> Settings:
    """What self-scores are compared with, and how intervals are made."""
    use = params.xu.settings()
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    return Settings(**use | {"sizes": tuple(use["sizes"])}, bootstrap=bootstrap)


def headline(frames: Mapping[str, pd.DataFrame]) -> Headline:
    """Translation, by model: the bias before the first and after the last step, all languages."""
    rows = frames["translation"]
    rows = rows[rows["language"].eq("average") & rows["convention"].eq("corrected")]
    ends = rows.sort_values("step").groupby("model", observed=True)["bias"].agg(["first", "last"])
    return nested(ends.reset_index(), ["model"], ["first", "last"])
