"""GPUs, faked: batches that fit into their memory, and models that lie on several."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose, to_generate, to_score  # noqa: E402
from small_models import byte_level, load, save  # noqa: E402
from transformers import AutoModelForCausalLM, LlamaConfig  # noqa: E402

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import memory  # noqa: E402
from selfpref.models.local.fast import passes  # noqa: E402

GB = 2**30
ASKED = [Prompt((("user", text),)) for text in ("hello", "a red house", "a red or blue house")]


def elsewhere(device):
    """Weights that say that they lie on another device."""

    class Elsewhere(torch.nn.Parameter):
        device = property(lambda _: torch.device(device))

    return Elsewhere


def moved(module, device):
    """Let a module's weights say that they lie elsewhere, and refuse a packed line of the first."""
    for part in module.modules():
        for name, weights in list(part.named_parameters(recurse=False)):
            setattr(part, name, elsewhere(device)(weights.data, requires_grad=False))


@pytest.fixture
def spread(monkeypatch):
    """Loads models whose second layer lies on a second GPU."""
    usual = AutoModelForCausalLM.from_pretrained

    def load_spread(*arguments, **options):
        model, found = usual(*arguments, **options | {"device_map": None})
        layer = model.model.layers[1]
        moved(layer, "cuda:1")

        def mixed(attention, *_):
            # As torch does where a line's tiles lie on the first device.
            if model.config._attn_implementation == passes.NAME:
                raise RuntimeError("Expected all tensors to be on the same device")

        layer.self_attn.register_forward_pre_hook(mixed)
        return model, found

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", load_spread)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (8 * GB, 80 * GB))


def test_a_model_on_two_gpus_runs_on_padded_rows(tmp_path, spread, monkeypatch):
    save(tmp_path / "m", byte_level())
    model = load(tmp_path / "m", device_map="auto", dtype="bfloat16")
    assert not model.packing
    found = [
        model.answer(to_score(ASKED, ["hello"] * 3)),
        model.answer(to_choose(ASKED, ("A", "B"))),
        model.answer(to_generate(ASKED, max_tokens=4, temperature=0.0, seeds=[0] * 3)),
    ]
    monkeypatch.undo()
    alone = load(tmp_path / "m", dtype="bfloat16")
    assert alone.packing
    wanted = alone.answer(to_score(ASKED, ["hello"] * 3))
    for one, two in zip(found[0], wanted, strict=True):
        assert one.sum_nll == pytest.approx(two.sum_nll, rel=0.05)
    assert [choice.status for choice in found[1]] == ["ok"] * 3
    assert len(found[2]) == 3


def llama(layers, width, device, **settings):
    """A Llama without weights, on a GPU as far as it says."""
    config = LlamaConfig(
        hidden_size=width, num_hidden_layers=layers, num_attention_heads=width // 128, **settings
    )
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    moved(model, device)
    return model


def test_a_batch_has_as_many_tokens_as_the_fullest_gpu_has_room_for(monkeypatch):
    free = {"cuda:0": 20 * GB, "cuda:1": 5 * GB}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (free[str(device)], 80 * GB))
    small, large = (llama(32, 4096, "cuda:0", num_key_value_heads=n) for n in (8, 32))
    tokens = memory.batch_tokens(small)
    # The keys and values of a batch that writes take no more than half of what is free.
    assert 2048 < tokens < 20 * GB / 2 / (4 * 2 * 32 * 8 * 128 * 2)
    assert memory.batch_tokens(large) < tokens
    moved(small.model.layers[5], "cuda:1")
    assert memory.batch_tokens(small) == pytest.approx(tokens / 4, rel=0.01)
    free["cuda:1"] = 0
    assert memory.batch_tokens(small) == 1


def test_without_a_gpu_and_by_hand_a_batch_is_as_ever(tmp_path):
    save(tmp_path / "m", byte_level())
    assert load(tmp_path / "m").engine._budget == memory.USUAL
    assert load(tmp_path / "m", batch_tokens=7).engine._budget == 7


def test_weights_that_no_gpu_has_room_for_are_told():
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(LlamaConfig(num_hidden_layers=1))
    with pytest.raises(SelfprefError, match="does not fit into the memory of the GPUs"):
        memory.devices(model)


def test_a_gpu_that_is_full_is_told_in_one_line(tmp_path, monkeypatch):
    save(tmp_path / "m", byte_level())
    model = load(tmp_path / "m")

    def full(*_, **__):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate ...")

    monkeypatch.setattr(model.engine, "_states", full)
    with pytest.raises(SelfprefError, match=r"batches of 2048 tokens; set a lower `batch_tokens`"):
        model.answer(to_choose(ASKED, ("A", "B")))
