"""The testbed end to end: one small run, and judges added to it."""

import pytest
from clones import ALONE, FAMILIES, PAIRS, TOGETHER, ran

# Each line a study and what it promises: figures with their tables, then tables alone.
FIGURES = """
wataoka fig1a_example fig1b_bias fig2_confusion table2_demographic_parity position
wataoka fig3_perplexity_vs_human fig4_perplexity_own_vs_other fig5_log_perplexity
wataoka fig6_judges_without_responses planted_vs_measured
panickssery pairwise fig1_recognition_vs_preference fig2_recognition_before inverted
panickssery fig4_training_size fig7_self_recognition replay
"""
TABLES = "panickssery correlation deltas individual oracle statuses evaluators audit\n"
TABLES += "wataoka bias_by_opponent"
# What reads all studies, which the recorded profile shows.
LEFT = {"beyond-metrics@lab", "beyond@lab", "claims", "report@lab"}
# In parts: this file lies in the clone too, where no file may hold it.
KEY = "-".join(("sk", "planted", "0123456789abcdef"))


def test_every_figure_is_drawn_and_nothing_is_left_to_do(laboratory):
    assert laboratory.stale() == LEFT
    assert laboratory.lacks("lab", FIGURES, "svg") == []
    assert laboratory.lacks("lab", f"{FIGURES}\n{TABLES}", "csv") == []
    for name, column, wanted in (
        ("wataoka/fig1b_bias", "judge", {*FAMILIES}),
        ("wataoka/fig6_judges_without_responses", "judge", {"onlooker-1", ALONE}),
    ):
        assert {*laboratory.table(f"figures/lab/{name}.csv")[column]} == wanted


def test_every_pair_is_judged_in_both_orders_and_of_articles_only_those_held_out(laboratory):
    for part, judges in (("judges", TOGETHER), (ALONE, [ALONE])):
        verdicts = laboratory.table(f"data/lab/wataoka/verdicts/{part}.parquet")
        assert verdicts["judge"].value_counts().to_dict() == dict.fromkeys(judges, 2 * PAIRS)
    for part, name in (("readers", "clerk"), ("tuned-readers", "clerk-again")):
        verdicts = laboratory.table(f"data/lab/panickssery/verdicts/{part}.parquet")
        assert name in set(verdicts["judge"])
        assert set(verdicts["item_id"]) <= {f"notes/{number}" for number in range(3, 8)}


# What is run once more, in a copy.


def test_weights_behind_an_endpoint_say_what_they_say_here(laboratory, tmp_path):
    """The weights of `terse`, which judge there as they do here."""
    from scripted import ByModel, Scripted

    clone = laboratory.copied(tmp_path / "clone")
    clone.environment["PLANTED"] = KEY
    answers = ByModel(clone.folder / "data/lab/models/seed-0/terse")
    with Scripted(answers, script=["401"]) as server:

        def add(params):
            served = {"engine": "openai", "model": "terse", "base_url": server.url}
            params["models"]["served"] = served | {"server": "vllm", "key": "PLANTED"}
            params["wataoka"]["judge"]["served"] = {"prompts": "lab", "min_mass": 0.5}

        clone.edit(add)
        refused = clone.repro("wataoka-judge@served")
        assert "(1 x 401: Incorrect API key provided: ***)" in refused.stderr
        assert (clone.folder / "report/lab/wataoka-judge-served.failed.ipynb").exists()
        done = clone.repro("wataoka-judge@served")
        # Nothing of another judge ran; the metrics read what is new.
        assert ran(done) - {"check"} == {"wataoka-judge@served"}
        assert clone.stale() == LEFT | {"metrics@wataoka-lab", "chapter@wataoka-lab"}
        assert len(server.received) == 1 + 2 * PAIRS
    assert server.received[0][1]["Authorization"] == f"Bearer {KEY}"
    # Its key is nowhere.
    assert not [run for run in (refused, done) if KEY in run.stdout + run.stderr]
    assert (clone.folder / ".cache/store.sqlite").exists()
    assert clone.call("grep", "-rqF", KEY, ".").returncode == 1
    here = clone.table("data/lab/wataoka/verdicts/judges.parquet").query("judge == 'terse'")
    there = clone.table("data/lab/wataoka/verdicts/served.parquet")
    assert there["status"].tolist() == here["status"].tolist()
    wanted, found = (rows["probabilities"].explode().astype(float) for rows in (here, there))
    assert found.tolist() == pytest.approx(wanted.tolist(), abs=1e-4, nan_ok=True)


def test_the_store_gives_the_same_bytes_without_a_model(laboratory, tmp_path):
    stage, clone = "xu-refine@translators", laboratory.copied(tmp_path / "clone")
    paths = [*clone.folder.glob("data/lab/xu/*/translators.parquet")]
    assert {path.parent.name for path in paths} == {"responses", "ratings", "truths"}
    tables = [path.read_bytes() for path in paths]
    clone.edit(lambda params: params.update(offline=True))
    ran(clone.repro("--single-item", "--force", stage))
    assert [path.read_bytes() for path in paths] == tables
    clone.edit(lambda params: params.update(seed=1))
    done = clone.repro("--single-item", stage)
    assert "calls are not in" in done.stderr
    assert "Traceback" not in done.stderr
    # An earlier table is none of the present parameters.
    assert not paths[0].exists()
