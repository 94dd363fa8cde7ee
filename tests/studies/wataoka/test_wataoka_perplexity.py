"""Perplexity and verdicts: which pairs enter, bins, slopes; who wrote the texts and the texts."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS
from judged_sets import data_set

from selfpref.statistics.judged import Judged
from selfpref.studies.wataoka import perplexity
from selfpref.studies.wataoka.perplexity import OUTSIDE, bin_edges, entering


def read(item, judge, responder, nats, **changed):
    row = {"item": item, "responder": responder, "judge": judge, "conditional": True}
    return row | {"sum_nll": nats * 10, "n_tokens": 10, "n_bytes": 9, "status": "ok"} | changed


def test_a_is_drawn_whoever_judges():
    texts = {"a": (1.0, 0.9), "b": (3.0, 0.4)}
    verdicts, scores, truths = [], [], []
    for n, judge in product(range(200), "bc"):
        verdicts.append((n, judge, "a", "b", "b"))
        scores += [read(n, judge, who, nats) for who, (nats, _) in texts.items()]
    for n, (who, (_, right)) in product(range(200), texts.items()):
        truths.append({"item": n, "responder": who, "metric": "quality", "score": right})
    votes, more = [(n, "a", "b", "tie") for n in range(200)], {"human_ties": "half"}
    data = data_set("set", votes, verdicts, more, perplexities=scores, truths=truths)
    found = entering(data).round(9).set_index(["pairs", "judge"])
    found = found[["x", "decision", "human", "q"]]
    turned = found.loc[("all", "b"), "x"]
    assert turned.tolist() == found.loc[("all", "c"), "x"].tolist()
    assert 80 < turned.gt(0).sum() < 120
    rows = {part: {*map(tuple, found.loc[part].to_numpy())} for part in ("all", "own")}
    # Alone it is the judge's own.
    assert rows["own"] == {(2, 1, 0.5, -0.5)}
    assert rows["all"] == {(2, 1, 0.5, -0.5), (-2, 0, 0.5, 0.5)}


@pytest.mark.parametrize(("binning", "edges"), [("width", [0, 5, 10]), ("count", [0, 1, 10])])
def test_bins_of_equal_width_or_count(binning, edges):
    assert bin_edges(pd.Series([0.0, 0.5, 1.0, 4.0, 10.0]), 2, binning).tolist() == edges
    assert bin_edges(pd.Series([2.0, 2.0]), 4, binning).tolist() == [2, 2]


NAMES = ("broken", "fair", "strong")


def judged(follows, readers=("smollm2", "fair"), questions=300):
    """Pairs of responders of unequal quality and perplexity; a verdict `follows` the text's own.

    Strong responders are preferred and more predictable. Beyond that each text has a perplexity of
    its own, which moves a decision by `follows` a nat.
    """
    draw = np.random.default_rng(1)
    votes, verdicts, responses, scores = [], [], [], []
    for item in range(questions):
        own = dict(zip(NAMES, draw.normal(0, 0.3, 3), strict=True))
        for place, name in enumerate(NAMES):
            text = "x" * int(draw.integers(20, 200))
            responses.append({"item": item, "responder": name, "text": text})
            for who in readers:
                scores.append(read(item, who, name, 3 - 0.5 * place + own[name]))
                # What a text costs without its prompt is not asked for.
                scores.append(read(item, who, name, 1.0, conditional=False))
        for one, other in combinations(NAMES, 2):
            gap = 0.12 * (NAMES.index(one) - NAMES.index(other)) + follows * (own[one] - own[other])
            chosen, better = draw.random(2) < 0.5 + np.clip(gap, -0.5, 0.5)
            votes.append((item, one, other, one if better else other))
            verdicts.append((item, "fair", one, other, one if chosen else other))
    return data_set("set", votes, verdicts, responses=responses, perplexities=scores)


def slopes(data):
    return perplexity.outside_reader([data]).set_index(["who", "reader", "control"])


def test_a_slope_by_authorship_goes_and_one_of_texts_stays():
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
    assert (row["readers"], row["n"], row["n_dropped"]) == ("smollm2", 897, 3)
    rates = perplexity.win_rates_by_bin([data], OUTSIDE).query("pairs == 'all' and who == 'judge'")
    assert rates["n"].sum() == 897
    assert set(rates["n_dropped"]) == {3}


def test_the_bins_of_fig_3_are_those_of_the_readers():
    data = judged(-0.5)
    rates = perplexity.win_rates_by_bin([data], OUTSIDE).query("who == 'judge'")
    assert rates.groupby("pairs")["n"].sum().to_dict() == {"all": 900, "own": 600, "other": 300}
    first, *_, last = rates.query("pairs == 'all'")["win_rate"]
    assert first > last + 0.2
    # By hand: the judge's wins in the third bin of its own pairs.
    own = entering(data, OUTSIDE).query("pairs == 'own'")
    one = rates.query("pairs == 'own' and bin == 2").iloc[0]
    mine = own[own["x"].ge(one["left"]) & own["x"].lt(one["right"])]
    assert (one["n"], one["win_rate"]) == (len(mine), pytest.approx(mine["decision"].mean()))


def test_slopes_of_judge_people_and_their_difference():
    data = judged(-0.3)
    table = perplexity.slopes([data]).set_index(["pairs", "who"])
    for pairs, part in entering(data).groupby("pairs", observed=True):
        found, x = table.loc[pairs], part["x"]
        for who, column in {"judge": "decision", "human": "human"}.items():
            assert found.loc[who, "slope"] == pytest.approx(np.polyfit(x, part[column], 1)[0])
        design = np.column_stack([np.ones(len(x)), x, part["q"]])
        held = np.linalg.lstsq(design, part["decision"], rcond=None)[0][1]
        assert found.loc["judge", "controlled"] == pytest.approx(held)
        gap = found.loc["judge", "slope"] - found.loc["human", "slope"]
        assert found.loc["judge - human", "slope"] == pytest.approx(gap)


def test_where_nobody_voted_the_judge_stands_alone():
    held = judged(-0.3, questions=30).tables
    bare = Judged("set", {**held, "labels": held["labels"].iloc[:0]}, SETTINGS)
    found = perplexity.slopes([bare]).set_index(["pairs", "who"])
    wanted = {("all", "judge"): 90, ("own", "judge"): 60, ("other", "judge"): 30}
    assert found["n"].to_dict() == wanted
    assert found["controlled"].isna().all()
    rates = perplexity.win_rates_by_bin([bare])
    assert {*zip(rates["pairs"], rates["who"], strict=True)} == {*wanted}


def test_own_texts_and_others_by_row_and_by_column():
    judges = ("a", "b", "onlooker")
    rows = [
        read(item, judge, who, 2.0 if judge == who else 4.0, conditional=given)
        for item, judge, who, given in product(range(3), judges, "ab", (True, False))
    ]
    verdicts = [(n, judge, "a", "b", "a") for n, judge in product(range(3), judges)]
    found = perplexity.log_perplexity([data_set(verdicts=verdicts, perplexities=rows)])
    table = found[found["conditional"]].set_index(["judge", "view"])[["own", "other", "gap"]]
    for judge, view in product("ab", ("judge", "text")):
        assert table.loc[(judge, view)].tolist() == [2, 4, 2]
    assert np.isnan(table.loc[("onlooker", "judge"), "own"])
    assert ("onlooker", "text") not in table.index
