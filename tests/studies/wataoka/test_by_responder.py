"""EO towards every responder, and what of the paper's value needs no self."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import PUBLISHED, SETTINGS, counted, entry, lines

from selfpref import tables
from selfpref.formats import pairs
from selfpref.studies.wataoka.draw import by_responder as draw
from selfpref.studies.wataoka.measure import compute
from selfpref.studies.wataoka.measure.by_responder import (
    agreement_with_human,
    bias_by_judge_and_responder,
    wins_by_human,
)
from selfpref.studies.wataoka.measure.judged import Judged
from selfpref.studies.wataoka.measure.without_self import without_self

# Whose response the human and the judge j choose, of each pair, and how often.
CHOICES = {
    ("j", "k"): {("j", "j"): 12, ("j", "k"): 3, ("k", "j"): 4, ("k", "k"): 11},
    ("k", "m"): {("k", "k"): 8, ("m", "m"): 2, ("m", "k"): 1, ("tie", "k"): 5, ("k", "tie"): 2},
}
PAPER = pd.DataFrame({"judge": ["gpt-4"], "eo": [0.520438]})


def judged(name, votes, verdicts=()):
    """A data set from (item, a, b, annotator, label) and (item, a, b, judge, choice)."""
    labels = pd.DataFrame(
        votes, columns=["item_id", "responder_a", "responder_b", "annotator", "label"]
    )
    rows = [
        {"item_id": item, "candidates": [a, b], "judge": judge, "choice": choice}
        for item, a, b, judge, choice in verdicts
    ]
    items = [
        {"item_id": item, "cluster": item, "messages": []} for item in sorted({*labels["item_id"]})
    ]
    made = {
        "items": tables.fill(items, "items", study="wataoka"),
        "labels": tables.fill(labels, "labels", study="wataoka"),
        "verdicts": tables.fill(rows, "verdicts", study="wataoka", status="ok")
        if rows
        else tables.empty("verdicts"),
    }
    return Judged(name, made, SETTINGS)


@pytest.fixture(scope="module")
def data():
    votes, verdicts = [], []
    for (a, b), counts in CHOICES.items():
        for (human, judge), times in counts.items():
            for _ in range(times):
                item = f"set/{len(votes)}"
                label = {a: "a", b: "b"}.get(human, human)
                votes.append((item, a, b, "human", label))
                verdicts.append((item, a, b, "j", judge))
    return judged("set", votes, verdicts)


def test_every_responder_has_a_row_its_author_or_not(data):
    found = bias_by_judge_and_responder(data).set_index("responder")
    assert found["own"].to_dict() == {"j": True, "k": False, "m": False}
    assert found.loc["j", ["tp", "fn", "fp", "tn"]].tolist() == [12, 3, 4, 11]
    # k meets both: 11 + 8 right on its own side, 4 + 0 wrong, and so on.
    assert found.loc["k", ["tp", "fn", "fp", "tn"]].tolist() == [19, 4, 4, 14]
    assert found.loc["k", "eo"] == pytest.approx(19 / 23 - 14 / 18)
    assert found.loc["k", ["n_human_own", "n_human_other", "n_dropped"]].tolist() == [23, 18, 7]
    assert found["few"].to_dict() == {"j": False, "k": False, "m": True}
    assert found["eo"].between(found["eo_lo"], found["eo_hi"]).all()


def test_a_judge_without_responses_has_its_agreement(data):
    found = agreement_with_human(data).iloc[0]
    assert (found["n"], found["n_dropped"], found["responds"]) == (41, 7, True)
    assert found["agreement"] == pytest.approx((12 + 11 + 8 + 2) / 41)
    assert 0 < found["agreement_lo"] < found["agreement"] < found["agreement_hi"] < 1


def test_wins_count_every_decided_vote_and_tell_ties_apart(data):
    found = wins_by_human(data).set_index("responder")
    assert found.loc["k", ["n", "n_won", "n_lost", "n_ties"]].tolist() == [43, 25, 18, 5]
    assert found.loc["m", "win_rate"] == pytest.approx(3 / 13)


def votes_of(name, p, annotators, rng):
    """A pair an item with gpt-4's response, and votes for it with its own probability."""
    rows = []
    for number, chance in enumerate(p):
        for annotator in range(annotators):
            label = "a" if rng.random() < chance else "b"
            rows.append((f"{name}/{number}", "gpt-4", "other", str(annotator), label))
    return judged(name, rows)


def test_another_person_in_the_judges_place_is_found_from_two_sets_of_votes(rng):
    # Beta(3.2, 0.8) and Beta(2, 2) spread alike: rho = 1 / (a + b + 1).
    arena = votes_of("arena", rng.beta(3.2, 0.8, 4000), 1, rng)
    other = votes_of("other", rng.beta(2, 2, 4000), 3, rng)
    (row,) = without_self([arena, other], PAPER).to_dict("records")
    assert (row["votes_of"], row["n"], row["n_two_votes"]) == ("other", 4000, 4000)
    assert row["win_rate"] == pytest.approx(0.8, abs=0.02)
    assert row["agreement_beyond_chance"] == pytest.approx(1 / 5, abs=0.03)
    truth = (2 * 0.8 - 1) * (1 - 1 / 5)
    assert row["eo_without_self_lo"] < truth < row["eo_without_self_hi"]
    assert row["share_of_printed"] == pytest.approx(row["eo_without_self"] / 0.520438)


def test_without_arena_or_the_papers_counts_there_is_nothing_to_say(rng):
    arena = votes_of("arena", np.full(30, 0.5), 1, rng)
    other = votes_of("other", np.full(30, 0.5), 2, rng)
    assert without_self([other], PAPER).empty
    assert without_self([arena, other], PAPER.iloc[:0]).empty
    assert without_self([arena], PAPER).empty


def towards(**columns):
    """Rows of `bias_by_judge_and_responder`."""
    rows = {"dataset": "arena", "judge": "gpt-4", "own": False, "few": False, "n": 40}
    bounds = {"eo_lo": -0.1, "eo_hi": 0.5, "n_dropped": 3}
    return pd.DataFrame({**rows, **bounds, **columns})


SIGNS = pd.DataFrame({"judge": ["koala"], "sign": [1]})
COUNTS = pd.DataFrame({"judge": ["gpt-4"], "eo": 0.5, "eo_lo": 0.4, "eo_hi": 0.6})
EXPECTED = pd.DataFrame(
    {
        "votes_of": ["set"],
        "eo_without_self": 0.3,
        "eo_without_self_lo": 0.2,
        "eo_without_self_hi": 0.4,
    }
)
PARAMS = SimpleNamespace(bootstrap=SimpleNamespace(level=0.95, method="percentile", resamples=200))


def notes(figure):
    return [text.get_text() for text in figure.axes[0].child_axes[0].get_yticklabels()]


def test_responders_stand_in_the_order_of_their_bias_and_authors_are_marked():
    rows = towards(responder=["a", "gpt-4", "b"], eo=[0.1, 0.9, 0.4], own=[False, True, False])
    plate = draw.towards(rows, PARAMS)
    axes = plate.figure.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["GPT-4", "b", "a"]
    assert "60 comparisons by GPT-4" in plate.caption
    assert "each is counted for both models" in plate.caption


def test_a_responder_without_a_value_has_no_row():
    rows = towards(responder=["a", "mine"], eo=[0.1, None])
    axes = draw.towards(rows, PARAMS).figure.axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a"]


def test_what_the_paper_says_stands_beside_each_model():
    rows = towards(responder=["llama", "koala"], eo=[-0.3, 0.2])
    plate = draw.without_a_self(rows, COUNTS, SIGNS, EXPECTED, PARAMS)
    names = [tick.get_text() for tick in plate.figure.axes[0].get_yticklabels()]
    assert names == ["GPT-4", "koala", "llama"]
    assert notes(plate.figure) == ["largest", "+", "not stated"]


def test_the_paper_has_the_same_signs_only_where_every_interval_leaves_out_0():
    def message(lo, hi, **changed):
        rows = towards(responder=["koala"], eo=[0.2]).assign(eo_lo=lo, eo_hi=hi, **changed)
        plate = draw.without_a_self(rows, COUNTS, SIGNS, EXPECTED, PARAMS)
        return plate.figure.legends[0].get_title().get_text()

    assert message(0.1, 0.3).startswith("Towards models it is not")
    assert message(-0.1, 0.3) == message(-0.3, -0.1, eo=-0.2) == ""
    assert message(0.1, 0.3, responder="other") == ""


@pytest.mark.parametrize(
    "plate",
    [
        lambda rows: draw.towards(rows, PARAMS),
        lambda rows: draw.without_a_self(rows, COUNTS, SIGNS, EXPECTED, PARAMS),
    ],
)
def test_without_rows_the_pictures_say_so(plate):
    nothing = towards(responder=["a"], eo=[0.1]).iloc[:0]
    assert plate(nothing).caption.startswith("Not drawn: no judge")


def test_a_users_judge_that_wrote_nothing_has_the_same_table(tmp_path):
    row = {"responder_a": "x", "responder_b": "y", "judge": "onlooker", "order": "ab"}
    votes = [("a", "a"), ("b", "a"), ("a", "b"), ("b", "b"), ("tie", "a")]
    rows = [row | {"item": n, "label": h, "verdict": v} for n, (h, v) in enumerate(votes)]
    (tmp_path / "mine.jsonl").write_text(lines(*rows))
    found = pairs.read("mine", entry("wataoka", "pairs", ["onlooker"]), tmp_path / "mine.jsonl")
    data = Judged("mine", found, SETTINGS)
    assert data.judges == []
    towards = bias_by_judge_and_responder(data).set_index("responder")
    assert towards[["tp", "fn", "fp", "tn"]].to_numpy().tolist() == [[1, 1, 1, 1]] * 2
    assert not towards["own"].any()
    assert agreement_with_human(data)["agreement"].tolist() == [0.5]
    none = {name: tables.empty(name) for name in ("truths", "perplexities")}
    texts = {"responses": counted(found["responses"])}
    frames = compute({"mine": none | found | texts}, PUBLISHED, SETTINGS)
    assert frames["fig1b_bias"].empty
    assert len(frames["bias_by_judge_and_responder"]) == 2
