"""Statistics beyond the papers on tables small enough to count by hand, and their invariances."""

from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS
from judged_sets import data_set

from selfpref import tables
from selfpref.params.studies import Xu
from selfpref.statistics import choices, latent, scaled
from selfpref.studies.beyond import sets
from selfpref.studies.beyond.mitigations import by_rule
from selfpref.studies.beyond.sets import STATISTICS, long, recovery
from selfpref.studies.livebench.panel import Panel
from selfpref.studies.xu.bias import Settings as XuSettings

# item, the choices of `me` and `you`, the human's label.
PAIRS = [
    ("1", ("me", "me"), "a"),
    ("2", ("me", "you"), "a"),
    ("3", ("tie", "me"), "a"),
    ("4", ("me", "you"), "b"),
    ("5", ("you", "you"), "b"),
    ("6", ("me", "tie"), "tie"),
    ("7", ("me", "me"), None),
]


def truths(metric, scores, key="item_id"):
    rows = [(item, name, float(score)) for item, of in scores.items() for name, score in of.items()]
    return pd.DataFrame(rows, columns=[key, "responder", "score"]).assign(metric=metric)


def judged(pairs=PAIRS, truths=()):
    names, sides = ("me", "you"), {"a": "me", "b": "you", "tie": "tie"}
    votes = [(key, *names, sides[label]) for key, _, label in pairs if label]
    verdicts = [
        (key, judge, *names, choice)
        for key, made, _ in pairs
        for judge, choice in zip(names, made, strict=False)
    ]
    return data_set("d", votes, verdicts, truths=list(truths))


def filled(**rows):
    return {
        name: tables.fill(pd.DataFrame(part).to_dict("records"), name, study="beyond")
        for name, part in rows.items()
    }


def of_pairs(data):
    """The rows of a data set of pairs, as the notebook makes them."""
    rows = [*choices.against_people(data), *latent.of_pairs(data)[0]]
    for labelled in sets.by_gold(data):
        rows += choices.of_judges(choices.from_pairs(*labelled))
        if sets.regressed(*labelled):
            rows += [*choices.regressions(*labelled), *scaled.of_pairs(*labelled)[0]]
    return indexed(rows)


def indexed(rows):
    return long(rows).set_index(["judge", "gold", "statistic"])


def same(found, wanted):
    """Rows of a frame by key: value, n and dropped."""
    for key, (value, *numbers) in wanted.items():
        assert found.loc[key, "value"] == pytest.approx(value), key
        assert found.loc[key, ["n", "dropped"][: len(numbers)]].tolist() == numbers, key


@pytest.fixture(scope="module")
def hand():
    return of_pairs(judged())


def test_pairs_counted_by_hand(hand):
    wanted = {
        # Of six decided rows me chooses itself five times; the tie is dropped.
        ("me", "none", "demographic_parity"): (2 * 5 / 6 - 1, 6, 1),
        # Decided by both: 1, 2 (own, own), 4 (other, own), 5 (other, other); 3 and 6 are ties.
        ("me", "human", "equal_opportunity"): (1 - 1 / 2, 4, 2),
        ("you", "human", "equal_opportunity"): (1 - 2 / 3, 5, 1),
        # You sees 1, 2, 3 (me, you, me) and 4, 5 (you, you): EO 2/3 - 1 towards me.
        ("me", "human", "excess"): (1 / 2 - (2 / 3 - 1), 4, 2),
        # Me: (1 + 1 + 1/2)/3 - 1/2; you: 2/3 - 1.
        ("me", "human", "excess_half_ties"): ((2.5 / 3 - 1 / 2) - (2 / 3 - 1), 5, 1),
        # 4.5 wins in the six labelled rows; the human gives 3.5.
        ("me", "human", "gold_gap"): ((4.5 - 3.5) / 6, 6, 0),
        ("me", "human", "harmful"): (1 / 2, 2, 0),
        ("you", "human", "harmful"): (1 / 3, 3, 0),
        ("me", "human", "neutral"): (1.0, 1, 0),
        ("me", "human", "legitimate"): (2.5 / 3, 3, 0),
    }
    same(hand, wanted)
    assert set(hand.index.get_level_values("statistic")) == set(STATISTICS)
    # Me decides 1, 2 (own) and 4, 5 (other); you all of 1 to 5.
    human = hand.loc[("me", "human"), ["n_human_own", "n_human_other", "n_human_least"]]
    assert human.loc["excess"].tolist() == human.loc["equal_opportunity"].tolist() == [2, 2, 2]
    assert human.loc["excess_half_ties"].tolist() == [3, 2, 2]
    assert human.loc[["harmful", "gold_gap"]].isna().all(axis=None)


def test_the_order_of_the_rows_changes_no_number(hand):
    data, mixed = judged(), judged()
    for name, frame in mixed.tables.items():
        mixed.tables[name] = frame.sample(frac=1, random_state=3)
    pd.testing.assert_frame_equal(hand, of_pairs(mixed))
    for one, other in zip(by_rule(data), by_rule(mixed), strict=True):
        pd.testing.assert_frame_equal(one, other)
    pd.testing.assert_frame_equal(*map(scaled.placebos, (data, mixed)))


def test_what_rests_on_too_few_pairs_on_one_side_is_marked():
    own, other = [40, 41, np.nan, np.nan], [10, 9, 10, 9]
    sides = pd.DataFrame({"n": [50, 50, 9, 0], "n_human_own": own, "n_human_other": other})
    assert choices.too_few(sides).tolist() == [False, True, True, False]
    # Another judge's side counts as well.
    assert choices.too_few(sides.assign(n_human_least=9)).tolist() == [True, True, True, False]


def test_missing_is_nan_with_a_reason_and_never_zero():
    # One judge, no tie: nothing to compare with, nothing of equal quality.
    found = of_pairs(judged([(key, ("me",), "a") for key in "12"])).loc["me"]
    missing = found[found["n"].eq(0)]
    assert missing[["value", "lo", "hi"]].isna().all(axis=None)
    wanted = {
        "equal_opportunity": choices.ONE_SIDE,
        "excess": choices.ALONE,
        "neutral": choices.NOBODY,
        "regression": choices.NOT_TOLD,
    }
    assert missing["reason"].droplevel("gold")[[*wanted]].to_dict() == wanted


def test_the_oracle_is_a_gold_label_of_its_own(hand):
    # It prefers `you` in item 1 and nothing in the others.
    scores = {key: {"me": 0, "you": key == "1"} for key, *_ in PAIRS}
    found = of_pairs(judged(truths=truths("quality", scores, "item").to_dict("records")))
    same(found.loc[("me", "oracle")], {"harmful": (1, 1), "neutral": (4.5 / 6, 6)})
    human = [frame.xs("human", level="gold")["value"] for frame in (found, hand)]
    pd.testing.assert_series_equal(*human)


# Contests: three judges choose among three responses; the key knows who is right.
CHOICES = {
    # item: (choices of a, b, c), scores of a, b, c
    "1": ("aba", (1, 0, 0)),  # a legitimate
    "2": ("abc", (0, 1, 0)),  # a harmful
    "3": ("bbb", (0, 1, 1)),  # a harmful, not chosen
    "4": (["a", "a", "tie"], (1, 1, 0)),  # neutral
    "5": ("aca", (1, 1, 1)),  # all alike
}


def contest():
    keys = pd.DataFrame({"item_id": [*CHOICES]})
    verdicts = keys.merge(pd.DataFrame({"judge": [*"abc"]}), "cross")
    verdicts["choice"] = [choice for made, _ in CHOICES.values() for choice in made]
    # Judge a gives itself 3 points, the others give it 2 and 1; the true rubric says 1 or 0.
    points = [("a", "a", 3.0), ("b", "a", 2.0), ("c", "a", 1.0)]
    points += [(judge, other, 2.0) for judge, other in product("abc", "bc")]
    ratings = keys.merge(pd.DataFrame(points, columns=["judge", "responder", "score"]), "cross")
    scores = {key: dict(zip("abc", of_key, strict=True)) for key, (_, of_key) in CHOICES.items()}
    found = filled(
        items=keys.assign(cluster=[*CHOICES], category="sums"),
        verdicts=verdicts.assign(candidates=[[*"abc"]] * 15, order_known=True, status="ok"),
        truths=pd.concat(truths(name, scores) for name in ("strict", "tolerant", "rubric")),
        ratings=ratings.assign(task="rubric", status="ok"),
    )
    return Panel(found, 0.0, SETTINGS.bootstrap)


def test_choices_among_three_and_points_counted_by_hand():
    panel = contest()
    turned = sets.from_choices(panel, SETTINGS)
    assert {*turned[0].rows["opponent"]} == {"a+b", "a+c", "b+c"}
    made = [row for one in turned for row in choices.of_judges(one)]
    found = indexed([*made, *sets.of_contests(panel, 0.95)]).loc["a"]
    wanted = {
        # Four of five: (4/5 - 1/3) / (2/3).
        ("none", "demographic_parity"): (0.7, 5),
        ("key-strict", "harmful"): (1 / 2, 2),
        ("key-strict", "neutral"): (1.0, 2),
        ("key-strict", "legitimate"): (1.0, 1),
        # Decided by the key: 1, 2 and 3: 1 - 1/2.
        ("key-strict", "equal_opportunity"): (1 / 2, 3),
        # The key gives a 1, 0, 0, 1/2, 1/3; an answer key is no gold for the points of a rubric.
        ("key-strict", "gold_gap"): ((4 - 11 / 6) / 5, 5),
        ("other judges", "gold_gap"): (3 - 1.5, 5),
        # The true rubric gives a 1, 0, 0, 1, 1.
        ("rubric", "gold_gap"): (3 - 3 / 5, 5),
    }
    same(found, wanted)


def test_refinement_has_a_gap_at_step_zero_alone():
    ids = [f"yor-en/{n}" for n in range(3)]
    rows = pd.DataFrame(product(ids, (0, 1)), columns=["item_id", "step"]).assign(responder="me")
    found = filled(
        items={
            "item_id": ids,
            "cluster": ids,
            "messages": [[{"role": "user", "content": "x"}]] * 3,
        },
        responses=rows.assign(text="t"),
        ratings=rows.assign(judge="me", task="mqm", score=rows["step"] - 1.0, status="ok"),
        truths=rows.assign(metric="mqm", score=-5.0),
    )
    settings = XuSettings(Xu.model_construct(truth="mqm", matcher="lemma"), SETTINGS.bootstrap)
    told = long(sets.of_refinement(found, settings))[["judge", "gold", "value", "n", "unit"]]
    assert told.values.tolist() == [["me", "mqm", 4.0, 3, "MQM points"]]


def preferences(values, **given):
    # Rows of other tasks, of other prompts and of training take no part.
    rows = [("preference", "plain", True, value) for value in values]
    rows += [("recognition", "plain", True, 0.1), ("preference", "other", True, 0.1)]
    rows.append(("preference", "plain", False, 0.1))
    asked = pd.DataFrame(rows, columns=["task", "variant", "held_out", "corrected"])
    names = {"dataset": "xsum", "evaluator": "gpt4", "own": "gpt4", "other": "human"}
    number = asked.index.astype(str)
    asked = asked.assign(**names, item_id="xsum/" + number, cluster=number)
    made = sets.from_confidences(asked, {"truths": tables.empty("truths")} | given, SETTINGS)
    return indexed(row for one in made for row in choices.of_judges(one)).loc["gpt4"]


def test_preferences_held_to_the_oracle_or_to_nothing():
    # The oracle prefers the own text, the other one, neither; two texts it does not know.
    scores = {"0": (2, 1), "1": (0, 1), "2": (3, 3)}
    known = {f"xsum/{key}": {"gpt4": own, "human": of} for key, (own, of) in scores.items()}
    found = preferences([0.9, 0.1, 0.8, 0.1, 0.9], **filled(truths=truths("quality", known)))
    wanted = {
        ("oracle", "gold_gap"): ((2 - 1.5) / 3, 3),
        ("oracle", "harmful"): (0, 1),
        ("oracle", "legitimate"): (1, 1),
        ("oracle", "neutral"): (1, 1),
        # All five enter where no gold label is needed.
        ("none", "demographic_parity"): (2 * 3 / 5 - 1, 5, 0),
    }
    same(found, wanted)
    found = preferences([0.9, 0.6, 0.5, 0.1, np.nan])
    assert set(found.index.get_level_values("gold")) == {"none"}
    # Two of three decided; a tie and a missing answer are dropped.
    same(found, {("none", "demographic_parity"): (1 / 3, 3, 2)})


def test_a_statistic_that_follows_what_was_planted_correlates_with_it():
    betas = pd.Series({"a": -0.2, "b": 0.0, "c": 0.1, "d": 0.4, "e": 0.5}, name="beta")
    rows = pd.DataFrame({"excess": 2 * betas + 1, "harmful": -(betas**3), "neutral": 0.5})
    rows = rows.melt(var_name="statistic", ignore_index=False).reset_index(names="judge")
    sets = [SimpleNamespace(name="d", betas=betas)]
    found = recovery(rows.assign(dataset="d", gold="human", n=1), sets, 0.95).set_index("statistic")
    # What does not vary has no correlation, and a perfect one no interval.
    assert [*found.index] == ["excess", "harmful"]
    assert found.loc["excess", ["r", "lo"]].tolist() == pytest.approx([1, np.nan], nan_ok=True)
    r = np.corrcoef(betas, -(betas**3))[0, 1]
    ends = [np.tanh(np.arctanh(r) + side * 1.959964 / 2**0.5) for side in (-1, 1)]
    assert found.loc["harmful", ["r", "lo", "hi", "n"]].tolist() == pytest.approx([r, *ends, 5])
