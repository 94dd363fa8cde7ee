"""What each measure sees of a judge of whom one thing is known, as the README shows it."""

import pytest
from conftest import REPOSITORY

from selfpref.__main__ import main
from selfpref.card import validate
from selfpref.card.validate import NAMES, PROPERTIES, World, design

SHOWN = {one.name: one for one in PROPERTIES}
TAKEN = ["nothing", "a taste for itself", "repeats its own mistakes", "length, its own texts long"]


@pytest.fixture(scope="module")
def rows():
    return {name: validate.row(*design(), NAMES, SHOWN[name]) for name in TAKEN}


def numbers(row):
    return [float(cell.rstrip("*")) for cell in row if cell[:1] in "+-"]


def test_the_readme_shows_what_the_command_prints(rows):
    page = (REPOSITORY / "README.md").read_text()
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in page.splitlines()}
    assert set(SHOWN) <= set(lines)
    for name, row in rows.items():
        shown = lines[name].strip("| ").split(" | ")
        assert len(shown) == len(row)
        # Words are the same; a number may differ by one hundredth by the kind of processor.
        assert shown[-2:] == list(row.values())[-2:]
        assert numbers(shown) == pytest.approx(numbers(row.values()), abs=0.011)


def test_what_is_blind_sees_something_where_there_is_nothing(rows):
    nothing, taste, *_ = rows.values()
    assert nothing["EO"][-1] == nothing["DP"][-1] == "*"
    for name in ("own term, linear", "own term, latent", "third judge, both wrong"):
        assert not nothing[name].endswith("*")
        assert taste[name].endswith("*")


def test_the_design_of_a_file_is_taken_and_what_it_says_is_not(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(validate, "PROPERTIES", PROPERTIES[:1])
    verdicts, votes = design(prompts=12, votes=1)
    rows, path, tables = verdicts.merge(votes).assign(label="a"), tmp_path / "f.csv", []
    for verdict in ("a", "b"):
        rows.assign(verdict=verdict).to_csv(path, index=False)
        assert main(["validate", "--like", str(path)]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert "| nothing |" in tables[0]
    # The first judge is one that wrote something.
    rows["judge"] = rows["judge"].where(rows.index > 0, "a reader")
    rows.assign(verdict="a").to_csv(path, index=False)
    assert validate.like(path)[2] == [NAMES[0], "a reader", *NAMES[1:]]


def test_a_judge_of_the_first_place_chooses_it_more_often_than_before():
    verdicts, votes = design()
    mine, chosen = verdicts[verdicts["judge"].eq(NAMES[0])], {}
    for name in ("nothing", "the first place"):
        said, _ = World(NAMES, NAMES, SHOWN[name]).filled(mine, votes)
        said = said[said["verdict"].ne("tie")]
        chosen[name] = (said["verdict"].eq("a") == said["order"].eq("ab")).mean()
    assert chosen["the first place"] > chosen["nothing"] + 0.2
