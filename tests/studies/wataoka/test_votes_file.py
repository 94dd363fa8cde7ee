"""A user's votes on responses made here."""

import pytest

from selfpref import paths, tables
from selfpref.errors import SelfprefError
from selfpref.params import Params
from selfpref.params.studies import Wataoka
from selfpref.params.uses import Label
from selfpref.studies.wataoka.labels import label

WATAOKA = Wataoka.model_construct(label={"mine": Label(source="votes.csv")})
PARAMS = Params.model_construct(profile="live", wataoka=WATAOKA)


@pytest.fixture
def voted(repository):
    """The labels of a file of votes on two models' responses to two prompts."""
    items = [{"item_id": f"mine/{name}", "cluster": name, "messages": []} for name in ("1", "two")]
    texts = [
        {"item_id": item["item_id"], "responder": name, "text": "x"}
        for item in items
        for name in ("me", "you")
    ]
    for name, rows in {"items": items, "responses": texts, "verdicts": []}.items():
        table = tables.fill(rows, name, study="wataoka")
        tables.write(table, name, paths.table_dir("live", name, "wataoka") / "mine.parquet")

    def read(*rows):
        lines = ["item,responder_a,responder_b,label,annotator", *rows]
        (repository / "votes.csv").write_text("\n".join(lines))
        return label(PARAMS, "mine")

    return read


def test_each_row_is_a_vote(voted):
    made = voted("1,you,me,me,ada", "two,me,you,tie,", "two,me,you,a,")
    assert made["truths"].empty
    rows = made["labels"][["item_id", "responder_a", "responder_b", "annotator", "label", "repeat"]]
    assert rows.to_numpy().tolist() == [
        ["mine/1", "me", "you", "ada", "a", 0],
        ["mine/two", "me", "you", "human", "tie", 0],
        ["mine/two", "me", "you", "human", "a", 1],
    ]


def test_a_vote_on_what_is_not_there_names_its_line(voted):
    wanted = "line 3: responder_b 'she' is not in wataoka.datasets.mine, which has me, you"
    with pytest.raises(SelfprefError, match=wanted):
        voted("1,me,you,a,", "1,me,she,a,")
    with pytest.raises(SelfprefError, match=r"line 2: item '3' is not in .*, which has 1, two"):
        voted("3,me,you,a,")
