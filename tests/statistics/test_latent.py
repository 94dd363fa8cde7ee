"""The latent-quality model finds what was planted, and nothing where nothing was."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from judged_sets import data_set
from scipy.special import expit

from selfpref.statistics import latent

NAMES = ("j", "k", "l", "m")
# Scale, pull of the first place, and tie width of each judge; people read three times.
READERS = {"j": (2.0, 0.8, 0.3), "k": (1.0, -0.5, 0.2), "l": (0.6, 0.0, 0.5), "m": (1.2, 0.2, 0.0)}


def simulated(rng, term=(), items=60):
    """Four judges read all pairs of their own texts in both orders; three people vote.

    Args:
        rng: Draws.
        term: What each judge adds for each responder, in logits, by (judge, responder).
        items: How many prompts.
    """
    votes, verdicts, worth = [], [], {"j": 0.6, "k": 0.2, "l": 0.0, "m": -0.5}
    term = dict(term)

    def answer(a, b, x, width):
        draw = rng.random()
        return a if draw < expit(x - width) else "tie" if draw < expit(x + width) else b

    for item, (a, b) in product(range(items), combinations(NAMES, 2)):
        quality = worth[a] - worth[b] + rng.normal()
        votes += [(item, a, b, answer(a, b, 0.9 * quality, 0.2), who) for who in "pqr"]
        for judge, (scale, pull, width) in READERS.items():
            own = term.get((judge, a), 0.0) - term.get((judge, b), 0.0)
            for first, second, sign in ((a, b, 1), (b, a, -1)):
                choice = answer(a, b, scale * quality + sign * pull + own, width)
                verdicts.append((item, judge, first, second, choice))
    return data_set(votes=votes, verdicts=verdicts)


def test_a_planted_taste_is_recovered_and_the_readers_are_told_from_each_other(rng):
    data = simulated(rng, {("j", "j"): 1.0, ("j", "m"): -0.4}, items=150)
    # In orders that nobody knows a judge has no pull.
    data.tables["verdicts"]["order_known"] = data.tables["verdicts"]["judge"].ne("l")
    rows, cells = latent.of_pairs(data)
    rows, cells = pd.DataFrame(rows).set_index("judge"), cells.set_index(["judge", "responder"])
    found = latent.fit(latent.Readings.of(data))
    worth, scale, pull, log_width, terms = found.readings.split(found.theta)
    assert np.diag(terms) == pytest.approx([1, 0, 0, 0], abs=0.4)
    assert worth == pytest.approx([-0.4, -0.6, -1.1], abs=0.3)
    assert scale == pytest.approx([2.0, 1.0, 0.6, 1.2, 0.9], rel=0.3)
    assert pull == pytest.approx([0.8, -0.5, 0.0, 0.2], abs=0.25)
    # One judge never ties.
    assert np.exp(log_width[[0, 1, 2, 4]]) == pytest.approx([0.3, 0.2, 0.5, 0.2], abs=0.1)
    assert rows["lo"].gt(0).tolist() == [True, False, False, False]
    assert rows["hi"].gt(0).all()
    assert rows["n"].tolist() == [450] * 4
    assert rows.loc["j", "value"] == cells.loc[("j", "j"), "effect"]
    # The judges' own cells are fitted; all others are placebos by one step, beside them.
    assert (cells["own"].sum(), len(cells)) == (4, 16)
    moved, among, parts = found.beside(place := found.place(0, 3))
    assert abs(moved[place] + 0.4) < 2 * np.linalg.norm(parts[:, list(among).index(place)]) < 0.5
    assert cells.loc[("j", "m"), "own_less_lo"] > 0 > cells.loc[("k", "j"), "own_less_lo"]


def test_what_cannot_be_fitted_says_why(rng, monkeypatch):
    for most in ("MOST_PAIRS", "MOST_CELLS"):
        with monkeypatch.context() as patch:
            patch.setattr(latent, most, 10)
            rows, _ = latent.of_pairs(simulated(rng, items=4))
        assert {row["reason"] for row in rows} == {latent.TOO_MANY}
    (row,), _ = latent.of_pairs(data_set(verdicts=[(n, "j", "j", "k", "j") for n in range(12)]))
    assert (row["n"], row["reason"]) == (0, latent.UNVOTED)
