"""What judged pairs say of every judge: EO towards every responder, agreement, position, panels."""

import itertools

import pandas as pd
import pytest
from conftest import SETTINGS
from judged_sets import data_set, said

from selfpref import tables
from selfpref.statistics import judged
from selfpref.statistics.judged import (
    Judged,
    agreement_with_human,
    bias,
    bias_by_judge_and_responder,
    by_panel,
    in_place,
    one_place,
    position,
    position_counts,
)

# Whose response the human and the judge j choose, of each pair, and how often.
CHOICES = {
    ("j", "k"): {("j", "j"): 12, ("j", "k"): 3, ("k", "j"): 4, ("k", "k"): 11},
    ("k", "m"): {("k", "k"): 8, ("m", "m"): 2, ("m", "k"): 1, ("tie", "k"): 5, ("k", "tie"): 2},
}


@pytest.fixture(scope="module")
def data():
    rows = [
        (a, b, human, choice)
        for (a, b), counts in CHOICES.items()
        for (human, choice), times in counts.items()
        for _ in range(times)
    ]
    votes = [(n, a, b, human) for n, (a, b, human, _) in enumerate(rows)]
    verdicts = [(n, "j", a, b, choice) for n, (a, b, _, choice) in enumerate(rows)]
    return data_set(votes=votes, verdicts=verdicts)


def test_every_responder_has_a_row_its_author_or_not(data):
    found = bias_by_judge_and_responder([data]).set_index("responder")
    assert found["own"].to_dict() == {"j": True, "k": False, "m": False}
    assert found.loc["j", ["tp", "fn", "fp", "tn"]].tolist() == [12, 3, 4, 11]
    # k meets both: 11 + 8 right on its own side, 4 + 0 wrong, and so on.
    assert found.loc["k", ["tp", "fn", "fp", "tn"]].tolist() == [19, 4, 4, 14]
    assert found.loc["k", "eo"] == pytest.approx(19 / 23 - 14 / 18)
    assert found.loc["k", ["n_human_own", "n_human_other", "n_dropped"]].tolist() == [23, 18, 7]
    assert found["few"].to_dict() == {"j": False, "k": False, "m": True}
    assert found["eo"].between(found["eo_lo"], found["eo_hi"]).all()
    (own,) = bias([data]).to_dict("records")
    assert own["eo"] == found.loc["j", "eo"] == pytest.approx(12 / 15 - 11 / 15)


def test_agreement_counts_pairs_that_both_decide(data):
    found = agreement_with_human([data]).iloc[0]
    assert (found["n"], found["n_dropped"], found["responds"]) == (41, 7, True)
    assert found["agreement"] == pytest.approx((12 + 11 + 8 + 2) / 41)
    assert 0 < found["agreement_lo"] < found["agreement"] < found["agreement_hi"] < 1


def test_a_judge_that_wrote_nothing_has_no_bias_and_agrees_all_the_same():
    votes = [(n, "x", "y", human) for n, human in enumerate(["x", "y", "x", "y", "tie"])]
    choices = enumerate(["x", "x", "y", "y", "x"])
    alone = data_set(votes=votes, verdicts=[(n, "onlooker", "x", "y", who) for n, who in choices])
    assert alone.judges == []
    assert bias([alone]).empty
    towards = bias_by_judge_and_responder([alone])
    assert towards[["tp", "fn", "fp", "tn"]].to_numpy().tolist() == [[1, 1, 1, 1]] * 2
    assert not towards["own"].any()
    assert agreement_with_human([alone])["agreement"].tolist() == [0.5]


def test_a_verdict_that_failed_is_dropped_and_counted_and_never_a_tie():
    votes, verdicts = said("me", "you", (12, 0, 0, 12))
    item, *_ = verdicts[0]
    lost = [(item, "me", "me", "you", None), *verdicts[1:]]
    (row,) = bias([data_set(votes=votes, verdicts=lost, changed={"judge_ties": "half"})]).to_dict(
        "records"
    )
    assert (row["n"], row["n_dropped"], row["tp"]) == (23, 1, 11)


def test_another_person_needs_ten_pairs_with_two_votes_on_each_side():
    votes, verdicts = said("me", "you", (12, 1, 3, 12))
    once = bias([data_set(votes=votes, verdicts=verdicts)]).iloc[0]
    assert once["no_preference_status"].startswith("fewer than 10 pairs")
    assert pd.isna(once["eo_no_preference"])
    assert once["n_two_votes"] == 0
    twice = [(*vote, who) for vote in votes for who in ("p", "q")]
    row = bias([data_set(votes=twice, verdicts=verdicts)]).iloc[0]
    # Two people never differ here, so another person shows no bias, and the judge all of its own.
    assert (row["n_two_votes"], row["no_preference_status"]) == (28, "ok")
    assert row["eo_no_preference"] == 0
    assert row["eo_one_vote"] == row["beyond_no_preference"] == pytest.approx(12 / 13 - 12 / 15)


def test_position_is_counted_by_hand():
    verdicts = [
        *[(1, "j", "a", "b", "a"), (1, "j", "b", "a", "b")],  # always the first: a reversal
        *[(2, "j", "a", "b", "a"), (2, "j", "b", "a", "a")],  # steady
        *[(3, "j", "a", "b", "tie"), (3, "j", "b", "a", "b")],  # a flip, no reversal
        *[(4, "j", "a", "b", None), (4, "j", "b", "a", "b")],  # one order only
        (5, "j", "a", "b", "b"),
    ]
    table = data_set(verdicts=verdicts).tables["verdicts"]
    table.loc[table["item_id"].eq("set/5"), "order_known"] = False
    totals = position_counts(table).drop(columns=["item_id", "first", "second", "judge"]).sum()
    assert totals.to_dict() == {
        "chose_first": 2 + 1 + 1 + 1,
        "decided": 2 + 2 + 1 + 1,
        "flipped": 2,
        "reversed": 1,
        "both_orders": 3,
        "read_first": 3,
        "read_second": 4,
    }
    own = position_counts(table).query("first == 'a' or second == 'a'")
    assert one_place(own, "a") == one_place(own, "b") == pytest.approx(4 / 7)


def test_a_judge_that_always_takes_the_first_has_rates_with_a_width():
    orders = itertools.product(range(12), (("me", "you"), ("you", "me")))
    found = position([data_set(verdicts=[(n, "me", *pair, pair[0]) for n, pair in orders])])
    assert found["pairs"].tolist() == ["all", "own"]
    assert (found[["first_share", "flip_rate", "reversal_rate"]] == 1).all(axis=None)
    # Twelve questions are twelve observations: Wilson's lower bound is 12 / (12 + 1.96^2).
    assert found["first_share_lo"].tolist() == pytest.approx([12 / (12 + 1.959964**2)] * 2)
    assert (found["first_share_hi"] == 1).all()


ITEMS, WRITERS, JUDGES = range(12), ("me", "she", "you"), ("me", "one", "two", "you")


def unvoted(*votes, panel=(), without=()):
    """Both orders alike: `me` chooses itself on all items, others on every other or third one."""

    def chosen(judge, item, pair):
        if judge == "me":
            return "me" if "me" in pair else min(pair)
        return sorted(pair)[item % {"one": 2, "two": 2, "you": 3}[judge] > 0]

    asked = itertools.product(ITEMS, itertools.permutations(WRITERS, 2), JUDGES)
    verdicts = [
        (item, judge, *pair, chosen(judge, item, pair))
        for item, pair, judge in asked
        if judge not in without
    ]
    return data_set("mine", votes, verdicts, changed={"panel": panel})


def test_a_judge_without_votes_has_no_bias_and_its_counts_are_0():
    row = bias([unvoted()]).set_index("judge").loc["me"]
    assert pd.isna(row["eo"])
    assert pd.isna(row["dp"])
    assert (row["n"], row["n_dropped"]) == (0, 0)


def test_the_panel_is_of_judges_that_wrote_neither_response_and_did_not_vote():
    data = by_panel(unvoted((0, "me", "she", "me"), panel=("one", "two", "you")))
    labels = data.tables["labels"].set_index(["item_id", "responder_a", "responder_b"])["label"]
    assert data.name == "mine (panel)"
    # People voted on this one; `one` and `two` agree on all others, and outvote `you`.
    assert ("mine/0", "me", "she") not in labels
    assert len(labels) == len(ITEMS) * 3 - 1
    assert [labels[f"mine/{item}", "me", "she"] for item in (1, 2)] == ["b", "a"]
    judges = data.pairs.groupby(["first", "second"])["judge"].agg(set)
    assert judges["me", "she"] == {"me"}
    assert judges["me", "you"] == judges["she", "you"] == {"me", "you"}
    # It chooses itself on the 23 pairs that people left, the panel on 11 of them.
    row = bias([data]).set_index("judge").loc["me"]
    assert tuple(row[["tp", "fn", "fp", "tn", "eo"]]) == (11, 0, 12, 0, 1.0)


def test_a_panel_of_one_member_abstains_on_its_own_pairs():
    data = by_panel(unvoted(panel=("you",)))
    assert set(zip(data.pairs["first"], data.pairs["second"], strict=True)) == {("me", "she")}
    assert by_panel(unvoted(panel=("you",), without=("you",))) is None
    assert by_panel(unvoted()) is None


@pytest.mark.parametrize(
    "measure", [bias, bias_by_judge_and_responder, agreement_with_human, position]
)
def test_without_rows_there_are_columns(measure):
    nothing = {name: tables.empty(name) for name in tables.TABLES}
    for sets in ([], [Judged("set", nothing, SETTINGS)]):
        found = measure(sets)
        assert found.empty
        assert {"dataset", "judge"} <= set(found.columns)
    assert list(bias([])) == judged.BIAS


def test_every_judge_beside_a_person_towards_every_responder():
    # Two people on each pair of j and k, who agree on 12 and 11 of 33; the judges j and m.
    sides = [("j", "j")] * 12 + [("j", "k")] * 5 + [("k", "j")] * 5 + [("k", "k")] * 11
    votes = [
        (n, "j", "k", vote, who)
        for n, both in enumerate(sides)
        for who, vote in zip("pq", both, strict=True)
    ]
    chosen = {"j": ["j"] * 30 + ["k"] * 3, "m": ["k"] * 11 + ["j"] * 22}
    orders = (("j", "k"), ("k", "j"))
    verdicts = [
        (n, judge, *order, choice)
        for judge, choices in chosen.items()
        for n, choice in enumerate(choices)
        for order in orders
    ]
    found = in_place([data_set(votes=votes, verdicts=verdicts)]).set_index(["judge", "responder"])
    assert found["own"].to_dict() == {
        (judge, of): judge == of for judge in ("j", "m", judged.MAJORITY) for of in ("j", "k")
    }
    person = 12 / 17 - 11 / 16
    assert found.loc[("m", "j"), "eo_no_preference"] == pytest.approx(person)
    # m: of 17 votes' worth for j (12 + half of 10) it agrees with 1 + 10 / 2 = 6; and so on.
    one_vote = (1 + 5) / 17 - (0 + 5 - 5) / 16
    assert found.loc[("m", "j"), "eo_one_vote"] == pytest.approx(one_vote)
    assert found.loc[("m", "j"), "beyond_no_preference"] == pytest.approx(one_vote - person)
    assert found.loc[("m", "k"), "eo_one_vote"] == pytest.approx(-one_vote)
    own = found.loc[("j", "j"), "beyond_no_preference"]
    other = found.loc[("j", "k"), "beyond_no_preference"]
    assert found.loc[("j", "k"), "own_minus"] == pytest.approx(own - other)
    assert found["own_minus"].notna().sum() == 1
