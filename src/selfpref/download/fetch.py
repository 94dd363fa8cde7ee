"""Download what was released: everything pinned by a *source*, a CSV file; one cache.

Files of repositories: a source with the columns `repository, commit, path, bytes, sha256`. They
come from the public raw-file address of each repository at its commit, or from the root that
`$SELFPREF_ARCHIVES` names: a directory (read in place) or an http address with the same layout,
`<owner>/<repository>/<commit>/<path>`.

Data sets of the Hugging Face Hub: a source of one row with the columns `repository, revision,
split` and, where a set has several, `configuration`: the commit fixes every byte. The repository
may also be a folder that holds the same parquet files.
"""

import csv
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import pooch
import requests

from selfpref import progress
from selfpref.errors import SelfprefError

VARIABLE = "SELFPREF_ARCHIVES"
# Of each file, after a second, two and three.
RETRIES = 3


def cache_dir() -> Path:
    """Where they lie: `$SELFPREF_CACHE`, else the user's cache folder. Shared by all clones."""
    return Path(os.environ.get("SELFPREF_CACHE") or pooch.os_cache("selfpref"))


def rows(source: Path) -> list[dict[str, str]]:
    """The rows of a source, a CSV file that pins what is downloaded.

    Raises:
        SelfprefError: It cannot be read.
    """
    try:
        with open(source, newline="", encoding="utf-8") as handle:
            return list(csv.DictReader(handle))
    except OSError as error:
        raise SelfprefError(f"{source}: {error.strerror}; correct `source` in params") from error


class Pinned(NamedTuple):
    """One released file at one commit: a row of a source."""

    repository: str
    commit: str
    path: str
    bytes: str
    sha256: str

    @property
    def key(self) -> str:
        """Its place below a root, and in the cache."""
        return f"{self.repository}/{self.commit}/{self.path}"


def pinned(source: Path) -> list[Pinned]:
    """Read a source.

    Raises:
        SelfprefError: It is missing, lacks a column, or names a path that leaves its folder.
    """
    files = []
    for number, row in enumerate(rows(source), start=2):
        place = PurePosixPath("/".join(map(str, row.values())))
        outside = place.is_absolute() or ".." in place.parts
        if tuple(row) != Pinned._fields or not str(row["bytes"]).isdigit() or outside:
            told = f"wants {', '.join(Pinned._fields)}, and a path in its repository"
            raise SelfprefError(f"{source}, line {number}: {told}")
        files.append(Pinned(**row))
    return files


def fetch(source: Path) -> Mapping[str, Path]:
    """Make every file of a source available, downloading what the cache lacks.

    What is already there is verified and kept, so an interrupted download goes on where it was.

    Args:
        source: The CSV file that lists them.

    Returns:
        The local path of each file by its path in its repository.

    Raises:
        SelfprefError: A file could not be fetched or is not the pinned one; names file and address.
    """
    files = pinned(source)
    root = os.environ.get(VARIABLE, "https://raw.githubusercontent.com")
    there = cache_dir() if root.startswith(("http://", "https://")) else Path(root)
    local = {file: there / file.key for file in files}
    missing = [
        file
        for file, path in local.items()
        if not path.is_file() or pooch.file_hash(str(path)) != file.sha256
    ]
    if missing and there == Path(root):
        told = f"sha256 is not {missing[0].sha256}; unpack the mirror again"
        raise SelfprefError(f"{local[missing[0]]}: {told}")
    if missing:
        _download(missing, root, there, source.stem)
    return {file.path: path for file, path in local.items()}


def _download(missing: list[Pinned], root: str, cache: Path, title: str) -> None:
    # The bar tells what happens; pooch would log every file beside it.
    pooch.get_logger().setLevel("ERROR")
    registry = {file.key: f"sha256:{file.sha256}" for file in missing}
    kept = pooch.create(cache, base_url=root, registry=registry, retry_if_failed=RETRIES)
    total = sum(int(file.bytes) for file in missing)
    with (
        ThreadPoolExecutor(8) as pool,
        progress.bar(total, f"download {title}", unit="B", unit_scale=True) as bar,
    ):

        def one(file: Pinned) -> None:
            try:
                # pooch's own way stumbles where another file makes the same folder.
                (cache / file.key).parent.mkdir(parents=True, exist_ok=True)
                # After so many seconds without a byte a server counts as dead.
                kept.fetch(file.key, downloader=pooch.HTTPDownloader(timeout=30))
            # pooch reports a wrong hash as a ValueError.
            except (requests.RequestException, ValueError, OSError) as error:
                raise SelfprefError(
                    f"{file.path} from {kept.get_url(file.key)}: {error}\n{1 + RETRIES} tries; run "
                    f"again to go on, or name a mirror in ${VARIABLE}"
                ) from error
            bar.update(int(file.bytes))

        list(pool.map(one, missing))


# --- the Hub --------------------------------------------------------------------------------------


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
    logging.set_verbosity_error()

    listed = rows(source)
    if len(listed) != 1 or not {"repository", "revision", "split"} <= {*listed[0]}:
        raise SelfprefError(f"{source}: wants one row of repository, revision, split")
    name, pinned = listed[0]["repository"], listed[0]
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
    if missing := {*columns}.difference(found.column_names):
        raise SelfprefError(f"{name}: no column {min(missing)!r}; is this the pinned revision?")
    return found
