"""Readers of pairs on small releases of the same layout: MT-Bench, Vicuna-80, Arena battles."""

import json

import elobench_release
import llm_sp_release
import pandas as pd
import pytest
from conftest import STAGED, entry, lines, mt_bench_files, pin, vicuna80_files
from elobench_release import LEFT_OUT, N_BATTLES, battle
from llm_sp_release import JUDGES, OPPONENTS, path, row

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.params import Params
from selfpref.params.studies import Wataoka
from selfpref.params.uses import Label
from selfpref.studies.wataoka import STUDY
from selfpref.studies.wataoka import read as releases
from selfpref.studies.wataoka.labels import label
from selfpref.studies.wataoka.read import elobench, llm_sp, mt_bench, vicuna80

JUDGE, OTHER = JUDGES[0], OPPONENTS[0]
PLACE = path("math500", JUDGE, OTHER)
BATTLES = elobench_release.files(*elobench_release.rows())


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a release from its files, every table validated."""
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def reading(reader, files, *judges):
        source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
        found = reader("set", entry("wataoka", "mt-bench", list(judges) or None), source)
        return {name: tables.validate(frame, name, "set") for name, frame in found.items()}

    return reading


def test_mt_bench_turns_are_items_of_one_cluster(read):
    items = read(mt_bench, mt_bench_files(2))["items"].set_index("item_id")
    assert list(items.index) == ["set/81/1", "set/81/2", "set/82/1", "set/82/2"]
    assert items.loc["set/81/2", "cluster"] == items.loc["set/81/1", "cluster"] == "set/81"
    assert [m["content"] for m in items.loc["set/81/2", "messages"]] == ["first?", "then?"]


def test_mt_bench_each_file_orients_a_pair_its_own_way_and_merged_orders_are_unknown(read):
    files, row = mt_bench_files(1), {"question_id": 81, "turn": 1}
    vote = row | {"judge": "expert_0", "model_a": "gpt-4", "model_b": "x"}
    files[releases.MT_VOTES] = lines(vote | {"winner": "model_b"}, vote | {"winner": "tie"})
    verdict = row | {"judge": "gpt4_pair", "model_b": "gpt-4"}
    files[releases.MT_VERDICTS] = lines(
        verdict | {"model_a": "x", "winner": "model_b"},
        verdict | {"model_a": "y", "winner": "tie (inconsistent)"},
    )
    found = read(mt_bench, files)
    # A second vote of one annotator is kept, and an inconsistent tie is a tie.
    labels = found["labels"][["responder_a", "responder_b", "label", "repeat"]]
    assert labels.values.tolist() == [["gpt-4", "x", "b", 0], ["gpt-4", "x", "tie", 1]]
    verdicts = found["verdicts"][["judge", "candidates", "choice", "order_known"]]
    assert verdicts.values.tolist() == [
        ["gpt-4", ["x", "gpt-4"], "gpt-4", False],
        ["gpt-4", ["y", "gpt-4"], "tie", False],
    ]


def test_vicuna80_takes_the_order_from_the_file_name_and_leaves_out_an_earlier_run(read):
    files = {k: v for k, v in vicuna80_files(1).items() if "ratings-" not in k}
    for name, score in (
        ("ratings-gpt4/answer_bard-vs-answer_gpt4-gpt4-reviewer_threeclass", 1),
        ("ratings-gpt4/answer_gpt4-vs-answer_bard-gpt4-reviewer-threeclass", 3),
        ("ratings-gpt35/answer-gpt35-vs-answer-gpt4-gpt35-reviewer", 2),
    ):
        files[f"data/vicuna80/{name}.jsonl"] = lines({"question_id": 1, "score": score})
    verdicts = read(vicuna80, files)["verdicts"]
    assert list(verdicts["candidates"]) == [["bard", "gpt-4"], ["gpt-4", "bard"]]
    assert list(verdicts["choice"]) == ["bard", "tie"]
    found = read(vicuna80, vicuna80_files(2), "bard")
    assert set(found["verdicts"]["judge"]) == {"bard"}
    assert len(found["labels"]) == 2 * 10 * 3
    assert found["items"]["category"].tolist() == ["generic"] * 2


def test_an_unknown_judge_is_named(read):
    wanted = r"datasets\.set\.judges: 'nobody' is unknown; choose of gpt-4"
    for reader, files in ((mt_bench, mt_bench_files(1)), (elobench, BATTLES)):
        with pytest.raises(SelfprefError, match=wanted):
            read(reader, files, "gpt-4", "nobody")


def test_every_battle_has_a_label_and_verdicts_meet_their_battles(read):
    found = read(elobench, BATTLES)
    assert len(found["labels"]) == len(found["items"]) == N_BATTLES
    texts = found["responses"]
    number = texts["item_id"].str.removeprefix("set/")
    assert texts["text"].eq(texts["responder"] + " on " + number).all()
    audit = found["audit"].set_index("finding")["affected"]
    assert len(found["verdicts"]) == audit["both models are those of the battle"] == 2008
    judged = set(found["verdicts"]["item_id"].str.removeprefix("set/").astype(int))
    assert set(range(2011)) - judged == LEFT_OUT


def test_a_tie_of_any_kind_is_a_tie_what_cannot_be_read_is_missing_and_a_question_a_cluster(read):
    human, judged = elobench_release.rows()
    human[1]["winner"] = "tie (bothbad)"
    for number, winner in enumerate(("tie(all bad)", "tie", "", "invalid", "model_a")):
        judged[number]["winner"] = winner
    judged[7]["question"] = judged[2]["question"]
    found = read(elobench, elobench_release.files(human, judged))
    first = found["verdicts"].set_index("item_id").loc[[f"set/{row}" for row in range(5)]]
    assert first["status"].tolist() == ["ok", "ok", "unparsable", "unparsable", "ok"]
    assert first["choice"].fillna("").tolist() == ["tie", "tie", "", "", battle(4)[0]]
    assert found["labels"].set_index("item_id")["label"]["set/1"] == "tie"
    clusters = found["items"].set_index("item_id")["cluster"]
    assert clusters["set/7"] == clusters["set/2"] != clusters["set/3"]


def test_each_set_of_questions_is_a_data_set_and_each_answer_is_kept_once(read):
    found = read(llm_sp, llm_sp_release.files())
    assert {*found["items"]["item_id"].str.split("/").str[0]} == {
        "set-math",
        "set-mbpp",
        "set-mmlu",
    }
    assert len(found["items"]) == 12
    assert len(found["responses"]) == len(found["truths"]) == 3 * 3 * 4
    texts = found["responses"].set_index(["item_id", "responder"])["text"]
    assert texts["set-mmlu/q1", JUDGE] == f"{JUDGE} on 1"


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
    found = read(llm_sp, {path("mmlu", JUDGE, OTHER): lines(*rows)})
    held = [json.loads(one).get("key") for one in found["items"]["metadata"]]
    assert held == ["C", "C", "B", None]
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    STUDY.write("live", "sp", **found)
    said = {"q0": "(C)", "q1": "I do not know", "q2": "A. is it", "q3": "(A)"}
    mine = [{"item_id": f"set-mmlu/{n}", "responder": "me", "text": t} for n, t in said.items()]
    STUDY.write("live", "me", responses=tables.fill(mine, "responses", study="wataoka"))
    use = Wataoka.model_construct(label={"sp": Label(source="source.csv", by="key")})
    made = label(Params.model_construct(profile="live", wataoka=use), "sp")
    # No option is named in the second, and no key is known in the fourth.
    rows = made["labels"][["item_id", "responder_a", "responder_b", "label", "annotator"]]
    assert sorted(rows.to_numpy().tolist()) == [
        ["set-mmlu/q0", "me", JUDGE, "tie", "key"],
        ["set-mmlu/q0", "me", OTHER, "a", "key"],
        ["set-mmlu/q2", "me", JUDGE, "tie", "key"],
        ["set-mmlu/q2", "me", OTHER, "b", "key"],
    ]
    assert made["truths"].set_index("item_id")["score"].to_dict() == {
        "set-mmlu/q0": 1.0,
        "set-mmlu/q2": 0.0,
    }


def test_the_key_prefers_the_right_answer_and_truths_tell_two_right_from_two_wrong(read):
    found = read(llm_sp, {PLACE: lines(*(row(n, JUDGE, OTHER) for n in range(4)))})
    labels = found["labels"]
    assert labels["label"].tolist() == ["a", "b", "tie", "tie"]
    assert {*labels["annotator"]} == {"key"}
    assert {*labels["responder_a"]} == {JUDGE}
    truths = found["truths"].set_index(["item_id", "responder"])["score"]
    assert truths["set-math/q2", JUDGE] == truths["set-math/q2", OTHER] == 1
    assert truths["set-math/q3", JUDGE] == truths["set-math/q3", OTHER] == 0


def test_probabilities_stand_by_the_texts_as_each_order_has_them(read):
    found = read(llm_sp, {PLACE: lines(*(row(n, JUDGE, OTHER) for n in range(4)))})["verdicts"]
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
    found = read(llm_sp, {PLACE: lines(*rows)})
    told = found["audit"].query(f"file == 'set-math/{JUDGE}'").set_index("finding")["affected"]
    assert told["order 1: no score"] == told["both texts are the same"] == 1
    assert told["order 1: stored output is no label"] == 1
    assert told["order 2: stored label is not the likeliest"] == 3
    verdict = found["verdicts"].query("item_id == 'set-math/q0'")
    lost = verdict[[names[0] == JUDGE for names in verdict["candidates"]]].iloc[0]
    assert lost["status"] == "unparsable"
    assert pd.isna(lost["choice"])
    assert lost["probabilities"] is None


def test_released_numbers_in_git():
    """What the recorded profile last wrote holds the numbers of the study's own count."""
    table = pd.read_csv(STAGED / "figures/recorded/wataoka/fig1b_bias.csv")
    rows = table.set_index(["dataset", "judge"])[["tp", "fn", "fp", "tn", "eo"]].round(3)
    assert list(rows.loc[("mt-bench", "gpt-4")]) == [330, 12, 57, 15, 0.757]
    assert list(rows.loc[("vicuna80", "gpt-4")]) == [208, 7, 27, 2, 0.898]
    checks = pd.read_csv(STAGED / "figures/recorded/wataoka/checks.csv")
    agreed = checks[checks["item"].eq("agreement")]["recomputed"]
    assert list(agreed.round(3)) == [0.660, 0.846, 0.657, 0.846]
    assert (checks[checks["item"].eq("win rate")]["difference"].abs() < 1e-12).all()
