"""What the chapter says of the released data, and the release's claims beside what came out.

Sentences of the profile `recorded`: they speak of the release's three models by name, and say
nothing where these are not in the data. `gemini-2.0-flash` is two models there, the plain one and
the thinking one (the frame `models`), so that what is said of it over all categories is of both.
"""

from collections.abc import Callable
from functools import partial

import pandas as pd

from selfpref.statements import (
    Address,
    Claim,
    Frames,
    Statement,
    estimate,
    present,
    value,
)
from selfpref.statistics.bias import FEW
from selfpref.studies.livebench.measure.panel import ALL
from selfpref.studies.livebench.measure.preferences import FIRST

O3, CLAUDE, GEMINI = "o3-mini", "claude-3-7-sonnet", "gemini-2.0-flash"
README = "README of the release, Key Findings"
Counted = Callable[[Frames], float]


def _of(frame: pd.DataFrame, **values: str) -> pd.DataFrame:
    """The rows that have these values, if there are any."""
    for column, wanted in values.items():
        frame = frame[frame[column].eq(wanted)]
    return present(frame)


def _share(judge: str, responder: str, category: str, task: str = ALL) -> Address:
    """How often a judge chose a responder."""
    return estimate(
        "preference_shares",
        "share",
        category=category,
        task=task,
        judge=judge,
        responder=responder,
    )


def _lead(frames: Frames, judge: str, responder: str, category: str) -> float:
    """The responder's share of a judge's choices minus the largest share of another."""
    shares = _of(frames["preference_shares"], judge=judge, category=category, task=ALL)
    own = shares["responder"].eq(responder)
    return float(shares.loc[own, "share"].sum() - shares.loc[~own, "share"].max())


def _favourites(frames: Frames, judge: str) -> pd.DataFrame:
    """The responder that a judge chose most, by category and task."""
    shares = _of(frames["preference_shares"], judge=judge)
    order = shares.sort_values("share", kind="stable", ascending=False)
    return order.drop_duplicates(["category", "task"]).sort_values(["category", "task"])


def _itself(judge: str, *, tasks: bool) -> Counted:
    """In how many categories, or tasks, a judge chose itself most."""

    def count(frames: Frames) -> float:
        top = _favourites(frames, judge)
        return int((top["responder"].eq(judge) & top["task"].ne(ALL).eq(tasks)).sum())

    return count


def _number(judge: str, *, tasks: bool) -> Counted:
    """Of how many categories, or tasks."""
    return lambda frames: int(_favourites(frames, judge)["task"].ne(ALL).eq(tasks).sum())


def _its_tasks(frames: Frames) -> str:
    """The tasks in which Gemini chose itself most, with its shares."""
    top = _favourites(frames, GEMINI)
    own = top[top["responder"].eq(GEMINI) & top["task"].ne(ALL)]
    return ", ".join(f"{row.task} {row.share:.1%}" for row in own.itertuples())


def _at_first_place(frames: Frames) -> float:
    """The largest difference of o3-mini's share of itself from its share of the first place."""
    own = _of(frames["preference_shares"], judge=O3, responder=O3, task=ALL)
    first = _of(frames["position"], judge=O3, quantity=FIRST).set_index("category")["share"]
    return float((own.set_index("category")["share"] - first).abs().max())


def _votes(frames: Frames) -> pd.DataFrame:
    """By category o3-mini's share by the released vote, by itself, and by all judges on average."""
    vote = _of(frames["majority_vote"], rule="released", responder=O3).set_index("category")
    shares = _of(frames["preference_shares"], task=ALL, responder=O3)
    own = _of(shares, judge=O3).set_index("category")["share"]
    mean = shares.groupby("category")["share"].mean()
    return pd.DataFrame({"vote": vote["share"], "own": own, "mean": mean})


def _excess(judge: str, category: str) -> Address:
    return estimate("excess", "excess", category=category, task=ALL, judge=judge)


def _beyond(judge: str, column: str) -> Counted:
    """In how many categories a judge's excess is above 0: by its interval, or after Holm."""

    def count(frames: Frames) -> float:
        rows = _of(frames["excess"], judge=judge, task=ALL)
        clear = rows["lo"].gt(0) if column == "lo" else rows[column].lt(0.05)
        return int((clear & rows["excess"].gt(0)).sum())

    return count


def _nearer(judge: str, other: str) -> Counted:
    """In how many categories a judge's excess is nearer to 0 than another's."""

    def count(frames: Frames) -> float:
        rows = _of(frames["excess"], task=ALL).pivot(
            index="category", columns="judge", values="excess"
        )
        wide = present(rows.reindex(columns=[judge, other]).dropna())
        return int(wide[judge].abs().lt(wide[other].abs()).sum())

    return count


def _categories(judge: str) -> Counted:
    return lambda frames: len(_of(frames["excess"], judge=judge, task=ALL))


def _found(finding: str, column: str = "affected", file: str = "") -> Counted:
    """How many rows of the release have a finding, over all files."""

    def count(frames: Frames) -> float:
        rows = frames["audit"]
        of = rows["finding"].str.endswith(finding) & rows["file"].str.contains(file)
        return int(present(rows[of])[column].sum())

    return count


def _copies(judge: str, number: int, column: str = "share") -> Address | Address:
    """The share of choices for the earliest of so many copies, over all categories."""
    where = {"category": ALL, "judge": judge, "quantity": f"earliest of {number} copies"}
    return (
        estimate("position", column, **where)
        if column == "share"
        else value("position", column, **where)
    )


def _rate(judge: str, column: str) -> Address:
    return value("objective", column, category=ALL, scoring="strict", judge=judge)


def _saturated(frames: Frames) -> "pd.Series[float]":
    found: pd.Series[float] = present(frames["scores"])["saturated"]
    return found


def _agreeing(frames: Frames) -> "pd.Series[float]":
    """How often a judge chose the response with its one highest total, where it had enough such."""
    rows = frames["score_ranks"]
    found: pd.Series[float] = present(rows[rows["n_unique"].ge(FEW)])["agreement"]
    return found


def _kappa(frames: Frames) -> "pd.Series[float]":
    found: pd.Series[float] = _of(frames["agreement"], task=ALL)["kappa"]
    return found


def _gemini(kind: str) -> Callable[[Frames], str]:
    """The categories of the thinking Gemini, or of the plain one."""

    def names(frames: Frames) -> str:
        rows = _of(frames["models"], responder=GEMINI)
        of = rows[rows["model"].str.contains("thinking").eq(kind == "thinking")]
        return ", ".join(sorted(name.replace("_", " ") for name in present(of)["category"]))

    return names


FINDINGS: dict[str, Statement] = {
    "two models": Statement(
        "`gemini-2.0-flash` is {n:.0f} models here, as responder and as judge: Gemini 2.0 Flash in "
        "{plain}, its thinking variant (`gemini-2.0-flash-thinking-exp`) in {thinking}. Numbers of "
        "it over all categories are of both.",
        {
            "n": lambda frames: int(_of(frames["models"], responder=GEMINI)["model"].nunique()),
            "plain": _gemini("plain"),
            "thinking": _gemini("thinking"),
        },
        {"both": lambda n: n.n == 2},
    ),
    "copies in the files": Statement(
        "On {three:.0f} questions all responses say word for word the same, on {two:.0f} exactly "
        "two do. A choice among them is a choice of position.",
        {
            "three": _found("all three responses are the same"),
            "two": _found("exactly two responses are the same"),
        },
        {},
    ),
    "totals in the files": Statement(
        "{misread:.0f} stored totals are not the total that the reply states: the judge wrote its "
        "marks as a sum, and the first summand was stored. Of {marked:.0f} replies whose marks can "
        "all be read, {differ:.0f} state another total than the sum of their marks.",
        {
            "misread": _found("stored total is not the one stated"),
            "marked": _found("all eleven marks can be read"),
            "differ": _found("total is not the sum of its marks"),
        },
        {},
    ),
    "missing in the files": Statement(
        "Of math only an earlier file is public, with all choices but without {blank:.0f} of "
        "{all:.0f} totals, most of them. Reasoning has {reasoning:.0f} questions; the release's "
        "README says that it skipped one.",
        {
            "blank": _found("total is blank", file="math"),
            "all": _found("total is blank", "rows", file="math"),
            "reasoning": value("items", "items", category="reasoning", task=ALL),
        },
        {"most": lambda n: n.all / 2 < n.blank < n.all},
    ),
    "checks": Statement(
        "All {n:.0f} percentages of {pictures:.0f} pictures of the release come out within "
        "rounding: the largest difference is {most:.3f} points. The one other picture, titled "
        "instruction following, shows the vote of math again and is left out.",
        {
            "n": lambda frames: len(present(frames["checks"])),
            "pictures": lambda frames: len(
                present(frames["checks"])[["item", "category", "task"]].drop_duplicates()
            ),
            "most": lambda frames: float(present(frames["checks"])["difference"].abs().max()),
        },
        {"All": lambda n: 0 <= n.most < 0.0501},
    ),
    "excess": Statement(
        "o3-mini's excess is positive after Holm's adjustment in {o3:.0f} of {all:.0f} categories, "
        "all of them, from {least:.2f} up; Claude's in {claude:.0f} and Gemini's in "
        "{gemini:.0f}, fewer.",
        {
            "o3": _beyond(O3, "p_holm"),
            "claude": _beyond(CLAUDE, "p_holm"),
            "gemini": _beyond(GEMINI, "p_holm"),
            "all": _categories(O3),
            "least": lambda frames: float(
                _of(frames["excess"], judge=O3, task=ALL)["excess"].min()
            ),
        },
        {
            "all": lambda n: n.o3 == n.all,
            "positive": lambda n: n.least > 0,
            "fewer": lambda n: 0 <= max(n.claude, n.gemini) < n.o3,
        },
    ),
    "copies": Statement(
        "Where two responses say the same, o3-mini takes the earlier in all {n:.0f} cases, "
        "{o3:.2f}, more often than by chance; so do Claude ({claude:.2f}) and Gemini "
        "({gemini:.2f}), but not always.",
        {
            "o3": _copies(O3, 2),
            "claude": _copies(CLAUDE, 2),
            "gemini": _copies(GEMINI, 2),
            "n": _copies(O3, 2, "n"),
        },
        {
            "all": lambda n: n.o3.value == 1 and n.n >= FEW,
            "more": lambda n: min(n.o3.lo, n.claude.lo, n.gemini.lo) > 0.5,
            "not always": lambda n: max(n.claude.value, n.gemini.value) < 1,
        },
    ),
    "algebra": Statement(
        "The reading matters. By the strict rule o3-mini solves {strict:.0%} of the hard algebra "
        "questions, fewer than by the tolerant one, {tolerant:.0%}, which takes an answer without "
        "LaTeX; Gemini's share does not move ({gemini:.0%}, {gemini_tolerant:.0%}).",
        {
            name: value(
                "true_scores",
                "score",
                category="math",
                task="AMPS_Hard",
                responder=who,
                scoring=scoring,
            )
            for name, who, scoring in (
                ("strict", O3, "strict"),
                ("tolerant", O3, "tolerant"),
                ("gemini", GEMINI, "strict"),
                ("gemini_tolerant", GEMINI, "tolerant"),
            )
        },
        {
            "fewer": lambda n: n.strict < n.tolerant - 0.3,
            "does not move": lambda n: abs(n.gemini - n.gemini_tolerant) < 0.01,
        },
    ),
    "by key": Statement(
        "By the strict reading, where its response is worse than the best other one, o3-mini "
        "chooses itself in {o3:.0%} of the rows (the others choose it in {o3_others:.0%}), Gemini "
        "in {gemini:.0%} ({gemini_others:.0%}), Claude in {claude:.0%} ({claude_others:.0%}): each "
        "more often than the others choose it.",
        {
            "o3": _rate(O3, "harmful"),
            "o3_others": _rate(O3, "others_harmful"),
            "gemini": _rate(GEMINI, "harmful"),
            "gemini_others": _rate(GEMINI, "others_harmful"),
            "claude": _rate(CLAUDE, "harmful"),
            "claude_others": _rate(CLAUDE, "others_harmful"),
        },
        {
            "more": lambda n: (
                n.o3 > n.o3_others and n.gemini > n.gemini_others and n.claude > n.claude_others
            ),
        },
    ),
    "totals": Statement(
        "The totals of the rubric say little: between {least:.0%} and {most:.0%} of a judge's "
        "totals for a responder are the full eleven. Where one response alone has the highest "
        "total, the same judge also chooses it in {low:.0%} to {high:.0%} of the rows (cells with "
        "ten rows or more).",
        {
            "least": lambda frames: float(_saturated(frames).min()),
            "most": lambda frames: float(_saturated(frames).max()),
            "low": lambda frames: float(_agreeing(frames).min()),
            "high": lambda frames: float(_agreeing(frames).max()),
        },
        {"little": lambda n: 0.4 < n.least <= n.most <= 1 and 0 <= n.low < 0.5 < n.high <= 1},
    ),
    "tie-breaks": Statement(
        "{wrong:.0f} of {calls:.0f} tie-breaks were credited to another response than the one "
        "chosen; {moved:.0f} calls showed the responses in another order than they were decoded "
        "in.",
        {
            "wrong": _found("credited is not the response chosen"),
            "calls": _found("credited is not the response chosen", "rows"),
            "moved": _found("call shows another order than is decoded"),
        },
        {},
    ),
    "kappa": Statement(
        "The judges agree little: kappa lies between {least:.2f} and {most:.2f} by category.",
        {
            "least": lambda frames: float(_kappa(frames).min()),
            "most": lambda frames: float(_kappa(frames).max()),
        },
        {"little": lambda n: -1 <= n.least <= n.most < 0.4},
    ),
}

CLAIMS: list[Claim] = [
    Claim(
        "Its own response is o3-mini's most frequent choice in {first:.0f} of {all:.0f} "
        "categories, least often in instruction following, {least:.3f}. It read its own response "
        "first on every row, and of two identical responses it always took the earlier "
        "({copies:.2f}): a preference for itself and one for the first place cannot be told apart.",
        {
            "least": _share(O3, O3, "instruction_following"),
            "first": _itself(O3, tasks=False),
            "all": _number(O3, tasks=False),
            "copies": _copies(O3, 2),
            "gap": _at_first_place,
            "lowest": lambda frames: float(
                _of(frames["preference_shares"], judge=O3, responder=O3, task=ALL)["share"].min()
            ),
        },
        {
            "most frequent": lambda n: 0 < n.first == n.all,
            "least": lambda n: n.least.value == n.lowest,
            "always": lambda n: n.copies.value == 1,
            "every": lambda n: n.gap == 0,
        },
        claim="o3-mini prefers its own responses in all categories.",
        place=README,
        test="Shares by category, beside the first place and choices among identical responses.",
        verdict="not identifiable",
        figure="preference_shares",
    ),
    Claim(
        "In instruction following the vote gives o3-mini {vote:.1%}, its own judging {own:.1%}. "
        "The vote is lower in {lower:.0f} of {all:.0f} categories, all of them, but above the mean "
        "share of all judges in {above:.0f}, most: a vote of judges who also respond contains each "
        "one's judgement of itself.",
        {
            "vote": value(
                "majority_vote",
                "share",
                category="instruction_following",
                rule="released",
                responder=O3,
            ),
            "own": value(
                "preference_shares",
                "share",
                category="instruction_following",
                task=ALL,
                judge=O3,
                responder=O3,
            ),
            "lower": lambda frames: int(_votes(frames).eval("vote < own").sum()),
            "above": lambda frames: int(_votes(frames).eval("vote > mean").sum()),
            "all": lambda frames: len(_votes(frames)),
        },
        {
            "lower": lambda n: n.vote < n.own,
            "all": lambda n: n.lower == n.all,
            "most": lambda n: n.all / 2 < n.above <= n.all,
        },
        claim="The vote with a tie-breaker lowers o3-mini's share in all categories.",
        place=README,
        test="The released vote against o3-mini's own choices and the mean of the judges.",
        verdict="holds",
        figure="preference_shares",
    ),
    Claim(
        "Gemini (both models of that name) chooses its own response most often in no category "
        "({own:.0f} of {all:.0f}), but in {tasks:.0f} of {tasks_all:.0f} tasks: {names}.",
        {
            "tablejoin": _share(GEMINI, GEMINI, "data_analysis", "tablejoin"),
            "own": _itself(GEMINI, tasks=False),
            "all": _number(GEMINI, tasks=False),
            "tasks": _itself(GEMINI, tasks=True),
            "tasks_all": _number(GEMINI, tasks=True),
            "names": _its_tasks,
        },
        {
            "no": lambda n: n.own == 0,
            "but": lambda n: 0 < n.tasks <= n.tasks_all,
        },
        claim="Gemini never considers itself the best in any task.",
        place=README,
        test="The most frequent choice by category and by task.",
        verdict="does not hold",
        figure="preference_shares_by_task",
    ),
    Claim(
        "Gemini's most frequent choice is Claude in instruction following ({first:.3f}), language "
        "({language:.3f}) and coding ({coding:.3f}). In reasoning it is not: {reasoning:.3f}.",
        {
            "reasoning": _share(GEMINI, CLAUDE, "reasoning"),
            "first": _share(GEMINI, CLAUDE, "instruction_following"),
            "language": _share(GEMINI, CLAUDE, "language"),
            "coding": _share(GEMINI, CLAUDE, "coding"),
            **{
                f"lead_{name}": partial(_lead, judge=GEMINI, responder=CLAUDE, category=name)
                for name in ("instruction_following", "language", "coding", "reasoning")
            },
        },
        {
            "most frequent": lambda n: (
                min(n.lead_instruction_following, n.lead_language, n.lead_coding) > 0
            ),
            "not": lambda n: n.lead_reasoning < 0,
        },
        claim="Gemini prefers Claude in instruction following, language and reasoning.",
        place=README,
        test="The most frequent choice by category.",
        verdict="does not hold",
        figure="preference_shares",
    ),
    Claim(
        "Claude chooses itself more often than the other judges choose it: in math by {math:.2f} "
        "of the rows; the interval excludes 0 in {away:.0f} of {all:.0f} categories, most of them. "
        "Its excess is nearer to 0 than o3-mini's in {nearer:.0f} categories and farther than "
        "Gemini's in {farther:.0f}, most again. So it is more neutral than o3-mini and less than "
        "Gemini; but o3-mini always stood first and, of two identical responses, always took the "
        "earlier ({copies:.2f}), so that its excess may be of the place.",
        {
            "math": _excess(CLAUDE, "math"),
            "away": _beyond(CLAUDE, "lo"),
            "all": _categories(CLAUDE),
            "nearer": _nearer(CLAUDE, O3),
            "farther": _nearer(GEMINI, CLAUDE),
            "copies": _copies(O3, 2),
            "gap": _at_first_place,
        },
        {
            "more": lambda n: n.math.lo > 0,
            "most": lambda n: n.all / 2 < n.away <= n.all,
            "nearer": lambda n: n.all / 2 < n.nearer <= n.all,
            "farther": lambda n: n.all / 2 < n.farther <= n.all,
            "always stood first": lambda n: n.gap == 0,
            "always took": lambda n: n.copies.value == 1,
        },
        claim="Claude is more neutral.",
        place=README,
        test="Its choices of itself against the others' choices of it on the same rows, beside the "
        "same of the other judges.",
        verdict="not identifiable",
        figure="excess",
    ),
]
