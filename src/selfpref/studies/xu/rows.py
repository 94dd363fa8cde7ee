"""The rated texts of the study, one row a rating, with what is known of their quality.

All measures read one long frame: a text (`item_id, responder, step`, with `language` and what is
resampled, `cluster`), what a judge says of it (`said`) and what is true (`truth`, one metric of the
truths table). A rating holds two scores, `score` by this project's rules and `stored` by its
source's; which of them is `said`, the scoring decides (the column `convention`). Both scorings
appear beside each other throughout:

- `released`: the score by the source's own rule (`stored`), to which whatever it does not find in
  the feedback is perfect; a source without such a rule has the score itself;
- `corrected`: only feedback that says something, and no truth where the step is mismatched
  (`contaminated` in `selfpref.studies.xu.chains`), so that nothing is compared with the score of
  another text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.params import Params
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.xu import STUDY, chains
from selfpref.studies.xu.feedback import FLOOR
from selfpref.studies.xu.truths import Matcher

TABLES = ("items", "responses", "ratings", "truths", "audit")
Convention = Literal["released", "corrected"]
CONVENTIONS: tuple[Convention, ...] = ("released", "corrected")
TEXT = ["item_id", "responder", "step"]


@dataclass(frozen=True)
class Settings:
    """What scores are compared with, and how intervals are made; see `selfpref.params`.

    Attributes:
        truth: The metric of `truths` that a translation's score is compared with.
        matcher: How concepts are looked for.
        gamma: The centre of distance skewness.
        flips: Random signs drawn for each null of distance skewness.
        sizes: Models that differ in size alone, ascending.
        bootstrap: The intervals.
    """

    truth: str
    matcher: Matcher
    gamma: float
    flips: int
    sizes: tuple[str, ...]
    bootstrap: ClusterBootstrap

    def metric(self, task: str) -> str:
        """The truth that the ratings of a task are compared with."""
        return {"mqm": self.truth, "coverage": f"coverage-{self.matcher}"}.get(task, task)

    @property
    def intervals(self) -> ClusterBootstrap:
        """The intervals of this study, with streams of their own."""
        return self.bootstrap.within(STUDY.name)


def settings(params: Params) -> Settings:
    """What self-scores are compared with, and how intervals are made, as the parameters say."""
    use = params.xu.settings()
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    return Settings(**use | {"sizes": tuple(use["sizes"])}, bootstrap=bootstrap)


def load(params: Params) -> dict[str, pd.DataFrame]:
    """The tables `TABLES` of all languages and models, and the items under every condition."""
    whole = STUDY.whole(params.profile, TABLES)
    whole["items"] = chains.under_conditions(whole["items"], whole["ratings"]["item_id"])
    return whole


def truth_of(rows: pd.DataFrame, truths: pd.DataFrame, metric: str) -> pd.Series:
    """One metric of each row's text; NaN where it was not computed.

    Args:
        rows: With `item_id, responder, step`.
        truths: The truths table.
        metric: Which.
    """
    known = truths.loc[truths["metric"].eq(metric), [*TEXT, "score"]]
    found = rows[TEXT].merge(known, on=TEXT, how="left")["score"]
    return pd.Series(found.to_numpy(dtype=float), index=rows.index)


def rated(tables: Mapping[str, pd.DataFrame], settings: Settings) -> pd.DataFrame:
    """Every rating with the text it judges, its truth, and its address.

    Args:
        tables: items, responses, ratings and truths.
        settings: Which truth.

    Returns:
        The ratings' columns, several fresh draws as their mean (`averaged`), with `draws,
        condition, language, cluster, source, text, truth, own` (whether this reading drove the
        refinement: the writer's own, or in an arm that the condition names, that arm's judge's) and
        `contaminated`. The truth is that of the text, so it is NaN for candidates,
        which have samples.

    Raises:
        SelfprefError: The truth of translations is on another scale than their scores.
    """
    items, ratings = tables["items"], averaged(tables["ratings"])
    asked = items.assign(source=items["messages"].map(lambda turns: turns[-1]["content"]))
    rows = ratings.merge(asked[["item_id", "cluster", "source"]], on="item_id")
    texts = tables["responses"][[*TEXT, "sample", "text"]]
    rows = rows.merge(texts, on=[*TEXT, "sample"], how="left")
    rows = rows.join(chains.addressed(rows["item_id"]))
    truth = pd.Series(np.nan, index=rows.index)
    for task, part in rows.groupby("task"):
        metric = settings.metric(str(task))
        truth[part.index] = known = truth_of(part, tables["truths"], metric)
        if task == "mqm" and not known.dropna().between(FLOOR, 0).all():
            raise SelfprefError(
                f"params.yaml: xu.truth: {metric} goes from {known.min():g} to {known.max():g}, "
                f"judges score translations from {FLOOR:g} to 0; give a metric on that scale"
            )
    plain = rows["variant"].eq("plain") & rows["judge"].eq(rows["responder"])
    drove = plain | rows["variant"].eq(rows["condition"])
    rows = rows.assign(truth=truth, own=drove & rows["repeat"].eq(0))
    spoilt = integrity(rows, tables["truths"])
    spoilt = spoilt.loc[spoilt["contaminated"], chains.CELL]
    return rows.merge(spoilt, on=chains.CELL, how="left", indicator="contaminated").assign(
        contaminated=lambda merged: merged["contaminated"].eq("both")
    )


def averaged(ratings: pd.DataFrame) -> pd.DataFrame:
    """The ratings with several fresh draws of one text as one row: Eq. 1's expected score.

    Args:
        ratings: The ratings table.

    Returns:
        The same columns and `draws`, the number of usable draws behind a score. The mean row has
        the `repeat` 0, the words and marks of the first usable draw, and the status `ok` where a
        draw is usable, else that of the first.
    """
    ratings = ratings.assign(draws=ratings["status"].eq("ok").astype(int))
    several = ratings["variant"].eq(chains.RESCORED)
    if not ratings.loc[several, "repeat"].gt(0).any():
        return ratings
    key = [*TEXT, "sample", "judge", "task"]
    drawn = ratings[several].sort_values(
        [*key, "draws", "repeat"], ascending=[True] * len(key) + [False, True]
    )
    means = drawn.assign(score=drawn["score"].where(drawn["draws"].eq(1))).groupby(key)
    first = drawn.drop_duplicates(key).drop(columns=["score", "draws"])
    counts = means.agg(score=("score", "mean"), draws=("draws", "sum")).reset_index()
    fresh = first.assign(repeat=0).merge(counts, on=key)
    return pd.concat([ratings[~several], fresh[ratings.columns]], ignore_index=True)


def chained(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of refinement: own ratings of texts that follow each other step by step."""
    aside = rows["condition"].str.startswith((chains.BEST, chains.PARAPHRASE))
    return rows[rows["own"] & ~aside]


def paper_chains(rows: pd.DataFrame, task: str = "") -> pd.DataFrame:
    """The rows of refinement by the paper's own rule: no other condition; of one task or of all."""
    own = chained(rows)
    own = own[own["condition"].eq("")]
    return own[own["task"].eq(task)] if task else own


def read_as(rows: pd.DataFrame, convention: Convention) -> pd.DataFrame:
    """The rows under one scoring: `said` is the judge's score, `truth` what it is held against.

    Args:
        rows: As `rated` returns them.
        convention: `released` or `corrected`.
    """
    if convention == "released":
        return rows.assign(said=rows["stored"].fillna(rows["score"]))
    usable = rows["status"].eq("ok")
    return rows.assign(
        said=rows["score"].where(usable), truth=rows["truth"].mask(rows["contaminated"])
    )


def under_scorings(
    rows: pd.DataFrame, conventions: Sequence[Convention] = CONVENTIONS
) -> pd.DataFrame:
    """The rows under several scorings, one below the other, with the column `convention`."""
    return pd.concat([read_as(rows, one).assign(convention=one) for one in conventions])


def integrity(rows: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame:
    """What the checks of a chain find in each of its steps (`chains.cells`).

    Args:
        rows: As `rated` returns them.
        truths: The truths table; unrounded BLEURT, where there is one, tells texts apart better
            than its map to plateaus.
    """
    own = chained(rows)
    exact = truth_of(own, truths, "bleurt")
    return chains.cells(
        own[[*chains.CELL, "item_id", "text", "reply", "status"]].assign(
            said=own["stored"].fillna(own["score"]),
            truth=exact.fillna(own["truth"]),
            fine=exact.notna(),
        )
    )
