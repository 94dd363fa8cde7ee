"""Where a model's weights lie, and how many tokens fit beside them.

A token takes, in bytes of the model's own type unless said otherwise,

    8 h + 3 i           states of width h and inner width i while a layer is computed
    2 L k d H           keys and values of L layers, k heads of width d; a batch that writes holds
                        H = `HELD` times the tokens of a pass
    32 v H / `LINE`     next-token distributions of a line, four copies over v words in fp64

Half of what is free is given to a batch. That is an estimate, not a promise: `batch_tokens` sets
the number by hand.
"""

import torch
from transformers import PreTrainedModel

from selfpref.errors import SelfprefError
from selfpref.models.local.generation import HELD

# Tokens of a pass without a GPU, and most of them on one.
USUAL, MOST = 2048, 2**16
# Tokens of the shortest line that is to be expected, and the share of the memory that is free.
LINE, SHARE = 64, 0.5


def devices(model: PreTrainedModel) -> set[torch.device]:
    """Where a model's weights lie.

    Raises:
        SelfprefError: Some lie on no GPU any longer but are moved there layer by layer.
    """
    found = {weights.device for weights in model.parameters()}
    if torch.device("meta") in found:
        raise SelfprefError(
            f"{model.name_or_path}: does not fit into the memory of the GPUs; take more of them, "
            "or a `dtype` of 16 bits"
        )
    return found


def batch_tokens(model: PreTrainedModel) -> int:
    """Tokens that one forward pass may hold: as many as the fullest of its GPUs has room for."""
    gpus = [device for device in devices(model) if device.type == "cuda"]
    if not gpus:
        return USUAL
    free = min(torch.cuda.mem_get_info(device)[0] for device in gpus)
    return max(1, min(MOST, int(SHARE * free / _bytes(model))))


def _bytes(model: PreTrainedModel) -> float:
    """Memory of one token."""
    config = model.config.get_text_config()
    width, heads = config.hidden_size, config.num_attention_heads
    inner = getattr(config, "intermediate_size", None) or 4 * width
    kept = getattr(config, "num_key_value_heads", None) or heads
    each = getattr(config, "head_dim", None) or width // heads
    numbers: int = 8 * width + 3 * inner + HELD * 2 * config.num_hidden_layers * kept * each
    words: int = config.vocab_size
    return numbers * model.dtype.itemsize + HELD * 32 * words / LINE
