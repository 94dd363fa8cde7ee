import numpy as np
import pytest

from selfpref.errors import SelfprefError
from selfpref.lab.experiment import draw
from selfpref.lab.world import TASKS, draw_item, draw_items, draw_training_item, is_held_out


def test_items_are_distinct_and_depend_on_the_seed_alone() -> None:
    first = draw_items(80, np.random.SeedSequence(3))
    again = draw_items(80, np.random.SeedSequence(3))
    other = draw_items(80, np.random.SeedSequence(4))
    assert first == again
    assert first != other
    assert len({item.question for item in first}) == 80
    assert {item.task for item in first} == set(TASKS)


def test_too_many_prompts_is_an_error_that_names_the_task() -> None:
    with pytest.raises(SelfprefError, match=r"seed-0\.prompts: 900 asked for, but task 'list'"):
        draw("seed-0", 0, 900)


def test_held_out_split_is_a_constant_of_the_text() -> None:
    # Written down once: a change here would move prompts between training and test.
    assert {text: is_held_out(text) for text in HELD_OUT} == HELD_OUT


def test_about_a_fifth_is_held_out() -> None:
    rng = np.random.default_rng(0)
    texts = {draw_item(TASKS[i % 4], rng).question for i in range(6000)}
    assert len(texts) > 3000
    assert 0.17 < np.mean([is_held_out(text) for text in texts]) < 0.23


def test_training_never_sees_a_held_out_prompt() -> None:
    rng = np.random.default_rng(0)
    assert not any(draw_training_item(rng).held_out for _ in range(500))


HELD_OUT = {
    "list 5 white or black things": False,
    "add 4 + 5 and 4 + 4 and 3 + 3": False,
    "use the words train music pocket candle window": False,
    "add 3 + 4 and 5 + 3": True,
    "add 4 + 1 and 3 + 3": True,
    "use the words feather harbour lamp mirror engine": True,
}
