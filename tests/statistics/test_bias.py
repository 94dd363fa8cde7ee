"""EO, parity, excess and another person in the judge's place: by hand and where truth is known."""

import numpy as np
import pandas as pd
import pytest

from selfpref.statistics import bias
from selfpref.statistics.bias import CELLS, equal_opportunity, vote_cells
from selfpref.statistics.bootstrap import ClusterBootstrap, difference


def cells_of(pairs, human_ties="drop", judge_ties="drop"):
    rows = pd.DataFrame(pairs, columns=["human", "decision"], dtype=float)
    return bias.cell_weights(rows, human_ties, judge_ties).sum(axis=0)


def pairs_of(counts):
    """Each pair a row of cells and a cluster of its own."""
    cells = np.repeat(np.eye(4), counts, axis=0)
    return cells, np.arange(len(cells))


@pytest.mark.parametrize(
    ("human_ties", "judge_ties", "cells"),
    [
        ("drop", "drop", [1, 0, 0, 0]),
        ("half", "drop", [1.5, 0, 0.5, 0]),
        ("drop", "half", [1.5, 0.5, 0, 0]),
        ("half", "half", [2.25, 0.75, 0.75, 0.25]),
    ],
)
def test_ties_are_dropped_or_count_half(human_ties, judge_ties, cells):
    pairs = [(1, 1), (0.5, 1), (1, 0.5), (0.5, 0.5), (np.nan, 1), (1, np.nan)]
    assert cells_of(pairs, human_ties, judge_ties).tolist() == cells


def test_an_eo_of_few_pairs_has_newcombes_interval_and_others_their_bootstrap():
    boot = ClusterBootstrap(200, seed=2)
    found = bias.equal_opportunity_interval(*pairs_of([100, 0, 6, 0]), boot)
    # Newcombe's method 10 on 100 of 100 and 0 of 6, by hand from Wilson's 0.963 and 0.390.
    assert found[:3] == pytest.approx((1, 1 - np.hypot(1 - 0.96301, 0.39033), 1), abs=1e-4)
    for few, same in ((5, True), (4, False)):
        pairs = pairs_of([30, few, 12, 6])
        plain = boot.estimate(*pairs, equal_opportunity, "j")
        assert (bias.equal_opportunity_interval(*pairs, boot, "j") == plain) == same
    # Without one human side there is neither value nor interval.
    assert np.isnan(bias.equal_opportunity_interval(*pairs_of([3, 2, 0, 0]), boot)[:3]).all()


@pytest.mark.parametrize("others", [1, 2])
def test_an_excess_of_few_events_has_the_interval_of_a_difference(others):
    # The first judge always takes its own where people prefer the other one.
    sides, draw = np.repeat([0, 1], [40, 12]), np.arange(52) % 10 / 10
    own = [draw < np.where(sides, share, 0.8 - share / 4) for share in (1, 0.5, 0.3)]
    cells = np.stack([np.eye(4)[2 * sides + ~one] for one in own[: 1 + others]], axis=1)
    pairs, boot = np.arange(52), ClusterBootstrap(400, seed=1)
    found, mean = bias.excess_intervals(cells, pairs, boot)
    mine, theirs = (bias.equal_opportunity_interval(cells[:, j], pairs, boot) for j in (0, 1))
    assert (mean == theirs) == (others == 1)
    left = equal_opportunity(cells.sum(axis=0) - cells)
    alike = max(np.corrcoef(left[:, 0], left[:, 1:].mean(axis=1))[0, 1], 0)
    assert alike > 0.1
    assert found == pytest.approx(difference(mine, mean, correlation=alike))


def test_too_few_is_fewer_than_ten_on_one_human_side():
    assert bias.human_sides([9, 1, 4, 6]).tolist() == [10, 10]
    assert bias.too_few([[9, 1, 4, 6], [400, 2, 5, 4]]).tolist() == [False, True]


def facing_rows(human, **decisions):
    """Pairs with j's responses, one column of decisions a judge; the human decides `human`."""
    rows = pd.DataFrame(decisions).assign(human=human, opponent="o").reset_index(names="item_id")
    rows["cluster"] = "c" + rows["item_id"].astype(str)
    return rows.melt(["item_id", "cluster", "opponent", "human"], None, "judge", "decision")


def bias_excess(rows, variant):
    cells, _ = bias.stacked_cells(rows, "j", variant, "drop", "drop")
    return float(bias.excess(cells.sum(axis=0))[0]), int((cells[:, 0].sum(axis=1) > 0).sum())


def test_excess_on_own_and_all_pairs():
    rows = facing_rows(
        human=[1, 1, 0, 0],
        j=[1, 1, 1, 0.5],  # EO 1 on the three pairs that it decides
        k=[1, 0.5, 0, 1],  # EO 1 - 1/2 on its own three
        m=[1, 1, 0, 0],  # EO 0
    )
    assert bias_excess(rows, "own") == (1 - (0.5 + 0) / 2, 3)
    j, k = 1 - 0.25, 0.75 - 0.5
    assert bias_excess(rows, "half-ties") == (pytest.approx(j - k / 2), 4)
    assert np.isnan(bias_excess(rows.query("judge == 'j'"), "own")[0])


def test_a_judge_of_a_few_pairs_hides_nobody_s_excess():
    enough = facing_rows(human=[1] * 10 + [0] * 10, j=[1] * 20, k=[1] * 10 + [0] * 10)
    sample = facing_rows(human=[1, 0], m=[1, 1])
    assert bias_excess(pd.concat([enough, sample]), "own") == (1.0, 20)
    # Where no other judge has enough, all enter, and the value is marked as too few.
    fewer = enough.query("judge == 'j' or cluster in ('c0', 'c10')")
    assert bias_excess(pd.concat([fewer, sample]), "own") == (1 - (0 + 1) / 2, 20)


def test_ordered_pairs_of_votes_counted_by_hand():
    given = {"two": [1, 0], "three": [1, 1, 0], "alone": [1], "tied": [1, 0.5, 1]}
    rows = [(name, vote) for name, votes in given.items() for vote in votes]
    votes = pd.DataFrame(rows, columns=["pair", "vote"])
    found = vote_cells(votes, ["pair"], "drop").set_index("pair")
    assert found["votes"].to_dict() == {"three": 3, "tied": 2, "two": 2}
    assert found.loc["two", CELLS].tolist() == [0, 0.5, 0.5, 0]
    # Of six ordered pairs of votes two agree on own, and each disagreement stands twice.
    assert found.loc["three", CELLS].tolist() == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0])
    assert found.loc["tied", CELLS].tolist() == [1, 0, 0, 0]
    # A tied vote counts half where it is not dropped: of three pairs of votes two are half.
    half = vote_cells(votes, ["pair"], "half").set_index("pair").loc["tied"]
    assert half[["share", *CELLS]].tolist() == pytest.approx([5 / 6, 2 / 3, 1 / 6, 1 / 6, 0])


@pytest.mark.parametrize(
    ("a", "b", "bonus"), [(4, 1, 0.0), (1, 3, 0.0), (2, 2, 0.3), (0.5, 0.2, 0.0), (40, 10, 0.0)]
)
def test_a_person_a_majority_and_a_judge_with_a_bonus_are_recovered(rng, a, b, bonus):
    # Preferences from Beta(a, b), and two to four votes on each pair.
    p, voted = rng.beta(a, b, 60_000), rng.integers(2, 5, 60_000)
    pair = np.arange(len(p)).repeat(voted)
    own = rng.random(len(pair)) < p[pair]
    votes = pd.DataFrame({"pair": pair, "vote": own.astype(float)})
    pairs, taste = vote_cells(votes, ["pair"], "drop"), np.clip(p + bonus, 0, 1)

    def eo(chosen):
        return (p * chosen).sum() / p.sum() - ((1 - p) * (1 - chosen)).sum() / (1 - p).sum()

    wanted = [eo(p), eo(p > 0.5), eo(p > 0.5) - eo(p)]
    assert bias.beyond_majority(pairs[CELLS].sum().to_numpy()) == pytest.approx(wanted, abs=0.02)
    pairs["decision"] = (rng.random(len(p)) < taste).astype(float)
    found = bias.beyond_no_preference(bias.against_votes(pairs).sum(axis=0))
    assert found == pytest.approx([eo(p), eo(taste), eo(taste) - eo(p)], abs=0.02)
