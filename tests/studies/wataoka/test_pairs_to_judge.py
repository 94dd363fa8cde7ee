"""Which pairs a judge reads where it reads some: others' labelled ones, and its own."""

import pandas as pd

from selfpref.studies.wataoka.stages import _some

RESPONDERS = ["gpt", "me", "vicuna"]
ITEMS = [f"set/{number}" for number in range(6)]
WRITTEN = pd.DataFrame(
    [
        {"study": "wataoka", "item_id": item, "responder": name, "text": ""}
        for item in ITEMS
        for name in RESPONDERS
    ]
)


def labelled(*pairs):
    """Votes on pairs, each by two people, who read them in different orders."""
    return pd.DataFrame(
        [
            {"study": "wataoka", "item_id": item, "responder_a": one, "responder_b": other}
            for item in ITEMS
            for pair in pairs
            for one, other in (pair, pair[::-1])
        ]
    )


# What is labelled and has no text cannot be read.
LABELS = labelled(("vicuna", "gpt"), ("gpt", "untold"))


def drawn(labels, size):
    found = _some(labels, WRITTEN, "me", size)
    sides = [sorted(pair) for pair in found[["responder_a", "responder_b"]].itertuples(index=False)]
    return [(item, *pair) for item, pair in zip(found["item_id"], sides, strict=True)]


def test_so_many_of_others_and_as_many_of_its_own():
    pairs = drawn(LABELS, 4)
    own = [pair for pair in pairs if "me" in pair]
    others = [pair for pair in pairs if "me" not in pair]
    assert len(set(own)) == len(own) == len(set(others)) == len(others) == 4
    assert {pair[1:] for pair in others} == {("gpt", "vicuna")}


def test_the_draw_is_of_names_whatever_their_order_and_grows_with_its_size():
    assert drawn(LABELS.sample(frac=1, random_state=1), 4) == drawn(LABELS, 4)
    assert {*drawn(LABELS, 2)} < {*drawn(LABELS, 4)}
    assert len(drawn(LABELS, 100)) == len(ITEMS) * 3


def test_left_out_it_reads_every_label():
    assert _some(LABELS, WRITTEN, "me", None) is LABELS
