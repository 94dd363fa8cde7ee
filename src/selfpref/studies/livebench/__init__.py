"""The study "Self-bias in LLM as Judge" on LiveBench: choices among the responses of all models.

    read       what comes in: the release (`read`; `read.files` for its tables), or LiveBench itself
               from the Hub (`read.hub`)
    scorers    what is right: each response by the answer key of its task
    stages     what is run: respond, mark and choose (`judging`), break ties
    measure    what is computed: from `panel`, which says what counts as a choice
    draw       what is drawn: a plate a figure

`metrics` reads the tables for `measure`.
"""

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
