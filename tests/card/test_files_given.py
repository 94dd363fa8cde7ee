"""Files that `selfpref measure` is given: the same numbers in any format; bad ones are told."""

import io
import json
import sys

import numpy as np
import pandas as pd
import pytest
from conftest import lines
from test_measured import FOUR, flat, judgments, numbers

import selfpref
from selfpref.__main__ import main
from selfpref.card import measured

SIDES = ["item", "responder_a", "responder_b"]
GAMES = {"item": "question_id", "responder_a": "model_1", "responder_b": "model_2"}
PAIR = {"item": 1, "responder_a": "gpt-4", "responder_b": "x", "label": "a"}
PAIR |= {"judge": "gpt-4", "order": "ab", "verdict": "a"}
VOTE = {"item": "other", "responder_a": "gpt-4", "responder_b": "x", "label": "a"}
TABLE = "item,responder_a,responder_b,judge\n1,x,y,x\n2,modèle,y,x\n"


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr(measured, "RESAMPLES", 200)


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.csv"
    judgments(items=20).to_csv(path, index=False)
    return path


def test_a_file_given_twice_counts_nothing_twice(mine, capsys):
    for given in ([str(mine), str(mine)], [str(mine), "--votes", str(mine)]):
        assert main(["measure", *given]) == 1
        assert "mine.csv: given twice, so that all in it would" in capsys.readouterr().err


def test_two_games_of_fastchat_and_votes_of_arena_give_the_same_numbers(tmp_path):
    frame = judgments(items=40, judges=FOUR, responders=FOUR)
    # Pairs without a verdict, and ties.
    frame.loc[frame.index % 13 == 0, "verdict"] = None
    frame.loc[frame.index % 11 == 0, "verdict"] = "tie"
    votes = frame[[*SIDES, "annotator", "label"]].drop_duplicates()
    votes.loc[votes.index[::4], "label"] = "tie"
    frame = frame.drop(columns=["label", "annotator"])
    winners = {"a": "model_1", "b": "model_2", "tie": "tie"}
    games = frame.assign(winner=frame["verdict"].map(winners).fillna("error"))
    games = games.pivot(index=[*SIDES, "judge"], columns="order", values="winner").reset_index()
    # The second game has the models in the other order.
    games = games.rename(columns={**GAMES, "ab": "g1_winner", "ba": "g2_winner"})
    people = votes.rename(columns={"item": "question_id", "annotator": "judge"})
    people = people.rename(columns={"responder_a": "model_a", "responder_b": "model_b"})
    people["winner"] = people["label"].map({"a": "model_a", "b": "model_b", "tie": "tie"})
    paths = [tmp_path / f"{name}.jsonl" for name in ("pairs", "votes", "games", "arena")]
    for path, rows in zip(paths, (frame, votes, games, people), strict=True):
        rows.to_json(path, orient="records", lines=True)
    wanted, found = (
        selfpref.read(path, votes=voted).to_dict()["judges"]
        for path, voted in (paths[:2], paths[2:])
    )
    assert list(found) == list(wanted) == list(FOUR)
    for judge, card in wanted.items():
        # The set is no easy one.
        assert card["judge_ties"] * card["human_ties"] * card["no_verdict"] * card["excess"]["n"]
        told = dict(flat(found[judge]))
        for key, value in flat(card):
            if isinstance(value, float):
                np.testing.assert_allclose(told[key], value, atol=2e-6, err_msg=str(key))
            else:
                assert told[key] == value, key


def of(**changed):
    return lines(PAIR, PAIR | {"item": 2} | changed)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("f.csv", TABLE.encode("latin-1"), "f.csv, line 3: 'utf-8' codec"),
        ("f.jsonl", of() + "[1, 2]\n", "f.jsonl, line 3: [1, 2] is not a JSON object"),
        ("f.jsonl", "", "f.jsonl: no record; is the file empty?"),
        ("f.txt", "model;vote\nx;3\n", "f.txt: of no known format; it has the fields 'model'"),
        ("f.jsonl", of(item=1), "f.jsonl, line 2: the same item, pair, judge and order as f.jsonl"),
        ("f.jsonl", of(), "votes.jsonl, line 1: item 'other', as all of the votes, is not among"),
    ],
)
def test_a_bad_file_is_told_where_and_what_to_do(tmp_path, capsys, name, content, told):
    votes, path = tmp_path / "votes.jsonl", tmp_path / name
    votes.write_text(json.dumps(VOTE))
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    more = ["--votes", str(votes)] if told.startswith("votes") else []
    assert main(["measure", str(path), *more]) == 1
    said = capsys.readouterr().err.replace(f"{tmp_path}/", "")
    assert said.startswith(f"error: {told}")
    assert said.count("\n") <= 2


def test_columns_may_have_other_names(tmp_path, mine, capsys):
    other, names = tmp_path / "other.csv", {"item": "qid", "verdict": "winner"}
    pd.read_csv(mine).rename(columns=names).assign(note="x", model="y").to_csv(other, index=False)
    assert numbers(selfpref.read(other, columns=names)) == numbers(selfpref.read(mine))
    assert main(["measure", str(other), "--columns", "item=id"]) == 1
    assert "--columns item=id: no such column; it has qid" in capsys.readouterr().err


def test_standard_input_is_read_and_several_files_are_one_set(tmp_path, mine, monkeypatch):
    wanted, frame = numbers(selfpref.read(mine)), pd.read_csv(mine)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(mine.read_bytes())))
    assert numbers(selfpref.read("-")) == wanted
    parts, half = [tmp_path / "one.csv", tmp_path / "two.jsonl"], frame["item"].lt(10)
    frame[half].to_csv(parts[0], index=False)
    frame[~half].to_json(parts[1], orient="records", lines=True)
    found = selfpref.read(*parts)
    assert numbers(found) == wanted
    assert list(found.to_dict()["made"]["files"]) == ["one.csv", "two.jsonl"]
