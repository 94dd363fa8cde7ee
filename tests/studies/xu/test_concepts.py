"""Which concepts a sentence holds."""

import pytest

from selfpref.studies.xu.truths import covers, missing_concepts

TEXT = "The foxes, running home, wore headphones!"


@pytest.mark.parametrize(
    ("matcher", "missing"),
    [("surface", ["fox", "run", "wear", "headphone"]), ("lemma", [])],
)
def test_surface_asks_for_the_word_and_lemma_for_its_forms(matcher, missing):
    concepts = ["fox", "run", "wear", "headphone", "home"]
    assert missing_concepts(TEXT, concepts, matcher) == missing
    assert covers(TEXT, concepts, matcher) == float(not missing)


def test_a_concept_inside_another_word_is_not_there():
    assert missing_concepts("A carpet.", ["car", "pet"], "lemma") == ["car", "pet"]


def test_nothing_asked_is_covered():
    assert covers("", [], "lemma") == 1
    assert covers("", ["fox"], "lemma") == 0
