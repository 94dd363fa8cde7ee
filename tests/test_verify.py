"""What `make verify` compares, on folders of a few bytes."""

import sys

import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))
import verify

FILES = {
    "figures/lab/study/a.svg": "<svg/>",
    "figures/lab/study/a.csv": "n\n1\n",
    "data/lab/models/seed-0/base/model.safetensors": "weights",
    "report/lab/study.ipynb": "{}",
}
# Another profile's, a page with times, and what is not finished.
BESIDE = {
    "figures/recorded/study/a.svg": "<svg/>",
    "data/published/study.csv": "n\n",
    "report/lab/index.html": "12 s",
    "report/lab/study.failed.ipynb": "{}",
    "data/lab/verdicts/study/judge.new": "ha",
    "data/lab/models/seed-0/.base.partial/model.safetensors": "wei",
    "figures/lab/study/.a.svg.new": "<s",
}


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_what_a_profile_made_and_nothing_else_is_compared(tmp_path):
    one = verify.made(written(tmp_path / "one", FILES | BESIDE), "lab")
    two = verify.made(written(tmp_path / "two", FILES), "lab")
    assert set(one) == set(FILES)
    assert verify.differences(one, two) == []


@pytest.mark.parametrize("name", FILES)
def test_one_byte_in_any_file_is_a_difference(tmp_path, name):
    one = verify.made(written(tmp_path / "one", FILES), "lab")
    two = verify.made(written(tmp_path / "two", FILES | {name: FILES[name][:-1] + "x"}), "lab")
    assert verify.differences(one, two) == [f"differs: {name}"]


def test_a_file_of_one_run_alone_is_a_difference(tmp_path):
    less = dict(list(FILES.items())[1:])
    one = verify.made(written(tmp_path / "one", FILES), "lab")
    two = verify.made(written(tmp_path / "two", less), "lab")
    assert verify.differences(one, two) == ["only in run 1: figures/lab/study/a.svg"]
    assert verify.differences(two, one) == ["only in run 2: figures/lab/study/a.svg"]


@pytest.mark.parametrize(
    ("makes", "status", "told"),
    [
        (["same", "same"], 0, "lab: 1 files the same, 0 not"),
        (["same", "other"], 1, "differs: data/lab/t.parquet\nlab: 0 files the same, 1 not"),
        ([], 1, "lab: 0 files the same, 0 not"),
    ],
    ids=["the same", "another", "nothing made"],
)
def test_the_status_says_whether_all_is_the_same(monkeypatch, capsys, makes, status, told):
    """Two rebuilt folders; a run that made nothing proves nothing."""
    texts = iter(makes)

    def rebuild(folder, profile):
        written(folder, {"data/lab/t.parquet": next(texts)} if makes else {"other": ""})

    monkeypatch.setattr(verify, "rebuild", rebuild)
    assert verify.main(["lab"]) == status
    assert told in capsys.readouterr().out
