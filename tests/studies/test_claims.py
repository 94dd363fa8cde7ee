"""The table of the papers' claims is that of the released data.

The tables are those that git holds in figures/recorded.
"""

import shutil

import pandas as pd
import pytest
from conftest import STAGED

from selfpref import paths
from selfpref.say import VERDICTS
from selfpref.studies import claims


@pytest.fixture(autouse=True)
def repository(monkeypatch):
    monkeypatch.chdir(STAGED)


def test_a_study_that_was_not_drawn_keeps_its_claims_without_a_finding(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "data").mkdir()
    shutil.copy(paths.claims_source(), tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    found = claims.table()
    assert len(found) == len(pd.read_csv(STAGED / "data/claims.csv"))
    # What no release could show does not depend on a figure.
    found = found[~found["finding"].str.startswith("No data")]
    assert len(found) > 30
    assert found["verdict"].isna().all()
    assert found["finding"].eq("").all()


def test_the_verdicts_are_counted_in_a_sentence():
    found = pd.DataFrame({"verdict": ["holds", "does not hold", "holds"]})
    told = (
        "On public data, of 3 claims of the papers and their releases, 2 hold, and 1 do not hold."
    )
    assert claims.counted(found) == told
    assert claims.counted(found.assign(verdict=None)) == claims.counted(pd.DataFrame()) == ""


def test_every_paper_has_claims_whose_cells_and_figures_git_holds():
    found = claims.table()
    assert {"wataoka", "panickssery", "xu", "livebench"} <= set(found["study"])
    assert set(found["verdict"]) <= set(VERDICTS)
    for row in found.to_dict("records"):
        table, _, column = row["cell"].partition(": ")
        # Only a claim without data may do without a cell.
        assert ((paths.root() / table).is_file() and column) or (
            not row["cell"] and row["finding"].startswith("No data")
        )
        assert not row["figure"] or (paths.root() / row["figure"]).is_file()


def test_the_table_in_git_is_what_the_stage_writes(tmp_path):
    claims.write(tmp_path / "claims.csv")
    written = (tmp_path / "claims.csv").read_bytes()
    assert (STAGED / "data/claims.csv").read_bytes() == written
