"""README and docs: links lead somewhere, the example's numbers are the tables'."""

import re
import subprocess
import sys
from os.path import normpath
from pathlib import Path

import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED

sys.path.insert(0, str(REPOSITORY / "tools"))
import readme

README = (REPOSITORY / "README.md").read_text()
DOCS = sorted((REPOSITORY / "docs").glob("*.md"))
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
# metric, before, after, difference, as `dvc metrics diff` prints them
ROW = re.compile(r"^(\S+)\.(\S+)\.(eo|excess) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)$", re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "marked"),
    [
        ("README.md", 7),
        ("docs/findings.md", 20),
        ("docs/figures.md", 1),
        ("docs/lab-reference/README.md", 50),
    ],
)
def test_its_sentences_and_claims_are_what_the_tables_say(monkeypatch, name, marked):
    monkeypatch.chdir(STAGED)
    page = (REPOSITORY / name).read_text()
    assert page.count("<!-- end -->") >= marked
    assert readme.filled(page) == page
    assert name in readme.PAGES


def test_the_readme_is_read_in_five_minutes():
    """About a thousand words beside its tables."""
    words = [line.split() for line in README.splitlines() if not line.startswith("|")]
    assert sum(map(len, words)) < 1200


def test_the_answer_on_gpt_4_is_that_of_the_tables():
    """The command draws its own resamples: the interval's ends may differ by one hundredth."""
    (said,) = re.findall(r"by ([+-][\d.]+) \[([+-][\d.]+), ([+-][\d.]+)\] more than a", README)
    bias = pd.read_csv(STAGED / "figures/recorded/wataoka/fig1b_bias.csv")
    (row,) = bias.query("dataset == 'mt-bench' and judge == 'gpt-4'").to_dict("records")
    names = ("beyond_no_preference", "beyond_no_preference_lo", "beyond_no_preference_hi")
    assert [float(one) for one in said] == pytest.approx([row[name] for name in names], abs=0.01)


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in DOCS)]
)
def test_no_link_is_dead(page):
    """Whatever a user took away: what git lists is there."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    there = {str(path) for name in listed for path in (Path(name), *Path(name).parents)}
    links = LINK.findall((REPOSITORY / page).read_text())
    assert not [link for link in links if normpath(Path(page).parent / link) not in there]


def test_the_example_of_a_difference_starts_from_the_recorded_numbers():
    bias = pd.read_csv(STAGED / "figures/recorded/wataoka/fig1b_bias.csv")
    known = bias.set_index(["dataset", "judge"])
    rows = ROW.findall((REPOSITORY / "docs/judges.md").read_text())
    assert rows
    for dataset, judge, name, before, after, change in rows:
        assert float(before) == pytest.approx(known.loc[(dataset, judge), name], abs=1e-5)
        assert float(after) - float(before) == pytest.approx(float(change), abs=2e-5)


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in DOCS)])
def test_every_command_is_one_that_there_is(page):
    """Targets of the Makefile, and subcommands of `selfpref`."""
    text = (REPOSITORY / page).read_text()
    makefile = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets
    program = (REPOSITORY / "src/selfpref/__main__.py").read_text()
    subcommands = set(re.findall(r'add_parser\(\s*"([a-z]+)"', program))
    assert set(re.findall(r"(?:^|`)selfpref ([a-z]+)", text, re.MULTILINE)) <= subcommands
