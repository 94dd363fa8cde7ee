"""Maps between the scales of two metrics."""

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from selfpref import paths
from selfpref.params import Params, load
from selfpref.studies.xu.truths import chrf, mqm_of_chrf, quantile_map, recovered


def test_a_map_is_recovered_and_interpolated():
    scale = recovered(np.array([0.4, 0.2, 0.2, 0.8]), np.array([-10.0, -25.0, -25.0, 0.0]))
    found = scale(np.array([0.2, 0.3, 0.6, 0.1, 0.9]))
    assert found == pytest.approx([-25, -17.5, -5, -25, 0])
    assert np.isnan(scale(np.array([np.nan]))).all()


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30))
def test_equal_ranks_never_fall_and_stay_in_range(values):
    source = np.array(values)
    target = np.linspace(-25, 0, 17)
    mapped = quantile_map(source, target)(np.sort(source))
    assert (np.diff(mapped) >= -1e-9).all()
    assert mapped.min() >= -25
    assert mapped.max() <= 0


def test_tied_scores_get_the_mean_of_their_ranks():
    source, target = np.array([1.0, 1.0, 2.0, 2.0]), np.array([-25.0, -15.0, -5.0, 5.0])
    low, high = quantile_map(source, target)(np.array([1.0, 2.0]))
    assert low + high == pytest.approx(2 * target.mean())
    assert low < -10 < high


@pytest.fixture(autouse=True)
def repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


def test_translations_come_to_the_scale_of_mqm_by_their_chrf():
    reference = "The quick brown fox jumps over the lazy dog."
    texts = [reference, "A brown fox went over dogs.", "Nothing of the kind."]
    raw = np.array([chrf(text, reference) for text in texts])
    assert raw[0] == pytest.approx(100)
    mapped = mqm_of_chrf()(raw)
    assert mapped[0] == 0
    assert 0 > mapped[1] > mapped[2] >= -25


def test_the_map_is_not_biased_on_sentences_that_it_was_not_made_of():
    errors = pd.read_csv(paths.published_file("chrf_mqm_errors")).set_index(["language", "model"])
    over_all = errors.loc[("all", "all")]
    assert errors["n"].iloc[1:].sum() == over_all["n"]
    assert abs(over_all["mean_error"]) < 0.5
    assert over_all["r"] > 0.8


@pytest.mark.parametrize(("metric", "remedy"), [("chrf", "chrf-mqm"), ("bleurt", "bleurt-mqm")])
def test_a_truth_on_another_scale_than_the_judges_is_refused(metric, remedy):
    params = load(STAGED / "profiles/xu.yaml").model_dump(mode="json", exclude_unset=True)
    params["xu"]["truth"] = metric
    with pytest.raises(ValidationError, match=f"from -25 to 0; take {remedy}"):
        Params.model_validate(params)
