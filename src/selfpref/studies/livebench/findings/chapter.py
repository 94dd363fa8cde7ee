"""The sentences of the chapter about the released data, by key."""

from selfpref.statements import Statement, value
from selfpref.statistics.bias import FEW
from selfpref.studies.livebench.findings.cells import (
    CLAUDE,
    GEMINI,
    O3,
    at_first_place,
    beyond,
    categories,
    copies,
    excess,
    found,
    gemini,
    having,
    itself,
    nearer,
    number,
    rate,
    share,
    votes,
)
from selfpref.studies.livebench.measure.panel import ALL

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
        "all of them, from {least:.2f} up; Claude's in {claude:.0f} and Gemini's in "
        "{gemini:.0f}, fewer.",
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
            "o3": copies(O3, 2),
            "claude": copies(CLAUDE, 2),
            "gemini": copies(GEMINI, 2),
            "n": copies(O3, 2, "n"),
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
            "o3": rate(O3, "harmful"),
            "o3_others": rate(O3, "others_harmful"),
            "gemini": rate(GEMINI, "harmful"),
            "gemini_others": rate(GEMINI, "others_harmful"),
            "claude": rate(CLAUDE, "harmful"),
            "claude_others": rate(CLAUDE, "others_harmful"),
        },
        {
            "more": lambda n: (
                n.o3 > n.o3_others and n.gemini > n.gemini_others and n.claude > n.claude_others
            ),
        },
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
            "copies": copies(O3, 2),
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
            "lower": lambda frames: int(votes(frames).eval("vote < own").sum()),
            "above": lambda frames: int(votes(frames).eval("vote > mean").sum()),
            "all": lambda frames: len(votes(frames)),
        },
        {
            "lower": lambda n: n.vote < n.own,
            "all": lambda n: n.lower == n.all,
            "most": lambda n: n.all / 2 < n.above <= n.all,
        },
    ),
    "neutral": Statement(
        "Claude chooses itself more often than the other judges choose it: in math by {math:.2f} "
        "of the rows; the interval excludes 0 in {away:.0f} of {all:.0f} categories, most of them. "
        "Its excess is nearer to 0 than o3-mini's in {nearer:.0f} categories and farther than "
        "Gemini's in {farther:.0f}, most again. So it is more neutral than o3-mini and less than "
        "Gemini; but o3-mini always stood first and, of two identical responses, always took the "
        "earlier ({copies:.2f}), so that its excess may be of the place.",
        {
            "math": excess(CLAUDE, "math"),
            "away": beyond(CLAUDE, "lo"),
            "all": categories(CLAUDE),
            "nearer": nearer(CLAUDE, O3),
            "farther": nearer(GEMINI, CLAUDE),
            "copies": copies(O3, 2),
            "gap": at_first_place,
        },
        {
            "more": lambda n: n.math.lo > 0,
            "most": lambda n: n.all / 2 < n.away <= n.all,
            "nearer": lambda n: n.all / 2 < n.nearer <= n.all,
            "farther": lambda n: n.all / 2 < n.farther <= n.all,
            "always stood first": lambda n: n.gap == 0,
            "always took": lambda n: n.copies.value == 1,
        },
    ),
}
