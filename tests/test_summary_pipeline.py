"""Summaries through the stages: two sources that learned nothing, tuned, asked, and drawn."""

import json
import re

import pandas as pd
import pytest
from test_pipeline import cloned

CHAPTER = "panickssery@lab"
FIGURES = (
    *("pairwise", "fig1_recognition_vs_preference", "fig2_recognition_before", "inverted"),
    *("fig4_training_size", "fig7_self_recognition", "controls", "individual", "replay"),
)
TABLES = ("correlation", "deltas", "oracle", "per_example", "statuses", "evaluators", "audit")


def small(params):
    params["lab"]["summarisers"].update(base_steps=20, tune_steps=5)
    params["bootstrap"].update(resamples=100)
    params["articles"] = {"notes": {"reader": "lab", "articles": 8, "train": 3}}
    del params["summarise"]["aide"], params["recognise"]["host"], params["finetune"]["host"]
    kinds = {"notes-3": {}, "notes-length": {"variant": "length"}, "again": {"replay": 0.5}}
    tuning = {"on": "notes", "variant": "self-recognition", "articles": 3}
    use = params["finetune"]["clerk"]
    use["evaluators"] = {name: tuning | more for name, more in kinds.items()}
    # What has learned nothing puts little on any label.
    for use in (params["finetune"]["clerk"], params["recognise"]["clerk"]):
        use["min_mass"] = 0.0


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory):
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    with cloned(tmp_path_factory.mktemp("summaries"), {}) as clone:
        clone.edit(small)
        done = clone.repro(CHAPTER)
        assert done.returncode == 0, done.stderr + done.stdout
        yield clone


def table(clone, name, part):
    return pd.read_parquet(clone.folder / f"data/lab/{name}/panickssery/{part}.parquet")


def test_only_held_out_articles_are_judged_in_both_orders_by_base_and_tuned(laboratory):
    for part, judges in (("clerk", {"clerk"}), ("tuned-clerk", {"clerk-notes-3", "clerk-again"})):
        verdicts = table(laboratory, "verdicts", part)
        assert judges <= set(verdicts["judge"])
        assert set(verdicts["item_id"]) <= {f"notes/{number}" for number in range(3, 8)}
        orders = verdicts.groupby(["judge", "item_id", "task"])["candidates"].agg(
            lambda pairs: {tuple(pair) for pair in pairs}
        )
        wanted = {("clerk", "human"), ("human", "clerk"), ("clerk", "host"), ("host", "clerk")}
        assert all(found <= wanted and len(found) in (2, 4) for found in orders)
        ratings = table(laboratory, "ratings", part)
        assert set(ratings["task"]) == {"recognition", "quality"}
        assert set(ratings["responder"]) == {"clerk", "host", "human"}


def test_the_examples_of_a_tuned_model_are_written_for_hosts_too(laboratory):
    folder = laboratory.folder / "data/lab/finetuned/clerk"
    lines = (folder / "clerk-notes-3.jsonl").read_text().splitlines()
    # Three articles beside two other sources in both orders.
    assert len(lines) == 12
    told = [json.loads(line)["messages"][-1] for line in lines]
    assert [message["role"] for message in told] == ["assistant"] * 12
    assert {message["content"] for message in told} == {"1", "2"}
    again = (folder / "clerk-again.jsonl").read_text().splitlines()
    assert len(again) == 24
    assert (folder / "clerk-notes-3/model.safetensors").is_file()


def test_every_figure_of_the_chapter_is_drawn(laboratory):
    folder = laboratory.folder / "figures/lab/panickssery"
    for name in (*FIGURES, *TABLES):
        for kind in ("csv", "md", "tex", *(("svg", "pdf") if name in FIGURES else ())):
            assert (folder / f"{name}.{kind}").stat().st_size > 0, (name, kind)
    pairwise = pd.read_csv(folder / "pairwise.csv")
    assert set(pairwise["convention"]) == {"corrected"}
    assert set(pd.read_csv(folder / "oracle.csv")["quantity"]) == {
        *("deserved", "excess", "agreement"),
    }
    assert laboratory.call("dvc", "status", "--json", CHAPTER).stdout.strip() == "{}"


def test_another_tuning_runs_its_own_stages_and_what_reads_them(laboratory):
    change = {"clerk": {"on": "notes", "variant": "random", "articles": 2}}
    laboratory.edit(lambda params: params["finetune"]["clerk"]["evaluators"].update(change))
    listed = laboratory.call("dvc", "repro", "--dry", CHAPTER).stdout
    assert set(re.findall(r"Running stage '(.+)'", listed)) >= {
        *("finetune@clerk", "recognise-tuned@clerk"),
    }
    assert not re.search(r"Running stage '(sources|summarise|articles|recognise)@", listed)
