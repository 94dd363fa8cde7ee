"""Models behind the OpenAI chat API: OpenAI itself, vLLM, llama.cpp, gateways.

A chat endpoint takes messages and gives text, with the probabilities of the likeliest tokens at
each of its positions if it can; the likelihood of a given text it does not give. How the verdict
after a prefill such as `[[` is asked for depends on the server:

    openai      no prefill; the reply is asked for, and read at the token after its own `[[`
    vllm        the prefill is the last message, with `continue_final_message`
    llama.cpp   the prefill is the last message, which the server continues by itself

The probability of a label is the sum over its surface forms among the tokens that the endpoint
lists at the position of the verdict: `A`, ` A`, `[[A`, `A]]`. That position is the token that holds
the first character after the last `[[`; it may hold part of the `[[` too, and then so must the
forms. Where a reply is the label alone, it is the first token that is more than whitespace: some
tokenizers write the space of a format such as `[/INST] 1` as a token of its own. A label outside
the list (or marked -9999) counts 0: an error of at most what the list leaves of the whole.

Requests are sent by threads, many at a time. The SDK retries (connection lost, timeout, 408, 409,
429, 5xx) and honours Retry-After; nothing here retries besides. A body that is no completion counts
as a connection lost. What fails after that is told in words without secrets. Where it is the
request's own fault its row is `truncated` or `refused`; else it is `failed`, which is no answer and
is asked again by the next run. The stage stops at the first failure before any answer, at `IN_ROW`
of them in a row, and at its end where more than `SHARE` of the calls failed. What was answered is
kept in every case.
"""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import accumulate
from textwrap import shorten
from typing import Any

import httpx2
import openai

from selfpref import models, texts
from selfpref.errors import SelfprefError
from selfpref.models import Answer, Answers, Call, Choice, Choose, Generate, Json, Raw, Status, Text
from selfpref.params import Hosted
from selfpref.params.models import SECRET

# Limit of a reply that is a label alone, with whitespace before it.
LABEL_TOKENS = 2
# Endpoints round logarithms; beyond this a sum of probabilities is no rounding error.
ROUNDING = 0.01
IN_ROW, SHARE = 10, 0.05
TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|context (length|size|window)|maximum context",
    re.IGNORECASE,
)
FILTERED = re.compile(r"content_filter|content_policy|content management policy", re.IGNORECASE)


class HostedModel:
    """One model at one endpoint.

    Args:
        name: Its key in `models`, for messages.
        entry: Its parameters.
    """

    def __init__(self, name: str, entry: Hosted) -> None:
        self._name, self._entry = name, entry
        self.identity = {"provider": "openai", "address": entry.base_url, "model": entry.model}

    def _opened(self, call: Call) -> str:
        """What is sent of the prefill: the reply goes on where it ends."""
        return "" if self._entry.server == "openai" else call.prompt.prefill

    def request(self, call: Call) -> dict[str, Any]:
        """What is sent for a call: address, path and body.

        What an endpoint does not give, the parameters do not ask of it.

        Raises:
            SelfprefError: It is asked for the likelihood of a given text.
        """
        entry, opened = self._entry, self._opened(call)
        if isinstance(call, models.Score):
            told = "an endpoint gives no perplexities; use a model with `engine: transformers`"
            raise SelfprefError(f"models.{self._name}: {told}")
        said = list(call.prompt.said(fold=entry.system == "fold"))
        if opened:
            said.append(("assistant", opened))
        messages = [{"role": role, "content": content} for role, content in said]
        body: dict[str, Any] = {"model": entry.model, "messages": messages}
        sent = {"address": entry.base_url, "path": "chat/completions", "body": body}
        if opened and entry.server == "vllm":
            body |= {"add_generation_prompt": False, "continue_final_message": True}
        body |= entry.extra
        if entry.reasoning:
            body["reasoning_effort"] = entry.reasoning
        if isinstance(call, Generate):
            limit, heat, seed = call.max_tokens, call.temperature, call.seed
        else:
            whole = models.VERDICT_TOKENS if call.prompt.prefill else LABEL_TOKENS
            limit, heat, seed = 1 if opened else whole, 0.0, 0
        if entry.reasons:
            # It takes no seed and is never greedy: repeats are told apart in the key alone.
            body["max_completion_tokens"] = limit + entry.reasoning_tokens
            return sent | {"repeat": seed}
        name = "max_completion_tokens" if entry.reasoning else entry.limit
        body |= {name: limit, "temperature": heat} | ({"seed": seed} if heat else {})
        if call.labels:
            body |= {"logprobs": True, "top_logprobs": entry.top_logprobs}
        return sent

    def read(self, call: Call, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds."""
        prefill, opened = call.prompt.prefill, self._opened(call)
        if isinstance(call, Choose):
            marker = "" if opened else prefill
            found = choice(reply, marker, call.labels, spaced=not prefill)
            return found or Choice((), "unparsable")
        assert isinstance(call, Generate)
        cut = reply["choices"][0].get("finish_reason") == "length"
        said = _content(reply).removeprefix(opened)
        labelled = choice(reply, call.marker, call.labels) if call.labels else None
        return Text(said, "cut" if cut else "ok", labelled)

    def answer(self, calls: Sequence[Call]) -> Answers:
        """Replies as they come; see `Engine`.

        Raises:
            SelfprefError: No key; the endpoint does not give what was asked for; too many failures.
        """
        entry, reasons = self._entry, Counter[str]()
        answered, in_row, stopped = 0, 0, False
        threads, requests = ThreadPoolExecutor(entry.concurrency), list(map(self.request, calls))
        with _client(self._name, entry) as client:
            try:
                # The first call alone: what the endpoint cannot give, it cannot give to any.
                for lot in (range(1), range(1, len(calls))):
                    if stopped:
                        break
                    begun = {threads.submit(_reply, client, requests[n]): n for n in lot}
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
                        if isinstance(made, Raw):
                            yield index, made
                        else:
                            writes = isinstance(calls[index], Generate)
                            yield index, Text("", made) if writes else Choice((), made)
            finally:
                threads.shutdown(wait=False, cancel_futures=True)
        if stopped or reasons.total() > SHARE * len(calls):
            told = "; ".join(f"{count} x {reason}" for reason, count in reasons.most_common(3))
            left = len(calls) - answered - reasons.total()
            raise SelfprefError(
                f"models.{self._name}: {entry.base_url}: calls failed ({told}); {answered} "
                f"answered and kept, {left} not asked.\nCorrect the cause and run again"
            )


def explain(error: openai.APIError, key: str) -> tuple[Status, str]:
    """The status of a call without a reply; of a failed one why, in a line, without the `key`."""
    if isinstance(error, openai.APIStatusError):
        told = error.body if isinstance(error.body, dict) else {"message": error.body}
        words = " ".join(str(told.get(part) or "") for part in ("code", "type", "message"))
        if error.status_code in (400, 413, 422) and TOO_LONG.search(words):
            return "truncated", ""
        if error.status_code == 400 and FILTERED.search(words):
            return "refused", ""
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
        raise SelfprefError(f"models.{name}.key: the variable {entry.key} is not set; export it")
    hooks = {"response": [_check]}
    return openai.OpenAI(
        base_url=entry.base_url,
        api_key=key,
        max_retries=entry.retries,
        timeout=httpx2.Timeout(entry.timeout, connect=10.0),
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


def outcome(body: Json, reply: Json) -> tuple[Status, str]:
    """Whether a reply is an answer: `ok`, `refused` or, with the reason, `failed`.

    It failed where it lacks the probabilities that were asked for, ignores the prefill, or is empty
    since reasoning took the whole of its limit.

    Args:
        body: What was sent.
        reply: A chat completion.
    """
    said = reply["choices"][0]
    message, end = said["message"], said.get("finish_reason")
    if message.get("refusal") or end == "content_filter":
        return "refused", ""
    content, tokens = _content(reply), _listed(reply)
    reasons = body.get("reasoning_effort", "none") != "none"
    if reasons and not content.strip() and end == "length":
        return "failed", "it reasoned up to its limit and wrote nothing; raise `reasoning_tokens`"
    if body.get("logprobs") and content and not tokens:
        return "failed", "it gives no token probabilities; use `score_mode: sampled` or `text`"
    # llama.cpp puts the prefill before what the model wrote, in the content and not in the tokens.
    last, begun = body["messages"][-1], b"".join(map(_spelt, tokens)).lstrip()
    if last["role"] == "assistant" and begun.startswith(last["content"].encode()):
        told = f"it does not continue the prefill {last['content']!r}; correct its `server`"
        return "failed", told
    return "ok", ""


def _content(reply: Json) -> str:
    """What the model wrote; empty where it wrote nothing."""
    return texts.whole(reply["choices"][0]["message"].get("content") or "")


def _listed(reply: Json) -> list[Json]:
    """The tokens of a reply with their probabilities; none where it tells none."""
    return (reply["choices"][0].get("logprobs") or {}).get("content") or []


def _spelt(entry: Json) -> bytes:
    listed = entry.get("bytes")
    return texts.whole(entry["token"]).encode() if listed is None else bytes(listed)


def choice(
    reply: Json, marker: str, labels: Sequence[str], *, spaced: bool = False
) -> Choice | None:
    """Probabilities of the labels at the token after the last marker.

    Args:
        reply: A chat completion with log-probabilities.
        marker: Such as `[[`; empty: the reply begins with the label.
        labels: In the order of the answer.
        spaced: Whether tokens of mere whitespace may stand before a label without a marker.

    Returns:
        None where the marker never came, or nothing came after it.
    """
    entries, wanted = _listed(reply), marker.encode()
    spelt = list(map(_spelt, entries))
    whole = b"".join(spelt)
    if marker not in _content(reply) or wanted not in whole:
        return None
    blank = len(whole) - len(whole.lstrip()) if spaced else 0
    verdict = whole.rfind(wanted) + len(wanted) if wanted else blank
    at = sum(end <= verdict for end in accumulate(map(len, spelt)))
    if at == len(entries):
        return None
    before = whole[sum(map(len, spelt[:at])) : verdict].strip()
    # With the chosen one; different tokens may be spelt alike, the same one listed twice is one.
    listed = {(_spelt(one), one["logprob"]) for one in entries[at].get("top_logprobs") or ()}
    if spelt[at] not in dict(listed):
        listed.add((spelt[at], entries[at]["logprob"]))
    sums = dict.fromkeys(labels, 0.0)
    for token, logprob in sorted(listed):
        form = token.strip()
        rest = form.removeprefix(before or wanted).strip()
        label = rest.partition(b"]")[0].strip().decode(errors="replace")
        if form.startswith(before) and label in sums:
            sums[label] += math.exp(logprob)
    total = math.fsum(sums.values())
    # Rounded logarithms may sum to a little more than one; more than that is no distribution.
    if math.isnan(total) or total > 1 + ROUNDING:
        return Choice((), "unparsable")
    return Choice(tuple(value / max(total, 1.0) for value in sums.values()), "ok")
