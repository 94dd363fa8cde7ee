"""Contests: the rubric, and what is injected in a judge's labels."""

import pytest

from selfpref.lab.choice import CHOICE_JUDGES, TIE, label, rubric
from selfpref.lab.world import Item

LIST = Item("list", ("red",), 3, "list 3 red things")
BEST, WORSE = "cherry brick ruby", "cherry brick sky"


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
    assert {name for name, mark in rubric(LIST, response).items() if not mark} == failed


def test_a_sum_is_concise_at_five_words_a_part():
    item = Item("sum", ("1", "2", "3", "4"), 2, "add 1 + 2 and 3 + 4")
    assert rubric(item, "1 + 2 = 3 3 + 4 = 7")["concise"]
    assert not rubric(item, "a b c 1 + 2 = 3 d e 3 + 4 = 7")["concise"]


def test_labels_follow_quality_and_what_was_injected():
    partisan, fair, first, umpire = CHOICE_JUDGES
    chatty = f"oh nice one ! {WORSE} cheers , friend !"
    for judge, responses, wanted in (
        (fair, [WORSE, BEST, WORSE], "B"),
        (fair, [BEST, WORSE, BEST], TIE),
        (partisan, [BEST, WORSE, chatty], "C"),
        (umpire, [BEST, WORSE, chatty], "A"),
        (first, [WORSE, BEST, BEST], "A"),
        (first, ["sky", WORSE, BEST], "C"),
    ):
        assert label(judge, LIST, responses) == wanted
    injected = [(judge.style, judge.beta, judge.first) for judge in CHOICE_JUDGES]
    assert injected == [("chatty", 0.5, 0), ("formal", 0, 0), ("terse", 0, 0.5), (None, 0, 0)]
