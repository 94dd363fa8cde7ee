"""Training of all models of a seed: the same bytes whatever the number of processes."""

import json

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

import torch
from asking import to_generate
from in_place import InPlace
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from selfpref.lab.choice import CHOICE_JUDGES
from selfpref.lab.injected import draw_families, load_families
from selfpref.lab.summaries.articles import MODELS, draw_error_rates
from selfpref.lab.tokenizer import CONTEST, WORLD
from selfpref.lab.training import recipes, train_models
from selfpref.models.local import LocalModel
from selfpref.params import Lab, Transformers
from selfpref.params.laboratory import LabDialogues, LabRefinement, LabSummaries
from selfpref.studies.xu.lab import LAB, draw

SMALL = Lab(
    seeds=[1],
    dialogues=LabDialogues(families=2, onlookers=1, base_steps=4, tune_steps=3, contest_steps=2),
    summaries=LabSummaries(base_steps=4, tune_steps=2),
    refinement=LabRefinement(translator_steps=4, tune_steps=3, solver_steps=3),
)
NAMES = {
    "base-dialogues", "disclaimer", "sure", "onlooker-1", *(j.name for j in CHOICE_JUDGES),
    "base-summaries", *MODELS,
    "base-translators", "fair", "partial", "small", "solver",
}  # fmt: skip


@pytest.fixture(scope="module")
def told():
    return []


@pytest.fixture(scope="module")
def folder(tmp_path_factory, told):
    """All models, trained in this process."""
    folder = tmp_path_factory.mktemp("one")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfpref.processes.ProcessPoolExecutor", InPlace)
        train_models(1, SMALL, folder, progress=told.append)
    return folder


def weights(folder, name):
    return (folder / name / "model.safetensors").read_bytes()


def test_every_model_is_trained_and_told(folder, told):
    assert sorted(told) == sorted(NAMES)
    assert {recipe.name for recipe in recipes(1, SMALL)} == NAMES
    assert {path.parent.name for path in folder.glob("*/model.safetensors")} == NAMES
    assert len({weights(folder, name) for name in NAMES}) == len(NAMES)


def test_the_number_of_processes_changes_no_byte(folder, tmp_path):
    train_models(1, SMALL, tmp_path, processes=2)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert files == sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*") if p.is_file())
    for path in files:
        assert (folder / path).read_bytes() == (tmp_path / path).read_bytes(), path


def test_one_group_alone_has_the_same_models(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("selfpref.processes.ProcessPoolExecutor", InPlace)
    train_models(1, Lab(seeds=[1], summaries=SMALL.summaries), tmp_path)
    assert {path.parent.name for path in tmp_path.glob("*/model.safetensors")} == {
        "base-summaries", *MODELS
    }  # fmt: skip
    for name in ("base-summaries", *MODELS):
        assert weights(tmp_path, name) == weights(folder, name)


def test_the_record_tells_what_was_drawn_and_injected(folder):
    assert load_families(folder) == draw_families(1, 2, 1)
    record = json.loads((folder / "laboratory.json").read_text())
    assert record["error_rates"] == draw_error_rates(1)
    assert [judge["first"] for judge in record["contest_judges"]] == [0, 0, 0.5, 0]
    assert record["config"]["refinement"]["solver_steps"] == 3


def test_a_tuned_model_starts_from_its_base(folder):
    """After two or three steps it is nearer to its base than to any other model's."""
    flat = {}
    for name in NAMES - {"small"}:
        state = load_file(folder / name / "model.safetensors")
        # Embeddings differ in number.
        layers = [state[key].flatten() for key in sorted(state) if "layers" in key]
        flat[name] = torch.cat(layers)
    origin = {
        **dict.fromkeys(["disclaimer", "sure", "onlooker-1"], "base-dialogues"),
        **dict.fromkeys([judge.name for judge in CHOICE_JUDGES], "base-dialogues"),
        **dict.fromkeys(MODELS, "base-summaries"),
        **dict.fromkeys(["fair", "partial"], "base-translators"),
    }
    for name, base in origin.items():
        gaps = {
            other: float((flat[name] - flat[other]).norm())
            for other in {*origin.values(), "solver"}
        }
        assert min(gaps, key=lambda other: gaps[other]) == base


def test_small_is_small(folder):
    assert len(weights(folder, "small")) < len(weights(folder, "fair")) / 4


def test_every_checkpoint_loads_through_the_auto_classes(folder):
    for name, size in (
        ("sure", len(WORLD.ids)), ("umpire", len(CONTEST.ids)), ("clerk", None), ("solver", None)
    ):  # fmt: skip
        model = AutoModelForCausalLM.from_pretrained(folder / name, local_files_only=True)
        tokens = len(AutoTokenizer.from_pretrained(folder / name))
        assert model.config.vocab_size == tokens == (size or tokens)
        assert all(torch.isfinite(weight).all() for weight in model.parameters())
    assert not list(folder.rglob("*.bin"))


def test_a_checkpoint_writes_through_the_engine(folder):
    entry = Transformers(engine="transformers", model="fair", threads=1)
    engine = LocalModel(entry, folder, "")
    items = draw(0, {"mqm": 2, "coverage": 1, "correctness": 1})
    made = dict(
        engine.answer(
            to_generate(
                [LAB.write(item) for item in items], max_tokens=5, temperature=1.0, seeds=range(4)
            )
        )
    )
    assert sorted(made) == [0, 1, 2, 3]
    assert {one.status for one in made.values()} <= {"ok", "cut"}
