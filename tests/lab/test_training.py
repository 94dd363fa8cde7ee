"""Training of all models of a seed: the same bytes whatever is trained beside them."""

import json

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from in_place import InPlace  # noqa: E402
from test_lab_learns_from import LAB, RECIPES  # noqa: E402
from transformers import AutoModelForCausalLM, AutoTokenizer  # noqa: E402

from selfpref.lab.dialogues import draw_families, load_families  # noqa: E402
from selfpref.lab.examples import Recipe, Schedule  # noqa: E402
from selfpref.lab.model import build_model, load_checkpoint  # noqa: E402
from selfpref.lab.summaries import MODELS, draw_error_rates  # noqa: E402
from selfpref.lab.tokenizer import CONTEST, WORLD  # noqa: E402
from selfpref.lab.training import make, run, train_models  # noqa: E402
from selfpref.params import Lab  # noqa: E402


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """All models, trained in this process, and what was told."""
    folder, told = tmp_path_factory.mktemp("one"), []
    with pytest.MonkeyPatch.context() as patch:
        here(patch)
        train_models(1, LAB, folder, progress=told.append)
    return folder, told


def here(patch):
    """Train in this process, and draw no more examples at once than a few steps need."""
    patch.setattr("selfpref.processes.ProcessPoolExecutor", InPlace)
    patch.setattr("selfpref.lab.training._POOL", 60)


def weights(folder, name):
    return (folder / name / "model.safetensors").read_bytes()


def test_every_model_is_trained_told_and_loads_through_the_auto_classes(trained):
    folder, told = trained
    assert sorted(told) == sorted(RECIPES)
    assert {path.parent.name for path in folder.glob("*/model.safetensors")} == {*RECIPES}
    assert len({weights(folder, name) for name in RECIPES}) == len(RECIPES)
    assert not list(folder.rglob("*.bin"))
    for name in ("sure", "umpire", "clerk", "small"):
        model = AutoModelForCausalLM.from_pretrained(folder / name, local_files_only=True)
        tokens = len(AutoTokenizer.from_pretrained(folder / name))
        assert model.config.vocab_size == tokens == len(RECIPES[name].lexicon.ids)
        assert all(torch.isfinite(weight).all() for weight in model.parameters())
    assert (model.config.hidden_size, model.config.num_hidden_layers) == (32, 2)


def test_one_group_alone_has_the_same_bytes(trained, tmp_path, monkeypatch):
    """Whatever its process has trained before."""
    folder, _ = trained
    here(monkeypatch)
    train_models(1, Lab(seeds=[1], summaries=LAB.summaries), tmp_path)
    names = {path.parent.name for path in tmp_path.glob("*/model.safetensors")}
    assert names == {"base-summaries", *MODELS}
    for path in tmp_path.glob("*/*"):
        assert path.read_bytes() == (folder / path.relative_to(tmp_path)).read_bytes(), path


def test_the_record_tells_what_was_drawn_and_injected(trained):
    folder, _ = trained
    assert load_families(folder) == draw_families(1, 2, 1)
    record = json.loads((folder / "laboratory.json").read_text())
    assert record["error_rates"] == draw_error_rates(1)
    assert [judge["first"] for judge in record["contest_judges"]] == [0, 0, 0.5, 0]
    assert record["config"]["seed"] == 1
    assert record["config"]["refinement"]["solver_steps"] == 1


SHAPE = {"width": 32, "layers": 2, "spread": 0.3}


def test_a_model_begins_with_its_base_or_with_weights_drawn_from_its_seed(tmp_path):
    make(tmp_path, Recipe("base", WORLD, (), weights=3, shape=SHAPE))
    make(tmp_path, Recipe("tuned", WORLD, (), "base"))
    assert weights(tmp_path, "tuned") == weights(tmp_path, "base")
    drawn = build_model(3, **SHAPE).state_dict()
    for name, weight in load_checkpoint(tmp_path / "tuned").state_dict().items():
        assert torch.equal(weight, drawn[name]), name


def test_a_wider_lexicon_leaves_every_other_token_as_it_was(tmp_path):
    """A new token begins near those whose part it plays."""
    make(tmp_path, Recipe("base", WORLD, (), weights=3))
    make(tmp_path, Recipe("wide", CONTEST, (Schedule(1, 0, ((1.0, None),)),), "base"))
    old, new = (load_checkpoint(tmp_path / name) for name in ("base", "wide"))
    table, kept = new.model.embed_tokens.weight, old.model.embed_tokens.weight
    assert torch.equal(table[: len(WORLD.ids)], kept)
    for token, like in (("<answer_c>", ("<answer_a>", "<answer_b>")), ("tie", ("A", "B"))):
        gap = table[CONTEST.ids[token]] - kept[[WORLD.ids[name] for name in like]].mean(0)
        assert 0.02 < gap.std() < 0.08


# --- the order of the recipes -------------------------------------------------------------------

TREE = {"base": None, "other": None, "one": "base", "two": "base", "leaf": "two"}
STEPS = {"other": 3, "two": 2}
JOBS = [
    Recipe(name, WORLD, (Schedule(0, STEPS.get(name, 1), ()),), base) for name, base in TREE.items()
]


def test_a_job_comes_after_the_one_that_it_builds_on_and_the_longest_first(monkeypatch):
    monkeypatch.setattr("selfpref.lab.training.pool", InPlace)
    begun, told = [], []
    run(JOBS, begun.append, 2, told.append)
    assert sorted(told) == sorted(TREE)
    names = [recipe.name for recipe in begun]
    assert names[:2] == ["other", "base"]
    assert names.index("base") < names.index("two") == names.index("one") - 1
    assert names.index("two") < names.index("leaf")
    half = Recipe("half", WORLD, JOBS[1].schedules, shape={"width": 32})
    assert [recipe.work for recipe in (*JOBS, half)] == [1, 3, 1, 2, 1, 1.5]
