"""Files of others: recognised by their fields; ties, errors and nulls become what they are.

The real files after which these small ones are made, with what was found in them:

- FastChat: Stefanstud/FastChat, 1f5a7b81d3b219f12c18b37511de898556dfa90f,
  fastchat/llm_judge/data/mt_bench/model_judgment/gpt-4_pair.jsonl (75 rows, 3 games of `error`).
- Arena: aliabbas-muhammadi/judgelab, afdf0eaa55fdee9617bbc4d1821e5424b18f33ff,
  data/snapshots/mtbench/human.jsonl and gpt4_pair.jsonl (`tie (inconsistent)`).
- AlpacaEval: tatsu-lab/alpaca_eval, cd543a149df89434d8a54582c0151c0b945c3d20,
  results/LMCocktail-10.7B-v1/alpaca_eval_gpt4/annotations.json (2 null, one 0.0), and, weighted,
  results/NullModel/weighted_alpaca_eval_gpt4_turbo/annotations.json.
- QLoRA: artidoro/qlora, 7f4e95a68dc076bea9b3a413d2b512eca6d004e5, eval/ratings-gpt4/oa (1,482 of
  -1) and eval/ratings-gpt4/vicuna/relative-gpt-3.5 (two scores, 60 of [-1, -1]).
- PRD: bcdnlp/PRD, 35fb99e5d5c7a2f3535811f1edbe417da7563957, data/vicuna80/ratings-human.
- Arena-Hard-Auto: lmarena/arena-hard-auto, bed160442a7ee41ebc7581774ed5a8fcec2b894a,
  src/arenahard/gen_judgment.py (v2), and 01109e9930889fde8baada6e86bb74a7e029608b,
  gen_judgment.py (v0.1), which write the files.
"""

import json

import pytest
from conftest import lines

from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.formats.rows import tables_of

GAME = {"question_id": 81, "model_1": "x", "model_2": "y", "judge": ["x", "pair-v2"], "turn": 2}
GAME |= {"g1_winner": "model_1", "g1_judgment": "[[A]]"}
GAME |= {"g2_winner": "tie", "g2_judgment": "[[C]]"}
BATTLE = {"question_id": "q", "model_a": "x", "model_b": "y", "winner": "model_b", "judge": "z"}
ANNOTATION = {"instruction": "Sing.", "generator_1": "x", "generator_2": "y", "annotator": "z"}
ANNOTATION |= {"output_1": "la", "output_2": "lo", "preference": 2.0}
REVIEW = {"review_id": "r", "question_id": 1, "text": "Fine.\n1", "score": 1, "metadata": {}}
VERSUS = "answer_x-vs-answer_y-1-gpt-4-reviewer_threeclass.jsonl"
HARD = {"uid": "u", "category": "hard_prompt", "judge": "z", "model": "x", "baseline": "y"}


def read(path, *records, wanted="auto", judges=(), voted=False):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records) if path.suffix == ".json" else lines(*records))
    return tables_of(judgments.read(path, wanted, judges, voted=voted), "d", "wataoka")


def verdicts(found):
    wanted = ["candidates", "choice", "status", "order_known"]
    rows = found["verdicts"][wanted].itertuples(index=False, name=None)
    return [
        (list(c), choice if isinstance(choice, str) else None, *rest) for c, choice, *rest in rows
    ]


@pytest.mark.parametrize(
    ("winner", "text", "second"),
    [
        ("tie", "[[C]]", ("tie", "ok")),
        # An error is missing and no tie.
        ("error", "$ERROR$", (None, "failed")),
        ("error", "Both are fine.", (None, "unparsable")),
        (None, None, (None, "failed")),
    ],
)
def test_fastchat_plays_two_games_in_two_orders(tmp_path, winner, text, second):
    found = read(tmp_path / "f.jsonl", GAME | {"g2_winner": winner, "g2_judgment": text})
    assert verdicts(found) == [(["x", "y"], "x", "ok", True), (["y", "x"], *second, True)]
    assert found["verdicts"]["judge"].tolist() == ["x", "x"]
    assert found["items"][["item_id", "cluster"]].values.tolist() == [["d/81/2", "d/81"]]


@pytest.mark.parametrize(
    ("winner", "choice", "status"),
    [
        *(("tie (inconsistent)", "tie", "ok"), ("both_bad", "tie", "ok")),
        *(("error", None, "failed"), (None, None, "unparsable")),
    ],
)
def test_arenas_winners(tmp_path, winner, choice, status):
    found = read(tmp_path / "battles.jsonl", BATTLE | {"winner": winner})
    assert verdicts(found) == [(["x", "y"], choice, status, False)]


def test_people_in_arena_vote_and_judges_judge_and_a_release_has_columns_for_winners(tmp_path):
    people = ["human", "arena_user_973", "expert_17", "author_2"]
    rows = [BATTLE | {"judge": name} for name in [*people, "gpt-4"]]
    found = read(tmp_path / "battles.jsonl", *rows)
    assert found["labels"]["annotator"].tolist() == people
    assert found["verdicts"]["judge"].tolist() == ["gpt-4"]
    told = {"winner_model_a": 0, "winner_model_b": "1", "winner_tie": 0}
    battle = {"id": "q", "model_a": "x", "model_b": "y"} | told
    assert read(tmp_path / "v.jsonl", battle, voted=True)["labels"]["label"].tolist() == ["b"]
    with pytest.raises(SelfprefError, match="winner 'no winner, or several'"):
        read(tmp_path / "v.jsonl", battle | dict.fromkeys(told, 1), voted=True)


def test_every_row_of_a_voter_counts_and_an_empty_vote_does_not(tmp_path):
    rows = [BATTLE, BATTLE | {"winner": "model_a"}, BATTLE | {"winner": None}]
    found = read(tmp_path / "votes.jsonl", *rows, voted=True)
    assert found["labels"][["label", "repeat"]].values.tolist() == [["b", 0], ["a", 1]]
    # Or in the columns of the user's own.
    row = {"item": 1, "responder_a": "x", "responder_b": "y", "label": "y"}
    found = read(tmp_path / "votes.jsonl", row, row | {"label": "tie"}, voted=True)
    assert found["labels"]["label"].tolist() == ["b", "tie"]


@pytest.mark.parametrize(
    ("preference", "choice", "probabilities"),
    [
        *((1, "x", None), (1.5, "tie", None), (0.0, "tie", None)),
        *((1.75, "y", [0.25, 0.75]), (None, None, None), (-1, None, None)),
    ],
)
def test_preferences_of_alpaca_eval(tmp_path, preference, choice, probabilities):
    # One instruction is one item, whoever followed it.
    row, other = ANNOTATION | {"preference": preference}, {"generator_2": "w", "preference": 1}
    assert len(read(tmp_path / "both.json", row, row | other)["items"]) == 1
    found = read(tmp_path / "annotations.json", row)
    status = "unparsable" if choice is None else "ok"
    assert verdicts(found) == [(["x", "y"], choice, status, False)]
    given = found["verdicts"]["probabilities"].iloc[0]
    assert (None if probabilities is None else list(given)) == probabilities


@pytest.mark.parametrize(
    ("score", "choice"),
    [
        *((1, "x"), (3, "tie"), ([7, 8], "y-1"), ([8, 8], "tie")),
        *((-1, None), ([-1, -1], None)),
    ],
)
def test_scores_of_reviews(tmp_path, score, choice):
    found = read(tmp_path / "ratings-gpt-4" / VERSUS, REVIEW | {"score": score})
    status = "unparsable" if choice is None else "ok"
    assert verdicts(found) == [(["x", "y-1"], choice, status, True)]
    assert found["verdicts"]["judge"].tolist() == ["gpt-4"]


def test_a_folder_of_reviews_and_the_names_of_its_files(tmp_path):
    with pytest.raises(SelfprefError, match="give --judge NAME"):
        read(tmp_path / VERSUS, REVIEW)
    # Questions of another benchmark are messages.
    row = {name: value for name, value in REVIEW.items() if name != "question_id"}
    found = read(tmp_path / VERSUS, row | {"message_id": "m"}, judges=["gpt-4"])
    assert found["verdicts"][["item_id", "judge"]].values.tolist() == [["d/m", "gpt-4"]]
    # People vote more than once.
    top = tmp_path / "top"
    read(top / "ratings-gpt-4" / VERSUS, REVIEW)
    read(top / "ratings-human" / VERSUS.replace("gpt-4", "human"), *[REVIEW | {"score": 2}] * 3)
    found = tables_of(judgments.read(top), "d", "wataoka")
    votes = found["labels"][["label", "repeat"]]
    assert votes.values.tolist() == [["b", 0], ["b", 1], ["b", 2]]
    assert len(found["verdicts"]) == 1


@pytest.mark.parametrize(
    ("second", "found"),
    [
        *(([{"score": "A=B"}], ("tie", "ok")), ([{"score": "A<<B"}], ("y", "ok"))),
        *(([{"score": "A>B>A"}], (None, "unparsable")), ([], (None, "failed"))),
    ],
)
def test_arena_hard_reads_the_baseline_first_and_then_the_model(tmp_path, second, found):
    games = [{"score": "A>>B", "judgment": {}}, *second]
    rows = verdicts(read(tmp_path / "x.jsonl", HARD | {"games": games}))
    assert rows == [(["y", "x"], "y", "ok", True), (["x", "y"], *found, True)]
    # The first version leaves its baseline out.
    old = {"question_id": "q", "model": "x", "judge": "z", "games": games}
    assert verdicts(read(tmp_path / "x.jsonl", old))[0][0] == ["gpt-4-0314", "x"]


@pytest.mark.parametrize(
    ("name", "record", "told"),
    [
        ("f.jsonl", GAME | {"g1_winner": "A"}, "line 1: g1_winner 'A'; give model_1, model_2"),
        ("f.jsonl", GAME | {"model_1": None}, "line 1: responder_a nan; fill or rename it"),
        ("f.jsonl", GAME | {"judge": []}, "line 1: no judge; name the judge"),
        ("f.json", ANNOTATION | {"preference": 3}, "entry 1: preference 3; give 1, 2"),
        (
            "f.json",
            ANNOTATION | {"preference": "x"},
            "entry 1: could not convert string to float: 'x'",
        ),
        ("ratings-z/a-vs-b-z-reviewer.jsonl", REVIEW | {"score": 7}, "line 1: score 7; give 1"),
        ("reviews.jsonl", REVIEW, "<first>-vs-<second>-<judge>-reviewer.jsonl; rename it"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, name, record, told):
    with pytest.raises(SelfprefError) as failure:
        read(tmp_path / name, record)
    assert told in str(failure.value)
    assert name in str(failure.value)
    assert len(str(failure.value).splitlines()) == 1


def test_a_format_can_be_forced_and_a_later_record_without_a_field_is_named(tmp_path):
    both = GAME | BATTLE
    assert len(read(tmp_path / "f.jsonl", both)["verdicts"]) == 2
    assert len(read(tmp_path / "f.jsonl", both, wanted="arena")["verdicts"]) == 1
    with pytest.raises(SelfprefError, match=r"pairs needs item, responder_a, responder_b"):
        read(tmp_path / "f.jsonl", both, wanted="pairs")
    short = {name: value for name, value in GAME.items() if name != "g2_winner"}
    with pytest.raises(SelfprefError, match=r"line 2: no field 'g2_winner'; it needs"):
        read(tmp_path / "f.jsonl", GAME, short)
