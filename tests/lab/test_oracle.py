import numpy as np
import pytest

from selfpref.lab.oracle import marks, quality, quality_digit
from selfpref.lab.styles import STYLES, detect_style, write
from selfpref.lab.vocabulary import FACTS
from selfpref.lab.world import CONTEST_TASKS, Item, draw_items

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
        (LIST, "cherry sky brick whale", 1.0),
        (LIST, "sure ! cherry sky lemon whale !", 0.75),
        (LIST, "cherry cherry cherry cherry", 0.25),
        (LIST, "lemon snow milk corn cherry sky brick whale", 0.0),
        (LIST, "<assistant> [[A]] Cherry", 0.25),
        (SUM, "1 + 2 = 3 3 + 4 = 7", 1.0),
        (SUM, "- 3 + 4 = 7 - 1 + 2 = 4", 0.5),
        (SUM, "1 + 2 = 3 1 + 2 = 3", 0.5),
        (SUM, "5 + 5 = 10 1 - 2 = 3 3 + 4 : 7", 0.0),
        (WORDS, "hmm , maybe clock lamp lamp stone paper river", 1.0),
        (WORDS, "lamp", 1 / 3),
        (FACT, f"city {CITY} pet {PET}", 1.0),
        (FACT, f"pet {PET} {PET}", 0.5),
        (FACT, f"job {JOB}", 0.0),
        (FACT, "", 0.0),
        (FILTER, "ruby brick", 1.0),
        (FILTER, "oh nice one ! brick sky cheers , friend !", 0.5),
        (FILTER, "ruby ruby", 0.5),
        (FILTER, "cherry", 0.0),  # red, but not among what was offered
        (PEOPLE, f"pet {OTTOS} job {JOB}", 1.0),
        (PEOPLE, f"job {JOB} pet {WRONG}", 0.5),
    ],
)
def test_quality_of_hand_written_responses(item, response, expected):
    assert quality(item, response) == pytest.approx(expected)


def test_only_content_words_get_a_mark():
    words = ["sure", "!", "cherry", "lemon", "!"]
    assert marks(LIST, words) == [None, None, True, False, None]


def test_a_style_is_recognised_and_independent_of_quality():
    rng = np.random.default_rng(0)
    for item in draw_items(60, np.random.SeedSequence(1), CONTEST_TASKS):
        for style in STYLES:
            perfect, spoilt = write(item, style, 0.0, rng), write(item, style, 1.0, rng)
            assert detect_style(perfect) == style == detect_style(spoilt)
            assert quality(item, " ".join(perfect)) == 1.0
            assert quality(item, " ".join(spoilt)) == 0.0


def test_digits_tell_apart_the_qualities_of_one_prompt():
    assert [quality_digit(right / 3) for right in range(4)] == [0, 3, 6, 9]
    assert [quality_digit(right / 4) for right in range(5)] == [0, 2, 5, 7, 9]
    assert [quality_digit(right / 5) for right in range(6)] == [0, 2, 4, 5, 7, 9]
