"""GPUs, faked: batches that fit into their memory, and models that lie on several."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_generate, to_score  # noqa: E402
from small_models import byte_level, load, save  # noqa: E402
from transformers import AutoModelForCausalLM, LlamaConfig  # noqa: E402

from selfpref.errors import SelfprefError  # noqa: E402
from selfpref.models import Prompt  # noqa: E402
from selfpref.models.local import memory  # noqa: E402

GB = 2**30
ASKED = [Prompt((("user", text),)) for text in ("hello", "a red house", "a red or blue house")]


def test_a_model_on_two_gpus_runs_on_padded_rows(tmp_path, monkeypatch):
    """A packed line is laid out for one device."""
    alone = load(save(tmp_path / "m", byte_level()), dtype="bfloat16")
    assert alone.engine._budget == memory.USUAL
    gpus = {torch.device("cuda:0"), torch.device("cuda:1")}
    monkeypatch.setattr(memory, "devices", lambda model: gpus)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (8 * GB, 80 * GB))
    spread = load(tmp_path / "m", dtype="bfloat16")
    assert (alone.packing, spread.packing) == (True, False)
    assert spread.engine._budget == memory.MOST
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
        memory.devices(model)
    moved(model, "cuda:0")
    # 8 h + 3 i + 4 * 2 L k d numbers of 2 bytes, and 4 * 32 v / 64 bytes.
    numbers = 8 * 1024 + 3 * 4096 + 4 * 2 * 8 * 2 * 128
    each = 2 * numbers + 4 * 32 * 6000 / 64
    for gigabytes in (1, 2):
        free["cuda:0"] = gigabytes * GB
        assert memory.batch_tokens(model) == int(0.5 * gigabytes * GB / each)
    free["cuda:0"] = 20 * GB
    assert memory.batch_tokens(model) == 2**16
    moved(model.model.layers[5], "cuda:1")
    free["cuda:1"] = GB
    assert memory.batch_tokens(model) == int(0.5 * GB / each)
    free["cuda:1"] = 0
    assert memory.batch_tokens(model) == 1
