"""The frames of the metrics notebook of Panickssery et al., whose cells are run here."""

import shutil

import nbformat
import pandas as pd
import pytest
from conftest import REPOSITORY

from selfpref import tables
from selfpref.params import Panickssery
from selfpref.studies.panickssery import evaluators
from selfpref.tables.parts import StudyTables


class Params:
    panickssery = Panickssery(
        datasets={}, respond={}, finetune={}, recognise={}, min_mass=0.0, unusable=0.05
    )


ASKED = pd.DataFrame(columns=["judge", "table", "task", "status", "n"])


def run(params, **variables):
    """The frames of the notebook's cells, in the folder that is the current one."""
    notebook = nbformat.read(REPOSITORY / "notebooks/panickssery_metrics.ipynb", as_version=4)
    cells: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfpref.params.gather", lambda names: params)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                exec(cell.source, cells)
            if "parameters" in cell.metadata.get("tags", []):
                cells |= {"resamples": 200, "seed": 1, **variables}
    return cells["frames"]


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
        return run(Params, profile=profile)
