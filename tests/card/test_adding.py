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
from selfpref.statistics.scores import judged_pairs
from selfpref.studies import registry
from selfpref.studies.wataoka.labels import label

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
    shutil.copytree(REPOSITORY / "data/published", tmp_path / "data/published")
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


VOTED = {"item": "q", "responder_a": "y", "responder_b": "x", "label": "x", "annotator": "p"}


def test_votes_and_other_names_come_along(root, capsys):
    row = {"item": "q", "responder_a": "X-1", "responder_b": "y", "judge": "x", "order": "ab"}
    (root / "mine.jsonl").write_text(lines(row | {"label": None, "verdict": "X-1"}))
    (root / "votes.jsonl").write_text(lines(VOTED | {"responder_b": "X-1", "label": "X-1"}))
    given = [str(root / "mine.jsonl"), "--votes", str(root / "votes.jsonl"), "--alias", "X-1=x"]
    before = (root / "profiles/recorded.yaml").read_text()
    assert main(["add", *given, "--name", "mine", "--judge", "x"]) == 0
    after = (root / "profiles/recorded.yaml").read_text()
    for entry in (
        '    mine:\n      reader: pairs\n      source: mine.jsonl\n      aliases: {"X-1": "x"}\n'
        '      judges: ["x"]\n',
        '\n    mine:\n      source: votes.jsonl\n      aliases: {"X-1": "x"}\n',
    ):
        assert after.count(entry) == 1
        after = after.replace(entry, "" if "reader" in entry else " {}\n")
    assert after == before
    params = load(root / "profiles/recorded.yaml", sources=root)
    found = registry.read(params, "wataoka", "mine")
    for name, table in found.items():
        registry.tables_of("wataoka").write("recorded", "mine", **{name: table})
    assert found["verdicts"]["choice"].tolist() == ["x"]
    made = label(params, "mine")["labels"]
    pairs = judged_pairs(found["items"], made, found["verdicts"])
    assert pairs[["judge", "first", "human", "decision"]].values.tolist() == [["x", "x", 1.0, 1.0]]
    # A second one finds the first one's place.
    assert main(["add", *given, "--name", "more"]) == 0
    assert list(load(root / "profiles/recorded.yaml").wataoka.label) == ["mine", "more"]


@pytest.mark.parametrize(
    ("vote", "more", "told"),
    [
        ({"item": "r"}, [], "votes.jsonl, line 1: item 'r' is none of wataoka.datasets.mine"),
        ({"responder_a": "z"}, [], "responder_a 'z' wrote no response to mine; there are x, y"),
        ({}, ["--alias", "X=x"], "--alias X: no such judge or responder; nearest is 'x'"),
        ({}, ["--judge", "z"], "--judge z: no such judge, there are x"),
        ({"label": "z"}, [], "votes.jsonl, line 1: label names the unknown responder 'z'"),
    ],
)
def test_votes_and_names_that_do_not_fit_change_nothing(root, capsys, vote, more, told):
    row = {"item": "q", "responder_a": "x", "responder_b": "y", "judge": "x", "order": "ab"}
    (root / "mine.jsonl").write_text(lines(row | {"label": None, "verdict": "a"}))
    (root / "votes.jsonl").write_text(lines(VOTED | vote))
    before = (root / "profiles/recorded.yaml").read_text()
    given = [str(root / "mine.jsonl"), "--votes", str(root / "votes.jsonl"), *more]
    assert main(["add", *given, "--name", "mine"]) == 1
    assert told in capsys.readouterr().err
    assert (root / "profiles/recorded.yaml").read_text() == before


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
