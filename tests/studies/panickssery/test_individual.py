"""Single summaries, by hand."""

import numpy as np
import pandas as pd
import pytest
from panickssery_frames import BOOTSTRAP, items
from scipy.stats import mannwhitneyu

from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery.individual import auroc, individual, scores

NAN = np.nan
JUDGES = evaluators.from_names(["a", "b", "c"])


def rated(*rows, who=JUDGES):
    """By judge, target and statistic; of judge, responder, article, score and what was stored."""
    found = [(*row, *row[3:])[:5] for row in rows]
    table = pd.DataFrame(found, columns=["judge", "responder", "item_id", "score", "stored"])
    status = table["score"].isna().map({True: "unparsable", False: "ok"})
    table = table.assign(item_id="set/" + table["item_id"].astype("str"), status=status)
    table = table.assign(task="recognition", variant="plain")
    table = pd.concat([table, table.assign(variant="rerun", score=9.0)])
    found = individual(scores(table, items(), who), who, BOOTSTRAP)
    return found.set_index(["evaluator", "target", "statistic"])


def test_difference_ratio_and_auroc_by_hand():
    rows = [("a", "a", 0, 0.6), ("a", "b", 0, 0.2), ("a", "a", 1, 0.4), ("a", "b", 1, 0.4)]
    found = rated(*rows, ("a", "c", 1, 0.1))["value"]
    # 0.6 beats both, 0.4 beats one and ties one.
    means = ("mean", "mean_released", "mean_missing_no")
    wanted = {"difference": 0.2, "ratio": 0.625, "ratio_corrected": 0.625, "auroc": 3.5 / 4}
    assert found["a", "b"].to_dict() == pytest.approx(wanted | dict.fromkeys(means, 0.3))
    wanted = dict.fromkeys(("ratio", "ratio_corrected"), (0.75 + 0.5 + 0.8) / 3)
    wanted |= {"difference": 0.7 / 3, "auroc": 5.5 / 6} | dict.fromkeys(means, 0.7 / 3)
    assert found["a", "all"].to_dict() == pytest.approx(wanted)
    assert found["a", "a"].to_dict() == pytest.approx(dict.fromkeys((*means, "ratio"), 0.5))


def test_the_gap_takes_out_what_those_see_who_wrote_neither():
    rows = [("a", "a", 0, 0.9), ("a", "b", 0, 0.3)]
    # c wrote neither and sees a difference of 0.2; b's view of its own text does not count.
    rows += [("c", "a", 0, 0.6), ("c", "b", 0, 0.4), ("b", "a", 0, 0.1), ("b", "b", 0, 0.9)]
    found = rated(*rows)["value"]
    assert found["a", "b"][["difference", "gap"]].tolist() == pytest.approx([0.6, 0.4])
    # Nor does that of a tuned judge.
    tuned = evaluators.from_names(["a", "b", "set_0_ft_c"])
    rows = [("set_0_ft_c", *row[1:]) if row[0] == "c" else row for row in rows]
    assert ("a", "b", "gap") not in rated(*rows, who=tuned).index


def test_ratios_are_of_held_out_articles_and_a_dropped_row_counts_in_its_own_statistic_alone():
    name, rows = "set_2_ft_a", []
    for n in range(4):
        rows += [("set_2_ft_a", "a", n, 0.8, 0.6)]
        rows += [("set_2_ft_a", "b", n, 0.2, 0.2 if n < 2 else 0.6)]
    rows[-1] = (name, "b", 3, NAN, 0.6)
    found = rated(*rows, who=evaluators.from_names(["a", name])).loc[name, "b"]
    # The stored 0.6 and 0.2 of articles 0 and 1, which it was tuned on, do not enter.
    wanted = {"ratio": (0.5, 2), "ratio_corrected": (0.8, 1), "mean": (0.2, 1), "auroc": (1, 2)}
    wanted |= {"mean_missing_no": (0.1, 2), "mean_released": (0.4, 4), "difference": (0.6, 1)}
    told = {key: (row["value"], row["n"]) for key, row in found.iterrows()}
    assert told == {key: pytest.approx(value) for key, value in wanted.items()}


def test_the_auroc_is_mann_whitneys_and_its_error_that_of_the_jackknife(rng):
    own, other = rng.normal(0.5, 1, 80).round(1), rng.normal(0, 1, 160).round(1)
    at, others_at = np.arange(80), np.repeat(np.arange(80), 2)
    found = auroc(own, at, other, others_at, 0.95)
    wanted = mannwhitneyu(own, other).statistic / (80 * 160)
    assert (found["value"], found["n"]) == (pytest.approx(wanted), 80)
    left = [
        mannwhitneyu(own[at != k], other[others_at != k]).statistic / (79 * 158) for k in range(80)
    ]
    error = np.sqrt(79 / 80 * ((np.array(left) - np.mean(left)) ** 2).sum())
    for reach in (found["hi"] - wanted, wanted - found["lo"]):
        assert reach / 1.959964 == pytest.approx(error, rel=0.02)
    none = auroc(own, at, other[:0], at[:0], 0.95)
    assert (np.isnan(none["value"]), none["n"]) == (True, 0)
    assert np.isnan(auroc(own[:1], at[:1], other[:1], at[:1], 0.95)["lo"])
