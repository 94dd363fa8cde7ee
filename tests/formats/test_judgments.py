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
- FairEval: i-Eval/FairEval, 453c117a69159fd7b7de2f4e0519bac57bee21f4, FairEval.py, which writes
  what run.sh names review/review_gpt35_vicuna-13b_gpt-3.5-turbo-0301_mec3_bpc1.json.
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


def put(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def read(path, *records, wanted="auto", judges=(), votes=False):
    text = json.dumps(records) if path.suffix == ".json" else lines(*records)
    put(path, text)
    rows = judgments.votes(path) if votes else judgments.read(path, wanted, judges)
    return tables_of(rows, "d", "wataoka")


def verdicts(found):
    wanted = ["candidates", "choice", "status", "order_known"]
    rows = found["verdicts"][wanted].itertuples(index=False, name=None)
    return [
        (list(c), choice if isinstance(choice, str) else None, *rest) for c, choice, *rest in rows
    ]


@pytest.mark.parametrize(
    ("game", "second"),
    [
        ({}, ("tie", "ok")),
        # An error is missing and no tie.
        ({"g2_winner": "error", "g2_judgment": "$ERROR$"}, (None, "failed")),
        ({"g2_winner": "error", "g2_judgment": "Both are fine."}, (None, "unparsable")),
        ({"g2_winner": None, "g2_judgment": None}, (None, "failed")),
    ],
)
def test_fastchat_plays_two_games_in_two_orders(tmp_path, game, second):
    found = read(tmp_path / "gpt-4_pair.jsonl", GAME | game)
    assert verdicts(found) == [(["x", "y"], "x", "ok", True), (["y", "x"], *second, True)]
    assert found["verdicts"]["judge"].tolist() == ["x", "x"]
    assert found["items"][["item_id", "cluster"]].values.tolist() == [["d/81/2", "d/81"]]


@pytest.mark.parametrize(
    ("winner", "choice", "status"),
    [
        ("model_a", "x", "ok"),
        ("tie", "tie", "ok"),
        ("tie (bothbad)", "tie", "ok"),
        ("tie (inconsistent)", "tie", "ok"),
        ("error", None, "failed"),
        (None, None, "unparsable"),
    ],
)
def test_arenas_winners(tmp_path, winner, choice, status):
    found = read(tmp_path / "battles.jsonl", BATTLE | {"winner": winner})
    assert verdicts(found) == [(["x", "y"], choice, status, False)]


def test_people_in_arena_vote_and_judges_judge(tmp_path):
    people = ["human", "arena_user_973", "expert_17", "author_2"]
    rows = [BATTLE | {"judge": name} for name in [*people, "gpt-4"]]
    found = read(tmp_path / "battles.jsonl", *rows)
    assert found["labels"]["annotator"].tolist() == people
    assert found["verdicts"]["judge"].tolist() == ["gpt-4"]


def test_every_row_of_a_voter_counts_and_an_empty_vote_does_not(tmp_path):
    rows = [BATTLE, BATTLE | {"winner": "model_a"}, BATTLE | {"winner": None}]
    found = read(tmp_path / "votes.jsonl", *rows, votes=True)
    assert found["labels"][["label", "repeat"]].values.tolist() == [["b", 0], ["a", 1]]
    # Or in the columns of the user's own.
    row = {"item": 1, "responder_a": "x", "responder_b": "y", "label": "y"}
    found = read(tmp_path / "votes.jsonl", row, row | {"label": "tie"}, votes=True)
    assert found["labels"]["label"].tolist() == ["b", "tie"]


@pytest.mark.parametrize(
    ("preference", "choice", "probabilities"),
    [
        (1, "x", None),
        (2.0, "y", None),
        (1.5, "tie", None),
        (0.0, "tie", None),
        (1.75, "y", [0.25, 0.75]),
        (None, None, None),
        (-1, None, None),
        (float("nan"), None, None),
    ],
)
def test_preferences_of_alpaca_eval(tmp_path, preference, choice, probabilities):
    # One instruction is one item, whoever followed it.
    other = {"generator_2": "w", "preference": 1}
    row = ANNOTATION | {"preference": preference}
    assert len(read(tmp_path / "both.json", row, row | other)["items"]) == 1
    found = read(tmp_path / "annotations.json", row)
    status = "unparsable" if choice is None else "ok"
    assert verdicts(found) == [(["x", "y"], choice, status, False)]
    given = found["verdicts"]["probabilities"].iloc[0]
    assert (None if probabilities is None else list(given)) == probabilities


@pytest.mark.parametrize(
    ("score", "choice"),
    [
        (1, "x"),
        (2, "y-1"),
        (3, "tie"),
        ([9.0, 8.5], "x"),
        ([8, 8], "tie"),
        (-1, None),
        ([-1, -1], None),
        (None, None),
    ],
)
def test_scores_of_reviews(tmp_path, score, choice):
    path = tmp_path / "ratings-gpt-4" / VERSUS
    found = read(path, REVIEW | {"score": score})
    status = "unparsable" if choice is None else "ok"
    assert verdicts(found) == [(["x", "y-1"], choice, status, True)]
    assert found["verdicts"]["judge"].tolist() == ["gpt-4"]


def test_a_review_file_that_does_not_tell_its_judge_wants_a_name(tmp_path):
    with pytest.raises(SelfprefError, match="give --judge NAME"):
        read(tmp_path / VERSUS, REVIEW)
    # Questions of another benchmark are messages.
    row = {name: value for name, value in REVIEW.items() if name != "question_id"}
    found = read(tmp_path / VERSUS, row | {"message_id": "m"}, judges=["gpt-4"])
    assert found["verdicts"][["item_id", "judge"]].values.tolist() == [["d/m", "gpt-4"]]


def test_people_of_review_files_vote_more_than_once(tmp_path):
    put(tmp_path / "ratings-gpt-4" / VERSUS, lines(REVIEW))
    human = VERSUS.replace("gpt-4", "human")
    put(tmp_path / "ratings-human" / human, lines(*[{"question_id": 1, "score": 2}] * 3))
    found = tables_of(judgments.read(tmp_path), "d", "wataoka")
    votes = found["labels"][["label", "repeat"]]
    assert votes.values.tolist() == [["b", 0], ["b", 1], ["b", 2]]
    assert len(found["verdicts"]) == 1


@pytest.mark.parametrize(("both", "known"), [(0, True), (1, False)])
def test_faireval_averages_over_both_orders(tmp_path, both, known):
    path = tmp_path / f"review_x_y_z-1_mec3_bpc{both}.json"
    row = {"question_id": 1, "question": "?", "review": [], "review_bpc": [], "score": [7.5, 8.0]}
    put(path, lines(row))
    found = tables_of(judgments.read(path), "d", "wataoka")
    assert verdicts(found) == [(["x", "y"], "y", "ok", known)]
    assert found["verdicts"]["judge"].tolist() == ["z-1"]


@pytest.mark.parametrize(
    ("name", "record", "told"),
    [
        ("f.jsonl", GAME | {"g1_winner": "A"}, "line 1: g1_winner 'A'; give model_1, model_2"),
        ("f.jsonl", BATTLE | {"winner": "both"}, "line 1: winner 'both'; give model_a"),
        ("f.jsonl", BATTLE | {"judge": ""}, "line 1: no judge; name the judge"),
        ("f.json", ANNOTATION | {"preference": 3}, "entry 1: preference 3; give 1, 2"),
        ("f.json", ANNOTATION | {"preference": "x"}, "entry 1: preference 'x'; give 1, 2"),
        ("ratings-z/a-vs-b-z-reviewer.jsonl", REVIEW | {"score": 7}, "line 1: score 7; give 1"),
        ("reviews.jsonl", REVIEW, "<first>-vs-<second>-<judge>-reviewer.jsonl; rename it"),
        ("f.jsonl", GAME | {"model_1": None}, "line 1: model_1 is empty; fill it or remove it"),
        ("f.jsonl", GAME | {"judge": []}, "line 1: judge is empty; fill it or remove it"),
        ("f.json", ANNOTATION | {"annotator": None}, "entry 1: annotator is empty; fill it"),
        ("f.json", ANNOTATION | {"preference": 10**400}, "entry 1: preference 1000"),
        ("f.jsonl", GAME | {"g1_winner": ["model_1"]}, "line 1: g1_winner ['model_1']; give"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, name, record, told):
    with pytest.raises(SelfprefError) as failure:
        read(tmp_path / name, record)
    assert told in str(failure.value)
    assert name in str(failure.value)
    assert len(str(failure.value).splitlines()) <= 2


def test_a_later_record_without_a_field_is_named(tmp_path):
    short = {name: value for name, value in BATTLE.items() if name != "winner"}
    with pytest.raises(SelfprefError, match=r"line 2: no field 'winner or winner_tie'; it needs"):
        read(tmp_path / "f.jsonl", BATTLE, short)


def test_a_format_can_be_forced(tmp_path):
    both = GAME | BATTLE
    assert len(read(tmp_path / "f.jsonl", both)["verdicts"]) == 2
    assert len(read(tmp_path / "f.jsonl", both, wanted="arena")["verdicts"]) == 1
    with pytest.raises(SelfprefError, match=r"looked for pairs: item, responder_a"):
        read(tmp_path / "f.jsonl", both, wanted="pairs")
    with pytest.raises(SelfprefError, match="--format xml: unknown; choose of auto, pairs"):
        read(tmp_path / "f.jsonl", both, wanted="xml")


def test_files_that_are_none(tmp_path):
    put(tmp_path / "empty.jsonl", "")
    put(tmp_path / "cut.jsonl", lines(BATTLE) + '{"question')
    put(tmp_path / "cut.json", json.dumps([ANNOTATION])[:-9])
    for name, told in (
        ("no.jsonl", "no such file; correct the path"),
        ("empty.jsonl", "is the file empty"),
        ("cut.jsonl", "line 2: not JSON"),
        ("cut.json", "is the file cut off"),
        (".", "a folder without review files"),
    ):
        with pytest.raises(SelfprefError, match=told):
            judgments.read(tmp_path / name)


def test_marks_of_byte_order_and_halves_of_characters_are_no_part_of_the_text(tmp_path):
    for name, text in (("f.jsonl", lines(BATTLE)), ("f.json", json.dumps([BATTLE]))):
        assert len(judgments.read(put(tmp_path / name, "\ufeff" + text))) == 1
    text = json.dumps([ANNOTATION]).replace("Sing.", "half \\ud83d")
    rows = judgments.read(put(tmp_path / "a.json", text), texts=True)
    assert rows["prompt"].tolist() == ["half \ufffd"]


HARD = {"uid": "u", "category": "hard_prompt", "judge": "z", "model": "x", "baseline": "y"}
GAMES = [{"score": "A>>B", "judgment": {}}, {"score": "B>A", "judgment": {}}]


@pytest.mark.parametrize(
    ("games", "second"),
    [
        (GAMES, ("y", "ok")),
        ([GAMES[0], {"score": "A=B"}], ("tie", "ok")),
        ([GAMES[0], {"score": "A<<B"}], ("y", "ok")),
        ([GAMES[0], {"score": "A>B>A"}], (None, "unparsable")),
        ([GAMES[0], {"score": None}], (None, "unparsable")),
        ([GAMES[0], None], (None, "failed")),
        (GAMES[:1], (None, "failed")),
    ],
)
def test_arena_hard_reads_the_baseline_first_and_then_the_model(tmp_path, games, second):
    found = read(tmp_path / "x.jsonl", HARD | {"games": games})
    assert verdicts(found) == [(["y", "x"], "y", "ok", True), (["x", "y"], *second, True)]
    assert found["items"]["category"].tolist() == ["hard_prompt"]


def test_the_first_arena_hard_leaves_its_baseline_out(tmp_path):
    old = {"question_id": "q", "model": "x", "judge": "z", "games": GAMES}
    assert verdicts(read(tmp_path / "x.jsonl", old))[0][0] == ["gpt-4-0314", "x"]


@pytest.mark.parametrize(
    ("said", "label"),
    [
        ({"winner": "both_bad"}, "tie"),
        ({"winner": "model_a"}, "a"),
        ({"winner_model_a": 0, "winner_model_b": 1, "winner_tie": 0}, "b"),
        ({"winner_model_a": 0, "winner_model_b": 0, "winner_tie": 1}, "tie"),
    ],
)
def test_later_releases_of_arena_are_votes(tmp_path, said, label):
    battle = {"id": "q", "model_a": "x", "model_b": "y", "language": "en"} | said
    assert read(tmp_path / "mine.jsonl", BATTLE)["items"]["item_id"].tolist() == ["d/q"]
    path = put(tmp_path / "votes.jsonl", lines(battle))
    assert judgments.votes(path)[["item", "label"]].values.tolist() == [["q", label]]


def test_a_battle_with_two_winners_is_refused(tmp_path):
    told = {"winner_model_a": 1, "winner_model_b": 1, "winner_tie": 0}
    path = put(tmp_path / "f.jsonl", lines({"id": "q", "model_a": "x", "model_b": "y"} | told))
    with pytest.raises(SelfprefError, match="winner 'no winner, or several'"):
        judgments.votes(path)
