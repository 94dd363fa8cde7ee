"""A user's own articles: what is read, and what is refused with file, line and key."""

import json

import pytest
from conftest import REPOSITORY

from selfpref.errors import SelfprefError
from selfpref.params import Articles
from selfpref.prompts.summaries import SUMMARY_LAYOUTS
from selfpref.studies.panickssery.read.own import read

LINES = [
    {"id": 7, "article": "Rain fell. Roads closed.", "summaries": {"lead": '"Rain fell."'}},
    {"id": "b", "article": "A ferry runs."},
]


def entry(**changes):
    given = {"reader": "articles", "source": "mine.jsonl", "articles": 2, "train": 0}
    return Articles(**given | changes)


def written(tmp_path, *records):
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


def test_articles_are_items_and_their_summaries_responses(tmp_path):
    found = read("mine", entry(), written(tmp_path, *LINES))
    items = found["items"]
    assert list(items["item_id"]) == ["mine/7", "mine/b"]
    assert items["messages"].iloc[0][0]["content"] == "Rain fell. Roads closed."
    assert [json.loads(said)["index"] for said in items["metadata"]] == [0, 1]
    (row,) = found["responses"].to_dict("records")
    # One sentence, as of XSum, without the quotation marks around it.
    assert (row["item_id"], row["responder"], row["text"]) == ("mine/7", "lead", "Rain fell.")


def test_a_file_without_summaries_has_none(tmp_path):
    found = read("mine", entry(), written(tmp_path, LINES[1], {"id": "c", "article": "x"}))
    assert len(found["items"]) == 2
    assert len(found["responses"]) == 0


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"id": 7, "article": "x"}, "line 2: id 7 stands twice"),
        ({"id": "", "article": "x"}, "line 2: id ''; give every article"),
        ({"article": "x"}, "line 2: id None; give every article"),
        ({"id": "b"}, "line 2: article None; give a text"),
        ({"id": "b", "article": "x", "summary": "y"}, "line 2: unknown key 'summary'"),
        ({"id": "b", "article": "x", "summaries": ["y"]}, "line 2: summaries is no mapping"),
        ({"id": "b", "article": "x", "summaries": {"lead": " "}}, r"line 2: summaries\.lead ' '"),
    ],
)
def test_a_bad_line_is_named(tmp_path, record, told):
    with pytest.raises(SelfprefError, match=told) as failure:
        read("mine", entry(), written(tmp_path, LINES[0], record))
    assert "mine.jsonl" in str(failure.value)


def test_too_few_articles_are_told(tmp_path):
    with pytest.raises(SelfprefError, match=r"3 articles asked for, 2 there; lower panickssery"):
        read("mine", entry(articles=3), written(tmp_path, *LINES))


def test_the_form_of_a_summary_is_a_layouts():
    assert entry().kind == "xsum"
    assert entry(form="cnn-dailymail").kind == "cnn-dailymail"
    assert {"xsum", "cnn-dailymail"} <= SUMMARY_LAYOUTS["plain"].forms.keys()
    with pytest.raises(ValueError, match="form: only of a user's own articles"):
        entry(reader="xsum", form="xsum")


def test_the_examples_are_ten_with_their_first_sentences():
    path = REPOSITORY / "profiles/examples/notices.jsonl"
    found = read("notices", entry(articles=10), path)
    leads = dict(zip(found["responses"]["item_id"], found["responses"]["text"], strict=True))
    articles = found["items"].set_index("item_id")["messages"]
    assert len(leads) == len(articles) == 10
    assert all(articles[item][0]["content"].startswith(lead) for item, lead in leads.items())
