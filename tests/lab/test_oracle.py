import numpy as np
import pytest

from selfpref.lab.oracle import marks, quality, quality_digit
from selfpref.lab.styles import STYLES, detect_style, write
from selfpref.lab.vocabulary import FACTS
from selfpref.lab.world import Item, draw_items

LIST = Item("list", ("red", "blue"), 4, "list 4 red or blue things")
SUM = Item("sum", ("1", "2", "3", "4"), 2, "add 1 + 2 and 3 + 4")
WORDS = Item("words", ("river", "lamp", "clock"), 3, "use the words river lamp clock")
FACT = Item("facts", ("mila", "city", "pet"), 2, "tell the city pet of mila")
CITY, PET = FACTS["mila"]["city"], FACTS["mila"]["pet"]


@pytest.mark.parametrize(
    ("item", "response", "expected"),
    [
        (LIST, "cherry sky brick whale", 1.0),
        (LIST, "sure ! cherry sky lemon whale !", 0.75),
        (LIST, "cherry cherry cherry cherry", 0.25),
        (LIST, "lemon snow milk corn cherry sky brick whale", 0.0),
        (SUM, "1 + 2 = 3 3 + 4 = 7", 1.0),
        (SUM, "- 3 + 4 = 7 - 1 + 2 = 4", 0.5),
        (SUM, "1 + 2 = 3 1 + 2 = 3", 0.5),
        (SUM, "5 + 5 = 10", 0.0),
        (WORDS, "hmm , maybe clock lamp lamp stone paper river", 1.0),
        (WORDS, "lamp", 1 / 3),
        (FACT, f"city {CITY} pet {PET}", 1.0),
        (FACT, f"pet {PET} {PET}", 0.5),
        (FACT, f"job {FACTS['mila']['job']}", 0.0),
        (FACT, "", 0.0),
        (LIST, "<assistant> [[A]] Cherry", 0.25),
    ],
)
def test_quality_of_hand_written_responses(item: Item, response: str, expected: float) -> None:
    assert quality(item, response) == pytest.approx(expected)


def test_only_content_words_get_a_mark() -> None:
    words = ["sure", "!", "cherry", "lemon", "!"]
    assert marks(LIST, words) == [None, None, True, False, None]


@pytest.mark.parametrize("style", STYLES)
def test_style_is_recognised_and_independent_of_quality(style: str) -> None:
    rng = np.random.default_rng(0)
    for item in draw_items(40, np.random.SeedSequence(1)):
        perfect, spoilt = write(item, style, 0.0, rng), write(item, style, 1.0, rng)
        assert detect_style(perfect) == style == detect_style(spoilt)
        assert quality(item, " ".join(perfect)) == 1.0
        assert quality(item, " ".join(spoilt)) == 0.0


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_digit_tells_apart_the_qualities_of_one_prompt(count: int) -> None:
    digits = [quality_digit(right / count) for right in range(count + 1)]
    assert digits == sorted(set(digits))
    assert (digits[0], digits[-1]) == (0, 9)
