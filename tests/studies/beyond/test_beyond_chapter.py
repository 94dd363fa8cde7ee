"""A user's file of any number of judges goes through the numbers and the chapter."""

import shutil
from dataclasses import replace

import nbformat
import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY, SETTINGS, STAGED, counted

from selfpref import params, paths, tables
from selfpref.formats.judgments import of_frame
from selfpref.formats.rows import tables_of
from selfpref.params import load
from selfpref.statistics.judged import Judged
from selfpref.studies.beyond import sets

FIGURES = ("forest_pairs", "rates_pairs", "placebo", "mitigations", "mitigation_changes", "power")


def file_of(judges, rng, items):
    """Verdicts in both orders on all pairs of as many responders, later ones better; ties."""
    names = [f"judge-{number}" for number in range(judges)]
    rows = []
    for item in range(items):
        quality = rng.normal(np.arange(judges) / 2, 1)
        for one in range(judges):
            for two in range(one + 1, judges):
                gap = quality[one] - quality[two]
                for name in names:
                    for order in ("ab", "ba"):
                        label, verdict = rng.normal(gap, 0.7, 2) > 0
                        rows.append((item, names[one], names[two], name, order, label, verdict))
    columns = ["item", "responder_a", "responder_b", "judge", "order", "label", "verdict"]
    frame = pd.DataFrame(rows, columns=columns)
    pair = frame.groupby(["item", "responder_a", "responder_b"])["label"]
    frame["label"] = pair.transform("first").map({True: "a", False: "b"})
    frame["label"] = frame["label"].mask(frame["item"].mod(5).eq(0), "tie")
    frame["verdict"] = frame["verdict"].map({True: "a", False: "b"}).astype(object)
    # Not all judges decide the same pairs.
    frame.loc[::43, "verdict"] = None
    return frame


def data_set(frame):
    made = tables_of(of_frame(frame, "frame"), "mine", "wataoka")
    given = {name: made.get(name, tables.empty(name)) for name in tables.TABLES}
    settings = replace(SETTINGS, bootstrap=replace(SETTINGS.bootstrap, resamples=50))
    return Judged("mine", given | {"responses": counted(tables.empty("responses"))}, settings)


def run(notebook):
    """Its code for the source `recorded` in one namespace."""
    found = {}
    for cell in nbformat.read(REPOSITORY / f"notebooks/{notebook}.ipynb", 4).cells:
        tags = {*cell.metadata.get("tags", [])}
        if cell.cell_type == "code" and not tags & {"lab", "live"}:
            exec(cell.source, found)
    return found


@pytest.mark.parametrize("judges", [1, 2, 3, 4, 7])
def test_a_file_of_any_number_of_judges_is_measured_and_drawn(judges, rng, tmp_path, monkeypatch):
    of_profile = load(STAGED / "profiles/recorded.yaml")
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "data").mkdir()
    for name in ("names.csv", "claims.yaml"):
        shutil.copy(REPOSITORY / "data" / name, tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    frame = file_of(max(judges, 2), rng, items=16 if judges > 3 else 60)
    data = data_set(frame[frame["judge"].ne("judge-1")] if judges == 1 else frame)
    few = of_profile.bootstrap.model_copy(update={"resamples": 50})
    changed = of_profile.model_copy(update={"studies": [], "bootstrap": few})
    monkeypatch.setattr(params, "gather", lambda *_: changed)
    monkeypatch.setattr(sets, "of_wataoka", lambda *_: [data])
    run("beyond_metrics")
    run("beyond")
    drawn = {path.stem for path in paths.figure_dir("recorded", "beyond").glob("*.svg")}
    needs = {"mitigations": 3, "mitigation_changes": 3}
    assert drawn == {name for name in FIGURES if judges >= needs.get(name, 1)}
