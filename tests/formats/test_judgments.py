"""Files of judgments: what every column and field means, and what is refused.

Formats of others are recognised by their fields; ties, errors and nulls become what they are.

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
from pathlib import Path

import pandas as pd
import pytest
from conftest import entry, lines, refused

from selfpref import tables
from selfpref.formats import datasets, judgments
from selfpref.formats.records import tables_of

pytestmark = pytest.mark.usefixtures("repository")
# A user's own.
ROW = {"item": 1, "responder_a": "x", "responder_b": "y", "label": "a"}
ROW |= {"judge": "x", "order": "ab", "verdict": "b"}
NOTHING, EVEN = ({"verdict": "", "probability_a": p, "probability_b": p} for p in (0, 0.5))
# Of others.
GAME = {"question_id": 81, "model_1": "x", "model_2": "y", "judge": ["x", "pair-v2"], "turn": 2}
GAME |= {"g1_winner": "model_1", "g1_judgment": "[[A]]"}
GAME |= {"g2_winner": "tie", "g2_judgment": "[[C]]"}
BATTLE = {"question_id": "q", "model_a": "x", "model_b": "y", "winner": "model_b", "judge": "z"}
ANNOTATION = {"instruction": "Sing.", "generator_1": "x", "generator_2": "y", "annotator": "z"}
ANNOTATION |= {"output_1": "la", "output_2": "lo", "preference": 2.0}
REVIEW = {"review_id": "r", "question_id": 1, "text": "Fine.\n1", "score": 1, "metadata": {}}
VERSUS = "answer_x-vs-answer_y-1-gpt-4-reviewer_threeclass.jsonl"
HARD = {"uid": "u", "category": "hard_prompt", "judge": "z", "model": "x", "baseline": "y"}


def write(name, *records):
    (path := Path(name)).parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(records) if path.suffix == ".json" else lines(*records))
    return path


def read(*records, name="f.jsonl", **how):
    found = tables_of(judgments.read(write(name, *records), **how), "d", "wataoka")
    for table, frame in found.items():
        tables.validate(frame, table, "d")
    return found


def verdicts(found):
    rows = found["verdicts"][["candidates", "choice", "status", "order_known"]]
    rows = rows.astype(object).where(rows.notna(), None).values.tolist()
    return [(list(candidates), *rest) for candidates, *rest in rows]


def last(record, key, *changes, name="f.jsonl"):
    """Choice and status of the last verdict of each record; the key holds the item."""
    rows = [record | {key: f"{n}"} | change for n, change in enumerate(changes)]
    found = read(*rows, name=name)["verdicts"].drop_duplicates("item_id", keep="last")
    return [tuple(row) for row in found[["choice", "status"]].fillna("").values]


def test_the_order_puts_candidates_and_probabilities_as_presented():
    row = ROW | {"order": "ba", "verdict": "", "probability_a": 0.6, "probability_b": 0.3}
    verdict = read(row)["verdicts"].iloc[0]
    columns = ["candidates", "probabilities", "mass", "choice"]
    assert verdict[columns].tolist() == [["y", "x"], [0.3, 0.6], pytest.approx(0.9), "x"]
    # Labels and verdicts may name responders.
    found = read(ROW | {"label": "y", "verdict": "x"})
    assert found["labels"]["label"].tolist() == ["b"]
    assert found["verdicts"]["choice"].tolist() == ["x"]
    # No verdict is missing, and no tie.
    made = last(ROW, "item", {"verdict": ""}, NOTHING, NOTHING | {"verdict": "a"}, EVEN)
    assert made == [("", "unparsable"), *[("", "low-mass")] * 2, ("tie", "ok")]


def test_only_the_judges_wanted_are_read():
    path = write("f.jsonl", ROW, ROW | {"judge": "z"})
    found = datasets.read("mine", entry("wataoka", "pairs", ["z"]), path)
    assert found["verdicts"]["judge"].tolist() == ["z"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"label": "z"}, "label 'z'; give a, b, tie or a responder"),
        ({"verdict": "neither"}, "verdict 'neither'; give a, b, tie or a responder"),
        ({"order": "first"}, "order 'first'; give ab, ba or leave it empty"),
        ({"responder_b": "x"}, "both responders are 'x'"),
        ({"responder_a": "b"}, "responder_a 'b'; fill or rename it"),
        ({"item": None}, "item nan; fill or rename it"),
        ({"judge": ""}, "no judge"),
        ({"probability_a": 1.2, "probability_b": 0}, "probabilities 1.2, 0.0; give two from 0 to"),
        ({"probability_a": 0.7, "probability_b": -0.1}, "not logarithms or percentages"),
        ({"probability_a": -0.1, "probability_b": 0.7}, "not logarithms or percentages"),
        ({"probability_a": "nan", "probability_b": 0.7}, "probability_a 'nan' is no number"),
        ({"probability_a": 0.7}, "give two from 0 to 1"),
        ({"probability_a": 0.9, "probability_b": 0.1}, "'b' contradicts the probabilities"),
        ({"item": "one\ntwo"}, r"item 'one\ntwo'; fill or rename it"),
    ],
)
def test_a_bad_value_is_named_with_its_line(change, told):
    with refused() as failure:
        read(ROW, ROW | {"item": 2} | change)
    assert str(failure.value).startswith("f.jsonl, line 2: ")
    assert told in str(failure.value)
    assert "\n" not in str(failure.value)


def test_what_stands_twice_is_refused_unless_numbered_or_of_another_person():
    with refused(match="line 2: the same item, pair, judge and order as"):
        read(ROW, ROW)
    assert len(read(ROW, ROW | {"repeat": 1})["verdicts"]) == 2
    other = ROW | {"order": "ba", "label": "b"}
    with refused(match=r"contradicts .*line 1"):
        read(ROW, other)
    assert len(read(ROW | {"annotator": "p"}, other | {"annotator": "q"})["labels"]) == 2
    # A vote repeated with every verdict counts once, and a verdict beside several votes.
    swapped = {"responder_a": "y", "responder_b": "x", "label": "b", "order": "ab"}
    assert len(read(ROW, ROW | swapped)["labels"]) == 1
    people = [ROW | {"annotator": who, "label": of} for who, of in (("p", "a"), ("q", "b"))]
    found = read(*people)
    assert (len(found["labels"]), len(found["verdicts"])) == (2, 1)
    with refused(match="the same item, pair, judge and order"):
        read(*people, people[0])


@pytest.mark.parametrize("name", ["f.json", "f.jsonl.gz", "f.csv.gz", "f.txt", "f.parquet"])
def test_rows_are_the_same_in_every_kind_of_file_and_one_cut_short_is_told(name):
    """A response may be a megabyte long."""
    rows = [ROW | {"text_a": "x" * 2**20}, ROW | {"order": "ba", "verdict": "tie"}]
    frame, path = pd.DataFrame(rows), Path(name)
    if ".json" in name:
        frame.to_json(name, orient="records", lines="jsonl" in name)
    elif name == "f.parquet":
        frame.to_parquet(name)
    else:
        frame.to_csv(name, index=False, sep="," if "csv" in name else "\t")
    wanted = judgments.read(write("wanted.jsonl", *rows), texts=True).drop(columns="place")
    found = judgments.read(path, texts=True).drop(columns="place")
    pd.testing.assert_frame_equal(found, wanted)
    assert found["text_a"][0] == rows[0]["text_a"]
    path.write_bytes(path.read_bytes()[:-12])
    with refused(match=f"^{name}.*give a whole file") as failure:
        judgments.read(path)
    assert "\n" not in str(failure.value)
    path.unlink()
    with refused(match="correct the path or `source`"):
        judgments.read(path)


def test_fastchat_plays_two_games_in_two_orders():
    found = read(GAME)
    assert verdicts(found) == [(["x", "y"], "x", "ok", True), (["y", "x"], "tie", "ok", True)]
    assert found["verdicts"]["judge"].tolist() == ["x", "x"]
    assert found["items"][["item_id", "cluster"]].values.tolist() == [["d/81/2", "d/81"]]
    # An error is missing and no tie.
    second = [("error", "$ERROR$"), ("error", "Both are fine."), (None, None)]
    games = [{"g2_winner": winner, "g2_judgment": text} for winner, text in second]
    missing = last(GAME, "question_id", *games)
    assert missing == [("", "failed"), ("", "unparsable"), ("", "failed")]
    wrong = {"g1_winner": "A"}, "g1_winner 'A'; give model_1, model_2"
    for change, told in (wrong, ({"judge": []}, "no judge; name the judge")):
        with refused(match=f"f.jsonl, line 1: {told}"):
            read(GAME | change)


def test_arenas_winners_people_and_judges():
    """One release has a column for each winner."""
    assert verdicts(read(BATTLE)) == [(["x", "y"], "y", "ok", False)]
    winners = [{"winner": one} for one in ("tie (inconsistent)", "both_bad", "error", None)]
    found = last(BATTLE, "question_id", *winners)
    assert found == [("tie", "ok"), ("tie", "ok"), ("", "failed"), ("", "unparsable")]
    people = ["human", "arena_user_973", "expert_17", "author_2"]
    rows = [BATTLE | {"judge": name} for name in [*people, "gpt-4"]]
    found = read(*rows)
    assert found["labels"]["annotator"].tolist() == people
    assert found["verdicts"]["judge"].tolist() == ["gpt-4"]
    # Every row of a voter counts.
    rows = [BATTLE, BATTLE | {"winner": "model_a"}, BATTLE | {"winner": None}]
    votes = read(*rows, voted=True)["labels"][["annotator", "label", "repeat"]]
    assert votes.values.tolist() == [["z", "b", 0], ["z", "a", 1]]
    told = {"winner_model_a": 0, "winner_model_b": "1", "winner_tie": 0}
    battle = {"id": "q", "model_a": "x", "model_b": "y"} | told
    assert read(battle, voted=True)["labels"]["label"].tolist() == ["b"]
    with refused(match="winner 'no winner, or several'"):
        read(battle | dict.fromkeys(told, 1), voted=True)


def test_preferences_of_alpaca_eval():
    changes = [{"preference": one} for one in (1, 2, 1.5, 0.0, None, -1)]
    found = last(ANNOTATION, "instruction", *changes)
    assert found == [("x", "ok"), ("y", "ok"), *[("tie", "ok")] * 2, *[("", "unparsable")] * 2]
    with refused(match=r"f\.json, entry 1: preference 2.5; give 1, 2"):
        read(ANNOTATION | {"preference": 2.5}, name="f.json")
    # One instruction is one item, whoever followed it.
    found = read(ANNOTATION, ANNOTATION | {"generator_2": "w", "preference": 1.75})
    assert len(found["items"]) == 1
    assert verdicts(found) == [(["x", one], one, "ok", False) for one in "yw"]
    assert [*found["verdicts"]["probabilities"]] == [None, [0.25, 0.75]]


def test_scores_names_and_folders_of_reviews():
    scores = [{"score": one} for one in (1, 2, 3, [0, 8], [8, 7], [8, 8], -1, [-1, -1])]
    found = last(REVIEW, "question_id", *scores, name=f"ratings-gpt-4/{VERSUS}")
    assert [choice for choice, _ in found] == ["x", "y-1", "tie", "y-1", "x", "tie", "", ""]
    assert {status for choice, status in found if not choice} == {"unparsable"}
    with refused(match=f"{VERSUS}, line 1: score 7; give 1"):
        read(REVIEW | {"score": 7}, name=f"ratings-gpt-4/{VERSUS}")
    with refused(match="give --judge NAME"):
        read(REVIEW, name=VERSUS)
    # Questions of another benchmark are messages.
    row = {name: value for name, value in REVIEW.items() if name != "question_id"}
    found = read(row | {"message_id": "m"}, name=VERSUS, judges=["gpt-4"])
    assert found["items"]["item_id"].tolist() == ["d/m"]
    assert verdicts(found) == [(["x", "y-1"], "x", "ok", True)]
    # People vote more than once.
    write(f"top/ratings-gpt-4/{VERSUS}", REVIEW)
    people = VERSUS.replace("gpt-4", "human")
    write(f"top/ratings-human/{people}", *[REVIEW | {"score": 2}] * 3)
    found = tables_of(judgments.read(Path("top")), "d", "wataoka")
    assert found["labels"][["label", "repeat"]].values.tolist() == [["b", 0], ["b", 1], ["b", 2]]
    assert found["verdicts"]["judge"].tolist() == ["gpt-4"]


def test_arena_hard_reads_the_baseline_first_and_then_the_model():
    first = {"score": "A>>B", "judgment": {}}
    games = [{"games": [first, {"score": one}]} for one in ("A=B", "A<<B", "A>B>A")]
    found = last(HARD, "uid", *games, {"games": [first]})
    assert found == [("tie", "ok"), ("y", "ok"), ("", "unparsable"), ("", "failed")]
    # The first version leaves its baseline out.
    old = {"question_id": "q", "model": "x", "judge": "z", "games": [first, first]}
    for record, baseline in ((HARD | {"games": [first, first]}, "y"), (old, "gpt-4-0314")):
        rows = verdicts(read(record))
        both = ([baseline, "x"], baseline, "ok", True), (["x", baseline], "x", "ok", True)
        assert rows == [*both]


def test_a_format_can_be_forced_and_a_later_record_without_a_field_is_named():
    both = GAME | BATTLE
    assert len(read(both)["verdicts"]) == 2
    assert len(read(both, wanted="arena")["verdicts"]) == 1
    with refused(match=r"pairs needs item, responder_a, responder_b"):
        read(both, wanted="pairs")
    short = {name: value for name, value in GAME.items() if name != "g2_winner"}
    with refused(match=r"line 2: no field 'g2_winner'; it needs"):
        read(GAME, short)
