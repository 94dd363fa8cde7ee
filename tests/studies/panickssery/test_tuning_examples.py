"""What evaluators are tuned on: by variant, replayed, and as chat JSONL."""

import json

import pandas as pd
import pytest

from selfpref.models import Choice
from selfpref.prompts.summaries import PLAIN
from selfpref.studies.panickssery.finetune.examples import chat_lines, labelled, replayed
from selfpref.studies.panickssery.recognition import ordered_pairs

TEXTS = {
    "me": "Tiny text.",
    "human": "A considerably longer summary of the article, in many words.",
    "rival": "Tiny text!",
}
ITEMS = pd.DataFrame(
    {
        "study": "panickssery",
        "item_id": ["news/1", "news/2"],
        "messages": [[{"role": "user", "content": f"article {n}"}] for n in (1, 2)],
    }
)
RESPONSES = pd.DataFrame(
    [
        {"item_id": item, "responder": name, "text": text}
        for item in ITEMS["item_id"]
        for name, text in TEXTS.items()
    ]
)
PAIRS = ordered_pairs(ITEMS, RESPONSES, "me")


def labels(variant):
    return [example.label for example in labelled(PAIRS, "me", variant, PLAIN, seed=5)]


def test_every_article_gives_two_examples_a_source_and_the_answer_is_ones_own_position():
    assert len(PAIRS) == 2 * 2 * 2
    assert labels("self-recognition") == ["1", "2"] * 4
    for pair, example in zip(
        PAIRS, labelled(PAIRS, "me", "self-recognition", PLAIN, 5), strict=True
    ):
        ((_, text),) = example.prompt.messages
        assert pair.article in text
        assert text.index(f"Summary 1:\n{pair.texts[0]}") < text.index("Summary 2:")
        assert pair.texts[int(example.label) - 1] == TEXTS["me"]


def test_always_one_and_the_coin_do_not_look_at_the_summaries():
    assert set(labels("always-1")) == {"1"}
    coin = labels("random")
    assert coin == labels("random")
    assert set(coin) == {"1", "2"}


@pytest.mark.parametrize(("variant", "winner"), [("length", "human"), ("vowelcount", "human")])
def test_a_control_names_the_summary_that_has_more_and_leaves_equals_out(variant, winner):
    found = labelled(PAIRS, "me", variant, PLAIN, 5)
    # "Tiny text." and "Tiny text!" have as many words and vowels: no answer to learn.
    assert len(found) == 4
    decided = [pair for pair in PAIRS if winner in pair.names]
    for pair, example in zip(decided, found, strict=True):
        assert pair.names[int(example.label) - 1] == winner
        assert "yours" not in example.prompt.messages[0][1]


def test_readability_names_the_easier_one():
    for pair, example in zip(
        (pair for pair in PAIRS if "human" in pair.names),
        labelled(PAIRS, "me", "readability", PLAIN, 5),
        strict=True,
    ):
        assert pair.names[int(example.label) - 1] == "me"


def test_replay_is_the_bases_own_answer_to_the_other_questions():
    asked = []

    def choose(calls):
        asked.extend(call.prompt for call in calls)
        best = {2: (0.2, 0.7), 5: (0.1, 0.1, 0.1, 0.6, 0.1)}
        return [Choice(best[len(call.labels)], "ok") for call in calls]

    everything = replayed(PAIRS, PLAIN, 99, choose, seed=1)
    # Two questions a pair and order, and a score for each of six summaries.
    assert len(everything) == 2 * 8 + 6
    assert sorted(example.label for example in everything) == ["2"] * 16 + ["4"] * 6
    assert not any("is yours" in prompt.messages[0][1] for prompt in asked)
    assert len(replayed(PAIRS, PLAIN, 7, choose, seed=1)) == 7
    assert replayed(PAIRS, PLAIN, 7, choose, seed=1) == replayed(PAIRS, PLAIN, 7, choose, seed=1)


def test_a_prompt_that_the_base_cannot_read_is_not_replayed():
    assert replayed(PAIRS, PLAIN, 9, lambda calls: [Choice((), "truncated")] * len(calls), 1) == []


def test_the_export_is_chat_jsonl_with_the_same_prompts_and_answers():
    examples = labelled(PAIRS, "me", "self-recognition", PLAIN, 5)
    rows = [json.loads(line) for line in chat_lines(examples).splitlines()]
    assert len(rows) == len(examples)
    for row, example in zip(rows, examples, strict=True):
        *prompt, answer = row["messages"]
        assert list(row) == ["messages"]
        assert [(m["role"], m["content"]) for m in prompt] == list(example.prompt.messages)
        assert answer == {"role": "assistant", "content": example.label}
