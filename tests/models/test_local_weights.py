"""Model folders and models of the Hub: what is loaded, and what is refused."""

import json
import shutil

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError
from requests import Response
from safetensors.torch import load_file, save_file
from small_models import byte_level, load, save

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.local import LocalModel, weights
from selfpref.params import Transformers

REVISION = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save(tmp_path_factory.mktemp("model") / "m", byte_level())


def missing(path):
    shutil.rmtree(path)


def without_tokenizer(path):
    (path / "tokenizer.json").unlink()


def sentencepiece_alone(path):
    (path / "tokenizer.json").rename(path / "tokenizer.model")


def without_weights(path):
    (path / "model.safetensors").rename(path / "model.pt")


def without_some(path):
    weights = load_file(path / "model.safetensors")
    del weights["lm_head.weight"]
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})


def broken_config(path):
    (path / "config.json").write_text("{")


def remote_code(path):
    config = json.loads((path / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "theirs.Model"}
    (path / "config.json").write_text(json.dumps(config))


def remote_code_below(path):
    config = json.loads((path / "config.json").read_text())
    config["text_config"] = {"auto_map": {"AutoConfig": "theirs.Config"}}
    (path / "config.json").write_text(json.dumps(config))


def no_object(path):
    (path / "generation_config.json").write_text("[]")


def indexed(name):
    """An index that sends the loader to a file of this name, a decoy of safetensors beside it."""

    def spoil(path):
        (path / "model.safetensors").rename(path / "decoy.safetensors")
        shutil.copy(path / "decoy.safetensors", path / name)
        index = {"weight_map": {"model.embed_tokens.weight": name}}
        (path / "model.safetensors.index.json").write_text(json.dumps(index))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (missing, "no such model folder"),
        (without_tokenizer, "no tokenizer.json"),
        (sentencepiece_alone, "tokenizer.model needs"),
        (without_weights, "holds no weights"),
        (without_some, "the files hold no weights lm_head.weight"),
        (remote_code, "auto_map"),
        (remote_code_below, "auto_map"),
        (no_object, "generation_config.json: not a JSON object"),
        (indexed("../outside.safetensors"), "is no file of this folder"),
        (broken_config, "config.json: not readable as JSON"),
    ],
)
def test_an_unsafe_or_broken_folder_is_refused(folder, tmp_path, spoil, told):
    copy = tmp_path / "model"
    shutil.copytree(folder, copy)
    spoil(copy)
    with pytest.raises(SelfprefError, match=told) as failure:
        load(copy)
    assert str(copy) in str(failure.value)


def at_the_hub(folder, cache, monkeypatch, offline=True):
    """A Hub whose cache holds one revision of `org/model`."""
    snapshot = cache / "models--org--model" / "snapshots" / REVISION
    shutil.copytree(folder, snapshot)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    return snapshot


def entry(**options):
    return Transformers(engine="transformers", model="org/model", **options)


def test_a_pinned_model_of_the_hub_is_that_folder(folder, tmp_path, monkeypatch):
    at_the_hub(folder, tmp_path, monkeypatch)
    model = LocalModel(entry(revision=REVISION), tmp_path)
    assert model.identity["weights"] == f"org/model@{REVISION}"
    prompt = Prompt((("user", "hello"),))
    assert list(model.answer(to_choose([prompt], "AB"))) == list(
        load(folder).engine.answer(to_choose([prompt], "AB"))
    )


def test_what_was_downloaded_is_checked_like_any_folder(folder, tmp_path, monkeypatch):
    remote_code(at_the_hub(folder, tmp_path, monkeypatch))
    with pytest.raises(SelfprefError, match="auto_map"):
        LocalModel(entry(revision=REVISION), tmp_path)


def test_a_model_of_the_hub_needs_its_revision(tmp_path):
    with pytest.raises(SelfprefError, match=r"give the `revision` \(a commit\)"):
        LocalModel(entry(), tmp_path)


def test_another_revision_is_not_taken_for_it(folder, tmp_path, monkeypatch):
    at_the_hub(folder, tmp_path, monkeypatch)
    with pytest.raises(SelfprefError, match="not in the Hub's cache"):
        LocalModel(entry(revision=REVISION[::-1]), tmp_path)


@pytest.mark.parametrize(
    ("failure", "told"),
    [(GatedRepoError, "accept its terms"), (RepositoryNotFoundError, "no such model or commit")],
)
def test_what_the_hub_refuses_is_said_with_the_remedy(monkeypatch, tmp_path, failure, told):
    def refuse(*given, **named):
        assert not any("bin" in pattern or ".py" in pattern for pattern in named["allow_patterns"])
        raise failure("no", response=Response())

    monkeypatch.setattr(weights, "snapshot_download", refuse)
    with pytest.raises(SelfprefError, match=told):
        LocalModel(entry(revision=REVISION), tmp_path)


def test_an_attention_that_the_model_has_not_is_an_error(tmp_path):
    save(tmp_path / "m", byte_level(), "gemma2", head_dim=8, num_key_value_heads=2)
    with pytest.raises(SelfprefError, match="scaled_dot_product_attention"):
        load(tmp_path / "m")
