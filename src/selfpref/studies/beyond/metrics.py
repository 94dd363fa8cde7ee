"""What the studies that are switched on can add: every statistic of every judge of them."""

import pandas as pd

from selfpref import paths
from selfpref.params import Params
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.judged import COLUMNS, Judged, Settings
from selfpref.studies.beyond import measure
from selfpref.studies.livebench import metrics as livebench
from selfpref.studies.livebench.measure.panel import Panel
from selfpref.studies.panickssery import STUDY as PANICKSSERY
from selfpref.studies.panickssery.evaluators import COLUMNS as EVALUATORS
from selfpref.studies.wataoka import STUDY as WATAOKA
from selfpref.studies.xu import rows as xu


def compute(params: Params) -> dict[str, pd.DataFrame]:
    """Every frame, from the tables of the other studies."""
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    settings, found = Settings(**params.wataoka.settings(), bootstrap=bootstrap), []
    evaluators = pd.DataFrame(columns=EVALUATORS)
    if "wataoka" in params.studies:
        loaded = WATAOKA.by_dataset(params.profile, COLUMNS)
        judged = (Judged(key, tables, settings) for key, tables in loaded.items())
        # Where no judge has responses of its own there is nothing of itself to measure.
        found.append(measure.pairs(data for data in judged if data.judges))
    if "livebench" in params.studies:
        panel = Panel(livebench.load(params), livebench.settings(params))
        found.append(measure.contests(panel, settings))
    if "panickssery" in params.studies:
        folder = paths.metrics_dir(params.profile, PANICKSSERY.name)
        judged, evaluators = (
            pd.read_parquet(folder / f"{name}.parquet") for name in ("pairs", "evaluators")
        )
        texts = PANICKSSERY.whole(params.profile, ["responses", "truths"])
        found.append(measure.preferences(judged, texts, settings))
    if "xu" in params.studies:
        found.append(measure.refinement(xu.load(params), xu.settings(params)))
    # Their chapter's names of judges are made from what they were tuned on.
    return {**measure.compute(found, params.bootstrap.level), "evaluators": evaluators}
