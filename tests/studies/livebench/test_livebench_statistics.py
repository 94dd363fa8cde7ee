"""The statistics of the LiveBench study on rows written by hand, and on planted judges."""

import itertools
import json

import numpy as np
import pandas as pd
import pytest

from selfpref import tables
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.livebench.excess import excess, holm, objective, sign_flip_p
from selfpref.studies.livebench.panel import Panel, outcomes, preference_shares
from selfpref.studies.livebench.position import position
from selfpref.studies.livebench.ratings import scores
from selfpref.studies.livebench.votes import agreement, fleiss, majority_votes, tie_breaks

INTERVALS = ClusterBootstrap(300, seed=1)
NAMES = ["x", "y", "z"]


def verdict(item, judge, choice, candidates=NAMES, variant="plain", repeat=0, status="ok"):
    return {
        "item_id": item,
        "judge": judge,
        "variant": variant,
        "candidates": list(candidates),
        "repeat": repeat,
        "choice": choice,
        "status": status,
    }


def panel(verdicts, truths=(), ratings=(), texts=None, margin=0.0):
    """A study of one task a category; the category stands before the slash of an item's id."""
    ids = sorted({row["item_id"] for row in [*verdicts, *truths, *ratings]})
    items = pd.DataFrame(
        {
            "item_id": ids,
            "category": [item.partition("/")[0] for item in ids],
            "cluster": ids,
            "messages": [[] for _ in ids],
            "reference": None,
            "metadata": json.dumps({"task": "only"}),
        }
    )
    texts = texts or {
        (item, name): f"{item} {name}" for item, name in itertools.product(ids, NAMES)
    }
    responses = [
        {"item_id": item, "responder": name, "text": text} for (item, name), text in texts.items()
    ]
    frames = {
        "items": items,
        "responses": pd.DataFrame(responses).assign(step=0, sample=0, status="ok"),
        "verdicts": pd.DataFrame(verdicts).assign(
            task="preference", order_known=True, probabilities=None, mass=None, stored=None
        ),
        "truths": pd.DataFrame(truths or None, columns=["item_id", "responder", "metric", "score"]),
        "ratings": pd.DataFrame(
            ratings or None,
            columns=["item_id", "responder", "judge", "score", "stored", "status"],
        ).assign(
            step=0,
            sample=0,
            task="rubric",
            variant="plain",
            repeat=0,
            marks=None,
            distribution=None,
            mass=None,
            reply=None,
        ),
    }
    frames["truths"]["step"] = 0
    checked = {
        name: tables.validate(frame.assign(study="livebench"), name, name)
        for name, frame in frames.items()
    }
    return Panel(checked, margin, INTERVALS)


def test_shares_count_ties_and_leave_failures_out():
    rows = [verdict(f"c/{n}", "x", choice) for n, choice in enumerate(["x", "x", "y", "tie"])]
    found = panel([*rows, verdict("c/9", "x", None, status="refused")])
    shares = preference_shares(found).query("task == 'all'").set_index("responder")
    assert shares["share"].to_dict() == {"x": 0.5, "y": 0.25, "z": 0.0}
    assert set(shares["n"]) == {4}
    counted = outcomes(found).query("task == 'all'").set_index("outcome")["n"]
    assert counted.to_dict() == {"chosen": 3, "refused": 1, "tie": 1}


def test_votes_of_a_category_under_every_rule():
    votes = {"c/0": "xxy", "c/1": "xyz", "c/2": "zxx"}
    rows = [
        verdict(item, judge, choice)
        for item, chosen in votes.items()
        for judge, choice in zip(NAMES, chosen, strict=True)
    ]
    rows += [
        verdict("c/1", "breaker", "y", ["x", "y", "z"], "tie-break"),
        verdict("c/1", "breaker", "z", ["x", "y", "z"], "tie-break-released"),
    ]
    shares, ends = majority_votes(panel(rows))
    table = shares.pivot(index="rule", columns="responder", values="share")
    assert table.loc["released"].tolist() == pytest.approx([2 / 3, 0, 1 / 3])
    assert table.loc["corrected"].tolist() == pytest.approx([2 / 3, 1 / 3, 0])
    assert table.loc["two-of-three"].tolist() == pytest.approx([2 / 3, 0, 0])
    # Without x itself, y and z both chose x once, on the last row.
    assert table.loc["leave-self-out"].tolist() == pytest.approx([1 / 3, 0, 0])
    undecided = shares.set_index(["rule", "responder"])["undecided"]
    assert undecided["two-of-three", "x"] == 1
    assert undecided["leave-self-out", "x"] == 2
    assert ends.query("rule == 'corrected'").set_index("outcome")["n"].to_dict() == {
        "majority": 2,
        "tie-break": 1,
    }


def test_a_failing_tie_breaker_is_a_counted_outcome():
    rows = [verdict("c/0", judge, choice) for judge, choice in zip(NAMES, NAMES, strict=True)]
    rows += [
        verdict("c/0", "breaker", None, NAMES, variant, status="failed")
        for variant in ("tie-break", "tie-break-released")
    ]
    shares, ends = majority_votes(panel(rows))
    assert (shares["share"] == 0).all()
    assert (shares["undecided"] == 1).all()
    assert ends.query("rule == 'released'")["outcome"].tolist() == ["tie-breaker failed"]


def test_the_calls_of_the_tie_breaker_tell_what_was_shown_chosen_and_credited():
    shown = ["y", "z", "x"]
    calls = [
        verdict("c/0", "breaker", "y", shown, "tie-break"),
        verdict("c/0", "breaker", "x", shown, "tie-break-released"),
        verdict("c/1", "breaker", None, shown, "tie-break", status="refused"),
    ]
    found = tie_breaks(panel(calls)).set_index("item_id")
    assert found["shown"].map(list).tolist() == [shown, shown]
    assert found.loc["c/0", ["judge", "chosen", "credited"]].tolist() == ["breaker", "y", "x"]
    assert found.loc["c/1", ["chosen", "credited"]].isna().all()


def test_the_excess_is_own_minus_others_on_the_same_rows():
    votes = {"c/0": "xxz", "c/1": "xyz", "c/2": "yyx", "c/3": "xyx"}
    rows = [
        verdict(item, judge, choice)
        for item, chosen in votes.items()
        for judge, choice in zip(NAMES, chosen, strict=True)
    ]
    found = excess(panel(rows)).query("task == 'all'").set_index("judge")
    # x chose itself on rows 0, 1, 3; y and z together chose x on 1/2, 0, 1/2, 1/2 of them.
    assert found.loc["x", "excess"] == pytest.approx(3 / 4 - 3 / 8)
    assert found.loc["x", "n"] == 4
    assert found.loc["x", "lo"] <= found.loc["x", "excess"] <= found.loc["x", "hi"]


def test_holm_steps_down():
    # Holm (1979): 3 p, 2 p, 1 p in order, never falling, at most 1.
    assert holm(pd.Series([0.01, 0.04, 0.03])).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert holm(pd.Series([0.5, 0.6])).tolist() == [1, 1]


def test_holm_agrees_with_statsmodels(rng):
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    p = pd.Series(rng.random(18) ** 3)
    assert np.allclose(holm(p), multitest.multipletests(p, method="holm")[1])


def test_a_sign_flip_p_is_exact_for_few_clusters(rng):
    # Three equal sums: all signs alike in 2 of 8 assignments.
    assert sign_flip_p(np.array([1.0, 1.0, 1.0]), 40_000, rng) == pytest.approx(0.25, abs=0.01)
    assert sign_flip_p(np.zeros(5), 100, rng) == 1


def position_judges(orders, rng):
    """x reads and always takes what stands first; y and z choose the better response."""
    rows = []
    for number in range(60):
        item, best = f"c/{number}", NAMES[rng.integers(3)]
        for order in orders(rng):
            rows.append(verdict(item, "x", order[0], order))
            rows += [verdict(item, judge, best, order) for judge in "yz"]
    return panel(rows)


def seeded(rng):
    return [list(rng.permutation(NAMES))]


def cyclic(rng):
    return [NAMES, ["y", "z", "x"], ["z", "x", "y"]]


def test_a_judge_of_places_is_no_self_preference_under_seeded_orders(rng):
    found = position_judges(seeded, rng)
    first = position(found).query("quantity == 'first position' and category == 'c'")
    assert first.set_index("judge").loc["x", "share"] == 1
    own = excess(found).query("task == 'all' and judge == 'x'").iloc[0]
    assert own["lo"] < 0 < own["hi"]
    assert own["p_holm"] > 0.05


def test_a_judge_of_places_ties_with_itself_under_cyclic_orders(rng):
    found = position_judges(cyclic, rng)
    table = position(found).query("category == 'c'").set_index(["quantity", "judge"])
    assert table.loc[("first position", "x"), "share"] == 1
    assert table.loc[("changed with the order", "x"), "share"] == 1
    assert table.loc[("changed with the order", "y"), "share"] == 0
    shares = preference_shares(found).query("task == 'all' and judge == 'x'")
    assert shares["share"].tolist() == [0, 0, 0]
    ended = outcomes(found).query("task == 'all' and judge == 'x'")
    assert ended["outcome"].tolist() == ["unstable"]
    assert excess(found).query("task == 'all' and judge == 'x'")["excess"].iloc[0] <= 0


def test_a_judge_that_prefers_itself_has_an_excess_under_cyclic_orders(rng):
    rows = []
    for number, order in itertools.product(range(40), cyclic(rng)):
        rows.append(verdict(f"c/{number}", "x", "x", order))
        rows += [verdict(f"c/{number}", judge, NAMES[number % 3], order) for judge in "yz"]
    own = excess(panel(rows)).query("task == 'all' and judge == 'x'").iloc[0]
    assert own["excess"] == pytest.approx(1 - 14 / 40)
    assert own["p_holm"] < 0.05


def test_among_copies_only_the_place_is_chosen():
    texts = {("c/0", name): "same  words" for name in NAMES}
    texts |= {("c/1", "x"): "one", ("c/1", "y"): "two", ("c/1", "z"): " two\n"}
    texts |= {("c/2", name): name for name in NAMES}
    rows = [verdict("c/0", "j", "x"), verdict("c/1", "j", "z"), verdict("c/2", "j", "x")]
    table = position(panel(rows, texts=texts)).query("category == 'c'").set_index("quantity")
    assert table.loc["earliest of 3 copies", ["share", "n", "items"]].tolist() == [1, 1, 1]
    assert table.loc["earliest of 2 copies", ["share", "n", "items"]].tolist() == [0, 1, 1]
    assert table.loc["earliest of 3 copies", "chance"] == pytest.approx(1 / 3)
    assert table.loc["first position", "share"] == pytest.approx(2 / 3)


def test_harmful_neutral_and_legitimate_choices_of_itself():
    # Scores of x against y and z; x chooses itself on all rows but the last of each kind.
    by_item = {
        "c/0": (0, 1, 0),
        "c/1": (0.5, 0, 1),
        "c/2": (1, 1, 0),
        "c/3": (0, 0, 0),
        "c/4": (1, 0, 0),
    }
    truths = [
        {"item_id": item, "responder": name, "metric": metric, "score": score}
        for item, values in by_item.items()
        for name, score in zip(NAMES, values, strict=True)
        for metric in ("strict", "tolerant")
    ]
    mine = dict(zip(by_item, "xyxyx", strict=True))
    rows = [verdict(item, "x", choice) for item, choice in mine.items()]
    rows += [verdict(item, "y", "y") for item in by_item]
    rows.append(verdict("c/5", "x", "x"))
    rows.append(verdict("c/5", "y", "x"))
    table = objective(panel(rows, truths)).query("category == 'c' and scoring == 'strict'")
    x = table.set_index("judge").loc["x"]
    assert (x["n"], x["n_self"]) == (5, 3)
    assert (x["n_harmful"], x["n_neutral"], x["n_legitimate"]) == (2, 2, 1)
    assert (x["harmful"], x["neutral"], x["legitimate"]) == (0.5, 0.5, 1)
    assert (x["self_harmful"], x["self_legitimate"]) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert x["others_harmful"] == 0
    near = objective(panel(rows, truths, margin=0.6)).query("category == 'c' and judge == 'x'")
    assert near["n_harmful"].tolist() == [1, 1]


def test_kappa_of_fleiss_by_hand():
    # Two options, three judges: rows aaa, aab. P_i = 1, 1/3; P_e = (5/6)^2 + (1/6)^2.
    rows = [verdict("c/0", judge, "x") for judge in NAMES]
    rows += [verdict("c/1", judge, choice) for judge, choice in zip(NAMES, "xxy", strict=True)]
    found = agreement(panel(rows)).query("task == 'all'").iloc[0]
    chance = 26 / 36
    assert found["kappa"] == pytest.approx((2 / 3 - chance) / (1 - chance))
    assert found["unanimous"] == 0.5
    assert (found["judges"], found["n"], found["n_dropped"]) == (3, 2, 0)


def test_kappa_is_one_for_unanimity_and_missing_without_choice():
    assert fleiss(np.array([3.0, 3.0, 2.0, 2.0])) == 1
    assert np.isnan(fleiss(np.array([6.0, 2.0, 2.0])))


def test_shares_of_none_and_all_have_an_interval():
    rows = [verdict(f"c/{n}", judge, "x") for n in range(12) for judge in NAMES]
    found = panel(rows)
    shares = preference_shares(found).query("task == 'all' and judge == 'x'").set_index("responder")
    # Wilson (1927) of 12 of 12, and of none of 12.
    assert shares.loc["x", ["share", "lo", "hi"]].tolist() == pytest.approx([1, 0.757, 1], abs=1e-3)
    assert shares.loc["y", ["share", "lo", "hi"]].tolist() == pytest.approx([0, 0, 0.243], abs=1e-3)
    first = position(found).query("quantity == 'first position' and category == 'c'")
    votes = majority_votes(found)[0].query("rule == 'two-of-three' and responder == 'x'")
    unanimous = agreement(found).query("task == 'all'")["unanimous_lo"]
    for lo in (*first["lo"], *votes["lo"], *unanimous):
        assert lo == pytest.approx(0.757, abs=1e-3)


def test_a_rate_by_answer_key_of_all_rows_has_an_interval():
    truths = [
        {"item_id": f"c/{n}", "responder": name, "metric": metric, "score": float(name == "x")}
        for n in range(12)
        for name in NAMES
        for metric in ("strict", "tolerant")
    ]
    rows = [verdict(f"c/{n}", judge, "x") for n in range(12) for judge in NAMES]
    row = objective(panel(rows, truths)).query("category == 'c' and judge == 'x'").iloc[0]
    found = row[["legitimate", "legitimate_lo", "legitimate_hi"]].tolist()
    assert found == pytest.approx([1, 0.757, 1], abs=1e-3)
    assert row[["harmful", "harmful_lo", "harmful_hi"]].isna().all()


def rating(item, responder, judge, score, status="ok"):
    return {
        "item_id": item,
        "responder": responder,
        "judge": judge,
        "score": score,
        "stored": score,
        "status": status,
    }


def test_scores_leave_failures_out_and_count_the_top():
    rated = [rating("c/0", "x", "x", 11), rating("c/1", "x", "x", 8)]
    rated += [rating("c/2", "x", "x", None, status="unparsable")]
    one = scores(panel([verdict("c/0", "x", "x")], ratings=rated)).iloc[0]
    assert (one["mean"], one["n"], one["saturated"]) == (9.5, 2, 0.5)
