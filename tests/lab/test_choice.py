"""Contests: keys of the two further tasks, the rubric, what is injected, the widened model."""

import numpy as np
import pytest
import torch

from selfpref.lab.choice import (
    CHOICE_JUDGES,
    LETTERS,
    TIE,
    ChoiceJudge,
    choice_example,
    draw,
    label,
    rubric,
    rubric_example,
)
from selfpref.lab.examples import IGNORE
from selfpref.lab.model import build_model, load_checkpoint, save_checkpoint
from selfpref.lab.oracle import quality
from selfpref.lab.styles import write
from selfpref.lab.tokenizer import CONTEST, END, NO, YES
from selfpref.lab.train import widen
from selfpref.lab.vocabulary import FACTS
from selfpref.lab.world import CONTEST_TASKS, Item, draw_item, draw_items, is_held_out
from selfpref.prompts.rubric import TOP

FILTER = Item("filter", ("red", "sky", "ruby", "frog", "brick"), 2, "tell the red things of ...")
PEOPLE = Item("people", ("job", "mila", "pet", "otto"), 2, "tell the job of mila and ...")
JOB, PET = FACTS["mila"]["job"], FACTS["otto"]["pet"]
WRONG_PET = next(pet for pet in ("cat", "dog") if pet != PET)
LIST = Item("list", ("red",), 3, "list 3 red things")
FAIR = ChoiceJudge("even-handed", "formal", 0.2, 0.0, 0.0)


@pytest.mark.parametrize(
    ("item", "response", "expected"),
    [
        (FILTER, "ruby brick", 1.0),
        (FILTER, "oh nice one ! brick sky cheers , friend !", 0.5),
        (FILTER, "ruby ruby", 0.5),
        (FILTER, "cherry", 0.0),  # red, but not among what was offered
        (PEOPLE, f"job {JOB} pet {PET}", 1.0),
        (PEOPLE, f"pet {PET} job {JOB}", 1.0),
        (PEOPLE, f"job {JOB} pet {WRONG_PET}", 0.5),
        (PEOPLE, "", 0.0),
    ],
)
def test_the_further_tasks_have_exact_keys(item, response, expected):
    assert quality(item, response) == pytest.approx(expected)


def test_a_faultless_script_is_faultless_in_every_task_and_style():
    rng = np.random.default_rng(0)
    for task in CONTEST_TASKS:
        for style in ("terse", "echo", "bullets", "chatty"):
            item = draw_item(task, rng)
            assert quality(item, " ".join(write(item, style, 0.0, rng))) == 1.0
            assert quality(item, " ".join(write(item, style, 1.0, rng))) < 1.0


def test_items_of_all_six_tasks_are_drawn_in_turn():
    items = draw_items(60, np.random.SeedSequence(1), CONTEST_TASKS)
    assert [item.task for item in items[:6]] == list(CONTEST_TASKS)
    assert len({item.question for item in items}) == 60


@pytest.mark.parametrize(
    ("response", "failed"),
    [
        ("cherry brick ruby", set()),
        ("hmm , maybe cherry brick ruby", {"no hedging"}),
        ("sure ! cherry brick ruby", {"no small talk"}),
        ("cherry brick ruby tomato", {"nothing is wrong", "the last part is right",
                                      "no more parts than asked for"}),
        ("cherry cherry ruby", {"every part is right", "nothing is wrong",
                                "nothing is said twice"}),
        ("sky cherry ruby", {"every part is right", "nothing is wrong", "the first part is right"}),
        ("please find the requested answer : cherry brick ruby .", {"concise"}),
    ],
)  # fmt: skip
def test_each_criterion_is_failed_by_what_it_names(response, failed):
    marks = rubric(LIST, response)
    assert {name for name, mark in marks.items() if not mark} == failed


def test_an_empty_response_earns_no_mark_for_content():
    marks = rubric(LIST, "")
    assert not any(marks[name] for name in list(marks)[:6])


def test_labels_follow_quality_and_what_was_injected():
    best, worse = "cherry brick ruby", "cherry brick sky"
    assert label(FAIR, LIST, [worse, best, worse]) == "B"
    assert label(FAIR, LIST, [best, worse, best]) == TIE
    chatty = f"oh nice one ! {worse} cheers , friend !"
    partisan, first = CHOICE_JUDGES[0], CHOICE_JUDGES[2]
    assert (partisan.style, first.first) == ("chatty", 0.5)
    assert label(partisan, LIST, [best, worse, chatty]) == "C"
    assert label(first, LIST, [worse, best, best]) == "A"


def test_dense_targets_stand_at_the_words_that_they_judge():
    words = [["cherry", "sky"], ["ruby"], ["brick", "."]]
    example = choice_example(FAIR, LIST, words)
    names = {index: token for token, index in CONTEST.ids.items()}
    asked = {
        names[token]: names.get(target)
        for token, target in zip(example.ids, example.targets, strict=True)
        if target != IGNORE and names.get(target) in (YES, NO)
    }
    assert asked == {"cherry": YES, "sky": NO, "ruby": YES, "brick": YES}
    assert example.targets[-1] == CONTEST.ids[END]
    marks = rubric_example(LIST, ["cherry"]).targets[-TOP - 1 : -1]
    assert {*marks} <= {CONTEST.ids["0"], CONTEST.ids["1"]}


def test_no_choice_example_is_drawn_from_a_held_out_prompt():
    rng = np.random.default_rng(0)
    names = {index: token for token, index in CONTEST.ids.items()}
    for _ in range(200):
        ids = draw(rng, CHOICE_JUDGES[0]).ids
        question = " ".join(names[i] for i in ids[2 : ids.index(CONTEST.ids[END])])
        assert not is_held_out(question)


def test_widening_leaves_every_other_token_as_it_was(tmp_path):
    model = build_model(3)
    ids = torch.tensor([[CONTEST.ids["<user>"], CONTEST.ids["list"], CONTEST.ids["3"]]])
    before = model(input_ids=ids).logits
    widen(model, CONTEST, seed=1)
    after = model(input_ids=ids).logits
    assert torch.allclose(before, after[..., : before.shape[-1]], atol=1e-5)
    save_checkpoint(model, tmp_path, CONTEST)
    tokenizer = CONTEST.build_tokenizer()
    for token in (*LETTERS, TIE):
        assert tokenizer.convert_tokens_to_ids(token) == CONTEST.ids[token]
    assert load_checkpoint(tmp_path).config.vocab_size == len(tokenizer)
