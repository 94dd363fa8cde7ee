"""Downloads: every one pinned."""

import csv
import os
from pathlib import Path

import pooch

from selfpref.errors import SelfprefError


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
