"""Read the study's tables, as the parameters say, and hand them to `measure.compute`."""

from collections.abc import Mapping

import pandas as pd

from selfpref import paths
from selfpref.params import Params
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.panickssery import STUDY, evaluators, measure
from selfpref.tables.asked import asked
from selfpref.tables.frames import Headline, nested


def compute(params: Params) -> dict[str, pd.DataFrame]:
    """Every frame of the study."""
    found = STUDY.whole(params.profile, measure.TABLES)
    judges = {*found["verdicts"]["judge"], *found["ratings"]["judge"]}
    responders = {*STUDY.read(params.profile, "responses")["responder"]}
    configured = evaluators.of_params(params.panickssery, judges, responders)
    others = evaluators.from_names(judges - {*configured["evaluator"]})
    who = pd.concat([configured, others], ignore_index=True)
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    published = pd.read_csv(paths.published_file(STUDY.name))
    bootstrap = bootstrap.within(STUDY.name)
    frames = measure.compute(found, who, published, params.panickssery, bootstrap)
    return {**frames, "asked": asked(STUDY, params)}


def headline(frames: Mapping[str, pd.DataFrame]) -> Headline:
    """By data set and untuned judge: mean confidence of recognition and of preference."""
    who, rows = frames["evaluators"], frames["pairwise"]
    bases = who.loc[who["variant"].eq(evaluators.BASE), "evaluator"]
    whole = rows[
        rows["evaluator"].isin(bases) & rows["other"].eq("all") & rows["convention"].eq("corrected")
    ]
    return nested(whole, ["dataset", "evaluator", "task"], ["mean"])
