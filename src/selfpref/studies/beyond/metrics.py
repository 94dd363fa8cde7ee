"""What the studies that are switched on can add: every statistic of every judge of them."""

import pandas as pd

from selfpref import paths
from selfpref.params import Params
from selfpref.studies.beyond import measure
from selfpref.studies.livebench import metrics as contests
from selfpref.studies.livebench.measure.panel import Panel
from selfpref.studies.panickssery import STUDY as SUMMARIES
from selfpref.studies.wataoka import metrics as pairs
from selfpref.studies.wataoka.measure.judged import COLUMNS, Judged
from selfpref.studies.xu import metrics as refinement


def compute(params: Params) -> dict[str, pd.DataFrame]:
    """Every frame, from the tables of the other studies."""
    settings, found = pairs.settings(params), []
    if params.studies["wataoka"]:
        loaded = pairs.load(params, COLUMNS)
        found.append(measure.pairs(Judged(key, loaded[key], settings) for key in sorted(loaded)))
    if params.studies["livebench"]:
        panel = Panel(contests.load(params), contests.settings(params))
        found.append(measure.contests(panel, settings))
    if params.studies["panickssery"]:
        judged = pd.read_parquet(
            paths.metrics_dir(params.profile, SUMMARIES.name) / "pairs.parquet"
        )
        texts = SUMMARIES.whole(params, ["responses", "truths"])
        found.append(measure.preferences(judged, texts, settings))
    if params.studies["xu"]:
        found.append(measure.refinement(refinement.load(params), refinement.settings(params)))
    return measure.compute(found, params.bootstrap.level)
