"""The defects of a release, found on a cut-down one; the notebooks on it and on less."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from panickssery_frames import PARAMS, frames_of
from panickssery_release import files as whole_release
from study_frames import equal, released, run

from selfpref.studies.panickssery import defects, evaluators
from selfpref.studies.panickssery import read as archive

# As every reader of these files was promised them.
PROMISED = {
    "pairwise": "dataset evaluator other task convention mean se lo hi n ambiguous",
    "correlation": "dataset subset convention r slope intercept n lo hi families",
    "individual": "dataset evaluator target task statistic value lo hi n",
    "inverted": "dataset evaluator prefer worse mean n pattern",
}


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    root, asked = tmp_path_factory.mktemp("release"), ("panickssery", "panickssery")
    release = released(root, archive.read, whole_release(), *asked)
    assert set(release["audit"]["file"]) == set(whole_release())
    return frames_of(tmp_path_factory.mktemp("frames"), release)


def test_what_is_stored_is_told_from_the_rows(frames):
    # The sign of swapped labels is proven by the random run.
    columns = "dataset evaluator as_own as_inverse r_released r_corrected n"
    rows = ("cnn", "gpt4", 1.0, 0.0, 1.0, 1.0, 48), ("xsum", "gpt4", 0.0, 1.0, -1.0, 1.0, 48)
    equal(frames["swapped_labels"], columns, *rows)
    # Of one who always answers "1"; for its pair without an answer the release stores ½.
    columns = "dataset task filled at_half n released without"
    filled = frames["fills"].query("evaluator == 'cnn_always_1_ft_llama'")
    rows = [(name, "recognition", 1, 1, 24, 23.5 / 24, 1.0) for name in ("cnn", "xsum")]
    equal(filled, columns, *rows)
    assert not defects.fills(frames["pairs"].assign(released=0.4))["at_half"].any()


def test_what_a_stored_score_is_is_read_off_the_rows(frames):
    readings = frames["stored_as"].set_index(["evaluator", "dataset"])["reading"]
    assert set(readings["xsum_2_ft_llama"]) == {"position bias"}
    assert set(readings["cnn_length_ft_llama", "xsum"]) == {"the other question"}
    assert set(readings["cnn_length_ft_llama", "cnn"]) == {"confidence"}
    # A swap cannot be told where both questions are answered alike, but by undivided ones.
    pairs = frames["pairs"].query("evaluator == 'xsum_2_ft_llama' and variant == 'plain'")
    alike = pairs.assign(forward=0.5, backward=0.5, undivided=0.4, released=0.5, position=0.9)
    first = pairs["task"].eq("recognition")
    other = alike.assign(undivided=np.where(first, 0.4, 0.3), released=np.where(first, 0.3, 0.4))
    none = other.assign(released=0.2)
    read = [set(defects.stored_as(rows)["reading"]) for rows in (alike, other, none)]
    assert read == [{"cannot be told"}, {"the other question"}, {"none of these"}]


def test_judges_tuned_on_what_they_judge_are_told(frames):
    pairs = frames["pairs"].query("evaluator == 'gpt4' and variant == 'labels-correct'")
    early = pairs["item_id"].eq("xsum/xsum-500")
    table = defects.tuned_on(pairs.assign(held_out=~early, released=early.astype(float)))
    columns = "dataset evaluator task tuned_on n released_tuned_on released_held_out"
    equal(table, columns, ("xsum", "gpt4", "preference", 4, 48, 1.0, 0.0))


def test_a_judge_is_degenerate_whose_answers_are_broken_or_constant():
    one = {"dataset": "set", "task": "quality", "variant": "plain"}
    counts = [("a", "ok", 18), ("a", "failed", 1), ("b", "ok", 9), ("b", "low-mass", 1)]
    counts += [("c", "ok", 9), ("c", "unparsable", 9), ("d", "ok", 9)]
    found = pd.DataFrame(counts, columns=["evaluator", "status", "n"]).assign(**one)
    worse = found.assign(variant="labels-correct", status="failed")
    rated = pd.DataFrame({"evaluator": [*"ccdd"], "released": [1.0, 2.0, 3.0, 3.0], **one})
    distances = pd.DataFrame({"one": ["a"], "two": ["b"], "distance": [0.001]})
    who = evaluators.from_names("abcd")
    table = defects.with_defects(who, pd.concat([found, worse]), rated, distances, 1 / 19)
    rows = [("a", "b", 1 / 19, False, False), ("b", "a", 0.1, False, True)]
    rows += [("c", "", 0.0, False, False), ("d", "", 0.0, True, True)]
    equal(table, "evaluator duplicate_of broken constant degenerate", *rows)


def test_a_published_number_stands_beside_the_recomputed_one(frames):
    table = frames["checks"].dropna()
    assert np.allclose(table["difference"], table["recomputed"] - table["published"])
    row = table[table["where"].str.contains("evaluator=gpt4 other=all")].iloc[0]
    chosen = dict(part.split("=") for part in row["where"].split())
    equal(frames["pairwise"], "mean", (row["recomputed"],), **chosen)


def test_the_chapter_runs_on_nothing(tmp_path, monkeypatch):
    params = SimpleNamespace(**vars(PARAMS) | {"profile": "lab"})
    frames = frames_of(tmp_path, {}, params)
    for name, columns in PROMISED.items():
        assert list(frames[name].columns) == columns.split(), name
    monkeypatch.chdir(tmp_path)
    run("panickssery", params)
    assert pd.read_csv(tmp_path / "figures/lab/panickssery/pairwise.csv").empty
