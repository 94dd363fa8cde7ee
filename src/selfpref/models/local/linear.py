"""Products of states and fp32 weights on a CPU: by oneDNN, on the weights as they lie.

torch leaves them to MKL, which uses no AVX-512 on a processor that is not Intel's: 104 GFLOP/s on
one core of an AMD EPYC (Zen 5), where oneDNN reaches 225. Everything else torch does as ever.

oneDNN compiles a product for each number of states, in about a millisecond, and keeps a thousand
of them with their memory, hundreds of megabytes. So packed lines are filled up to whole multiples
of a step, a longer one where products are short, and few products are kept, unless the environment
says otherwise.
"""

import ctypes
import os

import torch
from torch.nn import functional
from transformers import PreTrainedModel

ONEDNN: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
# Read at the first product, by oneDNN and by torch's layer over it.
for _cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):
    os.environ.setdefault(_cache, "16")


# Without this glibc hands the memory of every state back, and the next is cleared anew: a fifth of
# a small model's time. It hands back what exceeds 256 MB (-1) and maps blocks from 32 MB on (-3).
_mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
if _mallopt:
    _mallopt(-1, 2**28)
    _mallopt(-3, 2**25)


def step(model: PreTrainedModel) -> int:
    """To whole multiples of how many states products are filled up."""
    layer = getattr(model.base_model, "layers", [model])[0]
    work = sum(int(weights.numel()) for weights in layer.parameters())
    return min(max(2**24 // work // 32, 1), 4) * 32


def linear(
    states: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None
) -> torch.Tensor:
    """`states @ weight.T + bias`, without a gradient."""
    if weight.dtype == torch.float32 and weight.device.type == "cpu" and ONEDNN:
        found: torch.Tensor = torch.ops.mkldnn._linear_pointwise(
            states, weight, bias, "none", [], ""
        )
        return found
    return functional.linear(states, weight, bias)


class _Linear(torch.nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        # oneDNN's product has no gradient; a model that is tuned needs one.
        if torch.is_grad_enabled():
            return super().forward(input)
        return linear(input, self.weight, self.bias)


def take_over(model: torch.nn.Module) -> None:
    """Let every linear layer of a model compute by `linear`."""
    for module in model.modules():
        if type(module) is torch.nn.Linear:
            module.__class__ = _Linear
