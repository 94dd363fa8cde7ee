"""Rows of rated texts as `rated` returns them; the settings of these tests."""

import pandas as pd
from study_frames import RECORDED

from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.xu.bias import Settings

USE = RECORDED.xu.model_copy(update={"sizes": ["small", "large"]})
SETTINGS = Settings(USE, ClusterBootstrap(200, seed=1))


def judged(said, truth, condition="", language="a", **named):
    """Scores and truths of sentences; the n-th of every cell is one cluster."""
    rows = pd.DataFrame({"score": said, "truth": truth}, dtype=float)
    place = f"{condition}/{language}" if condition else language
    writer = named.get("responder", "me")
    known = {"responder": writer, "model": writer, "judge": "me", "task": "mqm", "status": "ok"}
    known |= {"variant": "plain", "own": True, "contaminated": False, "stored": rows["score"]}
    known |= dict.fromkeys(("text", "reply", "source"))
    known |= {"step": 0, "repeat": 0}
    known["item_id"] = [f"{place}/{n}" for n in range(len(rows))]
    known["cluster"] = [f"c{n}" for n in range(len(rows))]
    return rows.assign(condition=condition, language=language, **(known | named))


def truths_of(metric, *parts):
    """The truths table of these texts, their `truth` under the name of a metric."""
    rows = pd.concat(parts).rename(columns={"score": "said", "truth": "score"})
    return rows[["item_id", "responder", "step", "score"]].assign(metric=metric)
