"""Requests sent one by one, many at a time, by threads that wait for a reply each.

The SDK retries (connection lost, timeout, 408, 409, 429, 5xx) and honours Retry-After; nothing here
retries besides. A body that is no completion counts as a connection lost. At most `concurrency`
requests are under way; a call that waits for its next try holds none of these places.

What fails after that is told in words without secrets, and apart as

    truncated, refused   the request's own fault: its row has that status
    hard                 the next call will fail the same way: key, model, quota, a parameter
    other                a server that was down or slow: the row's status is `failed`

A failed call is no answer and is asked again by the next run. The stage stops at the first failure
before any answer, at `HARD` hard ones or `SOFT` others in a row, and at its end where more than
`SHARE` of the calls failed. What was answered is kept in every case.
"""

import json
import os
import re
import signal
import threading
import time
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.cookiejar import CookieJar, DefaultCookiePolicy
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import httpx2
import openai

from selfpref.errors import SelfprefError
from selfpref.models import Json, Raw, Status, response_start
from selfpref.models.served import guess
from selfpref.models.served.reading import NotGivenError, outcome
from selfpref.params import Hosted
from selfpref.params.models import SECRET

# Seconds to connect; and that requests under way are given once no more are sent, with how often it
# is looked whether these are over.
CONNECT, GRACE, POLL = 10.0, 10.0, 0.2
HARD, SOFT, SHARE = 3, 20, 0.05
# Status codes that no retry mends.
REJECTED = frozenset({400, 401, 402, 403, 404, 405, 413, 422})
QUOTA = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|size|window)|maximum context",
    re.IGNORECASE,
)
FILTERED = re.compile(r"content_filter|content_policy|content management policy", re.IGNORECASE)
LENGTH = 200


class Failure(NamedTuple):
    """Why a call has no answer: the status of its row, the reason, and whether it is a hard one."""

    status: Status
    reason: str
    hard: bool = False


def explain(error: Exception, key: str) -> Failure:
    """What an exception of the SDK or of its transport means; `key` must not be told."""
    if not isinstance(error, openai.APIStatusError):
        cause = error.__cause__ or error
        reason = str(cause) or type(cause).__name__
        if isinstance(cause, httpx2.ConnectError | httpx2.ConnectTimeout):
            # The client's own words do not name it.
            host = cause.request.url.netloc.decode()
            reason = f"Cannot connect to host {host}: {reason}"
        return Failure("failed", _redacted(reason, key))
    code, body = error.status_code, error.body
    told: Mapping[str, object] = body if isinstance(body, dict) else {"message": body or ""}
    words = " ".join(str(told.get(part) or "") for part in ("code", "type", "message"))
    if code in (400, 413, 422) and TOO_LONG.search(words):
        return Failure("truncated", "longer than the context")
    if code == 400 and FILTERED.search(words):
        return Failure("refused", "stopped by the content filter")
    hard = code in REJECTED or str(told.get("code") or told.get("type")) in QUOTA
    return Failure("failed", _redacted(f"{code}: {told.get('message') or words}", key), hard)


def _redacted(message: str, key: str) -> str:
    """One short line without the key or anything that looks like one."""
    line = " ".join(SECRET.sub("***", message.replace(key, "***")).split()).removesuffix(".")
    return line if len(line) <= LENGTH else f"{line[:LENGTH]} ..."


class Circuit:
    """Counts answers and failures, and says when to stop.

    Args:
        name: The model's key in `models`.
        total: Calls in all.

    Attributes:
        stopped: Whether to ask no more.
    """

    def __init__(self, name: str, total: int) -> None:
        self._name, self._total, self.stopped = name, total, False
        self._answered, self._in_row = 0, Counter[bool]()
        self._reasons, self._lock = Counter[str](), threading.Lock()

    def count(self, failure: Failure | None) -> None:
        """A call was answered, or has failed."""
        with self._lock:
            if failure is None:
                self._answered += 1
                self._in_row.clear()
            elif failure.status == "failed":
                self._reasons[failure.reason] += 1
                self._in_row[failure.hard] += 1
                often = self._in_row[True] >= HARD or self._in_row[False] >= SOFT
                self.stopped |= often or not self._answered

    def verdict(self) -> SelfprefError | None:
        """What to tell at the end, where too much has failed."""
        failed = self._reasons.total()
        if not self.stopped and failed <= SHARE * self._total:
            return None
        reasons = "; ".join(f"{count} x {told}" for told, count in self._reasons.most_common(3))
        left = self._total - self._answered - failed
        return SelfprefError(
            f"models.{self._name}: {'stopped, ' if left else ''}"
            f"{failed} {'call' if failed == 1 else 'calls'} failed ({reasons}); "
            f"{self._answered} answered and kept, {left} not asked.\n"
            "Correct the cause and run again: only what is missing is asked"
        )


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


def _client(name: str, entry: Hosted) -> openai.OpenAI:
    """The SDK's client, which looks at each reply; a request waits for a place as long as it takes.

    Raises:
        SelfprefError: The key's variable is not set.
    """
    key = os.environ.get(entry.key, "").strip() if entry.key else "no-key"
    if not key:
        raise SelfprefError(
            f"models.{name}.key: the environment variable {entry.key} is not set; export it"
        )
    limits = httpx2.Limits(
        max_connections=entry.concurrency, max_keepalive_connections=entry.concurrency
    )
    transport = httpx2.Client(
        limits=limits,
        follow_redirects=True,
        # A cookie of a load balancer would lead every request to one of its servers.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        event_hooks={"response": [_check]},
    )
    return openai.OpenAI(
        base_url=entry.base_url,
        api_key=key,
        max_retries=entry.retries,
        timeout=httpx2.Timeout(entry.timeout, connect=CONNECT, pool=None),
        http_client=transport,
    )


def _check(response: httpx2.Response) -> None:
    """Take a body that is no reply for a transfer that failed: the SDK tries again."""
    if not response.is_success:
        return
    response.read()
    # The store tells a reply by its first bracket.
    body = response.content.removeprefix(BOM_UTF8).strip()
    try:
        reply = json.loads(body.decode())
    except ValueError as error:
        raise httpx2.DecodingError("the reply is no JSON", request=response.request) from error
    match reply:
        # A chat completion, a completion, or the tokens of a text.
        case {"choices": [{"message": dict()} | {"text": _}, *_]} | {"tokens": list()}:
            response.extensions["reply"] = Raw(reply, body)
        case _:
            fault = reply.get("error") if isinstance(reply, dict) else None
            told = f"the reply is no completion: {fault}"
            raise httpx2.DecodingError(told, request=response.request)


def _post(client: openai.OpenAI, url: str, body: Json) -> Raw:
    # As a raw response: parsing it into the SDK's own objects would take longer than all the rest.
    reply: Raw = client.post(url, cast_to=httpx2.Response, body=body).extensions["reply"]
    return reply


def _score(client: openai.OpenAI, address: str, body: Json) -> Raw:
    """Encode the context and the whole as vLLM does, then ask for the whole's likelihoods.

    The context is the assistant's turn up to the prefill. Of an empty turn `transformers` cuts off
    the whitespace before the content where the template trims, which the generation prompt has; but
    a template may write more into the turn than into the generation prompt. The longer is taken.
    """
    model, messages, prefill = body["model"], body["messages"], body["prefill"]

    def encoded(text: str | None) -> list[int]:
        sent = {"prompt": text or "", "add_special_tokens": True}
        if messages:
            # Such as what the chat template is told; a given text hangs on nothing else of it.
            sent = {"messages": messages, "add_generation_prompt": True, **body.get("extra", {})}
        if messages and text is not None:
            answer = {"role": "assistant", "content": text}
            sent |= {"messages": [*messages, answer], "continue_final_message": True}
            sent |= {"add_generation_prompt": False}
        url = f"{address.removesuffix('/v1')}/tokenize"
        return list(_post(client, url, {"model": model, **sent}).reply["tokens"])

    tokens = encoded(prefill + body["continuation"])
    asked = {"model": model, "prompt": tokens, "max_tokens": 1, "temperature": 0.0}
    completion = _post(client, f"{address}/completions", asked | {"prompt_logprobs": 0}).reply
    start = max(response_start(encoded(text), tokens) for text in (None, prefill))
    return Raw({"context": start, "tokens": tokens, "completion": completion})


class _Run:
    """One `send`: its connections, and what has come of it."""

    def __init__(self, name: str, entry: Hosted, requests: Sequence[Json]) -> None:
        self._address, self._requests = entry.base_url, requests
        self.client, self.circuit = _client(name, entry), Circuit(name, len(requests))
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
        path, body, failure = request["path"], request["body"], None
        try:
            if path == "score":
                reply = _score(self.client, self._address, body)
            else:
                reply = _post(self.client, f"{self._address}/{path}", body)
            status = outcome(request, reply.reply)
        except NotGivenError as lack:
            failure = Failure("failed", f"{self._address} {lack}", hard=True)
        except openai.APIError as error:
            failure = explain(error, self.client.api_key)
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
    interrupts: list[int] = []

    def interrupt(number: int, frame: Any) -> None:
        if interrupts:
            raise KeyboardInterrupt
        interrupts.append(number)
        run.stop()

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupts:
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
