"""Rules that combine judges, counted by hand."""

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS

from selfpref.studies.beyond.measure.mitigations import (
    MEAN,
    by_rule,
    measured,
    panel_scores,
    rule_scores,
    weights,
)
from selfpref.studies.wataoka.measure.judged import Judged


def perplexity(item, responder, judge, nats, tokens=10):
    return {
        "item_id": item,
        "responder": responder,
        "step": 0,
        "judge": judge,
        "conditional": True,
        "sum_nll": nats * tokens,
        "n_tokens": tokens,
        "status": "ok",
    }


# Two pairs of a and b; nats a token of each text to each judge.
NATS = {("1", "a"): (1.0, 2.0, 3.0), ("1", "b"): (3.0, 1.0, 2.0), ("2", "a"): (2.0, 2.0, 2.0)}
NATS |= {("2", "b"): (2.0, 2.0, 2.0)}
PERPLEXITIES = pd.DataFrame(
    perplexity(item, responder, judge, nats)
    for (item, responder), row in NATS.items()
    for judge, nats in zip("abc", row, strict=True)
)
SCORES = pd.DataFrame(
    [[0.9, 0.2, 0.4], [1.0, 0.6, 0.2]],
    index=pd.MultiIndex.from_tuples(
        [("1", "a", "b"), ("2", "a", "b")], names=["item_id", "first", "second"]
    ),
    columns=pd.Index(list("abc"), name="judge"),
)


def test_a_judge_weighs_less_where_a_text_is_more_probable_to_it_than_to_the_panel():
    found = weights(SCORES, PERPLEXITIES)
    # Mean nats of both texts of pair 1 are 2: a finds a's text 1 below it, b finds b's.
    assert found.loc[("1", "a", "b")].tolist() == pytest.approx([np.exp(-1), np.exp(-1), 1.0])
    assert found.loc[("2", "a", "b")].tolist() == [1.0, 1.0, 1.0]


def test_each_rule_by_hand():
    found = rule_scores(SCORES, weights(SCORES, PERPLEXITIES), "a")
    first = found.loc[("1", "a", "b")]
    assert first["single"] == 0.9
    assert first["ensemble"] == pytest.approx((0.9 + 0.2 + 0.4) / 3)
    # Only c wrote neither response.
    assert first["leave-self-out"] == 0.4
    small = np.exp(-1)
    assert first["perplexity-weighted"] == pytest.approx(
        (small * 0.9 + small * 0.2 + 0.4) / (2 * small + 1)
    )
    # Equal perplexities: the plain mean.
    second = found.loc[("2", "a", "b")]
    assert second["perplexity-weighted"] == pytest.approx(second["ensemble"])


def test_a_rule_without_all_its_scores_has_none():
    gap = SCORES.astype(float).copy()
    gap.loc[("1", "a", "b"), "a"] = np.nan
    found = rule_scores(gap, weights(gap, PERPLEXITIES), "a").loc[("1", "a", "b")]
    assert found[["single", "ensemble", "perplexity-weighted"]].isna().all()
    assert found["leave-self-out"] == 0.4
    unknown = PERPLEXITIES[PERPLEXITIES["judge"].ne("b")]
    assert weights(SCORES, unknown).isna().all(axis=None)


def test_bias_excess_and_agreement_from_cells():
    # One rule with tp 3, fn 1, fp 1, tn 1 and two other judges with EO 0 and 1.
    cells = np.array([[3, 1, 1, 1], [1, 1, 1, 1], [1, 0, 1, 0]], dtype=float)
    eo = 3 / 4 - 1 / 2
    assert measured(cells, 1)[:, 0].tolist() == pytest.approx([eo, eo - 1 / 2, 4 / 6])


def judged(choices, labels):
    """Pairs of a, b and c: by item and pair, the choice of each judge, and the human's."""
    pairs = list(choices)
    verdicts = [
        {"item_id": item, "judge": judge, "task": "preference", "candidates": [one, two]}
        | {"order_known": False, "repeat": 0, "probabilities": None, "choice": choice}
        | {"status": "ok" if choice else "failed"}
        for item, one, two in pairs
        for judge, choice in zip("abcd", choices[item, one, two], strict=True)
    ]
    voted = [
        {"item_id": item, "responder_a": one, "responder_b": two, "annotator": "human"}
        | {"label": {one: "a", two: "b", "tie": "tie"}[labels[item, one, two]]}
        for item, one, two in pairs
    ]
    items = sorted({item for item, *_ in pairs})
    found = {
        "items": pd.DataFrame({"item_id": items, "cluster": items, "metadata": "{}"}),
        "verdicts": pd.DataFrame(verdicts),
        "labels": pd.DataFrame(voted),
        "perplexities": PERPLEXITIES.iloc[:0],
    }
    return Judged("d", found, SETTINGS)


# a always picks itself; b, c and d follow the human.
LABELS = {
    ("1", "a", "b"): "a",
    ("2", "a", "b"): "b",
    ("3", "a", "c"): "c",
    ("4", "a", "c"): "a",
    ("5", "a", "b"): "tie",
}
CHOICES = {key: ("a", label, label, label) for key, label in LABELS.items()}


@pytest.fixture(scope="module")
def table():
    found = by_rule(judged(CHOICES, LABELS))
    return found.set_index(["judge", "measure", "rule"])


def test_a_panel_of_fair_judges_outvotes_a_partial_one(table):
    own = table.loc["a"]
    assert own.loc[("eo", "single"), "value"] == 1
    assert own.loc[("excess", "single"), "value"] == 1
    assert own.loc[("agreement", "single"), "value"] == 1 / 2
    for rule in ("ensemble", "leave-self-out"):
        assert own.loc[("eo", rule), ["value", "change"]].tolist() == [0, -1]
        assert own.loc[("agreement", rule), ["value", "change"]].tolist() == [1, 1 / 2]
    # The pair that the human tied is not decided.
    assert (own["n"] == 4).all()
    assert "perplexity-weighted" not in own.index.get_level_values("rule")


def test_the_single_judge_changes_nothing_against_itself(table):
    alone = table.xs("single", level="rule")
    assert (alone[["change", "change_lo", "change_hi"]] == 0).all(axis=None)


def test_the_mean_is_of_sizes():
    # a prefers itself always, b never: signed biases would cancel.
    against = {"a": "a", "b": "a", "c": "c"}
    choices = {
        key: (against["a"], "a" if "b" in key[1:] else label, label, label)
        for key, label in LABELS.items()
    }
    found = by_rule(judged(choices, LABELS)).set_index(["judge", "measure", "rule"])["value"]
    eo = found.xs("single", level="rule").xs("eo", level="measure")
    known = eo.drop(MEAN).dropna()
    assert len(known) > 1
    assert eo[MEAN] == pytest.approx(known.abs().mean())


def test_a_pair_without_all_verdicts_is_dropped_and_counted():
    key = ("1", "a", "b")
    broken = CHOICES | {key: ("a", None, "a", "a")}
    found = by_rule(judged(broken, LABELS)).query("judge == 'a'")
    assert set(zip(found["n"], found["dropped"], strict=True)) == {(3, 1)}


def test_two_judges_are_no_panel():
    data = judged(CHOICES, LABELS)
    verdicts = data.tables["verdicts"]
    data.tables["verdicts"] = verdicts[verdicts["judge"].isin(["a", "b"])]
    assert by_rule(data).empty
    assert panel_scores(data.pairs).shape == (5, 2)
