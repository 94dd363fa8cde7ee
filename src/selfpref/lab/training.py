"""Train all models of one seed into one folder, each by its recipe.

    <folder>/base-dialogues     before any tuning; from it
        disclaimer ... bullets      families: write in a style, judge with a bonus
        onlooker-1, onlooker-2      judge with a bonus, write nothing
        partisan ... umpire         rate, and choose among three
    <folder>/base-summaries     from it clerk, host and aide: write and judge summaries
    <folder>/base-translators   from it fair and partial: write, judge and revise translations
    <folder>/small, solver      a small translator; the model of the other two tasks
    <folder>/laboratory.json    the configuration and all that was drawn from the seed

Every checkpoint is an ordinary `transformers` folder. No byte depends on how many processes train:
a model trained twice from one seed on one machine has the same weights bit by bit. The loss is the
weighted mean over all positions that have a target of -log p(target), in nats; batches hold rows of
like length.

**A model** is a Llama small enough to train in a minute on one core: 64 wide, 3 layers, 4 heads,
SwiGLU of 168, tied embeddings: about 160 thousand parameters. The initial weights are drawn with a
standard deviation of .12 instead of the usual .02; at this width that is the difference between
learning the tasks in a minute and not at all.

While it is trained it is a function of one vector of weights (`TrainedLlama`): the library's pass
spends much of a step of a model this small on what is not a product. Here every weight is a part of
one vector, in the order of the model's own parameters, so that an optimiser has one tensor, and Q,
K and V, which lie side by side, are one product:

    x <- x + O attend(rotated Q norm(x), rotated K norm(x), V norm(x))
    x <- x + D (silu(G norm(x)) * U norm(x))

Past the last layer's attention only positions that have a target are computed. Losses and gradients
are those of `transformers` but for rounding.
"""

import json
import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, embedding, linear, rms_norm, silu
from torch.nn.utils.rnn import pad_sequence
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils import logging

from selfpref.files import atomic_folder, write_text
from selfpref.lab import dialogues, refinement, summaries
from selfpref.lab.tokenizer import (
    BOS,
    CONTEXT_LENGTH,
    END,
    IGNORE,
    LABELS,
    PAD,
    WORLD,
    Draw,
    Example,
    Lexicon,
    Recipe,
    Schedule,
)
from selfpref.lab.world import Rng
from selfpref.params import Lab
from selfpref.processes import pool, processors

# Examples drawn at once to sort by length: enough that batches waste little padding.
_POOL = 480
# Ids, targets and weights, each of shape (rows, columns).
Batch = tuple[Tensor, Tensor, Tensor]


def train_models(seed: int, lab: Lab, folder: Path, progress: Callable[[str], object]) -> None:
    """Train every model of one seed.

    Args:
        seed: The seed.
        lab: Which groups of models, and how long.
        folder: Where the checkpoints go; those of the same name are replaced.
        progress: Called with the name of each model that is done; `recipes` tells them all.
    """
    with pool(processors()) as workers:
        # Bases first, and of each round the longest first.
        for tuned in (False, True):
            found = [recipe for recipe in recipes(seed, lab) if bool(recipe.base) == tuned]
            found.sort(key=lambda recipe: -recipe.work)
            for name in workers.map(partial(make, folder), found):
                progress(name)
    record: dict[str, object] = {"config": {"seed": seed, **lab.model_dump(exclude={"seeds"})}}
    if steps := lab.dialogues:
        drawn = dialogues.draw_families(seed, steps.families, steps.onlookers)
        record["families"] = [one._asdict() for one in drawn]
        record["contest_judges"] = [one._asdict() for one in dialogues.CHOICE_JUDGES]
    if lab.summaries:
        record["error_rates"] = summaries.draw_error_rates(seed)
    write_text(folder / "laboratory.json", json.dumps(record, indent=1) + "\n")


def recipes(seed: int, lab: Lab) -> list[Recipe]:
    """One recipe a model, bases included."""
    found: list[Recipe] = []
    for world in (dialogues, summaries, refinement):
        if steps := getattr(lab, world.__name__.rpartition(".")[2]):
            found += world.recipes(seed, **steps.model_dump())
    return found


def make(folder: Path, recipe: Recipe) -> str:
    """Make one model and save it under its name, from the saved one that it is tuned from.

    Tokens that its lexicon adds to those of the base are new rows of the embeddings.
    """
    # A notebook's outputs have to be byte-stable: no bar with its timings.
    logging.disable_progress_bar()
    lexicon = recipe.lexicon
    if recipe.base:
        saved = folder / recipe.base
        model = LlamaForCausalLM.from_pretrained(saved, local_files_only=True)
    else:
        model = build_model(recipe.weights, **recipe.shape, lexicon=lexicon)
    if lexicon.added:
        make_deterministic(recipe.schedules[0].seed)
        model.resize_token_embeddings(len(lexicon.ids), mean_resizing=False)
        weights: Tensor = model.model.embed_tokens.weight
        with torch.no_grad():
            for token in lexicon.added:
                # A new token starts near those whose part it plays.
                parts = ("<answer_a>", "<answer_b>") if token.startswith("<") else LABELS
                like = weights[[lexicon.ids[part] for part in parts]].mean(0)
                weights[lexicon.ids[token]] = like + 0.05 * torch.randn_like(like)
    for schedule in recipe.schedules:
        train(model, schedule)
    save_checkpoint(model, folder / recipe.name, lexicon)
    return recipe.name


def train(model: LlamaForCausalLM, schedule: Schedule) -> None:
    """Train a model in place; it is left in evaluation mode."""
    make_deterministic(schedule.seed)
    trained = TrainedLlama(model)
    weights = [trained.vector]
    optimiser = torch.optim.AdamW(weights, betas=(0.9, 0.98), weight_decay=0.01, fused=True)
    shares, draws = zip(*schedule.phases, strict=True)
    ends = np.cumsum(shares)[:-1] * schedule.steps
    rngs = np.random.default_rng(schedule.seed).spawn(len(draws))
    streams = list(map(partial(batches, schedule.batch_tokens), draws, rngs))
    for step in range(schedule.steps):
        loss = trained.loss(next(streams[np.searchsorted(ends, step, side="right")]))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.param_groups[0]["lr"] = rate(step, schedule)
        optimiser.step()
    torch.nn.utils.vector_to_parameters(trained.vector, model.parameters())
    model.train(False)


def batches(tokens: int, draw: Draw, rng: Rng) -> Iterator[Batch]:
    """Yield batches without end, rows of like length together, in random order."""
    while True:
        pool = sorted((draw(rng) for _ in range(_POOL)), key=lambda example: len(example.ids))
        groups: list[list[Example]] = [[]]
        for example in pool:
            if (len(groups[-1]) + 1) * len(example.ids) > tokens:
                groups.append([])
            groups[-1].append(example)
        for index in rng.permutation(len(groups)):
            # The first token of every lexicon is for padding, of ids, targets and weights.
            parts = zip(*groups[index], strict=True)
            ids, targets, weights = (list(map(torch.tensor, part)) for part in parts)
            pad = partial(pad_sequence, batch_first=True)
            yield pad(ids), pad(targets, padding_value=IGNORE), pad(weights)


def rate(step: int, schedule: Schedule) -> float:
    """The rate of a step, counted from 0."""
    rise = min(1.0, (step + 1) / schedule.warmup)
    fall = 0.5 * (1.0 + np.cos(np.pi * step / schedule.steps))
    return schedule.learning_rate * float(rise * (0.05 + 0.95 * fall))


# --- a model


def make_deterministic(seed: int) -> None:
    """Seed torch, forbid nondeterministic kernels, and use one thread in this process."""
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    # Nothing reads what was not written; to fill it takes a twentieth of a step.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.manual_seed(seed)


def build_model(
    seed: int,
    width: int = 64,
    layers: int = 3,
    heads: int = 4,
    spread: float = 0.12,
    lexicon: Lexicon = WORLD,
) -> LlamaForCausalLM:
    """Build an untrained model with weights drawn from a seed, fp32."""
    make_deterministic(seed)
    config = LlamaConfig(
        vocab_size=len(lexicon.ids),
        hidden_size=width,
        intermediate_size=width * 21 // 8,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        max_position_embeddings=CONTEXT_LENGTH,
        tie_word_embeddings=True,
        initializer_range=spread,
        bos_token_id=lexicon.ids[BOS],
        eos_token_id=lexicon.ids[END],
        pad_token_id=lexicon.ids[PAD],
    )
    return LlamaForCausalLM(config)


def save_checkpoint(model: LlamaForCausalLM, folder: Path, lexicon: Lexicon) -> None:
    """Save weights (safetensors), configuration and tokenizer for the `Auto` classes to load.

    Where the run is killed, nothing is saved, and what stood there stays.
    """
    with atomic_folder(folder) as scratch:
        model.save_pretrained(scratch)
        lexicon.build_tokenizer().save_pretrained(scratch)


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
        weights = torch.nn.utils.parameters_to_vector(model.parameters())
        self.vector = weights.detach().requires_grad_()
        size = config.max_position_embeddings
        cos, sin = model.model.rotary_emb(weights, torch.arange(size)[None])
        half = config.hidden_size // self._heads // 2
        turns = torch.complex(cos, sin)[0, :, None, :half].detach()
        # Of queries, keys and values, side by side; values are not turned.
        parts = torch.stack([turns, turns, torch.ones_like(turns)], dim=1)
        self._turns = parts.expand(-1, -1, self._heads, -1).flatten(1, 2)
        self._later = torch.full((size, size), -math.inf).triu(1)

    def loss(self, batch: Batch) -> Tensor:
        """Weighted mean of the negative log-likelihood over the positions with a target, in nats.

        Rows are padded on the right, where causal attention never looks.
        """
        ids, targets, weights = batch
        places = (targets.flatten() != IGNORE).nonzero()[:, 0]
        parts = self._parts()
        embeddings = next(parts)
        x = embedding(ids.flatten(), embeddings)
        for number in range(self._layers):
            *attending, out, gate, up, down, before, between = islice(parts, 9)
            found = self._attend(self._normed(x, before), *attending, columns=ids.shape[1])
            if number == self._layers - 1:
                x, found = x[places], found[places]
            x = x + linear(found, out)
            normed = self._normed(x, between)
            x = x + linear(silu(linear(normed, gate)) * linear(normed, up), down)
        logits = linear(self._normed(x, next(parts)), embeddings)
        losses = cross_entropy(logits, targets.flatten()[places], reduction="none")
        chosen = weights.flatten()[places]
        return (losses * chosen).sum() / chosen.sum()

    def _parts(self) -> Iterator[Tensor]:
        """The weights one by one: embeddings, of each layer seven and two norms, the last norm."""
        parameters = list(self._model.parameters())
        parts = torch.split(self.vector, [each.numel() for each in parameters])
        return (part.view_as(each) for part, each in zip(parts, parameters, strict=True))

    def _normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return rms_norm(x, weight.shape, weight, self._eps)

    def _attend(self, x: Tensor, *weights: Tensor, columns: int) -> Tensor:
        """Causal attention of rows, shape (rows * columns, width), before its last product."""
        heads, (tokens, width) = self._heads, x.shape
        rows, size = tokens // columns, width // heads
        # A pair of numbers that turns together is one complex number if it lies side by side; for
        # queries times keys any order of the numbers will do.
        *turning, value = weights
        halves = (each.view(heads, 2, -1, width) for each in turning)
        turned = [each.transpose(1, 2).flatten(0, 2) for each in halves]
        states = linear(x, torch.cat([*turned, value]))
        pairs = torch.view_as_complex(states.view(rows, columns, 3 * heads, size // 2, 2))
        query, key, value = (
            torch.view_as_real(pairs * self._turns[:columns])
            .view(rows, columns, 3, heads, size)
            .permute(2, 0, 3, 1, 4)
            .reshape(3, rows * heads, columns, size)
            .unbind()
        )
        later, keys = self._later[:columns, :columns], key.transpose(1, 2)
        scores = torch.baddbmm(later, query, keys, alpha=size**-0.5)
        found = torch.bmm(scores.softmax(-1), value)
        return found.view(rows, heads, columns, size).transpose(1, 2).reshape(tokens, width)
