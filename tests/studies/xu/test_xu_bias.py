"""Eq. 1 on rows written by hand: what counts, and under which scoring."""

import numpy as np
import pandas as pd
import pytest
from xu_rows import SETTINGS, judged

from selfpref.studies.xu.bias import averaged, read_as, summary

NAN = np.nan
COLUMNS = [
    *("language", "step", "n", "unusable", "n_both", "self_mean", "truth_mean", "bias", "dskew"),
    *("self_change", "truth_change", "bias_change", "dskew_change"),
]


def summed(*parts, languages):
    rows = read_as(pd.concat(parts), "released")
    return summary(rows.assign(languages=languages), SETTINGS, "x")


def test_a_cell_is_what_counts_and_its_change_what_counts_at_both_steps():
    found = summed(
        judged(
            [-1, NAN, -4, 0], [-2, -20, -6, NAN], status=["ok", "unparsable", "ok", "truncated"]
        ),
        judged([0, -3, -1, -7], [-5, -4, -4, -7], step=1),
        # Without any truth there is a mean score, and no bias.
        judged([-1, -3], NAN, step=2),
        judged([-4, -5], 0, language="b"),
        judged([-3, -9], -1, language="b", step=1),
        languages=2,
    )
    none = [NAN] * 4
    wanted = [
        ["a", 0, 2, 2, 0, -2.5, -4, 1.5, 5 / 6, *none],
        ["a", 1, 4, 0, 2, -2.75, -5, 2.25, 19 / 36, 2, -0.5, 2.5, 1 / 24],
        ["a", 2, 0, 0, 0, -2, NAN, NAN, NAN, *none],
        ["b", 0, 2, 0, 0, -4.5, 0, -4.5, 17 / 18, *none],
        ["b", 1, 2, 0, 2, -6, -1, -5, 0.7, -1.5, -1, -0.5, 0.7 - 17 / 18],
        # Of the languages' values, not of one pool; of the steps that both reach.
        ["average", 0, 4, 2, 0, -3.5, -2, -1.5, 8 / 9, *none],
        ["average", 1, 6, 0, 4, -4.375, -3, -1.375, (19 / 36 + 0.7) / 2, 0.25, -0.75, 1, NAN],
    ]
    wanted[-1][-1] = (1 / 24 + 0.7 - 17 / 18) / 2
    wanted = pd.DataFrame(wanted, columns=COLUMNS)
    pd.testing.assert_frame_equal(found[COLUMNS], wanted, check_dtype=False)


def test_a_change_is_paired_by_sentence_and_an_average_needs_every_language(rng):
    said, truth = rng.normal(-9, 6, (2, 30))
    parts = [(said, truth, "a", 0), (said + 2, truth, "a", 1), (said, NAN, "b", 0)]
    found = summed(
        *(judged(one, two, language=name, step=step) for one, two, name, step in parts),
        languages=2,
    ).set_index(["language", "step"])
    change = found.loc[("a", 1), ["bias_change", "bias_change_lo", "bias_change_hi"]]
    assert change.tolist() == pytest.approx([2, 2, 2])
    lo, value, hi = found.loc[("a", 1), ["bias_lo", "bias", "bias_hi"]]
    assert lo < value - 1 < value + 1 < hi
    assert np.isnan(found.loc[("average", 0), "bias"])
    assert found.loc[("average", 0), "n"] == 0
    assert ("average", 1) not in found.index


def test_released_is_the_sources_own_rule_and_corrected_only_what_says_something():
    rows = judged(
        [-9, -2, -3],
        [-4, -5, -6],
        stored=[0, NAN, -1],
        status=["refused", "ok", "ok"],
        contaminated=[False, False, True],
    )
    columns = ["convention", "score", "truth"]
    found = [read_as(rows, name)[columns].to_numpy().tolist() for name in ("released", "corrected")]
    assert found[0] == [["released", 0, -4], ["released", -2, -5], ["released", -1, -6]]
    wanted = [["corrected", NAN, -4], ["corrected", -2, -5], ["corrected", -3, NAN]]
    pd.testing.assert_frame_equal(pd.DataFrame(found[1]), pd.DataFrame(wanted))


def test_several_fresh_draws_of_a_text_are_one_row_of_their_mean():
    fresh = {"item_id": "a/7", "variant": "rescored", "repeat": [3, 2, 1, 0]}
    fresh |= {"status": ["ok", "ok", "ok", "unparsable"], "reply": ["r3", "r2", "r1", "r0"]}
    lost = {"item_id": "a/8", "variant": "rescored", "repeat": [1, 0]}
    lost |= {"status": ["unparsable", "refused"], "reply": ["s1", "s0"]}
    ratings = pd.concat(
        [
            judged([-5], NAN, reply="own"),
            judged([-9, -5, -1, -25], NAN, **fresh),
            judged([-25, NAN], NAN, **lost),
        ],
        ignore_index=True,
    ).assign(sample=0)
    columns = ["item_id", "variant", "score", "draws", "repeat", "status", "reply"]
    wanted = [
        ("a/0", "plain", -5.0, 1, 0, "ok", "own"),
        ("a/7", "rescored", -5.0, 3, 0, "ok", "r1"),
        ("a/8", "rescored", NAN, 0, 0, "refused", "s0"),
    ]
    pd.testing.assert_frame_equal(
        averaged(ratings)[columns], pd.DataFrame(wanted, columns=columns), check_dtype=False
    )
