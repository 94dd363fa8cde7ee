"""A user's own judgments: what every column means, and what is refused."""

import json

import pytest
from conftest import entry, lines

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats import datasets

ROW = {"item": 1, "responder_a": "x", "responder_b": "y", "label": "a"}
ROW |= {"judge": "x", "order": "ab", "verdict": "b"}


def read(tmp_path, *rows, judges=("x",), text=None, suffix=".jsonl"):
    path = tmp_path / f"mine{suffix}"
    path.write_text(lines(*rows) if text is None else text)
    found = datasets.read("mine", entry("wataoka", "pairs", list(judges)), path)
    return {name: tables.validate(frame, name, "mine") for name, frame in found.items()}


def test_the_order_puts_candidates_and_probabilities_as_presented(tmp_path):
    row = ROW | {"order": "ba", "verdict": "", "probability_a": 0.6, "probability_b": 0.3}
    verdict = read(tmp_path, row)["verdicts"].iloc[0]
    columns = ["candidates", "probabilities", "mass", "choice"]
    assert verdict[columns].tolist() == [["y", "x"], [0.3, 0.6], pytest.approx(0.9), "x"]
    # Labels and verdicts may name responders.
    found = read(tmp_path, ROW | {"label": "y", "verdict": "x"})
    assert found["labels"]["label"].tolist() == ["b"]
    assert found["verdicts"]["choice"].tolist() == ["x"]


def test_csv_and_jsonl_give_the_same_tables(tmp_path):
    rows = [ROW, ROW | {"order": "ba", "verdict": "tie"}, ROW | {"item": 2, "label": ""}]
    header = ",".join(ROW)
    text = "\n".join([header, *(",".join(str(v) for v in row.values()) for row in rows)])
    one, two = read(tmp_path, *rows), read(tmp_path, text=text, suffix=".csv")
    for name, frame in one.items():
        assert frame.equals(two[name]), name


def test_no_verdict_is_missing_and_no_tie(tmp_path):
    mass = {"probability_a": 0, "probability_b": 0}
    for change, status in (
        ({"verdict": ""}, "unparsable"),
        ({"verdict": ""} | mass, "low-mass"),
        ({"verdict": "a"} | mass, "low-mass"),
    ):
        verdict = read(tmp_path, ROW | change)["verdicts"].iloc[0]
        assert verdict["status"] == status
        assert verdict.isna()["choice"]


def test_only_the_judges_wanted_are_read(tmp_path):
    found = read(tmp_path, ROW, ROW | {"judge": "z"}, judges=["z"])
    assert found["verdicts"]["judge"].tolist() == ["z"]
    with pytest.raises(SelfprefError, match=r"datasets\.mine\.judges: 'z' is unknown; choose of x"):
        read(tmp_path, ROW, judges=["z"])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"label": "z"}, "line 1: label names the unknown responder 'z'"),
        ({"verdict": "neither"}, "verdict names the unknown responder 'neither'"),
        ({"order": "first"}, "order 'first'; give ab, ba or leave it empty"),
        ({"responder_b": "x"}, "are both 'x'"),
        ({"responder_a": "b"}, "responder_a 'b' is what a label calls a side; rename it"),
        ({"judge": ""}, "judge is empty"),
        ({"probability_a": 1.2, "probability_b": 0}, "not in 0..1"),
        ({"probability_a": -0.7, "probability_b": -1.2}, "not logarithms"),
        ({"probability_a": 0.7, "probability_b": 0.7}, "sum of at most 1"),
        ({"probability_a": "nan", "probability_b": 0.7}, "['nan', 0.7] are not two numbers"),
        ({"probability_a": 0.7}, "are not two numbers"),
        ({"probability_a": 0.9, "probability_b": 0.1}, "'b' contradicts the probabilities"),
        ({"repeat": "once"}, "repeat 'once' is not a number"),
        ({"judge": "x\x00"}, r"judge 'x\x00' is not printable; rename it"),
        ({"item": "one\ntwo"}, r"item 'one\ntwo' is not printable"),
    ],
)
def test_a_bad_value_is_named_with_its_line(tmp_path, change, told):
    with pytest.raises(SelfprefError) as failure:
        read(tmp_path, ROW | change)
    assert "mine.jsonl, line 1" in str(failure.value)
    assert told in str(failure.value)
    assert len(str(failure.value).splitlines()) <= 2


def test_the_same_reading_twice_is_refused_unless_numbered(tmp_path):
    with pytest.raises(SelfprefError, match="line 2: the same item, pair, judge and order as"):
        read(tmp_path, ROW, ROW)
    assert len(read(tmp_path, ROW, ROW | {"repeat": 1})["verdicts"]) == 2


def test_contradicting_votes_need_annotators(tmp_path):
    other = ROW | {"order": "ba", "label": "b"}
    with pytest.raises(SelfprefError, match=r"contradicts .*line 1"):
        read(tmp_path, ROW, other)
    two = read(tmp_path, ROW | {"annotator": "p"}, other | {"annotator": "q"})
    assert len(two["labels"]) == 2
    # A vote repeated with every verdict counts once.
    swapped = {"responder_a": "y", "responder_b": "x", "label": "b", "order": "ab"}
    assert len(read(tmp_path, ROW, ROW | swapped)["labels"]) == 1


def test_a_verdict_beside_the_vote_of_each_person_counts_once(tmp_path):
    people = [
        ROW | {"annotator": name, "label": label} for name, label in zip("pqr", "aba", strict=True)
    ]
    found = read(tmp_path, *people)
    assert (len(found["labels"]), len(found["verdicts"])) == (3, 1)
    with pytest.raises(SelfprefError, match="the same item, pair, judge and order"):
        read(tmp_path, *people, people[0])


@pytest.mark.parametrize(
    ("suffix", "text", "told"),
    [
        (".jsonl", lines({"item": 1, "judge": "x"}), "no column 'responder_a'"),
        (".jsonl", lines(ROW) + json.dumps(ROW)[:30], r"mine\.jsonl, line 2: not JSON"),
        (".csv", ",".join(ROW) + "\n1,x,y\n", "line 2: not as many cells as columns"),
    ],
)
def test_a_broken_file_is_named_with_its_line(tmp_path, suffix, text, told):
    with pytest.raises(SelfprefError, match=told):
        read(tmp_path, text=text, suffix=suffix)


def test_half_a_character_is_told_from_a_whole_one(tmp_path):
    """JSON can spell a lone surrogate, which no file of text can hold."""
    half = '"half \\ud83d, nested \\uDC00, whole \\ud83d\\ude42"'
    text = lines(ROW)[:-2] + f', "text_a": {half}, "prompt": {half}}}\n'
    found = read(tmp_path, text=text)
    wanted = "half \ufffd, nested \ufffd, whole \U0001f642"
    assert found["responses"]["text"].tolist() == [wanted]
    assert found["items"]["messages"].iloc[0][0]["content"] == wanted


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_response_may_be_a_megabyte_long(tmp_path, suffix):
    row = ROW | {"text_a": "x" * 2**20}
    text = None if suffix == ".jsonl" else f"{','.join(row)}\n{','.join(map(str, row.values()))}\n"
    found = read(tmp_path, row, text=text, suffix=suffix)
    assert found["responses"]["text"].str.len().tolist() == [2**20]


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SelfprefError, match="correct the path or `source`"):
        datasets.read("mine", entry("wataoka", "pairs", ["x"]), tmp_path / "no.jsonl")
