"""Model folders and models of the Hub: what is loaded, and what is refused."""

import json
import os
import pickle
import shutil
from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose, to_score  # noqa: E402
from huggingface_hub import constants  # noqa: E402
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError  # noqa: E402
from in_place import InPlace  # noqa: E402
from requests import Response  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from small_models import byte_level, load, save  # noqa: E402

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import LocalModel, loading, shared  # noqa: E402
from selfpref.params import Transformers  # noqa: E402

REVISION = "0123456789abcdef0123456789abcdef01234567"
PROMPT = Prompt((("user", "hello"),))
HELLO = to_choose([PROMPT], "AB")
SAFE, FILE, INDEX = "model.safetensors", "pytorch_model.bin", "pytorch_model.bin.index.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(tmp_path_factory.mktemp("model") / "m", byte_level())


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


def renamed(name, other, path):
    (path / name).rename(path / other)


def without_some(path):
    held = load_file(path / SAFE)
    del held["lm_head.weight"]
    save_file(held, path / SAFE, metadata={"format": "pt"})


def elsewhere(path):
    """An index that sends the loader to another folder, a decoy of safetensors beside it."""
    (path / SAFE).rename(path.parent / "outside.safetensors")
    (path / "decoy.safetensors").touch()
    index = {"weight_map": {"model.embed_tokens.weight": "../outside.safetensors"}}
    (path / "model.safetensors.index.json").write_text(json.dumps(index))


def remote_code(path, below=False):
    config = json.loads((path / "config.json").read_text())
    mapped = {"auto_map": {"AutoModelForCausalLM": "theirs.Model"}}
    (path / "config.json").write_text(
        json.dumps(config | ({"text_config": mapped} if below else mapped))
    )


def as_pickles(path, shards=1, **options):
    """The same model as its authors published it in 2023."""
    held = load_file(path / SAFE)
    (path / SAFE).unlink()
    names, places = sorted(held), {}
    for shard in range(shards):
        file = FILE if shards == 1 else f"pytorch_model-{shard + 1:05}-of-{shards:05}.bin"
        part = {key: held[key] for key in names[shard::shards]}
        torch.save(part, path / file, **options)
        places |= dict.fromkeys(part, file)
    if shards > 1:
        (path / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": places}))
    return path


def pickled(path, held):
    torch.save(held, as_pickles(path) / FILE)


def cut_short(path, share):
    whole = (as_pickles(path) / FILE).read_bytes()
    (path / FILE).write_bytes(whole[: int(len(whole) * share)])


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (shutil.rmtree, "no such model folder; correct `model` .*, or give the `revision`"),
        (partial(renamed, "tokenizer.json", "other"), "no tokenizer.json"),
        (partial(renamed, "tokenizer.json", "tokenizer.model"), "tokenizer.model needs"),
        (partial(renamed, SAFE, "model.pt"), "holds no weights"),
        (without_some, "the files hold no weights lm_head.weight"),
        (elsewhere, "'../outside.safetensors' is no file of this folder"),
        (remote_code, "auto_map"),
        (partial(remote_code, below=True), "auto_map"),
        (lambda path: (path / "generation_config.json").write_text("[]"), "not a JSON object"),
        (lambda path: (path / "config.json").write_text("{"), "config.json: not readable as JSON"),
        (partial(pickled, held=[1, 2]), "cannot convert"),
        (partial(pickled, held={"epoch": 3}), "the files hold no weights lm_head.weight"),
        (partial(pickled, held={"lm_head.weight": 3}), "not subscriptable"),
        (partial(cut_short, share=0.0), "EOFError"),
        (partial(cut_short, share=0.999), "failed reading zip archive"),
    ],
)
def test_an_unsafe_or_broken_folder_is_refused(copy, spoil, told):
    spoil(copy)
    refused(copy, told)


def refused(folder, told):
    with pytest.raises(SelfprefError, match=told) as failure:
        load(folder)
    assert str(failure.value).startswith(str(folder))
    assert len(str(failure.value).splitlines()) <= 2


@pytest.fixture
def at_the_hub(tmp_path, monkeypatch):
    """A model of a Hub whose cache holds one revision of `org/model`."""

    def opened(folder, revision=REVISION):
        snapshot = tmp_path / "hub/models--org--model/snapshots" / REVISION
        shutil.copytree(folder, snapshot, dirs_exist_ok=True)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        return LocalModel(entry(revision=revision), tmp_path)

    return opened


def entry(**options):
    return Transformers(engine="transformers", model="org/model", **options)


def test_a_pinned_model_of_the_hub_is_that_folder(folder, at_the_hub):
    model = at_the_hub(folder)
    assert model.identity["weights"] == f"org/model@{REVISION}"
    assert list(model.answer(HELLO)) == list(load(folder).engine.answer(HELLO))


def test_another_revision_is_not_taken_for_it_and_code_is_refused(copy, at_the_hub):
    with pytest.raises(SelfprefError, match="not in the Hub's cache"):
        at_the_hub(copy, REVISION[::-1])
    remote_code(copy)
    with pytest.raises(SelfprefError, match="auto_map"):
        at_the_hub(copy)


@pytest.mark.parametrize(
    ("failure", "told"),
    [(GatedRepoError, "accept its terms"), (RepositoryNotFoundError, "no such model or commit")],
)
def test_what_the_hub_refuses_is_said_with_the_remedy(monkeypatch, tmp_path, failure, told):
    def refuse(*given, **named):
        assert not any("bin" in pattern or ".py" in pattern for pattern in named["allow_patterns"])
        raise failure("no", response=Response())

    monkeypatch.setattr(loading, "snapshot_download", refuse)
    with pytest.raises(SelfprefError, match=rf"org/model@01234567: .*{told}"):
        LocalModel(entry(revision=REVISION), tmp_path)


# --- pickles ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", [{}, {"shards": 3}, {"_use_new_zipfile_serialization": False}], ids=str
)
def test_pickled_weights_give_the_same_answers_and_others_are_another_model(
    folder, copy, at_the_hub, how
):
    wanted = list(load(folder).engine.answer(HELLO))
    model = load(as_pickles(copy, **how))
    assert list(model.engine.answer(HELLO)) == wanted
    assert list(at_the_hub(copy).answer(HELLO)) == wanted
    file = sorted(copy.glob("*.bin"))[0]
    torch.save({key: one + 1 for key, one in torch.load(file, weights_only=True).items()}, file)
    assert load(copy).identity["weights"] != model.identity["weights"]


def test_safetensors_are_preferred_here_and_at_the_hub(folder, copy, at_the_hub):
    (copy / FILE).write_bytes(b"no pickle")
    wanted = list(load(folder).engine.answer(HELLO))
    assert list(load(copy).engine.answer(HELLO)) == list(at_the_hub(copy).answer(HELLO)) == wanted


class Attack:
    """What a pickle can do when it is read."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize(
    "how", [torch.save, lambda held, path: path.write_bytes(pickle.dumps(held))]
)
def test_a_pickle_that_runs_code_is_refused_and_runs_none(copy, how, shards):
    path = sorted(as_pickles(copy, shards).glob("*.bin"))[-1]
    how({"a": Attack(copy / "attacked")}, path)
    refused(copy, rf"{path.name}: more than weights, or broken; refused")
    assert not (copy / "attacked").exists()


# --- several processes --------------------------------------------------------------------------


def test_a_model_shared_by_processes_answers_as_one_alone(folder, monkeypatch):
    monkeypatch.setattr("selfpref.processes.ProcessPoolExecutor", InPlace)
    alone = Transformers(engine="transformers", model=folder.name, threads=1)
    both = alone.model_copy(update={"processes": 2})
    calls = to_score([PROMPT] * 23, ["red " * (n % 5) + "lamp" for n in range(23)])
    wanted = dict(LocalModel(alone, folder.parent).answer(calls))
    found = list(shared(both, folder.parent, "", calls))
    assert sorted(index for index, _ in found) == list(range(23))
    for index, answer in found:
        assert answer.n_tokens == wanted[index].n_tokens
        assert answer.sum_nll == pytest.approx(wanted[index].sum_nll, abs=1e-5 * answer.n_tokens)
