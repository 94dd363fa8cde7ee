"""Every model call, kept by its content: what was paid for once is never paid for again.

A call's key is the SHA-256 of everything that can change the answer (provider, weights or address,
messages, sampling, labels, repeat) and of nothing else; its value is the raw reply. A digest of
both tells a damaged reply, and another call's reply that a damaged index leads to, from the right
one. The store lies outside DVC's outputs, which DVC deletes, so that a stage that was killed goes
on where it was. Only answers are kept: a failure or a refusal is asked again. What is put is safe
from the end of the process that put it; a power cut may cost the last moments, and never damages
what was there.

Beside the replies the store holds notes: which batches are under way at which endpoint.
"""

import hashlib
import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from selfpref.errors import SelfprefError

Json = Mapping[str, Any]
# SQLite's limit on the variables of one statement is at least this.
VARIABLES = 900
# What SQLite raises on a damaged file; a damaged schema is not even UTF-8.
DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)
# Replies above this many bytes are kept compressed: the alternatives at every token of an
# explanation are hundreds of kilobytes, and shrink to a tenth.
LARGE = 2048


def call_key(request: Json) -> str:
    """SHA-256 of a request's canonical JSON."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(key: str, reply: bytes) -> str:
    return hashlib.sha256(key.encode() + reply).hexdigest()


def chunks(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    """As many keys at a time as one look into the store takes."""
    for start in range(0, len(keys), VARIABLES):
        yield keys[start : start + VARIABLES]


class Store:
    """A content-addressed store in one SQLite file; several processes may use it at once.

    Args:
        path: The file; it is made where it is missing.

    Raises:
        SelfprefError: The file is damaged or no store.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(path, timeout=60)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            (verdict,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise self._damaged(verdict)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT, digest TEXT)"
            )
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, value TEXT)"
            )
            self._connection.commit()
        except DAMAGE as error:
            raise self._damaged(error) from error

    def _damaged(self, reason: object) -> SelfprefError:
        return SelfprefError(
            f"{self.path}: damaged ({reason}); move it away to ask the models again"
        )

    def __enter__(self) -> "Store":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._connection.close()

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """The replies that are there, by key.

        Raises:
            SelfprefError: A reply is not what was written.
        """
        found: dict[str, Any] = {}
        for part in chunks(list(keys)):
            marks = ",".join("?" * len(part))
            try:
                rows = self._connection.execute(
                    f"SELECT key, CAST(reply AS BLOB), digest FROM replies WHERE key IN ({marks})",
                    part,
                ).fetchall()
            except DAMAGE as error:
                raise self._damaged(error) from error
            for key, reply, digest in rows:
                # A flipped bit can make a number or nothing of a text.
                if _digest(str(key), reply or b"") != digest:
                    raise self._damaged(f"the reply to {str(key)[:12]} is not what was written")
                # JSON begins with a bracket, a compressed reply never does.
                found[key] = json.loads(reply if reply[:1] == b"{" else zlib.decompress(reply))
        return found

    def put(self, replies: Mapping[str, Any]) -> None:
        """Keep replies, all of them or none."""
        rows = []
        for key, reply in replies.items():
            body = json.dumps(reply).encode()
            if len(body) > LARGE:
                body = zlib.compress(body, 1)
            rows.append((key, body, _digest(key, body)))
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", rows)

    def notes(self) -> dict[str, Any]:
        """Every note, by name."""
        rows = self._connection.execute("SELECT name, value FROM notes").fetchall()
        return {name: json.loads(value) for name, value in rows}

    def note(self, name: str, value: Any) -> None:
        """Write a note over the former one of this name; None removes it."""
        with self._connection:
            if value is None:
                self._connection.execute("DELETE FROM notes WHERE name = ?", (name,))
            else:
                row = (name, json.dumps(value))
                self._connection.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", row)


def store_path(root: Path) -> Path:
    """Where the store lies: `$SELFPREF_STORE`, else .cache/store.sqlite in the repository."""
    return Path(os.environ.get("SELFPREF_STORE") or root / ".cache" / "store.sqlite")
