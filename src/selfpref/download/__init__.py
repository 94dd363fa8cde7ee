"""Downloads: every one pinned."""

import os
from pathlib import Path

import pooch


def cache_dir() -> Path:
    """Where they lie: `$SELFPREF_CACHE`, else the user's cache folder. Shared by all clones."""
    return Path(os.environ.get("SELFPREF_CACHE") or pooch.os_cache("selfpref"))
