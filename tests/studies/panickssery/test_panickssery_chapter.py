"""The chapter of Panickssery et al. on less than a release: cells, run here."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from panickssery_frames import PARAMS, frames_of, run

from selfpref.studies.panickssery import evaluators

# The testbed fills the same tables with less: no stored scores, no ratings, or nothing at all.


def answer(judge, item, task, own, other, share, first):
    """One verdict of the testbed: the own text first or second, its share of the labels."""
    pair = [share, 1 - share] if first else [1 - share, share]
    candidates = [own, other] if first else [other, own]
    row = {"study": "panickssery", "item_id": f"seed-0/{item}", "judge": judge, "task": task}
    row |= {"variant": "plain", "candidates": candidates, "order_known": True, "repeat": 0}
    row |= {"probabilities": pair, "mass": 1.0, "choice": candidates[pair[0] < pair[1]]}
    return row | {"stored": None, "status": "ok"}


def laboratory(rng):
    """Two families and a tune, in pairs alone."""
    verdicts = [
        answer(judge, item, task, own, other, float(rng.uniform(0.3, 0.9)), first)
        for judge, own, other in (("a", "a", "b"), ("b", "b", "a"), ("a-tuned", "a", "b"))
        for item in range(8)
        for task in ("recognition", "preference")
        for first in (True, False)
    ]
    items = pd.DataFrame(
        {
            "study": "panickssery",
            "item_id": [f"seed-0/{number}" for number in range(8)],
            "category": None,
            "cluster": [f"seed-0/{number}" for number in range(8)],
            "messages": [[] for _ in range(8)],
            "reference": None,
            "metadata": [json.dumps({"index": number}) for number in range(8)],
        }
    )
    who = pd.DataFrame(
        [
            ("a", "a", "", "base", 0, 0),
            ("b", "b", "", "base", 0, 0),
            ("a-tuned", "a", "seed-0", "self-recognition", 8, 2),
        ],
        columns=evaluators.COLUMNS,
    )
    return {"verdicts": pd.DataFrame(verdicts), "items": items}, who


def nothing(rng):
    return {}, pd.DataFrame(columns=evaluators.COLUMNS)


@pytest.mark.parametrize("filled", [laboratory, nothing])
def test_the_chapter_runs_on_less(filled, rng, tmp_path, monkeypatch):
    found, who = filled(rng)
    frames_of(tmp_path, found, who, "lab")
    monkeypatch.chdir(tmp_path)
    run(SimpleNamespace(**vars(PARAMS), profile="lab"), "panickssery")
    written = pd.read_csv(tmp_path / "figures/lab/panickssery/pairwise.csv")
    assert set(written["evaluator"]) == set(who["evaluator"])
