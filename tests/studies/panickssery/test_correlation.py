"""Preference on recognition over judges: subsets, lines, families, and controls off the line."""

import numpy as np
import pandas as pd
import pytest
from panickssery_frames import BOOTSTRAP, both, paired
from scipy import stats
from study_frames import equal

from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery.correlation import (
    correlation,
    fits,
    inverted_correlation,
    line,
    off_line,
    subsets,
)

NAN = np.nan
ALWAYS, RANDOM = "set_always_1_ft_me", "set_random_ft_me"


def marked(*names):
    return evaluators.from_names(names).assign(duplicate_of="", degenerate=False)


def test_subsets_are_by_family_and_kind():
    who = marked("me", "a_2_ft_me", "b_10_ft_me", ALWAYS, RANDOM, "a_2_ft_you", "b_2_ft_you")
    twins = {ALWAYS: RANDOM, RANDOM: ALWAYS}
    again = who[who["evaluator"].eq("b_10_ft_me")].assign(evaluator="replay")
    again = pd.concat([again.assign(variant="self-recognition-replay")] * 2)
    who = pd.concat([who, again], ignore_index=True)
    who = who.assign(duplicate_of=who["evaluator"].map(twins).fillna(""))
    who["degenerate"] = who["evaluator"].eq("b_2_ft_you")
    found = {name: set(rows["evaluator"]) for name, rows in subsets(who).items()}
    mine, yours = {"a_2_ft_me", "b_10_ft_me"}, {"a_2_ft_you", "b_2_ft_you"}
    everyone = {*who["evaluator"]}
    assert found == {
        "me-self-recognition": mine,
        "me-controls": {ALWAYS, RANDOM},
        **{key: {"replay"} for key in ("me-replay", "replay")},
        "you-self-recognition": yours,
        "self-recognition": mine | yours,
        "controls": {ALWAYS, RANDOM},
        "all": everyone,
        # The second name of a model is left out once.
        "distinct": everyone - {RANDOM, "b_2_ft_you"},
    }


def test_the_correlation_is_over_judges():
    means = {"me": (0.5, 0.5), "a_2_ft_me": (0.6, 0.6), "a_10_ft_me": (0.7, 0.7)}
    means |= {"a_length_ft_me": (0.8, 0.5)}
    rows = [
        both([s, 1 - s], [1 - s, s], judge=name, task=task, item_id=f"set/{item}")
        for name, answers in means.items()
        for task, s in zip(("recognition", "preference"), answers, strict=True)
        for item in (600, 601)
    ]
    who = marked(*means)
    table, lines = correlation(paired(*rows, who=who, count=602), who, BOOTSTRAP)
    fit = stats.linregress(*zip(*means.values(), strict=True))
    columns = "dataset subset convention r slope intercept n lo hi families"
    assert " ".join(table.columns) == columns
    # Three families: the base, self-recognition, length. Too few for an interval.
    wanted = (fit.rvalue, fit.slope, fit.intercept, 4, NAN, NAN, 3)
    equal(table, columns, *(("set", name, "corrected", *wanted) for name in ("all", "distinct")))
    of_all = lines[lines["subset"].eq("all")]
    assert of_all["x"].tolist() == pytest.approx(np.linspace(0.5, 0.8, 21))
    assert of_all["y"].tolist() == pytest.approx(fit.intercept + fit.slope * of_all["x"])
    assert lines[["lo", "hi"]].isna().all(axis=None)
    # Without variation there is no line.
    assert np.isnan(line(np.array([4.0, 4, 7, 4, 19, 7]))).all()


def over_judges(families, judges, datasets=("set",)):
    """Points of so many judges of each of so many families, all of a family the same."""
    x = np.linspace(0.3, 0.7, families)
    values = {"recognition": x, "prefer": x + 0.1 * np.cos(40 * x)}
    rows = [
        (dataset, f"m{number}-{k}", quantity, value, f"m{number}")
        for dataset in datasets
        for quantity, points in values.items()
        for number, value in enumerate(points)
        for k in range(judges)
    ]
    columns = ["dataset", "evaluator", "quantity", "value", "family"]
    rows = pd.DataFrame(rows, columns=columns).assign(convention="corrected", cluster="set/0")
    who = rows[["evaluator", "family"]].drop_duplicates()
    who = who.assign(variant="base", duplicate_of="", degenerate=False)
    return rows.drop(columns="family"), who, BOOTSTRAP


def test_judges_of_one_family_that_repeat_each_other_add_no_certainty():
    (one, band), (three, bands) = (fits(*over_judges(10, n), "here") for n in (1, 3))
    one, three = (table.set_index("subset").loc["all"] for table in (one, three))
    assert (one["n"], three["n"], three["families"]) == (10, 30, 10)
    assert one["lo"] < one["r"] < one["hi"]
    ends = ["lo", "hi"]
    assert three[ends].tolist() == pytest.approx(one[ends].tolist())
    assert bands[ends].to_numpy() == pytest.approx(band[ends].to_numpy())
    # With fewer than ten families there is no interval.
    assert all(table[ends].isna().all(axis=None) for table in fits(*over_judges(9, 3), "here"))
    # Every data set, and the points of both together.
    table = inverted_correlation(*over_judges(10, 1, ("a", "b")))
    rows = [(name, "all", "prefer", n, 10) for name, n in (("a", 10), ("b", 10), ("all", 20))]
    equal(table, "dataset subset quantity n families", *rows, subset="all")
    assert "intercept" not in table


def test_controls_are_measured_from_the_line_of_their_own_base():
    names = ["set_2_ft_me", "set_10_ft_me", "set_length_ft_me", "set_length_ft_you"]
    means = [(0.5, 0.4), (0.7, 0.8), (0.6, 0.75), (0.6, 0.75)]
    means = pd.DataFrame(means, names, ["recognition", "preference"]).rename_axis("evaluator")
    rows = means.reset_index().melt("evaluator", var_name="task", value_name="mean")
    rows = rows.assign(dataset="set", other="all", convention="corrected")
    more = rows.assign(other="x", mean=0.1), rows.assign(convention="released", mean=0.1)
    fitted = pd.DataFrame({"dataset": "set", "subset": ["me-self-recognition", "me-controls"]})
    fitted = fitted.assign(convention="corrected", slope=2.0, intercept=[-0.6, 9])
    fitted = pd.concat([fitted, fitted.assign(convention="released", slope=7.0)])
    found = off_line(pd.concat([rows, *more]), fitted, marked(*names))
    # The line is 0.6 at 0.6; judges of another base have none.
    columns = "evaluator family variant recognition preference line off"
    equal(found, columns, ("set_length_ft_me", "me", "length", 0.6, 0.75, 0.6, 0.15))
