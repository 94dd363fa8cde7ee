"""What each measure sees of a judge of whom one thing is known, as the README shows it."""

import re

import pandas as pd
import pytest
from conftest import REPOSITORY

from selfpref.__main__ import main
from selfpref.card import validate
from selfpref.card.validate import NAMES, PROPERTIES, PROPERTY, SEED, World, design

SHOWN = {one.name: one for one in PROPERTIES}
# Of `played`, the sets of the README: a row a property and a set.
SETS = pd.read_csv(REPOSITORY / "tests/card/simulated_sets.csv")


def test_the_readme_shows_the_shares_of_a_hundred_sets():
    assert SETS.groupby(PROPERTY, sort=False).size().to_dict() == dict.fromkeys(SHOWN, 100)
    page = (REPOSITORY / "README.md").read_text()
    assert validate.table(SETS.drop(columns="set")) in page
    share = SETS.drop(columns="set").groupby(PROPERTY).mean().mul(100).round().astype(int)
    taste, length = share.loc["a taste for itself"], share.loc["length, its own texts long"]
    told = share.loc["nothing", "EO"], *(of["*favours itself*"] for of in (taste, length))
    said = r"in (\d+) of a hundred .* in (\d+), of a taste for length in (\d+); .* in (\d+)\. It"
    assert re.search(said, page).groups() == (*map(str, told), str(taste["own term, linear"]))
    assert f"{told[-1]} of 100 sets" in (REPOSITORY / "docs/measure.md").read_text()
    # "in at least 90%"
    assert SETS.notna().groupby(SETS[PROPERTY]).mean().ge(0.9).all(axis=None)


@pytest.mark.parametrize("name", SHOWN)
def test_the_sets_are_those_that_the_command_draws(name, monkeypatch):
    """By the kind of processor one interval may end on the other side of 0."""
    monkeypatch.setattr(validate, "PROPERTIES", [SHOWN[name]])
    made = validate.played(*design(), NAMES, 1)
    first = SETS[SETS["set"].eq(SEED) & SETS[PROPERTY].eq(name)].drop(columns="set")
    assert [*made] == [*first]
    assert (made.to_numpy() != first.to_numpy()).sum() <= 1


def test_what_is_blind_sees_something_where_there_is_nothing():
    taste, _, nothing, *_ = (SETS[SETS[PROPERTY].eq(one)].mean(numeric_only=True) for one in SHOWN)
    assert nothing[["EO", "DP"]].gt(0.8).all()
    decide = "own|third|itself"
    assert nothing.filter(regex=decide).lt(0.1).all()
    assert taste.filter(regex=decide).gt(0.2).all()


def test_the_design_of_a_file_is_taken_and_what_it_says_is_not(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(validate, "PROPERTIES", PROPERTIES[:1])
    verdicts, votes = design(prompts=12, votes=1)
    rows, path, tables = verdicts.merge(votes).assign(label="a"), tmp_path / "f.csv", []
    for verdict in ("a", "b"):
        rows.assign(verdict=verdict).to_csv(path, index=False)
        assert main(["validate", "--like", str(path), "--sets", "1"]) == 0
        tables.append(capsys.readouterr().out)
    assert tables[0] == tables[1]
    assert "| a taste for itself |" in tables[0]
    assert (main(["validate", "--sets", "0"]), "--sets" in capsys.readouterr().err) == (1, True)
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
