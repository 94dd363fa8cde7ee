"""Which of many names are drawn."""

from collections.abc import Iterable
from hashlib import sha256


def sampled(names: Iterable[str], size: int | None) -> list[str]:
    """Some of the names, drawn by their hash: the same ones wherever and in whatever order."""
    return sorted(names, key=lambda name: sha256(name.encode()).digest())[:size]
