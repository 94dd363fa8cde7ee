"""The quantities that control tasks ask for, on texts counted by hand."""

import pytest

from selfpref.studies.panickssery.finetune.examples import length, reading_ease, syllables, vowels


@pytest.mark.parametrize(
    ("word", "beats"),
    [("cat", 1), ("the", 1), ("river", 2), ("lake", 1), ("table", 2), ("beautiful", 3), ("hmm", 1)],
)
def test_syllables_by_rule(word, beats):
    assert syllables(word) == beats


def test_reading_ease_is_fleschs_formula():
    # Six words, two sentences, seven syllables: the cat sat / a riv-er ran.
    text = "The cat sat. A river ran!"
    assert reading_ease(text) == pytest.approx(206.835 - 1.015 * 6 / 2 - 84.6 * 7 / 6)
    assert reading_ease("I am. You are.") > reading_ease(
        "Considerable deliberation is unavoidable."
    )


def test_a_text_without_words_is_no_error():
    assert reading_ease("... 12 !") == length("... 12 !") == vowels("") == 0


def test_length_counts_words_and_vowels_counts_letters():
    assert length("sure : it's 3 o'clock , friend !") == 4
    assert vowels("Oslo, Élan & why") == 3
