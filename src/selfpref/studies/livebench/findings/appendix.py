"""The sentences of the audits and variants about the released data, by key."""

from functools import partial

from selfpref.statements import Statement, present, value
from selfpref.studies.livebench.findings.cells import (
    CLAUDE,
    GEMINI,
    found,
    its_tasks,
    itself,
    kappa,
    lead,
    number,
    saturated,
    share,
)
from selfpref.studies.livebench.measure.panel import ALL

FINDINGS: dict[str, Statement] = {
    "copies in the files": Statement(
        "On {three:.0f} questions all responses say word for word the same, on {two:.0f} exactly "
        "two do. A choice among them is a choice of position.",
        {
            "three": found("all three responses are the same"),
            "two": found("exactly two responses are the same"),
        },
        {},
    ),
    "totals in the files": Statement(
        "{misread:.0f} stored totals are not the total that the reply states: the judge wrote its "
        "marks as a sum, and the first summand was stored. Of {marked:.0f} replies whose marks can "
        "all be read, {differ:.0f} state another total than the sum of their marks.",
        {
            "misread": found("stored total is not the one stated"),
            "marked": found("all eleven marks can be read"),
            "differ": found("total is not the sum of its marks"),
        },
        {},
    ),
    "missing in the files": Statement(
        "Of math only an earlier file is public, with all choices but without {blank:.0f} of "
        "{all:.0f} totals. Reasoning has {reasoning:.0f} questions; the release's "
        "README says that it skipped one.",
        {
            "blank": found("total is blank", file="math"),
            "all": found("total is blank", "rows", file="math"),
            "reasoning": value("items", "items", category="reasoning", task=ALL),
        },
        {"without": lambda n: 0 < n.blank < n.all},
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
    "totals": Statement(
        "The totals of the rubric say little: between {least:.0%} and {most:.0%} of a judge's "
        "totals for a responder are the full eleven.",
        {
            "least": lambda frames: float(saturated(frames).min()),
            "most": lambda frames: float(saturated(frames).max()),
        },
        {"little": lambda n: 0.4 < n.least <= n.most <= 1},
    ),
    "kappa": Statement(
        "The judges agree little: kappa lies between {least:.2f} and {most:.2f} by category.",
        {
            "least": lambda frames: float(kappa(frames).min()),
            "most": lambda frames: float(kappa(frames).max()),
        },
        {"little": lambda n: -1 <= n.least <= n.most < 0.4},
    ),
    "gemini tasks": Statement(
        "Gemini (both models of that name) chooses its own response most often in no category "
        "({own:.0f} of {all:.0f}), but in {tasks:.0f} of {tasks_all:.0f} tasks: {names}.",
        {
            "tablejoin": share(GEMINI, GEMINI, "data_analysis", "tablejoin"),
            "own": itself(GEMINI, tasks=False),
            "all": number(GEMINI, tasks=False),
            "tasks": itself(GEMINI, tasks=True),
            "tasks_all": number(GEMINI, tasks=True),
            "names": its_tasks,
        },
        {
            "no": lambda n: n.own == 0,
            "but": lambda n: 0 < n.tasks <= n.tasks_all,
        },
    ),
    "gemini favourites": Statement(
        "Gemini's most frequent choice is Claude in instruction following ({first:.3f}), language "
        "({language:.3f}) and coding ({coding:.3f}). In reasoning it is not: {reasoning:.3f}.",
        {
            "reasoning": share(GEMINI, CLAUDE, "reasoning"),
            "first": share(GEMINI, CLAUDE, "instruction_following"),
            "language": share(GEMINI, CLAUDE, "language"),
            "coding": share(GEMINI, CLAUDE, "coding"),
            **{
                f"lead_{name}": partial(lead, judge=GEMINI, responder=CLAUDE, category=name)
                for name in ("instruction_following", "language", "coding", "reasoning")
            },
        },
        {
            "most frequent": lambda n: (
                min(n.lead_instruction_following, n.lead_language, n.lead_coding) > 0
            ),
            "not": lambda n: n.lead_reasoning < 0,
        },
    ),
}
