"""The testbed with another seed, its quantities over seeds, and what the pages say of them."""

import operator
import re
import subprocess
import sys

import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED
from ruamel.yaml import YAML

sys.path.insert(0, str(REPOSITORY / "tools"))
import lab_reference

from selfpref.params import load

PARAMS = (STAGED / "params.yaml").read_text()
SEEDS = pd.read_csv(REPOSITORY / "docs/lab-reference/seeds.csv", index_col="quantity")
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
def runs(tmp_path, monkeypatch):
    """Three runs with a frame of biases, the last without its second model."""
    biases = {0: (1.0, -1.0), 1: (2.0, 1.0), 2: (6.0, None)}
    for seed, (fair, partial) in biases.items():
        rows = [("fair", 0, 0.5), ("fair", 1, fair), ("fair", 1, fair + 1), ("partial", 1, partial)]
        frame = pd.DataFrame(rows, columns=["model", "step", "bias"]).dropna()
        (tmp_path / f"{seed}/metrics/xu").mkdir(parents=True)
        frame.to_parquet(tmp_path / f"{seed}/metrics/xu/curves.parquet", index=False)
    addresses = {
        "metrics/xu/curves[step == 1].bias": {
            "bias of fair": "model == 'fair'",
            "bias of partial": "model == 'partial'",
        },
        "metrics/xu/curves.(bias - 2).abs() > 1": {"share beyond one": "step == 1"},
    }
    differences = {"fair beyond partial": ["bias of fair", "bias of partial"]}
    monkeypatch.setattr(lab_reference, "ADDRESSES", addresses)
    monkeypatch.setattr(lab_reference, "DIFFERENCES", differences)
    return {seed: tmp_path / str(seed) for seed in biases}


def test_a_quantity_is_a_mean_over_its_rows_and_its_ends_are_over_the_seeds(runs):
    rows = lab_reference.over_seeds(runs).set_index("quantity")
    assert list(rows) == ["seed_0", "seed_1", "seed_2", "mean", "min", "max"]
    assert rows.loc["bias of fair"].tolist() == [1.5, 2.5, 6.5, 3.5, 1.5, 6.5]
    assert rows.loc["share beyond one", "seed_0"] == pytest.approx(1 / 3)
    assert rows.loc["fair beyond partial", ["seed_0", "seed_1"]].tolist() == [2.5, 1.5]


def test_a_seed_without_a_quantity_is_empty_and_no_zero(runs):
    rows = lab_reference.over_seeds(runs).set_index("quantity")
    for name, ends in {"bias of partial": [0, -1, 1], "fair beyond partial": [2, 1.5, 2.5]}.items():
        assert pd.isna(rows.loc[name, "seed_2"])
        assert rows.loc[name, ["mean", "min", "max"]].tolist() == ends


def test_a_quantity_that_no_run_has_is_an_error(runs):
    with pytest.raises(LookupError, match="no run has 'bias of partial'"):
        lab_reference.over_seeds({2: runs[2]})


def test_a_seed_that_fails_is_told_and_left_out(runs, tmp_path, monkeypatch, capsys):
    def run(seed):
        if seed == 1:
            raise subprocess.CalledProcessError(1, "dvc")
        return runs[seed]

    page = tmp_path / "README.md"
    page.write_text("# Testbed\n\nCollected on a day.\n\nMore.\n")
    for name, other in {"run": run, "OUT": tmp_path, "draw": lambda folders: None}.items():
        monkeypatch.setattr(lab_reference, name, other)
    monkeypatch.setattr(lab_reference, "collected", lambda: "Collected on another day.")
    assert lab_reference.main([0, 1, 2]) == 1
    assert "seed 1" in capsys.readouterr().err
    rows = pd.read_csv(tmp_path / "seeds.csv", index_col="quantity")
    assert rows.loc["bias of fair", ["seed_0", "seed_2", "mean"]].tolist() == [1.5, 6.5, 4]
    assert "seed_1" not in rows
    assert page.read_text() == "# Testbed\n\nCollected on another day.\n\nMore.\n"


# What README.md and docs say of the testbed, of every seed.
SAID = """
correlation of measured with injected bias > correlation of measured with oracle-rule bias
distance of oracle-rule from injected bias > distance of measured from injected bias
agreement with the oracle > 0.5
perplexity gap between texts > 0
perplexity gap between readers > 0
wins a nat with people < 0
wins a nat in the own reading < 0
wins a nat in the own reading given the vote < 0
wins a nat in the reading of others < wins a nat in the own reading
wins a nat in the reading of others given the vote < wins a nat in the own reading given the vote
excess of partisan > 0
excess of partisan in one order > 0
first places taken by first-picker > 0.5
excess of first-picker < 0
excess of even-handed > 0
harmful choices of the others < harmful choices of partisan
change of recognition > 0
change of recognition with replay > 0
change of preference > 0
change of preference in worse < 0
change of agreement with replay < 0
change of agreement < change of agreement with replay
bias of partial > 0
bias of partial beyond fair > 0
change of bias of partial > 0
change of true score of partial < change of true score of fair
bias added by noise for fair > 0
bias added by noise for partial > 0
bias added by noise for small > 0
bias added by accepting all for partial < 0
bias added by accepting all for small < 0
bias added by another judge for partial < 0
correlation of excess with the bonus > 0
correlation of equal opportunity with the bonus > 0
correlation of DBG score with the bonus > 0
correlation of regression with the bonus > 0
bias added by an ensemble < 0
bias added by an ensemble without the judge < 0
agreement added by an ensemble > 0
"""
EITHER_SIGN = """
excess of even-handed in one order
change of preference with replay
change of preference of host
change of preference in both
bias of fair
change of bias of fair
change of bias of small
bias added by the vote of the judge
"""


def test_what_the_pages_say_holds_in_each_of_the_five_seeds():
    seeds = SEEDS.filter(like="seed_")
    assert seeds.shape[1] == 5
    assert seeds.notna().all(axis=None)
    for line in SAID.strip().splitlines():
        left, sign, right = re.split(" ([<>]) ", line)
        other = seeds.loc[right] if right in seeds.index else float(right)
        assert {"<": operator.lt, ">": operator.gt}[sign](seeds.loc[left], other).all(), line
    either = SEEDS.loc[EITHER_SIGN.strip().splitlines()]
    assert (either["min"].lt(0) & either["max"].gt(0)).all()


def test_the_table_has_the_quantities_of_the_list_and_the_ends_of_its_seeds():
    kept = lab_reference.ADDRESSES
    named = [name for own in kept.values() for name in own]
    assert list(SEEDS.index) == [*named, *lab_reference.DIFFERENCES]
    for end in ("mean", "min", "max"):
        values = SEEDS.filter(like="seed_").agg(end, axis=1)
        assert SEEDS[end].to_numpy() == pytest.approx(values.to_numpy(), abs=1e-5)
