"""The study of Wataoka, Takahashi & Ri (arXiv 2410.21819): bias towards own responses in pairs.

A judge reads two responses, one of them its own; people voted on the same pair.

    read         what comes in: one reader a data set, its released files listed in a CSV beside it
    stages       what is run: respond, judge, score the responses' perplexity
    pairs        what is computed: bias, excess, Table 2, ties and failures (Figs. 1 and 2)
    perplexity   bins and slopes by perplexity, the judge's own and other readers' (Figs. 3 to 6)
    keyed        judges of right and wrong answers (LLM-SP)
    checks       what the paper and others print and the testbed knows, beside what is computed

`notebooks/wataoka_metrics.ipynb` calls these functions; the pairs themselves, and what
`selfpref measure` computes too, stand in `selfpref.statistics.judged`.
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
