"""A file becomes a data set: lines in the profile, its comments kept, and nothing if invalid."""

import doctest
import shutil

import pytest
from conftest import REPOSITORY, lines

from selfpref import paths
from selfpref.__main__ import main
from selfpref.card import adding
from selfpref.errors import SelfprefError
from selfpref.params import load
from selfpref.studies import registry

GAME = {
    "question_id": 81,
    "model_1": "x",
    "model_2": "y",
    "g1_winner": "model_1",
    "g2_winner": "error",
    "judge": ["x", "pair-v2"],
}


@pytest.fixture
def root(tmp_path, monkeypatch):
    for name in ("params.yaml", "pyproject.toml", "dvc.yaml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    shutil.copytree(REPOSITORY / "profiles", tmp_path / "profiles")
    read = tmp_path / "src/selfpref/studies"
    shutil.copytree(
        REPOSITORY / "src/selfpref/studies", read, ignore=shutil.ignore_patterns("*.py")
    )
    monkeypatch.setattr(paths, "root", lambda: tmp_path)
    (tmp_path / "mine.jsonl").write_text(lines(GAME))
    return tmp_path


def test_the_lines_are_added_and_nothing_else_changes(root, capsys):
    before = (root / "profiles/recorded.yaml").read_text()
    assert main(["add", str(root / "mine.jsonl"), "--name", "mine"]) == 0
    after = (root / "profiles/recorded.yaml").read_text()
    entry = "    mine:\n      reader: fastchat\n      source: mine.jsonl\n"
    assert after.replace(entry, "") == before
    params = load(root / "profiles/recorded.yaml")
    found = registry.read(params, "wataoka", "mine")
    assert found["verdicts"]["status"].tolist() == ["ok", "failed"]
    assert "profiles/recorded.yaml: wataoka.datasets.mine added" in capsys.readouterr().out


def test_a_taken_or_bad_name_and_a_file_elsewhere_change_nothing(root, tmp_path_factory):
    before = (root / "profiles/recorded.yaml").read_text()
    other = tmp_path_factory.mktemp("elsewhere") / "mine.jsonl"
    other.write_text(lines(GAME))
    for path, name, told in (
        (root / "mine.jsonl", "vicuna80", "is there; choose another name"),
        (root / "mine.jsonl", "Not A Slug", "datasets"),
        (other, "mine", "reads only files there"),
    ):
        with pytest.raises(SelfprefError, match=told):
            adding.add(path, name)
    assert (root / "profiles/recorded.yaml").read_text() == before


def test_the_examples_of_the_docstrings():
    assert doctest.testmod(adding).failed == 0
