"""Which pairs a judge reads: labelled ones, its own, all, or so many of others and of its own."""

import pandas as pd

from selfpref.studies.wataoka import stages

RESPONDERS = ["gpt", "me", "vicuna"]
ITEMS = [f"set/{number}" for number in range(6)]
WRITTEN = pd.MultiIndex.from_product([["wataoka"], ITEMS, RESPONDERS, [""]]).to_frame()
WRITTEN = WRITTEN.set_axis(["study", "item_id", "responder", "text"], axis=1)
# Votes on pairs, each by two people, who read them in different orders. What is labelled and has no
# text cannot be read.
SIDES = pd.DataFrame([("vicuna", "gpt"), ("gpt", "vicuna"), ("gpt", "untold"), ("untold", "gpt")])
SIDES.columns = ["responder_a", "responder_b"]
LABELS = pd.DataFrame({"study": "wataoka", "item_id": ITEMS}).merge(SIDES, "cross")
NONE = LABELS.iloc[:0]


def said(*turns):
    return [{"role": "user", "content": text} for text in turns]


QUESTIONS = pd.DataFrame({"item_id": ITEMS, "messages": [said("why?")] * len(ITEMS)})


def read(labels, which, items=QUESTIONS, written=WRITTEN):
    found = stages._to_judge(items, labels, written, "me", which)
    sides = [sorted(pair) for pair in found[["responder_a", "responder_b"]].itertuples(index=False)]
    return [(item, *pair) for item, pair in zip(found["item_id"], sides, strict=True)]


def test_so_many_of_others_and_as_many_of_its_own():
    pairs = read(LABELS, 4)
    own = [pair for pair in pairs if "me" in pair]
    others = [pair for pair in pairs if "me" not in pair]
    assert len(set(own)) == len(own) == len(set(others)) == len(others) == 4
    assert {pair[1:] for pair in others} == {("gpt", "vicuna")}


def test_the_draw_is_of_names_whatever_their_order_and_grows_with_its_size():
    assert read(LABELS.sample(frac=1, random_state=1), 4) == read(LABELS, 4)
    assert {*read(LABELS, 2)} < {*read(LABELS, 4)}
    assert len(read(LABELS, 100)) == len(ITEMS) * 3


def test_own_pairs_and_all_pairs_are_read_labelled_or_not():
    assert read(NONE, "labelled") == read(NONE, "all") == read(LABELS, "all")
    assert len({*read(NONE, "all")}) == len(ITEMS) * 3
    for labels in (LABELS, NONE):
        pairs = read(labels, "own")
        assert len(set(pairs)) == len(pairs) == len(ITEMS) * 2
        assert all("me" in pair for pair in pairs)


def test_a_turn_before_another_is_judged_only_where_people_voted_on_it():
    turns = {"set/d/1": said("a"), "set/d/2": said("a", "b")}
    items = pd.DataFrame(turns.items(), columns=["item_id", "messages"])
    written = pd.concat([WRITTEN.head(3).assign(item_id=item) for item in items["item_id"]])
    assert {item for item, *_ in read(NONE, "own", items, written)} == {"set/d/2"}
    voted = LABELS.head(1).assign(item_id="set/d/1")
    assert {item for item, *_ in read(voted, "own", items, written)} == {*items["item_id"]}
