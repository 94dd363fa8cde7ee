"""README and CONTRIBUTING: links lead somewhere, the example's numbers are the tables'."""

import re
import sys

import pandas as pd
import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools"))
import readme

LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
# metric, before, after, difference, as `dvc metrics diff` prints them
ROW = re.compile(r"^(\S+)\.(\S+)\.(eo|excess) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)$", re.MULTILINE)


def test_its_sentences_and_claims_are_what_the_tables_say(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    page = (REPOSITORY / "README.md").read_text()
    assert page.count("<!-- end -->") > 15
    assert readme.filled(page) == page


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", "docs/data-licences.md", "docs/measure.md"]
)
def test_no_link_is_dead(page):
    path = REPOSITORY / page
    links = LINK.findall(path.read_text())
    assert links
    assert not [link for link in links if not (path.parent / link).exists()]


def test_the_example_of_a_difference_starts_from_the_recorded_numbers():
    bias = pd.read_csv(REPOSITORY / "figures/recorded/wataoka/fig1b_bias.csv")
    known = bias.set_index(["dataset", "judge"])
    rows = ROW.findall((REPOSITORY / "README.md").read_text())
    assert rows
    for dataset, judge, name, before, after, change in rows:
        assert float(before) == pytest.approx(known.loc[(dataset, judge), name], abs=1e-5)
        assert float(after) - float(before) == pytest.approx(float(change), abs=2e-5)
