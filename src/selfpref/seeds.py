"""Seeds that names alone decide: a row's draw does not depend on the rows around it."""

from zlib import crc32


def seed_of(*names: object) -> int:
    """The CRC-32 of names joined by slashes, such as run's seed, judge, item and repeat."""
    return crc32("/".join(map(str, names)).encode())
