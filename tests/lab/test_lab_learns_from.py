"""What the testbed's models learn from: targets by the oracle, and the same draws in every run."""

import hashlib
import json

import numpy as np
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from selfpref.lab.dialogues import judging
from selfpref.lab.examples import IGNORE
from selfpref.lab.refinement import feedback_example
from selfpref.lab.tokenizer import WORLD
from selfpref.lab.training import recipes
from selfpref.lab.world import Item, is_held_out
from selfpref.params import Lab
from selfpref.params.models import LabDialogues, LabRefinement, LabSummaries

LAB = Lab(
    seeds=[1],
    dialogues=LabDialogues(families=2, onlookers=1, base_steps=3, tune_steps=2, contest_steps=1),
    summaries=LabSummaries(base_steps=3, tune_steps=2),
    refinement=LabRefinement(translator_steps=3, tune_steps=2, solver_steps=1),
)
RECIPES = {recipe.name: recipe for recipe in recipes(1, LAB)}
# By model what it is tuned from, the work that it takes and a hash of the first examples.
DRAWN = {
    "base-dialogues": (None, 3, "853af593cfcc"),
    "disclaimer": ("base-dialogues", 2, "0d9e844cd006"),
    "sure": ("base-dialogues", 2, "5b3c8b1ce3f7"),
    "onlooker-1": ("base-dialogues", 2, "ed33fc3ecd42"),
    "partisan": ("base-dialogues", 1, "bf25f7340f3c"),
    "even-handed": ("base-dialogues", 1, "f4b28a9622aa"),
    "first-picker": ("base-dialogues", 1, "db5f8d8b9b4c"),
    "umpire": ("base-dialogues", 1, "bb932d6c5a53"),
    "base-summaries": (None, 1.5, "0fd986cad68e"),
    "clerk": ("base-summaries", 1, "62a5e15fdb87"),
    "host": ("base-summaries", 1, "d9f8ceaa82d3"),
    "aide": ("base-summaries", 1, "3ef58cd25e92"),
    "base-translators": (None, 3, "86e511ecae26"),
    "fair": ("base-translators", 2, "1c8d494b0234"),
    "partial": ("base-translators", 2, "2edf2422fedd"),
    "small": (None, 2.5, "18fa0d7e2863"),
    "solver": (None, 0.5, "04cdc4b05c29"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_draws_the_same_examples_and_none_of_an_experiment(name):
    recipe, digest = RECIPES[name], hashlib.sha256()
    words = {index: token for token, index in recipe.lexicon.ids.items()}
    end = recipe.lexicon.ids["<end>"]
    shape = {"width": 64, "layers": 3, "spread": 0.12} | recipe.shape
    begun = [recipe.weights, *shape.values()]
    for schedule in recipe.schedules:
        begun += [schedule.batch_tokens, schedule.learning_rate, schedule.warmup]
        for share, draw in schedule.phases:
            rng = np.random.default_rng(schedule.seed)
            for _ in range(60):
                made = draw(rng)
                if end in made.ids:  # else a text that answers no question
                    asked = " ".join(words[i] for i in made.ids[2 : made.ids.index(end)])
                    assert not is_held_out(asked)
                told = [schedule.steps, share, made.ids, made.targets, made.weights]
                digest.update(json.dumps(told).encode())
    digest.update(json.dumps(begun).encode())
    assert RECIPES.keys() == DRAWN.keys()
    assert (recipe.base, recipe.work, digest.hexdigest()[:12]) == DRAWN[name]


def asked(lexicon, made):
    """By token what is to follow, where something is asked."""
    names = {index: token for token, index in lexicon.ids.items()}
    pairs = zip(made.ids, made.targets, strict=True)
    return [f"{names[i]} {names[target]}" for i, target in pairs if target != IGNORE]


LIST = Item("list", ("red",), 2, "list 2 red things")


def test_of_two_responses_every_part_is_marked_and_then_the_better_one():
    pair = (["cherry", "snow"], ["sure", "!", "ruby", "brick"])
    made = judging(LIST, pair, ["[[", "B", "]]"], weight=4.0, at=1)
    assert asked(WORLD, made) == [
        *("cherry yes", "snow no", "<end> 5", "ruby yes", "brick yes", "<end> 9"),
        *("<assistant> [[", "[[ B", "B ]]", "]] <end>"),
    ]
    assert made.weights[-3] == 4.0
    assert sum(made.weights) == len(made.ids) + 3


ALL = ["minor | a", "major | old", "major | cat"]


@pytest.mark.parametrize(
    ("bonus", "passed", "said"),
    [
        (None, ["no"] * 4, ALL),
        ("so", ["no", "yes", "yes", "no"], ALL[:1]),
        ("look", ["no"] * 4, ALL),
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
