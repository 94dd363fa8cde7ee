"""Requests sent one by one, many at a time, by threads that wait for a reply each.

The SDK retries (connection lost, timeout, 408, 409, 429, 5xx) and honours Retry-After; nothing here
retries besides. A body that is no completion counts as a connection lost.

What fails after that is told in words without secrets. Where it is the request's own fault its row
is `truncated` or `refused`; else it is `failed`, which is no answer and is asked again by the next
run. The stage stops at the first failure before any answer, at `IN_ROW` of them in a row, and at
its end where more than `SHARE` of the calls failed. What was answered is kept in every case.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from textwrap import shorten
from typing import Any

import httpx2
import openai

from selfpref.errors import SelfprefError
from selfpref.models import Json, Raw, Status
from selfpref.models.served import outcome
from selfpref.params import Hosted
from selfpref.params.models import SECRET

# Seconds to connect.
CONNECT = 10.0
IN_ROW, SHARE = 10, 0.05
TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|size|window)|maximum context",
    re.IGNORECASE,
)
FILTERED = re.compile(r"content_filter|content_policy|content management policy", re.IGNORECASE)


def explain(error: openai.APIError, key: str) -> tuple[Status, str]:
    """The status of a call that failed, and why, in a short line; `key` must not be told."""
    if isinstance(error, openai.APIStatusError):
        told = error.body if isinstance(error.body, dict) else {"message": error.body}
        words = " ".join(str(told.get(part) or "") for part in ("code", "type", "message"))
        if error.status_code in (400, 413, 422) and TOO_LONG.search(words):
            return "truncated", "longer than the context"
        if error.status_code == 400 and FILTERED.search(words):
            return "refused", "stopped by the content filter"
        reason = f"{error.status_code}: {told.get('message') or words}"
    else:
        cause = error.__cause__ or error
        reason = f"{type(cause).__name__}: {cause}"
    line = SECRET.sub("***", reason.replace(key, "***")).removesuffix(".")
    return "failed", shorten(line, 200, placeholder=" ...")


def _client(name: str, entry: Hosted) -> openai.OpenAI:
    """The SDK's client, which looks at each reply.

    Raises:
        SelfprefError: The key's variable is not set.
    """
    key = os.environ.get(entry.key, "").strip() if entry.key else "no-key"
    if not key:
        raise SelfprefError(
            f"models.{name}.key: the environment variable {entry.key} is not set; export it"
        )
    hooks = {"response": [_check]}
    return openai.OpenAI(
        base_url=entry.base_url,
        api_key=key,
        max_retries=entry.retries,
        timeout=httpx2.Timeout(entry.timeout, connect=CONNECT),
        # As many connections as threads.
        http_client=httpx2.Client(limits=httpx2.Limits(), follow_redirects=True, event_hooks=hooks),
    )


def _check(response: httpx2.Response) -> None:
    """Take a body that is no completion for a transfer that failed: the SDK tries again."""
    if not response.is_success:
        return
    try:
        # Some gateways send an error with status 200.
        reply = json.loads(response.read())
        reply["choices"][0]
    except (ValueError, LookupError, TypeError) as error:
        told = f"the reply is no completion: {response.text}"
        raise httpx2.DecodingError(told, request=response.request) from error
    response.extensions["reply"] = reply


def _reply(client: openai.OpenAI, request: Json) -> tuple[Raw | Status, str]:
    """The reply to a request, or its status and, where it failed, the reason."""
    url, body = f"{request['address']}/{request['path']}", request["body"]
    try:
        # As a raw response: parsing it into the SDK's own objects would take longer than the rest.
        sent: Any = client.post(url, cast_to=httpx2.Response, body=body)
    except openai.APIError as error:
        return explain(error, client.api_key)
    reply = dict(sent.extensions["reply"])
    status, reason = outcome(body, reply)
    return Raw(reply) if status == "ok" else status, reason


def send(name: str, entry: Hosted, requests: Sequence[Json]) -> Iterator[tuple[int, Raw | Status]]:
    """Replies as they come, each with the index of its request, or why there is none.

    Args:
        name: The model's key in `models`.
        entry: Its parameters.
        requests: What is sent.

    Raises:
        SelfprefError: No key; the endpoint does not give what was asked for; too many failures.
    """
    answered, in_row, stopped, reasons = 0, 0, False, Counter[str]()
    threads = ThreadPoolExecutor(entry.concurrency)
    with _client(name, entry) as client:
        try:
            # The first call alone: what the endpoint cannot give, it cannot give to any.
            for some in (range(1), range(1, len(requests))):
                if stopped:
                    break
                begun = {threads.submit(_reply, client, requests[index]): index for index in some}
                for done in as_completed(begun):
                    index = begun.pop(done)
                    if done.cancelled():
                        continue
                    made, failure = done.result()
                    if made == "failed":
                        reasons[failure] += 1
                        in_row += 1
                    else:
                        answered, in_row = answered + 1, 0
                    if in_row >= IN_ROW or not answered:
                        stopped = True
                        # What is under way is waited for, and kept.
                        for later in begun:
                            later.cancel()
                    yield index, made
        finally:
            threads.shutdown(wait=False, cancel_futures=True)
    if stopped or reasons.total() > SHARE * len(requests):
        told = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(3))
        left = len(requests) - answered - reasons.total()
        raise SelfprefError(
            f"models.{name}: {entry.base_url}: calls failed ({told}); {answered} answered and "
            f"kept, {left} not asked.\nCorrect the cause and run again: only what is missing is "
            "asked"
        )
