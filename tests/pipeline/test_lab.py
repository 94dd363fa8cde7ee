"""The testbed end to end: one small run, and judges added to it."""

import json

import pytest
from clones import ALONE, FAMILIES, PAIRS, TOGETHER, judge, ran

from selfpref.commands import profiles

# Each line a study and what it promises: figures with their tables, then tables alone.
FIGURES = """
wataoka fig1a_example fig1b_bias fig2_confusion table2_demographic_parity bias_by_opponent position
wataoka fig3_perplexity_vs_human fig4_perplexity_own_vs_other fig5_log_perplexity
wataoka fig6_judges_without_responses planted_vs_measured
panickssery pairwise fig1_recognition_vs_preference fig2_recognition_before inverted
panickssery fig4_training_size fig7_self_recognition controls individual replay
"""
TABLES = """
panickssery correlation deltas oracle statuses evaluators audit
"""
REFINED = ("responses", "ratings", "truths")
# What reads all studies, which the recorded profile shows.
LEFT = {"beyond-metrics@lab", "beyond@lab", "claims", "report@lab"}


def test_every_figure_is_drawn_and_nothing_is_left_to_do(laboratory):
    assert laboratory.stale() == LEFT
    for lines, kinds in ((FIGURES, ("svg", "csv")), (TABLES, ("csv",))):
        for study, *names in map(str.split, filter(None, lines.splitlines())):
            assert laboratory.lacks(f"figures/lab/{study}", names, kinds) == []
    folder = "figures/lab/wataoka"
    bias = laboratory.table(f"{folder}/fig1b_bias.csv")
    assert list(bias.columns[-4:]) == ["seed", "beta", "planted", "oracle_rule"]
    assert set(bias["judge"]) == {*FAMILIES}
    others = laboratory.table(f"{folder}/fig6_judges_without_responses.csv")
    assert set(others["judge"]) == {"onlooker-1", ALONE}
    folder = "figures/lab/panickssery"
    assert set(laboratory.table(f"{folder}/pairwise.csv")["convention"]) == {"corrected"}
    oracle = laboratory.table(f"{folder}/oracle.csv")
    assert set(oracle["quantity"]) == {"deserved", "excess", "agreement"}


def test_every_pair_is_judged_in_both_orders_from_probabilities(laboratory):
    for part, judges in (("judges", TOGETHER), (ALONE, [ALONE])):
        verdicts = laboratory.table(f"data/lab/wataoka/verdicts/{part}.parquet")
        counts = verdicts["judge"].value_counts().to_dict()
        assert counts == dict.fromkeys(judges, 2 * PAIRS)
        ok = verdicts[verdicts["status"].eq("ok")]
        assert ok["probabilities"].notna().all()
        assert (ok["mass"] >= 0.5).all()
        assert set(verdicts["status"]) <= {"ok", "low-mass", "truncated"}


def test_only_held_out_articles_are_judged_in_both_orders_by_base_and_tuned(laboratory):
    tuned = {"clerk-notes-3", "clerk-again"}
    for part, judges in (("readers", {"clerk"}), ("tuned-readers", tuned)):
        verdicts = laboratory.table(f"data/lab/panickssery/verdicts/{part}.parquet")
        assert judges <= set(verdicts["judge"])
        assert set(verdicts["item_id"]) <= {f"notes/{number}" for number in range(3, 8)}
        orders = verdicts.groupby(["judge", "item_id", "task"])["candidates"].agg(
            lambda pairs: {tuple(pair) for pair in pairs}
        )
        wanted = {("clerk", "human"), ("human", "clerk"), ("clerk", "host"), ("host", "clerk")}
        assert all(found <= wanted and len(found) in (2, 4) for found in orders)
        ratings = laboratory.table(f"data/lab/panickssery/ratings/{part}.parquet")
        assert set(ratings["task"]) == {"recognition", "quality"}
        assert set(ratings["responder"]) == {"clerk", "host", "human"}
    # Examples of a tuned model are written for hosts too: three articles, two others, both orders.
    folder = laboratory.folder / "data/lab/finetuned/readers"
    lines = (folder / "clerk-notes-3.jsonl").read_text().splitlines()
    told = [json.loads(line)["messages"][-1] for line in lines]
    assert [message["role"] for message in told] == ["assistant"] * 12
    assert {message["content"] for message in told} == {"1", "2"}
    assert len((folder / "clerk-again.jsonl").read_text().splitlines()) == 24
    assert (folder / "clerk-notes-3/model.safetensors").is_file()


def test_every_arm_of_every_step_of_refinement_has_its_rows(laboratory):
    found = {name: laboratory.table(f"data/lab/xu/{name}/translators.parquet") for name in REFINED}
    wanted = {
        (refiner, f"{arm}lab-en/{n}", step)
        for refiner in ("fair", "small")
        for arm in ("", "accept-all/", "accept-random/", "external/", "noise/")
        for n in range(1, 7)
        for step in range(3)
    }
    for name in REFINED:
        table = found[name]
        held = set(zip(table["responder"], table["item_id"], table["step"], strict=True))
        assert wanted <= held, name
    ratings = found["ratings"]
    assert ratings.loc[ratings["status"].ne("ok"), "score"].isna().all()
    # The external judge of each is the other one.
    read = ratings.loc[ratings["variant"].eq("external"), ["responder", "judge"]].drop_duplicates()
    assert set(read.itertuples(index=False, name=None)) == {("fair", "small"), ("small", "fair")}
    votes = laboratory.table("data/lab/xu/ratings/solver.parquet")
    assert "self-consistency" in set(votes["variant"])


def test_switching_profiles_makes_nothing_stale_and_loses_no_change(laboratory):
    def twin(params):
        params["models"]["twin"] = judge("terse")

    with laboratory.edited(twin), laboratory.inside():
        before = laboratory.stale()
        profiles.use("recorded")
        profiles.use("lab")
        assert laboratory.stale() == before
        assert "twin" in (laboratory.folder / "params.yaml").read_text()
    assert laboratory.stale() <= {"check"} | LEFT


# What is run once more, in a copy.


# In parts: this file lies in the clone too, where no file may hold it.
KEY = "-".join(("sk", "planted", "0123456789abcdef"))


@pytest.fixture(scope="module")
def joined(laboratory, tmp_path_factory):
    """A copy that two judges have joined: a twin, and one behind a chat endpoint.

    The endpoint serves the weights of `terse`, which judges there as it does here.
    """
    from scripted import ByModel, Scripted

    clone = laboratory.copied(tmp_path_factory.mktemp("joined") / "clone")
    clone.environment["PLANTED"] = KEY
    # As an experiment of DVC, in Hydra's words; nothing of another judge runs.
    for command in (["add", "-A"], ["commit", "-qm", "run"]):
        assert clone.call("git", *command).returncode == 0
    entry = '{engine: transformers, model: "data/lab/models/{dataset}/terse", threads: 1}'
    tried = clone.call(
        *("dvc", "exp", "run", "-S", f"+models.twin={entry}"),
        *("-S", "+wataoka.judge.twin={prompts: lab, min_mass: 0.5}", "wataoka-judge@twin"),
    )
    assert ran(tried) == {"check", "wataoka-judge@twin"}
    answers = ByModel(clone.folder / "data/lab/models/seed-0/terse")
    with Scripted(answers, script=["401"]) as server:

        def add(params):
            served = {"engine": "openai", "model": "terse", "base_url": server.url}
            served |= {"server": "vllm", "key": "PLANTED"}
            params["models"]["served"] = served
            params["wataoka"]["judge"]["served"] = {"prompts": "lab", "min_mass": 0.5}

        clone.edit(add)
        refused = clone.repro("wataoka-judge@served")
        assert refused.returncode != 0
        assert "(1 x 401: Incorrect API key provided: ***)" in refused.stderr
        assert (clone.folder / "report/lab/wataoka-judge-served.failed.ipynb").exists()
        assert not clone.holds(KEY)
        stages = {"wataoka-judge@served"}
        done = clone.repro(*stages)
        # Nothing of another judge ran; the metrics read what is new.
        assert ran(done) == stages
        assert clone.stale() == LEFT | {"metrics@wataoka-lab", "chapter@wataoka-lab"}
        assert len(server.received) == 1 + 2 * PAIRS
    assert server.received[0][1]["Authorization"] == f"Bearer {KEY}"
    return clone, [tried, refused, done]


def told_by(clone, table, name):
    """What one judge said, from the file in which it stands."""
    part = name if name in ("twin", "served", ALONE) else "judges"
    found = clone.table(f"data/lab/wataoka/{table}/{part}.parquet")
    return found[found["judge"].eq(name)]


def test_the_same_weights_give_the_same_verdicts_here_and_served(joined):
    """Beside others in one stage, in a stage of its own, and behind an endpoint."""
    clone, runs = joined
    terse, twin, served = (told_by(clone, "verdicts", name) for name in ("terse", "twin", "served"))
    assert terse["probabilities"].map(list).tolist() == twin["probabilities"].map(list).tolist()
    assert served["status"].tolist() == terse["status"].tolist()
    wanted, found = (
        table["probabilities"].explode().astype(float).tolist() for table in (terse, served)
    )
    assert found == pytest.approx(wanted, abs=1e-4, nan_ok=True)
    # Its key is nowhere.
    assert not [run for run in runs if KEY in run.stdout + run.stderr]
    assert (clone.folder / ".cache/store.sqlite").exists()
    assert not clone.holds(KEY)


def test_the_store_gives_the_same_bytes_without_a_model(laboratory, tmp_path):
    stage, notebook = "xu-refine@translators", "report/lab/xu-refine-translators.ipynb"

    def made():
        tables = [clone.folder / f"data/lab/xu/{name}/translators.parquet" for name in REFINED]
        return [path.read_bytes() for path in tables], (clone.folder / notebook).read_text()

    clone = laboratory.copied(tmp_path / "clone")
    tables, shown = made()
    clone.edit(lambda params: params.update(offline=True))
    done = clone.repro("--single-item", "--force", stage)
    assert done.returncode == 0, done.stderr
    # The copy tells the parameter, and nothing else differs.
    replayed = made()
    assert replayed[0] == tables
    lines = zip(shown.splitlines(), replayed[1].splitlines(), strict=True)
    differ = [(one.strip(), two.strip()) for one, two in lines if one != two]
    told = """" 'offline': {},\\n","""
    assert differ == [(told.format(False), told.format(True))]
    clone.edit(lambda params: params.update(seed=1))
    done = clone.repro("--single-item", stage)
    assert done.returncode != 0
    assert "calls are not in" in done.stderr
    assert "Traceback" not in done.stderr
    # An earlier table is none of the present parameters.
    assert not (clone.folder / f"data/lab/xu/{REFINED[0]}/translators.parquet").exists()
