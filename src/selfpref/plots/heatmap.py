"""Matrices with their numbers written in."""

import pandas as pd
import seaborn as sns
from matplotlib import style
from matplotlib.figure import Figure

from selfpref.plots.frame import STYLE, grid, head, order


@style.context(STYLE)
def heatmap(
    rows: pd.DataFrame,
    *,
    row: str,
    column: str,
    text: str,
    limits: tuple[float, float],
    label: tuple[str, str],
    panel: str,
    wrap: int = 4,
    height: float = 0.3,
) -> Figure | None:
    """A matrix an entry of `panel`, each cell shaded by its value and holding a text.

    Args:
        rows: A long frame with a row a cell: `value` and the columns named below.
        row: The column whose entries are the rows.
        column: The column whose entries are the columns.
        text: The column of what is written into the cells.
        limits: The values of the lightest and of the darkest shade.
        label: Of the horizontal and of the vertical axis.
        panel: A column with a matrix an entry, its title.
        wrap: At most so many matrices beside one another.
        height: Of a row, in inches.

    >>> cells = {"human": "own", "judge": ["own", "other"], "text": "", "value": 0.5, "panel": "j"}
    >>> where = {"row": "human", "column": "judge", "panel": "panel", "text": "text"}
    >>> figure = heatmap(pd.DataFrame(cells), **where, limits=(0, 1), label=("judge", "human"))
    >>> figure.axes[0].get_title(loc="left")
    'j'
    """
    if rows["value"].isna().all():
        return None
    names, across, down = order(rows[panel]), order(rows[column]), order(rows[row])
    figure, panels = grid([height * len(down) + 0.5] * len(names), wrap, share_x=True, share_y=True)
    lightest, highest = limits
    # The darkest shade leaves its text readable.
    darkest = highest + 0.15 * (highest - lightest)
    for axes, name in zip(panels, names, strict=True):
        part = rows[rows[panel].eq(name)]
        values, texts = (
            part.pivot(index=row, columns=column, values=of).reindex(index=down, columns=across)
            for of in ("value", text)
        )
        sns.heatmap(
            values.astype(float), annot=texts, fmt="", annot_kws={"size": 7}, ax=axes,
            cmap="Blues", vmin=lightest, vmax=darkest, cbar=False, xticklabels=across,
            yticklabels=down,
        )  # fmt: skip
        axes.tick_params(rotation=0)
        axes.set(xlabel="", ylabel="")
        axes.spines[:].set_visible(False)
        head(axes, str(name), min(wrap, len(names)))
        axes.grid(visible=False)
        axes.tick_params(length=0)
    figure.supxlabel(label[0], fontsize=8)
    figure.supylabel(label[1], fontsize=8)
    return figure
