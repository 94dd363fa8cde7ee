"""The invented language: what is right, what is wrong, and how it becomes tokens."""

import numpy as np
import pytest

from selfpref.lab import language, refinement
from selfpref.lab.world import Item, is_held_out
from selfpref.studies.xu.feedback import read
from selfpref.studies.xu.lab import LAB, draw

RIGHT = "the red dog often sees a small cat"
SUM = Item("correctness", ("15",), 1, "add 3 + 5 + 7")
CONCEPTS = Item("coverage", ("river", "lamp", "clock"), 3, "use river lamp clock")


@pytest.mark.parametrize(
    ("text", "found", "score"),
    [
        (f"so {RIGHT}", [], 0),
        (RIGHT, [], 0),
        ("a red dog often sees a small cat", [("minor", "a")], -1),
        ("the red cat often sees a small cat", [("major", "cat")], -5),
        ("the red dog never sees a small cat", [("critical", "never")], -5),
        ("the dog often sees a small cat", [("major", "red")], -5),
        ("the red dog often sees a small small cat", [("major", "small")], -5),
        ("", None, -25),
        # The order of the source is no translation.
        ("the dog red often sees a small cat", None, -10),
    ],
)
def test_errors_are_those_of_the_cheapest_alignment(text, found, score):
    assert language.translate("lo kamo siri unda poki mi tevu dalo") == RIGHT
    errors = language.errors(RIGHT, text)
    assert language.score(errors) == score
    assert found in (None, errors)


def test_the_oracles_score_is_what_its_feedback_says():
    rng = np.random.default_rng(0)
    for _ in range(50):
        request = refinement.draw("mqm", rng)
        text = refinement.write(request, "look", rng.uniform(0, 0.7), rng)
        said = refinement.lines(refinement.content(refinement.feedback(request, text)))
        errors = language.errors(request.right, text)
        assert read("mqm", said).score == language.score(errors)


@pytest.mark.parametrize(
    ("request_", "text", "said"),
    [
        (SUM, r"so 3 + 5 = 8 + 7 = 15 \boxed{ 15 }", "3 + 5 = 8 + 7 = 15 [[yes]]"),
        (SUM, r"so 3 + 5 = 9 + 7 = 16 \boxed{ 16 }", "3 + 5 = 8 + 7 = 15 [[no]]"),
        (CONCEPTS, "so clock river lamp", "all covered"),
        (CONCEPTS, "so river stone", "[ lamp , clock ]"),
    ],
)
def test_sums_are_worked_out_and_missing_concepts_named(request_, text, said):
    assert refinement.feedback(request_, text) == said


def test_requests_of_an_experiment_are_held_out():
    items = draw(0, {"mqm": 10, "coverage": 20, "correctness": 30})
    assert [item.item_id for item in items][:2] == ["lab-en/1", "lab-en/2"]
    assert len({(item.task, item.request) for item in items}) == 60
    assert all(is_held_out(LAB.write(item).messages[0][1]) for item in items)


def test_feedback_is_lines_as_text_and_words_as_tokens():
    said = "'dog' is a major accuracy error\n'a' is a minor accuracy error"
    reply = "major | dog ; minor | a"
    assert refinement.lines(reply) == said
    assert refinement.content(said) == reply
    assert refinement.content("3 + 5 = 8 [[no]]") == "3 + 5 = 8 [[ no ]]"
    assert refinement.lines("major dog ;") == "major dog ;"
