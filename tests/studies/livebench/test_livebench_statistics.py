"""The statistics of the LiveBench study on rows written by hand, and on planted judges."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS
from study_frames import equal

from selfpref import tables
from selfpref.studies.livebench import excess, panel

NAMES = ["x", "y", "z"]


def verdict(item, judge, choice, candidates=NAMES, **more):
    row = {"item_id": item, "judge": judge, "candidates": [*candidates], "choice": choice}
    return row | {"variant": "plain", "repeat": 0, "status": "ok", "order_known": True} | more


def votes(text):
    """What x, y and z chose on the items c/0, c/1, ..."""
    rows = enumerate(text.split())
    return [verdict(f"c/{n}", *one) for n, row in rows for one in zip(NAMES, row, strict=True)]


def filled(name, rows, **constants):
    return tables.validate(tables.fill(rows, name, study="livebench", **constants), name, name)


def study(verdicts, truths=(), ratings=(), texts=None, margin=0.0):
    """A study of one task a category; the category stands before the slash of an item's id."""
    ids = sorted({row["item_id"] for row in [*verdicts, *truths, *ratings]})
    texts = texts or {key: " ".join(key) for key in product(ids, NAMES)}
    items = [{"item_id": one, "cluster": one, "category": one.partition("/")[0]} for one in ids]
    said = [{"item_id": item, "responder": name, "text": t} for (item, name), t in texts.items()]
    made = {
        "items": filled("items", items, messages=[[]] * len(ids), metadata='{"task": "only"}'),
        "responses": filled("responses", said, status="ok"),
        "verdicts": filled("verdicts", verdicts),
        "truths": filled("truths", truths),
        "ratings": filled("ratings", ratings, task="rubric"),
    }
    return panel.Panel(made, margin, SETTINGS.bootstrap)


def of(frame, *key, **where):
    """The rows of one category or task, by what else tells them apart."""
    for name, value in where.items():
        frame = frame[frame[name].eq(value)]
    return frame.set_index(list(key))


def test_what_there_is_and_what_failed_is_counted():
    truths = [{"item_id": "c/0", "responder": "x", "metric": "key", "score": 1.0}]
    rating = {"item_id": "c/1", "responder": "x", "judge": "y"}
    failed = rating | {"judge": "z", "score": None, "status": "unparsable"}
    ratings = [rating | {"score": 3.0, "status": "ok"}, failed]
    found = panel.counted(study(votes("xyz xyz"), truths, ratings))
    equal(found, "items clusters keyed failed", (2, 2, 1, 1), category="c", task="only")


def test_shares_count_ties_and_leave_failures_out():
    rows = [verdict(f"c/{n}", "x", choice) for n, choice in enumerate(["x", "x", "y", "tie"])]
    found = study([*rows, verdict("c/9", "x", None, status="refused")])
    shares = ("x", 0.5, 4), ("y", 0.25, 4), ("z", 0, 4)
    equal(panel.preference_shares(found), "responder share n", *shares, task="all")
    counts = ("chosen", 3), ("refused", 1), ("tie", 1)
    equal(panel.outcomes(found), "outcome n", *counts, task="all")


def test_votes_of_a_category_under_every_rule():
    shown = ["y", "z", "x"]
    rows = [
        *votes("xxy xyz zxx"),
        verdict("c/1", "breaker", "y", shown, variant="tie-break"),
        verdict("c/1", "breaker", "z", shown, variant="tie-break-released"),
    ]
    shares, ends = panel.majority_votes(study(rows))
    table = shares.pivot(index="rule", columns="responder", values="share")
    # Of three rows. Without x itself, y and z both chose x once, on the last row.
    assert (3 * table).round(9).T.to_dict("list") == {
        "corrected": [2, 1, 0],
        "leave-self-out": [1, 0, 0],
        "released": [2, 0, 1],
        "two-of-three": [2, 0, 0],
    }
    undecided = of(shares, "rule", responder="x")["undecided"]
    assert undecided[["two-of-three", "leave-self-out"]].tolist() == [1, 2]
    assert of(ends, "outcome", rule="corrected")["n"].to_dict() == {"majority": 2, "tie-break": 1}
    # What the tie-breaker read, chose, and who was credited; a failed call is counted.
    rows.append(verdict("c/2", "breaker", None, shown, variant="tie-break", status="refused"))
    calls = panel.tie_breaks(study(rows)).set_index("item_id")
    assert calls["shown"].map(list).tolist() == [shown, shown]
    assert calls.loc["c/1", ["judge", "chosen", "credited"]].tolist() == ["breaker", "y", "z"]
    assert calls.loc["c/2", ["chosen", "credited"]].isna().all()


def test_the_excess_is_own_minus_others_on_the_same_rows():
    found = of(excess.excess(study(votes("xxz xyz yyx xyx"))), "judge", task="all").loc["x"]
    # x chose itself on rows 0, 1, 3; y and z together chose x on 1/2, 0, 1/2, 1/2 of them.
    assert found[["excess", "n"]].tolist() == [pytest.approx(3 / 4 - 3 / 8), 4]


def test_p_values_are_those_of_holm_and_of_turned_signs(rng):
    # Holm (1979): 3 p, 2 p, 1 p in order, never falling, at most 1.
    assert excess.holm(pd.Series([0.01, 0.04, 0.03])).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert excess.holm(pd.Series([0.5, 0.6])).tolist() == [1, 1]
    # Three equal sums: all signs alike in 2 of 8 assignments.
    assert excess.sign_flip_p(np.ones(3), 40_000, rng) == pytest.approx(0.25, abs=0.01)
    assert excess.sign_flip_p(np.zeros(5), 100, rng) == 1


def test_under_cyclic_orders_a_judge_of_places_ties_and_one_that_prefers_itself_does_not():
    """In c x takes what stands first; in d it takes its own; y and z choose the better response."""
    rows = []
    for number, (repeat, order) in product(range(40), enumerate(("xyz", "yzx", "zxy"))):
        best = NAMES[number % 3]
        for judge, chosen in {"x": (order[0], "x"), "y": best * 2, "z": best * 2}.items():
            pairs = zip("cd", chosen, strict=True)
            rows += [verdict(f"{c}/{number}", judge, one, order, repeat=repeat) for c, one in pairs]
    found = study(rows)
    table = of(panel.position(found), "quantity", "judge", category="c")["share"]
    assert table["first position", "x"] == 1
    assert table["changed with the order"].to_dict() == {"x": 1, "y": 0, "z": 0}
    own = of(excess.excess(found), "category", task="all", judge="x")
    assert own["excess"].tolist() == pytest.approx([-14 / 40, 1 - 14 / 40])
    assert own.loc["d", "p_holm"] < 0.05
    # By the drawn order alone x always chooses itself: it stands first.
    by = of(excess.by_orders(found), "orders", judge="x")[["own", "excess", "first"]]
    assert by.loc[excess.ONE].tolist() == pytest.approx([1, 1 - 14 / 40, 1])
    assert by.loc[excess.EVERY].tolist() == pytest.approx([1 / 2, 1 / 2 - 14 / 40, 2 / 3])


def test_among_copies_only_the_place_is_chosen():
    said = {
        "c/0": ("same  words", "same words", "same words"),
        "c/1": ("one", "two", " two\n"),
        "c/2": ("x", "y", "z"),
    }
    texts = {(item, name): row[n] for item, row in said.items() for n, name in enumerate(NAMES)}
    rows = [verdict(item, "j", choice) for item, choice in zip(said, "xzx", strict=True)]
    # Neither in a tie-break nor in an order that nobody knows has a choice a place.
    rows.append(verdict("c/1", "j", "y", variant="tie-break"))
    rows.append(verdict("c/0", "j", "z", repeat=1, order_known=False))
    wanted = [("first position", 2 / 3, 3, 3, 1 / 3), ("earliest of 2 copies", 0, 1, 1, 1 / 2)]
    wanted.append(("earliest of 3 copies", 1, 1, 1, 1 / 3))
    found = panel.position(study(rows, texts=texts))
    equal(found, "quantity share n items chance", *wanted, category="c")


def test_harmful_neutral_and_legitimate_choices_of_itself():
    # x beside y and z: twice worse, twice as good, once better; the last row has x's score alone.
    rows = votes("xyx yyy xyy yyy xyy xxx")
    scores = [(0, 1, 0), (0.5, 0, 1), (1, 1, 0), (0, 0, 0), (1, 0, 0)]
    known = [
        {"item_id": f"c/{n}", "responder": name, "metric": metric, "score": float(row[place])}
        for (n, row), (place, name) in product(enumerate(scores), enumerate(NAMES))
        for metric in ("strict", "tolerant")
    ]
    known.append({"item_id": "c/5", "responder": "x", "metric": "strict", "score": 1.0})
    x = of(excess.objective(study(rows, known)), "judge", category="c", scoring="strict").loc["x"]
    wanted = {"n": 5, "n_self": 3, "n_harmful": 2, "n_neutral": 2, "n_legitimate": 1}
    wanted |= {"harmful": 1 / 2, "others_harmful": 1 / 4, "harmful_beyond": 1 / 4}
    wanted |= {"neutral": 1 / 2, "legitimate": 1, "legitimate_beyond": 1}
    wanted |= {"self_harmful": 1 / 3, "self_neutral": 1 / 3, "self_legitimate": 1 / 3}
    assert x[list(wanted)].to_dict() == pytest.approx(wanted)
    near = of(excess.objective(study(rows, known, margin=0.6)), "judge", category="c")
    assert near.loc["x", "n_harmful"].tolist() == [1, 1]


def test_kappa_of_fleiss_by_hand():
    # Two options, three judges: rows aaa, aab. P_i = 1, 1/3; P_e = (5/6)^2 + (1/6)^2.
    found, chance = panel.agreement(study(votes("xxx xxy"))), 26 / 36
    row = ((2 / 3 - chance) / (1 - chance), 0.5, 3, 2, 0)
    equal(found, "kappa unanimous judges n n_dropped", row, task="all")
    assert panel.fleiss(np.tile([3.0, 3.0, 2.0, 2.0], (3, 1))).tolist() == [1, 1, 1]
    assert np.isnan(panel.fleiss(np.array([6.0, 2.0, 2.0])))


@pytest.mark.parametrize(("most", "d"), [(1.0, 1.5), (0.95, 1.0)])
def test_a_judge_that_gives_everything_the_top_mark_is_no_third_judge(most, d):
    totals = {"x": (5, 3, 4), "y": (4, 4, 4), "z": (11, 11, 11)}
    ratings = [
        {"item_id": "c/0", "judge": judge, "responder": name, "score": score, "status": "ok"}
        for judge, row in totals.items()
        for name, score in zip(NAMES, row, strict=True)
    ]
    known = [{"item_id": "c/0", "metric": "strict", "score": 0.0, "responder": n} for n in NAMES]
    found = excess.third_judge(study(votes("xyz"), known, ratings), most)
    found = of(found, "judge", "kind", category="all", scale="marks", scoring="strict")
    assert found.loc[("x", "both wrong"), "value"] == d


def test_scores_leave_failures_out_and_count_the_top():
    rated = [
        {"item_id": f"c/{n}", "responder": "x", "judge": "x", "score": score, "status": status}
        for n, (score, status) in enumerate([(11, "ok"), (8, "ok"), (None, "unparsable")])
    ]
    found = panel.scores(study([verdict("c/0", "x", "x")], ratings=rated))
    equal(found.head(1), "mean n saturated", (9.5, 2, 0.5))


@pytest.mark.parametrize(
    ("votes", "call", "end"),
    [
        (["A", "A", "B"], "C", ("A", "majority")),
        # One vote of three is no majority, whatever became of the others; a tie is for nobody.
        ([None, None, "C"], (), (None, "no majority")),
        (["A", "tie", "tie"], (), (None, "no majority")),
        # Of two voters both must agree, of four three.
        (["A", "B"], (), (None, "no majority")),
        (["A", "A", "B", "B"], (), (None, "no majority")),
        (["A", "B", "C"], "B", ("B", "tie-break")),
        # The tie-breaker failed, or would not decide.
        (["A", "B", "C"], None, (None, "tie-breaker failed")),
        (["A", "B", "C"], "tie", (None, "tie-breaker failed")),
    ],
)
def test_a_winner_has_more_than_half_of_all_judges_else_the_tie_breaker_decides(votes, call, end):
    calls = panel.NOBODY if call == () else pd.Series({"item": call}, dtype="str")
    cast = pd.DataFrame({"item_id": "item", "judge": range(len(votes)), "choice": votes})
    one = panel.ended(cast.astype({"choice": "str"}), calls).iloc[0]
    assert (None if pd.isna(one["winner"]) else one["winner"], one["outcome"]) == end


@pytest.mark.parametrize(
    ("read", "wanted"),
    [
        # A choice counts if it survives the orders; a verdict that failed leaves none.
        ([("xy", "x", "ok"), ("yx", "x", "ok")], ("x", "chosen", 2)),
        ([("xy", "x", "ok"), ("yx", "y", "ok")], ("tie", "unstable", 2)),
        ([("xy", "x", "ok"), ("yx", None, "refused")], (None, "refused", 2)),
    ],
)
def test_several_orders_become_one_choice(read, wanted):
    votes = pd.DataFrame(read, columns=["candidates", "choice", "status"])
    place = {"item_id": "i", "category": "c", "task": "t", "cluster": "i", "judge": "j"}
    (row,) = panel.settled(votes.assign(**place)).itertuples()
    assert row.candidates == ["x", "y"]
    assert (None if pd.isna(row.choice) else row.choice, row.outcome, row.orders) == wanted


def test_a_judge_against_all_others_is_counted_with_the_tie_breaker():
    rows = votes("xyz xxy yyz xzz")
    # Nobody else decided the last question.
    rows += [verdict("c/4", "x", "x"), verdict("c/4", "y", None, status="failed")]
    calls = pd.DataFrame({"item_id": ["c/0", "c/3"], "chosen": ["y", "x"]})
    found = excess.against_all(study(rows), calls)
    equal(found, "judge n alone", ("x", 4, 2), ("y", 4, 1), ("z", 4, 2))
    equal(found, "share asked elsewhere", (0.5, 2, 1), judge="x")
