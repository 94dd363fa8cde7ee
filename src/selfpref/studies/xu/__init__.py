"""The study of Xu et al. (arXiv 2402.11436)."""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "xu",
    {
        "items": ["requests"],
        "audit": ["requests"],
        "responses": ["refine"],
        "ratings": ["refine"],
        "truths": ["refine"],
        "perplexities": ["refine"],
    },
)
