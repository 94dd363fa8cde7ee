"""The study of Panickssery, Bowman & Feng (arXiv 2404.13076): recognition and preference.

A judge reads two summaries, one of them its own: which did it write, which does it prefer?

    read       what comes in: the authors' release (`read`; `read.files` says what each path holds),
               or articles to be summarised (`read.articles`)
    stages     what is run: summarise, ask (`recognition`), fine-tune judges (`finetune`)
    measure    what is computed: a confidence a pair (`pairs`, with the formula), means of these
               (`means`), and what they are tested against
    draw       what is drawn: a plate a figure

`evaluators` says who the judges are; `metrics` reads the tables for `measure`.
"""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "panickssery",
    ("items", "responses", "truths", "verdicts", "ratings", "audit"),
    {
        "responses": ["respond"],
        "truths": ["respond"],
        "verdicts": ["recognise", "finetune"],
        "ratings": ["recognise", "finetune"],
    },
)
