"""`dvc repro` of the LiveBench chapter in a clean clone, on a small release over loopback HTTP."""

import pandas as pd
import pytest
from synthetic_livebench import livebench_files
from test_pipeline import cloned

STUDY = "figures/recorded/livebench"
CHAPTER = "livebench@recorded"
TABLES = (
    *("preference_shares", "majority_vote", "excess", "scores", "position", "objective"),
    *("agreement", "claims", "audit"),
)
FIGURES = (
    *("preference_shares", "preference_shares_by_task", "excess", "objective", "heatmap"),
    *("position", "released_coding", "released_math"),
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    releases = {"livebench": livebench_files(4)}
    with cloned(tmp_path_factory.mktemp("livebench"), releases) as made:
        assert made.call("selfpref", "use", "recorded").returncode == 0
        made.edit(lambda params: params["bootstrap"].update(resamples=100))
        done = made.repro(CHAPTER)
        assert done.returncode == 0, done.stderr + done.stdout
        yield made


def test_every_promised_table_and_figure_is_there(clone):
    for name in TABLES:
        for kind in ("csv", "md", "tex"):
            assert (clone.folder / STUDY / f"{name}.{kind}").stat().st_size > 0, (name, kind)
    for name in FIGURES:
        for kind in ("svg", "pdf", "csv"):
            assert (clone.folder / STUDY / f"{name}.{kind}").stat().st_size > 0, (name, kind)
    shares = pd.read_csv(clone.folder / STUDY / "preference_shares.csv")
    assert shares.query("task == 'all'")["category"].nunique() == 6


def test_released_texts_stay_out_of_git(clone):
    shown = clone.call("git", "status", "--porcelain", "-uall").stdout
    assert "report/recorded/livebench.ipynb" in shown
    assert "archive-livebench" not in shown
    written = [*(clone.folder / STUDY).iterdir(), *clone.folder.glob("report/recorded/livebench.*")]
    for path in written:
        assert b"A tidy text" not in path.read_bytes(), path


def test_a_setting_of_another_study_reruns_nothing(clone):
    clone.edit(lambda params: params["wataoka"].update(bins=5))
    done = clone.call("dvc", "status", "--json", CHAPTER, "metrics-livebench@recorded")
    assert "livebench" not in done.stdout
