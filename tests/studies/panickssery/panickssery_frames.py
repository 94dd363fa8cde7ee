"""The frames of the metrics notebook of Panickssery et al., whose cells are run here."""

import shutil
from types import SimpleNamespace

import nbformat
import pandas as pd
import pytest
from conftest import REPOSITORY

from selfpref import tables
from selfpref.params.studies import Bootstrap, Panickssery
from selfpref.report.sections import of_source
from selfpref.studies.panickssery import evaluators
from selfpref.tables.parts import StudyTables

INTERVALS = Bootstrap(resamples=200, level=0.95, method="percentile")
PARAMS = SimpleNamespace(
    seed=1,
    bootstrap=INTERVALS,
    figures=["svg"],
    panickssery=Panickssery(
        datasets={}, respond={}, finetune={}, recognise={}, min_mass=0.0, unusable=0.05
    ),
)
ASKED = pd.DataFrame(columns=["judge", "table", "task", "status", "n"])


def run(params, notebook="panickssery_metrics"):
    """The names that the notebook's cells make, in the folder that is the current one."""
    made = nbformat.read(REPOSITORY / f"notebooks/{notebook}.ipynb", as_version=4)
    names: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfpref.params.gather", lambda *_: params)
        for cell in of_source(made, params.profile).cells:
            if cell.cell_type == "code":
                exec(cell.source, names)
    return names


def frames_of(folder, found, who=None, profile="recorded"):
    """The frames of tables, and of judges whom no names describe; written below a folder."""

    def read(study, profile, name):
        return tables.validate(found.get(name, tables.empty(name)), name, "here")

    (folder / "dvc.yaml").touch()
    for path in ("data/published/panickssery.csv", "data/names.csv"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / path, folder / path)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr("selfpref.tables.asked.asked", lambda study, params: ASKED)
        patch.setattr(StudyTables, "read", read)
        if who is not None:
            patch.setattr(evaluators, "described", lambda *_: who)
        return run(SimpleNamespace(**vars(PARAMS), profile=profile))["frames"]
