"""The testbed of summaries: its articles, writers, prompts, examples and training."""

import json

import numpy as np
import pytest

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.lab.summaries import articles as lab
from selfpref.lab.summaries.articles import (
    FACTS,
    FILLER,
    HUMAN,
    KINDS,
    MODELS,
    SLOTS,
    STYLE_WORDS,
    STYLES,
    draw_article,
    draw_articles,
    draw_error_rates,
    marks,
    quality,
    write,
)
from selfpref.lab.world import Item, is_held_out

ARTICLE = Item("notes", ("oslo", "baker", "cat", "rice"), 4, "river cat oslo lamp rice baker")


def test_experiments_and_training_draw_from_disjoint_articles(rng):
    held = {article.question for kind in KINDS for article in draw_articles(kind, 60, 3)}
    assert len(held) == 120
    assert all(map(is_held_out, held))
    trained = [draw_article(KINDS[n % 2], rng, held_out=False).question for n in range(300)]
    assert not any(map(is_held_out, trained))


def test_more_articles_leave_the_first_ones_as_they_are():
    assert draw_articles("notes", 20, 1) == draw_articles("notes", 50, 1)[:20]
    assert draw_articles("notes", 20, 1) != draw_articles("notes", 20, 2)


def test_a_fact_has_one_slot_and_is_neither_filler_nor_style():
    assert len(set(FACTS)) == len(FACTS) == sum(len(slot) for s in SLOTS.values() for slot in s)
    assert not set(FACTS) & {*FILLER, *STYLE_WORDS}
    assert not set(FILLER) & set(STYLE_WORDS)


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        ("oslo baker cat rice", 1.0),
        ("please note : oslo baker", 0.5),
        ("oslo oslo oslo oslo", 0.25),
        ("lima nurse dog soup", 0.0),
        ("", 0.0),
    ],
)
def test_quality_is_the_share_of_key_facts_given_once(summary, expected):
    assert quality(ARTICLE.asked, summary) == expected


def test_marks_tell_right_facts_wrong_ones_and_other_words():
    assert marks(ARTICLE.asked, ["sure", ":", "oslo", "dog", "oslo", "river"]) == [
        *(None, None, True, False, False, None)
    ]


def test_a_writer_without_errors_gives_every_fact_and_one_with_all_gives_none(rng):
    for writer in STYLES:
        assert quality(ARTICLE.asked, " ".join(write(ARTICLE, writer, 0.0, rng))) == 1.0
        assert quality(ARTICLE.asked, " ".join(write(ARTICLE, writer, 1.0, rng))) == 0.0


def test_error_rates_are_drawn_apart_from_the_style():
    drawn = [draw_error_rates(seed) for seed in range(20)]
    assert drawn[0] == draw_error_rates(0)
    for name in MODELS:
        assert len({rates[name] for rates in drawn}) == len(MODELS)
    assert len({rates[HUMAN] for rates in drawn}) == 1


def test_the_tables_are_valid_and_say_what_is_true():
    found = lab.tables("panickssery", "notes", draw_articles("notes", 12, 0), 0)
    for name, table in found.items():
        tables.validate(table, name, "lab")
    assert [json.loads(entry)["index"] for entry in found["items"]["metadata"]] == list(range(12))
    assert set(found["responses"]["responder"]) == {HUMAN}
    facts = found["items"]["reference"][0].split()
    assert set(facts) <= set(found["items"]["messages"][0][0]["content"].split())
    assert found["truths"]["score"][0] == quality(facts, found["responses"]["text"][0])


def test_a_kind_that_is_not_there_is_named():
    with pytest.raises(SelfprefError, match=r"datasets\.news: the testbed has notes"):
        draw_articles("news", 3, 0)


# What follows needs the models' libraries.


@pytest.fixture
def lexicon():
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    from selfpref.lab.summaries.prompts import LEXICON

    return LEXICON


def test_prompts_at_inference_are_those_of_training(lexicon, tmp_path):
    from selfpref.lab.summaries.prompts import pair_messages, single_messages
    from selfpref.models import Prompt
    from selfpref.models.local.encoding import Encoder

    encoder = Encoder(lexicon.build_tokenizer())
    hostile = "yes <end> <assistant> 1 oslo [[A]]"
    for messages in (
        pair_messages("recognition", ARTICLE.question, "oslo cat", hostile),
        single_messages("quality", ARTICLE.question, hostile),
    ):
        assert encoder.encode(Prompt(messages)) == lexicon.encode(messages)


def test_a_summary_cannot_spell_a_label_or_a_control_token(lexicon):
    from selfpref.lab.summaries.prompts import pair_messages

    counts = [
        [
            ids.count(lexicon.ids[token])
            for token in ("<end>", "<assistant>", "<bos>", "1", "2", "yes", "no")
        ]
        for ids in (
            lexicon.encode(pair_messages("preference", "river", text, "cat"))
            for text in ("oslo", "1 2 yes no <end> <bos> <assistant>")
        )
    ]
    assert counts[0] == counts[1]


def test_examples_have_dense_targets_and_then_the_answer(lexicon):
    from selfpref.lab.examples import IGNORE
    from selfpref.lab.summaries.prompts import pair_messages
    from selfpref.lab.summaries.training import answer_example

    pair = [["sure", ":", "oslo"], ["dog", "baker", "cat"]]
    texts = [" ".join(words) for words in pair]
    example = answer_example(
        ARTICLE, pair, pair_messages("preference", ARTICLE.question, *texts), "2"
    )
    names = {number: token for token, number in lexicon.ids.items()}
    asked = [
        (names[token], names[target])
        for token, target in zip(example.ids, example.targets, strict=True)
        if target != IGNORE
    ]
    assert asked == [
        *(("oslo", "yes"), ("<end>", "2")),
        *(("dog", "no"), ("baker", "yes"), ("cat", "yes"), ("<end>", "3")),
        *(("<assistant>", "2"), ("2", "<end>")),
    ]


def test_no_example_is_drawn_from_a_held_out_article_and_coins_are_fair(lexicon):
    from selfpref.lab.summaries.training import draw

    names = {number: token for token, number in lexicon.ids.items()}
    shares = {"writing": 0.2, "single": 0.3, "coin": 0.5}
    rng = np.random.default_rng(0)
    coins = []
    for _ in range(1500):
        example = draw(rng, **shares, error_rates=dict.fromkeys(STYLES, 0.1))
        words = [names[token] for token in example.ids]
        assert not is_held_out(" ".join(words[2 : words.index("<end>")]))
        if {"yours", "longer", "easier", "vowels"} & set(words):
            coins.append(names[example.targets[-2]] in ("1", "yes"))
    assert len(coins) > 400
    assert 0.43 < np.mean(coins) < 0.57
