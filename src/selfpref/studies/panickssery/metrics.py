"""Read the study's tables, as the parameters say, and hand them to `measure.compute`."""

import pandas as pd

from selfpref import paths
from selfpref.params import Params
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.panickssery import STUDY, evaluators, measure


def compute(params: Params) -> dict[str, pd.DataFrame]:
    """Every frame of the study."""
    found = STUDY.whole(params, measure.TABLES)
    asked = evaluators.of_params(params)
    judges = {*found["verdicts"]["judge"], *found["ratings"]["judge"]} - {*asked["evaluator"]}
    who = pd.concat([asked, evaluators.from_names(judges)], ignore_index=True)
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    published = pd.read_csv(paths.published_file(STUDY.name))
    return measure.compute(found, who, published, params.panickssery, bootstrap.within(STUDY.name))
