"""The testbed of summaries: its articles, who summarises them, and both as tables."""

import json

import pytest

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.lab.summaries import articles as lab
from selfpref.lab.summaries.training import digit
from selfpref.lab.world import Item, is_held_out

ARTICLE = Item("notes", ("oslo", "baker", "cat", "rice"), 4, "river cat oslo lamp rice baker")


def test_experiments_draw_different_held_out_articles_the_first_ones_whatever_the_number():
    held = [article.question for kind in lab.KINDS for article in lab.draw_articles(kind, 30, 3)]
    assert len({*held}) == 60
    assert all(map(is_held_out, held))
    assert lab.draw_articles("notes", 20, 1) == lab.draw_articles("notes", 50, 1)[:20]
    assert lab.draw_articles("notes", 20, 1) != lab.draw_articles("notes", 20, 2)
    (first,) = lab.draw_articles("notes", 1, 1)
    assert first.question == "lima train baker bread ladder hamster winter valley copper"
    with pytest.raises(SelfprefError, match=r"datasets\.news: the testbed has notes"):
        lab.draw_articles("news", 3, 0)


def test_a_fact_has_one_slot_and_is_neither_filler_nor_style():
    assert len({*lab.FACTS}) == len(lab.FACTS) == 24
    assert not {*lab.FACTS} & {*lab.FILLER, *lab.STYLE_WORDS}
    assert not {*lab.FILLER} & {*lab.STYLE_WORDS}


@pytest.mark.parametrize(
    ("summary", "share", "score"),
    [
        ("oslo baker cat rice", 1.0, "5"),
        ("please note : oslo baker", 0.5, "3"),
        ("oslo oslo oslo oslo", 0.25, "2"),
        ("lima nurse dog soup", 0.0, "1"),
        ("", 0.0, "1"),
    ],
)
def test_quality_is_the_share_of_key_facts_given_once(summary, share, score):
    assert lab.quality(ARTICLE.asked, summary) == share
    assert digit(ARTICLE, summary) == score


def test_the_tables_are_valid_and_say_what_is_true():
    found = lab.tables("panickssery", "notes", lab.draw_articles("notes", 12, 0), 0)
    items, responses, truths = (found[name] for name in ("items", "responses", "truths"))
    for name, table in found.items():
        tables.validate(table, name, "lab")
    assert [json.loads(entry) for entry in items["metadata"]] == [{"index": n} for n in range(12)]
    assert {*responses["responder"]} == {lab.HUMAN}
    for number in range(12):
        facts = items["reference"][number].split()
        assert {*facts} <= {*items["messages"][number][0]["content"].split()}
        assert truths["score"][number] == lab.quality(facts, responses["text"][number])
    assert truths["score"].between(0.5, 0.99).any()
