"""Weights that were published as pickles, as an ordinary model folder of safetensors.

    selfpref convert lmsys/vicuna-13b-v1.1@1acf26f93742fafe91562253ec0e5d94e40a8bea

A pickle can run code when it is read. `torch.load(weights_only=True)` takes tensors and plain
containers and refuses everything else; and it reads in a process of its own, which is told neither
the secrets of the environment nor where the Hub is. The folder is named by model and commit, is
there only once it is complete, and holds `conversion.json`: size and SHA-256 of every pickle that
was read and of every file that was made of them.
"""

import hashlib
import json
import os
import pickle
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from huggingface_hub import save_torch_state_dict

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic_folder, write_text
from selfpref.models.local.weights import SETTINGS, check_folder, download

PICKLES = "pytorch_model*.bin"
RECORD = "conversion.json"
SHARD = "4GB"
NAMED = re.compile(r"(?P<model>\w[\w.-]*/\w[\w.-]*)@(?P<revision>[0-9a-f]{40})")
# What a process needs to run at all; everything else stays here.
TOLD = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "LANG", "SYSTEMROOT")


def convert(named: str) -> Path:
    """Download pickled weights and make a model folder of them; what is there is not made again.

    Args:
        named: `<organisation>/<name>@<commit>` of a model of the Hub.

    Returns:
        The folder, within the repository.

    Raises:
        SelfprefError: No such model or commit, no pickled weights, pickles that hold more than
            weights, or a model that wants its own code run.
    """
    found = NAMED.fullmatch(named)
    if found is None:
        raise SelfprefError(f"{named}: give <organisation>/<name>@<commit>, 40 hex digits")
    model, revision = found["model"], found["revision"]
    made = paths.converted_dir(model, revision)
    made.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{made}.lock"):
        if not made.is_dir():
            source = download(model, revision, (PICKLES, *SETTINGS))
            pickles = sorted(source.glob(PICKLES))
            if not pickles:
                raise SelfprefError(
                    f"{model}@{revision[:8]}: no {PICKLES} at this commit; if it has safetensors, "
                    "name it by `model` and `revision`"
                )
            with atomic_folder(made) as scratch:
                scratch.mkdir()
                _copy_settings(source, scratch)
                _run(pickles, scratch, model)
                check_folder(scratch)
                record = {
                    "model": model,
                    "revision": revision,
                    "read": _hashes(pickles),
                    "made": _hashes(sorted(scratch.glob("*.safetensors"))),
                }
                write_text(scratch / RECORD, json.dumps(record, indent=1) + "\n")
    return made


def _copy_settings(source: Path, scratch: Path) -> None:
    for path in sorted({path for kind in SETTINGS for path in source.glob(kind)}):
        if not path.name.endswith(".index.json"):
            shutil.copyfile(path, scratch / path.name)


def _run(pickles: Iterable[Path], scratch: Path, model: str) -> None:
    """Convert in a process of its own."""
    told = {name: os.environ[name] for name in TOLD if name in os.environ}
    done = subprocess.run(
        [sys.executable, "-m", __name__, str(scratch), *map(str, pickles)],
        env=told | {"HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
        raise SelfprefError(f"{model}: not converted: {lines[-1].removeprefix('error: ')}")


def _hashes(files: Iterable[Path]) -> dict[str, dict[str, Any]]:
    found = {}
    for path in files:
        with open(path, "rb") as handle:
            digest = hashlib.file_digest(handle, "sha256").hexdigest()
        found[path.name] = {"bytes": path.stat().st_size, "sha256": digest}
    return found


def _weights(pickles: Iterable[Path]) -> dict[str, torch.Tensor]:
    """Every tensor by name, none sharing memory with another: safetensors hold no aliases."""
    found: dict[str, torch.Tensor] = {}
    seen: set[int] = set()
    for path in pickles:
        try:
            held = torch.load(
                path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path)
            )
        # What a reader of broken archives raises is any of these.
        except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, LookupError) as error:
            reason = " ".join(str(error).split())[:200]
            raise SelfprefError(f"{path.name}: no plain weights, refused ({reason})") from error
        if not isinstance(held, dict):
            raise SelfprefError(f"{path.name}: no mapping of names to weights; refused")
        for name, value in held.items():
            if not (isinstance(name, str) and isinstance(value, torch.Tensor)):
                raise SelfprefError(f"{path.name}: {name!r} is no tensor; refused")
            place = value.untyped_storage().data_ptr()
            found[name] = value.clone() if place in seen else value
            seen.add(place)
    return found


def _main(folder: str, *pickles: str) -> int:
    try:
        weights = _weights(map(Path, pickles))
        save_torch_state_dict(weights, folder, max_shard_size=SHARD, metadata={"format": "pt"})
    except SelfprefError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
