"""A file of marks and an answer key: which judge marks its own wrong answers up."""

import json

import numpy as np
import pytest

import selfpref
from selfpref.__main__ import main
from selfpref.card import marks
from selfpref.errors import SelfprefError

JUDGES = ("ann", "bob", "cid")


def rows(items=40, favour=1.5):
    """Marks by key and noise; ann marks her own wrong answers up."""
    rng = np.random.default_rng(5)
    for item in range(items):
        keys = dict(zip(JUDGES, rng.integers(0, 2, 3), strict=True))
        for responder, key in keys.items():
            for judge in JUDGES:
                own = judge == responder == "ann" and not key
                score = 4 + 4 * key + favour * own + rng.normal(scale=0.5)
                names = {"item": item, "judge": judge, "responder": responder}
                yield names | {"score": round(score, 2), "key": int(key)}


def written(tmp_path, records, name="marks.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_a_judge_that_marks_its_own_wrong_answers_up_is_found(tmp_path, capsys):
    path = written(tmp_path, rows())
    made, page = tmp_path / "found.json", tmp_path / "found.html"
    assert main(["measure", str(path), "--json", str(made), "--html", str(page)]) == 0
    text = capsys.readouterr().out
    assert text.startswith(
        "ann: marks its own mistakes up, because it marks its own wrong answers +1."
    )
    assert "ann: marks its own mistakes up" in page.read_text()
    found = json.loads(made.read_text())["judges"]
    assert found["ann"]["favours_itself"] is True
    assert {found[one]["favours_itself"] for one in ("bob", "cid")} <= {None, False}
    wrong = found["ann"]["third_judge"][0]
    assert (wrong["scale"], wrong["kind"]) == ("marks", "both wrong")
    assert wrong["value"] == pytest.approx(1.5, abs=0.3)
    assert wrong["lo"] > 0
    few = selfpref.read(written(tmp_path, rows(items=6), "few.jsonl"), judge="ann")
    assert str(few).startswith("ann: cannot tell, because only")
    assert [*few.answers] == ["ann"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"key": 7}, "line 2: key 7.0 is not between 0 and 1"),
        ({"score": None}, "line 2: no 'score'; it needs item, judge, responder, score, key"),
        ({"judge": "ann"}, "line 2: the same item, judge, responder as in"),
        ({"key": 0.5}, "another key of this answer than in"),
    ],
)
def test_a_bad_row_is_named_with_the_remedy(tmp_path, change, told):
    records = list(rows(items=2))
    records[1] |= change
    with pytest.raises(SelfprefError, match=told):
        marks.read(written(tmp_path, records), {})


def test_marks_of_nobodys_own_answers_and_votes_beside_marks_are_refused(tmp_path, capsys):
    others = [row | {"judge": row["judge"].upper()} for row in rows(items=2)]
    path = written(tmp_path, others)
    assert main(["measure", str(path)]) == 1
    assert "no judge marked an answer of its own; --alias joins names" in capsys.readouterr().err
    joined = [f"--alias={name.upper()}={name}" for name in JUDGES]
    assert main(["measure", str(path), *joined]) == 0
    (votes := tmp_path / "votes.jsonl").write_text(path.read_text())
    assert main(["measure", str(path), "--votes", str(votes)]) == 1
    assert "marks have a key, and no votes" in capsys.readouterr().err
