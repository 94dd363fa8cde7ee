"""How a model runs packed lines: the fastest way that gives rows the states they have alone."""

from collections.abc import Callable

import numpy as np
import torch
from transformers import PreTrainedModel

from selfpref.models.local import attention, llama
from selfpref.models.local.attention import padded_states
from selfpref.models.local.packing import Batch, packed, padded

# From a batch to the final hidden states that are read, `[read, width]`.
Pass = Callable[[PreTrainedModel, Batch], torch.Tensor]


def packed_pass(model: PreTrainedModel) -> Pass | None:
    """A model's pass over packed lines; None where its rows have to be padded."""
    ways = (
        (llama.supports, llama.packed_states),
        (attention.supports, attention.packed_states),
    )
    agreeing = (run for supports, run in ways if supports(model) and _agrees(model, run))
    return next(agreeing, None)


def _agrees(model: PreTrainedModel, run: Pass) -> bool:
    """Whether packed rows have the states of rows alone, tried on three short ones."""
    size = model.config.get_text_config().vocab_size
    tokens = np.arange(18) * 7 % size
    rows = [tokens[:9], np.concatenate([tokens[:5], tokens[9:14]]), tokens[14:]]
    sizes = [len(row) for row in rows]
    (line,) = packed(rows, sizes, len(tokens))
    found = torch.split(run(model, line).float(), [sizes[index] for index in line.rows])
    for together, index in zip(found, line.rows, strict=True):
        (row,) = padded([rows[index]], [sizes[index]], 1)
        alone = padded_states(model, row).float()
        gap = (together.to(alone.device) - alone).norm() / alone.norm()
        if gap > (1e-4 if model.dtype == torch.float32 else 0.02):
            return False
    return True
