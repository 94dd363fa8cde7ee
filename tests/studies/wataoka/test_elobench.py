"""The reader of Chatbot Arena's battles with GPT-4's verdicts, on a small release of its layout."""

import elobench_release
import pandas as pd
import pytest
from conftest import entry, pin
from elobench_release import LEFT_OUT, N_BATTLES, battle

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.studies.wataoka.read import elobench


@pytest.fixture
def release():
    """Every vote and verdict is for `model_a` and `model_b`."""
    human, judged = elobench_release.rows()
    for row in human:
        row["winner"] = "model_a"
    for row in judged:
        row["winner"] = "model_b"
    return human, judged


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def reading(human, judged, judges=("gpt-4",)):
        files = elobench_release.files(human, judged)
        source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
        found = elobench.read("set", entry("wataoka", "elobench", list(judges)), source)
        return {name: tables.validate(frame, name, "set") for name, frame in found.items()}

    return reading


def test_every_battle_has_a_label_and_verdicts_meet_their_battles(read, release):
    found = read(*release)
    assert len(found["labels"]) == len(found["items"]) == N_BATTLES
    assert len(found["verdicts"]) == 2008
    texts = found["responses"]
    number = texts["item_id"].str.removeprefix("set/")
    assert texts["text"].eq(texts["responder"] + " on " + number).all()
    audit = found["audit"].set_index("finding")["affected"]
    assert audit["both models are those of the battle"] == 2008
    judged = set(found["verdicts"]["item_id"].str.removeprefix("set/").astype(int))
    assert set(range(2011)) - judged == LEFT_OUT


def test_a_tie_of_any_kind_is_a_tie_and_what_cannot_be_read_is_missing(read, release):
    human, judged = release
    human[1]["winner"] = "tie (bothbad)"
    for row, winner in enumerate(("tie(all bad)", "tie", "", "invalid", "model_a")):
        judged[row]["winner"] = winner
    found = read(human, judged)
    verdicts = found["verdicts"].set_index("item_id")
    first = [verdicts.loc[f"set/{row}"] for row in range(5)]
    assert [row["choice"] for row in first[:2]] == ["tie", "tie"]
    assert [row["status"] for row in first] == ["ok", "ok", "unparsable", "unparsable", "ok"]
    assert pd.isna(first[2]["choice"])
    assert first[4]["choice"] == battle(4)[0]
    labels = found["labels"].set_index("item_id")["label"]
    assert (labels["set/0"], labels["set/1"]) == ("a", "tie")
    audit = found["audit"].set_index("finding")["affected"]
    assert audit["verdict that cannot be read"] == 2


def test_a_question_that_is_asked_again_is_one_cluster_and_counted(read, release):
    human, judged = release
    judged[7]["question"] = judged[2]["question"]
    found = read(human, judged)
    clusters = found["items"].set_index("item_id")["cluster"]
    assert clusters["set/7"] == clusters["set/2"] != clusters["set/3"]
    assert clusters["set/2011"] == "set/2011"
    audit = found["audit"].set_index("finding")["affected"]
    assert audit["question of an earlier battle"] == 1


def test_what_is_odd_in_a_release_is_counted(read, release):
    human, judged = release
    judged[1500]["model_a"] = "gpt-3.5-turbo"
    for row in (2, 7):
        judged[row] |= {"question": "the same", "model_a": "koala-13b", "model_b": f"other {row}"}
    audit = read(human, judged)["audit"].set_index("finding")["affected"]
    assert audit["both models are those of the battle"] == 2005
    told = "a response of this question and model stands in several battles"
    assert audit[told] == 2


def test_an_unknown_judge_is_refused(read, release):
    with pytest.raises(SelfprefError, match="choose of gpt-4"):
        read(*release, judges=["claude-v1"])
