"""Weights published as pickles: tensors alone are read, and no code is run."""

import json
import os
import pickle
import shutil

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from small_models import byte_level, load, save  # noqa: E402
from test_local_weights import at_the_hub, entry, remote_code  # noqa: E402

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import LocalModel  # noqa: E402

HELLO = to_choose([Prompt((("user", "hello"),))], ("A", "B"))
FILE = "pytorch_model.bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(tmp_path_factory.mktemp("model") / "m", byte_level())


def as_pickles(folder, target, shards=1, **options):
    """The same model as its authors published it in 2023."""
    shutil.copytree(folder, target)
    weights = load_file(target / "model.safetensors")
    (target / "model.safetensors").unlink()
    names, places = sorted(weights), {}
    for shard in range(shards):
        file = f"pytorch_model-{shard + 1:05}-of-{shards:05}.bin" if shards > 1 else FILE
        part = {key: weights[key] for key in names[shard::shards]}
        torch.save(part, target / file, **options)
        places |= dict.fromkeys(part, file)
    if shards > 1:
        index = {"metadata": {}, "weight_map": places}
        (target / f"{FILE}.index.json").write_text(json.dumps(index))
    return target


@pytest.mark.parametrize(
    "how", [{}, {"shards": 3}, {"_use_new_zipfile_serialization": False}], ids=str
)
def test_pickled_weights_give_the_same_answers(folder, tmp_path, monkeypatch, how):
    pickles = as_pickles(folder, tmp_path / "m", **how)
    wanted = list(load(folder).engine.answer(HELLO))
    assert list(load(pickles).engine.answer(HELLO)) == wanted
    revision = at_the_hub(pickles, tmp_path / "hub", monkeypatch).name
    assert list(LocalModel(entry(revision=revision), tmp_path).answer(HELLO)) == wanted


def test_other_pickles_are_another_model(folder, tmp_path):
    pickles = as_pickles(folder, tmp_path / "m")
    before = load(pickles).identity
    weights = torch.load(pickles / FILE, weights_only=True)
    weights["lm_head.weight"] += 1
    torch.save(weights, pickles / FILE)
    assert load(pickles).identity != before


def test_safetensors_are_preferred(folder, tmp_path, monkeypatch):
    both = as_pickles(folder, tmp_path / "m")
    (both / FILE).write_bytes(b"no pickle")
    shutil.copy(folder / "model.safetensors", both)
    revision = at_the_hub(both, tmp_path / "hub", monkeypatch).name
    model = LocalModel(entry(revision=revision), tmp_path)
    assert list(model.answer(HELLO)) == list(load(folder).engine.answer(HELLO))


class Attack:
    """What a pickle can do when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def refused(folder, told):
    with pytest.raises(SelfprefError, match=told) as failure:
        load(folder)
    assert str(failure.value).startswith(f"{folder}: ")
    assert len(str(failure.value).splitlines()) <= 2


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize(
    "how", [torch.save, lambda held, path: path.write_bytes(pickle.dumps(held))]
)
def test_a_pickle_that_runs_code_is_refused_and_runs_none(folder, tmp_path, how, shards):
    source = as_pickles(folder, tmp_path / "m", shards)
    path = sorted(source.glob("*.bin"))[-1]
    how({"a": Attack(tmp_path / "attacked")}, path)
    refused(source, rf"{path.name}: more than weights, or broken; refused")
    assert not (tmp_path / "attacked").exists()


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ([1, 2], "cannot convert"),
        ({"epoch": 3}, "the files hold no weights lm_head.weight"),
        ({"lm_head.weight": 3}, "not subscriptable"),
    ],
)
def test_what_is_no_mapping_of_weights_is_refused(folder, tmp_path, held, told):
    source = as_pickles(folder, tmp_path / "m")
    torch.save(held, source / FILE)
    refused(source, told)


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.999])
def test_a_pickle_that_is_cut_short_is_refused(folder, tmp_path, share):
    source = as_pickles(folder, tmp_path / "m")
    whole = (source / FILE).read_bytes()
    (source / FILE).write_bytes(whole[: int(len(whole) * share)])
    refused(source, "EOFError|Invalid argument|failed reading zip archive")


def test_models_code_is_refused_beside_pickles_too(folder, tmp_path):
    remote_code(as_pickles(folder, tmp_path / "m"))
    with pytest.raises(SelfprefError, match="auto_map"):
        load(tmp_path / "m")
