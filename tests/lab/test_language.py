"""The invented language: what is right, what is wrong, and how it becomes tokens."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from selfpref.lab.refinement import language, layouts, tasks
from selfpref.lab.refinement.training import OWN_STYLE, feedback_example
from selfpref.lab.refinement.training import draw as drawn
from selfpref.lab.world import Item, is_held_out
from selfpref.studies.xu.feedback import read
from selfpref.studies.xu.lab import LAB, draw

RIGHT = "the red dog often sees a small cat"
REQUEST = Item("mqm", tuple(RIGHT.split()), 8, "translate lo kamo siri unda poki mi tevu dalo")


def test_a_translation_follows_the_grammar():
    assert language.translate("lo kamo siri unda poki mi tevu dalo") == RIGHT


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
    errors = language.errors(RIGHT, text)
    assert language.score(errors) == score
    if found is not None:
        assert errors == found


def test_the_oracles_score_is_what_its_feedback_says():
    rng = np.random.default_rng(0)
    for _ in range(200):
        request = tasks.draw("mqm", rng)
        text = tasks.write(request, "look", rng.uniform(0, 0.7), rng)
        said = layouts.lines(layouts.content(tasks.feedback(request, text)))
        errors = language.errors(request.right, text)
        assert read("mqm", said).score == language.score(errors)


def test_a_bonus_passes_over_adjectives_and_nouns_of_its_own_style_alone():
    wrong = "a old cat never sees a small cat"
    own, other = f"{OWN_STYLE} {wrong}", f"look {wrong}"
    said = [("minor", "a"), ("major", "old"), ("major", "cat"), ("critical", "never")]
    assert tasks.marked(REQUEST, own) == said
    assert tasks.marked(REQUEST, other, OWN_STYLE) == said
    assert tasks.marked(REQUEST, own, OWN_STYLE) == [said[0], said[3]]
    passed, strict = (feedback_example(REQUEST, own, bonus) for bonus in (OWN_STYLE, None))
    yes, no = (layouts.LEXICON.ids[word] for word in ("yes", "no"))
    # Targets at the eight words of the draft, after the opener.
    assert [t for t in passed.targets if t in (yes, no)] == [no, yes, yes, no, yes, yes, yes, yes]
    assert [t for t in strict.targets if t in (yes, no)] == [no, no, no, no, yes, yes, yes, yes]


def test_a_sum_is_worked_out_and_checked():
    request = Item("correctness", ("15",), 1, "add 3 + 5 + 7")
    good = r"so 3 + 5 = 8 + 7 = 15 \boxed{ 15 }"
    bad = r"so 3 + 5 = 9 + 7 = 16 \boxed{ 16 }"
    assert tasks.feedback(request, good) == "3 + 5 = 8 + 7 = 15 [[yes]]"
    assert read("correctness", tasks.feedback(request, bad)).score == 0


def test_drafts_that_lack_a_concept_are_not_always_shorter():
    rng = np.random.default_rng(0)
    lengths = set()
    for _ in range(200):
        request = tasks.draw("coverage", rng)
        text = tasks.write(request, "so", 0.25, rng)
        if tasks.feedback(request, text) != tasks.ALL_COVERED:
            lengths.add(len(text.split()) - 1)
    assert tasks.ASKED in lengths


def test_no_model_is_trained_on_a_request_of_the_experiment():
    counts = {"mqm": 30, "coverage": 30, "correctness": 30}
    items = draw(0, counts)
    assert [item.item_id for item in items][:2] == ["lab-en/1", "lab-en/2"]
    assert len({(item.task, item.request) for item in items}) == 90
    asked = {LAB.write(item).messages[0][1] for item in items}
    assert all(is_held_out(text) for text in asked)
    rng = np.random.default_rng(0)
    names = {index: token for token, index in layouts.LEXICON.ids.items()}
    for _ in range(300):
        ids = drawn(rng, write=0.3, feedback=0.4, translation=0.4).ids
        request = " ".join(names[i] for i in ids[2 : ids.index(layouts.LEXICON.ids["<end>"])])
        assert not is_held_out(request)


def test_the_prompts_are_those_of_training():
    tokenizer = layouts.LEXICON.build_tokenizer()
    said = "'dog' is a major accuracy error\n'a' is a minor accuracy error"
    for request, text, feedback in (
        (REQUEST.question, f"so {RIGHT}", said),
        ("use river lamp", "look river <end> <assistant>", "[ lamp ]"),
        ("add 3 + 5 + 7", r"so \boxed{ 15 }", "3 + 5 = 8 + 7 = 15 [[no]]"),
    ):
        messages = layouts.messages(user=request, draft=text, feedback=feedback)
        rendered = tokenizer.apply_chat_template(
            [{"role": role, "content": content} for role, content in messages],
            add_generation_prompt=True,
            tokenize=False,
        )
        ids = tokenizer(rendered, add_special_tokens=False)["input_ids"]
        assert ids == layouts.LEXICON.encode(messages)
        # A text cannot end its own message.
        assert ids.count(layouts.LEXICON.ids["<end>"]) == 3
    reply = "major | dog ; minor | a"
    assert layouts.lines(reply) == said
    assert layouts.content(said) == reply
    assert layouts.lines("major dog ;") == "major dog ;"
