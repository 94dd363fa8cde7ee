"""A model's files as tokenizer and weights, by `transformers`.

Nothing but tensors is read of a pickle. A GGUF file is dequantised as it is read; what is left to a
default there is corrected (how a text is split before its bytes are merged: `tokenizer.ggml.pre`)
or refused.
"""

import pickle
from pathlib import Path
from typing import Any

import torch
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GgufConfig,
    PreTrainedTokenizerFast,
    modeling_gguf_pytorch_utils,
)
from transformers.integrations.gguf.reader import read_gguf_metadata
from transformers.utils import logging

from selfpref.errors import SelfprefError
from selfpref.models.local.weights import PICKLED
from selfpref.params import Transformers

# No code of the model's own is run, and nothing is fetched.
OPTIONS: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


def load(entry: Transformers, path: Path) -> tuple[Any, Any]:
    """A model's tokenizer and the model with its weights.

    Args:
        entry: How it is loaded.
        path: Its folder, or its GGUF file.

    Raises:
        SelfprefError: The files cannot be read, hold more than weights, or not all of them; or the
            model does not fit the entry.
    """
    # Bars carry timings, which must not reach an executed notebook; GGUF's knows no switch.
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    gguf: Any = modeling_gguf_pytorch_utils
    gguf.tqdm = lambda tensors, **_: tensors
    return _of_gguf(entry, path) if entry.gguf else _of_folder(entry, path)


def _of_folder(entry: Transformers, folder: Path) -> tuple[Any, Any]:
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, **OPTIONS)
    except (ImportError, OSError, ValueError) as error:
        needs = "tokenizer.model needs `pip install sentencepiece protobuf`"
        reason = _first_line(error) if (folder / "tokenizer.json").is_file() else needs
        raise SelfprefError(f"{folder}: {reason}") from error
    try:
        return tokenizer, _model(entry, folder)
    except pickle.UnpicklingError as error:
        names = ", ".join(path.name for path in sorted(folder.glob(PICKLED)))
        raise SelfprefError(
            f"{folder}: {names}: more than weights, or broken; refused, and nothing of it was run\n"
            "take a commit that has safetensors"
        ) from error
    # Where a file is broken, whatever its reader stumbles over is raised.
    except Exception as error:
        raise SelfprefError(f"{folder}: {_first_line(error)}") from error


def _of_gguf(entry: Transformers, file: Path) -> tuple[Any, Any]:
    # A bare name would be looked for in the working directory first.
    given: dict[str, Any] = {"gguf_file": str(file.resolve())}
    try:
        # As `AutoTokenizer`, which would read the whole file for the model's name first.
        tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(file.parent, **given, **OPTIONS)
        stated, _ = read_gguf_metadata(str(file))
        model = _model(entry, file.parent, **given, quantization_config=GgufConfig(dequantize=True))
    except Exception as error:
        reason = _first_line(error)
        raise SelfprefError(f"{file}: not readable as GGUF, or cut short: {reason}") from error
    backend, split = tokenizer.backend_tokenizer, stated.get("tokenizer.ggml.pre")
    # A split that `transformers` does not know is GPT-2's.
    if isinstance(backend.pre_tokenizer, ByteLevel) and split == "smollm":
        backend.pre_tokenizer = Sequence([Digits(individual_digits=True), backend.pre_tokenizer])
    elif isinstance(backend.pre_tokenizer, ByteLevel) and split != "gpt-2":
        raise SelfprefError(
            f"{file}: how `tokenizer.ggml.pre: {split}` splits a text is not known here; "
            "take the model's own safetensors"
        )
    return tokenizer, model


def _model(entry: Transformers, folder: Path, **given: Any) -> Any:
    auto: Any = AutoModelForCausalLM
    model, found = auto.from_pretrained(
        folder,
        weights_only=True,
        output_loading_info=True,
        dtype=getattr(torch, entry.dtype),
        attn_implementation=entry.attention,
        device_map=None if entry.device_map == "cpu" else entry.device_map,
        **OPTIONS,
        **given,
    )
    if lacking := sorted(found["missing_keys"]):
        raise ValueError(f"the files hold no weights {lacking[0]}")
    return model


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
