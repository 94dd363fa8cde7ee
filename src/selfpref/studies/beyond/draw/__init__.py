"""The figures beyond the papers, from the frames of `selfpref.studies.beyond.measure`.

`measure` says which of its modules defines which statistic, and from which paper.
"""

from selfpref.studies.beyond.draw.mitigations import changes, mitigations
from selfpref.studies.beyond.draw.placebo import placebo
from selfpref.studies.beyond.draw.power import power
from selfpref.studies.beyond.draw.scores import preferences, ratings
from selfpref.studies.beyond.draw.statistics import rates, recovery, statistics

__all__ = [
    "changes",
    "mitigations",
    "placebo",
    "power",
    "preferences",
    "rates",
    "ratings",
    "recovery",
    "statistics",
]
