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
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Any

from selfpref import models, texts
from selfpref.errors import SelfprefError
from selfpref.models import Answer, Call, Choice, Choose, Generate, Json, Raw, Text
from selfpref.params import Hosted

# Limit of a reply that is a verdict, such as `[[A]]`, where the prefill cannot be sent; and of one
# that is a label alone, with whitespace before it.
VERDICT_TOKENS, LABEL_TOKENS = 16, 2
# Endpoints round logarithms; beyond this a sum of probabilities is no rounding error.
ROUNDING = 0.01


class HostedModel:
    """One model at one endpoint.

    Args:
        name: Its key in `models`, for messages.
        entry: Its parameters.
        send: From requests to replies as they come, each with the index of its request, or why
            there is none.
    """

    def __init__(self, name: str, entry: Hosted, send: models.Answering) -> None:
        self._name, self._entry, self._send = name, entry, send
        self.identity = {"provider": "openai", "address": entry.base_url, "model": entry.model}

    def _continued(self, prefill: str) -> bool:
        """Whether the reply goes on where the prefill ends."""
        return not prefill or self._entry.server != "openai"

    def request(self, call: Call) -> dict[str, Any]:
        """What is sent for a call: address, path and body.

        What an endpoint does not give, the parameters do not ask of it.

        Raises:
            SelfprefError: It is asked for the likelihood of a given text.
        """
        entry, prefill = self._entry, call.prompt.prefill
        if isinstance(call, models.Score):
            raise SelfprefError(
                f"models.{self._name}: an endpoint gives no perplexities; use a model with "
                "`engine: transformers`"
            )
        said = call.prompt.messages
        if entry.system == "fold":
            said = models.folded(said)
        messages = [{"role": role, "content": content} for role, content in said]
        sent: dict[str, Any] = {"address": entry.base_url, "path": "chat/completions"}
        body: dict[str, Any] = {"model": entry.model, "messages": messages}
        continued = self._continued(prefill)
        if prefill and continued:
            messages.append({"role": "assistant", "content": prefill})
            if entry.server == "vllm":
                body |= {"add_generation_prompt": False, "continue_final_message": True}
        body |= entry.extra
        if entry.reasoning:
            body["reasoning_effort"] = entry.reasoning
        if isinstance(call, Generate):
            limit, heat, seed = call.max_tokens, call.temperature, call.seed
        else:
            opened = 1 if continued else VERDICT_TOKENS
            limit, heat, seed = opened if prefill else LABEL_TOKENS, 0.0, 0
        if entry.reasons:
            # It takes no seed and is never greedy: repeats are told apart in the key alone.
            body["max_completion_tokens"] = limit + entry.reasoning_tokens
            return sent | {"repeat": seed, "body": body}
        body |= {"max_completion_tokens" if entry.reasoning else entry.limit: limit}
        body |= {"temperature": heat} | ({"seed": seed} if heat else {})
        if call.labels:
            body |= {"logprobs": True, "top_logprobs": entry.top_logprobs}
        return sent | {"body": body}

    def read(self, call: Call, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds."""
        prefill, continued = call.prompt.prefill, self._continued(call.prompt.prefill)
        if isinstance(call, Choose):
            marker = "" if continued else prefill
            found = choice(reply, marker, call.labels, spaced=not prefill)
            return found or Choice((), "unparsable")
        assert isinstance(call, Generate)
        cut = reply["choices"][0].get("finish_reason") == "length"
        said = _content(reply).removeprefix(prefill if continued else "")
        labelled = choice(reply, call.marker, call.labels) if call.labels else None
        return Text(said, "cut" if cut else "ok", labelled)

    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer | Raw]]:
        """Replies as they come; see `Engine`."""
        for index, made in self._send([self.request(call) for call in calls]):
            if isinstance(made, Raw):
                yield index, made
            elif isinstance(calls[index], Generate):
                yield index, Text("", made)
            else:
                yield index, Choice((), made)


def outcome(body: Json, reply: Json) -> tuple[models.Status, str]:
    """Whether a reply is an answer: `ok`, `refused` or, with the reason, `failed`.

    It failed where it lacks the probabilities that were asked for, ignores the prefill, or is empty
    since reasoning took the whole of its limit.

    Args:
        body: What was sent.
        reply: A chat completion.
    """
    message, end = reply["choices"][0]["message"], reply["choices"][0].get("finish_reason")
    if message.get("refusal") or end == "content_filter":
        return "refused", ""
    content, tokens = _content(reply), _listed(reply)
    reasons = body.get("reasoning_effort", "none") != "none"
    if reasons and not content.strip() and end == "length":
        return "failed", "it reasoned up to its limit and wrote nothing; raise `reasoning_tokens`"
    if body.get("logprobs") and content and not tokens:
        return "failed", (
            "it gives no token probabilities (logprobs); use `score_mode: sampled` or `text`"
        )
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
    whole = b"".join(map(_spelt, entries))
    if marker not in _content(reply) or wanted not in whole:
        return None
    blank = len(whole) - len(whole.lstrip()) if spaced else 0
    verdict = whole.rfind(wanted) + len(wanted) if wanted else blank
    ends = list(accumulate(len(_spelt(entry)) for entry in entries))
    at = bisect_right(ends, verdict)
    if at == len(entries):
        return None
    before = whole[[0, *ends][at] : verdict].strip()
    sums = _sums(entries[at], before, wanted, labels)
    total = math.fsum(sums)
    # Rounded logarithms may sum to a little more than one; more than that is no distribution.
    if math.isnan(total) or total > 1 + ROUNDING:
        return Choice((), "unparsable")
    return Choice(tuple(value / max(total, 1.0) for value in sums), "ok")


def _sums(entry: Json, before: bytes, marker: bytes, labels: Sequence[str]) -> list[float]:
    """Probability of each label among the tokens listed at a position, the chosen one included."""
    # Different tokens may be spelt alike; the same token listed twice is one.
    listed = {(_spelt(one), one["logprob"]) for one in entry.get("top_logprobs") or ()}
    if _spelt(entry) not in dict(listed):
        listed.add((_spelt(entry), entry["logprob"]))
    sums = dict.fromkeys(labels, 0.0)
    for spelt, logprob in sorted(listed):
        form = spelt.strip()
        rest = form.removeprefix(before or marker).strip()
        label = rest.partition(b"]")[0].strip().decode(errors="replace")
        if form.startswith(before) and label in sums:
            sums[label] += math.exp(logprob)
    return list(sums.values())
