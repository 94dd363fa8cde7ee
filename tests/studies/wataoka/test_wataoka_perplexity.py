"""Perplexity and verdicts: which pairs enter, bins, slopes; who wrote the texts and the texts."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS
from judged_sets import data_set

from selfpref import tables
from selfpref.statistics.judged import Judged
from selfpref.studies.wataoka import perplexity
from selfpref.studies.wataoka.perplexity import OUTSIDE, bin_edges, entering, pair_differences


def read(item, judge, responder, nats, **changed):
    row = {"item": item, "responder": responder, "judge": judge, "conditional": True}
    return row | {"sum_nll": nats * 10, "n_tokens": 10, "n_bytes": 9, "status": "ok"} | changed


def pairs(*rows):
    columns = ["item_id", "first", "second", "judge", "human", "decision"]
    return pd.DataFrame(rows, columns=columns).assign(cluster="c")


def values(count, **by_responder):
    return pd.Series({(str(n), name): v for n in range(count) for name, v in by_responder.items()})


NONE = pd.Series(dtype=float)


def test_a_is_drawn_whoever_judges_and_turns_x_wins_and_quality_together():
    rows = [(str(n), "a", "b", "b", 1.0, 1.0) for n in range(200)]
    found = pair_differences(pairs(*rows), values(200, a=1.0, b=3.0), NONE)
    assert 60 < found["drawn"].sum() < 140
    # Alone it is the judge's own.
    own = perplexity.turned(found, "own_is_b")
    assert (own[["x", "judge_wins", "human_wins"]] == [2, 0, 0]).all(axis=None)
    rows = [(str(n), "b", "c", "a", 0.5, 1.0) for n in range(40)]
    found = pair_differences(pairs(*rows), values(40, b=1.0, c=3.0), values(40, b=0.9, c=0.4))
    found = perplexity.turned(found, "drawn").round(9)
    assert {*found[["x", "judge_wins", "human_wins", "q"]].itertuples(index=False, name=None)} == {
        (-2.0, 1.0, 0.5, 0.5),
        (2.0, 0.0, 0.5, -0.5),
    }


@pytest.mark.parametrize(("binning", "edges"), [("width", [0, 5, 10]), ("count", [0, 1, 10])])
def test_bins_of_equal_width_or_count_and_one_where_all_is_equal(binning, edges):
    assert bin_edges(pd.Series([0.0, 0.5, 1.0, 4.0, 10.0]), 2, binning).tolist() == edges
    assert bin_edges(pd.Series([2.0, 2.0]), 4, binning).tolist() == [2, 2]


NAMES = ("broken", "fair", "strong")


def judged(follows, readers=("smollm2", "fair"), questions=300):
    """Pairs of responders of unequal quality and perplexity; a verdict `follows` the text's own.

    Strong responders are preferred and more predictable. Beyond that each text has a perplexity of
    its own, which moves a decision by `follows` a nat.
    """
    draw = np.random.default_rng(1)
    voted, verdicts, responses, scores = [], [], [], []
    for item in range(questions):
        own = dict(zip(NAMES, draw.normal(0, 0.3, 3), strict=True))
        for place, name in enumerate(NAMES):
            text = "x" * int(draw.integers(20, 200))
            responses.append({"item": item, "responder": name, "text": text})
            scores += [read(item, who, name, 3 - 0.5 * place + own[name]) for who in readers]
            # What a text costs without its prompt is not asked for.
            scores += [read(item, who, name, 1.0, conditional=False) for who in readers]
        for one, other in (("broken", "fair"), ("broken", "strong"), ("fair", "strong")):
            gap = 0.12 * (NAMES.index(one) - NAMES.index(other)) + follows * (own[one] - own[other])
            chosen, better = draw.random(2) < 0.5 + np.clip(gap, -0.5, 0.5)
            voted.append((item, one, other, one if better else other))
            verdicts.append((item, "fair", one, other, one if chosen else other))
    return data_set(votes=voted, verdicts=verdicts, responses=responses, perplexities=scores)


def slopes(data):
    return perplexity.outside_reader([data]).set_index(["who", "reader", "control"])


def test_a_slope_that_is_authorship_alone_goes_and_one_of_the_texts_own_stays():
    found = slopes(judged(follows=0.0))
    for who in ("human", "fair"):
        raw, within = (found.loc[(who, "outside", name)] for name in ("raw", "length"))
        assert raw["slope_hi"] < -0.1
        assert within["slope_lo"] < 0 < within["slope_hi"]
    found = slopes(judged(-0.3, readers=("smollm2", "fair", "strong"))).loc["human", "outside"]
    for control in ("responders", "length"):
        assert found.loc[control, "slope_lo"] < -0.3 < found.loc[control, "slope_hi"] < 0
    # The people's votes control for nothing in the people's own fit.
    assert set(found.index) == {"raw", "responders", "length"}


def test_a_text_without_perplexity_is_counted_and_never_zero():
    data = judged(0.0, readers=("smollm2",))
    # Votes on texts that are not there say nothing about texts.
    labels, scored = data.tables["labels"], data.tables["perplexities"]
    data.tables["labels"] = pd.concat([labels, labels.head(1).assign(responder_b="ghost")])
    scored.loc[scored["item_id"].eq("set/0"), ["sum_nll", "status"]] = [np.nan, "truncated"]
    row = slopes(data).loc["human", "outside", "raw"]
    assert (row["n"], row["n_dropped"]) == (897, 3)
    rates = perplexity.win_rates_by_bin([data], OUTSIDE).query("pairs == 'all' and who == 'judge'")
    assert rates["n"].sum() == 897
    assert set(rates["n_dropped"]) == {3}


def test_the_bins_of_fig_3_are_those_of_the_readers():
    data = judged(-0.5)
    rates = perplexity.win_rates_by_bin([data], OUTSIDE)
    every = rates.query("pairs == 'all' and who == 'judge'")
    assert every["x"].is_monotonic_increasing
    assert (every["win_rate"].iloc[[0, -1]].sub(0.5).abs() > 0.1).all()
    assert every["win_rate"].iloc[0] > every["win_rate"].iloc[-1]
    # By hand: the judge's wins in the third bin of its own pairs.
    own = entering(data, OUTSIDE).query("pairs == 'own'")
    one = rates.query("pairs == 'own' and who == 'judge' and bin == 2").iloc[0]
    mine = own[own["x"].ge(one["left"]) & own["x"].lt(one["right"])]
    assert (one["n"], one["win_rate"]) == (len(mine), pytest.approx(mine["judge_wins"].mean()))
    counts = rates.query("who == 'judge'").groupby("pairs")["n"].sum()
    assert counts.to_dict() == {"all": 900, "own": 600, "other": 300}


def test_slopes_of_judge_and_people_and_of_their_difference():
    data = judged(-0.3)
    table = perplexity.slopes([data]).set_index(["pairs", "who"])
    for pairs, part in entering(data).groupby("pairs", observed=True):
        x, q = part["x"], part["q"]
        for who in ("judge", "human"):
            wanted = np.polyfit(x, part[f"{who}_wins"], 1)[0]
            assert table.loc[(pairs, who), "slope"] == pytest.approx(wanted)
        design = np.column_stack([np.ones(len(x)), x, q])
        held = np.linalg.lstsq(design, part["judge_wins"], rcond=None)[0][1]
        assert table.loc[(pairs, "judge"), "controlled"] == pytest.approx(held)
        gap = table.loc[(pairs, "judge"), "slope"] - table.loc[(pairs, "human"), "slope"]
        assert table.loc[(pairs, "judge - human"), "slope"] == pytest.approx(gap)


def test_where_nobody_voted_the_judge_stands_alone_and_nothing_is_controlled_for():
    data = judged(-0.3, questions=30)
    bare = Judged("set", {**data.tables, "labels": data.tables["labels"].iloc[:0]}, SETTINGS)
    found = perplexity.slopes([bare]).set_index(["pairs", "who"])
    wanted = {("all", "judge"): 90, ("own", "judge"): 60, ("other", "judge"): 30}
    assert found["n"].to_dict() == wanted
    assert found["controlled"].isna().all()
    rates = perplexity.win_rates_by_bin([bare])
    assert {*zip(rates["pairs"], rates["who"], strict=True)} == {*wanted}


def test_own_texts_are_told_from_others_by_row_and_by_column():
    judges = ("a", "b", "onlooker")
    rows = [
        read(item, judge, who, 2.0 if judge == who else 4.0, conditional=given)
        for item, judge, who, given in product(range(3), judges, ("a", "b"), (True, False))
    ]
    verdicts = [(n, judge, "a", "b", "a") for n, judge in product(range(3), judges)]
    found = perplexity.log_perplexity([data_set(verdicts=verdicts, perplexities=rows)])
    table = found[found["conditional"]].set_index(["judge", "view"])
    for judge, view in (("a", "judge"), ("a", "text"), ("b", "judge")):
        assert table.loc[(judge, view), ["own", "other", "gap"]].tolist() == [2, 4, 2]
    assert np.isnan(table.loc[("onlooker", "judge"), "own"])
    assert ("onlooker", "text") not in table.index


def test_without_perplexities_there_are_columns_alone():
    data = judged(0.0, questions=3)
    bare = Judged("set", {**data.tables, "perplexities": tables.empty("perplexities")}, SETTINGS)
    measures = {
        perplexity.win_rates_by_bin: perplexity.RATES,
        perplexity.slopes: perplexity.SLOPES,
        perplexity.log_perplexity: perplexity.TEXTS,
        perplexity.outside_reader: perplexity.READERS,
    }
    for (measure, columns), sets in product(measures.items(), ([], [bare])):
        found = measure(sets)
        assert (found.empty, list(found)) == (True, columns)
