"""Articles: XSum and CNN/DailyMail on small files of the same schema, and a user's own."""

import json

import pandas as pd
import pytest
from study_frames import equal

from selfpref.errors import SelfprefError
from selfpref.params import Articles
from selfpref.studies.panickssery.read import articles

datasets = pytest.importorskip("datasets", reason="the extra `models` is not installed")

COLUMNS = {"xsum": ["document", "summary", "id"], "cnn-dailymail": ["article", "highlights", "id"]}
ROWS = [(f"Article {k}.", f"- Point {k}.\n- More.", f"id{k}") for k in range(8)]
MINE = {"id": 7, "article": "Rain fell. Roads closed.", "summaries": {"lead": '"Rain fell."'}}


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a set of the Hub that holds the rows, pinned by a file."""
    source = tmp_path / "set.csv"
    source.write_text("repository,revision,split\nowner/set,0123abcd,train\n")

    def reading(reader, count, rows):
        held = datasets.Dataset.from_pandas(pd.DataFrame(rows, columns=COLUMNS[reader]))
        monkeypatch.setattr(datasets, "load_dataset", lambda *asked, **more: held)
        return articles.read("news", entry(reader, count), source)

    return reading


def entry(reader="articles", count=2):
    return Articles(reader=reader, source="source.csv", articles=count, train=1)


@pytest.mark.parametrize(
    ("reader", "summary"), [("xsum", "- Point {}.\n- More."), ("cnn-dailymail", "Point {}\nMore")]
)
def test_articles_become_items_with_the_persons_summaries(read, reader, summary):
    found = read(reader, 5, ROWS)
    assert found["items"]["metadata"][4] == '{"index": 4}'
    numbers = [*found["items"]["item_id"].str.removeprefix("news/id")]
    asked = [{"role": "user", "content": f"Article {numbers[3]}."}]
    assert found["items"]["messages"][3] == asked
    equal(found["responses"], "responder text", *(("human", summary.format(n)) for n in numbers))
    # The same are drawn whatever the order of the set.
    assert read(reader, 5, ROWS[::-1])["items"].equals(found["items"])


def test_empty_texts_are_left_out_and_counted_and_too_few_articles_refused(read):
    rows = [*ROWS[:3], ("  ", "A summary.", "e1"), ("An article.", "", "e2")]
    found = read("xsum", 3, rows)
    assert len(found["items"]) == 3
    assert found["audit"][["rows", "affected"]].values.tolist() == [[5, 2]]
    with pytest.raises(SelfprefError, match=r"4 articles asked for, 3 there; lower .*sets\.news"):
        read("xsum", 4, rows)


@pytest.mark.parametrize(
    ("reader", "text", "expected"),
    [
        ("xsum", "“A quoted sentence.”", "A quoted sentence."),
        ("xsum", "Here is the summary:\nA sentence.", "A sentence."),
        ("xsum", 'The "best" of: all.', 'The "best" of: all.'),
        ("xsum", '"Half of it.', '"Half of it.'),
        ("xsum", " ", ""),
        ("cnn-dailymail", "Highlights:\n\n- One.\n2. Two.\n* Three", "One\nTwo\nThree"),
        ("cnn-dailymail", "30 people came.\nNo bullet", "30 people came\nNo bullet"),
        ("lab", "sure : - oslo .", "sure : - oslo ."),
    ],
)
def test_what_only_tells_how_a_summary_was_asked_for_goes(reader, text, expected):
    assert articles.clean(text, reader) == articles.clean(expected, reader) == expected


def mine(folder, *records):
    path = folder / "mine.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return articles.read_own("mine", entry(), path)


def test_a_users_articles_are_items_and_their_summaries_responses(tmp_path):
    found = mine(tmp_path, MINE, {"id": "b", "article": "A ferry runs."}, {"id": ""})
    assert list(found["items"]["item_id"]) == ["mine/7", "mine/b"]
    # One sentence, as of XSum, without the quotation marks around it.
    equal(found["responses"], "item_id responder text", ("mine/7", "lead", "Rain fell."))
    for more, told in (
        ({"summaries": {}}, r"mine\.jsonl, line 2: article: Field required"),
        ({"article": "x", "summaries": {"lead": " "}}, r"line 2: summaries\.lead: "),
    ):
        with pytest.raises(SelfprefError, match=told):
            mine(tmp_path, MINE, {"id": "b", **more})
