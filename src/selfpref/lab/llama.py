"""A model of the testbed as a function of one vector of weights: the pass that trains it.

The library's pass spends much of a step of a model this small on what is not a product. Here every
weight is a part of one vector, in the order of the model's own parameters, so that an optimiser has
one tensor, and Q, K and V, which lie side by side, are one product:

    x <- x + O attend(rotated Q norm(x), rotated K norm(x), V norm(x))
    x <- x + D (silu(G norm(x)) * U norm(x))

Past the last layer's attention only positions that have a target are computed. Losses and gradients
are those of `transformers` but for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch.nn import functional
from transformers import LlamaForCausalLM

from selfpref.lab.examples import IGNORE

Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Ids, targets and weights, each of shape (rows, columns)."""


class TrainedLlama:
    """A model's weights while it is trained.

    Args:
        model: Of the testbed: embeddings tied, as many heads for keys as for queries, no biases.

    Attributes:
        vector: All weights, the one leaf of the gradient.
    """

    def __init__(self, model: LlamaForCausalLM) -> None:
        config = model.config
        self._model, self._eps = model, config.rms_norm_eps
        self._heads, self._layers = config.num_attention_heads, config.num_hidden_layers
        width, inner = config.hidden_size, config.intermediate_size
        attention, wide = [(3 * width, width), (width, width)], [(inner, width), (inner, width)]
        layer = [*attention, *wide, (width, inner), (width,), (width,)]
        self._shapes: list[tuple[int, ...]] = [
            (config.vocab_size, width), *layer * self._layers, (width,)
        ]  # fmt: skip
        weights = torch.nn.utils.parameters_to_vector(model.parameters())
        self.vector = weights.detach().requires_grad_()
        size = config.max_position_embeddings
        cos, sin = model.model.rotary_emb(weights, torch.arange(size)[None])
        half = width // self._heads // 2
        turns = torch.complex(cos, sin)[0, :, None, :half].detach()
        # Of queries, keys and values, side by side; values are not turned.
        parts = [turns, turns, torch.ones_like(turns)]
        self._turns = torch.cat([part.repeat(1, self._heads, 1) for part in parts], dim=1)
        self._later = torch.full((size, size), -math.inf).triu(1)

    def store(self) -> None:
        """Give the model the weights as they are now."""
        parameters = list(self._model.parameters())
        parts = torch.split(self.vector.detach(), [each.numel() for each in parameters])
        with torch.no_grad():
            for each, part in zip(parameters, parts, strict=True):
                each.copy_(part.view_as(each))

    def loss(self, batch: Batch) -> torch.Tensor:
        """Weighted mean of the negative log-likelihood over the positions with a target, in nats.

        Rows are padded on the right, where causal attention never looks.
        """
        ids, targets, weights = batch
        places = (targets.flatten() != IGNORE).nonzero()[:, 0]
        parts = self._parts()
        embeddings = next(parts)
        x = functional.embedding(ids.flatten(), embeddings)
        for number in range(self._layers):
            attending, out, gate, up, down, before, between = (next(parts) for _ in range(7))
            found = self._attend(self._normed(x, before), attending, ids.shape[1])
            if number == self._layers - 1:
                x, found = x[places], found[places]
            x = x + functional.linear(found, out)
            normed = self._normed(x, between)
            opened = functional.silu(functional.linear(normed, gate))
            x = x + functional.linear(opened * functional.linear(normed, up), down)
        logits = functional.linear(self._normed(x, next(parts)), embeddings)
        losses = functional.cross_entropy(logits, targets.flatten()[places], reduction="none")
        chosen = weights.flatten()[places]
        return (losses * chosen).sum() / chosen.sum()

    def _parts(self) -> Iterator[torch.Tensor]:
        """The weights one by one: embeddings; of each layer five and two norms; the last norm."""
        sizes = [math.prod(shape) for shape in self._shapes]
        parts = zip(torch.split(self.vector, sizes), self._shapes, strict=True)
        return (part.view(shape) for part, shape in parts)

    def _normed(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return functional.rms_norm(x, weight.shape, weight, self._eps)

    def _attend(self, x: torch.Tensor, weight: torch.Tensor, columns: int) -> torch.Tensor:
        """Causal attention of rows, shape (rows * columns, width), before its last product."""
        heads, (tokens, width) = self._heads, x.shape
        rows, size = tokens // columns, width // heads
        # A pair of numbers that turns together is one complex number if it lies side by side; for
        # queries times keys any order of the numbers will do.
        turning, value = torch.split(weight, [2 * width, width])
        turning = turning.view(2 * heads, 2, size // 2, width).transpose(1, 2).flatten(0, 2)
        states = functional.linear(x, torch.cat([turning, value]))
        pairs = torch.view_as_complex(states.view(rows, columns, 3 * heads, size // 2, 2))
        turned = torch.view_as_real(pairs * self._turns[:columns])
        query, key, value = (
            turned.view(rows, columns, 3, heads, size)
            .permute(2, 0, 3, 1, 4)
            .reshape(3, rows * heads, columns, size)
            .unbind()
        )
        scores = torch.baddbmm(
            self._later[:columns, :columns], query, key.transpose(1, 2), alpha=size**-0.5
        )
        found = torch.bmm(scores.softmax(-1), value)
        return found.view(rows, heads, columns, size).transpose(1, 2).reshape(tokens, width)
