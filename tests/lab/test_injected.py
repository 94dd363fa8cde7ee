from types import SimpleNamespace

import numpy as np
import pytest

from selfpref.lab.injected import draw_families, human_label, rule_probability
from selfpref.lab.styles import STYLES
from selfpref.lab.world import Item

ITEM = Item("list", ("red",), 4, "list 4 red things")
BETTER, WORSE = "cherry brick ruby tomato", "sure ! cherry brick ruby snow"


@pytest.mark.parametrize(
    ("style", "beta", "worse_wins"),
    [
        ("sure", 0.0, 0.0),
        ("sure", 0.2, 0.0),
        ("sure", 0.25, 0.5),
        ("sure", 0.3, 1.0),
        ("formal", 0.3, 0.0),
        ("terse", -0.3, 1.0),
    ],
)
def test_a_bonus_counts_in_units_of_quality_in_either_order(style, beta, worse_wins):
    assert rule_probability(ITEM, WORSE, BETTER, style, beta) == worse_wins
    assert rule_probability(ITEM, BETTER, WORSE, style, beta) == 1 - worse_wins


def test_a_human_is_the_oracle_with_noise():
    """1 / (1 + exp(-.25 / .15)) = .8411."""
    for first, second, draw, label in (
        (BETTER, WORSE, 0.841, "a"),
        (BETTER, WORSE, 0.842, "b"),
        (WORSE, BETTER, 0.158, "a"),
        (WORSE, BETTER, 0.159, "b"),
        (BETTER, BETTER, 0.1, "tie"),
    ):
        rng = SimpleNamespace(random=lambda draw=draw: draw)
        assert human_label(ITEM, first, second, rng, noise=0.15) == label


def test_every_seed_has_the_same_bonuses_and_error_rates_in_another_order():
    families = [draw_families(seed, 8, 2) for seed in range(30)]
    assert families[5] == draw_families(5, 8, 2)
    for drawn in families:
        writers, onlookers = drawn[:8], drawn[8:]
        assert [family.name for family in drawn] == [*STYLES, "onlooker-1", "onlooker-2"]
        assert [family.writes for family in drawn] == [True] * 8 + [False] * 2
        assert np.allclose(sorted(one.beta for one in writers), np.linspace(-0.3, 0.7, 8))
        assert np.allclose(sorted(one.error_rate for one in writers), np.linspace(0.08, 0.45, 8))
        assert all(one.style in STYLES and -0.3 <= one.beta <= 0.7 for one in onlookers)
        assert len({family.seed for family in drawn}) == 10
    pairs = {(drawn[0].beta, drawn[0].error_rate) for drawn in families}
    assert len(pairs) > 20
    with pytest.raises(ValueError, match="families"):
        draw_families(0, 9, 2)
