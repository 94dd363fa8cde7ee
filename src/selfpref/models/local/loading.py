"""A model's folder as tokenizer and weights, by `transformers`: of a pickle nothing but tensors."""

import pickle
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from selfpref.errors import SelfprefError
from selfpref.models.local.weights import PICKLED
from selfpref.params import Transformers

# No code of the model's own is run, and nothing is fetched.
OPTIONS: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


def tokenizer(folder: Path) -> Any:
    """A model's tokenizer.

    Raises:
        SelfprefError: It cannot be read.
    """
    try:
        return AutoTokenizer.from_pretrained(folder, **OPTIONS)
    except (ImportError, OSError, ValueError) as error:
        needs = "tokenizer.model needs `pip install sentencepiece protobuf`"
        reason = _first_line(error) if (folder / "tokenizer.json").is_file() else needs
        raise SelfprefError(f"{folder}: {reason}") from error


def model(entry: Transformers, folder: Path) -> Any:
    """A model with its weights.

    Raises:
        SelfprefError: The files cannot be read, hold more than weights, or not all of them; or it
            does not fit the entry.
    """
    auto: Any = AutoModelForCausalLM
    try:
        made, found = auto.from_pretrained(
            folder,
            weights_only=True,
            output_loading_info=True,
            dtype=getattr(torch, entry.dtype),
            attn_implementation=entry.attention,
            device_map=None if entry.device_map == "cpu" else entry.device_map,
            **OPTIONS,
        )
    except pickle.UnpicklingError as error:
        names = ", ".join(path.name for path in sorted(folder.glob(PICKLED)))
        raise SelfprefError(
            f"{folder}: {names}: more than weights, or broken; refused, and nothing of it was run\n"
            "take a commit that has safetensors"
        ) from error
    # Where a file is broken, whatever its reader stumbles over is raised.
    except Exception as error:
        raise SelfprefError(f"{folder}: {_first_line(error)}") from error
    if lacking := sorted(found["missing_keys"]):
        raise SelfprefError(f"{folder}: the files hold no weights {lacking[0]}")
    return made


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
