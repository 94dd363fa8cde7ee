"""What judges leave undecided: ties by reading, and verdicts by what became of them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import PUBLISHED, SETTINGS

from selfpref import tables
from selfpref.studies.wataoka.measure import compute
from selfpref.studies.wataoka.measure.judged import Judged
from selfpref.studies.wataoka.measure.ties import exclusions, judge_ties

# Of judge me on pairs with you: what each order says (me first, you first), and what people say.
SAID = [
    *[("me", "me", "me")] * 12,
    *[("you", "you", "you")] * 11,
    *[("tie", "me", "me")] * 3,
    ("me", "you", "you"),
    ("tie", "tie", "me"),
    ("me", None, "me"),
    ("me", "me", "tie"),
]


def said(n, candidates, choice):
    row = {"study": "wataoka", "item_id": f"d/{n}", "judge": "me", "candidates": candidates}
    return row | {"choice": choice, "status": "ok" if choice else "unparsable"}


@pytest.fixture(scope="module")
def data():
    items = [
        {"study": "wataoka", "item_id": f"d/{n}", "cluster": f"d/{n}", "messages": []}
        for n in range(len(SAID))
    ]
    labels = [
        {"study": "wataoka", "item_id": f"d/{n}", "responder_a": "me", "responder_b": "you"}
        | {"label": {"me": "a", "you": "b", "tie": "tie"}[human]}
        for n, (_, _, human) in enumerate(SAID)
    ]
    verdicts = [
        row
        for n, (one, two, _) in enumerate(SAID)
        for row in (said(n, ["me", "you"], one), said(n, ["you", "me"], two))
    ]
    # Another judge that wrote neither: not in the table of own pairs, but its failures count.
    verdicts += [said(n, ["you", "me"], None) | {"judge": "third"} for n in range(4)]
    verdicts += [said(4, ["you", "me"], "me") | {"judge": "third"}]
    texts = tables.empty("responses").drop(columns="text").assign(length=pd.Series(dtype=int))
    return {
        "items": tables.fill(items, "items"),
        "labels": tables.fill(labels, "labels"),
        "verdicts": tables.fill(verdicts, "verdicts"),
        "responses": texts,
        **{name: tables.empty(name) for name in ("truths", "perplexities")},
    }


def test_each_reading_of_a_tie_leaves_other_pairs(data):
    found = judge_ties(Judged("d", data, SETTINGS)).set_index("judge_tie")
    assert set(found["judge"]) == {"me"}
    # People tie one pair of 31; one has a verdict in one order alone, which is no tie.
    assert (found["n_human"] == 30 - 1 + 0).all()
    assert (found["n_no_verdict"] == 1).all()
    # The reversal and the double tie have no winner under any reading.
    assert found["n_ties"].to_dict() == {"exact": 2, "label-c": 5, "orders-disagree": 2}
    assert (found["n"] == found["n_human"] - found["n_no_verdict"] - found["n_ties"]).all()
    assert found["tp"].to_dict() == {"exact": 15, "label-c": 12, "orders-disagree": 15}
    assert (found["eo"] == 0).all()


def test_ties_that_count_half_leave_every_pair(data):
    half = judge_ties(Judged("d", data, replace(SETTINGS, judge_ties="half")))
    assert (half["n"] == half["n_human"] - half["n_no_verdict"]).all()


def test_the_setting_decides_which_pairs_the_bias_rests_on(data):
    for reading in ("exact", "label-c"):
        use = replace(SETTINGS, judge_tie=reading)
        frames = compute({"d": data}, PUBLISHED, use)
        wanted = frames["judge_ties"].query("dataset == 'd' and judge_tie == @reading")
        for name in ("n", "eo", "eo_lo", "eo_hi"):
            assert frames["fig1b_bias"][name].tolist() == wanted[name].tolist()


def test_failures_are_counted_apart_from_ties_in_either_order(data):
    found = exclusions(Judged("d", data, SETTINGS)).set_index(["judge", "order", "status"])
    mine = found.loc["me"]
    assert mine["n"].to_dict() == {
        ("own first", "response"): 26,
        ("own first", "tie"): 4,
        ("own second", "any failure"): 1,
        ("own second", "response"): 28,
        ("own second", "tie"): 1,
        ("own second", "unparsable"): 1,
        ("all", "any failure"): 1,
        ("all", "response"): 54,
        ("all", "tie"): 5,
        ("all", "unparsable"): 1,
    }
    assert mine.loc[("all", "any failure"), "share"] == pytest.approx(1 / 60)
    assert found.loc[("third", "no own", "any failure"), ["n", "of"]].tolist() == [4, 5]
    parts = mine.query("status != 'any failure'").groupby("order")["share"].sum()
    assert np.allclose(parts, 1)


def test_the_paper_stands_beside_both(data):
    frames = compute({"d": data}, PUBLISHED, SETTINGS)
    ties = frames["judge_ties"].query("judge_tie == 'not stated'").iloc[0]
    assert (ties["n"], round(ties["eo"], 3)) == (2238, 0.520)
    stated = frames["exclusions"].query("dataset == 'chatbot-arena'").iloc[0]
    assert (stated["status"], stated["share"]) == ("any failure", 0.0107)
