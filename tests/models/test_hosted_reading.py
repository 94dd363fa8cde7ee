"""Raw replies of chat endpoints: which are answers, where the verdict stands, what labels hold."""

import math

import pytest
from scripted import completion, position

from selfpref.models import Likelihood
from selfpref.models.served import reading

BODY = {"model": "m", "messages": [{"role": "user", "content": "why?"}], "logprobs": True}
LABELS = ("A", "B")


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
        ([sure("["), position("[A", {"[A": 0.5, "[B": 0.25, "[": 0.2})], (0.5, 0.25)),
        # Words that begin with a label are none.
        ([OPEN, position("A", {"A": 0.2, "Assistant": 0.5, "Both": 0.3})], (0.2, 0.0)),
        # Outside the list: it holds nothing that was seen.
        ([OPEN, position("x", {"x": 0.9})], (0.0, 0.0)),
        # The last verdict counts.
        ([OPEN, sure("A"), sure("]] no [["), position("B", {"B": 0.8})], (0.0, 0.8)),
        ([OPEN, UNLISTED], (0.5, 0.25)),
        ([OPEN, UNLISTED | {"logprob": -9999.0}], (0.5, 0.0)),
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
    found = reading.choice(reply(*positions), "[[", LABELS)
    if wanted is None:
        assert found is None
        return
    assert found.probabilities == pytest.approx(wanted)
    assert found.status == ("ok" if wanted else "unparsable")


def test_without_a_marker_the_label_is_the_first_token_that_is_more_than_whitespace():
    """Llama 2 writes `▁` and `1` after `[/INST]`: the space is a token of its own."""
    label = position("1", {"1": 0.6, "2": 0.3})
    for space in ([], [position(" ", {" ": 0.98, "1": 0.02})], [sure("\n")]):
        found = reading.choice(reply(*space, label), "", ("1", "2"), spaced=True)
        assert found.probabilities == pytest.approx((0.6, 0.3))
    found = reading.choice(reply(position(" ", {"1": 0.02}), label), "", ("1", "2"))
    assert found.probabilities == pytest.approx((0.02, 0.0))


def test_generations_tell_their_text_and_whether_they_were_cut():
    verdict = position("B", {"B": 0.5, "A": 0.25})
    for made, labels, wanted in (
        (reply(sure("so [["), verdict, finish="length"), LABELS, ("so [[B", "cut", (0.25, 0.5))),
        (reply(sure("so [["), verdict), (), ("so [[B", "ok", None)),
        # A model's thoughts are listed by some endpoints, and are no part of its reply.
        (reply(OPEN, sure("A"), content="Cannot tell."), LABELS, ("Cannot tell.", "ok", None)),
        # An answer that ends in half a character is text.
        (reply(OPEN, {"token": "\ud83d", "logprob": 0.0}, content="[[\ud83d"), LABELS,
         ("[[\ufffd", "ok", (0.0, 0.0))),
    ):  # fmt: skip
        found = reading.generation(made, "[[", labels)
        shares = found.choice and pytest.approx(found.choice.probabilities)
        assert (found.text, found.status, shares) == wanted
    assert reading.generation(reply(sure("[[A]]")), "[[", (), "[[").text == "A]]"


PREFILLED = {"messages": [*BODY["messages"], {"role": "assistant", "content": "[["}]}
THINKS = {"reasoning_effort": "low", "logprobs": False}
CONTINUES = {"continue_final_message": True, "logprobs": False}


@pytest.mark.parametrize(
    ("body", "made", "wanted"),
    [
        ({}, reply(sure("A")), "ok"),
        ({}, reply(sure("A"), refusal="no"), "refused"),
        ({}, reply(content="A"), "gives no token probabilities.*`score_mode: sampled` or `text`"),
        (THINKS, reply(finish="length"), "wrote nothing; raise `reasoning_tokens`"),
        (PREFILLED, reply(sure("A")), "ok"),
        (PREFILLED, reply(sure(" [[A")), r"does not continue the prefill '\[\['"),
        # llama.cpp puts the prefill before what the model wrote, but not among the tokens.
        (PREFILLED, reply(sure("A"), content="[[A"), "ok"),
        (PREFILLED | CONTINUES, reply(content="[[A"), "does not continue the prefill"),
        (PREFILLED | {"logprobs": False}, reply(content="[[A"), "ok"),
    ],
)
def test_a_reply_is_an_answer_or_lacks_what_was_asked_for(body, made, wanted):
    request = {"path": "chat/completions", "body": BODY | body}
    if wanted in ("ok", "refused"):
        assert reading.outcome(request, made) == wanted
        return
    with pytest.raises(reading.NotGivenError, match=wanted):
        reading.outcome(request, made)


def test_likelihoods_are_those_of_the_continuations_tokens():
    listed = [None, {"5": {"logprob": -1.0}, "6": {"logprob": -9.0}}, {"7": {"logprob": -2.0}}]
    usage = {"prompt_tokens_details": {"cached_tokens": 2}}

    def scored(context, listed, **usage):
        answer = {"choices": [{"prompt_logprobs": listed}], **usage}
        return {"context": context, "tokens": [4, 5, 7], "completion": answer}

    assert reading.score(scored(1, listed)) == Likelihood(3.0, 2, "ok")
    assert reading.score(scored(2, listed)) == Likelihood(2.0, 1, "ok")
    for made, told in (
        (scored(0, listed), "puts no token before a text that has no prompt"),
        (scored(1, None), "gives no prompt_logprobs"),
        (scored(1, listed[:2]), "--no-enable-prefix-caching"),
        (scored(1, [None, None, listed[2]]), "--no-enable-prefix-caching"),
        (scored(1, listed, usage=usage), "--no-enable-prefix-caching"),
    ):
        with pytest.raises(reading.NotGivenError, match=told):
            reading.outcome({"path": "score"}, made)
    assert reading.outcome({"path": "score"}, scored(1, listed)) == "ok"
