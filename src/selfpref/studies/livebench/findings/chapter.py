"""The sentences of the chapter about the released data, by key."""

from selfpref.statements import Statement, value
from selfpref.statistics.bias import FEW
from selfpref.studies.livebench.findings.cells import (
    CLAUDE,
    GEMINI,
    O3,
    PAIR,
    at_first_place,
    beyond,
    categories,
    excess,
    found,
    gemini,
    having,
    itself,
    nearer,
    number,
    place,
    rate,
    share,
    votes,
    with_copies,
    without_copies,
)
from selfpref.studies.livebench.measure.panel import ALL
from selfpref.studies.livebench.measure.preferences import FIRST

FINDINGS: dict[str, Statement] = {
    "two models": Statement(
        "`gemini-2.0-flash` is {n:.0f} models here, as responder and as judge: Gemini 2.0 Flash in "
        "{plain}, its thinking variant (`gemini-2.0-flash-thinking-exp`) in {thinking}. Numbers of "
        "it over all categories are of both.",
        {
            "n": lambda frames: int(having(frames["models"], responder=GEMINI)["model"].nunique()),
            "plain": gemini("plain"),
            "thinking": gemini("thinking"),
        },
        {"both": lambda n: n.n == 2},
    ),
    "excess": Statement(
        "o3-mini's excess is positive after Holm's adjustment in {o3:.0f} of {all:.0f} categories, "
        "from {least:.2f} up; Claude's in {claude:.0f} and Gemini's in {gemini:.0f}.",
        {
            "o3": beyond(O3, "p_holm"),
            "claude": beyond(CLAUDE, "p_holm"),
            "gemini": beyond(GEMINI, "p_holm"),
            "all": categories(O3),
            "least": lambda frames: float(
                having(frames["excess"], judge=O3, task=ALL)["excess"].min()
            ),
        },
        {
            "positive": lambda n: n.o3 == n.all and n.least > 0,
            "Claude's and Gemini's in fewer": lambda n: 0 <= max(n.claude, n.gemini) < n.o3,
        },
    ),
    "copies": Statement(
        "Of two identical responses o3-mini takes the earlier in all {n:.0f} cases ({where}), "
        "{o3:.2f}; Claude ({claude:.2f} of {n_claude:.0f}) and Gemini ({gemini:.2f} of "
        "{n_gemini:.0f}) do so more often than not.",
        {
            "o3": place(O3, PAIR),
            "claude": place(CLAUDE, PAIR),
            "gemini": place(GEMINI, PAIR),
            "n": place(O3, PAIR, "n"),
            "n_claude": place(CLAUDE, PAIR, "n"),
            "n_gemini": place(GEMINI, PAIR, "n"),
            "where": with_copies,
        },
        {
            "all": lambda n: n.o3.value == 1 and n.n >= FEW,
            "more often than not": lambda n: min(n.o3.lo, n.claude.lo, n.gemini.lo) > 0.5,
        },
    ),
    "places": Statement(
        "No two responses are identical in {nowhere}. Choices among copies do not predict those "
        "between different texts: Claude takes the first of two copies in {copies:.2f}, but "
        "the first place overall in {first:.2f} (n = {n:.0f}). Nor is a judge alike in all "
        "categories: Gemini's {gemini:.2f} pools {low:.2f} of {n_low:.0f} in coding and "
        "{high:.2f} of {n_high:.0f} in data analysis. Between different texts o3-mini's own "
        "response always is the first, so that place and self are confounded.",
        {
            "copies": place(CLAUDE, PAIR),
            "first": place(CLAUDE, FIRST),
            "n": place(CLAUDE, FIRST, "n"),
            "gemini": place(GEMINI, PAIR),
            "low": place(GEMINI, PAIR, category="coding"),
            "n_low": place(GEMINI, PAIR, "n", category="coding"),
            "high": place(GEMINI, PAIR, category="data_analysis"),
            "n_high": place(GEMINI, PAIR, "n", category="data_analysis"),
            "nowhere": without_copies,
            "gap": at_first_place,
        },
        {
            "not predict": lambda n: n.copies.lo > 0.5 > n.first.hi,
            "nor alike": lambda n: n.low.hi < n.high.lo,
            "always": lambda n: n.gap == 0,
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
        "chooses itself in {o3:.2f} of {n_o3:.0f} rows (the others choose it in {o3_others:.2f}), "
        "Gemini in {gemini:.2f} of {n_gemini:.0f} ({gemini_others:.2f}), Claude in {claude:.2f} of "
        "{n_claude:.0f} ({claude_others:.2f}): each more often than the others choose it. By the "
        "tolerant reading the shares are {o3_tolerant:.2f} of {n_o3_tolerant:.0f}, "
        "{gemini_tolerant:.2f} of {n_gemini_tolerant:.0f} and {claude_tolerant:.2f} of "
        "{n_claude_tolerant:.0f}.",
        {
            f"{prefix}{name}{suffix}": rate(who, f"{column}harmful", scoring)
            for name, who in (("o3", O3), ("gemini", GEMINI), ("claude", CLAUDE))
            for prefix, suffix, column, scoring in (
                ("", "", "", "strict"),
                ("n_", "", "n_", "strict"),
                ("", "_others", "others_", "strict"),
                ("", "_tolerant", "", "tolerant"),
                ("n_", "_tolerant", "n_", "tolerant"),
            )
        },
        {
            "more": lambda n: (
                n.o3.lo > n.o3_others
                and n.gemini.lo > n.gemini_others
                and n.claude.lo > n.claude_others
            ),
        },
    ),
    "by key best": Statement(
        "Where its response is better than all others, Claude chooses itself in {claude:.2f} of "
        "{n_claude:.0f} rows, Gemini in {gemini:.2f} of {n_gemini:.0f} and o3-mini in {o3:.2f} of "
        "{n_o3:.0f}; where it is as good as the best, in {claude_even:.2f} of "
        "{n_claude_even:.0f}, {gemini_even:.2f} of {n_gemini_even:.0f} and {o3_even:.2f} of "
        "{n_o3_even:.0f} (strict reading).",
        {
            f"{prefix}{name}{suffix}": rate(who, prefix + kind)
            for name, who in (("o3", O3), ("gemini", GEMINI), ("claude", CLAUDE))
            for suffix, kind in (("", "legitimate"), ("_even", "neutral"))
            for prefix in ("", "n_")
        },
        {},
    ),
    "tie-breaks": Statement(
        "{wrong:.0f} of {calls:.0f} tie-breaks were credited to another response than the one "
        "chosen; {moved:.0f} calls showed the responses in another order than they were decoded "
        "in.",
        {
            "wrong": found("credited is not the response chosen"),
            "calls": found("credited is not the response chosen", "rows"),
            "moved": found("call shows another order than is decoded"),
        },
        {},
    ),
    "own": Statement(
        "Its own response is o3-mini's most frequent choice in {first:.0f} of {all:.0f} "
        "categories, least often in instruction following, {least:.3f}. It read its own response "
        "first on every row, and of two identical responses it always took the earlier "
        "({copies:.2f}): a preference for itself and one for the first place cannot be told apart.",
        {
            "least": share(O3, O3, "instruction_following"),
            "first": itself(O3, tasks=False),
            "all": number(O3, tasks=False),
            "copies": place(O3, PAIR),
            "gap": at_first_place,
            "lowest": lambda frames: float(
                having(frames["preference_shares"], judge=O3, responder=O3, task=ALL)["share"].min()
            ),
        },
        {
            "most frequent": lambda n: 0 < n.first == n.all,
            "least": lambda n: n.least.value == n.lowest,
            "always": lambda n: n.copies.value == 1,
            "every": lambda n: n.gap == 0,
        },
    ),
    "vote": Statement(
        "In instruction following the vote gives o3-mini {vote:.1%}, its own judging {own:.1%}. "
        "The vote is lower in {lower:.0f} of {all:.0f} categories, but above the mean share of all "
        "judges in {above:.0f}: a vote of judges who also respond contains each "
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
            "lower": lambda frames: int(votes(frames).eval("vote < own").sum()),
            "above": lambda frames: int(votes(frames).eval("vote > mean").sum()),
            "all": lambda frames: len(votes(frames)),
        },
        {
            "lower": lambda n: n.vote < n.own and n.lower == n.all,
            "above": lambda n: n.all / 2 < n.above <= n.all,
        },
    ),
    "neutral": Statement(
        "Claude chooses itself more often than the other judges choose it: in math by {math:.2f} "
        "of the rows; the interval excludes 0 in {away:.0f} of {all:.0f} categories. Its excess is "
        "nearer to 0 than o3-mini's in {nearer:.0f} categories and farther than Gemini's in "
        "{farther:.0f}. So it is more neutral than o3-mini and less than "
        "Gemini; but o3-mini always stood first and, of two identical responses, always took the "
        "earlier ({copies:.2f}), so that its excess may be of the place.",
        {
            "math": excess(CLAUDE, "math"),
            "away": beyond(CLAUDE, "lo"),
            "all": categories(CLAUDE),
            "nearer": nearer(CLAUDE, O3),
            "farther": nearer(GEMINI, CLAUDE),
            "copies": place(O3, PAIR),
            "gap": at_first_place,
        },
        {
            "more": lambda n: n.math.lo > 0,
            "excludes 0": lambda n: n.all / 2 < n.away <= n.all,
            "nearer": lambda n: n.all / 2 < n.nearer <= n.all,
            "farther": lambda n: n.all / 2 < n.farther <= n.all,
            "always stood first": lambda n: n.gap == 0,
            "always took": lambda n: n.copies.value == 1,
        },
    ),
}
