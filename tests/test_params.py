"""params.yaml: what is accepted, and switching profiles."""

import itertools

import pytest
from conftest import REPOSITORY, STAGED
from ruamel.yaml import YAML

from selfpref.__main__ import main
from selfpref.commands import profiles
from selfpref.errors import SelfprefError
from selfpref.params import load
from selfpref.params.whole import TASKS

RECORDED = STAGED / "profiles/recorded.yaml"
TEXT = RECORDED.read_text()
LAB = (STAGED / "params.yaml").read_text()
yaml = YAML(typ="safe")


def written(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    return path


PROFILES = sorted((STAGED / "profiles").glob("*.yaml"))


def test_the_files_in_git_are_valid():
    assert load(STAGED / "params.yaml").profile == "lab"


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_a_profile_is_valid_and_named_by_its_file(path):
    """Its sources are there, apart from those that another profile's user brings."""
    params = load(path, sources=REPOSITORY)
    assert params.profile == path.stem
    assert params.studies


def test_an_entry_for_several_models_stands_for_each_of_them():
    params = load(STAGED / "params.yaml")
    assert params.names("readers") == ["clerk", "host"]
    assert params.names("solver") == ["solver"]
    every = params.every_model()
    # Entries may share a model; `writers` names one more.
    assert [every[name].model for name in ("clerk", "host", "aide", "solver")] == [
        f"data/lab/models/seed-0/{name}" for name in ("clerk", "host", "aide", "solver")
    ]
    assert every["clerk"].names is None
    assert "readers" not in every
    # Evaluators are named after their base where there are several, else after the entry.
    (tuned,) = params.panickssery.finetune.values()
    assert params.tuned_from("readers", tuned) == {"clerk": "clerk", "host": "host"}
    alone = tuned.model_copy(update={"model": "solver"})
    assert params.tuned_from("mine", alone) == {"mine": "solver"}


def test_a_source_that_is_not_there_is_named_by_the_check(repository, capsys):
    """By the command line: its key and its remedy, and nothing is swept or written."""
    (repository / "src").unlink()
    kept = repository / "data/recorded/wataoka/verdicts/former.parquet"
    kept.parent.mkdir(parents=True)
    kept.touch()
    assert main(["check", "--out", str(repository / "checked.txt")]) == 1
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith(
        "error: params.yaml: wataoka.datasets.mt-bench.source: "
        "src/selfpref/studies/wataoka/read/mt-bench.csv: no such file; put it there or correct it"
    )
    assert kept.exists()
    assert not (repository / "checked.txt").exists()


@pytest.mark.parametrize("text", ["seed: [1", "just words", "", "- a\n- b\n"])
def test_what_is_no_mapping_is_refused(tmp_path, text):
    with pytest.raises(SelfprefError, match=r"params\.yaml"):
        load(written(tmp_path, text))


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").touch()
    (tmp_path / "data").mkdir()
    for name in ("src", "data/published"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    written(tmp_path, TEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_switching_saves_the_active_file_to_its_own_profile(repository):
    (repository / "profiles").mkdir()
    (repository / "profiles/lab.yaml").write_text(LAB)
    edited = TEXT + "# a judge that a user added\n"
    written(repository, edited)
    profiles.use("lab")
    assert (repository / "params.yaml").read_text() == LAB
    assert (repository / "profiles/recorded.yaml").read_text() == edited
    profiles.use("recorded")
    assert (repository / "params.yaml").read_text() == edited


def test_the_active_profile_stays_as_it_is(repository):
    (repository / "profiles").mkdir()
    (repository / "profiles/recorded.yaml").write_text("stale")
    profiles.use("recorded")
    assert (repository / "params.yaml").read_text() == TEXT


def test_an_unknown_or_broken_profile_changes_nothing(repository):
    with pytest.raises(
        SelfprefError, match=r"profiles/lab\.yaml: no such profile; choose one of: rec"
    ):
        profiles.use("lab")
    (repository / "profiles").mkdir()
    (repository / "profiles/lab.yaml").write_text("profile: lab\nsed: 1\n")
    with pytest.raises(SelfprefError, match=r"lab\.yaml"):
        profiles.use("lab")
    assert (repository / "params.yaml").read_text() == TEXT


LOCAL = "umpire: {engine: transformers,"


def test_a_model_runs_on_workers_as_it_does_here(tmp_path):
    ray = LAB.replace(LOCAL, "umpire: {engine: ray, inner: transformers, workers: 2, gpus: 0.5,", 1)
    entry = load(written(tmp_path, ray)).models["umpire"]
    assert (entry.workers, entry.gpus, entry.address) == (2, 0.5, "local")
    assert entry.inner == load(written(tmp_path, LAB)).models["umpire"]


def test_a_served_model_runs_on_workers(tmp_path):
    served = (
        'umpire: {engine: ray, inner: openai, workers: 2, base_url: "http://127.0.0.1/v1", '
        "model: x, server: vllm"
    )
    local = 'umpire: {engine: transformers, model: "data/lab/models/{dataset}/umpire", threads: 1'
    entry = load(written(tmp_path, LAB.replace(local, served, 1))).models["umpire"]
    assert entry.inner.server == "vllm"
    # What holds of served models holds of them in workers.
    scores = LAB.replace("\n  perplexity:\n", "\n  perplexity:\n    umpire: {prompts: lab}\n", 1)
    load(written(tmp_path, scores.replace(local, served, 1)))
    with pytest.raises(SelfprefError, match=r"perplexity\.umpire: only `server: vllm`"):
        load(written(tmp_path, scores.replace(local, served.replace(", server: vllm", ""), 1)))


def test_no_two_profiles_share_a_stage():
    """A stage of the same name would take the other's place in dvc.lock, and run at each switch."""
    files = [STAGED / "params.yaml", *sorted((STAGED / "profiles").glob("*.yaml"))]
    params = {found.profile: found for found in map(load, files)}
    for one, other in itertools.combinations(params.values(), 2):
        assert not {*one.lab.seeds} & {*other.lab.seeds}
        for study in TASKS:
            assert not {*one.study(study).datasets} & {*other.study(study).datasets}, study
        for (study, task, mine), (*_, theirs) in zip(one.tasks(), other.tasks(), strict=True):
            assert not {*mine} & {*theirs}, (study, task)


def test_anyone_responds_in_any_profile_and_votes_stand_in_a_file(tmp_path):
    params = yaml.load((STAGED / "profiles/paper.yaml").read_text())
    section = params["wataoka"]
    section["respond"] = {"gpt-4": {"prompts": "chat", "max_tokens": 9, "temperature": 0.0}}
    section["datasets"]["mine"] = {"reader": "prompts", "source": "mine.jsonl"}
    section["label"] = {"mine": {"source": "votes.csv"}}
    section["judge"]["gpt-4"]["pairs"] = "own"
    with open(tmp_path / "params.yaml", "w") as handle:
        YAML().dump(params, handle)
    found = load(tmp_path / "params.yaml")
    assert found.wataoka.datasets["mine"].sample is None
    assert "wataoka.label.mine.source: votes.csv" in found.missing_sources(REPOSITORY)
