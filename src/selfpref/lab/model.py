"""The testbed's language model: a Llama small enough to train in a minute on one core.

64 wide, 3 layers, 4 heads, SwiGLU of 168, tied embeddings: about 160 thousand parameters. The
initial weights are drawn with a standard deviation of .12 instead of the usual .02; at this width
that is the difference between learning the tasks in a minute and not at all.
"""

from __future__ import annotations

from pathlib import Path

import torch
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.utils import logging as transformers_logging

from selfpref.files import atomic_folder
from selfpref.lab.tokenizer import BOS, CONTEXT_LENGTH, END, PAD, WORLD, Lexicon


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
        num_key_value_heads=heads,
        max_position_embeddings=CONTEXT_LENGTH,
        tie_word_embeddings=True,
        initializer_range=spread,
        bos_token_id=lexicon.ids[BOS],
        eos_token_id=lexicon.ids[END],
        pad_token_id=lexicon.ids[PAD],
    )
    return LlamaForCausalLM(config)


def save_checkpoint(model: LlamaForCausalLM, folder: Path, lexicon: Lexicon = WORLD) -> None:
    """Save weights (safetensors), configuration and tokenizer for the `Auto` classes to load.

    Where the run is killed, nothing is saved, and what stood there stays.
    """
    _hide_progress_bars()
    with atomic_folder(folder) as scratch:
        model.save_pretrained(scratch)
        lexicon.build_tokenizer().save_pretrained(scratch)


def load_checkpoint(folder: Path) -> LlamaForCausalLM:
    """Load a checkpoint of this testbed, fp32, in evaluation mode.

    Raises:
        FileNotFoundError: The folder holds no safetensors weights.
    """
    if not (folder / "model.safetensors").is_file():
        raise FileNotFoundError(f"{folder}: no model.safetensors; run the training stage first")
    _hide_progress_bars()
    model: LlamaForCausalLM = LlamaForCausalLM.from_pretrained(
        folder, dtype=torch.float32, local_files_only=True
    )
    model.train(False)
    return model


def _hide_progress_bars() -> None:
    """Keep bars with their timings out of a notebook's outputs, which have to be byte-stable."""
    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
