"""Confidences from verdicts, and the laws that the study rests on."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from selfpref import tables
from selfpref.statistics.bootstrap import ClusterBootstrap, Groups, clustered_errors
from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery.correlation import correlation, fits, line, off_line, subsets
from selfpref.studies.panickssery.pairs import (
    by_convention,
    confidences,
    deltas,
    ordering,
    pairwise,
)
from selfpref.studies.panickssery.wordings import both_wordings, inverted, wordings

BOOTSTRAP = ClusterBootstrap(200, seed=1)
WHO = evaluators.from_names(["me", "set_2_ft_me"])


def items(count=4):
    ids = [f"set/{number}" for number in range(count)]
    return pd.DataFrame(
        {
            "study": "panickssery",
            "item_id": ids,
            "category": "set",
            "cluster": ids,
            "messages": [[] for _ in ids],
            "reference": None,
            "metadata": [f'{{"index": {number}}}' for number in range(count)],
        }
    )


def verdict(first, second, pair, **more):
    """One answer: probabilities of the text read first and second, the larger one chosen."""
    row = {"study": "panickssery", "item_id": "set/0", "judge": "me", "task": "preference"}
    row |= {"variant": "plain", "candidates": [first, second], "order_known": True, "repeat": 0}
    row |= {"probabilities": pair, "mass": None if pair is None else sum(pair), "stored": None}
    if pair is not None:
        winner = "tie" if pair[0] == pair[1] else [first, second][pair[0] < pair[1]]
        row |= {"choice": winner, "status": "ok"}
    return row | more


def both(own_first, own_second, other="other", **more):
    """Both orders of one pair; probabilities in presented order."""
    return [verdict("me", other, own_first, **more), verdict(other, "me", own_second, **more)]


def paired(*rows, who=WHO, min_mass=0.0, count=4):
    table = tables.validate(pd.DataFrame([r for part in rows for r in part]), "verdicts", "here")
    return confidences(table, items(count), who, min_mass)


def test_the_confidence_is_the_mean_share_of_both_orders():
    (row,) = paired(both([0.6, 0.2], [0.1, 0.3])).itertuples()
    assert (row.forward, row.backward) == pytest.approx((0.75, 0.75))
    assert row.corrected == pytest.approx(0.75)
    # The text read first had 3/4 and 1/4.
    assert row.position == pytest.approx(0.5)
    assert row.mass == pytest.approx(0.4)
    assert (row.dataset, row.other, row.own, row.ordering) == ("set", "other", "me", "own")


def test_an_evaluator_that_always_answers_1_has_one_half():
    (row,) = paired(both([0.99999, 0.00001], [0.99999, 0.00001])).itertuples()
    assert row.corrected == pytest.approx(0.5, abs=1e-5)
    assert row.ordering == "first"


def test_swapping_self_and_other_maps_s_to_1_minus_s(rng):
    rows = []
    for number in range(4):
        one, two = rng.uniform(0.1, 0.4, (2, 2)).tolist()
        rows.append(both(one, two, item_id=f"set/{number}"))
    mine = paired(*rows)
    # A judge of another name: its own text is that of its family, whichever we say that is.
    turned = [[row | {"judge": "judge"} for row in part] for part in rows]
    judge = evaluators.from_names(["judge"])
    theirs = paired(*turned, who=judge.assign(family="other"))
    own = paired(*turned, who=judge.assign(family="me"))
    assert np.allclose(own["corrected"], mine["corrected"])
    assert np.allclose(theirs["corrected"], 1 - mine["corrected"])
    assert np.allclose(theirs["position"], mine["position"])


def test_one_who_names_its_own_text_whatever_the_question_has_worse_1_minus_prefer():
    prefer = both([0.9, 0.1], [0.2, 0.8])
    worse = both([0.9, 0.1], [0.2, 0.8], task="inferiority")
    found = paired(prefer, worse).set_index("task")["corrected"]
    assert found["preference"] == pytest.approx(0.85)
    assert found["inferiority"] == pytest.approx(0.15)
    assert paired(worse)["ordering"].tolist() == ["other"]
    means = wordings(both_wordings(paired(prefer, worse)), BOOTSTRAP)
    table = inverted(means)
    assert list(table.columns) == [
        *("dataset", "evaluator", "prefer", "worse", "mean", "n", "pattern")
    ]
    assert table.iloc[0, 2:6].tolist() == pytest.approx([0.85, 0.15, 0.5, 1])


def test_of_two_wordings_the_sources_own_score_is_taken_where_there_is_one():
    rows = paired(
        both([0.9, 0.1], [0.2, 0.8], stored=0.8),
        both([0.9, 0.1], [0.2, 0.8], stored=0.1, task="inferiority"),
    )
    table = inverted(wordings(both_wordings(rows), BOOTSTRAP))
    assert table.iloc[0, 2:6].tolist() == pytest.approx([0.8, 0.1, 0.45, 1])


@pytest.mark.parametrize(
    ("prefer", "worse", "pattern"),
    [
        ((0.8, 0.9), (0.6, 0.8), "favours its own"),
        ((0.8, 0.9), (0.1, 0.2), "names its own"),
        ((0.1, 0.2), (0.8, 0.9), "names the other"),
        ((0.1, 0.2), (0.1, 0.2), "favours the other"),
        # One interval includes ½; a mean is ½ to two decimals.
        ((0.4, 0.9), (0.1, 0.2), "unclear"),
        ((0.501, 0.502), (0.1, 0.2), "unclear"),
    ],
)
def test_the_pattern_is_by_the_sides_of_one_half_of_both_wordings(prefer, worse, pattern):
    bounds = {"prefer": prefer, "worse": worse, "mean": (0.3, 0.7)}
    rows = [
        {"dataset": "set", "evaluator": "me", "other": "all", "convention": "corrected", "n": 9}
        | {"quantity": name, "mean": (lo + hi) / 2, "lo": lo, "hi": hi}
        for name, (lo, hi) in bounds.items()
    ]
    assert inverted(pd.DataFrame(rows))["pattern"].tolist() == [pattern]


@pytest.mark.parametrize(
    ("rows", "status", "corrected"),
    [
        (both([0.6, 0.2], [0.1, 0.3])[:1], "missing order", None),
        (
            [
                verdict("me", "other", [0.6, 0.2]),
                verdict("other", "me", None, choice=None, status="failed", stored=0.5),
            ],
            "failed",
            None,
        ),
        # Choices without probabilities: the source vouches for the whole.
        (
            [
                verdict("me", "other", None, choice="me", status="ok", stored=0.7),
                verdict("other", "me", None, choice="other", status="ok", stored=0.7),
            ],
            "ok",
            0.7,
        ),
        # One order has probabilities, the other a choice alone: recognition by GPT.
        (
            [
                verdict("me", "other", [0.9, 0.1], stored=0.7),
                verdict("other", "me", None, choice="other", status="ok", stored=0.7),
            ],
            "ok",
            0.7,
        ),
    ],
)
def test_half_a_pair_is_another_quantity(rows, status, corrected):
    (row,) = paired(rows).itertuples()
    assert row.status == status
    assert (None if np.isnan(row.corrected) else row.corrected) == corrected


def test_little_mass_is_no_answer_where_the_settings_say_so():
    rows = both([0.006, 0.002], [0.1, 0.3])
    assert paired(rows)["corrected"].tolist() == pytest.approx([0.75])
    (row,) = paired(rows, min_mass=0.01).itertuples()
    assert row.status == "low-mass"
    assert np.isnan(row.corrected)


def test_released_is_the_stored_score_and_corrected_ignores_it():
    (row,) = paired(both([0.6, 0.2], [0.1, 0.3], stored=0.11)).itertuples()
    assert (row.released, row.corrected) == pytest.approx((0.11, 0.75))
    long = by_convention(paired(both([0.6, 0.2], [0.1, 0.3], stored=0.11)))
    assert dict(zip(long["convention"], long["value"], strict=True)) == pytest.approx(
        {"released": 0.11, "corrected": 0.75}
    )
    assert set(by_convention(paired(both([0.6, 0.2], [0.1, 0.3])))["convention"]) == {"corrected"}


def test_articles_that_it_was_tuned_on_are_left_out_of_corrected_alone():
    rows = [
        both([0.6, 0.2], [0.1, 0.3], judge="set_2_ft_me", item_id=f"set/{number}", stored=0.4)
        for number in range(4)
    ]
    found = paired(*rows).set_index("item_id")
    assert found["held_out"].tolist() == [False, False, True, True]
    assert found["corrected"].isna().tolist() == [True, True, False, False]
    assert found["released"].tolist() == [0.4] * 4


def test_a_tune_is_asked_about_its_bases_texts_and_new_ones_are_its_own():
    found = paired(
        both([0.6, 0.2], [0.1, 0.3], judge="set_2_ft_me", item_id="set/2"),
        [
            verdict("set_2_ft_me", "me", [0.8, 0.2], judge="set_2_ft_me", variant="generations"),
            verdict("me", "set_2_ft_me", [0.7, 0.3], judge="set_2_ft_me", variant="generations"),
        ],
    ).set_index("variant")
    assert found.loc["plain", "own"] == "me"
    assert found.loc["generations", ["own", "other"]].tolist() == ["set_2_ft_me", "me"]
    assert found.loc["generations", "forward"] == pytest.approx(0.8)
    assert found.loc["generations", "backward"] == pytest.approx(0.3)


def test_a_pair_of_others_is_none_of_the_studys():
    assert paired(both([0.6, 0.2], [0.1, 0.3]), [verdict("x", "y", [0.5, 0.4])]).shape[0] == 1


def test_how_the_orders_agree_and_what_a_cut_at_one_half_makes_of_it():
    pairs = paired(
        both([0.9, 0.1], [0.1, 0.9]),  # own, own
        both([0.1, 0.9], [0.9, 0.1], item_id="set/1"),  # other, other
        both([0.9, 0.1], [0.7, 0.3], item_id="set/2"),  # first, first: 0.6
        both([0.5, 0.5], [0.1, 0.9], item_id="set/3"),  # tied: 0.7
    )
    row = ordering(pairs).iloc[0]
    assert row[["own", "other", "first", "second", "tied"]].tolist() == [0.25] * 3 + [0, 0.25]
    assert row["ambiguous"] == 0.25
    assert row["own_of_consistent"] == 0.5
    assert row["thresholded"] == pytest.approx(0.75)
    assert row["n"] == 4


def test_equal_probabilities_are_a_tie_and_released_as_the_first():
    pairs = paired(both([0.5, 0.5], [0.7, 0.3], stored=0.4))
    table = ordering(pairs).set_index("convention")
    assert table.loc["corrected", "tied"] == 1
    assert table.loc["released", "first"] == 1


def test_a_confidence_of_exactly_one_half_counts_half():
    assert ordering(paired(both([0.7, 0.3], [0.7, 0.3])))["thresholded"].tolist() == [0.5]


def test_a_tune_is_compared_with_its_base_on_the_same_pairs():
    rows = [
        both([0.5 + number / 10, 0.5 - number / 10], [0.5, 0.5], item_id=f"set/{number}")
        for number in range(4)
    ]
    tuned = [
        both([0.8, 0.2], [0.2, 0.8], item_id=f"set/{number}", judge="set_2_ft_me")
        for number in range(1, 4)
    ]
    table = deltas(paired(*rows, *tuned), WHO, BOOTSTRAP)
    row = table[table["other"].eq("all")].iloc[0]
    # Articles 2 and 3 are held out: base 0.6 and 0.65, tuned 0.8.
    assert row["n"] == 2
    assert row[["base", "tuned", "mean"]].tolist() == pytest.approx([0.625, 0.8, 0.175])


# Statistics against the libraries that know them.


def clustered(rng, size=400, clusters=60):
    cluster = rng.integers(clusters, size=size)
    value = rng.normal(size=clusters)[cluster] + rng.normal(size=size)
    group = np.where(rng.random(size) < 0.4, "a", "b")
    return pd.DataFrame({"cluster": cluster.astype(str), "value": value, "group": group})


def test_the_clustered_error_is_that_of_statsmodels(rng):
    rows = clustered(rng)
    found = BOOTSTRAP.group_means(rows, ["group"], "here").set_index("group")
    for name, part in rows.groupby("group"):
        fit = sm.OLS(part["value"], np.ones(len(part))).fit(
            cov_type="cluster", cov_kwds={"groups": pd.factorize(part["cluster"])[0]}
        )
        assert found.loc[name, "mean"] == pytest.approx(fit.params.iloc[0])
        assert found.loc[name, "se"] == pytest.approx(fit.bse.iloc[0], rel=1e-9)
        assert found.loc[name, "lo"] < found.loc[name, "mean"] < found.loc[name, "hi"]


def test_one_cluster_has_no_error_and_missing_values_are_not_counted():
    rows = pd.DataFrame(
        {"group": ["a", "a", "b"], "cluster": ["x", "x", "y"], "value": [1.0, np.nan, np.nan]}
    )
    groups = Groups.of(rows, ["group"])
    assert groups.sums.sum(axis=0).tolist() == [[1.0, 1.0], [0.0, 0.0]]
    assert np.isnan(clustered_errors(groups.sums)).all()


def sums(x, y):
    return np.array([len(x), x.sum(), y.sum(), x @ x, y @ y, x @ y])


def test_the_line_is_that_of_scipy(rng):
    x, y = rng.normal(size=(2, 12))
    fit = stats.linregress(x, y)
    assert line(sums(x, y)).tolist() == pytest.approx([fit.rvalue, fit.slope, fit.intercept])
    assert np.isnan(line(sums(np.ones(4), y[:4]))[0])


def recognised(rng, count=60):
    """Recognition and preference of one evaluator, coarse enough for many ties."""
    rows = []
    for number in range(count):
        for task in ("recognition", "preference"):
            p = round(float(rng.uniform(0.1, 0.9)), 1)
            pair = [[p, 1 - p], [0.3, 0.7]]
            rows += both(*pair, task=task, item_id=f"set/{number}")
    return paired(rows, count=count)


def marked(names):
    return evaluators.from_names(names).assign(duplicate_of="", degenerate=False)


def test_subsets_are_by_family_and_kind():
    who = marked(
        [
            *("gpt35", "xsum_2_ft_gpt35", "xsum_10_ft_gpt35", "xsum_random_ft_gpt35"),
            *("xsum_always_1_ft_gpt35", "xsum_2_ft_llama", "cnn_2_ft_llama"),
        ]
    )
    who.loc[who["evaluator"].eq("xsum_random_ft_gpt35"), "duplicate_of"] = "xsum_always_1_ft_gpt35"
    who.loc[who["evaluator"].eq("xsum_always_1_ft_gpt35"), "duplicate_of"] = "xsum_random_ft_gpt35"
    found = {name: set(rows["evaluator"]) for name, rows in subsets(who).items()}
    assert found["gpt35-self-recognition"] == {"xsum_2_ft_gpt35", "xsum_10_ft_gpt35"}
    assert found["gpt35-controls"] == {"xsum_random_ft_gpt35", "xsum_always_1_ft_gpt35"}
    assert found["llama-self-recognition"] == {"xsum_2_ft_llama", "cnn_2_ft_llama"}
    assert len(found["self-recognition"]) == 4
    assert len(found["all"]) == 7
    # The second name of a model is left out once.
    assert found["all"] - found["distinct"] == {"xsum_random_ft_gpt35"}


def test_those_tuned_with_replay_are_a_subset_of_their_own():
    who = marked(["me", "set_2_ft_me", "set_10_ft_me", "set_length_ft_me", "set_random_ft_me"])
    again = who[who["variant"].eq("self-recognition")]
    again = again.assign(
        evaluator="replay-" + again["evaluator"], variant=again["variant"] + "-replay"
    )
    found = {
        name: set(rows["evaluator"])
        for name, rows in subsets(pd.concat([who, again], ignore_index=True)).items()
    }
    assert found["me-replay"] == {"replay-set_2_ft_me", "replay-set_10_ft_me"}
    assert found["me-controls"] == {"set_length_ft_me", "set_random_ft_me"}
    assert found["me-self-recognition"] == {"set_2_ft_me", "set_10_ft_me"}


def test_the_correlation_is_over_evaluators():
    names = ["me", "set_2_ft_me", "set_10_ft_me", "set_length_ft_me"]
    means = {"me": (0.5, 0.5), "set_2_ft_me": (0.6, 0.6), "set_10_ft_me": (0.7, 0.7)}
    means["set_length_ft_me"] = (0.8, 0.5)
    rows = []
    for name, confidences_ in means.items():
        for number in (600, 601):
            for task, s in zip(("recognition", "preference"), confidences_, strict=True):
                rows += both([s, 1 - s], [1 - s, s], task=task, judge=name, item_id=f"set/{number}")
    who = marked(names)
    table, lines = correlation(paired(rows, who=who, count=602), who, BOOTSTRAP)
    assert list(table.columns) == [
        *("dataset", "subset", "convention", "r", "slope", "intercept", "n", "lo", "hi", "families")
    ]
    every = table[table["subset"].eq("all")].iloc[0]
    fit = stats.linregress(*zip(*means.values(), strict=True))
    assert every[["r", "slope", "intercept", "n"]].tolist() == pytest.approx(
        [fit.rvalue, fit.slope, fit.intercept, 4]
    )
    assert lines["x"].min() == pytest.approx(0.5)
    assert lines["x"].max() == pytest.approx(0.8)
    # Three families: the base, self-recognition, length. Too few for an interval.
    assert every["families"] == 3
    assert every[["lo", "hi"]].isna().all()
    assert lines[["lo", "hi"]].isna().all(axis=None)


def over_judges(families, judges):
    """The fit over so many judges of each of so many families, all of a family the same."""
    names = [(f"m{number}", f"m{number}-{k}") for number in range(families) for k in range(judges)]
    who = pd.DataFrame(names, columns=["family", "evaluator"])
    who = who.assign(variant="base", duplicate_of="", degenerate=False)
    x = np.linspace(0.3, 0.7, families)
    values = {"recognition": x, "preference": x + 0.1 * np.cos(40 * x)}
    rows = [
        {"dataset": "set", "evaluator": f"m{number}-{k}", "quantity": quantity, "value": value}
        for quantity, points in values.items()
        for number, value in enumerate(points)
        for k in range(judges)
    ]
    rows = pd.DataFrame(rows).assign(convention="corrected", cluster="set/0")
    found, lines = fits(rows, who, BOOTSTRAP, "here")
    return found.set_index("subset").loc["all"], lines[lines["subset"].eq("all")]


def test_judges_of_one_family_that_repeat_each_other_add_no_certainty():
    (one, line_of_one), (three, line_of_three) = over_judges(10, 1), over_judges(10, 3)
    assert (one["n"], three["n"]) == (10, 30)
    assert one["lo"] < one["r"] < one["hi"]
    assert three[["lo", "hi"]].tolist() == pytest.approx(one[["lo", "hi"]].tolist())
    assert line_of_three["lo"].tolist() == pytest.approx(line_of_one["lo"].tolist())


def test_with_fewer_than_ten_families_there_is_no_interval():
    fit, band = over_judges(9, 3)
    assert fit["r"] == pytest.approx(over_judges(9, 1)[0]["r"])
    assert fit[["lo", "hi"]].isna().all()
    assert band["hi"].isna().all()


def test_controls_are_measured_from_the_line_of_their_own_base():
    names = ["set_2_ft_me", "set_10_ft_me", "set_length_ft_me", "set_length_ft_you"]
    means = [(0.5, 0.4), (0.7, 0.8), (0.6, 0.75), (0.6, 0.75)]
    table = pd.DataFrame(
        [
            {"dataset": "set", "evaluator": name, "other": "all", "convention": "corrected"}
            | {"task": task, "mean": value}
            for name, pair in zip(names, means, strict=True)
            for task, value in zip(("recognition", "preference"), pair, strict=True)
        ]
    )
    fitted = pd.DataFrame(
        {"dataset": ["set"], "subset": ["me-self-recognition"], "convention": ["corrected"]}
        | {"slope": [2.0], "intercept": [-0.6]}
    )
    (row,) = off_line(table, fitted, marked(names)).itertuples()
    # The line is 0.6 at 0.6; judges of another base have none.
    assert row.evaluator == "set_length_ft_me"
    assert (row.line, row.off) == pytest.approx((0.6, 0.15))


def test_pairwise_has_exactly_the_promised_columns(rng):
    table = pairwise(recognised(rng), BOOTSTRAP)
    assert list(table.columns) == [
        *("dataset", "evaluator", "other", "task", "convention"),
        *("mean", "se", "lo", "hi", "n", "ambiguous"),
    ]
    assert set(table["other"]) == {"other", "all"}
