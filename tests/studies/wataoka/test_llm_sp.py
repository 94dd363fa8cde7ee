"""The reader of soft verdicts with answer keys, on a small release of its layout."""

import llm_sp_release
import pandas as pd
import pytest
from conftest import entry, lines, pin
from llm_sp_release import JUDGES, OPPONENTS, path, row

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.studies.wataoka.read import llm_sp

JUDGE, OTHER = JUDGES[0], OPPONENTS[0]
PLACE = path("math500", JUDGE, OTHER)


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def reading(files, judges=None):
        source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
        found = llm_sp.read("sp", entry("wataoka", "llm-sp", judges), source)
        return {name: tables.validate(frame, name, "sp") for name, frame in found.items()}

    return reading


def audit(found):
    rows = found["audit"].query(f"file == 'sp-math/{JUDGE}'")
    return rows.set_index("finding")["affected"].to_dict()


def test_each_set_of_questions_is_a_data_set_and_each_answer_is_kept_once(read):
    found = read(llm_sp_release.files())
    assert {*found["items"]["item_id"].str.split("/").str[0]} == {"sp-math", "sp-mbpp", "sp-mmlu"}
    assert len(found["items"]) == 12
    assert len(found["responses"]) == len(found["truths"]) == 3 * 3 * 4
    texts = found["responses"].set_index(["item_id", "responder"])["text"]
    assert texts["sp-mmlu/q1", JUDGE] == f"{JUDGE} on 1"


def test_the_key_prefers_the_right_answer_and_truths_tell_two_right_from_two_wrong(read):
    found = read({PLACE: lines(*(row(n, JUDGE, OTHER) for n in range(4)))})
    labels = found["labels"]
    assert labels["label"].tolist() == ["a", "b", "tie", "tie"]
    assert {*labels["annotator"]} == {"key"}
    assert {*labels["responder_a"]} == {JUDGE}
    truths = found["truths"].set_index(["item_id", "responder"])["score"]
    assert truths["sp-math/q2", JUDGE] == truths["sp-math/q2", OTHER] == 1
    assert truths["sp-math/q3", JUDGE] == truths["sp-math/q3", OTHER] == 0


def test_probabilities_stand_by_the_texts_as_each_order_has_them(read):
    found = read({PLACE: lines(*(row(n, JUDGE, OTHER) for n in range(4)))})["verdicts"]
    assert found["order_known"].all()
    told = {
        (one["item_id"][-2:], one["candidates"][0]): (one["probabilities"], one["choice"])
        for one in found.to_dict("records")
    }
    assert told["q0", JUDGE] == ([0.75, 0.25], JUDGE)
    # Swapped, B is the judge's own.
    assert told["q0", OTHER] == ([0.25, 0.75], JUDGE)
    assert told["q1", OTHER] == ([0.75, 0.125], OTHER)
    assert told["q2", JUDGE] == ([0.25, 0.25], "tie")
    assert (found["mass"] == 1).all()


def test_what_misleads_is_counted(read):
    rows = [row(n, JUDGE, OTHER) for n in range(4)]
    rows[1]["assistent_1_answer"] = rows[1]["assistent_2_answer"]
    rows[2]["game_1_output"] = "The"
    rows[3] |= {"game_1_output": "T"}
    assert audit(read({PLACE: lines(*rows)})) == {
        "both texts are the same": 1,
        "order 1: stored output is no label": 1,
        "order 1: next to nothing for either response": 1,
        "order 2: stored label is not the likeliest": 3,
    }


def test_a_file_without_stored_outputs_is_read_and_counted(read):
    rows = [row(n, JUDGE, OTHER) for n in range(4)]
    bare = [{name: one[name] for name in one if not name.endswith("_output")} for one in rows]
    found = audit(read({PLACE: lines(*bare)}))
    assert found["order 1: no stored output"] == found["order 2: no stored output"] == 4


def test_a_row_without_a_score_is_missing_and_counted_and_no_tie(read):
    rows = [row(n, JUDGE, OTHER) for n in range(4)]
    rows[0]["game_1_spb_score"] = None
    found = read({PLACE: lines(*rows)})
    assert audit(found)["order 1: no score"] == 1
    verdict = found["verdicts"].query("item_id == 'sp-math/q0'")
    lost = verdict[[names[0] == JUDGE for names in verdict["candidates"]]].iloc[0]
    assert lost["status"] == "unparsable"
    assert pd.isna(lost["choice"])
    assert lost["probabilities"] is None


def test_only_the_judges_wanted_are_read_and_an_unknown_one_is_refused(read):
    files = llm_sp_release.files()
    assert {*read(files, [JUDGE])["verdicts"]["judge"]} == {JUDGE}
    with pytest.raises(SelfprefError, match=r"choose of gemma-2-9b, llama-3\.1-8b"):
        read(files, ["gemma"])


def test_a_changed_file_is_named_with_the_remedy(read, tmp_path):
    files = llm_sp_release.files()
    read(files)
    (changed,) = (tmp_path / "mirror").rglob(PLACE)
    changed.write_text(changed.read_text().replace("0.75", "0.25", 1))
    with pytest.raises(SelfprefError, match=rf"{PLACE}: sha256 .*unpack the mirror again"):
        llm_sp.read("sp", entry("wataoka", "llm-sp", None), tmp_path / "source.csv")
