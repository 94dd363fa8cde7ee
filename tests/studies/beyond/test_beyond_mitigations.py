"""Rules that combine judges, counted by hand."""

import numpy as np
import pandas as pd
import pytest
from judged_sets import data_set

from selfpref.studies.beyond import mitigations as of

# Two pairs of a and b; nats of each text of ten tokens to each judge.
NATS = {"1a": (10.0, 20, 30), "1b": (30.0, 10, 20), "2a": (20.0,) * 3, "2b": (20.0,) * 3}
PERPLEXITIES = pd.DataFrame(
    [(*text, *one) for text, row in NATS.items() for one in zip("abc", row, strict=True)],
    columns=["item_id", "responder", "judge", "sum_nll"],
).assign(step=0, conditional=True, n_tokens=10, status="ok")
GIVEN = of.text_perplexities(PERPLEXITIES)
ONE, TWO = ("1", "a", "b"), ("2", "a", "b")
PLACE = pd.MultiIndex.from_tuples([ONE, TWO], names=["item_id", "first", "second"])
SCORES = pd.DataFrame({"a": [0.9, 1.0], "b": [0.2, 0.6], "c": [0.4, 0.2]}, index=PLACE)


def test_each_rule_by_hand():
    # One perplexity of a text of pair 1 is missing.
    lost = of.text_perplexities(PERPLEXITIES.assign(status=["failed", *["ok"] * 11]))
    assert of.weights(SCORES, lost).isna().all(axis=1).tolist() == [True, False]
    found = of.weights(SCORES, GIVEN)
    # Mean nats of both texts of pair 1 are 2: a finds a's text 1 below it, b finds b's.
    small = np.exp(-1)
    assert found.loc[ONE].tolist() == pytest.approx([small, small, 1.0])
    assert found.loc[TWO].tolist() == [1.0, 1.0, 1.0]
    # Without a the mean nats are 2.5 and 1.5: b is half below in both, c half above.
    of_b, of_c = np.exp(-0.5), np.exp(0.5)
    wanted = {
        "single": 0.9,
        "ensemble": (0.9 + 0.2 + 0.4) / 3,
        "ensemble without the judge": (0.2 + 0.4) / 2,
        "perplexity-weighted": (small * 0.9 + small * 0.2 + 0.4) / (2 * small + 1),
        "perplexity-weighted without the judge": (of_b * 0.2 + of_c * 0.4) / (of_b + of_c),
    }
    found = of.rule_scores(SCORES, GIVEN, "a")
    assert tuple(found) == of.RULES
    assert found.loc[ONE].to_dict() == pytest.approx(wanted)
    # A rule without all the scores it needs has none.
    found = of.rule_scores(SCORES.mask(SCORES.eq(0.9)), GIVEN, "a").loc[ONE]
    assert {*found.index[found.isna()]} == {"single", "ensemble", "perplexity-weighted"}


def test_bias_its_size_and_agreement_from_cells():
    # One rule with tp 3, fn 1, fp 1, tn 1, and two other judges with EO -1/2 and 1.
    cells = np.array([[3, 1, 1, 1], [1, 1, 0, 2], [1, 0, 1, 0]], dtype=float)
    rule, others = of.measured(cells, 1).T
    assert rule.tolist() == pytest.approx([3 / 4 - 1 / 2, 3 / 4 - 1 / 2, 4 / 6])
    assert others.tolist() == pytest.approx([1 / 4, 3 / 4, (3 / 4 + 1 / 2) / 2])


def ruled(choices, labels):
    """`by_rule` of pairs: by item and pair, the choices of a, b, ..., and the human's."""
    verdicts = [
        (item, judge, one, two, choice)
        for (item, one, two), chosen in choices.items()
        for judge, choice in zip("abcd", chosen, strict=False)
    ]
    return of.by_rule(data_set("d", [(*pair, label) for pair, label in labels.items()], verdicts))


def effects(choices, labels):
    _, found = ruled(choices, labels)
    return found.set_index(["judge", "measure", "effect", "rule"])["change"]["a"]


# a always picks itself; b, c and d follow the human.
LABELS = {ONE: "a", TWO: "b", ("3", "a", "c"): "c", ("4", "a", "c"): "a", ("5", "a", "b"): "tie"}
CHOICES = {key: ("a", label, label, label) for key, label in LABELS.items()}


def test_a_panel_of_fair_judges_outvotes_a_partial_one():
    rules, _ = ruled(CHOICES, LABELS)
    own = rules[rules["judge"].eq("a")]
    values = own.pivot(index="rule", columns="measure", values="value")[[*of.MEASURES]]
    assert values.loc["single"].tolist() == [1, 1, 1 / 2]
    assert (values.loc[["ensemble", of.WITHOUT["ensemble"], of.OTHERS]] == [0, 0, 1]).all(axis=None)
    # The pair that the human tied is not decided.
    assert (own[["n", "n_human_own", "n_human_other"]] == [4, 2, 2]).all(axis=None)
    found = effects(CHOICES, LABELS)
    alone = found.xs((of.OWN_VOTE, "single"), level=("effect", "rule"))
    assert alone.to_dict() == {"eo": 1, "size": 1, "agreement": -1 / 2}
    # Where nobody errs, averaging has nothing to average, and one vote of four changes nothing.
    assert (found.drop(index="single", level="rule") == 0).all()


def test_averaging_alone_makes_a_bias_larger():
    """Three judges that err in turn on what is better, and all on what is worse; a never votes."""
    labels = {(str(n), "a", "x"): "x" if n == 4 else "a" for n in range(1, 5)}
    found = effects(dict(zip(labels, ("axaa", "aaxa", "aaax", "aaaa"), strict=True)), labels)
    averaged = found.xs((of.AVERAGING, "ensemble without the judge"), level=("effect", "rule"))
    assert averaged["eo"] == averaged["size"] == pytest.approx(1 - 2 / 3)
    assert averaged["agreement"] == pytest.approx(3 / 4 - 1 / 2)
    assert found["eo", of.OWN_VOTE, "ensemble"] == 0


def test_the_mean_is_of_sizes_but_for_the_own_vote():
    # The human preferred c on all its pairs, which leaves it without a bias.
    labels = {key: label for key, label in LABELS.items() if key[0] != "4"}
    # a prefers itself always, b never: signed biases would cancel.
    choices = {key: ("a", "a" if "b" in key else own, own, own) for key, own in labels.items()}
    rules, changes = ruled(choices, labels)
    size = rules.query("rule == 'single' and measure == 'size'").set_index("judge")["value"]
    assert size[of.MEAN] == pytest.approx(size.drop(of.MEAN).mean())
    signed = changes.query("judge == @of.MEAN and measure == 'eo'")
    assert set(signed["effect"]) == {of.OWN_VOTE}
    assert rules.query("judge == @of.MEAN and measure == 'eo'").empty


def test_incomplete_pairs_are_counted_and_two_judges_are_no_panel():
    for found in ruled(CHOICES | {ONE: ("a", None, "a", "a")}, LABELS):
        own = found[found["judge"].eq("a")]
        assert own[["n", "dropped"]].drop_duplicates().values.tolist() == [[3, 1]]
    two = ruled({key: chosen[:2] for key, chosen in CHOICES.items()}, LABELS)
    assert [(len(of), list(of)) for of in two] == [(0, of.RULED), (0, of.CHANGED)]
