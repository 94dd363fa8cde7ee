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
    ("items", "responses", "truths", "verdicts", "ratings", "audit"),
    {
        "responses": ["respond"],
        "truths": ["respond"],
        "ratings": ["judge"],
        "verdicts": ["judge"],
        "tie-breaks": ["tie_break"],
    },
    # A tie-breaker reads the judges' verdicts, and so cannot write among them.
    {"verdicts": ["verdicts", "tie-breaks"]},
)
