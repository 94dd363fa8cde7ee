"""Requests sent one by one, many at a time.

The SDK retries (connection lost, timeout, 408, 409, 429, 5xx) and honours Retry-After; nothing here
retries besides. A body that is no completion counts as a connection lost. At most `concurrency`
requests are under way; a call that waits for its next try holds none of these places.

The event loop runs in a thread of its own, since a notebook's thread has a loop already; replies
cross over as they come.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import SimpleQueue
from typing import Any, cast

import aiohttp
import httpx2
from openai import APIError, AsyncOpenAI, DefaultAioHttpClient, Omit

from selfpref.engines import Json, Raw, Status
from selfpref.engines.openai.failures import Circuit, Failure, explain
from selfpref.engines.openai.reading import NotGivenError, outcome
from selfpref.engines.openai.tokens import guess
from selfpref.errors import SelfprefError
from selfpref.params import Hosted

# Seconds that requests under way are given to come back once no more are sent.
GRACE = 10.0
CONNECT = 10.0
# What the SDK would tell every endpoint about this machine, at a tenth of the cost of a call.
TELEMETRY = tuple(
    f"X-Stainless-{part}"
    for part in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version", "Async")
)
# Two threads share the interpreter: at the default of 5 ms each store of a reply would wait that
# long for the thread that speaks HTTP.
SWITCH = 0.0002

# What the request that is being sent costs of the tokens a minute.
_tokens: ContextVar[int] = ContextVar("tokens")


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
        done: Where replies go: (index, reply or status), and None at the end.
    """

    def __init__(
        self,
        name: str,
        entry: Hosted,
        requests: Sequence[Json],
        done: SimpleQueue[tuple[int, Raw | Status] | None],
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

    def run(self) -> None:
        """The thread's work."""
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self._send())
        except BaseException as error:
            # Told by the thread that waits for the replies.
            self.error = error
        finally:
            self._done.put(None)

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
        limits = httpx2.Limits(
            max_connections=self._entry.concurrency,
            max_keepalive_connections=self._entry.concurrency,
        )
        timeout = httpx2.Timeout(self._entry.timeout, connect=CONNECT, pool=None)
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [self._wait], "response": [_check]}
        async with AsyncOpenAI(
            base_url=self._entry.base_url,
            api_key=self._key or "none",
            max_retries=self._entry.retries,
            # Typed as text alone, though the SDK takes this for "leave it out".
            default_headers=dict.fromkeys(TELEMETRY, cast(str, Omit())),
            http_client=DefaultAioHttpClient(limits=limits, timeout=timeout, event_hooks=hooks),
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

    async def _wait(self, _: httpx2.Request) -> None:
        """Before each request, retries among them."""
        if self._requests_pace:
            await self._requests_pace.take(1)
        if self._tokens_pace:
            await self._tokens_pace.take(_tokens.get())

    async def _call(self, client: AsyncOpenAI, index: int) -> None:
        request = self._requests[index]
        if self._tokens_pace:
            tokens = guess(request)
            _tokens.set(tokens.prompt + tokens.reply)
        try:
            reply = await _exchange(client, request)
            status = outcome(request, reply)
        except NotGivenError as lack:
            failure = Failure("failed", f"{self._entry.base_url} {lack}", hard=True)
        except (APIError, aiohttp.ClientError) as error:
            failure = explain(error, self._key)
        else:
            self.circuit.answer()
            self._done.put((index, Raw(reply) if status == "ok" else status))
            return
        if failure.status == "failed":
            self.circuit.fail(failure)
        if self.circuit.stopped:
            self.close(GRACE)
        self._done.put((index, failure.status))


async def _check(response: httpx2.Response) -> None:
    """Take a body that is no reply for a transfer that failed; the SDK tries again."""
    if not response.is_success:
        return
    await response.aread()
    try:
        reply = json.loads(response.content)
    except ValueError as error:
        raise httpx2.DecodingError("the reply is no JSON", request=response.request) from error
    if not _is_reply(reply):
        told = reply.get("error") if isinstance(reply, dict) else None
        raise httpx2.DecodingError(f"the reply is no completion: {told}", request=response.request)
    response.extensions["reply"] = reply


def _is_reply(reply: Any) -> bool:
    """A chat completion, a completion, or the tokens of a text."""
    match reply:
        case {"choices": [{"message": dict()}, *_]} | {"choices": [{"text": _}, *_]}:
            return True
        case {"tokens": list()}:
            return True
    return False


async def _post(client: AsyncOpenAI, url: str, body: Json) -> dict[str, Any]:
    # As a raw response: parsing it into the SDK's own objects would take longer than all the rest.
    response = await client.post(url, cast_to=httpx2.Response, body=body)
    reply: dict[str, Any] = response.extensions["reply"]
    return reply


async def _exchange(client: AsyncOpenAI, request: Json) -> dict[str, Any]:
    address, body = request["address"], request["body"]
    if request["path"] == "score":
        return await _score(client, address, body)
    return await _post(client, f"{address}/{request['path']}", body)


async def _score(client: AsyncOpenAI, address: str, body: Json) -> dict[str, Any]:
    """Encode the context and the whole as vLLM does, then ask for the whole's likelihoods."""
    root = address.removesuffix("/v1")

    async def encode(text: str) -> list[int]:
        sent: dict[str, Any] = {"model": body["model"]}
        if not body["messages"]:
            sent |= {"prompt": text, "add_special_tokens": True}
        elif text:
            answer = {"role": "assistant", "content": text}
            sent |= {"messages": [*body["messages"], answer], "continue_final_message": True}
            sent |= {"add_generation_prompt": False}
        else:
            sent |= {"messages": body["messages"], "add_generation_prompt": True}
        reply = await _post(client, f"{root}/tokenize", sent)
        return list(reply["tokens"])

    context = len(await encode(body["prefill"]))
    tokens = await encode(body["prefill"] + body["continuation"])
    completion = await _post(
        client,
        f"{address}/completions",
        {
            "model": body["model"],
            "prompt": tokens,
            "max_tokens": 1,
            "temperature": 0.0,
            "prompt_logprobs": 0,
        },
    )
    return {"context": context, "tokens": tokens, "completion": completion}


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
        done: SimpleQueue[tuple[int, Raw | Status] | None] = SimpleQueue()
        run = _Run(self._name, self._entry, requests, done)
        thread = threading.Thread(target=run.run, daemon=True)
        switch = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH)
        try:
            with _ending_cleanly(run):
                thread.start()
                while (reply := done.get()) is not None:
                    yield reply
        finally:
            sys.setswitchinterval(switch)
            run.close(0)
            thread.join()
        if run.error:
            raise run.error
        if verdict := run.circuit.verdict():
            raise verdict
