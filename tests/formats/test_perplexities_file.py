"""A file of perplexities that were computed elsewhere."""

import pytest
from conftest import entry

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats import perplexities

HEADER = "item,responder,reader,given_prompt,nats,tokens,bytes\n"
ROW = "set/1,gpt-4,smollm2,true,20.5,10,42\n"
GOOD = HEADER + ROW + "set/1,gpt-4,smollm2,false,30,10,42\nset/1,gpt-4,other,True,9,9,42\n"


def read(path, text, judges=None):
    path.write_text(text)
    return perplexities.read("mine", entry("wataoka", "perplexities", judges), path)


def test_rows_become_perplexities(tmp_path):
    found = read(tmp_path / "read.csv", GOOD)
    assert set(found) == {"perplexities"}
    table = tables.validate(found["perplexities"], "perplexities", "mine")
    columns = ["judge", "conditional", "sum_nll", "n_tokens", "n_bytes"]
    assert {*table[columns].itertuples(index=False, name=None)} == {
        ("smollm2", True, 20.5, 10, 42),
        ("smollm2", False, 30.0, 10, 42),
        ("other", True, 9.0, 9, 42),
    }
    assert set(read(tmp_path / "read.csv", GOOD, ["other"])["perplexities"]["judge"]) == {"other"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace("nats", "sum", 1), "line 2: no 'nats'"),
        (GOOD.replace("20.5", "much"), "line 2: nats 'much' is no number"),
        (GOOD.replace("20.5", "-1"), "line 2: nats, tokens and bytes are numbers from 0"),
        (GOOD.replace("true", "perhaps"), "line 2: given_prompt 'perhaps' is neither"),
        (GOOD + ROW, "line 5: a second row of item 'set/1'"),
        (GOOD.replace("\n", ",note\n"), "line 2: unknown column 'note'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, told):
    with pytest.raises(SelfprefError) as raised:
        read(tmp_path / "read.csv", text)
    assert told in str(raised.value)
    assert "read.csv" in str(raised.value)


def test_a_reader_that_read_nothing_is_named(tmp_path):
    with pytest.raises(SelfprefError, match=r"datasets.mine.judges: 'nobody'"):
        read(tmp_path / "read.csv", GOOD, ["nobody"])
