"""One's own judgments: does a judge favour itself, how sure is that, how many pairs would it take.

    measured   what is computed: every statistic of every judge of one file, as frames
    rule       what the first line answers; the rule is written in docs/measure.md
    numbers    each judge's card as JSON
    words      the same in plain words
    page       the same as one HTML file
    command    `selfpref measure`

No formula stands here: the statistics are those of the studies, on the same tables.
"""
