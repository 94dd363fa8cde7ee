"""Parts of captions: how many rows a figure draws, and what was dropped.

A chapter writes a caption in one f-string; what several repeat is made here from the frame that the
figure draws. A caption describes; what follows from a figure stands in the chapter.
"""

import pandas as pd


def counted(
    rows: pd.DataFrame,
    unit: str,
    *,
    n: str = "n",
    dropped: str = "n_dropped",
    who: str = "judge",
    by: str = "of",
    why: str = "",
) -> str:
    """How many rows each data set gives, of how many judges, and how many were left out.

    Args:
        rows: A row a judge (or other reader) and data set, with the columns `dataset`, `n`,
            `dropped` and `who`.
        unit: What is counted, such as `pairs`.
        n: The column of counts.
        dropped: The column of what was left out.
        who: The column of those who are counted with them.
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
        several = part[who].nunique()
        whose = part[who].iloc[0] if several == 1 else f"{several} {who}s"
        parts.append(
            f"{dataset}: {part[n].sum():g} {unit} {by} {whose}, {part[dropped].sum():g} left out"
        )
    return "; ".join(parts) + (f" ({why})" if why else "")


def lost(statuses: pd.DataFrame, unit: str) -> str:
    """How many rows there are, and of which status the unusable ones.

    Args:
        statuses: With `status` and `n`.
        unit: What is counted, such as `answers`.

    >>> lost(pd.DataFrame({"status": ["ok", "refused"], "n": [8, 2]}), "answers")
    '10 answers, not usable: 2 refused'
    """
    counts = statuses[statuses["status"].ne("ok")].groupby("status")["n"].sum()
    told = ", ".join(f"{count} {status}" for status, count in counts.items()) or "none"
    return f"{statuses['n'].sum()} {unit}, not usable: {told}"


def unvaried(rows: pd.DataFrame, who: str = "judge", n: str = "n") -> str:
    """Names those whose value did not vary in the sample, so that it has no honest interval.

    Args:
        rows: With `n`, `lo`, `hi` and `who`.
        who: The column of names.
        n: The column of counts.

    >>> unvaried(pd.DataFrame({"judge": ["j"], "n": [3], "lo": [1.0], "hi": [1.0]}))
    '1 value does not vary in the sample, hence no honest interval: j'
    """
    flat = rows[rows[n].gt(0) & rows["lo"].eq(rows["hi"])]
    if flat.empty:
        return ""
    verb = "value does" if len(flat) == 1 else "values do"
    names = ", ".join(sorted(set(flat[who])))
    return f"{len(flat)} {verb} not vary in the sample, hence no honest interval: {names}"


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
    least, greatest = counts.min(), counts.max()
    return f"{least:g}" if least == greatest else f"{least:g} to {greatest:g}"
