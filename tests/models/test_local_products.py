"""Products with weights are those of torch, whoever computes them."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from torch.nn.functional import linear as plain  # noqa: E402

from selfpref.models.local.fast import products  # noqa: E402
from selfpref.models.local.fast.products import linear, take_over  # noqa: E402


@pytest.mark.parametrize("capability", ["AVX512", "AVX2", "DEFAULT"])
def test_the_processors_features_alone_decide(monkeypatch, capability):
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    fast = capability == "AVX512" and torch.backends.mkldnn.is_available()
    assert products.product(torch.ones(2, 2)) == ("onednn" if fast else "torch")
    assert products.product(torch.ones(2, 2).bfloat16()) == "torch"


@pytest.fixture(params=[True, False], ids=["oneDNN", "torch"])
def fast(request, monkeypatch):
    """Both products, on any processor."""
    monkeypatch.setattr(products, "_fast_onednn", lambda: request.param)
    return request.param


@pytest.mark.parametrize("shape", [(1, 5), (3, 5), (1, 32, 5), (2, 32, 5), (0, 5)])
def test_products_are_those_of_torch(fast, shape):
    torch.manual_seed(0)
    states, weight, bias = torch.randn(shape), torch.randn(9, 5), torch.randn(9)
    # A block of rows, and states that lie apart, as heads and packed lines have them.
    apart = torch.cat([states, states], -1)[..., :5]
    for one, other, added in ((states, weight[2:7], None), (apart, weight, bias)):
        torch.testing.assert_close(linear(one, other, added), plain(one, other, added))


def test_a_product_is_compiled_for_whole_steps_and_long_products_alone(fast, monkeypatch):
    compiled, ones = [], torch.ones(96, 8)
    long = products.LONG // ones.numel()

    def counting(states, weight, *options):
        compiled.append(len(states))
        return plain(states, weight)

    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", counting)
    for count in (1, 31, 32, 33, 64, 95, 96, long - 1, long + 1):
        assert linear(torch.ones(count, 8), ones).shape == (count, 96)
    assert compiled == ([32, 64, 96, long + 1] if fast else [])


def test_a_model_keeps_its_weights_and_its_answers(fast):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(5, 7), torch.nn.ReLU(), torch.nn.Linear(7, 3))
    states, weights = torch.randn(2, 16, 5), model.state_dict()
    with torch.no_grad():
        before = model(states)
        take_over(model)
        torch.testing.assert_close(model(states), before)
    assert isinstance(model[0], products.Linear) == fast
    # With a gradient the product is torch's.
    model(states).sum().backward()
    assert model[0].weight.grad is not None
    assert model.state_dict().keys() == weights.keys()
    assert model[0].weight.data_ptr() == weights["0.weight"].data_ptr()
