"""Final hidden states of rows of tokens, and the log-likelihoods that follow from them.

Rows are padded on the right, where causal attention never looks; `selfpref.models.local.fast` packs
them into lines instead where a model can be told how. Either way a row's numbers do not depend on
its batch, up to rounding. Of the output layer no table [tokens x vocabulary] is made:

    ln p(y | h) = h w_y - ln sum over v of exp(h w_v)

The sum runs over blocks of the vocabulary, whose partial log-sum-exps are joined at the end; a
block of logits is small enough to stay in the cache. Logits are rounded to the model's own dtype,
as its own forward pass would; everything after that is fp32. A model whose logits are more than one
linear layer (soft-capped, scaled) computes them itself, a few tokens at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import pad
from torch.nn.utils.rnn import pad_sequence
from transformers import PreTrainedModel

from selfpref.errors import SelfprefError
from selfpref.models.local.fast.products import linear, step

Ids = npt.NDArray[np.int64]
# Logits of so many tokens by so many words at a time: 4 MB in fp32.
TOKENS = WORDS = 1024
# Tokens at a time where the model computes its own logits.
OWN = 64


@dataclass(frozen=True)
class Batch:
    """One forward pass.

    Attributes:
        rows: Which rows it holds.
        read: Where in `input_ids.flatten()` the states stand that are read, row by row.
        inputs: Of the model: `input_ids` `[lines, tokens]` and, of the same shape, for padded rows
            the `attention_mask`, for a packed line the `position_ids` of each token in its own row.
    """

    rows: list[int]
    read: torch.Tensor
    inputs: dict[str, torch.Tensor]


def padded(rows: Sequence[Ids], read: Sequence[int], budget: int) -> Iterator[Batch]:
    """Rows as lines padded on the right, longest first, at most `budget` tokens with padding.

    A row longer than the budget is a batch of its own.

    Args:
        rows: Token ids.
        read: Of how many tokens at the end of each row the states are read.
        budget: Of tokens.
    """
    order = sorted(range(len(rows)), key=lambda index: -len(rows[index]))
    start = 0
    while start < len(order):
        width = len(rows[order[start]])
        chosen = order[start : start + max(1, budget // max(width, 1))]
        start += len(chosen)
        sizes = np.array([len(rows[index]) for index in chosen])
        ids = pad_sequence([torch.from_numpy(rows[index]) for index in chosen], batch_first=True)
        places = [
            line * width + np.arange(size - read[index], size)
            for line, (index, size) in enumerate(zip(chosen, sizes, strict=True))
        ]
        mask = torch.from_numpy((np.arange(width) < sizes[:, None]).astype(np.int64))
        inputs = {"input_ids": ids, "attention_mask": mask}
        yield Batch(chosen, torch.from_numpy(np.concatenate(places)), inputs)


def padded_states(model: PreTrainedModel, batch: Batch) -> torch.Tensor:
    """Final hidden states that are read from padded rows."""
    inputs = {name: values.to(model.device) for name, values in batch.inputs.items()}
    body: Any = model.base_model
    found: torch.Tensor = body(**inputs, use_cache=False).last_hidden_state.flatten(0, 1)
    return found[batch.read.to(found.device)]


class Head:
    """A model's output layer.

    Attributes:
        linear: Whether its logits are this one linear layer, neither capped nor scaled.

    Args:
        model: A causal language model.

    Raises:
        SelfprefError: Its logits do not follow from its final hidden states by its output layer.
    """

    def __init__(self, model: PreTrainedModel) -> None:
        self._model = model
        self._step = step(model)
        self._layer: Any = model.get_output_embeddings()  # type: ignore[no-untyped-call]
        ids = torch.arange(4, device=model.device)[None]
        states = model.base_model(input_ids=ids, use_cache=False).last_hidden_state[0]
        direct = model(input_ids=ids, use_cache=False).logits[0].float()
        if not _close(self._own(states).float(), direct):
            raise SelfprefError(
                f"{type(model).__name__}: its logits are not its output layer on its last hidden "
                "states; this architecture is not supported"
            )
        # Far from zero, where a soft cap shows.
        self.linear = _close(self._own(states * 100).float(), self._plain(states * 100).float())

    def _plain(self, states: torch.Tensor, words: slice = slice(None)) -> torch.Tensor:
        """The layer's logits `[n, words]`."""
        weight, bias = self._layer.weight[words], self._layer.bias
        return linear(states.to(weight.device), weight, None if bias is None else bias[words])

    def _own(self, states: torch.Tensor) -> torch.Tensor:
        """The model's logits of given states, `[n, vocabulary]`: its forward pass with them."""
        given = states.to(self._layer.weight.device)[None]
        handle = self._layer.register_forward_pre_hook(lambda *_: (given,))
        try:
            ids = torch.zeros(1, 1, dtype=torch.long, device=self._model.device)
            logits: torch.Tensor = self._model(input_ids=ids, use_cache=False).logits[0]
        finally:
            handle.remove()
        return logits

    def log_softmax(self, states: torch.Tensor) -> torch.Tensor:
        """Log-probabilities of every token after each of a few states, fp32 `[n, vocabulary]`."""
        more = -len(states) % self._step
        given = pad(states, (0, 0, 0, more))
        logits = self._plain(given) if self.linear else self._own(given)
        return logits[: len(states)].float().log_softmax(-1)

    def log_likelihoods(self, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Log-likelihood of one token after each state, in nats.

        Args:
            states: Final hidden states `[n, width]`.
            targets: Ids of the tokens `[n]`.

        Returns:
            fp32 `[n]`.
        """
        count, size = len(targets), TOKENS if self.linear else OWN
        part = self._blockwise if self.linear else self._whole
        more = -count % self._step
        states, targets = pad(states, (0, 0, 0, more)), pad(targets, (0, more))
        starts = range(0, len(states), size)
        found = [part(states[i : i + size], targets[i : i + size]) for i in starts]
        return torch.cat(found)[:count]

    def _whole(self, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        p = self.log_softmax(states)
        return p.gather(1, targets.to(p.device)[:, None])[:, 0]

    def _blockwise(self, states: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        device = self._layer.weight.device
        targets = targets.to(device)
        sums, chosen = [], torch.empty(len(states), device=device)
        for start in range(0, len(self._layer.weight), WORDS):
            logits = self._plain(states, slice(start, start + WORDS)).float()
            here = ((targets >= start) & (targets < start + WORDS)).nonzero()[:, 0]
            chosen[here] = logits[here, targets[here] - start]
            largest = logits.amax(-1, keepdim=True)
            sums.append(logits.sub_(largest).exp_().sum(-1).log_().add_(largest[:, 0]))
        return chosen - torch.stack(sums).logsumexp(0)


def _close(found: torch.Tensor, wanted: torch.Tensor) -> bool:
    """Equal up to rounding in the coarsest dtype."""
    return found.shape == wanted.shape and bool(
        (found - wanted).norm() <= 0.02 * wanted.norm().clamp(min=1e-6)
    )
