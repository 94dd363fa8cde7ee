"""What every statistic of the study needs to know."""

from dataclasses import dataclass

import numpy as np

from selfpref.statistics.bootstrap import ClusterBootstrap, stream

STUDY = "panickssery"


@dataclass(frozen=True)
class Settings:
    """See `selfpref.params`."""

    min_mass: float
    unusable: float
    bootstrap: ClusterBootstrap
    seed: int

    def rng(self, *names: str) -> np.random.Generator:
        """A stream of its own for these names."""
        return stream(self.seed, STUDY, *names)
