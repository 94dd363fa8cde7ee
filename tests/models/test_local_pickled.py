"""Weights published as pickles: converted apart, with hashes, and never trusted."""

import hashlib
import json
import os
import pickle
import shutil

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose  # noqa: E402
from safetensors.torch import load_file  # noqa: E402
from small_models import byte_level, load, save  # noqa: E402
from test_local_weights import REVISION, at_the_hub, remote_code  # noqa: E402

from selfpref.__main__ import main  # noqa: E402
from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import LocalModel  # noqa: E402
from selfpref.models.local.pickled import convert  # noqa: E402
from selfpref.params import Transformers  # noqa: E402

NAMED = f"org/model@{REVISION}"
MADE = f".cache/converted/org--model-{REVISION[:12]}"
HELLO = to_choose([Prompt((("user", "hello"),))], ("A", "B"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(tmp_path_factory.mktemp("model") / "m", byte_level())


def as_pickles(folder, target, shards=1, **options):
    """The same model as its authors published it in 2023."""
    shutil.copytree(folder, target)
    weights = load_file(target / "model.safetensors")
    (target / "model.safetensors").unlink()
    names = sorted(weights)
    for shard in range(shards):
        name = f"-{shard + 1:05}-of-{shards:05}" if shards > 1 else ""
        part = {key: weights[key] for key in names[shard::shards]}
        torch.save(part, target / f"pytorch_model{name}.bin", **options)
    if shards > 1:
        (target / "pytorch_model.bin.index.json").write_text('{"weight_map": {}}')
    return target


@pytest.fixture
def repository(tmp_path, monkeypatch):
    root = tmp_path / "repository"
    root.mkdir()
    (root / "dvc.yaml").touch()
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    "how", [{}, {"shards": 3}, {"_use_new_zipfile_serialization": False}], ids=str
)
def test_pickled_weights_become_a_model_with_the_same_answers(
    folder, repository, tmp_path, monkeypatch, capsys, how
):
    at_the_hub(as_pickles(folder, tmp_path / "pickled", **how), tmp_path / "hub", monkeypatch)
    assert main(["convert", NAMED]) == 0
    assert f"`model: {MADE}`, without `revision`" in capsys.readouterr().out
    entry = Transformers(engine="transformers", model=MADE, threads=1)
    found = list(LocalModel(entry, repository).answer(HELLO))
    assert found == list(load(folder).engine.answer(HELLO))
    # Nothing is made twice.
    before = (repository / MADE).stat().st_mtime_ns
    convert(NAMED)
    assert (repository / MADE).stat().st_mtime_ns == before


def test_source_and_result_are_recorded_by_hash(folder, repository, tmp_path, monkeypatch):
    pickles = as_pickles(folder, tmp_path / "pickled", shards=2)
    at_the_hub(pickles, tmp_path / "hub", monkeypatch)
    made = convert(NAMED)
    record = json.loads((made / "conversion.json").read_text())
    assert (record["model"], record["revision"]) == ("org/model", REVISION)
    for kind, root, pattern in (("read", pickles, "*.bin"), ("made", made, "*.safetensors")):
        files = {path.name: path.read_bytes() for path in root.glob(pattern)}
        assert record[kind] == {
            name: {"bytes": len(held), "sha256": hashlib.sha256(held).hexdigest()}
            for name, held in files.items()
        }
    assert not list(made.glob("*.bin*"))


def test_weights_that_share_memory_are_all_there(folder, repository, tmp_path, monkeypatch):
    source = as_pickles(folder, tmp_path / "pickled")
    path = source / "pytorch_model.bin"
    weights = torch.load(path, weights_only=True)
    weights["lm_head.weight"] = weights["model.embed_tokens.weight"]
    torch.save(weights, path)
    at_the_hub(source, tmp_path / "hub", monkeypatch)
    found = load_file(convert(NAMED) / "model.safetensors")
    assert torch.equal(found["lm_head.weight"], weights["model.embed_tokens.weight"])


class Attack:
    """What a pickle can do when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("how", ["torch", "pickle"])
def test_a_pickle_that_runs_code_is_refused_and_runs_none(
    folder, repository, tmp_path, monkeypatch, how
):
    source = as_pickles(folder, tmp_path / "pickled")
    path, attack = source / "pytorch_model.bin", {"a": Attack(tmp_path / "attacked")}
    if how == "torch":
        torch.save(attack, path)
    else:
        path.write_bytes(pickle.dumps(attack))
    at_the_hub(source, tmp_path / "hub", monkeypatch)
    told = r"org/model: not converted: pytorch_model\.bin: no plain weights, refused"
    with pytest.raises(SelfprefError, match=told) as failure:
        convert(NAMED)
    assert len(str(failure.value).splitlines()) == 1
    assert not (tmp_path / "attacked").exists()
    assert not (repository / MADE).exists()


@pytest.mark.parametrize(
    ("held", "told"), [([1, 2], "no mapping"), ({"epoch": 3}, "'epoch' is no tensor")]
)
def test_what_is_no_mapping_of_weights_is_refused(
    folder, repository, tmp_path, monkeypatch, held, told
):
    source = as_pickles(folder, tmp_path / "pickled")
    torch.save(held, source / "pytorch_model.bin")
    at_the_hub(source, tmp_path / "hub", monkeypatch)
    with pytest.raises(SelfprefError, match=told):
        convert(NAMED)


def test_the_process_knows_no_secret(folder, repository, tmp_path, monkeypatch):
    at_the_hub(as_pickles(folder, tmp_path / "pickled"), tmp_path / "hub", monkeypatch)
    monkeypatch.setenv("HF_TOKEN", "planted")
    ran = {}

    def run(command, *, env, **_):
        ran.update(env)
        raise SelfprefError("stopped")

    monkeypatch.setattr("selfpref.models.local.pickled.subprocess.run", run)
    with pytest.raises(SelfprefError, match="stopped"):
        convert(NAMED)
    assert "planted" not in ran.values()
    assert ran["HF_HUB_OFFLINE"] == "1"


def test_models_code_is_refused_and_safetensors_are_named(
    folder, repository, tmp_path, monkeypatch, capsys
):
    snapshot = at_the_hub(folder, tmp_path / "hub", monkeypatch)
    assert main(["convert", NAMED]) == 1
    assert "if it has safetensors, name it by `model` and `revision`" in capsys.readouterr().err
    shutil.rmtree(snapshot)
    at_the_hub(as_pickles(folder, tmp_path / "pickled"), tmp_path / "hub", monkeypatch)
    remote_code(snapshot)
    with pytest.raises(SelfprefError, match="auto_map"):
        convert(NAMED)
    assert not (repository / MADE).exists()


@pytest.mark.parametrize(
    "named", ["org/model", "model@abc", f"a/b/c@{REVISION}", f"../m@{REVISION}"]
)
def test_a_model_is_named_by_its_commit(repository, named):
    with pytest.raises(SelfprefError, match="give <organisation>/<name>@<commit>"):
        convert(named)
