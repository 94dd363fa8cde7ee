"""The testbed with another seed, and what is computed over seeds, on tables of a few rows."""

import math
import subprocess
import sys

import pandas as pd
import pytest
from conftest import REPOSITORY
from ruamel.yaml import YAML

sys.path.insert(0, str(REPOSITORY / "tools"))
import lab_reference
import over_seeds

from selfpref.params import load

PARAMS = (REPOSITORY / "params.yaml").read_text()
# Where the parameters name the seed.
PLACES = {
    ("seed",),
    ("lab", "seeds", 0),
    *(("models", name, "model") for name in ("writers", "readers", "translators", "solver")),
    ("wataoka", "datasets"),
    ("wataoka", "label"),
    ("livebench", "datasets"),
    ("panickssery", "datasets", "notes", "seed"),
    ("panickssery", "datasets", "reports", "seed"),
    ("xu", "datasets", "lab", "seed"),
}


def changed(one, two, place=()):
    """The places at which two trees differ; a mapping with other keys is one place."""
    if isinstance(one, dict) and one.keys() == two.keys():
        return {at for key in one for at in changed(one[key], two[key], (*place, key))}
    if isinstance(one, list) and len(one) == len(two):
        pairs = enumerate(zip(one, two, strict=True))
        return {at for n, pair in pairs for at in changed(*pair, (*place, n))}
    return set() if one == two else {place}


def test_another_seed_changes_the_places_of_the_seed_alone(tmp_path):
    text = lab_reference.of_seed(PARAMS, 3)
    before, after = (YAML(typ="safe").load(one) for one in (PARAMS, text))
    assert changed(before, after) == PLACES
    for study in ("wataoka", "livebench"):
        assert changed(before[study]["datasets"]["seed-0"], after[study]["datasets"]["seed-3"]) == {
            ("seed",)
        }
    assert after["wataoka"]["label"] == {"seed-3": before["wataoka"]["label"]["seed-0"]}
    (tmp_path / "params.yaml").write_text(text)
    params = load(tmp_path / "params.yaml", sources=REPOSITORY)
    assert params.lab.seeds == [3]
    assert {name: data.seed for name, data in params.panickssery.datasets.items()} == {
        "notes": 3,
        "reports": 3,
    }
    assert "seed-0" not in text


def test_the_seed_of_the_parameters_leaves_them_as_they_are():
    assert lab_reference.of_seed(PARAMS, 0) == PARAMS
    assert lab_reference.of_seed(lab_reference.of_seed(PARAMS, 4), 0) == PARAMS


@pytest.fixture
def runs(tmp_path):
    """Three runs with a table of biases, the last without its second model, and a missing run."""
    biases = {0: (1.0, -1.0), 1: (2.0, 1.0), 2: (6.0, None)}
    for seed, (fair, partial) in biases.items():
        rows = pd.DataFrame({"model": ["fair", "partial"], "step": 1, "bias": [fair, partial]})
        folder = tmp_path / str(seed)
        folder.mkdir()
        rows.dropna().to_parquet(folder / "curves.parquet", index=False)
    return {seed: tmp_path / str(seed) for seed in biases} | {3: None}


BIAS = {"table": "curves", "keys": ["model"], "values": {"bias": "bias"}}


def row(frame, **where):
    (found,) = (
        one
        for one in frame.to_dict("records")
        if all(one[name] == wanted for name, wanted in where.items())
    )
    return found


def test_mean_and_interval_are_over_the_seeds(runs):
    fair = row(over_seeds.over_seeds(runs, [BIAS]), model="fair")
    assert [fair[f"seed_{seed}"] for seed in (0, 1, 2)] == [1, 2, 6]
    assert fair["mean"] == 3
    # s = sqrt(7), and t(0.975; 2) = 4.302653 by the tables.
    half = 4.302653 * 7**0.5 / 3**0.5
    assert fair["mean_lo"] == pytest.approx(3 - half, abs=1e-5)
    assert fair["mean_hi"] == pytest.approx(3 + half, abs=1e-5)
    assert (fair["seeds"], fair["same_side"], fair["no_effect"]) == (3, 3, 0)


def test_a_missing_seed_is_counted_and_is_no_zero(runs):
    rows = over_seeds.over_seeds(runs, [BIAS])
    fair, partial = (row(rows, model=name) for name in ("fair", "partial"))
    assert pd.isna(fair["seed_3"])
    assert pd.isna(partial["seed_2"])
    assert partial["seeds"] == 2
    # The mean is 0, and neither of -1 and 1 is on its side.
    assert (partial["mean"], partial["same_side"]) == (0, 0)
    assert partial["mean_hi"] == pytest.approx(12.7062, abs=1e-4)


def test_one_seed_has_no_interval(runs):
    (fair, _) = over_seeds.over_seeds({0: runs[0], 3: None}, [BIAS]).to_dict("records")
    assert (fair["seeds"], fair["mean"]) == (1, 1)
    assert pd.isna(fair["mean_lo"])
    assert pd.isna(fair["mean_hi"])


def test_correlations_are_averaged_by_fishers_z(runs):
    halved = BIAS | {"values": {"r": "bias / 10"}, "correlations": True}
    fair = row(over_seeds.over_seeds(runs, [halved]), model="fair")
    # artanh of 0.1, 0.2 and 0.6 by the tables: 0.1003, 0.2027, 0.6931; their s is 0.3171.
    assert fair["mean"] == pytest.approx(math.tanh(0.3321), abs=1e-3)
    half = 4.3027 * 0.3171 / 3**0.5
    assert fair["mean_lo"] == pytest.approx(math.tanh(0.3321 - half), abs=1e-3)
    assert fair["mean_hi"] == pytest.approx(math.tanh(0.3321 + half), abs=1e-3)


def test_the_side_is_that_of_the_value_of_no_effect(runs):
    fair = row(over_seeds.over_seeds(runs, [BIAS | {"no_effect": 2.5}]), model="fair")
    assert (fair["same_side"], fair["no_effect"]) == (1, 2.5)


def test_rows_are_chosen_computed_averaged_and_subtracted(runs):
    entries = [
        BIAS | {"rows": "model == 'fair'", "values": {"double": "2 * bias", "above 1": "bias > 1"}},
        BIAS | {"keys": [], "values": {"of both": "bias"}},
        BIAS | {"keys": ["model", "step"], "minus": {"rows": "model == 'fair'", "on": ["step"]}},
    ]
    rows = over_seeds.over_seeds(runs, entries)
    assert row(rows, number="double")["seed_2"] == 12
    assert [row(rows, number="above 1")[f"seed_{seed}"] for seed in (0, 1)] == [0, 1]
    assert row(rows, number="of both")["seed_1"] == 1.5
    (partial,) = rows[rows["number"].eq("bias")].to_dict("records")
    assert (partial["model"], partial["seed_0"], partial["seed_1"]) == ("partial", -2, -1)


def test_rows_that_no_run_has_are_an_error(runs):
    with pytest.raises(LookupError, match="curves: no run has"):
        over_seeds.over_seeds(runs, [BIAS | {"rows": "model == 'small'"}])
    with pytest.raises(LookupError, match="bias: no run has"):
        over_seeds.over_seeds(runs, [BIAS | {"table": "bias"}])


def test_a_seed_that_fails_is_told_and_left_out(tmp_path, monkeypatch, capsys):
    def run(seed):
        if seed == 1:
            raise subprocess.CalledProcessError(1, "dvc")
        folder = tmp_path / str(seed) / "data/lab/metrics/xu"
        folder.mkdir(parents=True)
        pd.DataFrame({"model": ["fair"], "bias": [seed]}).to_parquet(folder / "curves.parquet")
        return tmp_path / str(seed)

    for name, other in {
        **{"run": run, "OUT": tmp_path / "out", "KEPT": {"xu": [BIAS]}},
        **{"draw": lambda folders: None, "times": lambda folder: "now | 1 | 2"},
    }.items():
        monkeypatch.setattr(lab_reference, name, other)
    monkeypatch.setattr(lab_reference.reference, "said", lambda study: ["Bias rises."])
    assert lab_reference.main([0, 1, 2]) == 1
    assert "seed 1" in capsys.readouterr().err
    (fair,) = pd.read_csv(tmp_path / "out/xu.csv").to_dict("records")
    assert (fair["seed_0"], fair["seed_2"], fair["mean"], fair["seeds"]) == (0, 2, 1, 2)
    assert pd.isna(fair["seed_1"])
    page = (tmp_path / "out/README.md").read_text()
    assert "Not run: seed 1." in page
    assert "| 2 | now | 1 | 2 |\n\nNot run" in page
    assert "## xu\n\n- Bias rises." in page
