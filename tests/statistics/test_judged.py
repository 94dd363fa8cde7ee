"""Judged pairs: orders, ties, failures, votes; and what they say of every judge."""

import itertools

import numpy as np
import pandas as pd
import pytest
from judged_sets import data_set, said
from study_frames import equal

from selfpref import tables
from selfpref.statistics import judged
from selfpref.statistics.bias import TIED, human_votes, judge_scores, judged_pairs, pairs_with
from selfpref.studies.beyond.sets import by_gold


def verdicts(*rows):
    """Rows (candidates, choice or probabilities[, changes]) of judge j on item 1."""
    made = []
    for candidates, given, *changes in rows:
        row = {"candidates": [*candidates], "choice": given, "probabilities": None}
        if isinstance(given, list):
            row |= {"choice": candidates[given[0] < given[1]], "probabilities": given}
        row |= {"item_id": "1", "judge": "j", "task": "preference", "order_known": True}
        row |= {"repeat": 0, "mass": None, "status": "ok" if given else "unparsable"}
        made.append(row | dict(*changes))
    return pd.DataFrame(made)


def labels(*rows):
    made = pd.DataFrame(rows, columns=["responder_a", "responder_b", "label"])
    return made.assign(item_id="1", annotator=made.index.astype(str))


ITEMS = pd.DataFrame({"item_id": ["1"], "cluster": ["c"], "metadata": ['{"turn": 2, "turns": 2}']})
VOTED = labels(("a", "b", "a"))


@pytest.mark.parametrize(
    ("rows", "score"),
    [
        # Eq. 3, averaged over both orders.
        ([("ab", [0.6, 0.2]), ("ba", [0.3, 0.4])], (0.75 + 4 / 7) / 2),
        # Repeats are averaged within an order first.
        ([("ab", "a"), ("ab", "b", {"repeat": 1}), ("ba", "a")], (0.5 + 1) / 2),
        # A choice is one, a tie one half.
        ([("ab", "a"), ("ba", "a")], 1),
        ([("ab", "tie"), ("ba", "b")], 0.25),
        # Half an average is no score.
        ([("ab", "a"), ("ba", None)], np.nan),
    ],
)
def test_a_score_is_of_all_orders(rows, score):
    # Other tasks, and more candidates, are no pairs.
    found = judge_scores(verdicts(*rows, *[("ab", "a", {"task": "recognition"}), ("abc", "a")]))
    assert found["score"].tolist() == pytest.approx([score], nan_ok=True)
    assert found["status"].tolist() == ["unparsable" if np.isnan(score) else "ok"]


def test_the_majority_of_votes_in_either_orientation():
    votes = [("a", "b", "a"), ("b", "a", "b"), ("a", "b", "b"), ("a", "b", "tie")]
    for some, wanted in ((votes, [1, 1]), (votes[1:3], [0.5, 0])):
        assert human_votes(labels(*some))[["human", "margin"]].values.tolist() == [wanted]


def test_pairs_meet_on_the_unordered_pair_and_are_turned():
    found = judged_pairs(ITEMS, labels(("b", "a", "a")), verdicts(("ab", "b")))
    assert found[["human", "decision"]].values.tolist() == [[0.0, 0.0]]
    equal(pairs_with(found, "b"), "human decision opponent margin", (1, 1, "a", 1))
    for votes in (labels(("a", "c", "a")), tables.empty("labels")):
        assert judged_pairs(ITEMS, votes, verdicts(("ab", "b")))["human"].isna().tolist() == [True]


def test_the_threshold_makes_a_band_of_ties_and_turns_can_be_left_out():
    asked = (ITEMS, VOTED, verdicts(("ab", [0.6, 0.4])))
    for threshold, decision in ((0.5, 1.0), (0.7, 0.5)):
        assert judged_pairs(*asked, threshold=threshold)["decision"].tolist() == [decision]
    for turns, kept in (("all", 1), ("first", 0), ("second", 1)):
        assert len(judged_pairs(*asked, turns=turns)) == kept


WHOLE = {"mass": 1.0}


@pytest.mark.parametrize(
    ("rows", "decisions"),
    [
        # C has .4 of each verdict, more than A's .35: only its residue decides today.
        ([("ab", [0.35, 0.25], WHOLE), ("ba", [0.25, 0.35], WHOLE)], (1, 0.5, 1)),
        # C leads in one order, and A does in the mean.
        ([("ab", [0.35, 0.25], WHOLE), ("ba", [0.05, 0.9], WHOLE)], (1, 1, 1)),
        # The order decides, once more firmly.
        ([("ab", [0.9, 0.1], WHOLE), ("ba", [0.6, 0.4], WHOLE)], (1, 1, 0.5)),
        # Without a label for a tie nothing is left over.
        ([("ab", [0.4, 0.2], {"mass": 0.6})], (1, 1, 1)),
        ([("ab", "tie"), ("ba", "a")], (1, 0.5, 1)),
        ([("ab", "a"), ("ba", "b")], (0.5, 0.5, 0.5)),
        # A pair without a verdict is no tie.
        ([("ab", "tie"), ("ba", None)], (np.nan, np.nan, np.nan)),
    ],
)
def test_a_judges_tie_has_three_readings(rows, decisions):
    found = [judged_pairs(ITEMS, VOTED, verdicts(*rows), judge_tie=name) for name in TIED]
    assert [one["decision"].item() for one in found] == pytest.approx(decisions, nan_ok=True)


# The responders of a pair, whose response the human and the judge j choose, and how often.
CHOICES = {"j k j j": 12, "j k j k": 3, "j k k j": 4, "j k k k": 11}
CHOICES |= {"k m k k": 8, "k m m m": 2, "k m m k": 1, "k m tie k": 5, "k m k tie": 2}


def test_every_responder_has_a_row_its_author_or_not():
    rows = [key.split() for key, times in CHOICES.items() for _ in range(times)]
    given = [(n, "j", a, b, choice) for n, (a, b, _, choice) in enumerate(rows)]
    data = data_set(votes=[(n, *row[:3]) for n, row in enumerate(rows)], verdicts=given)
    found = judged.bias_by_judge_and_responder([data])
    # k meets both: 11 + 8 right on its own side, 4 + 0 wrong, and so on.
    rows = ("j", True, 12, 3, 4, 11, False), ("k", False, 19, 4, 4, 14, False)
    equal(found, "responder own tp fn fp tn few", *rows, ("m", False, 2, 1, 0, 8, True))
    shown = "eo n_human_own n_human_other n_dropped"
    equal(found, shown, (19 / 23 - 14 / 18, 23, 18, 7), responder="k")
    assert found["eo"].between(found["eo_lo"], found["eo_hi"]).all()
    assert judged.bias([data])["eo"].item() == pytest.approx(12 / 15 - 4 / 15 - 7 / 15)
    row = (12 + 11 + 8 + 2) / 41, 41, 7, True
    equal(judged.agreement_with_human([data]), "agreement n n_dropped responds", row)


def test_a_verdict_that_failed_is_dropped_and_counted_and_never_a_tie():
    votes, given = said("me", "you", (12, 0, 0, 12))
    lost = [(given[0][0], "me", "me", "you", None), *given[1:]]
    data = data_set(votes=votes, verdicts=lost, changed={"judge_ties": "half"})
    equal(judged.bias([data]), "n n_dropped tp", (23, 1, 11))


def test_another_person_needs_ten_pairs_with_two_votes_on_each_side():
    votes, given = said("me", "you", (12, 1, 3, 12))
    once = judged.bias([data_set(votes=votes, verdicts=given)]).iloc[0]
    assert (pd.isna(once["eo_no_preference"]), once["n_two_votes"]) == (True, 0)
    twice = [(*vote, who) for vote in votes for who in ("p", "q")]
    row = judged.bias([data_set(votes=twice, verdicts=given)]).iloc[0]
    assert judged.in_place([data_set(verdicts=given)])["own_minus"].isna().all()
    # Two people never differ here, so another person shows no bias, and the judge all of its own.
    assert (row["n_two_votes"], row["eo_no_preference"]) == (28, 0)
    assert row["eo_one_vote"] == row["beyond_no_preference"] == pytest.approx(12 / 13 - 12 / 15)


def test_every_judge_beside_a_person_towards_every_responder():
    # Two people on each pair of j and k, who agree on 12, 11 and a tie of 34; the judges j and m.
    sides = ["jj"] * 12 + ["jk"] * 5 + ["kj"] * 5 + ["kk"] * 11 + [("tie", "tie")]
    people = itertools.product(enumerate(sides), enumerate("pq"))
    votes = [(n, *"jk", both[place], who) for (n, both), (place, who) in people]
    chosen = {"j": "j" * 30 + "k" * 3 + "j", "m": "k" * 11 + "j" * 23}
    orders = itertools.product(range(34), "jm", ("jk", "kj"))
    given = [(n, judge, *order, chosen[judge][n]) for n, judge, order in orders]
    data = data_set(votes=votes, verdicts=given)
    # Another person agrees in 23 of 33, and on the tie; m in one half of ten and once besides.
    among = judged.agreement_of_people([data])
    equal(among, "n", (0,), (0,), judge="j")
    equal(among, "n itself more", (33, 6 / 33, -17 / 33), (34, 6 / 34, -18 / 34), judge="m")
    found = judged.in_place([data]).set_index(["judge", "responder"])
    assert (len(found), [*found.index[found["own"]]]) == (6, [("j", "j")])
    # m: of 17 votes' worth for j (12 + half of 10) it agrees with 1 + 10 / 2 = 6; and so on.
    one_vote = (1 + 5) / 17 - (0 + 5 - 5) / 16
    shown = found.loc[("m", "j"), list(judged.AGAINST_VOTES)].tolist()
    assert shown == pytest.approx([12 / 17 - 11 / 16, one_vote, one_vote - 12 / 17 + 11 / 16])
    assert found.loc[("m", "k"), "eo_one_vote"] == pytest.approx(-one_vote)
    own, other = (found.loc[("j", of), "beyond_no_preference"] for of in ("j", "k"))
    assert found["own_minus"].dropna().to_dict() == {("j", "k"): pytest.approx(own - other)}


def test_position_is_counted_by_hand():
    said = {
        1: "a b a, b a b",  # always the first: a reversal
        2: "a b a, b a a",  # steady
        3: "a b tie, b a b",  # a flip, no reversal
        4: "a b, b a b",  # one order only
        5: "a b b",
    }
    read = [(n, one.split()) for n, row in said.items() for one in row.split(",")]
    table = data_set(verdicts=[(n, "j", *one, None)[:5] for n, one in read]).tables["verdicts"]
    table.loc[table["item_id"].eq("set/5"), "order_known"] = False
    counts = judged.position_counts(table)
    totals = counts.drop(columns=["item_id", "first", "second", "judge"]).sum().to_dict()
    wanted = {"chose_first": 2 + 1 + 1 + 1, "decided": 2 + 2 + 1 + 1, "flipped": 2, "reversed": 1}
    assert totals == wanted | {"both_orders": 3, "read_first": 3, "read_second": 4}
    assert judged.one_place(counts) == pytest.approx(4 / 7)


def test_a_judge_that_always_takes_the_first_has_rates_with_a_width():
    orders = itertools.product(range(40), (("me", "you"), ("you", "me")))
    given = [(n, "me", *pair, pair[0]) for n, pair in orders]
    data = data_set(verdicts=[*given, *((n, "they", *pair, "me") for n, _, *pair, _ in given)])
    found = judged.position([data]).query("judge == 'me'")
    assert found["pairs"].tolist() == ["all", "own"]
    assert (found[["first_share", "flip_rate", "reversal_rate"]] == 1).all(axis=None)
    # Forty questions are forty observations: Wilson's lower bound is 40 / (40 + 1.96^2) = .912.
    assert found["first_share_lo"].tolist() == pytest.approx([40 / (40 + 1.959964**2)] * 2)
    # Of judges that were asked here it alone is in nobody's mean.
    data.tables["verdicts"]["released"] = False
    assert [data.left_out(judge) for judge in ("me", "they")] == [[], ["me"]]


def test_the_panel_is_of_judges_that_wrote_neither_response_and_did_not_vote():
    # `me` chooses the first name on all items, others on every other or third one.
    every, names = {"me": 1, "one": 2, "two": 2, "you": 3}, ("me", "she", "you")
    asked = itertools.product(range(12), every.items(), itertools.permutations(names, 2))
    given = [(n, judge, *pair, sorted(pair)[n % nth > 0]) for n, (judge, nth), pair in asked]
    voted, panel = [(0, "me", "she", "me")], ("one", "two", "you")
    *_, (data, _, gold) = by_gold(data_set("mine", voted, given, changed={"panel": panel}))
    told = data.tables["labels"].set_index(["item_id", "responder_a", "responder_b"])["label"]
    # People voted on this one; `one` and `two` agree on all others, and outvote `you`.
    assert ("mine/0", "me", "she") not in told
    assert (data.name, gold, len(told)) == ("mine (panel)", "panel", 12 * 3 - 1)
    assert [told[f"mine/{item}", "me", "she"] for item in (1, 2)] == ["b", "a"]
    judges = data.pairs.groupby(["first", "second"])["judge"].agg(set)
    assert judges["me", "she"] == {"me"}
    assert judges["me", "you"] == judges["she", "you"] == {"me", "you"}
    # It chooses itself on the 23 pairs that people left, the panel on 11 of them.
    row = judged.bias([data]).set_index("judge").loc["me"]
    assert tuple(row[["tp", "fn", "fp", "tn", "eo"]]) == (11, 0, 12, 0, 1.0)
