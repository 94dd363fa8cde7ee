"""Parts of captions that several chapters repeat.

A chapter writes a caption in one f-string: what the figure shows, how many rows it draws and what
was dropped. A caption describes; what follows from a figure stands in the chapter.
"""

import pandas as pd


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
