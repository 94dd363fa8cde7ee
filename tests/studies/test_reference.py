"""Every sentence on the testbed holds over its seeds, each of its words can fail, and the page says
what the tables hold.
"""

import re

import pytest
from conftest import REPOSITORY
from test_findings import BY_HAND, NAMED, moved

from selfpref.studies import reference

CASES = [
    pytest.param(statement, id=f"{study}-{key}")
    for study, found in reference.FINDINGS.items()
    for key, statement in found.items()
]


@pytest.fixture(autouse=True)
def repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture(scope="module")
def tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(REPOSITORY)
        return reference.tables()


@pytest.mark.parametrize("statement", CASES)
def test_it_holds_over_the_seeds(tables, statement):
    said = statement.said(tables)
    assert said
    assert not said.startswith("(With these data")


@pytest.mark.parametrize("statement", CASES)
def test_each_word_fails_where_a_number_moves(tables, statement):
    numbers = statement.numbers(tables)
    failed = {
        word
        for name, number in numbers.items()
        for other in moved(number)
        for word in statement.broken({**numbers, name: other})
    }
    assert failed == statement.holds.keys()


@pytest.mark.parametrize("statement", CASES)
def test_its_numbers_are_not_written_by_hand(statement):
    assert set(BY_HAND.findall(NAMED.sub("", statement.text))) <= {"0", "1"}


def test_the_page_says_these_sentences(tables):
    page = (REPOSITORY / "docs/lab-reference/README.md").read_text()
    said = re.findall(r"^- (.+)$", page, re.MULTILINE)
    assert said == [text for study in reference.FINDINGS for text in reference.said(study)]
