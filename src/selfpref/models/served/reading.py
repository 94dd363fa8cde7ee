"""Raw replies of chat endpoints: what of them is an answer, and which.

The probability of a label is the sum over its surface forms among the tokens that the endpoint
lists at the position of the verdict: `A`, ` A`, `[[A`, `A]]`. That position is the token that holds
the first character after the last `[[`; it may hold part of the `[[` too, and then so must the
forms. Where a reply is the label alone, it is the first token that is more than whitespace. A label
outside the list (or marked -9999) counts 0: an error of at most what the list leaves of the whole.
The verdict's mass is the sum over its labels.
"""

import bisect
import itertools
import math
from collections.abc import Sequence

from selfpref import texts
from selfpref.models import Choice, Json, Likelihood, Status, Text

# Endpoints round logarithms; beyond this a sum of probabilities is no rounding error.
ROUNDING = 0.01


class NotGivenError(Exception):
    """The reply lacks what was asked for; says what the endpoint does not give."""


def outcome(request: Json, reply: Json) -> Status:
    """Whether a reply is an answer: `ok` or `refused`.

    Raises:
        NotGivenError: It lacks the probabilities that were asked for, ignores the prefill, or is
            empty since reasoning took the whole of its limit.
    """
    if request["path"] == "score":
        _likelihoods(reply)
        return "ok"
    body, choice = request["body"], reply["choices"][0]
    message, end = choice["message"], choice.get("finish_reason")
    if message.get("refusal") or end == "content_filter":
        return "refused"
    content, tokens = message.get("content") or "", _listed(reply)
    reasons = body.get("reasoning_effort", "none") != "none"
    if reasons and not content.strip() and end == "length":
        raise NotGivenError("reasoned up to its limit and wrote nothing; raise `reasoning_tokens`")
    if body.get("logprobs") and content and not tokens:
        raise NotGivenError(
            "gives no token probabilities (logprobs); use `score_mode: sampled` or `text`"
        )
    # llama.cpp puts the prefill before what the model wrote, in the content and not in the tokens.
    last, begun = body["messages"][-1], b"".join(map(_spelt, tokens)).lstrip()
    if last["role"] == "assistant" and begun.startswith(last["content"].encode()):
        raise NotGivenError(
            f"does not continue the prefill {last['content']!r}; correct `server` of this model"
        )
    return "ok"


def _listed(reply: Json) -> list[Json]:
    """The tokens of a reply with their probabilities; none where it tells none."""
    return (reply["choices"][0].get("logprobs") or {}).get("content") or []


def _spelt(entry: Json) -> bytes:
    listed = entry.get("bytes")
    return texts.whole(entry["token"]).encode() if listed is None else bytes(listed)


def text(reply: Json, prefill: str = "") -> str:
    """What the model wrote, without a prefill before it; empty where it wrote nothing."""
    content = reply["choices"][0]["message"].get("content") or ""
    return texts.whole(content).removeprefix(prefill)


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
    if marker not in text(reply) or wanted not in whole:
        return None
    blank = len(whole) - len(whole.lstrip()) if spaced else 0
    verdict = whole.rfind(wanted) + len(wanted) if wanted else blank
    ends = [*itertools.accumulate(len(_spelt(entry)) for entry in entries)]
    at = bisect.bisect_right(ends, verdict)
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
    listed = sorted({(_spelt(one), one["logprob"]) for one in entry.get("top_logprobs") or ()})
    if _spelt(entry) not in dict(listed):
        listed.append((_spelt(entry), entry["logprob"]))
    sums = dict.fromkeys(labels, 0.0)
    for spelt, logprob in listed:
        form = spelt.strip()
        rest = form.removeprefix(before or marker).strip()
        label = rest.partition(b"]")[0].strip().decode(errors="replace")
        if form.startswith(before) and label in sums:
            sums[label] += math.exp(logprob)
    return list(sums.values())


def generation(reply: Json, marker: str, labels: Sequence[str], prefill: str = "") -> Text:
    """The text, and the probabilities of the labels after the last marker if labels are given."""
    cut = reply["choices"][0].get("finish_reason") == "length"
    found = choice(reply, marker, labels) if labels else None
    return Text(text(reply, prefill), "cut" if cut else "ok", found)


def _likelihoods(reply: Json) -> list[float]:
    """Log-probabilities of the continuation's tokens."""
    completion, start = reply["completion"], reply["context"]
    listed = completion["choices"][0].get("prompt_logprobs") or []
    tokens = zip(reply["tokens"], listed, strict=False)
    found = [(at or {}).get(str(token), {}).get("logprob") for token, at in tokens][start:]
    details = (completion.get("usage") or {}).get("prompt_tokens_details") or {}
    scored = [value for value in found if value is not None]
    if len(scored) < len(reply["tokens"]) - start or details.get("cached_tokens"):
        raise NotGivenError(
            "gives no likelihood of some tokens: no prompt_logprobs (is it vLLM?), those that it "
            "has cached (start vLLM with --no-enable-prefix-caching), or a text's first"
        )
    return scored


def score(reply: Json) -> Likelihood:
    """Log-likelihood of the continuation, from vLLM's prompt_logprobs."""
    found = _likelihoods(reply)
    return Likelihood(math.fsum(-value for value in found), len(found), "ok")
