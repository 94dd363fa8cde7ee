"""A confidence a pair, its means, and what wording and quality make of it: counted by hand."""

import numpy as np
import pandas as pd
import pytest
from panickssery_frames import BOOTSTRAP, WHO, both, paired, verdict
from study_frames import equal

from selfpref.studies.panickssery.pairs import (
    both_wordings,
    by_convention,
    deltas,
    inverted,
    labels,
    oracle,
    ordering,
    pairwise,
    wordings,
)

NAN = np.nan
PAIR = ([0.6, 0.2], [0.1, 0.4])
OWN, OTHER = ([0.9, 0.1], [0.1, 0.9]), ([0.1, 0.9], [0.8, 0.2])
FIRST, SECOND = ([0.9, 0.1], [0.7, 0.3]), ([0.2, 0.8], [0.3, 0.7])
CHOICES = [
    verdict("me", "other", None, choice="me", stored=0.7),
    verdict("other", "me", None, choice="other", stored=0.7),
]


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        (
            # The mean share of both orders; the text read first had 3/4 and 1/5.
            both(*PAIR, stored=0.11),
            {"dataset": "set", "other": "other", "own": "me", "ordering": "own", "orders": 2}
            | {"forward": 0.75, "backward": 0.8, "corrected": 0.775, "released": 0.11}
            | {"position": 0.475, "undivided": 0.5, "mass": 0.5, "held_out": True, "status": "ok"},
        ),
        (both(*FIRST), {"corrected": 0.6, "ordering": "first", "released": NAN}),
        (both([1, 0], [1, 0]), {"corrected": 0.5, "ordering": "first"}),
        (both(*OTHER), {"corrected": 0.15, "ordering": "other"}),
        (both(*OTHER, task="inferiority"), {"corrected": 0.85, "ordering": "own"}),
        (both([0.5, 0.5], [0.7, 0.3]), {"ordering": "tied", "ordering_released": "first"}),
        # Half a pair is another quantity, unless the source vouches for the whole.
        (both(*PAIR)[:1], {"status": "missing order", "corrected": NAN, "forward": 0.75}),
        (
            [*both(*PAIR)[:1], verdict("other", "me", None, status="failed", stored=0.5)],
            {"status": "failed", "corrected": NAN, "released": 0.5},
        ),
        (CHOICES, {"status": "ok", "corrected": 0.7, "ordering": "first", "mass": NAN}),
        (
            [verdict("me", "other", [0.9, 0.1], stored=0.7), CHOICES[1]],
            {"status": "ok", "corrected": 0.7, "backward": NAN},
        ),
        (both([0.006, 0.002], [0.1, 0.3]), {"status": "low-mass", "corrected": NAN}),
        # Articles that it was tuned on are left out of corrected alone; its base's texts are its.
        (
            both(*PAIR, judge="set_2_ft_me", item_id="set/1", stored=0.4),
            {"held_out": False, "corrected": NAN, "released": 0.4, "own": "me"},
        ),
        (
            both(*PAIR, judge="set_2_ft_me", item_id="set/2"),
            {"held_out": True, "corrected": 0.775, "own": "me"},
        ),
    ],
)
def test_a_pair_is_one_row_by_its_answers_in_both_orders(rows, wanted):
    # A pair of others is none of the study's.
    (row,) = paired(rows, [verdict("x", "y", [0.5, 0.4])], min_mass=0.01).to_dict("records")
    assert {name: row[name] for name in wanted} == pytest.approx(wanted, nan_ok=True)


def test_means_and_orders_by_convention():
    pairs = paired(
        both(*OWN, stored=0.4),
        both(*OTHER, item_id="set/1"),
        both(*FIRST, item_id="set/2"),
        both([0.5, 0.5], [0.1, 0.9], item_id="set/3"),
        both(*SECOND, other="b", item_id="set/3"),
        both(*OWN, variant="rerun"),
        both(*OTHER, task="inferiority"),
        both([0.7, 0.3], [0.7, 0.3], task="recognition"),
    )
    long = by_convention(pairs[pairs["released"].notna()])
    equal(long, "convention value", ("released", 0.4), ("corrected", 0.9))
    columns = "task convention own other first second tied ambiguous"
    equal(
        ordering(pairs),
        f"{columns} own_of_consistent thresholded n",
        # 0.9, 0.15, 0.6, 0.7 and 0.45 lie above and below one half; exactly one half counts half.
        ("preference", "corrected", 0.2, 0.2, 0.2, 0.2, 0.2, 0.4, 0.5, 0.6, 5),
        ("preference", "released", 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1),
        ("recognition", "corrected", 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, NAN, 0.5, 1),
    )
    table = pairwise(pairs, BOOTSTRAP)
    columns = "dataset evaluator other task convention"
    assert " ".join(table.columns) == f"{columns} mean se lo hi n ambiguous"
    equal(
        table,
        "other task convention mean n ambiguous",
        ("all", "preference", "corrected", 0.56, 5, 0.4),
        ("all", "preference", "released", 0.4, 1, 0.0),
        ("all", "recognition", "corrected", 0.5, 1, 1.0),
        ("b", "preference", "corrected", 0.45, 1, 1.0),
        ("other", "preference", "corrected", 0.5875, 4, 0.25),
        ("other", "preference", "released", 0.4, 1, 0.0),
        ("other", "recognition", "corrected", 0.5, 1, 1.0),
    )
    assert table.loc[0, "lo"] < 0.56 < table.loc[0, "hi"]


def test_a_tune_is_compared_with_its_base_on_the_same_pairs():
    base = [both([0.5 + n / 10, 0.5 - n / 10], [0.5, 0.5], item_id=f"set/{n}") for n in range(4)]
    tuned = [both(*OWN, item_id=f"set/{n}", judge="set_2_ft_me") for n in range(1, 4)]
    lost = both(*OWN, judge="set_2_ft_me", other="b", item_id="set/3")
    table = deltas(paired(*base, *tuned, lost), WHO, BOOTSTRAP)
    # Articles 2 and 3 are held out.
    columns = "evaluator other base tuned mean n"
    rows = [("set_2_ft_me", other, 0.625, 0.9, 0.275, 2) for other in ("all", "other")]
    equal(table, columns, *rows)


def test_labels_stand_beside_the_plain_question_and_tell_the_orders():
    pairs = paired(
        both(*OWN),
        both(*OTHER, variant="labels-swapped"),
        both(*FIRST, variant="labels-correct")[:1],
        both(*OTHER, judge="set_2_ft_me", item_id="set/2"),
        both(*OTHER, task="recognition"),
    ).fillna({"corrected": 0.7})
    columns = "evaluator other labels convention mean n orders"
    rows = [("correct", 0.7, 1, 1), ("none", 0.9, 1, 2), ("swapped", 0.15, 1, 2)]
    rows = [("me", "all", name, "corrected", *more) for name, *more in rows]
    equal(labels(pairs, BOOTSTRAP), columns, *rows, other="all")


def test_one_who_names_its_own_text_whatever_the_question_has_worse_1_minus_prefer():
    answers = ([0.9, 0.1], [0.2, 0.8])
    asked = [both(*answers), both(*answers, task="inferiority"), both(*OTHER, task="recognition")]
    asked += [both(*OTHER, item_id="set/1")]
    long = both_wordings(paired(*asked))
    wanted = [("prefer", 0.85), ("worse", 0.15), ("mean", 0.5), ("recognition", 0.15)]
    equal(long, "quantity value", *wanted)
    columns = "dataset evaluator prefer worse mean n"
    table = inverted(wordings(long, BOOTSTRAP))
    assert " ".join(table.columns) == f"{columns} pattern"
    equal(table, columns, ("set", "me", 0.85, 0.15, 0.5, 1))
    # The source's own score is taken where there is one.
    stored = both(*answers, stored=0.8), both(*answers, stored=0.1, task="inferiority")
    table = inverted(wordings(both_wordings(paired(*stored)), BOOTSTRAP))
    equal(table, columns, ("set", "me", 0.8, 0.1, 0.45, 1))


def test_the_pattern_is_by_the_sides_of_one_half_of_both_wordings():
    high, low = (0.8, 0.9), (0.1, 0.2)
    sides = {
        "favours its own": (high, (0.6, 0.8)),
        "names its own": (high, low),
        "names the other": (low, high),
        "favours the other": (low, low),
        # One interval includes ½; a mean is ½ to two decimals.
        "unclear": ((0.4, 0.9), low),
        "unclear too": ((0.501, 0.502), low),
    }
    rows = [
        (name, quantity, (lo + hi) / 2, lo, hi)
        for name, ends in sides.items()
        for quantity, (lo, hi) in zip(("prefer", "worse", "mean"), (*ends, low), strict=True)
    ]
    found = pd.DataFrame(rows, columns=["evaluator", "quantity", "mean", "lo", "hi"])
    found = inverted(found.assign(dataset="set", other="all", convention="corrected", n=9))
    told = found["evaluator"].str.removesuffix(" too")
    assert found["pattern"].tolist() == told.tolist()


def qualities(*scores):
    """The true quality of the own and of the other text of each article."""
    table = pd.DataFrame(scores, columns=["me", "other"]).stack().rename("score").reset_index()
    table["item_id"] = "set/" + table["level_0"].astype("str")
    return table.rename(columns={"level_1": "responder"}).assign(metric="quality")


def test_excess_is_what_exceeds_the_deserved_preference():
    kept = [("deserved", 1.0), ("excess", -0.1), ("agreement", 1.0)]
    tied = [("deserved", 0.5), ("excess", 0.4), ("agreement", NAN)]
    fell = [("deserved", 0.0), ("excess", 0.9), ("agreement", 0.0)]
    for scores, wanted in (((1, 0.5), kept), ((0.5, 0.5), tied), ((0.2, 0.7), fell)):
        found = oracle(paired(both(*OWN)), qualities(scores), BOOTSTRAP)
        by = dict(zip(found["quantity"], found["mean"], strict=True))
        assert by == pytest.approx(dict(wanted), nan_ok=True)
    # One who names its own as the worse one disagrees where it is better; by position, by half.
    rows = paired(both(*OWN, task="inferiority"), both([1, 0], [1, 0]), both(*OWN, variant="rerun"))
    found = oracle(rows, qualities((1, 0.5)), BOOTSTRAP)
    equal(found, "wording mean", ("prefer", 0.5), ("worse", 0.0), quantity="agreement")


def test_a_judge_that_always_agrees_is_not_known_to_do_so_without_error():
    rows = [both(*OWN, item_id=f"set/{n}") for n in range(4)]
    # A pair without an answer is not counted.
    lost = [verdict("me", "other", None, status="failed", item_id="set/4", choice=None)]
    known = qualities(*[(1, 0)] * 4, (0, 1))
    table = oracle(paired(*rows, lost, count=5), known, BOOTSTRAP).set_index("quantity")
    # Wilson (1927), 4 of 4; the excess is a mean difference, whose resamples are all the same.
    bounds = table.loc["agreement", ["mean", "lo", "hi", "n"]].tolist()
    assert bounds == pytest.approx([1, 0.51, 1, 4], abs=1e-3)
    assert table.loc["excess", ["lo", "hi"]].tolist() == pytest.approx([-0.1, -0.1])
