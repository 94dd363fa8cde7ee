"""The study "Self-bias in LLM as Judge" on LiveBench: choices among the responses of all models.

    read       what comes in: the release, or LiveBench itself from the Hub
    scorers    what is right: each response by the answer key of its task
    stages     what is run: respond, mark and choose, break ties
    panel      what counts as a choice, whom each judge chose, from which place, its totals, votes
    excess     its choices of itself beside the others' and by the answer key

notebooks/livebench_metrics.ipynb calls them, notebooks/livebench.ipynb draws what they return.
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
    {"tie-breaks": "verdicts"},
)
