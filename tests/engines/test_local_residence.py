"""Pages of weights are handed back where a file holds them, and nothing else ever is."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from safetensors.torch import load_file, save_file  # noqa: E402

from selfpref.engines.local.residence import READABLE, hand_back, handing_back  # noqa: E402

pytestmark = pytest.mark.skipif(not READABLE, reason="no /proc/self/pagemap")
SIDE = 2048


def resident():
    """Bytes of files that this process has in memory."""
    with open("/proc/self/status", encoding="ascii") as lines:
        (found,) = (line.split()[1] for line in lines if line.startswith("RssFile"))
    return int(found) * 1024


@pytest.fixture
def layer(tmp_path):
    """A layer of 16 MB on its file."""
    torch.manual_seed(0)
    save_file({"weight": torch.randn(SIDE, SIDE)}, tmp_path / "m.safetensors")
    layer = torch.nn.Linear(SIDE, SIDE, bias=False, device="meta")
    layer.load_state_dict(load_file(tmp_path / "m.safetensors"), assign=True)
    return layer.requires_grad_(False)


def test_pages_of_a_file_go_and_come_again(layer):
    wanted = layer.weight.clone()
    before = resident()
    hand_back(layer)
    assert before - resident() > 12e6
    assert torch.equal(layer.weight, wanted)


def test_weights_that_were_changed_stay_changed(layer):
    layer.weight[SIDE // 2] = 7
    hand_back(layer)
    assert (layer.weight[SIDE // 2] == 7).all()


def test_weights_that_are_no_files_stay():
    layer = torch.nn.Linear(SIDE, SIDE, bias=False)
    wanted = layer.weight.clone()
    hand_back(layer)
    assert torch.equal(layer.weight, wanted)


def test_a_models_own_pass_hands_every_layer_back(layer):
    model = torch.nn.Module()
    model.base_model = torch.nn.Module()
    model.base_model.layers = torch.nn.ModuleList([layer])
    states = torch.ones(1, SIDE)
    wanted, before = layer(states), resident()
    with handing_back(model):
        assert torch.equal(layer(states), wanted)
    assert before - resident() > 12e6
    assert torch.equal(layer(states), wanted)
    assert before - resident() < 4e6
