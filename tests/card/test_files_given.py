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
# These do not say which response was read first.
WITHOUT_ORDER = ("arena", "alpaca-eval")
POSITION = ("first_position", "flips", "reversals")
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


@pytest.fixture(scope="module")
def judged():
    """Verdicts, ties and missing ones among them, as the first was read first, and votes."""
    frame = judgments(items=40, judges=FOUR, responders=FOUR)
    votes = frame[[*SIDES, "annotator", "label"]].drop_duplicates().astype({"item": "str"})
    votes.loc[votes.index[::4], "label"] = "tie"
    turned, verdict = frame["order"].eq("ba"), frame["verdict"].copy()
    swapped = frame.rename(columns={"responder_a": "responder_b", "responder_b": "responder_a"})
    said = frame.where(~turned, swapped)[[*SIDES, "judge"]].astype({"item": "str"})
    verdict = verdict.where(~turned, verdict.map({"a": "b", "b": "a"}))
    verdict[frame.index % 11 == 0] = "tie"
    verdict[frame.index % 13 == 0] = None
    return said.assign(verdict=verdict), votes.rename(columns={"annotator": "judge"})


def arena(rows, said):
    winner = rows[said].map({"a": "model_a", "b": "model_b", "tie": "tie"})
    names = dict(zip(SIDES, ("question_id", "model_a", "model_b"), strict=True))
    return rows.rename(columns=names).assign(winner=winner)


def alpaca_eval(rows, said):
    preference = rows[said].map({"a": 1, "b": 2, "tie": 1.5})
    names = dict(zip(SIDES, ("instruction", "generator_1", "generator_2"), strict=True))
    return rows.rename(columns={**names, "judge": "annotator"}).assign(preference=preference)


def fastchat(rows, said):
    first = rows["responder_a"] < rows["responder_b"]
    games = arena(rows, said).rename(columns={"model_a": "model_1", "model_b": "model_2"})
    games["winner"] = games["winner"].str.replace("_a", "_1").str.replace("_b", "_2")
    one, two = (
        games[first],
        games[~first].rename(columns={"model_1": "model_2", "model_2": "model_1"}),
    )
    two["winner"] = two["winner"].map({"model_1": "model_2", "model_2": "model_1", "tie": "tie"})
    both = one.merge(two, on=["question_id", "model_1", "model_2", "judge"], suffixes=("_1", "_2"))
    told = both.rename(columns={"winner_1": "g1_winner", "winner_2": "g2_winner"})
    return told.fillna({"g1_winner": "error", "g2_winner": "error"})


def written(form, judged, folder):
    """The files of one format: judgments, and votes where they are a file of their own."""
    (verdicts, votes), kind = judged, {"orient": "records", "lines": form != "alpaca-eval"}
    paths = folder / "set.jsonl", folder / "votes.jsonl"
    if form == "pairs":
        verdicts.assign(order="ab").to_json(paths[0], **kind)
        votes.rename(columns={"judge": "annotator"}).to_json(paths[1], **kind)
    elif form == "reviews":
        people = votes.assign(judge="human").rename(columns={"label": "verdict"})
        every = pd.concat([verdicts, people])
        score = every["verdict"].map({"a": 1, "b": 2, "tie": 3}).fillna(-1)
        rows = every.assign(question_id=every["item"], score=score)
        for (one, two, judge), part in rows.groupby(["responder_a", "responder_b", "judge"]):
            path = folder / f"ratings-{judge}/answer_{one}-vs-answer_{two}-{judge}-reviewer.jsonl"
            path.parent.mkdir(exist_ok=True)
            part[["question_id", "score"]].to_json(path, **kind)
        return folder, None
    else:
        make = {"arena": arena, "alpaca-eval": alpaca_eval, "fastchat": fastchat}[form]
        make(verdicts, "verdict").to_json(paths[0], **kind)
        (arena if form == "fastchat" else make)(votes, "label").to_json(paths[1], **kind)
    return paths


def test_a_file_given_twice_counts_nothing_twice(tmp_path, capsys):
    (path := tmp_path / "f.csv").write_text(TABLE)
    for given in ([str(path), str(path)], [str(path), "--votes", str(path)]):
        assert main(["measure", *given]) == 1
        assert "f.csv: given twice, so that all in it would count twice" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["fastchat", "arena", "alpaca-eval", "reviews"])
def test_every_format_gives_the_same_numbers(form, judged, tmp_path):
    found = []
    for name in ("pairs", form):
        (tmp_path / name).mkdir()
        path, votes = written(name, judged, tmp_path / name)
        found.append(selfpref.read(path, votes=votes).to_dict()["judges"])
    wanted, found = found
    assert list(found) == list(wanted) == list(FOUR)
    for judge, card in wanted.items():
        # The set is no easy one.
        assert card["judge_ties"] * card["human_ties"] * card["no_verdict"] * card["excess"]["n"]
        told = dict(flat(found[judge]))
        for key, value in flat(card):
            if form in WITHOUT_ORDER and key[0] in POSITION:
                assert told[key] == (0 if key[1] == "n" else None), key
            elif form in WITHOUT_ORDER and key == ("latent_quality", "value"):
                # It reads the place where it is known.
                assert told[key] == pytest.approx(value, abs=0.03), key
            elif form in WITHOUT_ORDER and key[0] == "latent_quality":
                continue
            elif isinstance(value, float):
                np.testing.assert_allclose(told[key], value, atol=2e-6, err_msg=str(key))
            else:
                assert told[key] == value, key
        if form in WITHOUT_ORDER:
            assert "which response was read first" in found[judge]["flips"]["reason"]


def of(**changed):
    return lines(PAIR, PAIR | {"item": 2} | changed)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("f.csv", TABLE.encode("latin-1"), ", line 3: 'utf-8' codec"),
        ("f.json", "[" + ",\n".join(of().splitlines()), ", line 2: Expecting ',' delimiter"),
        ("f.jsonl", of()[:-9], ", line 2: Unterminated string"),
        ("f.jsonl", of() + "[1, 2]\n", ", line 3: [1, 2] is not a JSON object"),
        ("f.jsonl", "", ": no record; is the file empty?"),
        ("f.jsonl", of(judge={"name": "gpt-4"}), ", line 2: judge {'name': 'gpt-4'}; give a text"),
        ("f.txt", "model;vote\nx;3\n", ": of no known format; it has the fields 'model', 'vote'\n"),
        ("f.jsonl", of(item=1), ", line 2: the same item, pair, judge and order as f.jsonl, line"),
        ("f.jsonl", of(), "item 'other', as all of the votes, is not among the judgments"),
    ],
)
def test_a_bad_file_is_told_where_and_what_to_do(tmp_path, capsys, name, content, told):
    votes, path = tmp_path / "votes.jsonl", tmp_path / name
    votes.write_text(json.dumps(VOTE))
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    more = ["--votes", str(votes)] if told.startswith("item") else []
    wanted = f"votes.jsonl, line 1: {told}" if more else f"{name}{told}"
    assert main(["measure", str(path), *more]) == 1
    said = capsys.readouterr().err.replace(f"{tmp_path}/", "")
    assert said.startswith(f"error: {wanted}")
    assert said.count("\n") <= 2


def test_columns_may_have_other_names_and_others_are_named_once(tmp_path, mine, capsys):
    other, names = tmp_path / "other.csv", {"item": "qid", "verdict": "winner"}
    pd.read_csv(mine).rename(columns=names).assign(note="x", model="y").to_csv(other, index=False)
    assert numbers(selfpref.read(other, columns=names)) == numbers(selfpref.read(mine))
    assert capsys.readouterr().err == "other.csv: not read: model, note\n"
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
