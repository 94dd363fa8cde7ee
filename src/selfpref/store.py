"""Every model call, kept by its content: what was paid for once is never paid for again.

A call's key is the SHA-256 of everything that can change the answer (provider, weights or address,
messages, sampling, labels, repeat) and of nothing else; its value is the raw reply. The store lies
outside DVC's outputs, which DVC deletes, so that a stage that was killed goes on where it was. Only
answers are kept: a failure or a refusal is asked again.
"""

import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from selfpref.errors import SelfprefError

Json = Mapping[str, Any]
# SQLite's limit on the variables of one statement is at least this.
VARIABLES = 900


def call_key(request: Json) -> str:
    """SHA-256 of a request's canonical JSON."""
    text = json.dumps(request, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


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
            (verdict,) = self._connection.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise self._damaged(verdict)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS calls (key TEXT PRIMARY KEY, reply TEXT, digest TEXT)"
            )
            self._connection.commit()
        except sqlite3.DatabaseError as error:
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
        wanted = list(keys)
        found: dict[str, Any] = {}
        for start in range(0, len(wanted), VARIABLES):
            part = wanted[start : start + VARIABLES]
            marks = ",".join("?" * len(part))
            try:
                rows = self._connection.execute(
                    f"SELECT key, reply, digest FROM calls WHERE key IN ({marks})", part
                ).fetchall()
            except sqlite3.DatabaseError as error:
                raise self._damaged(error) from error
            for key, reply, digest in rows:
                if hashlib.sha256(reply.encode()).hexdigest() != digest:
                    raise self._damaged(f"the reply to {key[:12]} is not what was written")
                found[key] = json.loads(reply)
        return found

    def put(self, replies: Mapping[str, Any]) -> None:
        """Keep replies, all of them or none."""
        rows = []
        for key, reply in replies.items():
            text = json.dumps(reply)
            rows.append((key, text, hashlib.sha256(text.encode()).hexdigest()))
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO calls VALUES (?, ?, ?)", rows)


def store_path(root: Path) -> Path:
    """Where the store lies: `$SELFPREF_STORE`, else .cache/store.sqlite in the repository."""
    return Path(os.environ.get("SELFPREF_STORE") or root / ".cache" / "store.sqlite")
