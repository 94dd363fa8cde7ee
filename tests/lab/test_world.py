import numpy as np
import pytest

from selfpref.errors import SelfprefError
from selfpref.lab.experiment import draw, prompts_table, redrawn
from selfpref.lab.world import CONTEST_TASKS, TASKS, draw_item, draw_items, is_held_out

HELD_OUT = {
    "list 5 white or black things": False,
    "add 4 + 5 and 4 + 4 and 3 + 3": False,
    "use the words train music pocket candle window": False,
    "add 3 + 4 and 5 + 3": True,
    "add 4 + 1 and 3 + 3": True,
    "use the words feather harbour lamp mirror engine": True,
}


def test_items_are_distinct_and_depend_on_the_seed_alone():
    first, again, other = (
        draw_items(60, np.random.SeedSequence(seed), CONTEST_TASKS) for seed in (3, 3, 4)
    )
    assert first == again != other
    assert [item.task for item in first] == list(CONTEST_TASKS) * 10
    assert len({item.question for item in first}) == 60
    # Written down once: another draw would be another experiment.
    assert [item.question for item in first[:6]] == [
        "list 5 pink or black things",
        "add 4 + 3 and 2 + 1",
        "use the words window candle letter stone paper",
        "tell the job city food of otto",
        "tell the red things of blood mud tar ruby toast cherry",
        "tell the food of tess and the job of nadia",
    ]


def test_prompts_of_a_table_are_found_again():
    items = draw("seed-7", 7, 20, contest=True)
    table = prompts_table("livebench", 7, items)
    assert redrawn(table, contest=True) == items
    assert table["item_id"][0].startswith("seed-7/list/")
    with pytest.raises(SelfprefError, match=r"seed-0\.prompts: 900 asked for, but task 'list'"):
        draw("seed-0", 0, 900)


def test_a_fifth_is_held_out_by_the_text_alone():
    """Written down once: a change here would move prompts between training and test."""
    assert {text: is_held_out(text) for text in HELD_OUT} == HELD_OUT
    rng = np.random.default_rng(0)
    texts = {draw_item(TASKS[i % 4], rng).question for i in range(3000)}
    assert 0.17 < np.mean([is_held_out(text) for text in texts]) < 0.23
