"""The LiveBench study's controls: excess over other judges, answer keys, position."""

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.figure import Figure

from selfpref.plots.marks import GREY, dots, legend, no_data, row_labels
from selfpref.plots.panels import looks_of, paper, shifted
from selfpref.plots.save import PAGE, STYLE

ALL, FIRST = "all", "first position"
ALPHA = 0.05


@style.context(STYLE)
def excess(rows: pd.DataFrame) -> Figure:
    """Each judge's excess of choosing itself, by category and by task; filled where Holm rejects.

    Args:
        rows: The frame `excess`.
    """
    if rows.empty or not rows["excess"].notna().any():
        return no_data("no judge with a response of its own and a second judge")
    judges = looks_of(sorted(set(rows["judge"])))
    halves = [rows[rows["task"].eq(ALL)], rows[rows["task"].ne(ALL)]]
    orders = [sorted(set(zip(half["category"], half["task"], strict=True))) for half in halves]
    figure = paper(PAGE, 0.26 * max(map(len, orders)) + 0.9)
    panels = figure.subplots(1, 2, sharex=True)
    for axes, half, order in zip(panels, halves, orders, strict=True):
        frame = pd.DataFrame(order, columns=["category", "task"])
        for place, (judge, (color, marker)) in enumerate(judges.items()):
            own = half[half["judge"].eq(judge)]
            own = own.rename(columns={"lo": "excess_lo", "hi": "excess_hi"})
            one = frame.merge(own, on=["category", "task"], how="left")
            rejected = one["p_holm"].lt(ALPHA)
            for filled in (False, True):
                dots(
                    axes,
                    one.where(rejected == filled, np.nan),
                    "excess",
                    shift=shifted(place, len(judges)),
                    color=color,
                    marker=marker,
                    filled=filled,
                    label=judge if filled else None,
                )
        axes.axvline(0, color=GREY, linewidth=0.8)
        names = [category if task == ALL else task for category, task in order]
        row_labels(axes, names)
    panels[0].set_title("by category")
    panels[1].set_title("by task")
    figure.supxlabel(
        "own share minus the other judges' mean share of the same responses (filled: p < 0.05)",
        fontsize=8,
    )
    legend(figure, [panels[1]], 4)
    return figure


@style.context(STYLE)
def objective(rows: pd.DataFrame, few: int) -> Figure:
    """How often a judge chooses itself where its response is worse, equal or best by the key.

    Args:
        rows: The frame `objective`.
        few: Rates of fewer rows than this are hollow.
    """
    if rows.empty or not rows["n"].gt(0).any():
        return no_data("no item with objective scores for all responses")
    kinds = {
        "harmful": ("own response worse", "#D55E00", "D"),
        "neutral": ("as good as the best", "#767676", "s"),
        "earned": ("own response best", "#009E73", "o"),
    }
    scorings = sorted(set(rows["scoring"]))
    names = sorted(
        set(zip(rows["judge"], rows["category"], strict=True)),
        key=lambda name: (name[0], name[1] != ALL, name[1]),
    )
    frame = pd.DataFrame(names, columns=["judge", "category"])
    figure = paper(PAGE, 0.27 * len(names) + 0.9)
    panels = figure.subplots(1, len(scorings), sharex=True, sharey=True, squeeze=False)[0]
    for axes, scoring in zip(panels, scorings, strict=True):
        one = frame.merge(rows[rows["scoring"].eq(scoring)], on=["judge", "category"], how="left")
        for place, (kind, (label, color, marker)) in enumerate(kinds.items()):
            enough = one[f"n_{kind}"].ge(few)
            shift = shifted(place, len(kinds))
            for filled in (True, False):
                dots(
                    axes,
                    one.where(enough == filled, np.nan),
                    kind,
                    shift=shift,
                    color=color,
                    marker=marker,
                    filled=filled,
                    label=label if filled else None,
                )
            others = one[f"others_{kind}"]
            axes.plot(
                others,
                np.arange(len(one)) + shift,
                linestyle="none",
                marker="x",
                markersize=3,
                color=color,
                label="the other judges, same rows" if kind == "neutral" else None,
            )
        axes.set_title(f"{scoring} scoring")
        axes.set_xlim(-0.03, 1.03)
    row_labels(panels[0], [f"{judge}  {category}" for judge, category in names])
    figure.supxlabel("share of such rows on which the judge chooses its own response", fontsize=8)
    legend(figure, [panels[0]], 4)
    return figure


@style.context(STYLE)
def by_orders(rows: pd.DataFrame) -> Figure:
    """Own share, excess and first place of each judge, by one drawn order and by all orders.

    Args:
        rows: The frame `by_orders`.
    """
    if rows.empty:
        return no_data("every item was read in one order only")
    judges = sorted(set(rows["judge"]))
    looks = looks_of(list(dict.fromkeys(rows["orders"])))
    titles = {
        "own": "chose itself",
        "excess": "excess over the others",
        "first": "chose what stood first",
    }
    frame = pd.DataFrame({"judge": judges})
    figure = paper(PAGE, 0.45 * len(judges) + 1.2)
    panels = figure.subplots(1, len(titles), sharey=True)
    for axes, (column, title) in zip(panels, titles.items(), strict=True):
        for place, (orders, (color, marker)) in enumerate(looks.items()):
            one = frame.merge(rows[rows["orders"].eq(orders)], on="judge", how="left")
            dots(
                axes,
                one,
                column,
                shift=shifted(place, len(looks)),
                color=color,
                marker=marker,
                label=orders,
            )
        axes.axvline(0, color=GREY, linewidth=0.8)
        axes.set_title(title)
    figure.supxlabel("share of items, difference of shares, share of choices", fontsize=8)
    row_labels(panels[0], judges)
    legend(figure, [panels[0]], 4)
    return figure


@style.context(STYLE)
def position(rows: pd.DataFrame) -> Figure:
    """Choices by place in the prompt: the first candidate, and the earliest of identical ones.

    Args:
        rows: The frame `position`.
    """
    if rows.empty:
        return no_data("no choice whose order of presentation is known")
    judges = looks_of(sorted(set(rows["judge"])))
    quantities = sorted(
        set(rows["quantity"]), key=lambda name: (not name.startswith("first"), name)
    )
    categories = sorted(set(rows["category"]), key=lambda name: (name != ALL, name))
    frame = pd.DataFrame({"category": categories})
    figure = paper(PAGE, 0.3 * len(categories) + 1.0)
    panels = figure.subplots(1, len(quantities), sharey=True, sharex=True, squeeze=False)[0]
    for axes, quantity in zip(panels, quantities, strict=True):
        one = rows[rows["quantity"].eq(quantity)]
        for place, (judge, (color, marker)) in enumerate(judges.items()):
            own = one[one["judge"].eq(judge)].rename(columns={"lo": "share_lo", "hi": "share_hi"})
            dots(
                axes,
                frame.merge(own, on="category", how="left"),
                "share",
                shift=shifted(place, len(judges)),
                color=color,
                marker=marker,
                label=judge,
            )
        for chance in sorted(set(one["chance"].round(6))):
            axes.axvline(chance, color=GREY, linewidth=0.8)
        axes.set_title(quantity)
        axes.set_xlim(-0.03, 1.03)
    row_labels(panels[0], categories)
    figure.supxlabel("share of choices (grey: by chance)", fontsize=8)
    legend(figure, [panels[0]], 4)
    return figure
