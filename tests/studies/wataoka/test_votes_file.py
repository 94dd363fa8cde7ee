"""Votes on responses made here: a user's, and those of an answer key."""

import json

import pytest
from study_frames import equal

from selfpref import paths, tables
from selfpref.errors import SelfprefError
from selfpref.params import Params
from selfpref.params.studies import Label, Wataoka
from selfpref.studies.wataoka.labels import label

# By prompt the right option, what `me` says, and whether what she and you said is right.
PROMPTS = {
    "1": ("C", "The answer is C", 0, 1),
    "two": ("B", "A. is it", 1, 0),
    "no option": ("C", "I do not know", 1, 0),
    "no key": (None, "(A)", 0, 0),
}


@pytest.fixture
def voted(repository):
    """The labels that a file of votes, or the key, makes."""
    made = {"items": [], "responses": [], "truths": [], "verdicts": []}
    for name, (key, said, *right) in PROMPTS.items():
        item = {"item_id": f"mine/{name}"}
        asked = {"cluster": name, "messages": [], "metadata": json.dumps({"key": key})}
        made["items"].append(item | asked)
        for who in ("me", "she", "you"):
            made["responses"].append(item | {"responder": who, "text": said})
        for who, score in zip(("she", "you"), right, strict=True):
            truth = {"responder": who, "metric": "correct", "score": float(score)}
            made["truths"].append(item | truth)
    for name, rows in made.items():
        table = tables.fill(rows, name, study="wataoka")
        tables.write(table, name, paths.table_dir("live", name, "wataoka") / "mine.parquet")

    def read(*rows, **more):
        lines = ["item,responder_a,responder_b,label,annotator", *rows]
        (repository / "votes.csv").write_text("\n".join(lines))
        use = Wataoka.model_construct(label={"mine": Label(source="votes.csv", **more)})
        return label(Params.model_construct(profile="live", wataoka=use), "mine")

    return read


def test_each_row_is_a_vote(voted):
    made = voted("1,you,me,me,ada", "two,me,you,tie,", "two,me,you,a,")
    assert made["truths"].empty
    rows = [("1", "ada", "a", 0), ("two", "human", "tie", 0), ("two", "human", "a", 1)]
    rows = [(f"mine/{name}", "me", "you", *row) for name, *row in rows]
    equal(made["labels"], "item_id responder_a responder_b annotator label repeat", *rows)


def test_a_vote_on_what_is_not_there_names_its_line(voted):
    wanted = "line 3: responder_b 'he' is not in wataoka.datasets.mine, which has me, she, you"
    with pytest.raises(SelfprefError, match=wanted):
        voted("1,me,you,a,", "1,me,he,a,")
    with pytest.raises(SelfprefError, match=r"line 2: item '3' is not in .*, which has 1, no key"):
        voted("3,me,you,a,")


def test_the_key_prefers_the_right_answer_of_two(voted):
    made = voted(by="key")
    rows = [("1", "she", "a"), ("1", "you", "tie"), ("two", "she", "b"), ("two", "you", "tie")]
    rows = [(f"mine/{name}", "me", *row, "key") for name, *row in rows]
    equal(made["labels"], "item_id responder_a responder_b label annotator", *rows)
    truths = ("mine/1", "me", "correct", 1), ("mine/two", "me", "correct", 0)
    equal(made["truths"], "item_id responder metric score", *truths)
