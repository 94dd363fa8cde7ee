"""What is sent to an endpoint, and what its failures mean."""

import httpx2
import openai
import pytest

from selfpref.errors import SelfprefError
from selfpref.models import Choose, Generate, Prompt, Score
from selfpref.models.served import HostedModel, guess
from selfpref.models.served.live import Circuit, Failure, explain
from selfpref.params import Hosted

ASKED = Prompt((("system", "Be brief."), ("user", "Why?")))
SAID = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
PREFILLED = Prompt(ASKED.messages, "[[")
OPENED = [*SAID, {"role": "assistant", "content": "[["}]
FOLDED = [{"role": "user", "content": "Be brief.\n\nWhy?"}]
WRITE, DRAW = Generate(ASKED, 100, 0.0, 7), Generate(ASKED, 9, 0.7, 7)
PICK, PICK_OPENED = Choose(ASKED, ("A", "B")), Choose(PREFILLED, ("A", "B"))
EXPLAIN = Generate(PREFILLED, 9, 0.7, 7, "[[", ("A", "B"))
WEIGHED = {"temperature": 0.0, "logprobs": True, "top_logprobs": 20}
NEWER = {"reasoning_effort": "none"} | WEIGHED
ANEW = {"add_generation_prompt": False, "continue_final_message": True}
EXTRA = {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}}
GREEDY = {"max_tokens": 100, "temperature": 0.0}


def request(call, **settings):
    entry = Hosted(engine="openai", model="m", base_url="http://127.0.0.1:9/v1", **settings)
    return HostedModel("judge", entry, None).request(call)


@pytest.mark.parametrize(
    ("settings", "call", "messages", "body"),
    [
        ({}, DRAW, SAID, {"max_tokens": 9, "temperature": 0.7, "seed": 7}),
        ({}, PICK, SAID, {"max_tokens": 2, **WEIGHED}),
        # No prefill: the reply's own bracket is waited for.
        ({}, PICK_OPENED, SAID, {"max_tokens": 16, **WEIGHED}),
        ({"server": "vllm"}, PICK_OPENED, OPENED, {"max_tokens": 1, **WEIGHED, **ANEW}),
        ({"server": "llama.cpp"}, PICK_OPENED, OPENED, {"max_tokens": 1, **WEIGHED}),
        ({"server": "llama.cpp"}, EXPLAIN, OPENED,
         {"max_tokens": 9, **WEIGHED, "temperature": 0.7, "seed": 7}),
        ({"system": "fold"}, WRITE, FOLDED, GREEDY),
        ({"extra": EXTRA}, WRITE, SAID, GREEDY | EXTRA),
        ({"limit": "max_completion_tokens"}, WRITE, SAID,
         {"max_completion_tokens": 100, "temperature": 0.0}),
        # What it reasons counts to the limit; it takes no seed and is never greedy.
        ({"reasoning": "low", "reasoning_tokens": 5000}, DRAW, SAID,
         {"max_completion_tokens": 5009, "reasoning_effort": "low"}),
        ({"reasoning": "none"}, PICK_OPENED, SAID, {"max_completion_tokens": 16, **NEWER}),
    ],
)  # fmt: skip
def test_what_is_sent(settings, call, messages, body):
    sent = request(call, **settings)
    repeat = {"repeat": 7} if settings.get("reasoning") == "low" else {}
    head = {"address": "http://127.0.0.1:9/v1", "path": "chat/completions", **repeat}
    assert sent == head | {"body": {"model": "m", "messages": messages, **body}}
    # At four bytes a token, four a message, and the reply's limit.
    limit = body.get("max_tokens") or body["max_completion_tokens"]
    sizes = [4 + -(-len(message["content"]) // 4) for message in messages]
    assert guess(sent) == sum(sizes) + limit


def test_a_score_is_vllms_and_hangs_on_what_its_template_is_told():
    score = Score(PREFILLED, "It is.")
    sent = request(score, server="vllm")
    said = {"model": "m", "messages": SAID, "prefill": "[[", "continuation": "It is."}
    assert (sent["path"], sent["body"]) == ("score", said)
    assert request(score, server="vllm", extra=EXTRA)["body"] == said | {"extra": EXTRA}
    assert guess(sent) == (3 + 1 + 2) + 3 * 4 + 1
    with pytest.raises(SelfprefError, match=r"gives no likelihoods of a given text.*`perplexity`"):
        request(score)
    with pytest.raises(SelfprefError, match="a reasoning model gives no probabilities"):
        request(PICK, reasoning="high")
    assert request(WRITE, reasoning="high")["body"]["max_completion_tokens"] >= 4000


KEY = "-".join(("sk", "planted", "0123456789abcdef"))
SENT = httpx2.Request("POST", "http://judge.invalid:81/v1/chat/completions")


def refused(status, message, **told):
    answer = httpx2.Response(status, request=SENT)
    return openai.APIStatusError("", response=answer, body={"message": message, **told})


def lost(cause):
    error = openai.APIConnectionError(request=SENT)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (refused(401, f"Incorrect key {KEY}."),
         Failure("failed", "401: Incorrect key ***", hard=True)),
        (refused(500, "Oops, sk-other-0123456789abcdef"), Failure("failed", "500: Oops, ***")),
        (refused(429, "Slow down"), Failure("failed", "429: Slow down")),
        (refused(429, "No money", code="insufficient_quota"),
         Failure("failed", "429: No money", hard=True)),
        (refused(400, "Too long", code="context_length_exceeded"),
         Failure("truncated", "longer than the context")),
        (refused(400, "", type="content_filter"),
         Failure("refused", "stopped by the content filter")),
        (refused(503, "x" * 300), Failure("failed", f"503: {'x' * 195} ...")),
        (lost(httpx2.ConnectTimeout("timed out", request=SENT)),
         Failure("failed", "Cannot connect to host judge.invalid:81: timed out")),
        (lost(httpx2.ReadError("", request=SENT)), Failure("failed", "ReadError")),
    ],
)  # fmt: skip
def test_a_failure_is_told_in_one_line_without_the_key(error, failure):
    assert explain(error, KEY) == failure


HARD, SOFT, OK = Failure("failed", "401", hard=True), Failure("failed", "500"), None


@pytest.mark.parametrize(
    ("counted", "stopped", "fails"),
    [
        ([HARD], True, True),  # before any answer
        ([OK, HARD, HARD, OK, HARD, HARD], False, False),
        ([OK, HARD, HARD, HARD], True, True),
        ([OK, *[SOFT] * 19], False, True),
        ([OK, *[SOFT] * 20], True, True),
        # Where more than one in twenty calls failed.
        ([OK, SOFT] * 5, False, False),
        ([OK, SOFT] * 6, False, True),
        ([Failure("refused", "filter"), Failure("truncated", "long")] * 30, False, False),
    ],
)
def test_a_stage_stops_at_failures_in_a_row_and_fails_where_many_calls_did(counted, stopped, fails):
    circuit = Circuit("judge", 100)
    for failure in counted:
        circuit.count(failure)
    assert circuit.stopped == stopped
    told, failed = str(circuit.verdict() or ""), sum(one in (HARD, SOFT) for one in counted)
    answered = counted.count(OK)
    end = f"{answered} answered and kept, {100 - answered - failed} not asked."
    assert told.startswith("models.judge: stopped, ") == fails
    assert (end in told) == fails
