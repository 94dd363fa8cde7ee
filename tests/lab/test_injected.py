import numpy as np
import pytest

from selfpref.lab.injected import draw_families, human_label, rule_probability
from selfpref.lab.oracle import quality
from selfpref.lab.styles import STYLES, write
from selfpref.lab.world import Item, draw_items

ITEM = Item("list", ("red",), 4, "list 4 red things")
BETTER, WORSE = "cherry brick ruby tomato", "sure ! cherry brick ruby snow"


def test_without_bonus_the_injected_rule_is_the_oracle_rule() -> None:
    rng = np.random.default_rng(0)
    for item in draw_items(60, np.random.SeedSequence(0)):
        a, b = (" ".join(write(item, s, 0.4, rng)) for s in ("sure", "terse"))
        for style in STYLES:
            gap = round(quality(item, a) - quality(item, b), 9)
            unbiased = 0.5 if gap == 0 else float(gap > 0)
            assert rule_probability(item, a, b, style, 0.0) == unbiased


def test_bonus_counts_in_units_of_quality() -> None:
    assert rule_probability(ITEM, WORSE, BETTER, "sure", 0.2) == 0.0
    assert rule_probability(ITEM, WORSE, BETTER, "sure", 0.25) == 0.5
    assert rule_probability(ITEM, WORSE, BETTER, "sure", 0.3) == 1.0
    assert rule_probability(ITEM, WORSE, BETTER, "formal", 0.3) == 0.0


def test_rule_does_not_depend_on_the_order() -> None:
    for beta in (-0.3, 0.0, 0.25, 0.7):
        ab = rule_probability(ITEM, WORSE, BETTER, "sure", beta)
        assert ab == 1.0 - rule_probability(ITEM, BETTER, WORSE, "sure", beta)


def test_human_is_the_oracle_with_noise() -> None:
    rng = np.random.default_rng(0)
    votes = [human_label(ITEM, BETTER, WORSE, rng, noise=0.15) for _ in range(2000)]
    assert votes.count("a") / 2000 == pytest.approx(1 / (1 + np.exp(-0.25 / 0.15)), abs=0.03)
    assert human_label(ITEM, BETTER, BETTER, rng, 0.15) == "tie"


def test_beta_is_spread_evenly_and_not_tied_to_a_style() -> None:
    drawn = [draw_families(seed, 8, 2) for seed in range(200)]
    assert draw_families(5, 8, 2) == drawn[5]
    betas = np.array([[family.beta for family in families[:8]] for families in drawn])
    assert np.allclose(np.sort(betas, axis=1), np.linspace(-0.3, 0.7, 8))
    assert np.abs(betas.mean(axis=0) - 0.2).max() < 0.08
    errors = np.array([[family.error_rate for family in families[:8]] for families in drawn])
    assert abs(np.corrcoef(betas.ravel(), errors.ravel())[0, 1]) < 0.1


def test_no_more_families_than_styles() -> None:
    with pytest.raises(ValueError, match="families"):
        draw_families(0, 9, 2)
