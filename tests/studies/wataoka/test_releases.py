"""Readers of pairs on small releases of the same layout: those of GitHub, and those of the Hub."""

import json

import elobench_release
import llm_sp_release
import pandas as pd
import pytest
from conftest import STAGED, lines, mt_bench_files, pin, reference_files, vicuna80_files
from elobench_release import LEFT_OUT, N_BATTLES, battle
from llm_sp_release import JUDGES, OPPONENTS, path, row
from study_frames import equal, on_hub, released

from selfpref import tables
from selfpref.params import Dataset
from selfpref.studies.wataoka import read as releases
from selfpref.studies.wataoka.read import elobench, llm_sp, mt_bench, vicuna80

JUDGE, OTHER = JUDGES[0], OPPONENTS[0]
BATTLES = elobench_release.files(*elobench_release.rows())


@pytest.fixture
def read(tmp_path):
    """Read a release from its files, every table validated."""
    asked = "wataoka", "mt-bench"
    return lambda reader, files, *judges: released(tmp_path, reader, files, *asked, *judges)


def test_mt_bench_files_orient_pairs_their_own_way(read):
    files, row = mt_bench_files(1), {"question_id": 81, "turn": 1}
    vote = row | {"judge": "expert_0", "model_a": "gpt-4", "model_b": "x"}
    files[releases.MT_VOTES] = lines(vote | {"winner": "model_b"}, vote | {"winner": "tie"})
    verdict = row | {"judge": "gpt4_pair", "model_b": "gpt-4"}
    files[releases.MT_VERDICTS] = lines(
        verdict | {"model_a": "x", "winner": "model_b"},
        verdict | {"model_a": "y", "winner": "tie (inconsistent)"},
    )
    found = read(mt_bench, files)
    items = found["items"].set_index("item_id")
    assert items["cluster"].to_dict() == {"set/81/1": "set/81", "set/81/2": "set/81"}
    assert [m["content"] for m in items.loc["set/81/2", "messages"]] == ["first?", "then?"]
    # A second vote of one annotator is kept, and an inconsistent tie is a tie, and counted.
    equal(found["audit"], "file rows affected", ("set/verdicts", 2, 1))
    columns = "responder_a responder_b label repeat"
    equal(found["labels"], columns, ("gpt-4", "x", "b", 0), ("gpt-4", "x", "tie", 1))
    rows = ("gpt-4", ["x", "gpt-4"], "gpt-4", False), ("gpt-4", ["y", "gpt-4"], "tie", False)
    equal(found["verdicts"], "judge candidates choice order_known", *rows)


def test_vicuna80_takes_the_order_from_the_file_name(read):
    files = {name: text for name, text in vicuna80_files(1).items() if "ratings-" not in name}
    for score, name in {
        1: "gpt4/answer_bard-vs-answer_gpt4-gpt4-reviewer_threeclass",
        3: "gpt4/answer_gpt4-vs-answer_bard-gpt4-reviewer-threeclass",
        2: "gpt35/answer-gpt35-vs-answer-gpt4-gpt35-reviewer",
    }.items():
        files[f"data/vicuna80/ratings-{name}.jsonl"] = lines({"question_id": 1, "score": score})
    verdicts = read(vicuna80, files)["verdicts"]
    assert list(verdicts["candidates"]) == [["bard", "gpt-4"], ["gpt-4", "bard"]]
    assert list(verdicts["choice"]) == ["bard", "tie"]
    found = read(vicuna80, vicuna80_files(2), ["bard"])
    assert set(found["verdicts"]["judge"]) == {"bard"}
    assert len(found["labels"]) == 2 * 10 * 3
    assert found["items"]["category"].tolist() == ["generic"] * 2


def test_verdicts_meet_their_battles(read):
    found = read(elobench, BATTLES)
    assert len(found["labels"]) == len(found["items"]) == N_BATTLES
    texts = found["responses"]
    number = texts["item_id"].str.removeprefix("set/")
    assert texts["text"].eq(texts["responder"] + " on " + number).all()
    audit = found["audit"].set_index("finding")["affected"]
    assert len(found["verdicts"]) == audit["both models are those of the battle"] == 2008
    judged = set(found["verdicts"]["item_id"].str.removeprefix("set/").astype(int))
    assert set(range(2011)) - judged == LEFT_OUT


def test_of_a_battle_any_tie_is_a_tie_and_a_question_a_cluster(read):
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


def sp(*changed, of="math500"):
    """A file of LLM-SP: four rows, and what is changed in the first of them."""
    rows = [row(n, JUDGE, OTHER) for n in range(4)]
    for one, more in zip(rows, changed, strict=False):
        one.update(more)
    return {path(of, JUDGE, OTHER): lines(*rows)}


def test_each_set_is_a_data_set_and_each_answer_kept_once(read):
    found = read(llm_sp, llm_sp_release.files())
    sets = found["items"]["item_id"].str.partition("/")[0]
    assert sets.value_counts().to_dict() == {"set-math": 4, "set-mbpp": 4, "set-mmlu": 4}
    assert len(found["responses"]) == len(found["truths"]) == 3 * 3 * 4
    texts = found["responses"].set_index(["item_id", "responder"])["text"]
    assert texts["set-mmlu/q1", JUDGE] == f"{JUDGE} on 1"


def test_a_key_is_the_option_of_all_right_answers(read):
    answers = [("C", True, "A", False), ("C", True, "C", True), ("C", True, "B", True)]
    changed = [
        {"assistent_1_answer": f"The answer is {one}", "assistent_1_is_correct": right}
        | {"assistent_2_answer": f"({two})", "assistent_2_is_correct": also}
        for one, right, two, also in answers
    ]
    items = read(llm_sp, sp(*changed, of="mmlu"))["items"]
    assert items["metadata"].map(json.loads).str.get("key").tolist() == ["C", "C", None, None]


def test_the_key_prefers_the_right_answer(read):
    found = read(llm_sp, sp())
    labels = ((JUDGE, "key", said) for said in ("a", "b", "tie", "tie"))
    equal(found["labels"], "responder_a annotator label", *labels)
    # Two right ones are told from two wrong ones.
    truths = found["truths"].set_index("item_id")["score"]
    assert truths.loc[["set-math/q2", "set-math/q3"]].tolist() == [1, 1, 0, 0]


def test_probabilities_stand_by_texts_as_each_order_has_them(read):
    found = read(llm_sp, sp())["verdicts"]
    assert found["order_known"].all()
    assert (found["mass"] == 1).all()
    found["place"] = found["item_id"].str[-2:] + " " + found["candidates"].str[0]
    given = found.set_index("place")[["probabilities", "choice"]].apply(tuple, axis=1)
    assert given[f"q0 {JUDGE}"] == ([0.75, 0.25], JUDGE)
    # Swapped, B is the judge's own.
    assert given[f"q0 {OTHER}"] == ([0.25, 0.75], JUDGE)
    assert given[f"q1 {OTHER}"] == ([0.75, 0.125], OTHER)
    assert given[f"q2 {JUDGE}"] == ([0.25, 0.25], "tie")


def test_what_misleads_is_counted_and_no_score_is_no_tie(read):
    same = {"assistent_1_answer": f"{OTHER} on 1"}
    found = read(llm_sp, sp({"game_1_spb_score": None}, same, {"game_1_output": "The"}))
    told = found["audit"].query(f"file == 'set-math/{JUDGE}'").set_index("finding")["affected"]
    assert told.to_dict() == {
        "both texts are the same": 1,
        "order 1: no score": 1,
        "order 1: stored output is no label": 1,
        "order 1: stored label is not the likeliest": 1,
        "order 2: stored label is not the likeliest": 3,
    }
    lost = found["verdicts"][found["verdicts"]["status"].eq("unparsable")]
    assert lost["item_id"].tolist() == ["set-math/q0"]
    assert lost[["choice", "probabilities"]].isna().all(axis=None)


def told(*texts):
    """A dialogue: what the user and the model say in turn."""
    roles = ("user", "assistant") * len(texts)
    return [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]


def dialogue(number, **changed):
    """One row of the Hub's sets, with the columns that are read."""
    row = {"question_id": f"{number:032x}", "model_a": "gpt-4", "model_b": "vicuna-13b"}
    row |= {"winner": "model_a", "judge": f"user_{number}", "turn": 1, "language": "English"}
    texts = {f"conversation_{side}": told(f"question {number}?", side) for side in "ab"}
    return row | texts | changed


@pytest.fixture
def hub(tmp_path):
    """Read rows through `datasets`, every table validated."""
    pytest.importorskip("datasets", reason="the extra `models` is not installed")

    def reading(rows, reader="chatbot-arena", split="train", **options):
        use = Dataset(study="wataoka", reader=reader, source="pinned.csv", **options)
        found = releases.hub("set", use, on_hub(tmp_path / "hub", rows, split))
        made = {name: tables.validate(frame, name, "set") for name, frame in found.items()}
        return made, made["audit"].set_index("finding")["affected"].to_dict()

    return reading


def test_a_vote_is_on_the_last_turn(hub):
    long = {"conversation_a": told("list", "a1", "more", "a2"), "turn": 2, "winner": "model_b"}
    long["conversation_b"] = told("list", "b1", "more", "")
    short = {f"conversation_{side}": told("list", side) for side in "ab"}
    found, _ = hub([dialogue(1, **long), dialogue(2, **short)])
    one, two, other = f"set/{1:032x}/1", f"set/{1:032x}/2", f"set/{2:032x}/1"
    items = found["items"].set_index("item_id")
    assert [m["content"] for m in items.loc[two, "messages"]] == ["list", "more"]
    assert json.loads(items.loc[two, "metadata"])["turns"] == 2
    # The same first prompt is one cluster, whoever sent it.
    assert items["cluster"].nunique() == 1
    texts = found["responses"].set_index(["item_id", "responder"])["text"]
    assert texts[one].tolist() == ["a1", "b1"]
    assert texts[two].tolist() == ["a2", ""]
    labels = (two, "b", "user_1"), (other, "a", "user_2")
    equal(found["labels"], "item_id label annotator", *labels)


ODD = "left out: no vote on one dialogue with two models"


def test_odd_rows_are_counted_and_left_out(hub):
    odd = [{"winner": "nobody"}, {"model_b": "gpt-4"}, {"conversation_a": told("q", "a", "q")}]
    odd.append({"conversation_b": told("another question?", "b")})
    rows = [dialogue(number, **changed) for number, changed in enumerate(odd)]
    found, audit = hub([*rows, dialogue(6, turn=3), dialogue(6, model_a="dolly-v2-12b")])
    assert audit == {ODD: 4}
    assert sorted(found["labels"]["item_id"]) == [f"set/{6:032x}-2/1", f"set/{6:032x}/1"]


def test_votes_belong_to_their_turn_and_mathematics_has_references(hub, tmp_path, monkeypatch):
    # FastChat's questions and reference answers, in words of this test.
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))
    files = reference_files({81: "writing", 111: "math"})
    source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "references.csv")
    monkeypatch.setattr(releases, "FASTCHAT", source)
    both = {f"conversation_{x}": told("first?", f"{x} one", "then?", f"{x} two") for x in "ab"}
    votes = [(81, 2, "tie"), (81, 1, "tie"), (81, 1, "model_b"), (81, 3, "tie"), (111, 2, "tie")]
    rows = [
        dialogue(1, question_id=number, turn=turn, winner=winner, **both)
        for number, turn, winner in votes
    ]
    found, audit = hub(rows, "mt-bench-hub", "human")
    assert audit == {ODD: 1}
    items = found["items"].set_index("item_id")
    assert items["cluster"].tolist() == ["set/111"] * 2 + ["set/81"] * 2
    # Writing has an answer in the file as well, which no judge is to read.
    known = items["reference"].dropna().map(json.loads).to_dict()
    answers = ["reference 111.1", "reference 111.2"]
    assert known == {"set/111/1": answers[:1], "set/111/2": answers}
    labels = ("111/2", "tie"), ("81/1", "tie"), ("81/1", "b"), ("81/2", "tie")
    equal(found["labels"], "item_id label", *((f"set/{item}", label) for item, label in labels))
    responses = found["responses"].set_index(["item_id", "responder"])["text"]
    assert responses["set/81/2", "vicuna-13b"] == "b two"


def test_a_sample_has_as_many_dialogues_of_each_judge(hub):
    pairs = [("gpt-4", "vicuna-13b")] * 40 + [("gpt-4", "koala-13b")] * 5 + [("alpaca", "dolly")]
    pairs += [("koala-13b", "koala-13b")] * 20
    rows = [dialogue(n, model_a=one, model_b=other) for n, (one, other) in enumerate(pairs)]
    found, audit = hub(rows, sample=7)
    assert (len(found["labels"]), audit) == (7, {ODD: 20, "left out by `sample`": 39})
    assert hub(rows[::-1], sample=7)[0]["labels"].equals(found["labels"])
    judges = ["koala-13b", "vicuna-13b"]
    labels = hub(rows, sample=10, judges=judges)[0]["labels"]
    assert labels["responder_b"].value_counts().to_dict() == dict.fromkeys(judges, 5)
    assert hub(rows, judges=judges)[1] == {ODD: 20, "left out by `judges`": 1}


def test_released_numbers_in_git():
    """What the recorded profile last wrote holds the numbers of the study's own count."""
    bias, checks = (
        pd.read_csv(STAGED / f"figures/recorded/wataoka/{name}.csv")
        for name in ("fig1b_bias", "checks")
    )
    rows = bias.query("judge == 'gpt-4'").set_index("dataset")[["tp", "fn", "fp", "tn", "eo"]]
    assert list(rows.loc["mt-bench"].round(3)) == [330, 12, 57, 15, 0.757]
    assert list(rows.loc["vicuna80"].round(3)) == [208, 7, 27, 2, 0.898]
    agreed = checks.query("item == 'agreement'")["recomputed"]
    assert list(agreed.round(3)) == [0.660, 0.846, 0.657, 0.846]
    assert (checks.query("item == 'win rate'")["difference"].abs() < 1e-12).all()
