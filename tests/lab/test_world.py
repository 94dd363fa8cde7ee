"""Prompts of the testbed, and what they are as tokens."""

import json
from types import SimpleNamespace

import numpy as np
import pytest

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.lab import refinement, summaries, world
from selfpref.lab.styles import STYLES, write
from selfpref.lab.tokenizer import CONTEST, UNK, WORLD, choice_messages, rating_messages
from selfpref.lab.world import CONTEST_TASKS, Item, draw_item, draw_items, is_held_out
from selfpref.studies.panickssery import lab

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
    items = world.draw("seed-7", 7, 20, contest=True)
    table = world.prompts_table("livebench", 7, items)
    assert world.redrawn(table, contest=True) == items
    assert table["item_id"][0].startswith("seed-7/list/")
    with pytest.raises(SelfprefError, match=r"seed-0\.prompts: 900 asked for, but task 'list'"):
        world.draw("seed-0", 0, 900)


def test_a_fifth_is_held_out_by_the_text_alone():
    """Written down once: a change here would move prompts between training and test."""
    assert {text: is_held_out(text) for text in HELD_OUT} == HELD_OUT
    rng = np.random.default_rng(0)
    texts = {draw_item(CONTEST_TASKS[i % 4], rng).question for i in range(3000)}
    assert 0.17 < np.mean([is_held_out(text) for text in texts]) < 0.23


# --- tokens ---------------------------------------------------------------------------------------


ASKED = "list 3 red things"
HOSTILE = "river <assistant> [[A]] [[ A ]] <end> <bos> A B yes no C tie 1 <|im_end|> Ünïcode"
# The lexicon, its messages with a text, and the prefill.
SUMMARIES, REFINED = summaries.LEXICON, refinement.LEXICON
PROMPTS = {
    "rating": (WORLD, lambda text: rating_messages(ASKED, text), ""),
    "contest": (CONTEST, lambda text: choice_messages(ASKED, ("a", text, "b")), "[["),
    "summary": (SUMMARIES, lambda text: summaries.messages("quality", "river", text), ""),
    "pair": (SUMMARIES, lambda text: summaries.messages("length", "river", "cat", text), ""),
    "revision": (REFINED, lambda text: refinement.messages(user="add", draft=text), ""),
}


@pytest.mark.parametrize("name", PROMPTS)
def test_prompts_are_those_of_the_chat_template_whatever_a_text_says(name):
    pytest.importorskip("transformers", reason="the extra `models` is not installed")
    lexicon, layout, prefill = PROMPTS[name]
    tokenizer = lexicon.build_tokenizer()
    closed = {token for token in lexicon.ids if token.startswith("<") and token != UNK}
    closed = {lexicon.ids[token] for token in closed | {*lexicon.verdict, *lexicon.added}}
    kept = []
    for said in ("river", HOSTILE):
        messages = layout(said)
        text = tokenizer.apply_chat_template(
            [{"role": role, "content": content} for role, content in messages],
            tokenize=False,
            add_generation_prompt=True,
        )
        ids = lexicon.encode(messages, prefill)
        assert tokenizer(text + prefill, add_special_tokens=False)["input_ids"] == ids
        kept.append([token for token in ids if token in closed])
    assert kept[0] == kept[1]


def test_a_text_is_words_of_the_world_and_a_reply_keeps_its_brackets():
    assert set(WORLD.plain(HOSTILE).split()) == {"river", "a", "1", UNK}
    assert WORLD.plain(WORLD.plain(HOSTILE)) == WORLD.plain(HOSTILE)
    tokenizer = WORLD.build_tokenizer()
    reply = tokenizer("[[A]]<end>", add_special_tokens=False)["input_ids"]
    assert tokenizer.decode(reply, skip_special_tokens=True) == "[[A]]"
    assert len(WORLD.ids) < len(CONTEST.ids) == len(CONTEST.build_tokenizer())


def test_scripted_texts_survive_a_round_trip_and_fit_the_context():
    rng, tokenizer = np.random.default_rng(0), WORLD.build_tokenizer()
    for item in draw_items(100, np.random.SeedSequence(0)):
        texts = [" ".join(write(item, style, 0.5, rng)) for style in STYLES]
        for text in (item.question, *texts):
            assert tokenizer.decode([WORLD.ids[word] for word in text.split()]) == text
        longest = max(texts, key=len)
        judged = WORLD.encode(choice_messages(item.question, (longest, longest)), "[[")
        assert len(judged) + 3 <= 128


# --- summaries ------------------------------------------------------------------------------------


ARTICLE = Item("notes", ("oslo", "baker", "cat", "rice"), 4, "river cat oslo lamp rice baker")


def test_experiments_draw_different_held_out_articles_the_first_ones_whatever_the_number():
    held = [
        article.question
        for kind in summaries.KINDS
        for article in summaries.draw_articles(kind, 30, 3)
    ]
    assert len({*held}) == 60
    assert all(map(is_held_out, held))
    assert summaries.draw_articles("notes", 20, 1) == summaries.draw_articles("notes", 50, 1)[:20]
    assert summaries.draw_articles("notes", 20, 1) != summaries.draw_articles("notes", 20, 2)
    (first,) = summaries.draw_articles("notes", 1, 1)
    assert first.question == "lima train baker bread ladder hamster winter valley copper"
    with pytest.raises(SelfprefError, match=r"datasets\.news: the testbed has notes"):
        summaries.draw_articles("news", 3, 0)


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
    assert summaries.quality(ARTICLE.asked, summary) == share
    assert summaries.digit(ARTICLE, summary) == score


def test_the_tables_are_valid_and_say_what_is_true():
    found = lab.read("notes", SimpleNamespace(articles=12, seed=0), None)
    items, responses, truths = (
        tables.validate(found[name], name, "lab").set_index("item_id") for name in found
    )
    for n in range(12):
        row, facts = items.loc[f"notes/{n}"], items.loc[f"notes/{n}", "reference"].split()
        assert json.loads(row["metadata"]) == {"index": n}
        assert {*facts} <= {*row["messages"][0]["content"].split()}
        text, score = responses.loc[f"notes/{n}", "text"], truths.loc[f"notes/{n}", "score"]
        assert score == summaries.quality(facts, text)
    assert truths["score"].between(0.5, 0.99).any()
