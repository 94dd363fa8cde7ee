"""Beyond the papers: every statistic for every judge, from the tables of the other studies."""

from selfpref.tables.parts import StudyTables

STUDY = StudyTables("beyond", {})
