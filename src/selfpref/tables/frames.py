"""Write and read the frames that metrics hand to figures: one parquet file each."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic


def write_frames(frames: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write every frame under its name, once it is complete, and remove frames of other names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, frame in frames.items():
        with atomic(folder / f"{name}.parquet") as scratch:
            frame.to_parquet(scratch, index=False)
    for path in folder.iterdir():
        if path.stem not in frames:
            path.unlink()


def read_frames(folder: Path) -> dict[str, pd.DataFrame]:
    """Every frame of a folder by name.

    Raises:
        SelfprefError: The folder is empty.
    """
    files = sorted(folder.glob("*.parquet"))
    if not files:
        shown = folder.relative_to(paths.root())
        raise SelfprefError(f"{shown}: no metrics here; run `dvc repro` first")
    return {path.stem: pd.read_parquet(path) for path in files}
