"""The regression against statsmodels on the same data, and against a preference that was put in."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from conftest import SETTINGS, counted

from selfpref import tables
from selfpref.statistics import effects
from selfpref.statistics.effects import POOLED
from selfpref.statistics.judged import Judged
from selfpref.statistics.regression import fit

LEVEL = 0.95


def design(rng, rows=200):
    clusters = pd.Series(rng.integers(0, 25, rows).astype(str))
    shared = rng.normal(size=25)[clusters.astype(int)]
    x = pd.DataFrame({"one": 1.0, "a": rng.normal(size=rows), "b": shared + rng.normal(size=rows)})
    y = 0.3 * x["a"] - x["b"] + shared + rng.normal(size=rows)
    return y.to_numpy(), x, clusters


def test_coefficients_errors_and_intervals_are_those_of_statsmodels(rng):
    y, x, clusters = design(rng)
    wanted = sm.OLS(y, x).fit(
        cov_type="cluster", cov_kwds={"groups": pd.factorize(clusters)[0]}, use_t=True
    )
    found = fit(y, x, clusters, list(x), LEVEL)
    for name, one in found.items():
        assert one.value == pytest.approx(wanted.params[name])
        assert [one.lo, one.hi] == pytest.approx(wanted.conf_int().loc[name].tolist())


def test_a_column_that_others_span_has_no_coefficient(rng):
    y, x, clusters = design(rng)
    spanned = x.assign(c=x["a"] - 2 * x["one"], empty=0.0)
    found = fit(y, spanned, clusters, ["a", "b", "c", "empty"], LEVEL)
    assert [name for name, one in found.items() if not np.isnan(one.value)] == ["b"]
    # A redundant control takes a degree of freedom from no other coefficient.
    plain = fit(y, x, clusters, ["b"], LEVEL)["b"]
    assert found["b"][:3] == pytest.approx(plain[:3])


def test_too_little_data_has_no_interval(rng):
    y, x, clusters = design(rng)
    one = fit(y, x, pd.Series("same", index=clusters.index), ["a"], LEVEL)["a"]
    assert np.isfinite(one.value)
    assert np.isnan([one.lo, one.hi]).all()
    none = fit(y[:0], x.iloc[:0], clusters[:0], ["a"], LEVEL)["a"]
    assert np.isnan(none.value)


QUALITY = {"strong": 1.0, "middle": 0.3, "weak": -1.0}


def simulated(rng, bonus, items=150):
    """Judges see quality with noise, each with a bonus for its own texts; people see it better."""
    names, rows, labels = list(QUALITY), [], []
    for item in range(items):
        quality = {name: QUALITY[name] + rng.normal() for name in names}
        for place, first in enumerate(names):
            for second in names[place + 1 :]:
                gap = quality[first] - quality[second]
                label = "a" if gap + 0.3 * rng.normal() > 0 else "b"
                labels.append((f"d/{item}", first, second, label))
                for judge in [*names, "outsider"]:
                    own = bonus.get(judge, 0.0) * ((first == judge) - (second == judge))
                    share = float(np.clip(0.5 + 0.05 * gap + own + 0.05 * rng.normal(), 0, 1))
                    rows.append((f"d/{item}", judge, [first, second], [share, 1 - share]))
    verdicts = pd.DataFrame(rows, columns=["item_id", "judge", "candidates", "probabilities"])
    items = pd.DataFrame({"cluster": [str(n) for n in range(items)]})
    found = {
        "items": items.assign(item_id="d/" + items["cluster"], metadata="{}"),
        "verdicts": verdicts.assign(
            task="preference", order_known=True, repeat=0, choice="first", status="ok", mass=1.0
        ),
        "labels": pd.DataFrame(
            labels, columns=["item_id", "responder_a", "responder_b", "label"]
        ).assign(annotator="human", repeat=0),
        "responses": counted(tables.empty("responses")),
    }
    return Judged("d", found, SETTINGS)


def coefficients(data):
    rows = pd.DataFrame(effects.of_pairs(data, data.pairs, "human"))
    return rows[rows["statistic"].eq("regression")].set_index("judge")


def test_it_finds_what_each_judge_adds_for_its_own_texts(rng):
    bonus = {"strong": 0.1, "middle": 0.0, "weak": -0.05}
    found = coefficients(simulated(rng, bonus))
    for judge, wanted in bonus.items():
        row = found.loc[judge]
        assert row["lo"] <= wanted <= row["hi"], judge
        assert row["value"] == pytest.approx(wanted, abs=0.02)
    assert found.loc[POOLED, "value"] == pytest.approx(np.mean(list(bonus.values())), abs=0.02)
    # Who wrote nothing has no own text.
    assert set(found.index) == {*bonus, POOLED}


def test_a_good_writer_without_preference_has_none(rng):
    data = simulated(rng, {})
    found = coefficients(data)
    wins = data.own("strong")["decision"].mean()
    assert wins > 0.75
    assert (found["lo"] < 0).all()
    assert (found["hi"] > 0).all()


def test_a_taste_for_length_passes_for_self_preference_unless_it_is_held(rng):
    data = simulated(rng, {}, items=100)
    items = data.tables["items"]["item_id"]
    lengths = {name: rng.integers(20, 200, len(items)) for name in QUALITY}
    # The weak writer is long, and as a judge likes what is long; the others do not care.
    lengths["weak"] = lengths["weak"] * 5
    texts = [
        (item, name, 0, 0, lengths[name][n]) for name in QUALITY for n, item in enumerate(items)
    ]
    columns = ["item_id", "responder", "step", "sample", "length"]
    data.tables["responses"] = pd.DataFrame(texts, columns=columns)
    size = {(item, name): np.log1p(length) for item, name, *_, length in texts}
    pairs = data.pairs
    longer = [
        size[row.item_id, row.first] - size[row.item_id, row.second] for row in pairs.itertuples()
    ]
    taste = 0.08 * pd.Series(longer, pairs.index).where(pairs["judge"].eq("weak"), 0.0)
    pairs = pairs.assign(score=pairs["score"] + taste)
    rows = pd.DataFrame(effects.of_pairs(data, pairs, "human")).set_index(["judge", "statistic"])
    assert rows.loc[("weak", "regression"), "lo"] > 0.05
    held = rows.loc[("weak", "regression_length")]
    assert held["lo"] < 0.005
    assert abs(held["value"]) < 0.03
