"""Requests sent one by one, many at a time.

The SDK retries (connection lost, timeout, 408, 409, 429, 5xx) and honours Retry-After; nothing here
retries besides. A body that is no completion counts as a connection lost. At most `concurrency`
requests are under way; a call that waits for its next try holds none of these places.

The event loop runs in a thread of its own, since a notebook's thread has a loop already. Replies
cross over as they come, those of one turn of the loop together: two threads that meet at every
reply spend their time on waiting for each other.
"""

import asyncio
import os
import signal
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import SimpleQueue
from typing import Any, cast

import httpx2
from openai import APIError, AsyncOpenAI, Omit

from selfpref.errors import SelfprefError
from selfpref.models import Json, Raw, Status
from selfpref.models.served.failures import Circuit, Failure, explain
from selfpref.models.served.reading import NotGivenError, outcome
from selfpref.models.served.tokens import guess
from selfpref.models.served.transport import Http, exchange
from selfpref.params import Hosted

# Seconds that requests under way are given to come back once no more are sent.
GRACE = 10.0
CONNECT = 10.0
# What the SDK would tell every endpoint about this machine, at a tenth of the cost of a call.
TELEMETRY = tuple(
    f"X-Stainless-{part}"
    for part in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async")
)

# What the request that is being sent costs of the tokens a minute.
_tokens: ContextVar[int] = ContextVar("tokens")

# Replies, or why there is none, each with the index of its request.
_Come = list[tuple[int, Raw | Status]]


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
    """Spreads what is sent evenly over time: at most so much a minute."""

    def __init__(self, per_minute: int) -> None:
        self._seconds, self._next = 60 / per_minute, 0.0

    async def take(self, amount: int) -> None:
        """Wait for one's turn."""
        now = asyncio.get_running_loop().time()
        turn = max(self._next, now)
        self._next = turn + amount * self._seconds
        await asyncio.sleep(turn - now)


class _Run:
    """One `send`: its event loop, its connections, and what has come of it.

    Args:
        name: The model's key in `models`.
        entry: Its parameters.
        requests: What to send.
        done: Where replies go, and None at the end.
    """

    def __init__(
        self,
        name: str,
        entry: Hosted,
        requests: Sequence[Json],
        done: SimpleQueue[_Come | None],
    ) -> None:
        self._entry, self._requests, self._done = entry, requests, done
        self._key = secret(name, entry)
        self.circuit = Circuit(name, len(requests))
        self.error: BaseException | None = None
        self._requests_pace = Pace(entry.requests_per_minute) if entry.requests_per_minute else None
        self._tokens_pace = Pace(entry.tokens_per_minute) if entry.tokens_per_minute else None
        self._loop = asyncio.new_event_loop()
        self._closing = False
        self._tasks: list[asyncio.Task[None]] = []
        self._come: _Come = []

    def run(self) -> None:
        """Send everything, one event loop in this thread."""
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._send())
        except BaseException as error:
            # Told by the thread that waits for the replies.
            self.error = error
        finally:
            self._hand_over()
            self._done.put(None)

    def _tell(self, index: int, reply: Raw | Status) -> None:
        """Hand over a reply at the end of this turn of the loop."""
        if not self._come:
            self._loop.call_soon(self._hand_over)
        self._come.append((index, reply))

    def _hand_over(self) -> None:
        self._done.put(self._come)
        self._come = []

    def close(self, grace: float) -> None:
        """Send no more, and give what is under way some seconds; from any thread."""

        def stop() -> None:
            self._closing = True
            self._loop.call_later(grace, self._cancel)

        # A loop that has ended by itself takes no more calls, and needs none.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(stop)

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _send(self) -> None:
        # A request waits for a connection as long as it takes.
        timeout = httpx2.Timeout(self._entry.timeout, connect=CONNECT, pool=None)
        async with AsyncOpenAI(
            base_url=self._entry.base_url,
            api_key=self._key or "none",
            max_retries=self._entry.retries,
            timeout=timeout,
            # Typed as text alone, though the SDK takes this for "leave it out".
            default_headers=dict.fromkeys(TELEMETRY, cast(str, Omit())),
            http_client=Http(self._wait, self._entry.concurrency),
        ) as client:
            todo = iter(range(len(self._requests)))

            async def work() -> None:
                for index in todo:
                    if self._closing:
                        return
                    await self._call(client, index)

            # The first call alone: what the endpoint cannot give, it cannot give to any.
            await self._finish([self._call(client, next(todo))])
            # Beyond `concurrency` they wait for a connection, or for their next try.
            await self._finish([work() for _ in range(2 * self._entry.concurrency)])

    async def _finish(self, works: Sequence[Coroutine[Any, Any, None]]) -> None:
        self._tasks = [asyncio.ensure_future(work) for work in works]
        for error in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(error, Exception):
                raise error

    async def _wait(self) -> None:
        """Before each request, retries among them."""
        if self._requests_pace:
            await self._requests_pace.take(1)
        if self._tokens_pace:
            await self._tokens_pace.take(_tokens.get())

    async def _call(self, client: AsyncOpenAI, index: int) -> None:
        request = self._requests[index]
        if self._tokens_pace:
            _tokens.set(guess(request))
        try:
            reply = await exchange(client, request)
            status = outcome(request, reply.reply)
        except NotGivenError as lack:
            failure = Failure("failed", f"{self._entry.base_url} {lack}", hard=True)
        except APIError as error:
            failure = explain(error, self._key)
        else:
            self.circuit.answer()
            self._tell(index, reply if status == "ok" else status)
            return
        if failure.status == "failed":
            self.circuit.fail(failure)
        if self.circuit.stopped:
            self.close(GRACE)
        self._tell(index, failure.status)


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
        run.close(GRACE)

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        raise KeyboardInterrupt


class Live:
    """Sends requests at once.

    Args:
        name: The model's key in `models`.
        entry: Its parameters.
    """

    def __init__(self, name: str, entry: Hosted) -> None:
        self._name, self._entry = name, entry

    def send(self, requests: Sequence[Json]) -> Iterator[tuple[int, Raw | Status]]:
        """Replies as they come; see `Sender`.

        Raises:
            SelfprefError: No key; the endpoint does not give what was asked for; too many failures.
        """
        if not requests:
            return
        done: SimpleQueue[_Come | None] = SimpleQueue()
        run = _Run(self._name, self._entry, requests, done)
        thread = threading.Thread(target=run.run, daemon=True)
        try:
            with _ending_cleanly(run):
                thread.start()
                while (come := done.get()) is not None:
                    for number, (index, reply) in enumerate(come, 1):
                        if isinstance(reply, Raw):
                            reply.more = number < len(come)
                        yield index, reply
        finally:
            run.close(0)
            thread.join()
        if run.error:
            raise run.error
        if verdict := run.circuit.verdict():
            raise verdict
