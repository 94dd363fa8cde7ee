"""Served models of a newer kind: reasoning, its reserve of tokens, an endpoint's own fields."""

import pytest

pytest.importorskip("openai", reason="the extra `models` is not installed")

from asking import to_choose, to_generate
from scripted import Scripted, completion, position
from test_hosted import ask, hosted, prompts, store  # noqa: F401

from selfpref.errors import SelfprefError
from selfpref.models import Choose, Generate, Prompt, Score
from selfpref.models.calls import Model
from selfpref.params import Hosted
from selfpref.store import call_key

ASKED = Prompt((("system", "Be brief."), ("user", "Why?")))


def request(call, **settings):
    """What is sent for a call."""
    return hosted("http://127.0.0.1:9/v1", **settings).request(call)


def test_a_reasoning_model_is_asked_in_its_own_way(store):  # noqa: F811
    """Its limit holds what it reasons as well."""
    with Scripted() as server:
        model = hosted(server.url, reasoning="low", reasoning_tokens=5000)
        calls = Model(model, store, offline=False, title="")
        calls.ask(to_generate(prompts(1) * 2, max_tokens=100, temperature=1.0, seeds=[1, 2]))
        with pytest.raises(SelfprefError, match="a reasoning model gives no probabilities"):
            ask(store, model, prompts(1))
    assert len(server.bodies) == 2
    for body in server.bodies:
        assert body["max_completion_tokens"] == 5100
        assert body["reasoning_effort"] == "low"
        assert not {"temperature", "max_tokens", "logprobs", "seed"} & set(body)


def test_marks_of_a_hundred_tokens_leave_room_to_reason():
    body = request(Generate(ASKED, 100, 0.0, 0), reasoning="high")["body"]
    assert body["max_completion_tokens"] >= 4000


def test_a_reply_that_is_all_reasoning_is_told_and_asked_again(store):  # noqa: F811
    replies = iter(["", "[[A]]"])

    def spent(body):
        text = next(replies)
        return completion(body, [position(text, {})] if text else [], "stop" if text else "length")

    with Scripted(spent) as server:
        calls = Model(hosted(server.url, reasoning="low"), store, offline=False, title="")
        asked = to_generate(prompts(1), max_tokens=100, temperature=0.0, seeds=[1])
        with pytest.raises(SelfprefError, match=r"wrote nothing; raise `reasoning_tokens`"):
            calls.ask(asked)
        (found,) = calls.ask(asked)
    assert (found.text, found.status) == ("[[A]]", "ok")


def test_without_reasoning_a_newer_model_gives_probabilities(store):  # noqa: F811
    """`reasoning: none`: the newer limit, and temperature, seed and logprobs as ever."""
    with Scripted() as server:
        model = hosted(server.url, reasoning="none")
        (found,) = ask(store, model, prompts(1))
        calls = Model(model, store, offline=False, title="")
        calls.ask(to_generate(prompts(1), max_tokens=9, temperature=0.7, seeds=[4]))
    assert found.mass == pytest.approx(0.9)
    chosen, written = server.bodies
    assert (chosen["reasoning_effort"], chosen["logprobs"], chosen["top_logprobs"]) == (
        "none",
        True,
        20,
    )
    assert (chosen["max_completion_tokens"], written["max_completion_tokens"]) == (16, 9)
    assert (written["temperature"], written["seed"]) == (0.7, 4)
    assert not any("max_tokens" in body for body in server.bodies)


def test_the_limit_has_the_name_that_the_endpoint_takes():
    call = Generate(ASKED, 9, 0.0, 0)
    newer = request(call, limit="max_completion_tokens")["body"]
    assert newer["max_completion_tokens"] == 9
    assert not {"max_tokens", "reasoning_effort"} & newer.keys()
    assert request(call)["body"]["max_tokens"] == 9


def test_an_endpoints_own_fields_are_sent_and_are_part_of_the_key():
    extra = {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}}
    for call in (Generate(ASKED, 9, 0.0, 0), Choose(ASKED, ("A", "B"))):
        sent, usual = request(call, extra=extra), request(call)
        assert sent["body"] == usual["body"] | extra
        assert call_key(sent) != call_key(usual)
        assert call_key(sent) != call_key(request(call, extra=extra | {"top_k": 6}))
    score = Score(ASKED, "It is.")
    assert call_key(request(score, server="vllm", extra=extra)) != call_key(
        request(score, server="vllm")
    )


def test_a_given_text_is_encoded_as_the_template_is_told(store):  # noqa: F811
    told = []

    class Server:
        def tokenize(self, body):
            told.append(body.get("chat_template_kwargs"))
            return {"tokens": [1, 2, 3] if len(body["messages"]) == 2 else [1, 2], "count": 3}

        def score(self, body, *, cached):
            listed = [None, {"2": {"logprob": -1.0}}, {"3": {"logprob": -2.0}}]
            return {"choices": [{"text": "", "prompt_logprobs": listed}]}

    fields = {"chat_template_kwargs": {"enable_thinking": False}}
    with Scripted(Server()) as server:
        model = hosted(server.url, server="vllm", extra=fields)
        Model(model, store, offline=False, title="").ask(
            [Score(Prompt((("user", "Why?"),)), "It is.")]
        )
    assert told == [{"enable_thinking": False}] * 3


def test_a_system_message_is_folded_into_the_users():
    call = Generate(ASKED, 9, 0.0, 0)
    folded = request(call, system="fold")["body"]["messages"]
    assert folded == [{"role": "user", "content": "Be brief.\n\nWhy?"}]
    assert [message["role"] for message in request(call)["body"]["messages"]] == ["system", "user"]


@pytest.mark.parametrize("space", ["", " ", "\n"])
def test_a_label_is_read_where_the_reply_says_more_than_whitespace(store, space):  # noqa: F811
    """Llama 2 writes `▁` and `1` after `[/INST]`: the space is a token of its own."""
    listed = {"1": 0.6, "2": 0.3}

    def answer(body):
        assert body["max_tokens"] == 2
        before = [position(space, {space: 0.98, "1": 0.01, "2": 0.01})] if space else []
        return completion(body, [*before, position("1", listed)], "length")

    with Scripted(answer) as server:
        asked = to_choose([Prompt((("user", "1 or 2?"),))], ("1", "2"))
        (found,) = Model(hosted(server.url, server="vllm"), store, offline=False, title="").ask(
            asked
        )
    assert found.probabilities == pytest.approx((0.6, 0.3))


def test_entries_of_a_newer_kind():
    entry = {"engine": "openai", "model": "m", "base_url": "http://h.example/v1"}
    assert not Hosted(**entry, reasoning="none").reasons
    assert Hosted(**entry, reasoning="xhigh").reasons
