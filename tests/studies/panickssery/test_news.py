"""XSum and CNN/DailyMail, on small parquet files of the same schema that are written here."""

import json

import pandas as pd
import pytest

pytest.importorskip("datasets", reason="the extra `models` is not installed")

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.params import Articles
from selfpref.studies.panickssery.read import articles as summaries

CONFIGURED = """---
configs:
- config_name: 1.0.0
  data_files: [{split: train, path: 1.0.0/train-*}]
- config_name: 3.0.0
  data_files: [{split: train, path: 3.0.0/train-*}]
---
"""


@pytest.fixture
def hub(tmp_path):
    """Write a set as the Hub has it, and the file that pins it."""

    def written(reader, rows):
        folder = tmp_path / reader
        source = tmp_path / f"{reader}.csv"
        if reader == "xsum":
            place, header, values = folder / "data", "", ""
            columns = ["document", "summary", "id"]
        else:
            place, header, values = folder / "3.0.0", ",configuration", ",3.0.0"
            columns = ["article", "highlights", "id"]
            (folder / "1.0.0").mkdir(parents=True)
            pd.DataFrame([("old", "old", "0")], columns=columns).to_parquet(
                folder / "1.0.0/train-00000-of-00001.parquet"
            )
            (folder / "README.md").write_text(CONFIGURED)
        place.mkdir(parents=True)
        pd.DataFrame(rows, columns=columns).to_parquet(place / "train-00000-of-00001.parquet")
        source.write_text(f"repository,revision,split{header}\n{folder},0123abcd,train{values}\n")
        return source

    return written


def rows(n):
    return [(f"Article {k}.", f"- Point {k}.\n- More.", f"id{k}") for k in range(n)]


def news(reader, articles):
    return Articles(reader=reader, source="source.csv", articles=articles, train=1)


@pytest.mark.parametrize("reader", ["xsum", "cnn-dailymail"])
def test_articles_become_items_with_the_persons_summaries(hub, reader):
    found = summaries.read("news", news(reader, 5), hub(reader, rows(8)))
    for name in ("items", "responses"):
        tables.validate(found[name], name, "news")
    items = found["items"]
    assert [json.loads(entry)["index"] for entry in items["metadata"]] == list(range(5))
    for item, messages in zip(items["item_id"], items["messages"], strict=True):
        assert messages == [{"role": "user", "content": f"Article {item.removeprefix('news/id')}."}]
    assert set(found["responses"]["responder"]) == {"human"}
    assert found["audit"].empty


def test_the_same_articles_are_drawn_whatever_the_order_of_the_set(hub, tmp_path):
    drawn = summaries.read("news", news("xsum", 4), hub("xsum", rows(9)))["items"]
    again = tmp_path / "again"
    again.mkdir()
    pd.DataFrame(rows(9)[::-1], columns=["document", "summary", "id"]).to_parquet(
        again / "train-00000-of-00001.parquet"
    )
    source = tmp_path / "again.csv"
    source.write_text(f"repository,revision,split\n{again},0123abcd,train\n")
    assert summaries.read("news", news("xsum", 4), source)["items"].equals(drawn)


def test_empty_texts_are_left_out_and_counted(hub):
    some = [*rows(3), ("  ", "A summary.", "e1"), ("An article.", "", "e2")]
    source = hub("xsum", some)
    found = summaries.read("news", news("xsum", 3), source)
    assert found["audit"]["affected"].sum() <= 2
    with pytest.raises(SelfprefError, match=r"4 articles asked for, 3 there; lower .*sets\.news"):
        summaries.read("news", news("xsum", 4), source)


def test_another_schema_is_named(hub):
    source = hub("xsum", rows(3))
    with pytest.raises(SelfprefError, match="no column 'article'"):
        summaries.read("news", news("cnn-dailymail", 3), source)


@pytest.mark.parametrize(
    ("reader", "text", "expected"),
    [
        ("xsum", "“A quoted sentence.”", "A quoted sentence."),
        ("xsum", "Here is the summary:\nA sentence.", "A sentence."),
        ("xsum", 'The "best" of: all.', 'The "best" of: all.'),
        ("cnn-dailymail", "Highlights:\n\n- One.\n2. Two.\n* Three", "One\nTwo\nThree"),
        ("cnn-dailymail", "30 people came.\nNo bullet", "30 people came\nNo bullet"),
        ("lab", "sure : - oslo .", "sure : - oslo ."),
    ],
)
def test_what_only_tells_how_a_summary_was_asked_for_goes(reader, text, expected):
    assert summaries.clean(text, reader) == expected
    assert summaries.clean(expected, reader) == expected


def test_the_pinned_sets_name_a_commit():
    from conftest import REPOSITORY

    from selfpref.download.hub import _pinned

    for name in ("xsum", "cnn-dailymail"):
        pinned = _pinned(REPOSITORY / f"src/selfpref/studies/panickssery/read/{name}.csv")
        assert len(pinned["revision"]) == 40
        assert pinned["split"] == "train"
