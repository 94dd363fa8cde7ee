"""Where the numbers of the sentences come from."""

from collections.abc import Callable

import pandas as pd

from selfpref.statements import (
    Address,
    Frames,
    estimate,
    present,
    value,
)
from selfpref.studies.livebench.measure.panel import ALL
from selfpref.studies.livebench.measure.preferences import FIRST

O3, CLAUDE, GEMINI = "o3-mini", "claude-3-7-sonnet", "gemini-2.0-flash"
PAIR = "earliest of 2 copies"
Counted = Callable[[Frames], float]


def having(frame: pd.DataFrame, **values: str) -> pd.DataFrame:
    """The rows that have these values, if there are any."""
    for column, wanted in values.items():
        frame = frame[frame[column].eq(wanted)]
    return present(frame)


def share(judge: str, responder: str, category: str, task: str = ALL) -> Address:
    """How often a judge chose a responder."""
    return estimate(
        "preference_shares",
        "share",
        category=category,
        task=task,
        judge=judge,
        responder=responder,
    )


def lead(frames: Frames, judge: str, responder: str, category: str) -> float:
    """The responder's share of a judge's choices minus the largest share of another."""
    shares = having(frames["preference_shares"], judge=judge, category=category, task=ALL)
    own = shares["responder"].eq(responder)
    return float(shares.loc[own, "share"].sum() - shares.loc[~own, "share"].max())


def favourites(frames: Frames, judge: str) -> pd.DataFrame:
    """The responder that a judge chose most, by category and task."""
    shares = having(frames["preference_shares"], judge=judge)
    order = shares.sort_values("share", kind="stable", ascending=False)
    return order.drop_duplicates(["category", "task"]).sort_values(["category", "task"])


def itself(judge: str, *, tasks: bool) -> Counted:
    """In how many categories, or tasks, a judge chose itself most."""

    def count(frames: Frames) -> float:
        top = favourites(frames, judge)
        return int((top["responder"].eq(judge) & top["task"].ne(ALL).eq(tasks)).sum())

    return count


def number(judge: str, *, tasks: bool) -> Counted:
    """Of how many categories, or tasks."""
    return lambda frames: int(favourites(frames, judge)["task"].ne(ALL).eq(tasks).sum())


def its_tasks(frames: Frames) -> str:
    """The tasks in which Gemini chose itself most, with its shares."""
    top = favourites(frames, GEMINI)
    own = top[top["responder"].eq(GEMINI) & top["task"].ne(ALL)]
    return ", ".join(f"{row.task} {row.share:.1%}" for row in own.itertuples())


def at_first_place(frames: Frames) -> float:
    """The largest difference of o3-mini's share of itself from its share of the first place."""
    own = having(frames["preference_shares"], judge=O3, responder=O3, task=ALL)
    first = having(frames["position"], judge=O3, quantity=FIRST).set_index("category")["share"]
    return float((own.set_index("category")["share"] - first).abs().max())


def votes(frames: Frames) -> pd.DataFrame:
    """By category o3-mini's share by the released vote, by itself, and by all judges on average."""
    vote = having(frames["majority_vote"], rule="released", responder=O3).set_index("category")
    shares = having(frames["preference_shares"], task=ALL, responder=O3)
    own = having(shares, judge=O3).set_index("category")["share"]
    mean = shares.groupby("category")["share"].mean()
    return pd.DataFrame({"vote": vote["share"], "own": own, "mean": mean})


def excess(judge: str, category: str) -> Address:
    """A judge's excess in a category."""
    return estimate("excess", "excess", category=category, task=ALL, judge=judge)


def beyond(judge: str, column: str) -> Counted:
    """In how many categories a judge's excess is above 0: by its interval, or after Holm."""

    def count(frames: Frames) -> float:
        rows = having(frames["excess"], judge=judge, task=ALL)
        clear = rows["lo"].gt(0) if column == "lo" else rows[column].lt(0.05)
        return int((clear & rows["excess"].gt(0)).sum())

    return count


def nearer(judge: str, other: str) -> Counted:
    """In how many categories a judge's excess is nearer to 0 than another's."""

    def count(frames: Frames) -> float:
        rows = having(frames["excess"], task=ALL).pivot(
            index="category", columns="judge", values="excess"
        )
        wide = present(rows.reindex(columns=[judge, other]).dropna())
        return int(wide[judge].abs().lt(wide[other].abs()).sum())

    return count


def categories(judge: str) -> Counted:
    """In how many categories a judge has an excess."""
    return lambda frames: len(having(frames["excess"], judge=judge, task=ALL))


def found(finding: str, column: str = "affected", file: str = "") -> Counted:
    """How many rows of the release have a finding, over all files."""

    def count(frames: Frames) -> float:
        rows = frames["audit"]
        of = rows["finding"].str.endswith(finding) & rows["file"].str.contains(file)
        return int(present(rows[of])[column].sum())

    return count


def place(judge: str, quantity: str, column: str = "share", category: str = ALL) -> Address:
    """A number of a judge's choices by position; a share with its interval."""
    where = {"category": category, "judge": judge, "quantity": quantity}
    return (estimate if column == "share" else value)("position", column, **where)


def pairs_of_copies(frames: Frames) -> "pd.Series[int]":
    """In how many choices o3-mini took one of two identical responses, by category, most first."""
    rows = having(frames["position"], judge=O3)
    rows = rows[rows["category"].ne(ALL)]
    counts = rows[rows["quantity"].eq(PAIR)].set_index("category")["n"]
    return counts.reindex(rows["category"].unique(), fill_value=0).sort_values(
        ascending=False, kind="stable"
    )


def with_copies(frames: Frames) -> str:
    """The categories of these choices, each with its count."""
    counts = pairs_of_copies(frames)
    return ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in counts[counts > 0].items())


def without_copies(frames: Frames) -> str:
    """The categories that have none of them."""
    counts = pairs_of_copies(frames)
    return " or ".join(name.replace("_", " ") for name in counts.index[counts.eq(0)])


def rate(judge: str, column: str, scoring: str = "strict") -> Address:
    """A number of choices by the key, over all categories; a judge's own rate with its interval."""
    where = {"category": ALL, "scoring": scoring, "judge": judge}
    return (value if column.startswith(("n_", "others_")) else estimate)(
        "objective", column, **where
    )


def saturated(frames: Frames) -> "pd.Series[float]":
    """The shares of full totals."""
    found: pd.Series[float] = present(frames["scores"])["saturated"]
    return found


def kappa(frames: Frames) -> "pd.Series[float]":
    """Kappa of each category."""
    found: pd.Series[float] = having(frames["agreement"], task=ALL)["kappa"]
    return found


def gemini(kind: str) -> Callable[[Frames], str]:
    """The categories of the thinking Gemini, or of the plain one."""

    def names(frames: Frames) -> str:
        rows = having(frames["models"], responder=GEMINI)
        of = rows[rows["model"].str.contains("thinking").eq(kind == "thinking")]
        return ", ".join(sorted(name.replace("_", " ") for name in present(of)["category"]))

    return names
