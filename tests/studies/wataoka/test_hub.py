"""Readers of the Hub's dialogues, on parquet files of the same schema that are written here."""

import json
from collections import Counter

import pandas as pd
import pytest
from conftest import pin, reference_files

pytest.importorskip("datasets", reason="the extra `models` is not installed")

from selfpref import tables
from selfpref.params import Dataset
from selfpref.studies.registry import READERS
from selfpref.studies.wataoka import read as releases


def said(*texts):
    return [
        {"content": text, "role": "assistant" if turn % 2 else "user"}
        for turn, text in enumerate(texts)
    ]


def battle(number, **changed):
    """One row of lmsys/chatbot_arena_conversations, with the columns that are read."""
    row = {"question_id": f"{number:032x}", "model_a": "gpt-4", "model_b": "vicuna-13b"}
    row |= {"winner": "model_a", "judge": f"arena_user_{number}", "turn": 1, "language": "English"}
    row["conversation_a"] = said(f"question {number}?", f"four says {number}")
    row["conversation_b"] = said(f"question {number}?", f"vicuna says {number}")
    return row | changed


@pytest.fixture
def read(tmp_path):
    """Read rows through `datasets`, every table validated."""

    def reading(rows, reader="chatbot-arena", split="train", **options):
        folder = tmp_path / "hub" / "data"
        folder.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_parquet(folder / f"{split}-00000-of-00001-cced8514c7ed782a.parquet")
        source = tmp_path / "pinned.csv"
        source.write_text(f"repository,revision,split\n{folder.parent},0123abcd,{split}\n")
        entry = Dataset(study="wataoka", reader=reader, source="pinned.csv", **options)
        found = READERS["wataoka"][reader]("set", entry, source)
        return {name: tables.validate(frame, name, "set") for name, frame in found.items()}

    return reading


def findings(found):
    return dict(zip(found["audit"]["finding"], found["audit"]["affected"], strict=True))


def test_a_vote_is_on_the_last_turn_and_every_turn_is_an_item(read):
    long = {"conversation_a": said("list", "a1", "more", "a2"), "turn": 2, "winner": "model_b"}
    short = {"conversation_a": said("list", "a"), "conversation_b": said("list", "b")}
    found = read(
        [battle(1, conversation_b=said("list", "b1", "more", ""), **long), battle(2, **short)]
    )
    one, two, other = f"set/{1:032x}/1", f"set/{1:032x}/2", f"set/{2:032x}/1"
    items = found["items"].set_index("item_id")
    assert [m["content"] for m in items.loc[two, "messages"]] == ["list", "more"]
    assert json.loads(items.loc[two, "metadata"])["turns"] == 2
    # The same first prompt is one cluster, whoever sent it.
    assert items["cluster"].nunique() == 1
    texts = found["responses"][["item_id", "responder", "text"]].values.tolist()
    assert texts[:2] == [[one, "gpt-4", "a1"], [one, "vicuna-13b", "b1"]]
    assert texts[2:4] == [[two, "gpt-4", "a2"], [two, "vicuna-13b", ""]]
    labels = found["labels"][["item_id", "label", "annotator"]]
    assert labels.values.tolist() == [[two, "b", "arena_user_1"], [other, "a", "arena_user_2"]]


def test_odd_rows_are_counted_and_left_out(read):
    odd = {"winner": "nobody"}, {"model_b": "gpt-4"}, {"conversation_a": said("q", "a", "q")}
    odd += ({"conversation_b": said("another question?", "b")},)
    rows = [battle(number, **changed) for number, changed in enumerate(odd)]
    found = read([*rows, battle(6, turn=3), battle(6, model_a="dolly-v2-12b")])
    assert findings(found) == {"left out: no vote on one dialogue with two models": 4}
    stem = f"set/{6:032x}"
    assert sorted(found["labels"]["item_id"]) == [f"{stem}-2/1", f"{stem}/1"]


def vote(question, turn, **changed):
    """One row of lmsys/mt_bench_human_judgments: both turns, whichever was voted on."""
    texts = ("first?", "x one", "then?", "x two")
    row = {"question_id": question, "model_a": "alpaca-13b", "model_b": "vicuna-13b-v1.2"}
    row |= {"winner": "model_b", "judge": "author_2", "turn": turn}
    row["conversation_a"] = said(*texts)
    row["conversation_b"] = said(*(text.replace("x", "y") for text in texts))
    return row | changed


def test_mt_bench_votes_belong_to_their_turn_and_mathematics_has_references(
    read, tmp_path, monkeypatch
):
    # FastChat's questions and reference answers, in words of this test.
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    files = reference_files({81: "writing", 111: "math"})
    source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "references.csv")
    monkeypatch.setattr(releases, "FASTCHAT", source)
    tie = vote(81, 1, judge="expert_0", winner="tie")
    rows = [vote(81, 2), tie, vote(81, 1, judge="expert_0"), vote(81, 3), vote(111, 2)]
    found = read(rows, "mt-bench-hub", "human")
    items = found["items"].set_index("item_id")
    assert items["cluster"].tolist() == ["set/111"] * 2 + ["set/81"] * 2
    # Writing has an answer in the file as well, which no judge is to read.
    known = items["reference"].dropna().map(json.loads).to_dict()
    both = ["reference 111.1", "reference 111.2"]
    assert known == {"set/111/1": both[:1], "set/111/2": both}
    assert found["labels"][["item_id", "repeat", "label"]].values.tolist() == [
        ["set/111/2", 0, "b"],
        ["set/81/1", 0, "tie"],
        ["set/81/1", 1, "b"],
        ["set/81/2", 0, "b"],
    ]
    responses = found["responses"].set_index(["item_id", "responder"])["text"]
    assert responses["set/81/2", "vicuna-13b-v1.2"] == "y two"
    assert findings(found) == {"left out: no vote on one dialogue with two models": 1}


def test_a_sample_has_as_many_dialogues_of_each_judge_in_any_order(read):
    pairs = [("gpt-4", "vicuna-13b")] * 40 + [("gpt-4", "koala-13b")] * 5 + [("alpaca", "dolly")]
    rows = [battle(number, model_a=one, model_b=other) for number, (one, other) in enumerate(pairs)]

    def drawn(rows, size, **options):
        found = read(rows, sample=size, **options)
        labels = found["labels"]
        counts = Counter([*labels["responder_a"], *labels["responder_b"]])
        return counts, {*labels["item_id"]}, findings(found)

    counts, ids, found = drawn(rows, 7)
    assert (counts.total(), found) == (14, {"left out by `sample`": 39})
    assert drawn(rows[::-1], 7)[1] == ids
    judges = ["koala-13b", "vicuna-13b"]
    counts, _, _ = drawn(rows, 10, judges=judges)
    assert counts == {"gpt-4": 10, "koala-13b": 5, "vicuna-13b": 5}
    assert findings(read(rows, judges=judges)) == {"left out by `judges`": 1}
