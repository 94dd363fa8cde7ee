"""Download the released files: pinned commits, size and sha256 of every file, one cache.

A *source* is a CSV file with the columns `repository, commit, path, bytes, sha256`. The files come
from the public raw-file address of each repository at its commit, or from the root that
`$SELFPREF_ARCHIVES` names: a directory (read in place) or an http address with the same layout,
`<owner>/<repository>/<commit>/<path>`.
"""

import hashlib
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pooch
import requests

from selfpref import progress
from selfpref.download import cache_dir, rows
from selfpref.errors import SelfprefError

DEFAULT_ROOT = "https://raw.githubusercontent.com"
VARIABLE = "SELFPREF_ARCHIVES"
COLUMNS = ["repository", "commit", "path", "bytes", "sha256"]
# Of each file, after a second, two and three.
RETRIES = 3
# Seconds without a byte before a server counts as dead.
STALL = 30
# An answer of the server that another try will not change.
FINAL = {400, 401, 403, 404, 410, 451}
CONNECTIONS = 8


@dataclass(frozen=True)
class Pinned:
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
        if list(row) != COLUMNS or None in row.values():
            raise SelfprefError(f"{source}, line {number}: the columns are {', '.join(COLUMNS)}")
        size = int(row["bytes"]) if row["bytes"].isdigit() else -1
        file = Pinned(row["repository"], row["commit"], row["path"], size, row["sha256"])
        if size < 0 or ".." in PurePosixPath(file.key).parts or file.key.startswith("/"):
            raise SelfprefError(f"{source}, line {number}: not a file's path and size: {file.path}")
        files.append(file)
    return files


def _fault(path: Path, file: Pinned) -> str | None:
    """What is wrong with a file on disk, or None."""
    if not path.is_file():
        return "missing"
    if (size := path.stat().st_size) != file.size:
        return f"{size} bytes instead of {file.size}"
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return None if digest == file.sha256 else f"sha256 {digest} instead of {file.sha256}"


def _download(file: Pinned, root: str, cache: Path) -> None:
    """Fetch one file into the cache, with retries; nothing faulty gets its name."""
    url = f"{root.rstrip('/')}/{file.key}"

    def stream(address: str, output_file: str, kept: pooch.Pooch) -> None:
        try:
            pooch.HTTPDownloader(timeout=STALL)(address, output_file, kept)
        except requests.HTTPError as error:
            if error.response.status_code not in FINAL:
                raise
            raise SelfprefError(
                f"{address}: HTTP {error.response.status_code}; name a mirror in ${VARIABLE}"
            ) from error
        if (size := Path(output_file).stat().st_size) != file.size:
            raise requests.ConnectionError(f"{size} bytes instead of {file.size}")

    kept = pooch.create(
        cache,
        base_url=root,
        registry={file.key: f"sha256:{file.sha256}"},
        retry_if_failed=RETRIES,
    )
    try:
        # pooch's own way stumbles where another file makes the same folder.
        (cache / file.key).parent.mkdir(parents=True, exist_ok=True)
        kept.fetch(file.key, downloader=stream)
    # pooch reports a wrong hash as a ValueError.
    except (requests.RequestException, ValueError, OSError) as error:
        raise SelfprefError(
            f"{file.path} from {url}: {error}\n{1 + RETRIES} tries; run again to go on, or name a "
            f"mirror in ${VARIABLE}"
        ) from error


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
    root = os.environ.get(VARIABLE, DEFAULT_ROOT)
    if not root.startswith(("http://", "https://")):
        for file in files:
            if fault := _fault(Path(root) / file.key, file):
                raise SelfprefError(f"{Path(root) / file.key}: {fault}; unpack the mirror again")
        return {file.path: Path(root) / file.key for file in files}

    cache = cache_dir()
    missing = [file for file in files if _fault(cache / file.key, file)]
    if missing:
        _download_all(missing, root, cache, source.stem)
    return {file.path: cache / file.key for file in files}


def _download_all(missing: list[Pinned], root: str, cache: Path, title: str) -> None:
    # The bar tells what happens; pooch would log every file beside it.
    pooch.get_logger().setLevel("ERROR")
    total = sum(file.size for file in missing)
    with (
        ThreadPoolExecutor(CONNECTIONS) as pool,
        progress.bar(total, f"download {title}", unit="B", unit_scale=True) as bar,
    ):

        def one(file: Pinned) -> None:
            _download(file, root, cache)
            bar.update(file.size)

        list(pool.map(one, missing))
