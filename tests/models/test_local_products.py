"""Products with weights are those of torch, whoever computes them."""

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from torch.nn.functional import linear as plain  # noqa: E402

from selfpref.models.local.fast import products  # noqa: E402
from selfpref.models.local.fast.products import linear  # noqa: E402


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
