"""Small pictures of what a stage made, for its notebook; they are no figures and reach no file."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes


def histogram(values: pd.Series, by: pd.Series, xlabel: str, ylabel: str) -> Axes:
    """How numbers are distributed in each group, all groups in the same twenty bins.

    Args:
        values: The numbers; missing ones are left out.
        by: The group of each, row by row.
        xlabel: What the numbers are, with their unit.
        ylabel: What is counted.
    """
    numbers, groups = values.to_numpy(dtype=float), by.to_numpy()
    bins = np.histogram_bin_edges(numbers[np.isfinite(numbers)], bins=20)
    _, axes = plt.subplots(figsize=(6, 2.5))
    for group in sorted(set(groups)):
        axes.stairs(np.histogram(numbers[groups == group], bins)[0], bins, label=group)
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.legend(loc="upper left", bbox_to_anchor=(1, 1), fontsize="small")
    return axes
