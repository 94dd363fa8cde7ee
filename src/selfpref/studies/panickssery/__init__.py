"""The study of Panickssery, Bowman & Feng (arXiv 2404.13076)."""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "panickssery",
    {
        "items": ["articles"],
        "audit": ["articles"],
        "responses": ["articles", "summarise"],
        "truths": ["articles", "summarise"],
        "verdicts": ["recognise", "finetune"],
        "ratings": ["recognise", "finetune"],
    },
)
