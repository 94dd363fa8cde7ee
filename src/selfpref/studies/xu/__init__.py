"""The study of Xu et al. (arXiv 2402.11436): self-bias in self-refinement.

A model writes a text, says what is wrong with it, revises it, and keeps the revision if its own
score of it rose.

    read         what comes in: the authors' release (`read`), or requests to be refined
                 (`read.requests`)
    items        what is asked, and what is true of a text that answers it
    stages       what is run: write, judge, revise, accept, with the words of `prompts`; the
                 testbed's side of it is in `lab`
    feedback     what a judge's reply says of a text
    bias         the one long frame that is measured (a text, its self-score and its truth), what
                 must hold from one step to the next, and bias and distance skewness of its cells:
                 the paper's main figure
    measures     what keeping the greatest score does by itself: noise judges, best of k; own texts
                 against others' that are as good; what refinement brings, other arms, sizes;
                 professional raters; other tasks, paraphrases, the format of feedback; the printed
                 numbers

`notebooks/xu_metrics.ipynb` calls these functions, `notebooks/xu.ipynb` draws what they return.

An item is `<language>/<number>`, such as `yor-en/12`; texts that came about otherwise have the
condition in front: `best-of-8/yor-en/12`, `accept-all/lab-en/12`.
"""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables(
    "xu",
    ("items", "responses", "truths", "ratings", "audit"),
    {name: ["refine"] for name in ("responses", "truths", "ratings")},
)
