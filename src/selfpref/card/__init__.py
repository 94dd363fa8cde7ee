"""One's own judgments: does a judge favour itself, how sure is that, how many pairs would it take.

    rule       what the first line answers; the rule is written in docs/measure.md
    words      a card, which is numbers as JSON has them, in plain words and as one HTML file
    marks      what marks of single texts show beside an answer key
    measured   what judgments of pairs show; `selfpref.measure` and `selfpref.read`
    validate   the same of simulated judges

No formula stands here: the statistics are those of the studies, on the same tables.
"""
