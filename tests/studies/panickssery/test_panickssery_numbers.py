"""A confidence a pair, its means and lines over judges, single summaries: counted by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from panickssery_frames import BOOTSTRAP, WHO, both, items, paired, verdict
from scipy import stats
from study_frames import equal

from selfpref.studies.panickssery import correlation, evaluators, individual, pairs
from selfpref.studies.panickssery.correlation import fits
from selfpref.studies.panickssery.pairs import both_wordings, inverted, oracle, ordering, wordings

NAN, TUNE = np.nan, "set_2_ft_me"
PAIR = ([0.6, 0.2], [0.1, 0.4])
OWN, OTHER = ([0.9, 0.1], [0.1, 0.9]), ([0.1, 0.9], [0.8, 0.2])
FIRST, SECOND = ([0.9, 0.1], [0.7, 0.3]), ([0.2, 0.8], [0.3, 0.7])
STORED = {"stored": 0.7}
CHOICES = both(None, None, **STORED)
CHOICES = [row | {"choice": name} for row, name in zip(CHOICES, ("me", "other"), strict=True)]
LOST = verdict("other", "me", None, status="failed", stored=0.5)
# The mean share of both orders; the text read first had 3/4 and 1/5.
WHOLE = {"dataset": "set", "other": "other", "own": "me", "orders": 2, "ordering": "own"}
WHOLE |= {"forward": 0.75, "backward": 0.8, "corrected": 0.775, "released": 0.11}
WHOLE |= {"mass": 0.5, "position": 0.475, "undivided": 0.5, "held_out": True}
TUNED = {"judge": TUNE, "stored": 0.4}
LACKS = {"held_out": False, "corrected": NAN, "released": 0.4, "own": "me"}


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (both(*PAIR, stored=0.11), WHOLE),
        (both(*FIRST), {"corrected": 0.6, "ordering": "first", "released": NAN}),
        (both([1, 0], [1, 0]), {"corrected": 0.5, "ordering": "first"}),
        (both(*OTHER), {"corrected": 0.15, "ordering": "other"}),
        (both(*OTHER, task="inferiority"), {"corrected": 0.85, "ordering": "own"}),
        (both(*[[0.5, 0.5]] * 2), {"ordering": "tied", "ordering_released": "first"}),
        # Half a pair is another quantity, unless the source vouches for the whole.
        (both(*PAIR)[:1], {"status": "missing order", "corrected": NAN, "forward": 0.75}),
        ([*both(*PAIR)[:1], LOST], {"status": "failed", "corrected": NAN, "released": 0.5}),
        (CHOICES, {"status": "ok", "corrected": 0.7, "ordering": "first", "mass": NAN}),
        ([both(*OWN, **STORED)[0], CHOICES[1]], {"corrected": 0.7, "backward": NAN}),
        (both([0.006, 0.002], [0.1, 0.3]), {"status": "low-mass", "corrected": NAN}),
        # Articles that it was tuned on are left out of corrected alone; its base's texts are its.
        (both(*PAIR, item=1, **TUNED), LACKS),
        (both(*PAIR, item=2, **TUNED), LACKS | {"held_out": True, "corrected": 0.775}),
    ],
)
def test_a_pair_is_one_row_by_its_answers_in_both_orders(rows, wanted):
    # A pair of others is none of the study's.
    (row,) = paired(rows, [verdict("x", "y", [0.5, 0.4])], min_mass=0.01).to_dict("records")
    assert {name: row[name] for name in wanted} == pytest.approx(wanted, nan_ok=True)


def test_means_and_orders_by_convention():
    judged = paired(
        both(*OWN, stored=0.4),
        both(*OTHER, item=1),
        both(*FIRST, item=2),
        both([0.5, 0.5], [0.1, 0.9], item=3),
        both(*SECOND, other="b", item=3),
        both(*OWN, variant="labels-correct"),
        both(*OTHER, task="inferiority"),
        both([0.7, 0.3], [0.7, 0.3], task="recognition"),
    )
    columns = "task convention own other first second tied ambiguous"
    equal(
        ordering(judged),
        f"{columns} own_of_consistent thresholded n",
        # 0.9, 0.15, 0.6, 0.7 and 0.45 lie above and below one half; exactly one half counts half.
        ("preference", "corrected", *[0.2] * 5, 0.4, 0.5, 0.6, 5),
        ("preference", "released", 1.0, *[0.0] * 5, 1.0, 0.0, 1),
        ("recognition", "corrected", 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, NAN, 0.5, 1),
    )
    table = pairs.pairwise(judged, BOOTSTRAP)
    equal(
        table,
        "other convention mean n ambiguous",
        ("all", "corrected", 0.56, 5, 0.4),
        ("all", "released", 0.4, 1, 0.0),
        ("b", "corrected", 0.45, 1, 1.0),
        ("other", "corrected", 0.5875, 4, 0.25),
        ("other", "released", 0.4, 1, 0.0),
        task="preference",
    )
    assert table.loc[0, "lo"] < 0.56 < table.loc[0, "hi"]


def test_a_tune_is_compared_with_its_base_on_the_same_pairs():
    base = [both([0.5 + n / 10, 0.5 - n / 10], [0.5, 0.5], item=n) for n in range(4)]
    tuned = [both(*OWN, item=n, judge=TUNE) for n in range(1, 4)]
    # Stored scores of the tuning's articles are left out as well.
    for row in (*base[1], *tuned[0]):
        row["stored"] = 0.4
    lost = both(*OWN, judge=TUNE, other="b", item=3)
    table = pairs.deltas(paired(*base, *tuned, lost), WHO, BOOTSTRAP)
    # Articles 2 and 3 are held out.
    rows = [(TUNE, other, 0.625, 0.9, 0.275, 2) for other in ("all", "other")]
    equal(table, "evaluator other base tuned mean n", *rows)


def test_labels_stand_beside_the_plain_question_and_tell_the_orders():
    judged = paired(
        both(*OWN),
        both(*OTHER, variant="labels-swapped"),
        both(*FIRST, variant="labels-correct")[:1],
        both(*FIRST, variant="labels-correct", item=1),
        both(*OTHER, judge=TUNE, item=2),
        both(*OTHER, task="recognition"),
    ).fillna({"corrected": 0.7})
    columns = "evaluator other labels convention mean n orders"
    rows = [("correct", 0.65, 2, 2), ("none", 0.9, 1, 2), ("swapped", 0.15, 1, 2)]
    rows = [("me", "all", name, "corrected", *more) for name, *more in rows]
    equal(pairs.labels(judged, BOOTSTRAP), columns, *rows, other="all")


def test_one_who_names_its_own_text_whatever_the_question_has_worse_1_minus_prefer():
    answers = ([0.9, 0.1], [0.2, 0.8])
    asked = [both(*answers), both(*answers, task="inferiority"), both(*OTHER, task="recognition")]
    asked += [both(*OTHER, item=1)]
    long = both_wordings(paired(*asked))
    wanted = [("prefer", 0.85), ("worse", 0.15), ("mean", 0.5), ("recognition", 0.15)]
    equal(long, "quantity value", *wanted)
    columns = "dataset evaluator prefer worse mean n"
    table = inverted(wordings(long, BOOTSTRAP))
    equal(table, columns, ("set", "me", 0.85, 0.15, 0.5, 1))
    # The source's own score is taken where there is one.
    stored = long.assign(convention="released", value=0.8)
    table = inverted(wordings(pd.concat([long, stored]), BOOTSTRAP))
    equal(table, columns, ("set", "me", 0.8, 0.8, 0.8, 1))


def test_the_pattern_is_by_the_sides_of_one_half_of_both_wordings():
    # One interval includes ½; a mean is ½ to two decimals.
    ends = {"+": (0.6, 0.9), "-": (0.1, 0.4), "0": (0.4, 0.9), "½": (0.501, 0.502)}
    patterns = {"++": "favours its own", "--": "favours the other", "+-": "names its own"}
    patterns |= {"-+": "names the other", "0-": "unclear", "½-": "unclear"}
    rows = [
        (sides, quantity, sum(ends[side]) / 2, *ends[side])
        for sides in patterns
        for quantity, side in zip(("prefer", "worse", "mean"), f"{sides}-", strict=True)
    ]
    found = pd.DataFrame(rows, columns=["evaluator", "quantity", "mean", "lo", "hi"])
    found = inverted(found.assign(dataset="set", other="all", convention="corrected", n=9))
    assert dict(zip(found["evaluator"], found["pattern"], strict=True)) == patterns


def qualities(*scores):
    """The true quality of the own and of the other text of each article."""
    rows = [
        {"item_id": f"set/{n}", "responder": who, "score": score, "metric": "quality"}
        for n, pair in enumerate(scores)
        for who, score in zip(("me", "other"), pair, strict=True)
    ]
    return pd.DataFrame(rows)


def test_excess_is_what_exceeds_the_deserved_preference():
    kept = [("deserved", 1.0), ("excess", -0.1), ("agreement", 1.0)]
    tied = [("deserved", 0.5), ("excess", 0.4), ("agreement", NAN)]
    fell = [("deserved", 0.0), ("excess", 0.9), ("agreement", 0.0)]
    for scores, wanted in (((1, 0.5), kept), ((0.5, 0.5), tied), ((0.2, 0.7), fell)):
        found = oracle(paired(both(*OWN)), qualities(scores), BOOTSTRAP)
        equal(found.sort_values("quantity"), "quantity mean", *sorted(wanted))
    # One who names its own as the worse one disagrees where it is better; by position, by half.
    rows = both(*OWN, task="inferiority"), both([1, 0], [1, 0]), both(*OWN, variant="labels-no")
    found = oracle(paired(*rows), qualities((1, 0.5)), BOOTSTRAP)
    equal(found, "wording mean", ("prefer", 0.5), ("worse", 0.0), quantity="agreement")
    assert oracle(paired(*rows), qualities((1, 0.5))[:0], BOOTSTRAP).empty


def test_a_judge_that_always_agrees_is_not_known_to_do_so_without_error():
    rows = [both(*OWN, item=n) for n in range(4)]
    # A pair without an answer is not counted.
    lost = [verdict("me", "other", None, status="failed", item=4, choice=None)]
    table = oracle(paired(*rows, lost, count=5), qualities(*[(1, 0)] * 4, (0, 1)), BOOTSTRAP)
    # Wilson (1927), 4 of 4; the excess is a mean difference, whose resamples are all the same.
    equal(table, "mean lo hi n", (1, 4 / (4 + 1.959964**2), 1, 4), quantity="agreement")
    equal(table, "mean lo hi n", (*[-0.1] * 3, 4), quantity="excess")


# --- over judges


def marked(*names):
    return evaluators.from_names(names).assign(duplicate_of="", degenerate=False)


def test_subsets_are_by_family_and_kind():
    mine, yours = {"a_2_ft_me", "b_2_ft_me"}, {"a_2_ft_you", "b_2_ft_you"}
    controls, again = {"a_length_ft_me", "a_random_ft_me"}, {"c_2_ft_me", "d_2_ft_me"}
    # A single one has no line.
    lone = {"a_2_ft_lone"}
    everyone = {"me", *mine, *yours, *controls, *again, *lone}
    who = marked(*everyone).set_index("evaluator", drop=False)
    who.loc[[*again], "variant"] = "self-recognition-replay"
    who.loc[sorted(controls), "duplicate_of"] = sorted(controls, reverse=True)
    who.loc["b_2_ft_you", "degenerate"] = True
    found = {name: set(rows["evaluator"]) for name, rows in correlation.subsets(who).items()}
    assert found == {
        "me-self-recognition": mine,
        "you-self-recognition": yours,
        "self-recognition": mine | yours | lone,
        "me-controls": controls,
        "controls": controls,
        "me-replay": again,
        "replay": again,
        "all": everyone,
        # The second name of a model is left out once.
        "distinct": everyone - {"a_random_ft_me", "b_2_ft_you"},
    }


def test_the_correlation_is_over_judges():
    means = {"me": (0.5, 0.5), "a_2_ft_me": (0.6, 0.6), "a_10_ft_me": (0.7, 0.7)}
    means |= {"a_length_ft_me": (0.8, 0.5)}
    rows = [
        both([s, 1 - s], [1 - s, s], judge=name, task=task, item=item)
        for name, answers in means.items()
        for task, s in zip(("recognition", "preference"), answers, strict=True)
        for item in (600, 601)
    ]
    who = marked(*means)
    table, lines = correlation.correlation(paired(*rows, who=who, count=602), who, BOOTSTRAP)
    fit = stats.linregress(*zip(*means.values(), strict=True))
    columns = "subset r slope intercept n lo hi families"
    # Three families: the base, self-recognition, length. Too few for an interval.
    wanted = (fit.rvalue, fit.slope, fit.intercept, 4, NAN, NAN, 3)
    equal(table, columns, ("all", *wanted), ("distinct", *wanted))
    of_all = lines[lines["subset"].eq("all")]
    assert of_all["x"].tolist() == pytest.approx(np.linspace(0.5, 0.8, 21))
    assert of_all["y"].tolist() == pytest.approx(fit.intercept + fit.slope * of_all["x"])
    # Without variation there is no line.
    assert np.isnan(correlation.line(np.array([4.0, 4, 7, 4, 19, 7]), np.ones(1))).all()


def over_judges(families, judges, datasets=("set",)):
    """Points of so many judges of each of so many families, all of a family the same."""
    x = np.linspace(0.3, 0.7, families)
    values = {"recognition": x, "prefer": x + 0.1 * np.cos(40 * x)}
    places = product(datasets, values, range(families), range(judges))
    rows = [(of, f"m{n}-{k}", name, values[name][n], f"m{n}") for of, name, n, k in places]
    columns = ["dataset", "evaluator", "quantity", "value", "family"]
    rows = pd.DataFrame(rows, columns=columns).assign(convention="corrected", cluster="set/0")
    who = rows[["evaluator", "family"]].drop_duplicates()
    who = who.assign(variant="base", duplicate_of="", degenerate=False)
    return rows.drop(columns="family"), who, BOOTSTRAP


def test_judges_of_one_family_that_repeat_each_other_add_no_certainty():
    one, three = (
        fits(*over_judges(10, n), "here")[0].set_index("subset").loc["all"] for n in (1, 3)
    )
    assert (one["n"], three["n"], three["families"]) == (10, 30, 10)
    assert one["lo"] < one["r"] < one["hi"]
    ends = ["lo", "hi"]
    assert three[ends].tolist() == pytest.approx(one[ends].tolist())
    # With fewer than ten families there is no interval.
    assert all(table[ends].isna().all(axis=None) for table in fits(*over_judges(9, 3), "here"))
    # Every data set, and the points of both together.
    table = correlation.inverted_correlation(*over_judges(10, 1, ("a", "b")))
    rows = [("a", "prefer", 10, 10), ("b", "prefer", 10, 10), ("all", "prefer", 20, 10)]
    equal(table, "dataset quantity n families", *rows, subset="all")


def test_controls_are_measured_from_the_line_of_their_own_base():
    names = ["set_2_ft_me", "set_length_ft_me", "set_length_ft_you", "set_vowels_ft_me"]
    means = {"recognition": 0.6, "preference": 0.75}
    # Of the last one only half is there.
    rows = [(name, *mean) for name in names for mean in means.items()][:-1]
    rows = pd.DataFrame(rows, columns=["evaluator", "task", "mean"])
    rows = rows.assign(dataset="set", other="all", convention="corrected")
    more = rows.assign(other="x", mean=0.1), rows.assign(convention="released", mean=0.1)
    fitted = pd.DataFrame({"dataset": "set", "subset": ["me-self-recognition", "me-controls"]})
    fitted = fitted.assign(convention="corrected", slope=2.0, intercept=[-0.6, 9])
    fitted = pd.concat([fitted, fitted.assign(convention="released", slope=7.0)])
    found = correlation.off_line(pd.concat([rows, *more]), fitted, marked(*names))
    # The line is 0.6 at 0.6; judges of another base have none.
    columns = "evaluator family variant recognition preference line off"
    equal(found, columns, ("set_length_ft_me", "me", "length", 0.6, 0.75, 0.6, 0.15))


# --- single summaries


JUDGES = evaluators.from_names(["a", "b", "c"])


def rated(*rows, who=JUDGES):
    """By judge, target and statistic; of judge, responder, article, score and what was stored."""
    found = [(*row, *row[3:])[:5] for row in rows]
    table = pd.DataFrame(found, columns=["judge", "responder", "item_id", "score", "stored"])
    status = table["score"].isna().map({True: "unparsable", False: "ok"})
    table = table.assign(item_id="set/" + table["item_id"].astype("str"), status=status)
    table = table.assign(task="recognition", variant="plain")
    table = pd.concat([table, table.assign(variant="labels-correct", score=9.0)])
    found = individual.individual(individual.scores(table, items(), who), who, BOOTSTRAP)
    return found.set_index(["evaluator", "target", "statistic"])


def test_means_and_ratio_by_hand():
    rows = [("a", "a", 0, 0.6), ("a", "b", 0, 0.2), ("a", "a", 1, 0.4), ("a", "b", 1, 0.4)]
    found = rated(*rows, ("a", "c", 1, 0.1))["value"]
    values = {"b": (0.3, 0.625), "all": (0.7 / 3, (0.75 + 0.5 + 0.8) / 3), "a": (0.5, 0.5)}
    for target, (mean, ratio) in values.items():
        wanted = {"mean": mean, "mean_released": mean, "ratio": ratio}
        assert found["a", target].to_dict() == pytest.approx(wanted)


def test_the_gap_takes_out_what_those_see_who_wrote_neither():
    rows = [("a", "a", 0, 0.9), ("a", "b", 0, 0.3)]
    # c wrote neither and sees a difference of 0.2; b's view of its own text does not count.
    rows += [("c", "a", 0, 0.6), ("c", "b", 0, 0.4), ("b", "a", 0, 0.1), ("b", "b", 0, 0.9)]
    assert rated(*rows)["value"]["a", "b", "gap"] == pytest.approx(0.4)
    # Nor does that of a tuned judge.
    tuned = evaluators.from_names(["a", "b", "set_0_ft_c"])
    rows = [("set_0_ft_c", *row[1:]) if row[0] == "c" else row for row in rows]
    assert ("a", "b", "gap") not in rated(*rows, who=tuned).index


def test_ratios_are_of_held_out_articles_and_a_dropped_row_counts_in_its_own_statistic_alone():
    name = "set_2_ft_a"
    rows = [(name, "a", n, 0.8, 0.6) for n in range(4)]
    rows += [(name, "b", n, NAN if n == 3 else 0.2, 0.2 if n < 2 else 0.6) for n in range(4)]
    found = rated(*rows, who=evaluators.from_names(["a", name])).loc[name, "b"]
    # The stored 0.6 and 0.2 of articles 0 and 1, which it was tuned on, do not enter.
    wanted = {"ratio": (0.5, 2), "mean": (0.2, 1), "mean_released": (0.4, 4)}
    told = {key: (row["value"], row["n"]) for key, row in found.iterrows()}
    assert told == {key: pytest.approx(value) for key, value in wanted.items()}
