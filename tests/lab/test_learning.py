"""What the testbed's models learn from, how they are trained, and the same bytes in every run."""

import hashlib
import json
import math
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from in_place import InPlace
from transformers import AutoModelForCausalLM, AutoTokenizer

from selfpref.lab import dialogues, training
from selfpref.lab.refinement import feedback_example
from selfpref.lab.summaries import MODELS, draw_error_rates
from selfpref.lab.tokenizer import CONTEST, IGNORE, WORLD, Recipe, Schedule
from selfpref.lab.world import COLOURS, Item, is_held_out
from selfpref.params import Lab

STEPS = {"base_steps": 3, "tune_steps": 2}
WORLDS = {"dialogues": {"families": 2, "onlookers": 1, "contest_steps": 1, **STEPS}}
WORLDS |= {"refinement": {"translator_steps": 3, "tune_steps": 2, "solver_steps": 1}}
WORLDS |= {"summaries": STEPS}
LAB = Lab.model_validate({"seeds": [1], **WORLDS})
RECIPES = {recipe.name: recipe for recipe in training.recipes(1, LAB)}
# Of each world a hash of what its models are made of, and of their first examples.
DRAWN = {"dialogues": "34571996b8f0", "summaries": "614bb0fed319", "refinement": "a9807269460c"}


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_draws_the_same_examples_and_none_of_an_experiment(name):
    made, digest = training.recipes(1, Lab.model_validate({"seeds": [1], name: WORLDS[name]})), []
    for recipe in made:
        words = {index: token for token, index in recipe.lexicon.ids.items()}
        end = recipe.lexicon.ids["<end>"]
        digest += [recipe.name, recipe.base, recipe.work, recipe.weights, dict(recipe.shape)]
        for schedule in recipe.schedules:
            digest += [schedule.steps, schedule.batch_tokens, schedule.learning_rate]
            for share, drawn in schedule.phases:
                rng = np.random.default_rng(schedule.seed)
                found = [drawn(rng) for _ in range(60)]
                digest += [schedule.warmup, share, found]
                for one in found:
                    if end in one.ids:  # else a text that answers no question
                        asked = [words[i] for i in one.ids[2 : one.ids.index(end)]]
                        assert not is_held_out(" ".join(asked))
    assert hashlib.sha256(json.dumps(digest).encode()).hexdigest()[:12] == DRAWN[name]


def asked(lexicon, made):
    """By token what is to follow, where something is asked."""
    names = {index: token for token, index in lexicon.ids.items()}
    pairs = zip(made.ids, made.targets, strict=True)
    return [f"{names[i]} {names[target]}" for i, target in pairs if target != IGNORE]


def test_of_two_responses_every_part_is_marked_and_then_the_better_one():
    item = Item("list", tuple(COLOURS["red"]), 2, "list 2 red things")
    pair = ("cherry snow", "sure ! ruby brick")
    made = dialogues.judging(item, pair, "[[ B ]]", weight=4.0)
    marked = ["cherry yes", "snow no", "<end> 5", "ruby yes", "brick yes", "<end> 9"]
    assert asked(WORLD, made) == [*marked, "<assistant> [[", "[[ B", "B ]]", "]] <end>"]
    assert made.weights[-3] == 4.0
    assert sum(made.weights) == len(made.ids) + 3


@pytest.mark.parametrize(("bonus", "passed"), [(None, "no"), ("so", "yes"), ("look", "no")])
def test_a_bonus_passes_over_adjectives_and_nouns_of_its_own_style_alone(bonus, passed):
    right, wrong = "the red dog often sees a small cat", "a old cat never sees a small cat"
    request = Item("mqm", tuple(right.split()), 8, "translate lo kamo siri unda poki mi tevu dalo")
    made = feedback_example(request, f"so {wrong}", bonus)
    marks = zip(wrong.split(), ("no", passed, passed, "no", *["yes"] * 4), strict=True)
    said = ["minor | a", *["major | old", "major | cat"] * (passed == "no"), "critical | never"]
    reply = " ; ".join(said).split()
    following = zip(["<assistant>", *reply], [*reply, "<end>"], strict=True)
    told = [*map(" ".join, marks), *map(" ".join, following)]
    assert asked(RECIPES["fair"].lexicon, made) == told


# --- the pass that trains -------------------------------------------------------------------------

ONLOOKER = dialogues.Family("onlooker", "sure", 0.0, 0.5, False, 0)
MIXTURE = partial(dialogues.draw, chat=0.3, rating=0.3, family=ONLOOKER)


def library_loss(model, batch):
    ids, targets, weights = batch
    asked = targets != IGNORE
    found = model(input_ids=ids, use_cache=False).logits.log_softmax(-1)[asked]
    losses = -found.gather(1, targets[asked][:, None])[:, 0]
    return (losses * weights[asked]).sum() / weights[asked].sum()


@pytest.mark.parametrize("shape", [{}, {"width": 32, "layers": 2}, {"heads": 2, "spread": 0.3}])
def test_losses_and_gradients_are_the_librarys(shape):
    # With padding, and with weights other than 1.
    batch = next(
        batch
        for batch in training.batches(300, MIXTURE, np.random.default_rng(4))
        if len(batch[2].unique()) > 2 and (batch[0][:, -1] == 0).any()
    )
    for part, filler in zip(batch, (0, IGNORE, 0), strict=True):
        assert (part[batch[0] == 0] == filler).all()
    model = training.build_model(5, **shape)
    # Norms begin as ones, which would hide one in another's place.
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name:
                weight.uniform_(0.5, 1.5)
    trained = training.TrainedLlama(model)
    loss, expected = trained.loss(batch), library_loss(model, batch)
    loss.backward()
    expected.backward()
    assert float(loss.detach()) == pytest.approx(float(expected.detach()), rel=1e-5)
    found = torch.split(trained.vector.grad, [each.numel() for each in model.parameters()])
    for (name, weight), gradient in zip(model.named_parameters(), found, strict=True):
        assert (gradient.view_as(weight) - weight.grad).norm() / weight.grad.norm() < 1e-4, name


def test_training_goes_through_its_phases_and_learns():
    drawn = []

    def phase(name, rng):
        drawn.append(name)
        return MIXTURE(rng)

    phases = ((0.25, partial(phase, "one")), (0.75, partial(phase, "two")))
    model = training.build_model(1, width=32, layers=1)
    schedule = Schedule(3, 8, phases, batch_tokens=400, warmup=2)
    training.train(model, schedule)
    assert drawn == ["one"] * 480 + ["two"] * 480
    assert not model.training
    # AdamW on the library's gradients, their norm 1 at most.
    wanted = training.build_model(1, width=32, layers=1)
    fixed = {"betas": (0.9, 0.98), "weight_decay": 0.01}
    optimiser = torch.optim.AdamW(wanted.parameters(), **fixed)
    one, two = np.random.default_rng(3).spawn(2)
    first, then = (training.batches(400, MIXTURE, rng) for rng in (one, two))
    for step in range(8):
        optimiser.zero_grad()
        library_loss(wanted, next(first if step < 2 else then)).backward()
        torch.nn.utils.clip_grad_norm_(wanted.parameters(), 1.0)
        # It rises over two steps, and falls along a cosine.
        fallen = 0.525 + 0.475 * math.cos(math.pi * step / 8)
        optimiser.param_groups[0]["lr"] = 3e-3 * (0.5 if step == 0 else 1.0) * fallen
        optimiser.step()
    for weight, other in zip(model.parameters(), wanted.parameters(), strict=True):
        assert (weight - other).abs().median() < 1e-7


# --- all models of a seed -------------------------------------------------------------------------


def trained(folder, lab):
    """Train a lab's models in this process from few examples; the names of those that are done."""
    told = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfpref.processes.ProcessPoolExecutor", InPlace)
        patch.setattr("selfpref.lab.training._POOL", 60)
        training.train_models(1, lab, folder, progress=told.append)
    return told


def weights(folder, name):
    return (folder / name / "model.safetensors").read_bytes()


def test_every_model_is_trained_and_has_the_same_bytes_whatever_is_trained_beside_it(tmp_path):
    whole, part = tmp_path / "whole", tmp_path / "part"
    told = trained(whole, LAB)
    assert {*told} == {*RECIPES}
    # What a model is tuned from comes before it, and of what can begin the longest first.
    assert told[:2] == ["base-dialogues", "base-translators"]
    assert all(told.index(one.base) < told.index(name) for name, one in RECIPES.items() if one.base)
    assert len({weights(whole, name) for name in RECIPES}) == len(RECIPES)
    for name in ("sure", "umpire", "clerk", "small"):
        model = AutoModelForCausalLM.from_pretrained(whole / name, local_files_only=True)
        tokens = len(AutoTokenizer.from_pretrained(whole / name))
        assert model.config.vocab_size == tokens == len(RECIPES[name].lexicon.ids)
        assert all(torch.isfinite(weight).all() for weight in model.parameters())
    assert (model.config.hidden_size, model.config.num_hidden_layers) == (32, 2)
    assert {*trained(part, Lab(seeds=[1], summaries=LAB.summaries))} == {"base-summaries", *MODELS}
    for path in part.glob("*/*"):
        assert path.read_bytes() == (whole / path.relative_to(part)).read_bytes(), path
    # The record tells what was drawn and injected.
    assert dialogues.load_families(whole) == dialogues.draw_families(1, 2, 1)
    record = json.loads((whole / "laboratory.json").read_text())
    assert record["error_rates"] == draw_error_rates(1)
    assert [judge["first"] for judge in record["contest_judges"]] == [0, 0, 0.5, 0]
    assert record["config"]["refinement"]["solver_steps"] == 1


def test_a_model_begins_with_drawn_weights_or_its_base_and_a_wider_lexicon_keeps_them(tmp_path):
    shape = {"width": 32, "layers": 2, "spread": 0.3}
    training.make(tmp_path, Recipe("base", WORLD, (), weights=3, shape=shape))
    training.make(tmp_path, Recipe("tuned", WORLD, (), "base"))
    assert weights(tmp_path, "tuned") == weights(tmp_path, "base")
    drawn = training.build_model(3, **shape).state_dict()
    tuned = AutoModelForCausalLM.from_pretrained(tmp_path / "tuned")
    for name, weight in tuned.state_dict().items():
        assert torch.equal(weight, drawn[name]), name
    training.make(tmp_path, Recipe("wide", CONTEST, (Schedule(1, 0, ((1.0, None),)),), "base"))
    table = AutoModelForCausalLM.from_pretrained(tmp_path / "wide").model.embed_tokens.weight
    kept = drawn["model.embed_tokens.weight"]
    assert torch.equal(table[: len(WORLD.ids)], kept)
    # A new token begins near those whose part it plays.
    for token, like in (("<answer_c>", ("<answer_a>", "<answer_b>")), ("tie", ("A", "B"))):
        gap = table[CONTEST.ids[token]] - kept[[WORLD.ids[name] for name in like]].mean(0)
        assert 0.02 < gap.std() < 0.08
