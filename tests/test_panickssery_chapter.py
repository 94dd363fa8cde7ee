"""The chapter of Panickssery et al. end to end, on a cut-down release over loopback HTTP."""

import json

import pandas as pd
import pytest
from conftest import REPOSITORY
from panickssery_release import files
from test_pipeline import cloned

from selfpref import paths, tables
from selfpref.params import Bootstrap, Panickssery
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery import measure as panickssery
from selfpref.tables import frames

STUDY = "figures/recorded/panickssery"
FIGURES = (
    *("pairwise", "fig1_recognition_vs_preference", "fig2_recognition_before"),
    *("fig3_preference_before", "fig4_training_size", "fig7_self_recognition", "controls"),
    *("inverted", "individual", "labels", "lengths"),
)
TABLES = (
    *FIGURES,
    *("correlation", "variants", "generations", "per_example", "audit"),
    *("ordering", "deltas", "leave_one_out", "wordings", "inverted_correlation", "checks"),
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The clone after the chapter has been reproduced once."""
    with cloned(tmp_path_factory.mktemp("chapter"), {"panickssery": files()}) as made:
        assert made.call("selfpref", "use", "recorded").returncode == 0
        made.edit(lambda params: params["bootstrap"].update(resamples=200))
        made.only("panickssery")
        done = made.repro()
        assert done.returncode == 0, done.stderr + done.stdout
        yield made


def test_every_figure_and_table_is_there(clone):
    for name in FIGURES:
        for kind in ("svg", "pdf"):
            assert (clone.folder / STUDY / f"{name}.{kind}").stat().st_size > 0, (name, kind)
    for name in TABLES:
        for kind in ("csv", "md", "tex"):
            assert (clone.folder / STUDY / f"{name}.{kind}").stat().st_size > 0, (name, kind)


def test_every_file_of_the_release_is_in_the_audit(clone):
    assert set(pd.read_csv(clone.folder / STUDY / "audit.csv")["file"]) == set(files())


def test_the_chapter_tells_the_defects_and_shows_no_released_text(clone):
    chapter = (clone.folder / "report/recorded/panickssery.ipynb").read_text()
    page = (clone.folder / "report/recorded/panickssery.html").read_text()
    assert "4 store the position bias for both questions" in chapter
    tables = [path.read_text() for path in (clone.folder / STUDY).glob("*.csv")]
    assert not any("secret" in text for text in (chapter, page, *tables))


def test_nothing_is_left_to_do_and_the_chapter_is_shown_to_git(clone):
    assert clone.stale() == set()
    shown = clone.call("git", "status", "--porcelain", "-uall").stdout
    assert "report/recorded/panickssery.ipynb" in shown
    assert f"{STUDY}/pairwise.csv" in shown


def test_the_same_bytes_again(clone):
    before = clone.outputs()
    assert clone.repro("-f", "-s", "metrics-panickssery@recorded").returncode == 0
    assert clone.repro("-f", "-s", "panickssery@recorded").returncode == 0
    assert clone.outputs() == before


def test_a_broken_file_stops_the_run_and_is_named(clone):
    source = clone.folder / "src/selfpref/studies/panickssery/read/panickssery.csv"
    pinned = source.read_text()
    try:
        source.write_text(pinned.replace("results/xsum/gpt4_", "results/xsum/gpt9_"))
        done = clone.repro("archive@panickssery")
        assert done.returncode != 0
        assert "results/xsum/gpt9_results.json" in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
    finally:
        source.write_text(pinned)


def test_the_settings_are_checked(clone):
    path = clone.folder / "params.yaml"
    params = path.read_text()
    try:
        clone.edit(lambda params: params["panickssery"].update(min_mass=2))
        done = clone.repro()
        assert "params.yaml: panickssery.min_mass" in done.stderr + done.stdout
    finally:
        path.write_text(params)


# The laboratory fills the same tables with less: no stored scores, no ratings, or nothing at all.


class Params:
    profile = "lab"
    seed = 1
    bootstrap = Bootstrap(resamples=200, level=0.95, method="percentile")
    panickssery = Panickssery(min_mass=0.0, unusable=0.05)


def answer(judge, item, task, own, other, share, first):
    """One verdict of the laboratory: the own text first or second, its share of the labels."""
    pair = [share, 1 - share] if first else [1 - share, share]
    candidates = [own, other] if first else [other, own]
    row = {"study": "panickssery", "item_id": f"seed-0/{item}", "judge": judge, "task": task}
    row |= {"variant": "plain", "candidates": candidates, "order_known": True, "repeat": 0}
    row |= {"probabilities": pair, "mass": 1.0, "choice": candidates[pair[0] < pair[1]]}
    return row | {"stored": None, "status": "ok"}


def laboratory(rng):
    """Two families and a tune, in pairs alone."""
    verdicts = [
        answer(judge, item, task, own, other, float(rng.uniform(0.3, 0.9)), first)
        for judge, own, other in (("a", "a", "b"), ("b", "b", "a"), ("a-tuned", "a", "b"))
        for item in range(8)
        for task in ("recognition", "preference")
        for first in (True, False)
    ]
    items = pd.DataFrame(
        {
            "study": "panickssery",
            "item_id": [f"seed-0/{number}" for number in range(8)],
            "category": None,
            "cluster": [f"seed-0/{number}" for number in range(8)],
            "messages": [[] for _ in range(8)],
            "reference": None,
            "metadata": [json.dumps({"index": number}) for number in range(8)],
        }
    )
    who = pd.DataFrame(
        [
            ("a", "a", "", "base", 0, 0),
            ("b", "b", "", "base", 0, 0),
            ("a-tuned", "a", "seed-0", "self-recognition", 8, 2),
        ],
        columns=evaluators.COLUMNS,
    )
    return {"verdicts": pd.DataFrame(verdicts), "items": items}, who


def nothing(rng):
    return {}, pd.DataFrame(columns=evaluators.COLUMNS)


@pytest.mark.parametrize("filled", [laboratory, nothing])
def test_the_chapter_runs_on_less(filled, rng, tmp_path, monkeypatch):
    found, who = filled(rng)
    found = {
        name: tables.validate(found.get(name, tables.empty(name)), name, "lab")
        for name in panickssery.TABLES
    }
    settings = panickssery.Settings(0.0, 0.05, ClusterBootstrap(200), 1)
    published = pd.read_csv(REPOSITORY / "data/published/panickssery.csv")
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    computed = panickssery.compute(found, who, published, settings)
    frames.write_frames(computed, paths.metrics_dir("lab", "panickssery"))
    monkeypatch.setattr("selfpref.params.stage_params", lambda stage: Params)
    notebook = json.loads((REPOSITORY / "notebooks/panickssery.ipynb").read_text())
    names: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    written = pd.read_csv(tmp_path / "figures/lab/panickssery/pairwise.csv")
    assert set(written["evaluator"]) == set(who["evaluator"])
