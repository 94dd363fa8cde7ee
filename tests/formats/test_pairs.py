"""A user's own judgments: what every column means in each kind of file, and what is refused."""

import pandas as pd
import pytest
from conftest import entry, lines

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats import datasets, judgments

ROW = {"item": 1, "responder_a": "x", "responder_b": "y", "label": "a"}
ROW |= {"judge": "x", "order": "ab", "verdict": "b"}
NOTHING = {"verdict": "", "probability_a": 0, "probability_b": 0}


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


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"verdict": ""}, "unparsable"),
        (NOTHING, "low-mass"),
        (NOTHING | {"verdict": "a"}, "low-mass"),
    ],
)
def test_no_verdict_is_missing_and_no_tie(tmp_path, change, status):
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
        ({"label": "z"}, "label 'z'; give a, b, tie or a responder"),
        ({"verdict": "neither"}, "verdict 'neither'; give a, b, tie or a responder"),
        ({"order": "first"}, "order 'first'; give ab, ba or leave it empty"),
        ({"responder_b": "x"}, "both responders are 'x'"),
        ({"responder_a": "b"}, "responder_a 'b'; fill or rename it"),
        ({"item": None}, "item nan; fill or rename it"),
        ({"judge": ""}, "no judge"),
        ({"probability_a": 1.2, "probability_b": 0}, "probabilities 1.2, 0.0; give two from 0 to"),
        ({"probability_a": -0.7, "probability_b": -1.2}, "not logarithms or percentages"),
        ({"probability_a": "nan", "probability_b": 0.7}, "probability_a 'nan' is no number"),
        ({"probability_a": 0.7}, "give two from 0 to 1"),
        ({"probability_a": 0.9, "probability_b": 0.1}, "'b' contradicts the probabilities"),
        ({"repeat": "once"}, "repeat 'once' is no number"),
        ({"item": "one\ntwo"}, r"item 'one\ntwo'; fill or rename it"),
    ],
)
def test_a_bad_value_is_named_with_its_line(tmp_path, change, told):
    with pytest.raises(SelfprefError) as failure:
        read(tmp_path, ROW, ROW | {"item": 2} | change)
    assert str(failure.value).startswith(f"{tmp_path / 'mine.jsonl'}, line 2: ")
    assert told in str(failure.value)
    assert len(str(failure.value).splitlines()) == 1


def test_what_stands_twice_is_refused_unless_numbered_or_of_another_person(tmp_path):
    with pytest.raises(SelfprefError, match="line 2: the same item, pair, judge and order as"):
        read(tmp_path, ROW, ROW)
    assert len(read(tmp_path, ROW, ROW | {"repeat": 1})["verdicts"]) == 2
    other = ROW | {"order": "ba", "label": "b"}
    with pytest.raises(SelfprefError, match=r"contradicts .*line 1"):
        read(tmp_path, ROW, other)
    two = read(tmp_path, ROW | {"annotator": "p"}, other | {"annotator": "q"})
    assert len(two["labels"]) == 2
    # A vote repeated with every verdict counts once, and a verdict beside several votes.
    swapped = {"responder_a": "y", "responder_b": "x", "label": "b", "order": "ab"}
    assert len(read(tmp_path, ROW, ROW | swapped)["labels"]) == 1
    people = [ROW | {"annotator": who, "label": of} for who, of in (("p", "a"), ("q", "b"))]
    found = read(tmp_path, *people)
    assert (len(found["labels"]), len(found["verdicts"])) == (2, 1)
    with pytest.raises(SelfprefError, match="the same item, pair, judge and order"):
        read(tmp_path, *people, people[0])


@pytest.mark.parametrize(
    ("name", "write", "how"),
    [
        ("f.json", "to_json", {"orient": "records"}),
        ("f.jsonl.gz", "to_json", {"orient": "records", "lines": True}),
        ("f.csv.gz", "to_csv", {"index": False}),
        ("f.txt", "to_csv", {"index": False, "sep": "\t"}),
        ("f.parquet", "to_parquet", {}),
    ],
)
def test_rows_are_the_same_in_every_kind_of_file(tmp_path, name, write, how):
    """A response may be a megabyte long."""
    rows = [ROW | {"text_a": "x" * 2**20}, ROW | {"order": "ba", "verdict": "tie"}]
    (tmp_path / "wanted.jsonl").write_text(lines(*rows))
    getattr(pd.DataFrame(rows), write)(tmp_path / name, **how)
    found, wanted = (
        judgments.read(tmp_path / one, texts=True).drop(columns="place")
        for one in (name, "wanted.jsonl")
    )
    pd.testing.assert_frame_equal(found, wanted)


@pytest.mark.parametrize("name", ["f.parquet", "f.jsonl.gz", "f.jsonl"])
def test_a_file_cut_short_is_told_in_a_line(tmp_path, name):
    path = tmp_path / name
    if name == "f.parquet":
        pd.DataFrame([ROW]).to_parquet(path)
    else:
        pd.DataFrame([ROW, ROW]).to_json(path, orient="records", lines=True)
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(SelfprefError, match="give a whole file") as refused:
        judgments.read(path)
    assert len(str(refused.value).splitlines()) == 1
    assert str(refused.value).startswith(str(path))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SelfprefError, match="correct the path or `source`"):
        datasets.read("mine", entry("wataoka", "pairs", ["x"]), tmp_path / "no.jsonl")
    with pytest.raises(SelfprefError, match="a folder without review files"):
        judgments.read(tmp_path)
    (tmp_path / "f.csv").write_text(",".join(ROW) + "\n1,x,y\n")
    with pytest.raises(SelfprefError, match="line 2: not as many cells as columns"):
        judgments.read(tmp_path / "f.csv")
