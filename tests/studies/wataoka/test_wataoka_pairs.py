"""Bias, its controls, Table 2, ties and failures, on pairs counted by hand."""

from dataclasses import replace
from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
from conftest import PUBLISHED, SETTINGS
from judged_sets import data_set, said

from selfpref import tables
from selfpref.statistics import judged
from selfpref.statistics.judged import Judged
from selfpref.studies.wataoka import checks, keyed, pairs
from selfpref.tables.schemas import TIE

NAMES = ("j", "k", "l")


@pytest.fixture(scope="module")
def three():
    """Sixty prompts, three judges of all their responses, in both orders; three votes a pair."""
    rng, votes, verdicts = np.random.default_rng(3), [], []
    for item, (a, b) in ((n, pair) for n in range(60) for pair in combinations(NAMES, 2)):
        votes += [(item, a, b, str(rng.choice([a, b, "tie"])), who) for who in "pqr"]
        for judge, order in product(NAMES, permutations((a, b))):
            choice = rng.choice([*order, "tie"], p=[0.5, 0.4, 0.1])
            verdicts.append((item, judge, *order, str(choice)))
    return data_set(votes=votes, verdicts=verdicts)


def computed(data):
    excess, position = pairs.excess_table([data]), judged.position([data])
    return pairs.with_controls(
        judged.bias([data]), excess, position, checks.planted([data])
    ), excess


@pytest.fixture(scope="module")
def frames(three):
    return computed(three)


def test_an_excess_is_the_bias_less_the_mean_of_the_others(three, frames):
    table, excess = frames
    assert (table[["tp", "fn", "fp", "tn"]].sum(axis=1) == table["n"]).all()
    assert (table["n"] + table["n_dropped"] == 120).all()
    towards = judged.bias_by_judge_and_responder([three]).set_index(["judge", "responder"])["eo"]
    own = excess[excess["variant"].eq("own")].set_index("judge")
    for judge in NAMES:
        others = np.mean([towards[other, judge] for other in NAMES if other != judge])
        assert own.loc[judge, "eo_others"] == pytest.approx(others)
        assert own.loc[judge, "excess"] == pytest.approx(towards[judge, judge] - others)
    for name in ("excess", "eo_others"):
        assert table[name].tolist() == own[name].tolist()
        assert table[name].between(table[f"{name}_lo"], table[f"{name}_hi"]).all()
    assert (excess["few"] == excess[pairs.ALL_SIDES].lt(10).any(axis=1)).all()


def test_a_live_judge_moves_no_released_judges_excess(three):
    verdicts = three.tables["verdicts"]
    live = verdicts.assign(released=verdicts["judge"].ne("l"))
    without = verdicts.query("judge != 'l'")
    two, mixed = (Judged("set", {**three.tables, "verdicts": v}, SETTINGS) for v in (without, live))
    found = pairs.excess_table([mixed]).set_index(["judge", "variant"])
    assert found["left_out"].groupby("judge").first().to_dict() == {"j": "l", "k": "l", "l": ""}
    same = ["excess", "excess_lo", "excess_hi", "others", "n"]
    wanted = pairs.excess_table([two]).set_index(["judge", "variant"])[same]
    pd.testing.assert_frame_equal(found.loc[["j", "k"], same], wanted)


def test_the_order_of_rows_changes_no_number(three, frames):
    table, _ = frames
    mixed = {name: part.sample(frac=1, random_state=3) for name, part in three.tables.items()}
    pd.testing.assert_frame_equal(table, computed(Judged("set", mixed, SETTINGS))[0])


def test_both_readings_of_table_2_and_every_pair_where_some_lack_a_vote():
    votes, verdicts = said("gpt-4", "you", (6, 1, 2, 3))
    tied = [(n, "gpt-4", "you", "tie") for n in (12, 13)]
    more = [(n, "gpt-4", "gpt-4", "you", "gpt-4") for n in (12, 13, 14, 15)]
    data = data_set(votes=votes + tied, verdicts=verdicts + more)
    row = pairs.demographic_parity([data], PUBLISHED).iloc[0]
    wanted = {"n_decisive": 12, "n_dropped_decisive": 2, "dp_decisive": 2 * 8 / 12 - 1}
    wanted |= {"n_with_ties": 14, "dp_with_ties": 2 * 10 / 14 - 1}
    wanted |= {"n_every": 16, "dp_every": 2 * 12 / 16 - 1, "published": 0.749}
    assert row[list(wanted)].to_dict() == pytest.approx(wanted)


def test_wins_count_every_decided_vote_and_tell_ties_apart():
    votes = [(n, "a", "b", label) for n, label in enumerate(["a", "a", "b", "tie", "a"])]
    found = pairs.wins_by_human([data_set(votes=votes)]).set_index("responder")
    assert found.loc["a", ["n", "n_won", "n_lost", "n_ties"]].tolist() == [4, 3, 1, 1]
    assert found.loc["b", "win_rate"] == pytest.approx(1 / 4)


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


@pytest.fixture(scope="module")
def undecided():
    votes, verdicts = [], []
    for n, (one, two, human) in enumerate(SAID):
        votes.append((n, "me", "you", human))
        verdicts += [(n, "me", "me", "you", one), (n, "me", "you", "me", two)]
    # Another judge that wrote neither: not in the table of own pairs, but its failures count.
    verdicts += [(n, "third", "you", "me", None if n < 4 else "me") for n in range(5)]
    return data_set("d", votes, verdicts)


def test_each_reading_of_a_tie_leaves_other_pairs(undecided):
    found = pairs.judge_ties([undecided]).set_index("judge_tie")
    assert set(found["judge"]) == {"me"}
    # People tie one pair of 30; one has a verdict in one order alone, which is no tie.
    assert (found["n_human"] == 29).all()
    assert (found["n_no_verdict"] == 1).all()
    # The reversal and the double tie have no winner under any reading.
    assert found["n_ties"].to_dict() == {"exact": 2, "label-c": 5, "orders-disagree": 2}
    assert (found["n"] == found["n_human"] - found["n_no_verdict"] - found["n_ties"]).all()
    assert found["tp"].to_dict() == {"exact": 15, "label-c": 12, "orders-disagree": 15}


def test_failures_are_counted_apart_from_ties(undecided):
    found = pairs.exclusions([undecided]).set_index(["judge", "status"])
    wanted = {"any failure": 1, "response": 54, "tie": 5, "unparsable": 1}
    assert found.loc["me", "n"].to_dict() == wanted
    assert found.loc[("me", "any failure"), "share"] == pytest.approx(1 / 60)
    assert found.loc[("third", "any failure"), ["n", "of"]].tolist() == [4, 5]


def test_the_example_has_a_witness_then_the_clearest_vote_then_the_shortest_texts():
    votes = [(n, "me", "you", "you", who) for n in range(5) for who in "pqr"[: 1 + (n > 1)]]
    verdicts = [(n, "me", "me", "you", "me") for n in range(6)]
    verdicts += [(n, "you", "me", "you", "you") for n in (1, 2, 3)]
    places = product(range(6), ("me", "you"))
    texts = [{"item": n, "responder": who, "text": who * (9 - n)} for n, who in places]
    data = data_set(votes=votes, verdicts=verdicts, responses=texts)
    row = pairs.example([data])
    named = ["item_id", "judge", "opponent", "margin", "length"]
    assert row[named].values.tolist() == [["set/3", "me", "you", -2, 30]]


def keyed_set():
    """A judge of 8b and one of 2b, each with 12 pairs of every case; the small one reverses."""
    labels, truths, verdicts = [], [], []
    for number, (judge, case) in enumerate(product(("x-8b", "y-2b"), [*keyed.CASES] * 12)):
        pair = {"item": number, "responder_a": judge, "responder_b": "other"}
        label = {1: "a", 0: TIE, -1: "b"}[int(case[0] - case[1])]
        labels.append(pair | {"label": label, "annotator": "key"})
        for who, score in zip((judge, "other"), case, strict=True):
            truths.append({"item": number, "responder": who, "metric": "correct", "score": score})
        # The large one follows itself; the small one, by a hair, the other.
        first, second = ((0.9, 0.1), (0.1, 0.9)) if judge == "x-8b" else ((0.6, 0.4), (0.62, 0.38))
        for names, shares in (((judge, "other"), first), (("other", judge), second)):
            row = {"item_id": f"set/{number}", "judge": judge, "candidates": [*names]}
            row |= {"probabilities": [*shares], "mass": 1.0, "status": "ok"}
            verdicts.append(row | {"choice": names[int(shares[1] > shares[0])]})
    data = data_set(labels=labels, truths=truths)
    soft = tables.fill(verdicts, "verdicts", study="wataoka", order_known=True)
    return replace(data, tables={**data.tables, "verdicts": soft})


def test_what_a_key_says_of_a_judge_that_follows_itself_and_of_one_that_follows_the_order():
    data = keyed_set()
    assert data.keyed
    found = keyed.bias([data]).set_index("judge")
    large, small = found.loc["x-8b"], found.loc["y-2b"]
    assert (large["tp"], large["fn"], large["fp"], large["tn"]) == (12, 0, 12, 0)
    assert (small["tp"], small["fn"], small["fp"], small["tn"]) == (0, 12, 0, 12)
    assert (large["eo"], large["eo_agreed"], small["eo"]) == (1, 1, -1)
    assert (large["dp"], small["dp"]) == (1, -1)
    assert (large["reversal_rate"], small["reversal_rate"]) == (0, 1)
    assert (large["n_agreed"], small["n_agreed"]) == (24, 0)
    # Without any pair in which both orders name one response there is nothing, and no 0.
    assert np.isnan(small["eo_agreed"])
    assert small["few_agreed"]
    assert small["margin_reversed"] == pytest.approx(0.01)
    assert found["accuracy"].eq(0.5).all()
    assert found["size"].tolist() == [8, 2]
    cases = keyed.by_case([data]).set_index(["judge", "case"])
    assert cases.loc[("x-8b", "other alone right"), ["n", "n_own"]].tolist() == [12, 12]
    assert cases.loc["y-2b", "score"].tolist() == pytest.approx([0.49] * 4)


def test_without_a_key_there_is_nothing_and_slopes_need_enough_judges():
    nothing = keyed.bias([])
    # Nobody has read the texts of the set.
    found = nothing, keyed.by_case([]), keyed.sizes(nothing), keyed.by_perplexity([keyed_set()])
    assert all(frame.empty for frame in found)
    rows = pd.DataFrame(
        {
            "family": list("aabb"),
            "judge": list("pqrs"),
            "size": [1, 2, 4, 8],
            "eo": [0.0, 0.1, 0.2, 0.3],
        }
    )
    found = keyed.sizes(rows.assign(dataset="d", accuracy=[0.5, 0.7, 0.4, 0.9]))
    raw, given = found.to_dict("records")
    assert raw["slope"] == pytest.approx(0.1)
    # Two judges cannot tell size from accuracy.
    assert np.isnan(given["least"])


@pytest.mark.parametrize("sets", [[], [data_set()]])
def test_without_rows_every_frame_has_its_columns(sets):
    measures = {pairs.bias_by_opponent: pairs.BY_OPPONENT, pairs.judge_ties: pairs.TIES}
    measures |= {pairs.exclusions: pairs.EXCLUSIONS, pairs.example: pairs.EXAMPLE}
    measures |= {pairs.excess_table: pairs.EXCESS, checks.planted: checks.PLANTED}
    measures |= {checks.recovery: checks.RECOVERY, checks.oracle_agreement: checks.AGREEMENT}
    for measure, columns in measures.items():
        found = measure(sets)
        assert (found.empty, list(found)) == (True, columns)
    for frame in (pairs.demographic_parity(sets, PUBLISHED), checks.checks(sets, PUBLISHED)):
        assert frame.empty
        assert "published" in frame
