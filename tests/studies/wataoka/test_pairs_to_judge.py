"""Which pairs a judge reads: labelled ones, its own, all, or so many of others and of its own."""

import pandas as pd

from selfpref.studies.wataoka import stages

RESPONDERS = pd.DataFrame({"responder": ["gpt", "me", "vicuna"]})
ITEMS = {f"set/{number}": ["why?"] for number in range(6)}
# Votes on pairs, each by two people, who read them in different orders. What is labelled and has no
# text cannot be read.
VOTED = [("vicuna", "gpt"), ("gpt", "vicuna"), ("gpt", "untold"), ("untold", "gpt")]
LABELS = pd.DataFrame(
    [(item, *pair) for item in ITEMS for pair in VOTED],
    columns=["item_id", "responder_a", "responder_b"],
).assign(study="wataoka")
NONE = LABELS.iloc[:0]


def read(labels, which, asked=ITEMS):
    """The pairs that `me` reads; of items by name, what the user says turn by turn."""
    said = [[{"role": "user", "content": text} for text in turns] for turns in asked.values()]
    questions = pd.DataFrame({"study": "wataoka", "item_id": [*asked], "messages": said})
    written = questions[["study", "item_id"]].merge(RESPONDERS, "cross")
    found = stages._to_judge(questions, labels, written, "me", which)
    sides = found[["responder_a", "responder_b"]].itertuples(index=False)
    return [(item, *sorted(pair)) for item, pair in zip(found["item_id"], sides, strict=True)]


def test_so_many_of_others_and_as_many_of_its_own():
    pairs = read(LABELS, 4)
    own = [pair for pair in pairs if "me" in pair]
    assert len({*own}) == len(own) == 4
    assert len({*pairs}) == len(pairs) == 8
    # Those of others are labelled ones.
    assert {pair[1:] for pair in pairs if "me" not in pair} == {("gpt", "vicuna")}


def test_the_draw_is_of_names_and_grows_with_its_size():
    assert read(LABELS.sample(frac=1, random_state=1), 4) == read(LABELS, 4)
    assert {*read(LABELS, 2)} < {*read(LABELS, 4)}
    assert len(read(LABELS, 100)) == len(ITEMS) * 3


def test_own_pairs_and_all_pairs_are_read_labelled_or_not():
    assert read(NONE, "labelled") == read(NONE, "all") == read(LABELS, "all")
    assert len({*read(NONE, "all")}) == len(ITEMS) * 3
    assert {*read(LABELS, "labelled")} == {(item, "gpt", "vicuna") for item in ITEMS}
    for labels in (LABELS, NONE):
        pairs = read(labels, "own")
        assert len({*pairs}) == len(pairs) == len(ITEMS) * 2
        assert all("me" in pair for pair in pairs)


def test_an_earlier_turn_is_judged_only_where_people_voted():
    asked = {"set/d/1": ["a"], "set/d/2": ["a", "b"]}
    assert {item for item, *_ in read(NONE, "own", asked)} == {"set/d/2"}
    voted = LABELS.head(1).assign(item_id="set/d/1")
    assert {item for item, *_ in read(voted, "own", asked)} == {*asked}
