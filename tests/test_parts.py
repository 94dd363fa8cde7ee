"""A study's tables: one file a data set or entry, no others left over, and who has rows."""

import itertools
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED
from test_gathered import PROFILES, prepared, stages

from selfpref import tables
from selfpref.__main__ import main
from selfpref.params import TASKS, load
from selfpref.studies.registry import STUDIES
from selfpref.tables.parts import StudyTables, asked


@pytest.fixture
def repository(repository):
    (repository / "src").symlink_to(REPOSITORY / "src")
    return repository


def there(repository):
    return {str(path.relative_to(repository)) for path in repository.glob("data/**/*.parquet")}


def touched(repository, *places):
    for place in places:
        (repository / place).parent.mkdir(parents=True, exist_ok=True)
        (repository / place).touch()
    return set(places)


@pytest.mark.parametrize("profile", PROFILES)
def test_what_no_entry_makes_is_swept_and_nothing_else(repository, profile):
    """As dvc.yaml has it: every out of every stage stays, all else in these folders goes."""
    params = load(prepared(repository, PROFILES[profile]) / "params.yaml")
    outs = [out for stage in stages(Path.cwd()).values() for out in stage["outs"]]
    wanted = [out for out in outs if ".parquet" in out]
    others = (f"{profile}/metrics/wataoka", f"{profile}/models/seed-0", "another/wataoka/verdicts")
    kept = touched(repository, *wanted, *(f"data/{folder}/bias.parquet" for folder in others))
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
    assert main(["check", "--out", "checked.txt"]) == 0
    assert there(repository) == kept
    assert f"{gone.pop()}: no entry of params.yaml" in capsys.readouterr().out


STUDY = StudyTables("s", ("verdicts",), {"ties": ["break"]}, {"ties": "verdicts"})
VERDICT = {"judge": "j", "candidates": ["a", "b"], "choice": "a", "status": "ok"}


def test_a_table_is_what_lies_in_its_folders(repository):
    for folder, key in itertools.product(("verdicts", "ties"), ("b", "a")):
        rows = tables.fill([VERDICT | {"item_id": f"{folder}/{key}"}], "verdicts", study="s")
        STUDY.write("lab", key, **{folder: rows}, dropped=pd.DataFrame())
    wanted = dict(enumerate(("verdicts/a", "verdicts/b", "ties/a", "ties/b")))
    assert STUDY.read("lab", "verdicts")["item_id"].to_dict() == wanted
    assert STUDY.read("lab", "ratings").empty
    assert {path.split("/")[3] for path in there(repository)} == {"verdicts", "ties"}


COUNTED = {"verdicts": ["judge"], "ties": ["tie_break"], "labels": ["judge"]}


def test_rows_are_counted_by_status_over_all_files_and_a_stage_that_failed_is_named(repository):
    study = StudyTables("s", ("items", "verdicts"), COUNTED, {"ties": "verdicts"})
    entries = {"datasets": ["d"], "judge": ["j", "l"], "tie_break": ["t"]}
    params = SimpleNamespace(profile="lab", study=lambda _: SimpleNamespace(**entries))
    verdicts = pd.DataFrame({"judge": [*"jjk"], "task": "preference", "status": "ok"})
    # Two folders of one table; of another study, and of a folder that is no table of models.
    written = dict.fromkeys(("s/ties/j", "t/verdicts/other", "s/labels/d"), verdicts[:1])
    written |= {"s/verdicts/j": verdicts.assign(status=["ok", "refused", "ok"])}
    written |= {"s/responses/j": pd.DataFrame({"responder": ["j"] * 2, "status": "ok"})}
    for place, rows in written.items():
        (name,) = touched(repository, f"data/lab/{place}.parquet")
        rows.to_parquet(name)
    assert asked(study, params).to_csv(index=False, header=False).splitlines() == [
        *("d,items,,no table,0", "j,responses,,ok,2", "j,verdicts,preference,ok,2"),
        *("j,verdicts,preference,refused,1", "k,verdicts,preference,ok,1"),
        *("l,verdicts,,no table,0", "t,verdicts,,no table,0"),
    ]
