"""The study of Wataoka, Takahashi & Ri (arXiv 2410.21819): bias towards own responses in pairs.

A judge reads two responses, one of them its own; people voted on the same pair.

    read       what comes in: one reader a data set, its released files listed in a CSV beside it
    stages     what is run: respond, judge, score the responses' perplexity
    measure    what is computed: `judged` from pairs (EO, excess, position), `by_perplexity`,
               `injected`; the formulas of EO and excess are in `selfpref.statistics.bias`
    draw       what is drawn: a plate a figure

`metrics` reads the tables for `measure`, as the parameters say.
"""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "wataoka",
    ("items", "responses", "labels", "truths", "verdicts", "perplexities", "audit"),
    {
        "labels": ["label"],
        "truths": ["label"],
        "responses": ["respond"],
        "verdicts": ["judge"],
        "perplexities": ["perplexity"],
    },
)
