"""What is true of a text: boxed answers, concepts, and maps between the scales of two metrics."""

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY

from selfpref import paths
from selfpref.studies.xu import items
from selfpref.studies.xu.items import correct, covers, normalised

SPELLINGS = {
    r"\frac{1}{2}": [r"\dfrac{1}{2}", r"\tfrac12", r"\frac{1}2", "1/2"],
    r"-\frac{3}{4}": ["-3/4"],
    "(1,2)": [r"\left( 1, 2 \right)"],
    "1000": ["1,000", "1{,}000"],
    "1,2": ["1, 2"],
    "2.5": ["2.50", "+2.5", "$2.5$"],
    "-0.5": ["-0.50", "-.5"],
    "7": ["007", "7.0", "7."],
    "5": [r"5\text{ cm}", r"5 \%", r"5^\circ"],
    "even": [r"\text{even}"],
    r"\sqrt{2}": [r"\sqrt2"],
    "x+1": ["$x + 1$"],
}


def test_the_last_box_counts_and_its_braces_are_balanced():
    said = {r"first \boxed{1}, then \boxed{\frac{1}{2}} done": r"\frac{1}{2}", "no box: 3": None}
    said |= {r"\boxed{ \{1, 2\} }": r"\{1, 2\}", r"\boxed{\frac{1}{2}": None}
    assert {text: items.boxed(text) for text in said} == said


def test_an_answer_has_one_spelling():
    for answer, spellings in SPELLINGS.items():
        assert {normalised(one) for one in [answer, *spellings]} == {answer}


def test_without_an_answer_nothing_is_correct():
    assert correct(r"so \boxed{1/2}", r"\frac{1}{2}") == 1
    assert correct("I do not know", r"\frac{1}{2}") == 0
    # Missing against missing was equal in the release.
    assert correct("I do not know", "") == correct(r"\boxed{}", "") == 0


def test_surface_asks_for_the_word_and_lemma_for_its_forms():
    text = "The foxes, running home on a carpet, wore headphones!"
    forms = ["fox", "Run", "wear", "headphone"]
    found = [[covers(text, [one], matcher) for one in forms] for matcher in ("surface", "lemma")]
    assert found == [[0, 0, 0, 0], [1, 1, 1, 1]]
    # A concept inside another word is not there.
    assert covers(text, ["home"], "surface") == 1
    assert covers(text, [*forms, "car"], "lemma") == covers("", ["fox"], "lemma") == 0


def test_maps_between_scales_by_hand():
    scale = items.recovered(np.array([0.4, 0.2, 0.2, 0.8]), np.array([-10.0, -25.0, -25.0, 0.0]))
    assert np.interp([0.2, 0.3, 0.6, 0.1, 0.9], *scale) == pytest.approx([-25, -17.5, -5, -25, 0])
    # Equal ranks; tied scores get the mean of theirs.
    raw, mapped = items.quantile_map(
        np.array([2.0, 1.0, 1.0]), np.array([-20.0, 0.0, -10.0]), knots=3
    )
    assert (raw.tolist(), mapped.tolist()) == ([1, 2], [-15, 0])


def test_chrf_comes_to_the_scale_of_mqm_without_bias(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    reference = "The quick brown fox jumps over the lazy dog."
    texts = [reference, "A brown fox went over dogs.", "Nothing of the kind."]
    best, middle, worst = (items.chrf_mqm(text, reference) for text in texts)
    assert 0 == best > middle > worst >= -25
    # On sentences that the map was not made of.
    errors = pd.read_csv(paths.published_file("chrf_mqm_errors"))
    over_all = errors.query("language == 'all' and model == 'all'").squeeze()
    assert abs(over_all["mean_error"]) < 0.5
    assert over_all["r"] > 0.8
