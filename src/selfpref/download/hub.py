"""Data sets of the Hugging Face Hub at a pinned revision.

A *source* is a CSV file of one row with the columns `repository, revision, split` and, where a set
has several, `configuration`: the commit fixes every byte. The repository may also be a folder that
holds the same parquet files.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from selfpref.download.fetch import cache_dir, rows
from selfpref.errors import SelfprefError

PINNED = ["repository", "revision", "split"]


def load(source: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of a pinned data set, downloaded once; see `open_set`."""
    return [dict(row) for row in open_set(source, columns)]


def open_set(source: Path, columns: Sequence[str], configuration: str | None = None) -> Any:
    """A pinned data set, downloaded once and read from the disk as it is needed.

    Args:
        source: The file that pins it.
        columns: What each row must hold.
        configuration: Which part of the set, such as a language, where the source names none.

    Returns:
        A `datasets.Dataset`.

    Raises:
        SelfprefError: It is not reachable, its terms were not accepted, or a column is missing.
    """
    # Seconds that a profile without such a data set need not pay.
    import datasets  # noqa: PLC0415
    from huggingface_hub.utils import logging  # noqa: PLC0415

    # What they print and draw would differ from run to run.
    datasets.disable_progress_bars()
    datasets.logging.set_verbosity_error()
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]

    listed = rows(source)
    if len(listed) != 1 or not {*PINNED} <= {*listed[0]}:
        raise SelfprefError(f"{source}: wants one row of {', '.join(PINNED)}")
    pinned = listed[0]
    name = pinned["repository"]
    try:
        found = datasets.load_dataset(
            name,
            pinned.get("configuration", configuration),
            revision=pinned["revision"],
            split=pinned["split"],
            cache_dir=str(cache_dir() / "datasets"),
        )
    except (OSError, ValueError, datasets.exceptions.DatasetsError) as error:
        raise SelfprefError(
            f"{name}: {str(error).strip().splitlines()[0]}\nif it is gated: accept the terms "
            f"on https://huggingface.co/datasets/{name} and export HF_TOKEN"
        ) from error
    if missing := [column for column in columns if column not in found.column_names]:
        raise SelfprefError(f"{name}: no column {missing[0]!r}; is this the pinned revision?")
    return found
