"""Training of the models that refine: the same bytes whatever the number of processes."""

from dataclasses import replace

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_generate
from in_place import InPlace

from selfpref.lab.refinement.training import NAMES, RefinersConfig, train_refiners
from selfpref.models.local import LocalModel
from selfpref.params import Transformers
from selfpref.studies.xu.lab import LAB, draw


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    config = RefinersConfig(translator_steps=4, tune_steps=3, solver_steps=3)
    two, one = (tmp_path_factory.mktemp("refiners") for _ in range(2))
    train_refiners(replace(config, processes=2), two)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfpref.lab.refinement.training.ProcessPoolExecutor", InPlace)
        train_refiners(replace(config, processes=1), one)
    return one, two


def test_the_number_of_processes_changes_no_byte(folders):
    for name in NAMES:
        one, two = ((folder / name / "model.safetensors").read_bytes() for folder in folders)
        assert one == two
    assert (folders[0] / "refiners.json").read_text() == (folders[1] / "refiners.json").read_text()


def test_partial_differs_from_fair_in_its_tuning_alone(folders):
    weights = {name: (folders[0] / name / "model.safetensors").read_bytes() for name in NAMES}
    assert len(set(weights.values())) == len(NAMES)
    assert len(weights["fair"]) == len(weights["partial"]) == len(weights["solver"])
    assert len(weights["small"]) < len(weights["fair"]) / 4


def test_a_checkpoint_writes_through_the_engine(folders):
    entry = Transformers(engine="transformers", model="fair", threads=1)
    engine = LocalModel(entry, folders[0], "")
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
