"""Parts of captions: how many rows a figure draws, and what was dropped.

A chapter writes a caption in one f-string; what several repeat is made here from the frame that the
figure draws. A caption describes; what follows from a figure stands in the chapter.
"""

import pandas as pd


def counted(rows: pd.DataFrame, unit: str, *, by: str = "of", why: str = "") -> str:
    """How many rows each data set gives, of how many judges, and how many were left out.

    Args:
        rows: A row a judge and data set, with the columns `dataset`, `judge`, `n`, `n_dropped`.
        unit: What is counted, such as `pairs`.
        by: What joins the two.
        why: Why rows were left out.

    >>> rows = pd.DataFrame({"dataset": "d", "judge": ["j", "k"], "n": [3, 4], "n_dropped": [1, 0]})
    >>> counted(rows, "pairs", why="ties")
    'd: 7 pairs of 2 judges, 1 left out (ties)'
    """
    if rows.empty:
        return f"no {unit}"
    parts = []
    for dataset, part in rows.groupby("dataset"):
        judges = part["judge"].unique()
        whose = judges[0] if len(judges) == 1 else f"{len(judges)} judges"
        left = f"{part['n_dropped'].sum():g} left out"
        parts.append(f"{dataset}: {part['n'].sum():g} {unit} {by} {whose}, {left}")
    return "; ".join(parts) + (f" ({why})" if why else "")


def beyond(rows: pd.DataFrame, value: str = "", at: float = 0.0) -> tuple[int, int]:
    """How many intervals lie below a value, and how many above it.

    Args:
        rows: With `lo` and `hi`, or `<value>_lo` and `<value>_hi`.
        value: The column whose bounds these are.
        at: The value.

    >>> beyond(pd.DataFrame({"lo": [0.1, -1.0], "hi": [0.2, 1.0]}))
    (0, 1)
    """
    lo, hi = (f"{value}_{end}" if value else end for end in ("lo", "hi"))
    return int(rows[hi].lt(at).sum()), int(rows[lo].gt(at).sum())


def signed(value: float, digits: int = 2) -> str:
    """A number with the sign that typography gives it; what rounds to 0 has none.

    >>> signed(-0.5), signed(-0.001)
    ('−0.50', '0.00')
    """
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def span(counts: "pd.Series[int]") -> str:
    """The least and the greatest count, once where they are equal.

    >>> span(pd.Series([50, 50])), span(pd.Series([3, 10]))
    ('50', '3 to 10')
    """
    return " to ".join(dict.fromkeys(f"{end:g}" for end in (counts.min(), counts.max())))
