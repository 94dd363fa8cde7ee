"""A study's tables: one file a data set or entry, and no others left over."""

import itertools
from pathlib import Path

import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED
from dvc.repo import Repo
from test_gathered import PROFILES, stages

from selfpref import tables
from selfpref.__main__ import main
from selfpref.params import TASKS, load
from selfpref.studies.registry import STUDIES
from selfpref.tables.parts import StudyTables, part


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "src").symlink_to(REPOSITORY / "src")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def there(repository):
    return {str(path.relative_to(repository)) for path in (repository / "data").rglob("*.parquet")}


def touched(repository, *places):
    for place in places:
        (repository / place).parent.mkdir(parents=True, exist_ok=True)
        (repository / place).touch()
    return set(places)


@pytest.mark.parametrize("profile", PROFILES)
def test_what_no_entry_makes_is_swept_and_nothing_else(repository, profile):
    """As dvc.yaml has it: every out of every stage stays, all else in these folders goes."""
    for name, path in (("dvc.yaml", REPOSITORY / "dvc.yaml"), ("params.yaml", PROFILES[profile])):
        (repository / name).write_text(path.read_text())
    Repo.init(str(repository), no_scm=True).close()
    params = load(repository / "params.yaml")
    outs = [out for stage in stages(Path.cwd()).values() for out in stage["outs"]]
    wanted = [out for out in outs if ".parquet" in out]
    kept = touched(
        repository,
        *wanted,
        f"data/{profile}/metrics/wataoka/bias.parquet",
        f"data/{profile}/models/seed-0/table.parquet",
        "data/another/wataoka/verdicts/former.parquet",
    )
    former = {f"{place.rpartition('/')[0]}/former.parquet" for place in wanted}
    gone = touched(repository, *former, f"data/{profile}/xu/old-table/d.parquet")
    swept = [path for study in TASKS for path in STUDIES[study].sweep(params)]
    assert there(repository) == kept
    assert sorted(swept) == sorted(gone)


def test_only_a_valid_file_sweeps(repository, capsys):
    """The check of the command line: it tells what it took away, and takes nothing on an error."""
    text = (STAGED / "params.yaml").read_text()
    kept = touched(repository, "data/lab/wataoka/verdicts/judges.parquet")
    # A key of one task fills no table of another.
    gone = touched(repository, "data/lab/wataoka/verdicts/families.parquet")
    (repository / "params.yaml").write_text(text.replace("threshold: 0.5", "threshold: 2"))
    assert main(["check", "--out", "checked.txt"]) == 1
    (repository / "params.yaml").write_text(text)
    # Without a stage of DVC it only looks.
    assert main(["check"]) == 0
    assert there(repository) == kept | gone
    capsys.readouterr()
    assert main(["check", "--out", "checked.txt"]) == 0
    assert there(repository) == kept
    (told,) = [line for line in capsys.readouterr().out.splitlines() if line.endswith("removed")]
    assert told.startswith("data/lab/wataoka/verdicts/families.parquet: no entry of params.yaml")


STUDY = StudyTables("s", ("verdicts",), {"ties": ["break"]}, {"ties": "verdicts"})
VERDICT = {
    "study": "s", "judge": "j", "task": "preference", "variant": "plain",
    "candidates": ["a", "b"], "choice": "a", "status": "ok",
}  # fmt: skip


def test_a_table_is_what_lies_in_its_folders(repository):
    for folder, key in itertools.product(("verdicts", "ties"), ("b", "a")):
        rows = tables.fill([VERDICT | {"item_id": f"{folder}/{key}"}], "verdicts")
        STUDY.write("lab", key, **{folder: rows}, dropped=pd.DataFrame())
    assert STUDY.parts("lab", "ties") == ["a", "b"]
    read = STUDY.read("lab", "verdicts")
    assert read["item_id"].tolist() == ["verdicts/a", "verdicts/b", "ties/a", "ties/b"]
    assert STUDY.read("lab", "ratings").empty
    assert {path.rpartition("/")[0] for path in there(repository)} == {
        "data/lab/s/verdicts",
        "data/lab/s/ties",
    }
    # A base's key may be its evaluators', and a data set's that of its labels.
    names = {part(task, "key") for task in ("recognise", "finetune", "label")}
    assert names == {"key", "tuned-key", "labelled-key"}
