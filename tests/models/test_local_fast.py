"""What makes a pass fast and small gives the same numbers: packed lines, blocks, memory."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_generate, to_score  # noqa: E402
from small_models import byte_level, load, save  # noqa: E402
from torch.nn.functional import linear as plain  # noqa: E402
from transformers import (  # noqa: E402
    AutoConfig,
    AutoModelForCausalLM,
    LlamaConfig,
)

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import loading  # noqa: E402
from selfpref.models.local.fast import products  # noqa: E402
from selfpref.models.local.fast.packing import packed  # noqa: E402
from selfpref.models.local.fast.products import linear, take_over  # noqa: E402
from selfpref.models.local.states import Head  # noqa: E402


def rows(*texts):
    return [np.array([ord(letter) for letter in text]) for text in texts]


def letters(ids):
    return "".join(map(chr, ids.flatten().tolist()))


def lay(texts, budget, read=None, step=1):
    """Lines whose rows are read whole, unless told."""
    return list(packed(rows(*texts), read or list(map(len, texts)), budget, step))


def sized(line):
    return line.inputs["input_ids"].numel()


def paths(line, sizes):
    """Of each row of a line where its last tokens lie."""
    places = torch.split(line.read, [sizes[index] for index in line.rows])
    return dict(zip(line.rows, (place.tolist() for place in places), strict=True))


def allowed(attention, count):
    """Of each of so many tokens that attend, the tokens of the line that it attends to."""
    seen = {}
    for tile in attention.tiles:
        for queries, keys, masks in zip(tile.queries, tile.keys, tile.mask[:, 0], strict=True):
            for query, mask in zip(queries.tolist(), masks, strict=True):
                sees = keys[mask == 0].tolist()
                # A token that fills a tile up is the same one again.
                assert seen.setdefault(int(attention.tokens[query]), sees) == sees
    assert sorted(seen) == attention.tokens[:count].tolist()
    return seen


def test_a_shared_prefix_is_laid_down_once():
    (line,) = lay(["qr", "abcde", "abcxy", "abc", "qr"], 100)
    assert letters(line.inputs["input_ids"]) == "abcdexyqr"
    assert line.inputs["position_ids"].tolist() == [[0, 1, 2, 3, 4, 3, 4, 0, 1]]
    assert line.rows == [3, 1, 2, 0, 4]
    assert paths(line, [2, 5, 5, 3, 2]) == {
        **{3: [0, 1, 2], 1: [0, 1, 2, 3, 4], 2: [0, 1, 2, 5, 6], 0: [7, 8], 4: [7, 8]}
    }
    seen = allowed(line.attention, 9)
    assert [seen[token] for token in (4, 6, 8)] == [[0, 1, 2, 3, 4], [0, 1, 2, 5, 6], [7, 8]]


def test_in_the_last_layer_only_those_attend_whose_states_are_read():
    """Both responses read the prompt's last token, as the one that predicts their first."""
    (line,) = lay(["abcde", "abcxy"], 100, read=[3, 3])
    assert line.read.tolist() == [2, 3, 4, 2, 5, 6]
    assert line.last.tokens.tolist() == [2, 3, 4, 5, 6]
    assert line.within.tolist() == [0, 1, 2, 0, 3, 4]
    assert allowed(line.last, 5)[5] == [0, 1, 2, 5]


def test_lines_are_filled_up_to_whole_steps_that_nobody_sees():
    (line,) = lay(["abcde", "abcxy"], 100, read=[1, 1], step=4)
    assert line.inputs["input_ids"].shape == line.inputs["position_ids"].shape == (1, 8)
    assert (len(line.attention.tokens), len(line.last.tokens)) == (8, 4)
    assert max(map(max, allowed(line.attention, 7).values())) == 6
    assert line.read.tolist() == line.last.tokens[line.within].tolist() == [4, 6]


def test_a_full_line_ends_between_prompts_not_between_their_responses():
    texts = [f"{prompt * 6}{answer}" for prompt in "abcd" for answer in ("xx", "yy", "zz")]
    lines = sorted(letters(line.inputs["input_ids"]) for line in lay(texts, 34))
    assert lines == ["aaaaaaxxyyzzbbbbbbxxyyzz", "ccccccxxyyzzddddddxxyyzz"]
    # The longest row comes first, and next to no prefix ends no line.
    assert [sized(line) for line in lay(["a" * 5, "b" * 40, "c" * 20], 20)] == [40, 20, 5]
    texts = [letter * 10 for letter in "abcd"] + [f"x{letter * 9}" for letter in "abcd"]
    assert [sized(line) for line in lay(texts, 60)] == [59, 19]


# --- products -------------------------------------------------------------------------------------


@pytest.mark.parametrize("capability", ["AVX512", "AVX2", "DEFAULT"])
def test_the_processors_features_alone_decide(monkeypatch, capability):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    fast = capability == "AVX512" and torch.backends.mkldnn.is_available()
    assert products.product(torch.ones(2, 2)) == ("onednn" if fast else "torch")
    assert products.product(torch.ones(2, 2).bfloat16()) == "torch"


@pytest.mark.parametrize("fast", [True, False])
def test_a_product_is_compiled_for_whole_steps_and_long_products_alone(fast, monkeypatch):
    monkeypatch.setattr(products, "_fast_onednn", lambda: fast)
    compiled, ones = [], torch.ones(96, 8)
    long = products.LONG // ones.numel()

    def counting(states, weight, *options):
        compiled.append(len(states))
        return plain(states, weight)

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", counting)
    for count in (1, 31, 32, 33, 64, 95, 96, long - 1, long + 1):
        assert linear(torch.ones(count, 8), ones).shape == (count, 96)
    assert compiled == ([32, 64, 96, long + 1] if fast else [])
    # With a gradient the product is torch's.
    layer = torch.nn.Linear(8, 96)
    take_over(layer)
    assert isinstance(layer, products.Linear) == fast
    layer(torch.ones(32, 8)).sum().backward()
    assert layer.weight.grad is not None
    assert compiled == ([32, 64, 96, long + 1] if fast else [])


# --- the output layer, in blocks ------------------------------------------------------------------


SIZES = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}


@pytest.mark.parametrize(
    ("kind", "vocabulary", "settings", "linear"),
    [
        ("llama", 3000, {}, True),
        ("llama", 7, {}, True),
        ("phi", 3000, {}, True),  # with a bias
        ("cohere", 3000, {"logit_scale": 0.25}, False),
        ("gemma2", 3000, {"head_dim": 8, "num_key_value_heads": 2,
                          "final_logit_softcapping": 2.0}, False),
    ],
)  # fmt: skip
def test_blocks_give_the_models_own_log_softmax(kind, vocabulary, settings, linear):
    torch.manual_seed(1)
    given = {"num_attention_heads": 2, "pad_token_id": None, **SIZES, **settings}
    config = AutoConfig.for_model(kind, vocab_size=vocabulary, **given)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        if model.get_output_embeddings().bias is not None:
            model.get_output_embeddings().bias.normal_()
        ids = torch.arange(70)[None] % vocabulary
        wanted = model(ids).logits[0].double().log_softmax(-1)
        states = model.base_model(ids).last_hidden_state[0]
        head = Head(model)
        assert head.linear == linear
        targets = torch.arange(70) * 1000 % vocabulary
        chosen = wanted.gather(1, targets[:, None])[:, 0]
        assert torch.allclose(head.log_likelihoods(states, targets).double(), chosen, atol=1e-5)
        assert torch.allclose(head.log_softmax(states).double(), wanted, atol=1e-5)


# --- GPUs, faked ----------------------------------------------------------------------------------


GB = 2**30
ASKED = [Prompt((("user", text),)) for text in ("hello", "a red house", "a red or blue house")]


def test_a_model_on_two_gpus_runs_on_padded_rows(tmp_path, monkeypatch):
    """A packed line is laid out for one device."""
    alone = load(save(tmp_path / "m", byte_level()), dtype="bfloat16")
    assert alone.engine._budget == loading.USUAL
    gpus = {torch.device("cuda:0"), torch.device("cuda:1")}
    monkeypatch.setattr(loading, "devices", lambda model: gpus)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (8 * GB, 80 * GB))
    spread = load(tmp_path / "m", dtype="bfloat16")
    assert alone._packed
    assert not spread._packed
    assert spread.engine._budget == loading.MOST
    assert load(tmp_path / "m", batch_tokens=7).engine._budget == 7
    scored = to_score(ASKED, ["hello"] * 3)
    for one, two in zip(spread.answer(scored), alone.answer(scored), strict=True):
        assert one.sum_nll == pytest.approx(two.sum_nll, rel=0.05)
    made = spread.answer(to_generate(ASKED, max_tokens=4, temperature=0.0, seeds=[0] * 3))
    assert len(made) == 3


def moved(module, device):
    """Let a module's weights say that they lie elsewhere."""

    class Elsewhere(torch.nn.Parameter):
        device = property(lambda _: torch.device(device))

    for part in module.modules():
        for name, weights in list(part.named_parameters(recurse=False)):
            setattr(part, name, Elsewhere(weights.data, requires_grad=False))


def test_a_batch_has_as_many_tokens_as_the_fullest_gpu_has_room_for(monkeypatch):
    free = {"cuda:0": 20 * GB, "cuda:1": 5 * GB}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[str(device)], 80 * GB))
    sizes = {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 8}
    config = LlamaConfig(**sizes, num_attention_heads=8, num_key_value_heads=2, vocab_size=6000)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    with pytest.raises(SelfprefError, match="does not fit into the memory of the GPUs"):
        loading.devices(model)
    moved(model, "cuda:0")
    # 8 h + 3 i + 4 * 2 L k d numbers of 2 bytes, and 4 * 32 v / 64 bytes.
    numbers = 8 * 1024 + 3 * 4096 + 4 * 2 * 8 * 2 * 128
    each = 2 * numbers + 4 * 32 * 6000 / 64
    for gigabytes in (1, 2):
        free["cuda:0"] = gigabytes * GB
        assert loading.batch_tokens(model) == int(0.5 * gigabytes * GB / each)
    free["cuda:0"] = 20 * GB
    assert loading.batch_tokens(model) == 2**16
    moved(model.model.layers[5], "cuda:1")
    free["cuda:1"] = GB
    assert loading.batch_tokens(model) == int(0.5 * GB / each)
    free["cuda:1"] = 0
    assert loading.batch_tokens(model) == 1
