"""Download the released files: pinned commits, a sha256 of every file, one cache.

A *source* is a CSV file with the columns `repository, commit, path, bytes, sha256`. The files come
from the public raw-file address of each repository at its commit, or from the root that
`$SELFPREF_ARCHIVES` names: a directory (read in place) or an http address with the same layout,
`<owner>/<repository>/<commit>/<path>`.
"""

import csv
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import pooch
import requests

from selfpref import progress
from selfpref.errors import SelfprefError

DEFAULT_ROOT = "https://raw.githubusercontent.com"
VARIABLE = "SELFPREF_ARCHIVES"
COLUMNS = ["repository", "commit", "path", "bytes", "sha256"]
# Of each file, after a second, two and three.
RETRIES = 3
# Seconds without a byte before a server counts as dead.
STALL = 30
CONNECTIONS = 8


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
    """One released file at one commit."""

    repository: str
    commit: str
    path: str
    size: int
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
        if list(row) != COLUMNS or not str(row["bytes"]).isdigit() or outside:
            told = f"wants {', '.join(COLUMNS)}, and a path in its repository"
            raise SelfprefError(f"{source}, line {number}: {told}")
        size = int(row.pop("bytes"))
        files.append(Pinned(**row, size=size))
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
    files, root = pinned(source), os.environ.get(VARIABLE, DEFAULT_ROOT)
    if not root.startswith(("http://", "https://")):
        places = {file.path: Path(root) / file.key for file in files}
        for path, file in zip(places.values(), files, strict=True):
            if not path.is_file() or pooch.file_hash(str(path)) != file.sha256:
                raise SelfprefError(f"{path}: sha256 is not {file.sha256}; unpack the mirror again")
        return places
    # The bar tells what happens; pooch would log every file beside it.
    pooch.get_logger().setLevel("ERROR")
    registry = {file.key: file.sha256 for file in files}
    kept = pooch.create(cache_dir(), base_url=root, registry=registry, retry_if_failed=RETRIES)
    total = sum(file.size for file in files)
    with (
        ThreadPoolExecutor(CONNECTIONS) as workers,
        progress.bar(total, f"files of {source.stem}", unit="B", unit_scale=True) as bar,
    ):

        def one(file: Pinned) -> Path:
            try:
                # pooch's own way stumbles where another file makes the same folder.
                (cache_dir() / file.key).parent.mkdir(parents=True, exist_ok=True)
                there = kept.fetch(file.key, downloader=pooch.HTTPDownloader(timeout=STALL))
            # pooch reports a wrong hash as a ValueError.
            except (requests.RequestException, ValueError, OSError) as error:
                raise SelfprefError(
                    f"{file.path} from {kept.get_url(file.key)}: {error}\n{1 + RETRIES} tries; run "
                    f"again to go on, or name a mirror in ${VARIABLE}"
                ) from error
            bar.update(file.size)
            return Path(there)

        found = workers.map(one, files)
        return {file.path: path for file, path in zip(files, found, strict=True)}
