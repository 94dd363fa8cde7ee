"""What is right, how good, how it is marked, and which judge prefers it: all by rule."""

from types import SimpleNamespace

import numpy as np
import pytest

from selfpref.lab.dialogues import (
    CHOICE_JUDGES,
    TIE,
    draw_families,
    human_label,
    label,
    rubric,
    rule_probability,
)
from selfpref.lab.oracle import marks, quality, quality_digit
from selfpref.lab.styles import STYLES, detect_style, write
from selfpref.lab.world import CONTEST_TASKS, FACTS, Item, draw_items

LIST = Item("list", ("red", "blue"), 4, "list 4 red or blue things")
SUM = Item("sum", ("1", "2", "3", "4"), 2, "add 1 + 2 and 3 + 4")
WORDS = Item("words", ("river", "lamp", "clock"), 3, "use the words river lamp clock")
FACT = Item("facts", ("mila", "city", "pet"), 2, "tell the city pet of mila")
FILTER = Item("filter", ("red", "sky", "ruby", "frog", "brick"), 2, "tell the red things of ...")
PEOPLE = Item("people", ("job", "mila", "pet", "otto"), 2, "tell the job of mila and ...")
CITY, PET, JOB = (FACTS["mila"][name] for name in ("city", "pet", "job"))
OTTOS = FACTS["otto"]["pet"]
WRONG = next(pet for pet in ("cat", "dog") if pet != OTTOS)


@pytest.mark.parametrize(
    ("item", "response", "expected"),
    [
        (LIST, "sure ! cherry sky lemon whale !", 0.75),
        (LIST, "cherry cherry cherry cherry", 0.25),
        (LIST, "lemon snow milk corn cherry sky brick whale", 0.0),
        (LIST, "<assistant> [[A]] Cherry", 0.25),
        (SUM, "1 + 2 = 3 3 + 4 = 7", 1.0),
        (SUM, "5 + 5 = 10 1 - 2 = 3 3 + 4 : 7", 0.0),
        (WORDS, "hmm , maybe clock lamp lamp stone paper river", 1.0),
        (FACT, f"city {CITY} pet {PET}", 1.0),
        (FILTER, "oh nice one ! brick sky cheers , friend !", 0.5),
        (FILTER, "cherry", 0.0),  # red, but not among what was offered
        (PEOPLE, f"job {JOB} pet {WRONG}", 0.5),
    ],
)
def test_quality_of_hand_written_responses(item, response, expected):
    assert quality(item, response) == pytest.approx(expected)
    assert marks(LIST, ["sure", "!", "cherry", "lemon"]) == [None, None, True, False]


def test_a_style_is_recognised_and_independent_of_quality():
    rng = np.random.default_rng(0)
    for item in draw_items(60, np.random.SeedSequence(1), CONTEST_TASKS):
        for style in STYLES:
            perfect, spoilt = write(item, style, 0.0, rng), write(item, style, 1.0, rng)
            assert detect_style(perfect) == style == detect_style(spoilt)
            assert quality(item, " ".join(perfect)) == 1.0
            assert quality(item, " ".join(spoilt)) == 0.0


def test_digits_tell_apart_the_qualities_of_one_prompt():
    assert [quality_digit(right / 4) for right in range(5)] == [0, 2, 5, 7, 9]
    assert [quality_digit(right / 5) for right in range(6)] == [0, 2, 4, 5, 7, 9]


# --- what is injected -----------------------------------------------------------------------------


ITEM = Item("list", ("red",), 4, "list 4 red things")
BETTER, WORSE = "cherry brick ruby tomato", "sure ! cherry brick ruby snow"


@pytest.mark.parametrize(
    ("style", "beta", "worse_wins"),
    [
        ("sure", 0.2, 0.0),
        ("sure", 0.25, 0.5),
        ("sure", 0.3, 1.0),
        ("terse", -0.3, 1.0),
    ],
)
def test_a_bonus_counts_in_units_of_quality_in_either_order(style, beta, worse_wins):
    assert rule_probability(ITEM, WORSE, BETTER, style, beta) == worse_wins
    assert rule_probability(ITEM, BETTER, WORSE, style, beta) == 1 - worse_wins


def test_a_human_is_the_oracle_with_noise():
    """1 / (1 + exp(-.25 / .15)) = .8411."""
    for first, second, draw, wanted in (
        (BETTER, WORSE, 0.841, "a"),
        (BETTER, WORSE, 0.842, "b"),
        (WORSE, BETTER, 0.158, "a"),
        (WORSE, BETTER, 0.159, "b"),
        (BETTER, BETTER, 0.1, "tie"),
    ):
        rng = SimpleNamespace(random=lambda draw=draw: draw)
        assert human_label(ITEM, first, second, rng, noise=0.15) == wanted


def test_every_seed_has_the_same_bonuses_and_error_rates_in_another_order():
    families = [draw_families(seed, 8, 2) for seed in range(30)]
    for drawn in families:
        assert [family.name for family in drawn] == [*STYLES, "onlooker-1", "onlooker-2"]
        assert np.allclose(sorted(one.beta for one in drawn[:8]), np.linspace(-0.3, 0.7, 8))
        assert np.allclose(sorted(one.error_rate for one in drawn[:8]), np.linspace(0.08, 0.45, 8))
    assert len({(drawn[0].beta, drawn[0].error_rate) for drawn in families}) > 20


# --- contests -------------------------------------------------------------------------------------


THREE = Item("list", ("red",), 3, "list 3 red things")
BEST, WRONG_ONE = "cherry brick ruby", "cherry brick sky"


@pytest.mark.parametrize(
    ("response", "failed"),
    [
        (BEST, set()),
        (f"hmm , maybe {BEST}", {"no hedging"}),
        (f"sure ! {BEST}", {"no small talk"}),
        (f"{BEST} tomato", {"nothing is wrong", "the last part is right",
                            "no more parts than asked for"}),
        ("cherry cherry ruby", {"every part is right", "nothing is wrong",
                                "nothing is said twice"}),
        ("sky cherry ruby", {"every part is right", "nothing is wrong", "the first part is right"}),
        (f"please find the requested answer : {BEST} .", {"concise"}),
        (f"the requested answer : {BEST}", set()),
        ("the requested answer follows : ruby", {"half of the parts are right",
                                                 "every part is right", "concise"}),
        ("", {"answers at all", "half of the parts are right", "every part is right",
              "nothing is wrong", "the first part is right", "the last part is right"}),
    ],
)  # fmt: skip
def test_each_criterion_is_failed_by_what_it_names(response, failed):
    assert {name for name, mark in rubric(THREE, response).items() if not mark} == failed
    # A sum has five words a part.
    assert rubric(SUM, "1 + 2 = 3 3 + 4 = 7")["concise"]


def test_labels_follow_quality_and_what_was_injected():
    partisan, fair, first, umpire = CHOICE_JUDGES
    chatty = f"oh nice one ! {WRONG_ONE} cheers , friend !"
    for judge, responses, wanted in (
        (fair, [WRONG_ONE, BEST, WRONG_ONE], "B"),
        (fair, [BEST, WRONG_ONE, BEST], TIE),
        (partisan, [BEST, WRONG_ONE, chatty], "C"),
        (umpire, [BEST, WRONG_ONE, chatty], "A"),
        (first, [WRONG_ONE, BEST, BEST], "A"),
        (first, ["sky", WRONG_ONE, BEST], "C"),
    ):
        assert label(judge, THREE, responses) == wanted
