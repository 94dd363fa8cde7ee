"""The study of Wataoka, Takahashi & Ri (arXiv 2410.21819)."""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "wataoka",
    {
        "items": ["lab.seeds"],
        "labels": ["lab.seeds"],
        "truths": ["lab.seeds"],
        "responses": ["respond"],
        "verdicts": ["judge"],
        "perplexities": ["perplexity"],
    },
)
