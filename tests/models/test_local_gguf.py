"""A GGUF file as weights: the same model as its folder, found and verified."""

import hashlib
import sys

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")
pytest.importorskip("gguf", reason="the extra `models` is not installed")

import gguf
from asking import to_choose, to_score
from conftest import REPOSITORY
from safetensors.numpy import load_file
from small_models import CORPUS, InOrder, byte_level, load, save

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.local import LocalModel
from selfpref.params import Transformers

sys.path.insert(0, str(REPOSITORY / "tests/servers"))
import convert

PROMPTS = [Prompt((("user", text),)) for text in ("which answer is better", "add 1 + 2\n\n3", "")]
TEXTS = ["the lamp stands by a red house", "hello <|im_end|> 日本 🙂\n\n12", " A"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "m"
    return save(path, byte_level(), intermediate_size=64, num_key_value_heads=2)


@pytest.fixture
def file(folder, tmp_path):
    convert.write(folder, tmp_path / "m.gguf")
    return tmp_path / "m.gguf"


def pin(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def opened(root, name="m.gguf", *, sha256=None):
    sha256 = sha256 or pin(root / name)
    entry = Transformers(engine="transformers", gguf=name, sha256=sha256, threads=1)
    return InOrder(LocalModel(entry, root))


def test_a_gguf_is_the_model_that_it_was_made_of(folder, file, capfd):
    capfd.readouterr()
    found, wanted = opened(file.parent), load(folder)
    # No bar and no warning: the first run's notebook is the second's.
    assert capfd.readouterr() == ("", "")
    weights = {"weights": f"gguf:{pin(file)}", "dtype": "float32"}
    assert found.identity == {"provider": "transformers", **weights}
    assert found._packed
    assert found.context == wanted.context
    assert found.tokenizer.chat_template == wanted.tokenizer.chat_template
    assert found._stops == wanted._stops
    assert found.pairs(PROMPTS, TEXTS) == wanted.pairs(PROMPTS, TEXTS)
    scored, chosen = to_score(PROMPTS, TEXTS), to_choose(PROMPTS, "AB")
    for one, two in zip(found.answer(scored), wanted.answer(scored), strict=True):
        assert one.sum_nll == pytest.approx(two.sum_nll, abs=1e-5 * one.n_tokens)
    for one, two in zip(found.answer(chosen), wanted.answer(chosen), strict=True):
        assert one.probabilities == pytest.approx(two.probabilities, abs=1e-6)
    # Blocks are dequantised as they are read.
    stored = gguf.GGMLQuantizationType.Q8_0
    convert.write(folder, file.parent / "q.gguf", kind=stored)
    made = opened(file.parent, "q.gguf").model.lm_head.weight.detach()
    original = load_file(folder / "model.safetensors")["lm_head.weight"]
    blocks = gguf.quants.quantize(original, stored)
    assert made.numpy().tolist() == gguf.quants.dequantize(blocks, stored).tolist()
    # It is saved as a folder, as one that was tuned.
    found.model.save_pretrained(file.parent / "m")
    found.tokenizer.save_pretrained(file.parent / "m")
    assert load(file.parent / "m").answer(scored) == found.answer(scored)


def test_texts_are_split_as_the_file_says(tmp_path):
    """SmolLM's digits are tokens of their own, whatever was merged, and no space goes with them."""
    save(tmp_path / "m", byte_level(corpus=[*CORPUS, *["2024 2024 a\n\n"] * 20]))
    for split, tokens in (
        ("gpt-2", ["2024", "Ġ2024", "Ċ", "Ċ", "2", "a"]),
        ("smollm", [*"2024", "Ġ", *"2024", "ĊĊ", "2", "a"]),
    ):
        convert.write(tmp_path / "m", tmp_path / "m.gguf", split=split)
        assert opened(tmp_path).tokenizer.tokenize("2024 2024\n\n2a") == tokens


def refused(root, told, **options):
    with pytest.raises(SelfprefError, match=told) as failure:
        opened(root, **options)
    assert len(str(failure.value).splitlines()) <= 2


def test_a_package_is_found_and_never_imported(file, tmp_path, monkeypatch):
    package = tmp_path / "site" / "poisoned_weights"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('imported')")
    file.rename(package / "m.gguf")
    monkeypatch.syspath_prepend(tmp_path / "site")
    opened(tmp_path, "poisoned_weights:m.gguf", sha256=pin(package / "m.gguf"))
    assert "poisoned_weights" not in sys.modules
    told = r"poisoned_weights/n\.gguf: no such file"
    refused(tmp_path, told, name="poisoned_weights:n.gguf", sha256="0" * 64)
    told = "is not installed; .* --no-deps --require-hashes -r requirements/smollm2.txt"
    refused(tmp_path, told, name="no_weights:m.gguf", sha256="0" * 64)


def test_another_file_is_refused_and_one_of_that_name_elsewhere_not_taken(file, monkeypatch):
    whole, pinned, root = file.read_bytes(), pin(file), file.parent
    told = f"where `sha256` says {pinned[:12]}...\nanother file, or one that was cut short"
    for other in (whole[:-1], whole[:-1] + bytes([whole[-1] ^ 1])):
        file.write_bytes(other)
        refused(root, told, sha256=pinned)
    for share in (0, 0.001, 0.5, 0.999):
        file.write_bytes(whole[: int(len(whole) * share)])
        refused(root, r"m\.gguf: not readable as GGUF, or cut short: ")
    (root / "data").mkdir()
    (root / "data/m.gguf").write_bytes(whole)
    monkeypatch.chdir(root)
    opened(root, "data/m.gguf")


def test_what_is_not_known_is_refused(folder, tmp_path):
    convert.write(folder, tmp_path / "m.gguf", architecture="abacus")
    refused(tmp_path, "architecture abacus is not supported")
    convert.write(folder, tmp_path / "m.gguf", split="by-hand")
    refused(tmp_path, "how `tokenizer.ggml.pre: by-hand` splits a text is not known")
