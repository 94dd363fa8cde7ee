"""The study of Panickssery, Bowman & Feng (arXiv 2404.13076): recognition and preference.

A judge reads two summaries, one of them its own: which did it write, which does it prefer?

    read          what comes in: the authors' release (`read` says what its files hold), or
                  articles to be summarised (`read.articles`)
    stages        what is run: summarise, ask (`recognition`), fine-tune judges (`finetune`)
    evaluators    who the judges are, and their names for people
    pairs         a confidence a pair, with its formula, and its means; the question turned round;
                  what a preference deserves
    correlation   preference on recognition, over judges (Figs. 1 and 7)
    individual    one summary at a time (Figs. 2 to 6)
    defects       what is wrong with the scores that were released; what is printed of them

`notebooks/panickssery_metrics.ipynb` calls these functions by name.
"""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "panickssery",
    ("items", "responses", "truths", "verdicts", "ratings", "audit"),
    {
        **dict.fromkeys(("responses", "truths"), ("respond",)),
        **dict.fromkeys(("verdicts", "ratings"), ("recognise", "finetune")),
    },
)
