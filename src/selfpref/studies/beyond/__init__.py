"""Beyond the papers: every statistic for every judge, from the tables of the other studies.

    sets          what comes in: the other studies' tables as judged sets, ratings with gold scores;
                  what goes out: the table of all statistics, and how they follow what was injected
    mitigations   panels of judges, with and without the judge whose responses are judged

The statistics themselves, which `selfpref measure` computes too, stand in `selfpref.statistics`:
`choices` (a judge's own choices, the regression), `scaled`, `latent`.
`notebooks/beyond_metrics.ipynb` calls these functions.
"""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables("beyond", (), {})
