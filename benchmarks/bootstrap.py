"""The cluster bootstrap of the equal-opportunity bias beside its peers, in one run.

    python benchmarks/bootstrap.py [--rounds 5]

33,000 pairs in 8,000 prompts, 10,000 resamples (the size of the paper's data). Peers: drawing the
clusters one resample at a time with numpy, and `scipy.stats.bootstrap` (which knows no clusters and
resamples rows; run at a tenth of the resamples and scaled). CPU-seconds, median and range.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats

from selfpref.statistics.bias import equal_opportunity
from selfpref.statistics.bootstrap import ClusterBootstrap, cluster_sums

PAIRS, PROMPTS, RESAMPLES = 33_000, 8_000, 10_000


def main() -> None:
    """Time every method in turn, round by round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    rng = np.random.default_rng(0)
    cells = np.eye(4)[rng.choice(4, PAIRS, p=[0.5, 0.1, 0.2, 0.2])]
    prompts = pd.Series(rng.integers(0, PROMPTS, PAIRS))
    sums = cluster_sums(cells, prompts)

    def ours() -> tuple[float, float]:
        found = ClusterBootstrap(RESAMPLES).estimate(cells, prompts, equal_opportunity)
        return found.lo, found.hi

    def loop() -> tuple[float, float]:
        drawn = [sums[rng.integers(0, len(sums), len(sums))].sum(axis=0) for _ in range(RESAMPLES)]
        lo, hi = np.quantile(equal_opportunity(np.array(drawn)), [0.025, 0.975])
        return float(lo), float(hi)

    def scipy_rows() -> tuple[float, float]:
        def statistic(rows: np.ndarray, axis: int) -> np.ndarray:
            kinds = np.stack([(rows == kind).sum(axis=axis) for kind in range(4)], axis=-1)
            return equal_opportunity(kinds)

        found = stats.bootstrap(
            (cells.argmax(axis=1),),
            statistic,
            n_resamples=RESAMPLES // 10,
            batch=100,
            method="percentile",
            rng=rng,
        ).confidence_interval
        return float(found.low), float(found.high)

    methods: dict[str, tuple[Callable[[], tuple[float, float]], int]] = {
        "selfpref, clusters": (ours, 1),
        "numpy loop, clusters": (loop, 1),
        "scipy.stats.bootstrap, rows": (scipy_rows, 10),
    }
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    bounds = {}
    for _ in range(rounds):
        for name, (method, scale) in methods.items():
            began = time.process_time()
            bounds[name] = method()
            seconds[name].append(scale * (time.process_time() - began))
    base = statistics.median(seconds["selfpref, clusters"])
    for name, spent in seconds.items():
        middle = statistics.median(spent)
        lo, hi = bounds[name]
        print(
            f"{name:30} {middle:8.3f} s  ({min(spent):.3f}-{max(spent):.3f})  "
            f"{middle / base:7.1f}x  interval [{lo:.4f}, {hi:.4f}]"
        )


if __name__ == "__main__":
    main()
