"""Write and read the frames that metrics hand to figures, one parquet file each, and headlines.

A headline is the few numbers of a study that a change of the parameters moves first, as nested
JSON, which DVC compares from one run to another.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.files import atomic, write_text


def nested(frame: pd.DataFrame, keys: Sequence[str], values: Sequence[str]) -> dict[str, Any]:
    """Rows as mappings in mappings: by the first key, the second, ..., a number a column.

    What is missing is null, and numbers have six decimals.

    >>> nested(pd.DataFrame({"judge": ["a", "b"], "eo": [2 / 3, None]}), ["judge"], ["eo"])
    {'a': {'eo': 0.666667}, 'b': {'eo': None}}
    """
    found: dict[str, Any] = {}
    for row in frame.sort_values(list(keys)).to_dict("records"):
        place = found
        for key in keys:
            place = place.setdefault(str(row[key]), {})
        place |= {name: None if pd.isna(row[name]) else round(row[name], 6) for name in values}
    return found


def write_headline(headline: Mapping[str, Any], folder: Path) -> None:
    """Write the headline of the study whose frames lie in a folder: `headlines/<study>.json`."""
    path = folder.parents[1] / "headlines" / f"{folder.name}.json"
    write_text(path, json.dumps(headline, indent=1) + "\n")


def write_frames(frames: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write every frame under its name, once it is complete, and remove frames of other names."""
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
    found = {path.stem: pd.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
    if not found:
        shown = folder.relative_to(paths.root())
        raise SelfprefError(f"{shown}: no metrics here; run `dvc repro` first")
    return found
