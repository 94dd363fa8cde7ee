"""One data set's judged pairs, as every frame of the study reads them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from selfpref.statistics.bias import Ties
from selfpref.statistics.bootstrap import ClusterBootstrap, Interval, stream
from selfpref.statistics.perplexity import Binning, Scale
from selfpref.statistics.scores import Floats, Turns, facing, judged_pairs

STUDY = "wataoka"
# What is read of each table; of the texts, their length.
COLUMNS = {
    "items": ("item_id", "cluster", "metadata"),
    "responses": ("item_id", "responder", "step", "sample", "text", "status"),
    "labels": ("item_id", "responder_a", "responder_b", "annotator", "label"),
    "truths": ("item_id", "responder", "metric", "score"),
    "verdicts": (
        *("item_id", "judge", "task", "candidates", "order_known", "repeat"),
        *("probabilities", "choice", "status"),
    ),
    "perplexities": (
        *("item_id", "responder", "step", "judge", "conditional"),
        *("sum_nll", "n_tokens", "status"),
    ),
}


@dataclass(frozen=True)
class Settings:
    """Which rows enter, how they count, and how intervals are made; see `selfpref.params`."""

    threshold: float
    human_ties: Ties
    judge_ties: Ties
    turns: Turns
    bins: int
    binning: Binning
    scale: Scale
    bootstrap: ClusterBootstrap
    seed: int


@dataclass(frozen=True)
class Judged:
    """One data set's tables, responses with their `length`, and its judged pairs."""

    name: str
    tables: Mapping[str, pd.DataFrame]
    settings: Settings

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Every judged pair, as `judged_pairs` returns them."""
        tables, use = self.tables, self.settings
        return judged_pairs(
            tables["items"],
            tables["labels"],
            tables["verdicts"],
            threshold=use.threshold,
            turns=use.turns,
        )

    @property
    def judges(self) -> list[str]:
        """Those that judged a pair with a response of their own."""
        held = {*self.pairs["first"], *self.pairs["second"]}
        return sorted(set(self.pairs["judge"]) & held)

    def own(self, judge: str) -> pd.DataFrame:
        """The judge's verdicts on pairs with its own response, turned to it."""
        rows = facing(self.pairs, judge)
        return rows[rows["judge"].eq(judge)].reset_index(drop=True)

    def interval(
        self,
        sums: Floats,
        statistic: Callable[[Floats], Floats],
        *names: str,
    ) -> Interval:
        """Interval with a stream of its own for these names."""
        rng = stream(self.settings.seed, STUDY, self.name, *names)
        return self.settings.bootstrap.interval(sums, statistic, rng)

    def intervals(
        self,
        sums: Floats,
        statistics: Callable[[Floats], Floats],
        *names: str,
    ) -> list[Interval]:
        """Intervals of several statistics from one stream."""
        rng = stream(self.settings.seed, STUDY, self.name, *names)
        return self.settings.bootstrap.intervals(sums, statistics, rng)
