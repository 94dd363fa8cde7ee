"""Raw replies of chat endpoints: where the verdict stands, and what its labels hold."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import completion, position

from selfpref.models import Choice
from selfpref.models.served import reading

BODY = {"model": "m", "messages": [], "logprobs": True}
LABELS = ("A", "B")


def reply(*positions):
    return completion(BODY, list(positions))


def sure(token):
    return position(token, {token: 1.0})


def test_an_answer_that_ends_in_half_a_character_is_text():
    half = {"token": "\ud83d", "logprob": 0.0, "top_logprobs": []}
    marker = [sure("[["), half]
    found = reading.generation(completion(BODY, marker, "length", content="[[\ud83d"), "[[", LABELS)
    assert found.text == "[[\ufffd"
    assert found.choice.probabilities == (0.0, 0.0)


@pytest.mark.parametrize(
    ("positions", "wanted"),
    [
        ([sure("[["), position("A", {"A": 0.6, "B": 0.3}), sure("]]")], (0.6, 0.3)),
        # With and without a space, and with a bracket: one label.
        ([sure("[["), position("A", {"A": 0.4, " A": 0.2, "A]]": 0.1, "B": 0.1})], (0.7, 0.1)),
        # The bracket and the label share a token; a label without bracket is none there.
        ([position("[[A", {"[[A": 0.5, " [[B": 0.2, "A": 0.1}), sure("]]")], (0.5, 0.2)),
        ([sure("["), position("[A", {"[A": 0.5, "[B": 0.25, "[": 0.2})], (0.5, 0.25)),
        ([sure("["), sure("["), position(" A", {" A": 0.5, " B": 0.4})], (0.5, 0.4)),
        # Words that begin with a label are none.
        ([sure("[["), position("A", {"A": 0.2, "Assistant": 0.5, "Both": 0.3})], (0.2, 0.0)),
        # Outside the list: it holds nothing that was seen.
        ([sure("[["), position("A", {"A": 0.9, "x": 0.05})], (0.9, 0.0)),
        ([sure("[["), position("x", {"x": 0.9})], (0.0, 0.0)),
        # The last verdict counts.
        ([sure("[["), sure("A"), sure("]] no [["), position("B", {"B": 0.8})], (0.0, 0.8)),
    ],
)
def test_every_surface_form_of_a_label_is_summed(positions, wanted):
    found = reading.choice(reply(*positions), "[[", LABELS)
    assert found.probabilities == pytest.approx(wanted)
    assert found.mass == pytest.approx(sum(wanted))


def test_the_token_that_was_chosen_counts_though_it_is_not_listed():
    entry = position("B", {"A": 0.5}) | {"logprob": math.log(0.25)}
    assert reading.choice(reply(sure("[["), entry), "[[", LABELS).probabilities == pytest.approx(
        (0.5, 0.25)
    )
    unlikely = position("B", {"A": 0.5}) | {"logprob": -9999.0}
    assert reading.choice(reply(sure("[["), unlikely), "[[", LABELS).probabilities[1] == 0


def test_a_token_listed_twice_counts_once_and_two_tokens_spelt_alike_count_both():
    entry = position("A", {"A": 0.5, "B": 0.2})
    entry["top_logprobs"] *= 2
    again = position("A", {"A": 0.5, "B": 0.2})
    again["top_logprobs"].append(position("A", {"A": 0.1}) | {"top_logprobs": []})
    assert reading.choice(reply(sure("[["), entry), "[[", LABELS).probabilities == pytest.approx(
        (0.5, 0.2)
    )
    assert reading.choice(reply(sure("[["), again), "[[", LABELS).probabilities == pytest.approx(
        (0.6, 0.2)
    )


def test_rounding_is_mended_and_what_is_no_distribution_is_no_verdict():
    rounded = reading.choice(reply(sure("[["), position("A", {"A": 1.0, "B": 0.001})), "[[", LABELS)
    assert rounded.mass == pytest.approx(1)
    assert rounded.mass <= 1 + 1e-9
    absurd = reading.choice(reply(sure("[["), position("A", {"A": 0.9, "B": 0.9})), "[[", LABELS)
    assert absurd == Choice((), "unparsable")


def test_without_the_marker_there_is_no_choice():
    assert reading.choice(reply(sure("A")), "[[", LABELS) is None
    assert reading.choice(reply(sure("so "), sure("[[")), "[[", LABELS) is None
    # A model's thoughts are listed by some endpoints, and are no part of its reply.
    thought = reply(sure("[["), sure("A"), sure("]]"))
    thought["choices"][0]["message"]["content"] = "I cannot tell."
    assert reading.choice(thought, "[[", LABELS) is None


def test_tokens_may_end_within_a_character():
    first, second = (
        sure("?") | {"bytes": list(part)} for part in ("é".encode()[:1], "é".encode()[1:])
    )
    made = reply(first, second, sure("[["), position("A", {"A": 0.7}))
    assert reading.choice(made, "[[", LABELS).probabilities == pytest.approx((0.7, 0.0))


@given(
    before=st.text(st.characters(exclude_characters="[]", codec="utf-8"), max_size=8),
    cuts=st.sets(st.integers(1, 40)),
)
def test_the_verdict_is_found_however_the_text_is_cut_into_tokens(before, cuts):
    text = f"{before}[[A]] so."
    bounds = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    positions = []
    for start, end in itertools.pairwise(bounds):
        piece = text[start:end]
        other = text.replace("A]", "B]")[start:end]
        positions.append(position(piece, {piece: 0.7, other: 0.2} if other != piece else {}))
    found = reading.choice(reply(*positions), "[[", LABELS)
    assert found.probabilities == pytest.approx((0.7, 0.2))


def test_generations_tell_their_text_and_whether_they_were_cut():
    made = completion(BODY, [sure("so [["), position("B", {"B": 0.5, "A": 0.25})], "length")
    found = reading.generation(made, "[[", LABELS)
    assert (found.text, found.status) == ("so [[B", "cut")
    assert found.choice.probabilities == pytest.approx((0.25, 0.5))
    assert reading.generation(made, "[[", ()).choice is None
