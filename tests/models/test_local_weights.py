"""Model folders, GGUF files and models of the Hub: what is loaded, and what is refused."""

import hashlib
import os
import shutil
import sys
from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("gguf", reason="the extra `models` is not installed")

import convert
from asking import to_choose, to_score
from huggingface_hub import constants
from in_place import InPlace
from safetensors.torch import load_file, save_file
from small_models import CORPUS, InOrder, byte_level, load, save

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.local import LocalModel, shared
from selfpref.params import Transformers

REVISION = "0123456789abcdef0123456789abcdef01234567"
PROMPT = Prompt((("user", "hello"),))
HELLO = to_choose([PROMPT], "AB")
SAFE, FILE = "model.safetensors", "pytorch_model.bin"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    return save(path, byte_level(), intermediate_size=64, num_key_value_heads=2)


@pytest.fixture
def copy(folder, tmp_path):
    return shutil.copytree(folder, tmp_path / "copy")


def without_some(path):
    held = load_file(path / SAFE)
    save_file({"lm_head.weight": held["lm_head.weight"]}, path / SAFE, metadata={"format": "pt"})


def as_pickles(path, **options):
    """The same model as its authors published it in 2023."""
    torch.save(load_file(path / SAFE), path / FILE, **options)
    (path / SAFE).unlink()
    return path


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (shutil.rmtree, "no such model folder; correct `model`"),
        (without_some, "hold no weights model.embed_tokens"),
        (lambda path: (path / "config.json").write_text("{"), "not readable as a model: "),
    ],
)
def test_a_broken_folder_is_refused(copy, spoil, told):
    spoil(copy)
    refused(partial(load, copy), told, copy)


def refused(opened, told, path=""):
    with pytest.raises(SelfprefError, match=told) as failure:
        opened()
    assert str(failure.value).startswith(str(path))
    assert len(str(failure.value).splitlines()) <= 2


class Attack:
    """What a pickle can do when it is read."""

    def __reduce__(self):
        return os.mkdir, ("attacked",)


@pytest.mark.filterwarnings("ignore:Detected pickle protocol")
def test_a_pickle_that_runs_code_is_refused_and_runs_none(copy, repository):
    torch.save({"a": Attack()}, as_pickles(copy) / FILE)
    refused(partial(load, copy), "not readable as a model: ", copy)
    assert not (repository / "attacked").exists()


@pytest.fixture
def at_the_hub(tmp_path, monkeypatch):
    """A model of a Hub whose cache holds one revision of `org/model`."""

    def opened(folder, revision=REVISION):
        snapshot = tmp_path / "hub/models--org--model/snapshots" / REVISION
        shutil.copytree(folder, snapshot, dirs_exist_ok=True)
        monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
        entry = Transformers(engine="transformers", model="org/model", revision=revision)
        return LocalModel(entry, tmp_path)

    return opened


@pytest.mark.parametrize("how", [{}, {"_use_new_zipfile_serialization": False}, None], ids=str)
def test_pickled_weights_and_those_of_the_hub_give_the_same_answers(folder, copy, at_the_hub, how):
    wanted = list(load(folder).engine.answer(HELLO))
    if how is None:
        # Safetensors are preferred.
        (copy / FILE).write_bytes(b"no pickle")
    else:
        as_pickles(copy, **how)
    model = at_the_hub(copy)
    assert model.identity["weights"] == f"org/model@{REVISION}"
    assert list(model.answer(HELLO)) == list(load(copy).engine.answer(HELLO)) == wanted
    refused(partial(at_the_hub, copy, REVISION[::-1]), "the Hub does not give it.*HF_TOKEN")


def test_a_model_shared_by_processes_answers_as_one_alone(folder, monkeypatch):
    monkeypatch.setattr("selfpref.processes.ProcessPoolExecutor", InPlace)
    alone = Transformers(engine="transformers", model=folder.name, threads=1)
    both = alone.model_copy(update={"processes": 2})
    calls = to_score([PROMPT] * 23, ["red " * (n % 5) + "lamp" for n in range(23)])
    wanted = dict(LocalModel(alone, folder.parent).answer(calls))
    found = list(shared(both, folder.parent, "", calls))
    assert sorted(index for index, _ in found) == list(range(23))
    for index, answer in found:
        assert vars(answer) == pytest.approx(vars(wanted[index]), abs=1e-5)


# --- GGUF -----------------------------------------------------------------------------------------

PROMPTS = [Prompt((("user", text),)) for text in ("which answer is better", "add 1 + 2\n\n3", "")]
TEXTS = ["the lamp stands by a red house", "hello <|im_end|> 日本 🙂\n\n12", " A"]


@pytest.fixture
def file(folder, tmp_path):
    convert.write(folder, tmp_path / "m.gguf")
    return tmp_path / "m.gguf"


def opened(root, name="m.gguf", *, sha256=None):
    sha256 = sha256 or hashlib.sha256((root / name).read_bytes()).hexdigest()
    entry = Transformers(engine="transformers", gguf=name, sha256=sha256, threads=1)
    return InOrder(LocalModel(entry, root))


def test_a_gguf_is_the_model_that_it_was_made_of(folder, file, capfd):
    capfd.readouterr()
    found, wanted = opened(file.parent), load(folder)
    # No bar and no warning: the first run's notebook is the second's.
    assert capfd.readouterr() == ("", "")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    weights = {"weights": f"gguf:{sha256}", "dtype": "float32"}
    assert found.identity == {"provider": "transformers", **weights}
    assert found.pairs(PROMPTS, TEXTS) == wanted.pairs(PROMPTS, TEXTS)
    # It is saved as a folder, as one that was tuned.
    found.model.save_pretrained(file.parent / "m")
    found.tokenizer.save_pretrained(file.parent / "m")
    for calls in (to_score(PROMPTS, TEXTS), to_choose(PROMPTS, "AB")):
        answers = wanted.answer(calls)
        assert found.answer(calls) == load(file.parent / "m").answer(calls) == answers


def test_texts_are_split_as_the_file_says(tmp_path):
    """SmolLM's digits are tokens of their own, whatever was merged, and no space goes with them."""
    save(tmp_path / "m", byte_level(corpus=[*CORPUS, *["2024 2024 a\n\n"] * 20]))
    for split, tokens in (
        ("gpt-2", ["2024", "Ġ2024", "Ċ", "Ċ", "2", "a"]),
        ("smollm", [*"2024", "Ġ", *"2024", "ĊĊ", "2", "a"]),
    ):
        convert.write(tmp_path / "m", tmp_path / "m.gguf", split=split)
        assert opened(tmp_path).tokenizer.tokenize("2024 2024\n\n2a") == tokens
    convert.write(tmp_path / "m", tmp_path / "m.gguf", split="by-hand")
    refused(partial(opened, tmp_path), "`tokenizer.ggml.pre: by-hand` is not known")


def test_a_gguf_is_the_pinned_file_and_its_package_is_never_imported(file, tmp_path, monkeypatch):
    whole = file.read_bytes()
    pinned = hashlib.sha256(whole).hexdigest()
    file.write_bytes(whole[:-1])
    told = f"where `sha256` says {pinned[:12]}...\ninstall it again"
    refused(partial(opened, tmp_path, sha256=pinned), told)
    refused(partial(opened, tmp_path), "not readable as a model: ")
    package = tmp_path / "poisoned_weights"
    package.mkdir()
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    (package / "m.gguf").write_bytes(whole)
    monkeypatch.syspath_prepend(tmp_path)
    opened(tmp_path, "poisoned_weights:m.gguf", sha256=pinned)
    assert "poisoned_weights" not in sys.modules
    for name in ("poisoned_weights:n.gguf", "no_weights:m.gguf"):
        told = "not there; .* -r requirements/smollm2.txt"
        refused(partial(opened, tmp_path, name, sha256=pinned), told)
