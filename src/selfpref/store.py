"""Every model call, kept by its content: what was paid for once is never paid for again.

A call's key is the SHA-256 of everything that can change the answer (provider, weights or address,
messages, sampling, labels, repeat) and of nothing else; its value is the raw reply. A digest of
both tells a damaged reply, and another call's reply that a damaged index leads to, from the right
one. The store lies outside DVC's outputs, which DVC deletes, so that a stage that was killed goes
on where it was. Only answers are kept: a failure or a refusal is asked again. What is put is safe
from the end of the process that put it; a power cut may cost the last moments, and never damages
what was there.
"""

import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError

Json = Mapping[str, Any]
# Seconds to wait for another process that writes.
PATIENCE = 60.0
# Replies above this many bytes are kept compressed: the alternatives at every token of an
# explanation are hundreds of kilobytes, and shrink to a tenth.
LARGE = 2048


def call_key(request: Json) -> str:
    """SHA-256 of a request's canonical JSON."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _digest(key: str, reply: bytes) -> str:
    return hashlib.sha256(key.encode() + reply).hexdigest()


class Store(AbstractContextManager["Store"]):
    """A content-addressed store in one SQLite file; several processes may use it at once.

    Args:
        path: The file; it is made where it is missing.

    Raises:
        SelfprefError: The file is damaged or no store.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._named():
            self._connection = sqlite3.connect(path, timeout=PATIENCE)
            run = self._connection.execute
            end = time.monotonic() + PATIENCE
            # Many read while one writes; a new file takes this from one process at a time.
            while True:
                try:
                    run("PRAGMA journal_mode=WAL")
                    break
                except sqlite3.OperationalError as error:
                    # SQLite does not wait here by itself.
                    if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                        raise
                    time.sleep(0.01)
            run("PRAGMA synchronous=NORMAL")
            (verdict,) = run("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(verdict)
            columns = "key TEXT PRIMARY KEY, reply TEXT, digest TEXT"
            run(f"CREATE TABLE IF NOT EXISTS replies ({columns})")

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say which file it is, and damage apart from a lock, a full disk and the like."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise SelfprefError(f"{self.path}: {error}; mend that and run again") from error
        except (sqlite3.Error, UnicodeDecodeError) as error:
            told = f"damaged ({error}); move it away to ask the models again"
            raise SelfprefError(f"{self.path}: {told}") from error

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def get(self, keys: Iterable[str]) -> Iterator[tuple[str, Any]]:
        """The keys whose replies are there, each with its reply, one by one.

        Raises:
            SelfprefError: A reply is not what was written.
        """
        columns = "key, CAST(reply AS BLOB), CAST(digest AS BLOB)"
        wanted = f"SELECT {columns} FROM replies WHERE key IN (SELECT value FROM json_each(?))"
        with self._named():
            for key, reply, digest in self._connection.execute(wanted, [json.dumps([*keys])]):
                # A flipped bit can make a number or nothing of a text.
                if _digest(str(key), reply or b"").encode() != digest:
                    told = f"the reply to {str(key)[:12]} is not what was written"
                    raise sqlite3.DatabaseError(told)
                # JSON begins with a bracket, a compressed reply never does.
                yield key, json.loads(reply if reply[:1] == b"{" else zlib.decompress(reply))

    def put(self, replies: Mapping[str, Json | bytes]) -> None:
        """Keep replies, all of them or none; bytes are a JSON object as it was sent."""
        rows = []
        for key, reply in replies.items():
            body = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
            body = zlib.compress(body, 1) if len(body) > LARGE else body
            rows.append((key, body, _digest(key, body)))
        with self._named(), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", rows)


def store_path(root: Path) -> Path:
    """Where the store lies: `$SELFPREF_STORE`, else .cache/store.sqlite in the repository."""
    return Path(os.environ.get("SELFPREF_STORE") or root / ".cache" / "store.sqlite")
