"""Rules that combine judges, counted by hand."""

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS
from judged_sets import data_set

from selfpref.statistics.judged import Judged
from selfpref.studies.beyond.mitigations import (
    AVERAGING,
    CHANGED,
    MEAN,
    OTHERS,
    OWN_VOTE,
    RULED,
    RULES,
    by_rule,
    measured,
    panel_scores,
    rule_scores,
    text_perplexities,
    weights,
)

# Two pairs of a and b; nats a token of each text to each judge.
NATS = {("1", "a"): (1.0, 2.0, 3.0), ("1", "b"): (3.0, 1.0, 2.0), ("2", "a"): (2.0, 2.0, 2.0)}
NATS |= {("2", "b"): (2.0, 2.0, 2.0)}
PERPLEXITIES = pd.DataFrame(
    [
        (item, responder, 0, judge, True, nats * 10, 10, "ok")
        for (item, responder), row in NATS.items()
        for judge, nats in zip("abc", row, strict=True)
    ],
    columns=[
        *("item_id", "responder", "step", "judge"),
        *("conditional", "sum_nll", "n_tokens", "status"),
    ],
)
GIVEN = text_perplexities(PERPLEXITIES)
SCORES = pd.DataFrame(
    [[0.9, 0.2, 0.4], [1.0, 0.6, 0.2]],
    index=pd.MultiIndex.from_tuples(
        [("1", "a", "b"), ("2", "a", "b")], names=["item_id", "first", "second"]
    ),
    columns=pd.Index(list("abc"), name="judge"),
)


def test_each_rule_by_hand():
    found = weights(SCORES, GIVEN)
    # Mean nats of both texts of pair 1 are 2: a finds a's text 1 below it, b finds b's.
    small = np.exp(-1)
    assert found.loc[("1", "a", "b")].tolist() == pytest.approx([small, small, 1.0])
    assert found.loc[("2", "a", "b")].tolist() == [1.0, 1.0, 1.0]
    # Without a the mean nats are 2.5 and 1.5: b is half below in both, c half above.
    of_b, of_c = np.exp(-0.5), np.exp(0.5)
    wanted = {
        "single": 0.9,
        "ensemble": (0.9 + 0.2 + 0.4) / 3,
        "ensemble without the judge": (0.2 + 0.4) / 2,
        # Only c wrote neither response.
        "leave-self-out": 0.4,
        "perplexity-weighted": (small * 0.9 + small * 0.2 + 0.4) / (2 * small + 1),
        "perplexity-weighted without the judge": (of_b * 0.2 + of_c * 0.4) / (of_b + of_c),
    }
    found = rule_scores(SCORES, GIVEN, "a")
    assert tuple(found) == RULES
    assert found.loc[("1", "a", "b")].to_dict() == pytest.approx(wanted)
    # Equal perplexities: the plain mean.
    assert found.loc[("2", "a", "b"), "perplexity-weighted"] == pytest.approx(1.8 / 3)


def test_a_rule_without_all_its_scores_has_none():
    gap = SCORES.copy()
    gap.loc[("1", "a", "b"), "a"] = np.nan
    found = rule_scores(gap, GIVEN, "a").loc[("1", "a", "b")]
    assert found[["single", "ensemble", "perplexity-weighted"]].isna().all()
    assert found[["ensemble without the judge", "leave-self-out"]].tolist() == [
        pytest.approx(0.3),
        0.4,
    ]
    unknown = text_perplexities(PERPLEXITIES[PERPLEXITIES["judge"].ne("b")])
    assert weights(SCORES, unknown).isna().all(axis=None)


def test_bias_its_size_and_agreement_from_cells():
    # One rule with tp 3, fn 1, fp 1, tn 1, and two other judges with EO -1/2 and 1.
    cells = np.array([[3, 1, 1, 1], [1, 1, 0, 2], [1, 0, 1, 0]], dtype=float)
    eo = 3 / 4 - 1 / 2
    rule, others = measured(cells, 1).T
    assert rule.tolist() == pytest.approx([eo, eo, 4 / 6])
    assert others.tolist() == pytest.approx([1 / 4, 3 / 4, (3 / 4 + 1 / 2) / 2])


def judged(choices, labels):
    """Pairs of a, b and c: by item and pair, the choice of each judge, and the human's."""
    verdicts = [
        (item, judge, one, two, choice)
        for (item, one, two), chosen in choices.items()
        for judge, choice in zip("abcd", chosen, strict=False)
    ]
    return data_set("d", [(*pair, label) for pair, label in labels.items()], verdicts)


# a always picks itself; b, c and d follow the human.
LABELS = {
    ("1", "a", "b"): "a",
    ("2", "a", "b"): "b",
    ("3", "a", "c"): "c",
    ("4", "a", "c"): "a",
    ("5", "a", "b"): "tie",
}
CHOICES = {key: ("a", label, label, label) for key, label in LABELS.items()}


def effects(choices, labels=LABELS):
    _, found = by_rule(judged(choices, labels))
    return found.set_index(["judge", "measure", "effect", "rule"])["change"]


def test_a_panel_of_fair_judges_outvotes_a_partial_one():
    rules, _ = by_rule(judged(CHOICES, LABELS))
    own = rules[rules["judge"].eq("a")].set_index(["measure", "rule"])
    told = ("ensemble", "ensemble without the judge", "leave-self-out", OTHERS)
    wanted = {("eo", rule): 0 for rule in told} | {("agreement", rule): 1 for rule in told}
    wanted |= {("eo", "single"): 1, ("agreement", "single"): 1 / 2, ("size", "single"): 1}
    assert own["value"].to_dict() == wanted | {("size", rule): 0 for rule in told}
    # The pair that the human tied is not decided.
    assert set(zip(own["n"], own["n_human_own"], own["n_human_other"], strict=True)) == {(4, 2, 2)}
    found = effects(CHOICES)["a"]
    assert found["eo", OWN_VOTE, "single"] == 1
    assert found["agreement", OWN_VOTE, "single"] == -1 / 2
    # Where nobody errs, averaging has nothing to average, and one vote of four changes nothing.
    assert (found.drop(index="single", level="rule") == 0).all()


def test_the_own_vote_counts_where_the_others_differ():
    labels = {("1", "a", "x"): "a", ("2", "a", "x"): "x"}
    choices = {("1", "a", "x"): "aaa", ("2", "a", "x"): "axa"}
    found = effects(choices, labels)["a"]
    # Without a the second pair is a tie of b and c: 1 - 1/2; with it a wins: 1 - 0.
    assert found["eo", OWN_VOTE, "ensemble"] == 1 / 2
    assert found["agreement", OWN_VOTE, "ensemble"] == 1 / 2 - 3 / 4
    # b alone has an EO of 0, c of 1: as much as both together.
    assert found["eo", AVERAGING, "ensemble without the judge"] == 0


def test_averaging_alone_makes_a_bias_larger():
    """Three judges that err in turn on what is better, and all on what is worse; a never votes."""
    labels = {(str(n), "a", "x"): "x" if n == 4 else "a" for n in range(1, 5)}
    votes = ("axaa", "aaxa", "aaax", "aaaa")
    found = effects(dict(zip(labels, votes, strict=True)), labels)["a"]
    change = {"eo": 1 - 2 / 3, "size": 1 - 2 / 3, "agreement": 3 / 4 - 1 / 2}
    for measure, wanted in change.items():
        key = (measure, AVERAGING, "ensemble without the judge")
        assert found[key] == pytest.approx(wanted), measure
    assert found["eo", OWN_VOTE, "ensemble"] == 0


def test_the_mean_is_of_sizes_but_for_the_own_vote():
    # a prefers itself always, b never: signed biases would cancel.
    choices = {
        key: ("a", "a" if "b" in key[1:] else label, label, label) for key, label in LABELS.items()
    }
    rules, changes = by_rule(judged(choices, LABELS))
    size = rules[rules["rule"].eq("single") & rules["measure"].eq("size")]
    known = size[size["judge"].ne(MEAN)]["value"].dropna()
    assert len(known) > 1
    assert size.set_index("judge").loc[MEAN, "value"] == pytest.approx(known.mean())
    mean = changes[changes["judge"].eq(MEAN)]
    assert set(mean.loc[mean["measure"].eq("eo"), "effect"]) == {OWN_VOTE}
    assert not rules["judge"].eq(MEAN)[rules["measure"].eq("eo")].any()


def test_incomplete_pairs_are_counted_and_two_judges_are_no_panel():
    broken = CHOICES | {("1", "a", "b"): ("a", None, "a", "a")}
    data = judged(broken, LABELS)
    for found in by_rule(data):
        own = found[found["judge"].eq("a")]
        assert set(zip(own["n"], own["dropped"], strict=True)) == {(3, 1)}
    verdicts = data.tables["verdicts"]
    data.tables["verdicts"] = verdicts[verdicts["judge"].isin(["a", "b"])]
    two = Judged("d", data.tables, SETTINGS)
    rules, changes = by_rule(two)
    assert (list(rules), list(changes)) == (RULED, CHANGED)
    assert rules.empty
    assert changes.empty
    assert panel_scores(two.pairs).shape == (5, 2)
