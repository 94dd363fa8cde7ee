"""A user's file of any number of judges goes through the numbers and the chapter."""

from dataclasses import replace
from itertools import combinations, product

import pytest
from conftest import SETTINGS, STAGED
from judged_sets import data_set
from study_frames import repository, run

from selfpref import paths
from selfpref.params import load
from selfpref.studies.beyond import sets

FIGURES = ("forest_pairs", "forest_pairs_more", "rates_pairs", "placebo", "mitigations")
FIGURES += ("mitigation_changes", "power")


def judged(judges, rng, items):
    """Verdicts in both orders on all pairs of as many responders, later ones better; ties."""
    names = [f"judge-{number}" for number in range(max(judges, 2))]
    votes, verdicts = [], []
    for item, (one, two) in product(range(items), combinations(range(len(names)), 2)):
        pair, gap = (names[one], names[two]), rng.normal((one - two) / 2, 1.4)
        votes.append((item, *pair, pair[int(rng.normal(gap, 0.7) < 0)] if item % 5 else "tie"))
        for judge, order in product(names[:judges], (pair, pair[::-1])):
            # Not all judges decide the same pairs.
            choice = pair[int(rng.normal(gap, 0.7) < 0)] if len(verdicts) % 43 else None
            verdicts.append((item, judge, *order, choice))
    few = replace(SETTINGS.bootstrap, resamples=50)
    return data_set("mine", votes, verdicts, changed={"bootstrap": few})


@pytest.mark.parametrize("judges", [1, 2, 3, 7])
def test_a_file_of_any_number_of_judges_is_measured_and_drawn(judges, rng, tmp_path, monkeypatch):
    monkeypatch.chdir(repository(tmp_path))
    data = judged(judges, rng, items=16 if judges > 3 else 60)
    monkeypatch.setattr(sets, "of_wataoka", lambda *_: [data])
    recorded = load(STAGED / "profiles/recorded.yaml")
    changed = recorded.model_copy(update={"studies": []})
    run("beyond_metrics", changed)
    run("beyond", changed)
    drawn = {path.stem for path in paths.figure_dir("recorded", "beyond").glob("*.svg")}
    needs = {"mitigations": 3, "mitigation_changes": 3}
    assert drawn == {name for name in FIGURES if judges >= needs.get(name, 1)}
