"""Refinement through the stages: a small laboratory, then the same again from the store."""

import hashlib

import pandas as pd
import pytest
from test_pipeline import cloned

TABLES = ("responses", "ratings", "truths", "perplexities")


def small(params):
    """Models that have learned nothing: most of what they say cannot be read."""
    params["lab"]["refiners"].update(translator_steps=30, tune_steps=5, solver_steps=30)
    params["requests"]["lab"].update(translations=6, concepts=4, sums=4)
    for use in params["refine"].values():
        use.update(steps=2)
    for name in ("fair", "partial", "small"):
        params["refine"][name]["best_of"] = [1, 2]
    params["refine"]["solver"]["rounds"] = [2, 3]


@pytest.fixture(scope="module")
def refined(tmp_path_factory):
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    with cloned(tmp_path_factory.mktemp("refine"), {}) as clone:
        clone.edit(small)
        done = clone.repro("refine@fair", "refine@solver")
        assert done.returncode == 0, done.stderr + done.stdout
        yield clone


def digests(clone):
    paths = [clone.folder / f"data/lab/{name}/xu/fair.parquet" for name in TABLES]
    paths += [clone.folder / f"report/lab/refine-fair.{kind}" for kind in ("ipynb", "html")]
    return [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths]


def test_every_arm_of_every_step_has_its_rows(refined):
    found = {
        name: pd.read_parquet(refined.folder / f"data/lab/{name}/xu/fair.parquet")
        for name in TABLES
    }
    arms = ("", "accept-all/", "accept-random/", "external/", "noise/")
    wanted = {(f"{arm}lab-en/{n}", step) for arm in arms for n in range(1, 7) for step in range(3)}
    for name in TABLES:
        held = set(zip(found[name]["item_id"], found[name]["step"], strict=True))
        assert wanted <= held, name
    ratings = found["ratings"]
    assert ratings.loc[ratings["status"].ne("ok"), "score"].isna().all()
    assert set(found["perplexities"]["judge"]) == {"small"}
    votes = pd.read_parquet(refined.folder / "data/lab/ratings/xu/solver.parquet")
    assert "self-consistency" in set(votes["variant"])


def test_the_store_gives_the_same_bytes_without_a_model(refined):
    before = digests(refined)
    refined.edit(lambda params: params.update(offline=True))
    done = refined.repro("--single-item", "--force", "refine@fair")
    assert done.returncode == 0, done.stderr
    # The parameter is not told in the notebook, so nothing at all differs.
    assert digests(refined) == before
    refined.edit(lambda params: params.update(seed=1))
    done = refined.repro("--single-item", "refine@fair")
    refined.edit(lambda params: params.update(seed=20241030, offline=False))
    assert done.returncode != 0
    assert "calls are not in" in done.stderr
    assert "Traceback" not in done.stderr
    assert digests(refined) == before


def test_another_refiner_runs_nothing_of_the_first(refined):
    assert refined.repro("refine@fair").returncode == 0
    refined.edit(lambda params: params["refine"]["small"].update(steps=1))
    assert "refine@fair" not in refined.stale()
