"""The study "Self-bias in LLM as Judge" on LiveBench."""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "livebench",
    {
        "items": ["lab.contests"],
        "audit": ["lab.contests"],
        "responses": ["compete"],
        "truths": ["compete"],
        "ratings": ["assess"],
        "verdicts": ["assess", "tie_breakers"],
    },
)
