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
BESIDE = (
    *("figures/recorded/study/a.svg", "data/published/study.csv", "report/lab/index.html"),
    *("report/lab/study.failed.ipynb", "data/lab/verdicts/study/judge.new"),
    *("data/lab/models/seed-0/.base.partial/model.safetensors", "figures/lab/study/.a.svg.new"),
)


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_one_byte_in_any_file_that_a_profile_made_is_a_difference_and_nothing_else(tmp_path):
    one = verify.made(written(tmp_path / "one", FILES | dict.fromkeys(BESIDE, "x")), "lab")
    assert set(one) == set(FILES)
    for number, name in enumerate(FILES):
        two = written(tmp_path / str(number), FILES | {name: FILES[name][:-1] + "x"})
        assert verify.differences(one, verify.made(two, "lab")) == [f"differs: {name}"]
        (two / name).unlink()
        assert verify.differences(one, verify.made(two, "lab")) == [f"only in run 1: {name}"]
        assert verify.differences(verify.made(two, "lab"), one) == [f"only in run 2: {name}"]


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
