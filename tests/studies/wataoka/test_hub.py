"""Readers of the Hub's dialogues, on parquet files of the same schema that are written here."""

import json
from collections import Counter

import pandas as pd
import pytest
from conftest import pin, reference_files

pytest.importorskip("datasets", reason="the extra `models` is not installed")

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.params import Dialogues
from selfpref.studies.registry import READERS
from selfpref.studies.wataoka.read import hub

CATEGORIES = ("harassment", "harassment/threatening", "hate", "self-harm", "sexual/minors")


def said(*texts):
    return [
        {"content": text, "role": "assistant" if turn % 2 else "user"}
        for turn, text in enumerate(texts)
    ]


def battle(number, **changed):
    """One row of lmsys/chatbot_arena_conversations, with every column of the real set."""
    row = {
        "question_id": f"{number:032x}",
        "model_a": "gpt-4",
        "model_b": "vicuna-13b",
        "winner": "model_a",
        "judge": f"arena_user_{number}",
        "conversation_a": said(f"question {number}?", f"four says {number}"),
        "conversation_b": said(f"question {number}?", f"vicuna says {number}"),
        "turn": 1,
        "anony": True,
        "language": "English",
        "tstamp": 1682351591.1322,
        "openai_moderation": {
            "categories": dict.fromkeys(CATEGORIES, False),
            "category_scores": dict.fromkeys(CATEGORIES, 0.001),
            "flagged": False,
        },
        "toxic_chat_tag": {
            "roberta-large": {"flagged": False, "probability": 0.01},
            "t5-large": {"flagged": False, "score": 0.01},
        },
    }
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
        entry = Dialogues(study="wataoka", reader=reader, source="pinned.csv", **options)
        found = READERS["wataoka"][reader]("set", entry, source)
        return {name: tables.validate(frame, name, "set") for name, frame in found.items()}

    return reading


def findings(found):
    return dict(zip(found["audit"]["finding"], found["audit"]["affected"], strict=True))


def test_a_vote_is_on_the_last_turn_and_every_turn_is_an_item(read):
    rows = [
        battle(
            1,
            conversation_a=said("list", "a1", "more", "a2"),
            conversation_b=said("list", "b1", "more", ""),
            turn=2,
            winner="model_b",
        ),
        battle(2, conversation_a=said("list", "a"), conversation_b=said("list", "b")),
    ]
    found = read(rows)
    stem = f"set/{1:032x}"
    items = found["items"].set_index("item_id")
    assert [m["content"] for m in items.loc[f"{stem}/2", "messages"]] == ["list", "more"]
    assert json.loads(items.loc[f"{stem}/2", "metadata"])["turns"] == 2
    # The same first prompt is one cluster, whoever sent it.
    assert items["cluster"].nunique() == 1
    responses = found["responses"].set_index(["item_id", "responder"])["text"].to_dict()
    assert responses[f"{stem}/1", "vicuna-13b"] == "b1"
    assert responses[f"{stem}/2", "gpt-4"] == "a2"
    labels = found["labels"].set_index("item_id")
    assert list(labels.index) == [f"{stem}/2", f"set/{2:032x}/1"]
    assert labels.loc[f"{stem}/2", "label"] == "b"
    assert labels.loc[f"{stem}/2", "annotator"] == "arena_user_1"
    assert findings(found) == {"kept: empty answers": 1}


def test_both_kinds_of_tie_are_ties(read):
    winners = ["model_a", "model_b", "tie", "tie (bothbad)"]
    rows = [battle(number, winner=winner) for number, winner in enumerate(winners)]
    assert list(read(rows)["labels"]["label"]) == ["a", "b", "tie", "tie"]
    dropped = read(rows, ties="drop")
    assert list(dropped["labels"]["label"]) == ["a", "b"]
    assert findings(dropped) == {"left out by `ties`": 2}


def test_language_turns_and_moderation_are_parameters(read):
    flagged = {"categories": {}, "category_scores": {}, "flagged": True}
    toxic = {"roberta-large": {"flagged": False}, "t5-large": {"flagged": True}}
    two = {"conversation_a": said("q", "a", "q", "a"), "conversation_b": said("q", "b", "q", "b")}
    rows = [
        battle(0),
        battle(1, language="German"),
        battle(2, **two, turn=2),
        battle(3, openai_moderation=flagged),
        battle(4, toxic_chat_tag=toxic),
    ]
    options = {"languages": ["English"], "turns": "single", "moderation": ["openai", "t5-large"]}
    found = read(rows, **options)
    assert list(found["labels"]["annotator"]) == ["arena_user_0"]
    assert findings(found) == {
        "left out by `languages`": 1,
        "left out by `turns`": 1,
        "left out by `moderation`: openai": 1,
        "left out by `moderation`: t5-large": 1,
    }
    assert len(read(rows, turns="multi")["labels"]) == 1
    assert len(read(rows)["labels"]) == 5


def test_odd_rows_are_counted_and_left_out_or_kept(read):
    rows = [
        battle(0, winner="nobody"),
        battle(1, model_b="gpt-4"),
        battle(2, conversation_a=said("q", "a", "q")),
        battle(3, conversation_b=said("another question?", "b")),
        battle(4, conversation_a=[]),
        battle(5, conversation_a=[{"role": "user", "content": "question 5?"}] * 2),
        battle(6, turn=3),
        battle(6, model_a="dolly-v2-12b"),
    ]
    found = read(rows)
    assert findings(found) == {
        "left out: unknown winner": 1,
        "left out: both responses of one model": 1,
        "left out: roles do not alternate, or a text is missing": 3,
        "left out: the user's turns differ between the models": 1,
        "kept: `turn` is not the number of turns": 1,
        "kept: question_id of an earlier row": 1,
    }
    assert set(found["audit"]["rows"]) == {8}
    stem = f"set/{6:032x}"
    assert sorted(found["labels"]["item_id"]) == [f"{stem}-2/1", f"{stem}/1"]


def test_a_sample_is_the_same_in_any_order(read):
    rows = [battle(number) for number in range(30)]
    drawn = read(rows, sample=7)
    assert len(drawn["labels"]) == 7
    assert findings(drawn) == {"left out by `sample`": 23}
    again = read(rows[::-1], sample=7)
    pd.testing.assert_frame_equal(drawn["labels"], again["labels"])


def vote(question, turn, **changed):
    """One row of lmsys/mt_bench_human_judgments: both turns, whichever was voted on."""
    texts = ("first?", "x one", "then?", "x two")
    row = {
        "question_id": question,
        "model_a": "alpaca-13b",
        "model_b": "vicuna-13b-v1.2",
        "winner": "model_b",
        "judge": "author_2",
        "conversation_a": said(*texts),
        "conversation_b": said(*(text.replace("x", "y") for text in texts)),
        "turn": turn,
    }
    return row | changed


@pytest.fixture
def references(tmp_path, monkeypatch):
    """FastChat's questions and reference answers, in words of this test."""
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    files = reference_files({81: "writing", 111: "math"})
    source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "references.csv")
    monkeypatch.setattr(hub, "FASTCHAT", source)


def test_mathematics_has_a_reference_answer_for_every_turn(read, references):
    found = read([vote(81, 2), vote(111, 1), vote(111, 2)], "mt-bench-hub", "human")
    items = found["items"].set_index("item_id")
    assert items["category"].to_dict() == {
        "set/81/1": "writing",
        "set/81/2": "writing",
        "set/111/1": "math",
        "set/111/2": "math",
    }
    # Writing has an answer in the file as well, which no judge is to read.
    assert items.loc[["set/81/1", "set/81/2"], "reference"].isna().all()
    assert json.loads(items.loc["set/111/1", "reference"]) == ["reference 111.1"]
    assert json.loads(items.loc["set/111/2", "reference"]) == ["reference 111.1", "reference 111.2"]


def test_mt_bench_votes_belong_to_their_turn(read, references):
    rows = [
        vote(81, 2),
        vote(81, 1, judge="expert_0", winner="tie"),
        vote(81, 1, judge="expert_0"),
        vote(81, 3),
    ]
    found = read(rows, "mt-bench-hub", "human")
    assert list(found["items"]["item_id"]) == ["set/81/1", "set/81/2"]
    assert set(found["items"]["cluster"]) == {"set/81"}
    assert {json.loads(entry)["turns"] for entry in found["items"]["metadata"]} == {2}
    labels = found["labels"]
    assert list(labels["item_id"]) == ["set/81/1", "set/81/1", "set/81/2"]
    assert list(labels["repeat"]) == [0, 1, 0]
    responses = found["responses"].set_index(["item_id", "responder"])["text"]
    assert responses["set/81/2", "vicuna-13b-v1.2"] == "y two"
    assert findings(found) == {"left out: a vote on a turn that is not there": 1}
    first = read(rows, "mt-bench-hub", "human", turns="single", ties="drop")
    assert list(first["items"]["item_id"]) == ["set/81/1"]
    assert Counter(first["labels"]["label"]) == {"b": 1}


def test_a_set_without_a_column_is_not_the_pinned_one(read):
    with pytest.raises(SelfprefError, match="no column 'winner'"):
        read([{key: value for key, value in battle(1).items() if key != "winner"}])


def test_a_sample_has_as_many_dialogues_of_each_judge(read):
    pairs = [("gpt-4", "vicuna-13b")] * 40 + [("gpt-4", "koala-13b")] * 5 + [("alpaca", "dolly")]
    rows = [battle(number, model_a=one, model_b=other) for number, (one, other) in enumerate(pairs)]

    def drawn(size, **options):
        found = read(rows, sample=size, **options)["labels"]
        return Counter([*found["responder_a"], *found["responder_b"]]), {*found["item_id"]}

    judges = ["koala-13b", "vicuna-13b"]
    counts, ids = drawn(10, judges=judges)
    assert counts == {"gpt-4": 10, "koala-13b": 5, "vicuna-13b": 5}
    assert ids < drawn(20, judges=judges)[1]
    found = read(rows, judges=judges)
    assert findings(found)["left out by `judges`"] == 1
    assert len(found["labels"]) == 45
    with pytest.raises(SelfprefError, match=r"datasets\.set\.judges: 'koala' is unknown; choose"):
        read(rows, judges=["koala"])
