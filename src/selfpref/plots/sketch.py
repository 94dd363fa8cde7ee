"""Small pictures of what a stage made, for its notebook; they are no figures and reach no file."""

import numpy as np
import pandas as pd
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm


def histogram(values: pd.Series, by: pd.Series, xlabel: str, ylabel: str) -> Axes:
    """How numbers are distributed in each group: a row a group, all rows in the same twenty bins.

    Args:
        values: The numbers; missing ones are left out.
        by: The group of each, row by row.
        xlabel: What the numbers are, with their unit.
        ylabel: What is counted; the shade is its share of the row.
    """
    numbers, groups = values.to_numpy(dtype=float), by.to_numpy()
    kept = np.isfinite(numbers)
    bins = np.histogram_bin_edges(numbers[kept], bins=20)
    names = sorted(set(groups))
    counts = [np.histogram(numbers[kept & (groups == name)], bins)[0] for name in names]
    shares = [count / max(count.sum(), 1) for count in counts]
    figure, axes = plt.subplots(figsize=(6, 0.9 + 0.2 * len(names)), layout="constrained")
    rows = np.arange(len(names) + 1)
    mesh = axes.pcolormesh(bins, rows, shares, cmap="Blues", norm=PowerNorm(0.5, vmin=0))
    axes.set(xlabel=xlabel, yticks=np.arange(len(names)) + 0.5, yticklabels=names)
    axes.invert_yaxis()
    figure.colorbar(mesh, label=f"share of {ylabel}")
    return axes
