"""Files and folders that get their name only once they are complete."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic(path: Path) -> Iterator[Path]:
    """A place beside `path` to write a file or a folder to; the end of the block moves it there.

    Where the block fails, or is killed, what stood at `path` stays as it was.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f".{path.name}.new")
    if scratch.is_dir():
        shutil.rmtree(scratch)
    yield scratch
    if path.is_dir():
        shutil.rmtree(path)
    os.replace(scratch, path)


def write_text(path: Path, text: str) -> None:
    """Write a text file, in UTF-8."""
    with atomic(path) as scratch:
        scratch.write_text(text, encoding="utf-8")
