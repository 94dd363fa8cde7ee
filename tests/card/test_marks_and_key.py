"""A file of marks and an answer key: which judge marks its own wrong answers up."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import lines, refused

from selfpref.__main__ import main
from selfpref.card import marks

pytestmark = pytest.mark.usefixtures("repository")
JUDGES = ("ann", "bob", "cid")


def written(items=40, **second):
    """Marks by key and noise; ann marks her own wrong answers up. The second row is changed."""
    rng, records = np.random.default_rng(5), []
    for item in range(items):
        keys = dict(zip(JUDGES, rng.integers(0, 2, 3), strict=True))
        for (responder, key), judge in product(keys.items(), JUDGES):
            own = judge == responder == "ann" and not key
            score = 4 + 4 * key + 1.5 * own + rng.normal(scale=0.5)
            row = {"item": item, "judge": judge, "responder": responder, "key": int(key)}
            records.append(row | {"score": round(score, 2)})
    records[1] |= second
    (path := Path("marks.jsonl")).write_text(lines(*records))
    return path


def test_a_judge_that_marks_its_own_wrong_answers_up_is_found(capsys):
    written()
    assert main(["measure", "marks.jsonl", "--json=a", "--html=a.html", "--fail-on=marks"]) == 1
    told = "ann: marks its own mistakes up, equally wrong ones too"
    out = capsys.readouterr().out
    assert out.startswith(f"{told}, because of two wrong answers it marks its own +1.")
    assert told in Path("a.html").read_text()
    found = json.loads(Path("a").read_text())["judges"]
    assert found["ann"]["favours_itself"] is None
    assert {found[one]["favours_itself"] for one in ("bob", "cid")} <= {None, False}
    wrong = found["ann"]["third_judge"][0]
    assert (wrong["scale"], wrong["kind"]) == ("marks", "both wrong")
    assert wrong["value"] == pytest.approx(1.5, abs=0.3)
    assert wrong["lo"] > 0


@pytest.mark.parametrize(
    ("lo", "hi", "items", "favours", "said"),
    [
        (0.1, 0.9, 10, True, "marks its own mistakes up, equally wrong ones too"),
        (0.1, 0.9, 9, None, "cannot tell"),
        (-0.1, 0.19, 10, False, "by at most 0.190 points, if at all"),
        (-0.1, 0.21, 10, None, "cannot tell"),
    ],
)
def test_a_fifth_of_a_standard_deviation_is_little(lo, hi, items, favours, said):
    row = {"value": 0.1, "lo": lo, "hi": hi, "items": items, "spread": 1.0}
    kinds = (marks.BOTH, marks.BEYOND, marks.ALIKE, marks.OWN)
    found = marks.answer(pd.DataFrame(dict.fromkeys(kinds, row)).T)
    assert (found.favours, found.verdict) == (favours, said)
    if favours:
        unsure = pd.DataFrame(dict.fromkeys(kinds, row) | {marks.ALIKE: row | {"lo": -0.1}}).T
        told = "marks its own mistakes up; of equally wrong ones: cannot tell"
        assert marks.answer(unsure).verdict == told
    told = f"; +0.10 [{lo:+.2f}, {hi:+.2f}] where the other answer is right"
    assert (told in found.because) == (items == 10 and not favours)
    # What it does beside a right answer has to be small, too.
    if favours is False:
        unsure = pd.DataFrame(dict.fromkeys(kinds, row) | {marks.OWN: row | {"hi": 0.21}}).T
        assert marks.answer(unsure).verdict == "cannot tell"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"key": 7}, "line 2: key 7.0 is not between 0 and 1"),
        ({"judge": "ann"}, "line 2: the same item, judge, responder as in"),
        ({"key": 0.5}, "another key of this answer than in"),
    ],
)
def test_a_bad_row_is_named_with_the_remedy(change, told):
    with refused(match=told):
        marks.read(written(items=2, **change), {})


def test_marks_of_nobodys_own_answers_and_votes_beside_marks_are_refused(capsys):
    rows = pd.read_json(written(items=2), lines=True).rename(columns={"item": "qid"})
    rows.assign(judge=rows["judge"].str.upper()).to_csv("up.csv", index=False)
    given = ["measure", "up.csv", "--columns=item=qid"]
    assert main(given) == 1
    assert "no judge marked an answer of its own; --alias joins names" in capsys.readouterr().err
    assert main([*given, *[f"--alias={name.upper()}={name}" for name in JUDGES]]) == 0
    assert main([*given, "--votes=marks.jsonl"]) == 1
    assert "marks have a key, and no votes" in capsys.readouterr().err
