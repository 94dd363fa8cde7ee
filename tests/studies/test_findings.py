"""Every sentence and claim of a study holds on the released data, and each of its words can fail.

The tables are those that git holds in figures/recorded.
"""

import re
import shutil

import pandas as pd
import pytest
from conftest import REPOSITORY

from selfpref import paths
from selfpref.statements import VERDICTS, Estimate, Number
from selfpref.studies import claims

CASES = [
    pytest.param(study, statement, id=f"{study}-{key}")
    for study in claims.PAPERS
    for key, statement in [*claims.findings(study).items(), *enumerate(claims.claims(study))]
]
# What may carry a number: a place in a paper, a step, a model's version.
NAMED = re.compile(r"{[^}]*}|(?:Figs?\.|Table|Eq\.|Def\.|Section|step|Claude|Gemini) [\d.]*\d")
# One that stands alone, neither a part of a name (GPT-4) nor of a word.
BY_HAND = re.compile(r"(?<![\w.,/-])\d+(?:\.\d+)?(?![\w-])")


@pytest.fixture(autouse=True)
def repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


@pytest.fixture(scope="module")
def frames():
    return {}


def tables(frames, study):
    return frames.setdefault(study, claims.Tables(study))


def moved(number):
    """What a number, or one with bounds, might have been instead."""
    if isinstance(number, Estimate):
        value, lo, hi = number
        yield Estimate(Number(-value), Number(-hi), Number(-lo))
        for by in (-1000, 1000):
            yield Estimate(*(Number(part + by) for part in number))
        yield Estimate(value, Number(value - 1000), Number(value + 1000))
    elif isinstance(number, float):
        yield from (Number(-number), Number(number - 1000), Number(number + 1000), Number(0))
    else:
        yield f"not {number}"


@pytest.mark.parametrize(("study", "statement"), CASES)
def test_it_holds_on_the_released_data(frames, study, statement):
    said = statement.said(tables(frames, study))
    assert said
    assert not said.startswith("(With these data")


@pytest.mark.parametrize(("study", "statement"), CASES)
def test_each_word_fails_where_a_number_moves(frames, study, statement):
    numbers = statement.numbers(tables(frames, study))
    failed = {
        word
        for name, number in numbers.items()
        for other in moved(number)
        for word in statement.broken({**numbers, name: other})
    }
    assert failed == statement.holds.keys()


@pytest.mark.parametrize(("study", "statement"), CASES)
def test_its_numbers_are_not_written_by_hand(study, statement):
    found = set(BY_HAND.findall(NAMED.sub("", statement.text)))
    assert found <= {"0", "1"}


def test_a_study_that_was_not_drawn_keeps_its_claims_without_a_finding(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "data").mkdir()
    shutil.copy(paths.claims_source(), tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    found = claims.table()
    assert len(found) == len(pd.read_csv(REPOSITORY / "data/claims.csv"))
    # What no release could show does not depend on a figure.
    found = found[~found["finding"].str.startswith("No data")]
    assert len(found) > 30
    assert found["verdict"].isna().all()
    assert found["finding"].eq("").all()


def test_the_verdicts_are_counted_in_a_sentence():
    found = pd.DataFrame({"verdict": ["holds", "does not hold", "holds"]})
    told = (
        "Of 3 claims of the papers and their releases, 2 hold, and 1 do not hold, on public data."
    )
    assert claims.counted(found) == told
    assert claims.counted(found.assign(verdict=None)) == claims.counted(pd.DataFrame()) == ""


def test_every_paper_has_claims_whose_cells_and_figures_git_holds():
    found = claims.table()
    assert {"wataoka", "panickssery", "xu", "livebench"} <= set(found["study"])
    assert set(found["verdict"]) <= set(VERDICTS)
    for row in found.to_dict("records"):
        table, _, column = row["cell"].partition(": ")
        # Only a claim without data may do without a cell.
        assert ((paths.root() / table).is_file() and column) or (
            not row["cell"] and row["finding"].startswith("No data")
        )
        assert not row["figure"] or (paths.root() / row["figure"]).is_file()


def test_the_table_in_git_is_what_the_stage_writes(tmp_path):
    claims.write(tmp_path / "claims.csv")
    written = (tmp_path / "claims.csv").read_bytes()
    assert (REPOSITORY / "data/claims.csv").read_bytes() == written
