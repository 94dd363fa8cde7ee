"""Tune local weights on labelled prompts: in full, or by LoRA (Hu et al. 2021, through peft).

    loss = mean over examples of -log p(label | prompt)        (nats)

The label alone is learned, after exactly the prompt that the judge will read. LoRA's matrices
are merged into the weights at the end, so that either way the result is a folder like any other.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from selfpref.errors import SelfprefError
from selfpref.models import Engine
from selfpref.models.local import LocalModel
from selfpref.params.studies import Training
from selfpref.studies.panickssery.finetune import Labelled

# Token ids of prompt and label, and how many of them are the label's.
Row = tuple[list[int], int]


def tune(
    engine: Engine, examples: Sequence[Labelled], settings: Training, seed: int, folder: Path
) -> list[float]:
    """Tune a model and save it.

    Args:
        engine: The base, of local weights, which are changed.
        examples: What to learn, shuffled anew in each epoch.
        settings: How.
        seed: Seed of the order and of LoRA's initial matrices.
        folder: Where weights (safetensors) and tokenizer go.

    Returns:
        The loss of each step, in nats.

    Raises:
        SelfprefError: No example fits the context.
    """
    assert isinstance(engine, LocalModel)
    torch.manual_seed(seed)
    pairs = engine.pairs([e.prompt for e in examples], [e.label for e in examples])
    rows = [
        (prompt + label, len(label))
        for prompt, label in pairs
        if len(prompt + label) <= engine.context
    ]
    if not rows:
        raise SelfprefError(f"{folder.name}: no example to tune on fits the model's context")
    model: Any = engine.model
    if settings.method == "lora":
        from peft import LoraConfig, get_peft_model  # noqa: PLC0415

        adapters = LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        model = get_peft_model(model, adapters)
    losses = _train(model, rows, settings, np.random.default_rng(seed))
    if settings.method == "lora":
        model = model.merge_and_unload()
    model.save_pretrained(folder)
    engine.tokenizer.save_pretrained(folder)
    return losses


def _train(
    model: Any, rows: Sequence[Row], settings: Training, rng: np.random.Generator
) -> list[float]:
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=settings.rate, weight_decay=0.0, fused=True)
    batches = [
        order[start : start + settings.batch]
        for order in (rng.permutation(len(rows)) for _ in range(settings.epochs))
        for start in range(0, len(order), settings.batch)
    ]
    # AdamW's rate rises over a tenth of the steps.
    warmup = max(1, round(0.1 * len(batches)))
    model.train()
    losses = []
    for step, batch in enumerate(batches):
        # Rows of one pass in the order of their length: sums depend on it.
        part = sorted((rows[int(place)] for place in batch), key=lambda row: -len(row[0]))
        optimiser.zero_grad(set_to_none=True)
        loss = _loss(model, part) / len(batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.param_groups[0]["lr"] = settings.rate * min(1.0, (step + 1) / warmup)
        optimiser.step()
        losses.append(float(loss.detach()))
    model.train(False)
    return losses


def _loss(model: Any, rows: Sequence[Row]) -> torch.Tensor:
    """Sum over rows of the labels' negative log-likelihood."""
    device = model.device
    longest = max(len(ids) for ids, _ in rows)
    # Padding stands on the right, where causal attention never looks: no mask is needed.
    ids = torch.tensor([[*ids, *[0] * (longest - len(ids))] for ids, _ in rows], device=device)
    asked = [
        (row, place - 1)
        for row, (known, size) in enumerate(rows)
        for place in range(len(known) - size, len(known))
    ]
    # Logits of the whole vocabulary are made only where some row's label is predicted.
    kept = sorted({place for _, place in asked})
    made = model(
        input_ids=ids, logits_to_keep=torch.tensor(kept, device=device), use_cache=False
    ).logits
    lines, places = zip(*asked, strict=True)
    logits = made[list(lines), [kept.index(place) for place in places]].float()
    targets = ids[list(lines), [place + 1 for place in places]]
    return torch.nn.functional.cross_entropy(logits, targets, reduction="sum")
