"""README and docs: links lead somewhere, the example's numbers are the tables'."""

import re
import subprocess
import sys
from os.path import normpath
from pathlib import Path

import pandas as pd
import pytest
import readme
from conftest import REPOSITORY, STAGED

from selfpref.__main__ import COMMANDS

README = (REPOSITORY / "README.md").read_text()
PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (REPOSITORY / "docs").glob("*.md"))]
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
# metric, before, after, difference, as `dvc metrics diff` prints them
ROW = re.compile(r"^(\S+)\.(\S+)\.(eo|excess) +(-?[\d.]+) +(-?[\d.]+) +(-?[\d.]+)$", re.MULTILINE)


def test_sentences_and_claims_are_what_the_tables_say(monkeypatch):
    monkeypatch.chdir(STAGED)
    marked = {"README.md": 7, "docs/figures.md": 1}
    marked |= {"docs/lab-reference/README.md": 40, "docs/rules.md": 10}
    assert set(readme.PAGES) == set(marked)
    for name, count in marked.items():
        page = (REPOSITORY / name).read_text()
        assert page.count("<!-- end -->") >= count
        assert readme.filled(page) == page


def test_the_answer_on_mt_bench_and_the_example_of_a_difference_have_the_numbers_of_the_tables():
    """The command draws its own resamples: the interval's ends may differ by one hundredth."""
    page = (REPOSITORY / "docs/measure.md").read_text()
    bias = pd.read_csv(STAGED / "figures/recorded/wataoka/fig1b_bias.csv")
    known = bias.set_index(["dataset", "judge"])
    (said,) = re.findall(r"([+-][\d.]+) \[([+-][\d.]+), ([+-][\d.]+)\] beyond a person", page)
    names = [f"beyond_no_preference{end}" for end in ("", "_lo", "_hi")]
    wanted = known.loc[("mt-bench", "gpt-4"), names].tolist()
    assert [float(one) for one in said] == pytest.approx(wanted, abs=0.01)
    found = re.search(r"240 \(960\) \| (\d+%)", page)[1]
    assert found in (REPOSITORY / "docs/rules.md").read_text()
    rows = ROW.findall((REPOSITORY / "docs/judges.md").read_text())
    assert rows
    for dataset, judge, name, before, after, change in rows:
        assert float(before) == pytest.approx(known.loc[(dataset, judge), name], abs=1e-5)
        assert float(after) - float(before) == pytest.approx(float(change), abs=2e-5)


def selfpref(*words):
    command = [sys.executable, "-m", "selfpref", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_examples_of_judgments_are_read_as_the_pages_say(tmp_path):
    """Words are the same; a number may differ by the kind of processor."""
    file, number = tmp_path / "mine.jsonl", re.compile(r"[+-]?\d[\d.]*")
    file.write_text(selfpref("example"))
    assert (selfpref("--help") + selfpref("example", "--help")).count("Print simulated") == 2
    shown = re.search(r"```\n(judge  .*?)\.\.\.\n```", README, re.DOTALL)[1]
    printed = selfpref("measure", file, "--brief")
    assert number.sub("", printed).startswith(number.sub("", shown))
    # Three lines: its own response wins in both orders, and ties once.
    page = (REPOSITORY / "docs/measure.md").read_text()
    worked = re.search(r"```\n(judge  .*?)\.\.\.\n```", page, re.DOTALL)[1]
    assert set() < {*worked.splitlines()} <= {*shown.splitlines()}
    files = [tmp_path / f"{name}.csv" for name in ("judgments", "votes", "marks")]
    for one, text in zip(files, re.findall(r"```text\n(.*?)```", page, re.DOTALL), strict=True):
        one.write_text(text)
    table = selfpref("measure", files[0], "--votes", files[1])
    assert re.search(r"^demographic parity +\+1\.00 .* n 1,", table, re.MULTILINE)
    assert "me: cannot tell, because only 0 items" in selfpref("measure", files[2], "--brief")
    assert re.search(r"(?ms)^excess +none: no second.*^first position +0\.50 [^\n]* n 2 ", table)


@pytest.mark.parametrize("page", [*PAGES, "CONTRIBUTING.md"])
def test_no_link_is_dead_and_every_command_is_one_that_there_is(page):
    """Whatever a user took away: what git lists is there."""
    listed = subprocess.check_output(["git", "ls-files"], cwd=REPOSITORY, text=True).splitlines()
    there = {str(path) for name in listed for path in (Path(name), *Path(name).parents)}
    text = (REPOSITORY / page).read_text()
    links = LINK.findall(text) + re.findall(r'(?:src|href)="(?!https?:)([^"#]+)"', text)
    assert not [link for link in links if normpath(Path(page).parent / link) not in there]
    # GitHub shows what follows a comment at the head of a line as it stands.
    assert not re.search(r"^(?:[-*>] |\d+\. )*<!--.*?-->\S", text, re.MULTILINE)
    makefile = (REPOSITORY / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE)) <= targets
    assert {*re.findall(r"(?:^|`)selfpref ([a-z]+)", text, re.MULTILINE)} <= {*COMMANDS.choices}
    for place, anchor in re.findall(r"\]\(([^():#]*)#([^)]+)\)", text):
        told = (REPOSITORY / page).parent.joinpath(place or Path(page).name).read_text()
        headings = re.sub(r"[^\w\n -]", "", "\n".join(re.findall(r"^#+ (.*)", told, re.M)).lower())
        assert anchor in headings.replace(" ", "-").splitlines()
