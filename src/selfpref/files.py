"""Files and folders that get their name only once they are complete."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selfpref.errors import SelfprefError


def check_place(path: Path) -> None:
    """Refuse a place that a file must not or cannot take.

    Raises:
        SelfprefError: A folder (or a link to one), a device or a pipe stands there; part of the
            path is a file; or nothing may be written there.
    """
    parent = next(filter(Path.exists, path.parents), path)
    taken = path.exists() and not path.is_file()
    if taken or not parent.is_dir() or not os.access(parent, os.W_OK):
        told = "a folder or device, left as it is" if taken else f"no file can stand in {parent}"
        raise SelfprefError(f"{path}: {told}; give another name")


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A place beside `path` to write a file to; the end of the block moves it there.

    Where the block fails, or is killed, what stood at `path` stays as it was.

    Raises:
        SelfprefError: No file can be written there; see `check_place`.
    """
    check_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.new")
    check_place(scratch)
    yield scratch
    os.replace(scratch, path)


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """As `atomic`, for a folder of the pipeline's own: an earlier one is replaced as a whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.new")
    shutil.rmtree(scratch, ignore_errors=True)
    yield scratch
    shutil.rmtree(path, ignore_errors=True)
    os.replace(scratch, path)


def write_text(path: Path, text: str) -> None:
    """Write a text file, in UTF-8; see `atomic`."""
    with atomic(path) as scratch:
        scratch.write_text(text, encoding="utf-8")
