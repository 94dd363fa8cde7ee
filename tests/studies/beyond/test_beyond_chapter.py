"""A user's file of any number of judges goes through the numbers and the chapter."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from conftest import SETTINGS
from judged_sets import by_chance
from study_frames import RECORDED, repository, run

from selfpref import paths
from selfpref.studies.beyond import sets

FIGURES = ("forest_pairs", "placebo", "mitigation_changes", "power")


@pytest.mark.parametrize("judges", [1, 2, 3, 7])
def test_a_file_of_any_number_of_judges_is_measured_and_drawn(judges, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(repository(tmp_path))
    names = [f"judge-{number}" for number in range(max(judges, 2))]
    few = {"bootstrap": replace(SETTINGS.bootstrap, resamples=50)}
    data = by_chance(rng, names, judges, items=16 if judges > 3 else 60, changed=few)
    monkeypatch.setattr(sets, "of_wataoka", lambda *_: [data])
    changed = RECORDED.model_copy(update={"studies": []})
    run("beyond_metrics", changed)
    run("beyond", changed)
    drawn = {path.stem for path in paths.figure_dir("recorded", "beyond").glob("*.svg")}
    needs = {"mitigation_changes": 3}
    assert drawn == {name for name in FIGURES if judges >= needs.get(name, 1)}


def test_sets_are_those_with_votes_or_a_key_of_ones_own(monkeypatch):
    held = {"votes": (["j"], False), "released": (["j"], True), "own": (["j"], True)}
    held["unread"] = ([], False)
    monkeypatch.setattr(sets, "WATAOKA", SimpleNamespace(by_dataset=lambda profile, names: held))
    monkeypatch.setattr(
        sets,
        "Judged",
        lambda name, of, _: SimpleNamespace(name=name, judges=of[0], keyed=of[1]),
    )
    section = SimpleNamespace(by_key=lambda name: name == "own")
    params = SimpleNamespace(studies=["wataoka"], profile="p", wataoka=section)
    assert [data.name for data in sets.of_wataoka(params, SETTINGS)] == ["votes", "own"]
