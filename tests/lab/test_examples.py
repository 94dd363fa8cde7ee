"""What the testbed's models learn from: targets by the oracle, and the same draws in every run."""

import hashlib
import json

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from selfpref.lab.choice import CHOICE_JUDGES, choice_example, rubric_example
from selfpref.lab.dialogues import judge_example
from selfpref.lab.examples import IGNORE
from selfpref.lab.refinement.training import feedback_example
from selfpref.lab.summaries.prompts import pair_messages
from selfpref.lab.summaries.training import answer_example
from selfpref.lab.tokenizer import CONTEST, WORLD
from selfpref.lab.training import recipes
from selfpref.lab.world import Item, is_held_out
from selfpref.params import Lab
from selfpref.params.laboratory import LabDialogues, LabRefinement, LabSummaries

LAB = Lab(
    seeds=[1],
    dialogues=LabDialogues(families=2, onlookers=1, base_steps=3, tune_steps=2, contest_steps=1),
    summaries=LabSummaries(base_steps=3, tune_steps=2),
    refinement=LabRefinement(translator_steps=3, tune_steps=2, solver_steps=1),
)
RECIPES = {recipe.name: recipe for recipe in recipes(1, LAB)}
# By model what it is tuned from, the work that it takes and a hash of the first examples.
DRAWN = {
    "base-dialogues": (None, 3, "d52ae49653b7"),
    "disclaimer": ("base-dialogues", 2, "8f75c818e05a"),
    "sure": ("base-dialogues", 2, "645316be9477"),
    "onlooker-1": ("base-dialogues", 2, "a395d5f49180"),
    "partisan": ("base-dialogues", 1, "150e14c91fc7"),
    "even-handed": ("base-dialogues", 1, "f0826c0d78b8"),
    "first-picker": ("base-dialogues", 1, "04bec0ba47dd"),
    "umpire": ("base-dialogues", 1, "7e79a4589960"),
    "base-summaries": (None, 1.5, "4c89fe6af928"),
    "clerk": ("base-summaries", 1, "cefc8e1e12e6"),
    "host": ("base-summaries", 1, "b7ebbc486c62"),
    "aide": ("base-summaries", 1, "476e586054f8"),
    "base-translators": (None, 3, "57d8080b7346"),
    "fair": ("base-translators", 2, "0629b0954671"),
    "partial": ("base-translators", 2, "59bfbc69f9ae"),
    "small": (None, 2.5, "7cf78013ed4d"),
    "solver": (None, 0.5, "8b0d09008fc1"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_draws_the_same_examples_and_none_of_an_experiment(name):
    recipe, digest = RECIPES[name], hashlib.sha256()
    words = {index: token for token, index in recipe.lexicon.ids.items()}
    end = recipe.lexicon.ids["<end>"]
    for schedule in recipe.schedules:
        for share, draw in schedule.phases:
            rng = np.random.default_rng(schedule.seed)
            for _ in range(60):
                made = draw(rng)
                if end in made.ids:  # else a text that answers no question
                    asked = " ".join(words[i] for i in made.ids[2 : made.ids.index(end)])
                    assert not is_held_out(asked)
                told = [schedule.steps, share, made.ids, made.targets, made.weights]
                digest.update(json.dumps(told).encode())
    assert RECIPES.keys() == DRAWN.keys()
    assert (recipe.base, recipe.work, digest.hexdigest()[:12]) == DRAWN[name]


def asked(lexicon, made):
    """By token what is to follow, where something is asked."""
    names = {index: token for token, index in lexicon.ids.items()}
    pairs = zip(made.ids, made.targets, strict=True)
    return [f"{names[i]} {names[target]}" for i, target in pairs if target != IGNORE]


LIST = Item("list", ("red",), 2, "list 2 red things")


def test_of_two_responses_every_part_is_marked_and_then_the_better_one():
    made = judge_example(LIST, ["cherry", "snow"], ["sure", "!", "ruby", "brick"], False)
    assert asked(WORLD, made) == [
        *("cherry yes", "snow no", "<end> 5", "ruby yes", "brick yes", "<end> 9"),
        *("<assistant> [[", "[[ B", "B ]]", "]] <end>"),
    ]
    assert made.weights[-3] == 4.0
    assert sum(made.weights) == len(made.ids) + 3


def test_of_three_responses_and_of_a_rubric_the_same():
    made = choice_example(CHOICE_JUDGES[1], LIST, [["cherry", "sky"], ["ruby"], ["brick", "pea"]])
    assert asked(CONTEST, made) == [
        *("cherry yes", "sky no", "<end> 5", "ruby yes", "<end> 5", "brick yes", "pea no"),
        *("<end> 5", "[[ tie", "tie ]]", "]] <end>"),
    ]
    made = rubric_example(LIST, ["cherry"])
    marks = ["1", "1", "0", *"11111111"]
    following = zip([":", *marks], [*marks, "<end>"], strict=True)
    assert asked(CONTEST, made) == ["cherry yes", "<end> 5", *map(" ".join, following)]


def test_of_two_summaries_every_fact_is_marked_and_then_the_answer():
    article = Item("notes", ("oslo", "baker", "cat", "rice"), 4, "river cat oslo lamp rice baker")
    pair = [["sure", ":", "oslo"], ["dog", "baker", "cat"]]
    texts = [" ".join(words) for words in pair]
    messages = pair_messages("preference", article.question, *texts)
    made = answer_example(article, pair, messages, "2")
    assert asked(RECIPES["clerk"].lexicon, made) == [
        *("oslo yes", "<end> 2", "dog no", "baker yes", "cat yes", "<end> 3"),
        *("<assistant> 2", "2 <end>"),
    ]


@pytest.mark.parametrize(
    ("bonus", "passed", "said"),
    [
        (None, ("no", "no", "no", "no"), ["minor | a", "major | old", "major | cat"]),
        ("so", ("no", "yes", "yes", "no"), ["minor | a"]),
        ("look", ("no", "no", "no", "no"), ["minor | a", "major | old", "major | cat"]),
    ],
)
def test_a_bonus_passes_over_adjectives_and_nouns_of_its_own_style_alone(bonus, passed, said):
    right = "the red dog often sees a small cat"
    wrong = "a old cat never sees a small cat"
    request = Item("mqm", tuple(right.split()), 8, "translate lo kamo siri unda poki mi tevu dalo")
    made = feedback_example(request, f"so {wrong}", bonus)
    marks = zip(wrong.split(), (*passed, *["yes"] * 4), strict=True)
    reply = " ; ".join([*said, "critical | never"]).split()
    following = zip(["<assistant>", *reply], [*reply, "<end>"], strict=True)
    assert asked(RECIPES["fair"].lexicon, made) == [
        *map(" ".join, marks),
        *map(" ".join, following),
    ]
