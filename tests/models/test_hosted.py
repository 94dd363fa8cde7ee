"""Served models over real HTTP on loopback: faults, limits, what is kept; requests and replies."""

import math
import re
from collections import Counter
from contextlib import nullcontext

import pytest

pytest.importorskip("openai", reason="the extra `models` is not installed")

from asking import to_choose
from conftest import refused
from scripted import TRANSIENT, Scripted, completion, position, share_of_a

from selfpref.models import Choose, Generate, Prompt, Score, served
from selfpref.models.calls import Model
from selfpref.models.served import IN_ROW, HostedModel
from selfpref.params import Hosted
from selfpref.prompts import LABELS
from selfpref.store import Store

KEY = "-".join(("sk", "planted", "0123456789abcdef"))


def hosted(url="http://127.0.0.1:9/v1", **settings):
    fixed = {"engine": "openai", "model": "m", "base_url": url, "concurrency": 8, "timeout": 5.0}
    return HostedModel("judge", Hosted(**(fixed | settings)))


def prompts(count):
    return [Prompt((("user", f"{n} question"),), "[[") for n in range(count)]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def ask(store, model, asked):
    return Model(model, store, offline=False, title="").ask(to_choose(asked, LABELS))


def check(asked, choices):
    """Every prompt has its own answer by the server's rule."""
    for prompt, choice in zip(asked, choices, strict=True):
        a = share_of_a({"messages": [{"role": "user", "content": prompt.messages[0][1]}]})
        assert choice.probabilities == pytest.approx((0.9 * a, 0.9 * (1 - a)))


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_transient_fault_costs_a_retry_and_no_row(store, fault):
    with Scripted(script=["ok", fault], stall=1.0) as server:
        asked = prompts(4)
        check(asked, ask(store, hosted(server.url, timeout=0.5), asked))
        assert len(server.bodies) == 5


@pytest.mark.parametrize(
    ("fault", "told"),
    [("401", r"401: Incorrect API key provided: \*\*\*"), ("no logprobs", "`score_mode: sampled`")],
)
def test_what_the_endpoint_does_not_give_is_told_after_one_call(store, monkeypatch, fault, told):
    monkeypatch.setenv("PLANTED", KEY)
    with Scripted(always=fault) as server:
        with refused(match=rf"^models.judge: http://127.*{told}") as failure:
            ask(store, hosted(server.url, key="PLANTED"), prompts(50))
        ((_, headers, _),) = server.received
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert KEY not in str(failure.value)


def test_an_endpoint_that_is_not_there_and_a_key_that_is_not_set_are_told(store):
    for key, told in ((None, r"9/v1: calls failed \(1 x Conn"), ("PLANTED", "PLANTED is not set")):
        with refused(match=told):
            ask(store, hosted(retries=0, key=key), prompts(3))


def test_failures_in_a_row_stop_the_stage_and_lose_nothing(store):
    asked = prompts(100)
    with Scripted(script=["ok"] * 20, always="401", latency=0.02) as server:
        model = hosted(server.url, concurrency=3)
        with refused(match=r"20 answered and kept.* not asked"):
            ask(store, model, asked)
        # Those under way when the last of them came back, and no more.
        assert len(server.bodies) <= 20 + IN_ROW + 2 * 3
        assert server.most_under_way == 3
        server.script = iter(["ok"] * 100)
        server.received.clear()
        check(asked, ask(store, model, asked))
        assert len(server.bodies) == 80


@pytest.mark.parametrize("failed", [5, 6])
def test_a_stage_fails_where_more_than_one_call_in_twenty_did(store, failed):
    told = refused(match=r"6 x 500.*94 answered and kept, 0")
    script = ["ok", *["500", "ok"] * failed]
    with Scripted(script=script) as server, told if failed == 6 else nullcontext():
        ask(store, hosted(server.url, retries=0, concurrency=1), prompts(100))


def test_what_is_no_answer_is_a_row_with_a_status_and_asked_again(store):
    asked = prompts(60)
    odd = ["500", "no logprobs", "refusal", "filtered", "filter", "context", "empty", "length"]
    with Scripted(script=["ok", *odd]) as server:
        model = hosted(server.url, retries=0)
        found = ask(store, model, asked)
        statuses = {"failed": 2, "refused": 3, "truncated": 1, "unparsable": 2, "ok": 52}
        assert Counter(choice.status for choice in found) == statuses
        # An answer without a verdict is an answer.
        again = ask(store, model, asked)
        assert Counter(choice.status for choice in again) == {"unparsable": 2, "ok": 58}
        assert len(server.bodies) == 66


# --- requests -------------------------------------------------------------------------------------

ASKED = Prompt((("system", "Be brief."), ("user", "Why?")))
SAID = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
PREFILLED = Prompt(ASKED.messages, "[[")
OPENED = [*SAID, {"role": "assistant", "content": "[["}]
FOLDED = [{"role": "user", "content": "Be brief.\n\nWhy?"}]
WRITE, DRAW = Generate(ASKED, 100, 0.0, 7), Generate(ASKED, 9, 0.7, 7)
PICK, PICK_OPENED = Choose(ASKED, ("A", "B")), Choose(PREFILLED, ("A", "B"))
EXPLAIN = Generate(PREFILLED, 9, 0.7, 7, "[[", ("A", "B"))
GREEDY, LONGER = {"temperature": 0.0}, {"limit": "max_completion_tokens"}
WEIGHED = {"logprobs": True, "top_logprobs": 20}
ANEW = {"add_generation_prompt": False, "continue_final_message": True}
EXTRA = {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize(
    ("settings", "call", "messages", "body"),
    [
        ({}, DRAW, SAID, {"max_tokens": 9, "temperature": 0.7, "seed": 7}),
        ({}, PICK, SAID, {"max_tokens": 2} | GREEDY | WEIGHED),
        # No prefill: the reply's own bracket is waited for.
        ({}, PICK_OPENED, SAID, {"max_tokens": 16} | GREEDY | WEIGHED),
        ({"server": "vllm"}, PICK_OPENED, OPENED, {"max_tokens": 1} | GREEDY | WEIGHED | ANEW),
        ({"server": "llama.cpp"}, EXPLAIN, OPENED,
         {"max_tokens": 9, "temperature": 0.7, "seed": 7} | WEIGHED),
        ({"system": "fold", "extra": EXTRA}, WRITE, FOLDED, {"max_tokens": 100} | GREEDY | EXTRA),
        (LONGER, WRITE, SAID, {"max_completion_tokens": 100} | GREEDY),
        # What it reasons counts to the limit; it takes no seed and is never greedy.
        ({"reasoning": "low", "reasoning_tokens": 5000}, DRAW, SAID,
         {"max_completion_tokens": 5009, "reasoning_effort": "low"}),
        ({"reasoning": "none"}, PICK_OPENED, SAID,
         {"max_completion_tokens": 16, "reasoning_effort": "none"} | GREEDY | WEIGHED),
    ],
)  # fmt: skip
def test_what_is_sent(settings, call, messages, body):
    sent = hosted(**settings).request(call)
    assert sent.pop("repeat", None) == (7 if settings.get("reasoning") == "low" else None)
    head = {"address": "http://127.0.0.1:9/v1", "path": "chat/completions"}
    assert sent == head | {"body": {"model": "m", "messages": messages, **body}}


def test_likelihoods_are_not_asked_of_an_endpoint():
    with refused(match="use a model with `engine: transf"):
        hosted().request(Score(PREFILLED, "It is."))


# --- replies --------------------------------------------------------------------------------------

BODY = {"model": "m", "messages": [{"role": "user", "content": "why?"}], "logprobs": True}


def reply(*positions, finish="stop", **message):
    return completion(BODY, list(positions), finish, **message)


def sure(token):
    return position(token, {token: 1.0})


# Two tokens spelt alike beside one that is listed twice; one that was chosen and is not listed.
TWICE = position("A", {"A": 0.5, "B": 0.2})
TWICE["top_logprobs"] = [*TWICE["top_logprobs"] * 2, *position("A", {"A": 0.1})["top_logprobs"]]
UNLISTED = position("B", {"A": 0.5}) | {"logprob": math.log(0.25)}
HALVES = [sure("?") | {"bytes": [byte]} for byte in "é".encode()]
OPEN = sure("[[")


@pytest.mark.parametrize(
    ("positions", "wanted"),
    [
        # With and without a space, and with a bracket: one label.
        ([OPEN, position("A", {"A": 0.4, " A": 0.2, "A]]": 0.1, "B": 0.1})], (0.7, 0.1)),
        # The bracket and the label share a token; a label without bracket is none there.
        ([position("[[A", {"[[A": 0.5, " [[B": 0.2, "A": 0.1}), sure("]]")], (0.5, 0.2)),
        # Words that begin with a label are none.
        ([OPEN, position("A", {"A": 0.2, "Assistant": 0.5, "Both": 0.3})], (0.2, 0.0)),
        # The last verdict counts.
        ([OPEN, sure("A"), sure("]] no [["), position("B", {"B": 0.8})], (0.0, 0.8)),
        ([OPEN, UNLISTED], (0.5, 0.25)),
        ([OPEN, TWICE], (0.6, 0.2)),
        # Rounding is mended; what is no distribution is no verdict.
        ([OPEN, position("A", {"A": 1.0, "B": 0.001})], (1 / 1.001, 0.001 / 1.001)),
        ([OPEN, position("A", {"A": 0.9, "B": 0.9})], ()),
        # A token may end within a character.
        ([*HALVES, OPEN, position("A", {"A": 0.7})], (0.7, 0.0)),
        ([sure("A")], None),
        ([sure("so "), OPEN], None),
    ],
)
def test_every_surface_form_of_a_label_after_the_marker_is_summed(positions, wanted):
    found = served.choice(reply(*positions), "[[", LABELS)
    assert (found and found.probabilities) == (wanted and pytest.approx(wanted))
    assert not found or found.status == ("ok" if wanted else "unparsable")


def test_without_a_marker_the_label_is_the_first_token_that_is_more_than_whitespace():
    """Llama 2 writes `▁` and `1` after `[/INST]`: the space is a token of its own."""
    label = position("1", {"1": 0.6, "2": 0.3})
    for space in ([], [position(" ", {" ": 0.98, "1": 0.02})], [sure("\n")]):
        found = served.choice(reply(*space, label), "", ("1", "2"), spaced=True)
        assert found.probabilities == pytest.approx((0.6, 0.3))


def test_generations_tell_their_text_and_whether_they_were_cut():
    verdict = position("B", {"B": 0.5, "A": 0.25})
    model = hosted(server="vllm")
    for made, prompt, labels, wanted in (
        (reply(sure("so [["), verdict, finish="length"), ASKED, LABELS,
         ("so [[B", "cut", (0.25, 0.5))),
        # A model's thoughts are listed by some endpoints, and are no part of its reply.
        (reply(OPEN, sure("A"), content="Cannot tell."), ASKED, LABELS,
         ("Cannot tell.", "ok", None)),
        # An answer that ends in half a character is text.
        (reply(OPEN, {"token": "\ud83d", "logprob": 0.0}, content="[[\ud83d"), ASKED, LABELS,
         ("[[\ufffd", "ok", (0.0, 0.0))),
        # Some servers repeat the prefill.
        (reply(sure("[[A]]")), PREFILLED, (), ("A]]", "ok", None)),
    ):  # fmt: skip
        found = model.read(Generate(prompt, 9, 0, 7, "[[", labels), made)
        shares = found.choice and pytest.approx(found.choice.probabilities)
        assert (found.text, found.status, shares) == wanted


PREFIX = {"messages": [*BODY["messages"], {"role": "assistant", "content": "[["}]}
THINKS = {"reasoning_effort": "low", "logprobs": False}


@pytest.mark.parametrize(
    ("body", "made", "wanted"),
    [
        ({}, reply(content="A"), "`score_mode: sampled` or `text`"),
        (THINKS, reply(finish="length"), "raise `reasoning_tokens`"),
        (PREFIX, reply(sure("A")), "ok"),
        (PREFIX, reply(sure(" [[A")), r"the prefill '\[\['"),
        # llama.cpp puts the prefill before what the model wrote, but not among the tokens.
        (PREFIX, reply(sure("A"), content="[[A"), "ok"),
    ],
)
def test_a_reply_is_an_answer_or_lacks_what_was_asked_for(body, made, wanted):
    status, reason = served.outcome(BODY | body, made)
    assert status == ("ok" if wanted == "ok" else "failed")
    assert wanted == "ok" or re.search(wanted, reason)
