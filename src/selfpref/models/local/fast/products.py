"""Products of states and fp32 weights on a CPU: torch's own or oneDNN's, by the processor.

torch leaves them to MKL, which uses no AVX-512 on a processor that is not Intel's: there oneDNN,
which multiplies the weights as they lie, reaches twice its rate. On a processor without AVX-512
there is no such gap, and the product is torch's.

oneDNN compiles a product for each number of states, in about a millisecond, and keeps it with its
memory. So packed lines are filled up to whole multiples of a step, a longer one where products are
short; how many products are kept, the environment says (`selfpref.processes`). Where texts are
written, fewer lines are left at almost every token: other numbers of states are torch's unless the
product is long beside its compilation.
"""

from typing import Literal

import torch
from torch.nn import functional
from transformers import PreTrainedModel

Product = Literal["torch", "onednn"]
# States are filled up to whole multiples of at least so many.
LEAST = 32
# Multiplications that take about as long as the compilation of a product.
LONG = 2**25


def product(weight: torch.Tensor) -> Product:
    """Which product is taken with a weight: a matter of its type and of the processor."""
    fit = weight.dtype == torch.float32 and weight.device.type == "cpu"
    return "onednn" if fit and _fast_onednn() else "torch"


def _fast_onednn() -> bool:
    available: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return available and torch.backends.cpu.get_cpu_capability() == "AVX512"


def step(model: PreTrainedModel) -> int:
    """To whole multiples of how many states products are filled up."""
    layer = getattr(model.base_model, "layers", [model])[0]
    if product(next(layer.parameters())) == "torch":
        return 1
    work = sum(int(weights.numel()) for weights in layer.parameters())
    return min(max(2**24 // work // LEAST, 1), 4) * LEAST


def linear(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """`states @ weight.T + bias`, without a gradient."""
    count = states.numel() // weight.shape[1]
    compiled = count % LEAST == 0 or count * weight.numel() >= LONG
    if product(weight) == "torch" or not compiled:
        return functional.linear(states, weight, bias)
    found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return found


class Linear(torch.nn.Linear):
    """A linear layer whose product is `linear` where no gradient is wanted."""

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """The layer's product."""
        # oneDNN's product has no gradient; a model that is tuned needs one.
        if torch.is_grad_enabled():
            return super().forward(input)
        return linear(input, self.weight, self.bias)


def take_over(model: torch.nn.Module) -> None:
    """Let every linear layer of a model compute by `linear`, where that is not torch's."""
    for layer in model.modules():
        if type(layer) is torch.nn.Linear and product(layer.weight) == "onednn":
            layer.__class__ = Linear
