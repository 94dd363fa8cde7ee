"""The chapter's sentences are of the released data alone, and of values that are not too few.

That each holds, and that each of its words can fail, is tested for all studies in `test_findings`.
"""

import pytest
from conftest import REPOSITORY

from selfpref.studies import claims
from selfpref.studies.beyond.findings import CLAIMS, FINDINGS
from selfpref.studies.beyond.measure import compute

STATEMENTS = [*FINDINGS.values(), *CLAIMS]
TABLES = ("beyond", "placebo", "scales", "mitigation_changes", "power")


@pytest.fixture
def released(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    tables = claims.Tables("beyond")
    return {name: tables[name] for name in TABLES}


def test_the_testbed_is_told_nothing_of_released_data(released):
    renamed = {name: frame.assign(dataset="seed-0") for name, frame in released.items()}
    for frames in (renamed, compute([], 0.95)):
        assert [statement.said(frames) for statement in STATEMENTS] == [""] * len(STATEMENTS)


def test_a_value_that_is_too_few_is_not_quoted(released):
    rows = released["beyond"]
    assert FINDINGS["pairs"].said(released)
    excess = rows["judge"].eq("gpt-4") & rows["statistic"].eq("excess")
    few = released | {"beyond": rows.assign(few=rows["few"] | excess)}
    assert FINDINGS["pairs"].said(few) == ""
