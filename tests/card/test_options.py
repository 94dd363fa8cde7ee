"""What a user gives `selfpref measure`, and what comes back: files, names, answers, a page."""

import io
import json
import re
import sys

import pandas as pd
import pytest
from test_measured import FOUR, judgments

import selfpref
from selfpref.__main__ import main
from selfpref.card import measured

NAMES = {"item": "qid", "verdict": "winner"}


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr(measured, "RESAMPLES", 200)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.csv"
    judgments(items=20).to_csv(path, index=False)
    return path


def numbers(found):
    return {key: value for key, value in found.to_dict().items() if key not in ("made", "name")}


def test_columns_may_have_other_names_and_others_are_named_once(tmp_path, mine, capsys):
    other = tmp_path / "other.csv"
    renamed = pd.read_csv(mine).rename(columns=NAMES).assign(note="x", model="y")
    renamed.to_csv(other, index=False)
    columns = [f"{name}={there}" for name, there in NAMES.items()]
    assert numbers(selfpref.read(other, columns=columns)) == numbers(selfpref.read(mine))
    assert capsys.readouterr().err == "other.csv: not read: model, note\n"
    assert main(["measure", str(other), "--columns", "item=id"]) == 1
    told = capsys.readouterr().err
    assert "--columns item=id: no such column; it has 'qid', 'responder_a'" in told


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "json", "parquet", "csv.gz"])
def test_standard_input_is_read_whatever_it_holds(tmp_path, mine, monkeypatch, kind):
    frame, path = pd.read_csv(mine), tmp_path / f"piped.{kind}"
    if kind == "parquet":
        frame.to_parquet(path)
    elif "json" in kind:
        frame.to_json(path, orient="records", lines=kind == "jsonl")
    else:
        frame.to_csv(path, index=False, sep="\t" if kind == "tsv" else ",")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes())))
    assert numbers(selfpref.read("-")) == numbers(selfpref.read(mine))


def test_several_files_are_one_set(tmp_path, mine):
    frame, parts = pd.read_csv(mine), [tmp_path / "one.csv", tmp_path / "two.jsonl"]
    half = frame["item"].lt(10)
    frame[half].to_csv(parts[0], index=False)
    frame[~half].to_json(parts[1], orient="records", lines=True)
    found = selfpref.read(*parts)
    assert numbers(found) == numbers(selfpref.read(mine))
    assert list(found.made["files"]) == ["one.csv", "two.jsonl"]


def test_a_line_a_judge_comes_first_and_alone_where_wanted(mine, capsys):
    assert main(["measure", str(mine)]) == 0
    whole = capsys.readouterr().out
    assert main(["measure", str(mine), "--brief"]) == 0
    brief = capsys.readouterr().out
    assert whole.startswith(brief.rstrip("\n"))
    lines = brief.splitlines()
    assert len(lines) == 1 + 2 * 3
    assert re.split(r"\s{2,}", lines[0]) == [
        "judge",
        "answer",
        "EO",
        "a person's EO",
        "its own term",
    ]
    assert re.fullmatch(r"ann\s+\D+\S* +[+-]\d\.\d\d \[.*", lines[1])


def test_a_judge_that_favours_itself_may_end_a_pipeline(tmp_path):
    for bonus, status in (({"ann": 1.5}, 1), ({}, 0)):
        path = tmp_path / "f.csv"
        judgments(bonus, items=150, judges=FOUR, responders=FOUR).to_csv(path, index=False)
        assert main(["measure", str(path), "--brief", "--fail-on", "favours"]) == status
        assert main(["measure", str(path), "--brief"]) == 0


def test_what_matters_is_the_users_to_say():
    frame = judgments(items=60)
    strict, lax = (selfpref.measure(frame, odds=odds).answers for odds in (1.01, 20.0))
    assert {one.favours for one in strict.values()} <= {None, True}
    assert False in {one.favours for one in lax.values()}


def test_a_card_says_how_it_was_made_and_what_it_shows_towards_others(mine, tmp_path, capsys):
    card = tmp_path / "card.json"
    assert main(["measure", str(mine), "--judge", "ann", "--json", str(card)]) == 0
    found = json.loads(card.read_text())
    made = found["made"]
    assert (made["selfpref"], made["resamples"], made["seed"]) == (
        selfpref.__version__,
        200,
        20241030,
    )
    assert made["options"] == "--judge ann"
    ann = found["judges"]["ann"]
    assert list(ann["towards"]) == ["ann", "bob", "cat"]
    assert ann["towards"]["ann"]["value"] == ann["equal_opportunity"]["value"]
    last = capsys.readouterr().out.splitlines()[-2:]
    assert last[0].startswith(f"written by selfpref {selfpref.__version__} on {made['date']}; 200")
    assert last[1] == f"of mine.csv (sha256 {made['files']['mine.csv']})"


def test_the_labels_of_a_key_are_not_called_peoples():
    keyed = judgments(items=20).assign(annotator="key")
    keyed["label"] = keyed.groupby(["item", "responder_a", "responder_b"])["label"].transform(
        "first"
    )
    assert "answer key's" in str(selfpref.measure(keyed))
    assert "answer key's" not in str(selfpref.measure(judgments(items=20)))


def test_a_notebook_shows_the_page_in_a_frame_of_its_own():
    shown = selfpref.measure(judgments(items=12))._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert shown.count("<") == 2


def test_the_example_is_of_a_judge_that_favours_itself(tmp_path, capsys):
    assert main(["example"]) == 0
    path = tmp_path / "example.csv"
    path.write_text(capsys.readouterr().out)
    answers = selfpref.read(path).answers
    assert answers["ada"].favours is True
    assert True not in {one.favours for name, one in answers.items() if name != "ada"}
