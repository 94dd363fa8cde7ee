"""The defects of a release, found on a cut-down one; the notebooks on it and on less."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY, entry, pin
from panickssery_frames import PARAMS, frames_of
from panickssery_release import files as whole_release
from study_frames import equal, run

from selfpref.studies.panickssery import defects, evaluators
from selfpref.studies.panickssery import read as archive

PUBLISHED = pd.read_csv(REPOSITORY / "data/published/panickssery.csv")
# As every reader of these files was promised them.
PROMISED = {
    "pairwise": "dataset evaluator other task convention mean se lo hi n",
    "correlation": "dataset subset convention quantity r slope intercept n lo hi families",
    "individual": "dataset evaluator target task statistic value lo hi n",
    "inverted": "dataset evaluator prefer worse mean n pattern",
}


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    root = tmp_path_factory.mktemp("mirror")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SELFPREF_ARCHIVES", str(root))
        source = pin(root, "owner/name", whole_release(), root / "source.csv")
        release = archive.read("set", entry("panickssery", "panickssery"), source)
    assert set(release["audit"]["file"]) == set(whole_release())
    return frames_of(tmp_path_factory.mktemp("frames"), release)


def test_every_evaluator_has_both_questions_and_every_label(frames):
    for name, columns in PROMISED.items():
        assert list(frames[name].columns) == columns.split()
    counted = frames["pairwise"].groupby(["dataset", "evaluator"]).size()
    # Two tasks, two conventions, four sources and all of them.
    assert (len(counted), set(counted)) == (2 * 12, {20})
    table = frames["labels"].query("other == 'all' and convention == 'corrected'")
    found = table.groupby(["evaluator", "orders"])["labels"].unique().map(set)
    shown = {"correct", "swapped", "random-correct", "random-swapped"}
    assert (found["gpt4", 2], found["llama", 1]) == ({"none", *shown}, shown)


def test_what_a_stored_score_is_is_read_off_the_rows(frames):
    readings = frames["stored_as"].set_index(["evaluator", "dataset"])["reading"]
    assert set(readings["xsum_2_ft_llama"]) == {defects.POSITION}
    # There the scores of both questions are swapped.
    assert set(readings["cnn_length_ft_llama", "xsum"]) == {defects.NEITHER}
    assert set(readings["cnn_length_ft_llama", "cnn"]) == {defects.CONFIDENCE}
    judges = frames["stored_as"]["evaluator"].map(str)
    # Of GPT's recognition there are no probabilities of both orders.
    assert not judges.isin(["gpt4", "gpt35"]).any()


def test_a_judge_is_degenerate_whose_answers_are_broken():
    counts = [("a", "ok", 18), ("a", "failed", 1), ("b", "ok", 9), ("b", "low-mass", 1)]
    counts += [("c", "ok", 9), ("c", "unparsable", 9)]
    found = pd.DataFrame(counts, columns=["evaluator", "status", "n"])
    found = found.assign(dataset="set", task="quality", variant="plain")
    worse = found.assign(variant="labels-correct", status="failed")
    table = defects.with_defects(evaluators.from_names("abc"), pd.concat([found, worse]), 0.06)
    rows = [("a", 1 / 19, False), ("b", 0.1, True), ("c", 0.0, False)]
    equal(table, "evaluator broken degenerate", *rows)


def test_a_published_number_stands_beside_the_recomputed_one(frames):
    for row in PUBLISHED.itertuples():
        named = {part.partition("=")[0] for part in row.where.split()}
        assert {*named, row.quantity} <= set(frames[row.item].columns), row
    assert not PUBLISHED.duplicated(["item", "where", "quantity"]).any()
    table = frames["checks"].dropna()
    assert np.allclose(table["difference"], table["recomputed"] - table["published"])
    row = table[table["where"].str.contains("evaluator=gpt4 other=all task=preference")].iloc[0]
    chosen = {"evaluator": "gpt4", "other": "all", "task": "preference", "dataset": "xsum"}
    equal(frames["pairwise"], "mean", (row["recomputed"],), convention="released", **chosen)


def test_the_chapter_runs_on_nothing(tmp_path, monkeypatch):
    who = pd.DataFrame(columns=evaluators.COLUMNS)
    given = {"studies__panickssery__evaluators__described": lambda *_: who}
    params = SimpleNamespace(**vars(PARAMS) | {"profile": "lab"})
    frames = frames_of(tmp_path, {}, params, **given)
    for name, columns in PROMISED.items():
        assert list(frames[name].columns) == columns.split(), name
    monkeypatch.chdir(tmp_path)
    run("panickssery", params)
    assert pd.read_csv(tmp_path / "figures/lab/panickssery/pairwise.csv").empty
