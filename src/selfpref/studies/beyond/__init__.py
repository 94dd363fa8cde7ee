"""Beyond the papers: every statistic for every judge, from the tables of the other studies.

It reads and runs nothing of its own. `metrics` loads what the other studies hold; `measure.sets`
turns pairs and choices into rows of one form, the other modules of `measure` compute the
statistics; `draw` draws them.
"""

from selfpref.tables.parts import StudyTables

# Among the names of judges: a regression over all judges of a data set, and a mean over them.
POOLED, MEAN = "all judges", "mean of judges"
# Among rules that decide pairs, what the judges give that did not write the responses, each alone;
# and what makes one rule differ from another.
OTHERS = "others alone"
OWN_VOTE, AVERAGING, OTHER_WRITER = "own vote", "averaging", "other writer"

STUDY = StudyTables("beyond", (), {})
