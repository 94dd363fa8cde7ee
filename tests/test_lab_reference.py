"""The testbed with another seed, its quantities over seeds, and what the pages say of them."""

import lab_reference
import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED
from ruamel.yaml import YAML

PARAMS = (STAGED / "params.yaml").read_text()
SEEDS = pd.read_csv(REPOSITORY / "docs/lab-reference/seeds.csv", index_col="quantity")


def test_another_seed_is_that_of_its_models_data_sets_and_draws():
    text = lab_reference.of_seed(PARAMS, 3)
    before, after = (YAML(typ="safe").load(one) for one in (PARAMS, text))
    old, new = (one["wataoka"]["datasets"] for one in (before, after))
    assert new == {"seed-3": old["seed-0"] | {"seed": 3}}
    assert (after["lab"]["seeds"], after["seed"] - before["seed"]) == ([3], 3)
    assert "seed-0" not in text
    assert lab_reference.of_seed(text, 0) == PARAMS


def test_a_quantity_is_a_mean_over_rows_and_its_ends_over_seeds(tmp_path, monkeypatch):
    # The last of three runs is without its second model.
    runs = {seed: tmp_path / str(seed) for seed in range(3)}
    for folder, fair, partial in zip(runs.values(), (1, 2, 6), (-1, 1, None), strict=True):
        rows = [("fair", 0, 0.5), ("fair", 1, fair), ("fair", 1, fair + 1), ("partial", 1, partial)]
        frame = pd.DataFrame(rows, columns=["model", "step", "bias"]).dropna()
        (folder / "metrics/xu").mkdir(parents=True)
        frame.to_parquet(folder / "metrics/xu/curves.parquet", index=False)
    named = {f"bias of {model}": f"model == '{model}'" for model in ("fair", "partial")}
    share = {"metrics/xu/curves.(bias - 2).abs() > 1": {"share beyond one": "step == 1"}}
    addresses = {"metrics/xu/curves[step == 1].bias": named} | share
    monkeypatch.setattr(lab_reference, "ADDRESSES", addresses)
    monkeypatch.setattr(lab_reference, "DIFFERENCES", {"fair beyond partial": [*named]})
    rows = lab_reference.over_seeds(runs).set_index("quantity")
    assert list(rows) == ["seed_0", "seed_1", "seed_2", "mean", "min", "max"]
    gap = float("nan")
    wanted = {
        "bias of fair": [1.5, 2.5, 6.5, 3.5, 1.5, 6.5],
        "bias of partial": [-1, 1, gap, 0, -1, 1],
    }
    wanted |= {"share beyond one": [1 / 3, 0, 1, 4 / 9, 0, 1]}
    wanted |= {"fair beyond partial": [2.5, 1.5, gap, 2, 1.5, 2.5]}
    for name, values in wanted.items():
        assert rows.loc[name].tolist() == pytest.approx(values, nan_ok=True), name
    with pytest.raises(LookupError, match="no run has 'bias of partial'"):
        lab_reference.over_seeds({2: runs[2]})


# What README.md and docs say of the testbed, of every seed.
COMPARED = """
correlation of measured with injected bias > correlation of measured with oracle-rule bias
distance of oracle-rule from injected bias > distance of measured from injected bias
agreement with the oracle > 0.5
wins a nat in the own reading > wins a nat in the reading of others
wins a nat in the own reading given the vote > wins a nat in the reading of others given the vote
first places taken by first-picker > 0.5
harmful choices of partisan > harmful choices of the others
change of agreement with replay > change of agreement
change of true score of fair > change of true score of partial
"""
ABOVE_ZERO = """
perplexity gap between texts; perplexity gap between readers; excess of partisan; excess of partisan
in one order; excess of even-handed; change of recognition; change of recognition with replay;
change of preference; bias of partial; bias of partial beyond fair; change of bias of partial; bias
added by noise for fair; bias added by noise for partial; bias added by noise for small; correlation
of excess with the bonus; correlation of equal opportunity with the bonus; correlation of DBG score
with the bonus; correlation of regression with the bonus; agreement added by an ensemble
"""
BELOW_ZERO = """
wins a nat with people; wins a nat in the own reading; wins a nat in the own reading given the vote;
excess of first-picker; change of preference in worse; change of agreement with replay; bias added
by accepting all for partial; bias added by accepting all for small; bias added by another judge for
partial; bias added by an ensemble; bias added by an ensemble without the judge
"""
EITHER_SIGN = """
excess of even-handed in one order; change of preference with replay; change of preference of host;
change of preference in both; bias of fair; change of bias of fair; change of bias of small; bias
added by the vote of the judge
"""
SIGNS = (ABOVE_ZERO, BELOW_ZERO, EITHER_SIGN)


def test_what_the_pages_say_holds_in_each_of_the_five_seeds():
    seeds = SEEDS.filter(like="seed_")
    assert seeds.shape[1] == 5
    assert seeds.notna().all(axis=None)
    for line in COMPARED.strip().splitlines():
        left, right = line.split(" > ")
        other = seeds.loc[right] if right in seeds.index else float(right)
        assert (seeds.loc[left] > other).all(), line
    above, below, either = (seeds.loc[" ".join(names.split()).split("; ")] for names in SIGNS)
    assert above.gt(0).all(axis=None)
    assert below.lt(0).all(axis=None)
    assert (either.min(axis=1).lt(0) & either.max(axis=1).gt(0)).all()
    named = [name for own in lab_reference.ADDRESSES.values() for name in own]
    assert list(SEEDS.index) == [*named, *lab_reference.DIFFERENCES]
    for end in ("mean", "min", "max"):
        assert SEEDS[end].to_numpy() == pytest.approx(seeds.agg(end, axis=1).to_numpy(), abs=1e-5)
