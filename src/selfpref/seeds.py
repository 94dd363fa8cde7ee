"""Draws that names alone decide: a row's draw does not depend on the rows around it."""

from collections.abc import Iterable
from hashlib import sha256
from zlib import crc32


def seed_of(*names: object) -> int:
    """The CRC-32 of names joined by slashes, such as run's seed, judge, item and repeat."""
    return crc32("/".join(map(str, names)).encode())


def sampled(names: Iterable[str], size: int | None) -> list[str]:
    """Some of the names, drawn by their hash: the same ones wherever and in whatever order."""
    return sorted(names, key=lambda name: sha256(name.encode()).digest())[:size]
