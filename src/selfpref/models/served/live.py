"""Requests sent one by one, many at a time, by threads that wait for a reply each.

The SDK retries (connection lost, timeout, 408, 409, 429, 5xx) and honours Retry-After; nothing here
retries besides. A body that is no completion counts as a connection lost. At most `concurrency`
requests are under way; a call that waits for its next try holds none of these places.
"""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

import httpx2
from openai import APIError, OpenAI

from selfpref.errors import SelfprefError
from selfpref.models import Json, Raw, Status
from selfpref.models.served.failures import Circuit, Failure, explain
from selfpref.models.served.reading import NotGivenError, outcome
from selfpref.models.served.tokens import guess
from selfpref.models.served.transport import exchange, http
from selfpref.params import Hosted

# Seconds that requests under way are given to come back once no more are sent.
GRACE = 10.0
CONNECT = 10.0
# Seconds between two looks at whether that time is over.
POLL = 0.2


def secret(name: str, entry: Hosted) -> str:
    """The key, from the environment.

    Raises:
        SelfprefError: The variable is not set.
    """
    if entry.key is None:
        return ""
    key = os.environ.get(entry.key, "").strip()
    if not key:
        raise SelfprefError(
            f"models.{name}.key: the environment variable {entry.key} is not set; export it"
        )
    return key


class Pace:
    """Spreads what is sent evenly over time: at most so much a minute, if there is a limit."""

    def __init__(self, per_minute: int | None) -> None:
        self._seconds = 60 / per_minute if per_minute else 0.0
        self._next, self._lock = 0.0, threading.Lock()

    def take(self, amount: int) -> None:
        """Wait for one's turn."""
        with self._lock:
            now = time.monotonic()
            turn = max(self._next, now)
            self._next = turn + amount * self._seconds
        time.sleep(turn - now)


class _Run:
    """One `send`: its connections, and what has come of it."""

    def __init__(self, name: str, entry: Hosted, requests: Sequence[Json]) -> None:
        self._entry, self._requests, self._key = entry, requests, secret(name, entry)
        # A request waits for a connection as long as it takes.
        timeout = httpx2.Timeout(entry.timeout, connect=CONNECT, pool=None)
        self.client = OpenAI(
            base_url=entry.base_url,
            api_key=self._key or "none",
            max_retries=entry.retries,
            timeout=timeout,
            http_client=http(entry.concurrency),
        )
        self.circuit, self._counting = Circuit(name, len(requests)), threading.Lock()
        self._paces = Pace(entry.requests_per_minute), Pace(entry.tokens_per_minute)
        # When not even what is under way is waited for any longer; nothing new is sent then.
        self._end: float | None = None

    def stop(self) -> None:
        """Send no more, and give what is under way some seconds."""
        self._end = self._end or time.monotonic() + GRACE

    def replies(self, todo: Iterator[int], workers: int) -> Iterator[tuple[int, Raw | Status]]:
        """Replies as they come to these requests, by so many threads."""
        come: SimpleQueue[tuple[int, Raw | Status] | BaseException | None] = SimpleQueue()

        def work() -> None:
            try:
                while self._end is None and (index := next(todo, None)) is not None:
                    come.put((index, self._reply(self._requests[index])))
            except BaseException as error:
                # Told by the thread that waits for the replies.
                come.put(error)
            come.put(None)

        for _ in range(workers):
            threading.Thread(target=work, daemon=True).start()
        while workers and (self._end is None or time.monotonic() < self._end):
            try:
                reply = come.get(timeout=POLL)
            except Empty:
                continue
            if isinstance(reply, BaseException):
                raise reply
            if reply is None:
                workers -= 1
            else:
                yield reply

    def _reply(self, request: Json) -> Raw | Status:
        for pace, amount in zip(self._paces, (1, guess(request)), strict=True):
            pace.take(amount)
        failure = None
        try:
            reply = exchange(self.client, request)
            status = outcome(request, reply.reply)
        except NotGivenError as lack:
            failure = Failure("failed", f"{self._entry.base_url} {lack}", hard=True)
        except APIError as error:
            failure = explain(error, self._key)
        with self._counting:
            self.circuit.count(failure)
        if self.circuit.stopped:
            self.stop()
        if failure:
            return failure.status
        return reply if status == "ok" else status


@contextmanager
def _ending_cleanly(run: _Run) -> Iterator[None]:
    """The first Ctrl-C stops sending and is raised once the replies under way are in."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = False

    def interrupt(number: int, frame: Any) -> None:
        nonlocal interrupted
        if interrupted:
            raise KeyboardInterrupt
        interrupted = True
        run.stop()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        raise KeyboardInterrupt


def send(name: str, entry: Hosted, requests: Sequence[Json]) -> Iterator[tuple[int, Raw | Status]]:
    """Replies as they come, each with the index of its request, or why there is none.

    Args:
        name: The model's key in `models`.
        entry: Its parameters.
        requests: What is sent.

    Raises:
        SelfprefError: No key; the endpoint does not give what was asked for; too many failures.
    """
    if not requests:
        return
    run, todo = _Run(name, entry, requests), iter(range(len(requests)))
    with run.client, _ending_cleanly(run):
        try:
            # The first call alone: what the endpoint cannot give, it cannot give to any.
            yield from run.replies(iter([next(todo)]), 1)
            # Beyond `concurrency` they wait for a connection, or for their next try.
            yield from run.replies(todo, min(2 * entry.concurrency, len(requests)))
        finally:
            run.stop()
    if verdict := run.circuit.verdict():
        raise verdict
