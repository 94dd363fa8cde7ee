"""Soft verdicts with an answer key: the reader, on a small release of its layout, and measures."""

import json
from dataclasses import replace
from itertools import product

import llm_sp_release
import numpy as np
import pandas as pd
import pytest
from conftest import entry, lines, pin
from judged_sets import data_set
from llm_sp_release import JUDGES, OPPONENTS, path, row

from selfpref import tables
from selfpref.params import Params
from selfpref.params.studies import Wataoka
from selfpref.params.uses import Label
from selfpref.studies.wataoka import STUDY, keyed
from selfpref.studies.wataoka.labels import label
from selfpref.studies.wataoka.read.releases import llm_sp
from selfpref.tables.schemas import TIE

JUDGE, OTHER = JUDGES[0], OPPONENTS[0]
PLACE = path("math500", JUDGE, OTHER)


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def reading(files, judges=None, **more):
        source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
        asked = entry("wataoka", "llm-sp", judges).model_copy(update=more)
        found = llm_sp("sp", asked, source)
        return {name: tables.validate(frame, name, "sp") for name, frame in found.items()}

    return reading


def test_each_set_of_questions_is_a_data_set_and_each_answer_is_kept_once(read):
    found = read(llm_sp_release.files())
    assert {*found["items"]["item_id"].str.split("/").str[0]} == {"sp-math", "sp-mbpp", "sp-mmlu"}
    assert len(found["items"]) == 12
    assert len(found["responses"]) == len(found["truths"]) == 3 * 3 * 4
    texts = found["responses"].set_index(["item_id", "responder"])["text"]
    assert texts["sp-mmlu/q1", JUDGE] == f"{JUDGE} on 1"


def test_what_is_written_here_is_labelled_by_the_key_of_the_right_answers(
    read, tmp_path, monkeypatch
):
    # The judge is right in the first two questions, the other in the third; in the fourth nobody.
    answers = [("C", "A", True, False), ("C", "C", True, True), ("A", "B", False, True)]
    answers.append(("A", "A", False, False))
    rows = [
        row(n, JUDGE, OTHER)
        | {"assistent_1_answer": f"The answer is {one}", "assistent_1_is_correct": first}
        | {"assistent_2_answer": f"({two})", "assistent_2_is_correct": second}
        for n, (one, two, first, second) in enumerate(answers)
    ]
    found = read({path("mmlu", JUDGE, OTHER): lines(*rows)})
    held = [json.loads(one).get("key") for one in found["items"]["metadata"]]
    assert held == ["C", "C", "B", None]
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    STUDY.write("live", "sp", **found)
    said = {"q0": "(C)", "q1": "I do not know", "q2": "A. is it", "q3": "(A)"}
    mine = [{"item_id": f"sp-mmlu/{n}", "responder": "me", "text": t} for n, t in said.items()]
    STUDY.write("live", "me", responses=tables.fill(mine, "responses", study="wataoka"))
    use = Wataoka.model_construct(label={"sp": Label(source="source.csv", by="key")})
    made = label(Params.model_construct(profile="live", wataoka=use), "sp")
    # No option is named in the second, and no key is known in the fourth.
    rows = made["labels"][["item_id", "responder_a", "responder_b", "label", "annotator"]]
    assert sorted(rows.to_numpy().tolist()) == [
        ["sp-mmlu/q0", "me", JUDGE, "tie", "key"],
        ["sp-mmlu/q0", "me", OTHER, "a", "key"],
        ["sp-mmlu/q2", "me", JUDGE, "tie", "key"],
        ["sp-mmlu/q2", "me", OTHER, "b", "key"],
    ]
    assert made["truths"].set_index("item_id")["score"].to_dict() == {
        "sp-mmlu/q0": 1.0,
        "sp-mmlu/q2": 0.0,
    }


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


def test_what_misleads_in_a_file_is_counted_and_a_row_without_a_score_is_no_tie(read):
    rows = [row(n, JUDGE, OTHER) for n in range(4)]
    rows[0]["game_1_spb_score"] = None
    rows[1]["assistent_1_answer"] = rows[1]["assistent_2_answer"]
    rows[2]["game_1_output"] = "The"
    found = read({PLACE: lines(*rows)})
    told = found["audit"].query(f"file == 'sp-math/{JUDGE}'").set_index("finding")["affected"]
    assert told["order 1: no score"] == told["both texts are the same"] == 1
    assert told["order 1: stored output is no label"] == 1
    assert told["order 2: stored label is not the likeliest"] == 3
    verdict = found["verdicts"].query("item_id == 'sp-math/q0'")
    lost = verdict[[names[0] == JUDGE for names in verdict["candidates"]]].iloc[0]
    assert lost["status"] == "unparsable"
    assert pd.isna(lost["choice"])
    assert lost["probabilities"] is None


def keyed_set():
    """A judge of 8b and one of 2b, each with 12 pairs of every case; the small one reverses."""
    labels, truths, verdicts = [], [], []
    for number, (judge, case) in enumerate(product(("x-8b", "y-2b"), [*keyed.CASES] * 12)):
        pair = {"item": number, "responder_a": judge, "responder_b": "other"}
        label = {1: "a", 0: TIE, -1: "b"}[int(case[0] - case[1])]
        labels.append(pair | {"label": label, "annotator": "key"})
        for who, score in zip((judge, "other"), case, strict=True):
            truths.append({"item": number, "responder": who, "metric": "correct", "score": score})
        # The large one follows itself; the small one, by a hair, the other.
        first, second = ((0.9, 0.1), (0.1, 0.9)) if judge == "x-8b" else ((0.6, 0.4), (0.62, 0.38))
        for names, shares in (((judge, "other"), first), (("other", judge), second)):
            row = {"item_id": f"set/{number}", "judge": judge, "candidates": [*names]}
            row |= {"probabilities": [*shares], "mass": 1.0, "status": "ok"}
            verdicts.append(row | {"choice": names[int(shares[1] > shares[0])]})
    data = data_set(labels=labels, truths=truths)
    soft = tables.fill(verdicts, "verdicts", study="wataoka", order_known=True)
    return replace(data, tables={**data.tables, "verdicts": soft})


def test_what_a_key_says_of_a_judge_that_follows_itself_and_of_one_that_follows_the_order():
    data = keyed_set()
    assert data.keyed
    found = keyed.bias([data]).set_index("judge")
    large, small = found.loc["x-8b"], found.loc["y-2b"]
    assert (large["tp"], large["fn"], large["fp"], large["tn"]) == (12, 0, 12, 0)
    assert (small["tp"], small["fn"], small["fp"], small["tn"]) == (0, 12, 0, 12)
    assert (large["eo"], large["eo_agreed"], small["eo"]) == (1, 1, -1)
    assert (large["dp"], small["dp"]) == (1, -1)
    assert (large["reversal_rate"], small["reversal_rate"]) == (0, 1)
    assert (large["n_agreed"], small["n_agreed"]) == (24, 0)
    # Without any pair in which both orders name one response there is nothing, and no 0.
    assert np.isnan(small["eo_agreed"])
    assert small["few_agreed"]
    assert small["margin_reversed"] == pytest.approx(0.01)
    assert found["accuracy"].eq(0.5).all()
    assert found["size"].tolist() == [8, 2]
    cases = keyed.by_case([data]).set_index(["judge", "case"])
    assert cases.loc[("x-8b", "other alone right"), ["n", "n_own"]].tolist() == [12, 12]
    assert cases.loc["y-2b", "score"].tolist() == pytest.approx([0.49] * 4)


def test_without_a_key_there_is_nothing_and_slopes_need_enough_judges():
    assert keyed.bias([]).empty
    assert keyed.by_case([]).empty
    assert keyed.sizes(keyed.bias([])).empty
    # Nobody has read these texts.
    assert keyed.by_perplexity([keyed_set()]).empty
    rows = pd.DataFrame({"family": list("aabb"), "size": [1, 2, 4, 8], "eo": [0.0, 0.1, 0.2, 0.3]})
    found = keyed.sizes(rows.assign(dataset="d", accuracy=[0.5, 0.7, 0.4, 0.9]))
    raw, given = found.to_dict("records")
    assert raw["slope"] == pytest.approx(0.1)
    # Two judges cannot tell size from accuracy.
    assert np.isnan(given["least"])
