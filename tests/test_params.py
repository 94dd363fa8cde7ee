"""params.yaml: what is accepted, and switching profiles."""

import itertools
import re

import pytest
from conftest import REPOSITORY, STAGED
from ruamel.yaml import YAML

from selfpref.commands import profiles
from selfpref.errors import SelfprefError
from selfpref.params import load, section_of
from selfpref.params.whole import TASKS

TEXT = (STAGED / "profiles/recorded.yaml").read_text()
LAB = (STAGED / "params.yaml").read_text()
yaml = YAML(typ="safe")
PROFILES = sorted((STAGED / "profiles").glob("*.yaml"))


def written(tmp_path, text):
    path = tmp_path / "params.yaml"
    path.write_text(text)
    return path


def test_an_entry_for_several_models_stands_for_each_of_them():
    params = load(STAGED / "params.yaml")
    assert params.names("readers") == ["clerk", "host"]
    assert params.names("solver") == ["solver"]
    every = params.every_model()
    # Entries may share a model; `writers` names one more.
    assert [every[name].model for name in ("clerk", "host", "aide", "solver")] == [
        f"data/lab/models/seed-0/{name}" for name in ("clerk", "host", "aide", "solver")
    ]
    assert "readers" not in every
    # Evaluators are named after their base where there are several, else after the entry.
    (tuned,) = params.panickssery.finetune.values()
    assert params.tuned_from("readers", tuned) == {"clerk": "clerk", "host": "host"}
    alone = tuned.model_copy(update={"model": "solver"})
    assert params.tuned_from("mine", alone) == {"mine": "solver"}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nseed: [1, :\n", ", line 2: not YAML in UTF-8: "),
        ("- a\n- b\n", ": expected a mapping"),
    ],
)
def test_what_is_no_mapping_is_refused(tmp_path, text, told):
    with pytest.raises(SelfprefError, match=rf"params\.yaml{told}"):
        load(written(tmp_path, text))


@pytest.fixture
def repository(tmp_path, monkeypatch):
    (tmp_path / "dvc.yaml").write_text((STAGED / "dvc.yaml").read_text())
    for name in ("data", "profiles"):
        (tmp_path / name).mkdir()
    for name in ("src", "data/published"):
        (tmp_path / name).symlink_to(REPOSITORY / name)
    written(tmp_path, TEXT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_switching_saves_the_active_file_to_its_own_profile(repository):
    paper = (STAGED / "profiles/paper-xu.yaml").read_text()
    (repository / "profiles/paper-xu.yaml").write_text(paper)
    (repository / "profiles/recorded.yaml").write_text("stale")
    edited = TEXT + "# a judge that a user added\n"
    written(repository, edited)
    profiles.use("recorded")
    assert (repository / "params.yaml").read_text() == edited
    # A profile's name may hold hyphens.
    profiles.use("paper-xu")
    assert (repository / "params.yaml").read_text() == paper
    found = section_of("metrics@xu-paper-xu")
    assert (found["profile"], found["xu"]["sizes"][0]) == ("paper-xu", "llama2-7b")
    assert (repository / "profiles/recorded.yaml").read_text() == edited
    profiles.use("recorded")
    assert (repository / "params.yaml").read_text() == edited
    # What is unknown or broken changes nothing.
    (repository / "profiles/demo.yaml").write_text("profile: demo\nsed: 1\n")
    for name, told in {
        "lab": r"profiles/lab\.yaml: no such profile; choose one of: demo, paper-xu, recorded",
        "demo": r"demo\.yaml: sed",
    }.items():
        with pytest.raises(SelfprefError, match=told):
            profiles.use(name)
    assert (repository / "params.yaml").read_text() == edited


LOCAL = '{engine: transformers, model: "data/lab/models/{dataset}/umpire", threads: 1}'


def test_a_model_runs_on_workers_as_it_does_here(tmp_path):
    ray = f"{{engine: ray, workers: 2, gpus: 0.5, inner: {LOCAL}}}"
    entry = load(written(tmp_path, LAB.replace(LOCAL, ray))).models["umpire"]
    assert (entry.workers, entry.gpus, entry.address) == (2, 0.5, "local")
    assert entry.inner == load(written(tmp_path, LAB)).models["umpire"]


def test_no_two_profiles_share_a_stage():
    """A stage of the same name would take the other's place in dvc.lock, and run at each switch."""
    every = [load(path) for path in PROFILES]
    assert [one.profile for one in every] == [path.stem for path in PROFILES]
    for study in TASKS:
        for entry in itertools.chain(*(one.study(study).datasets.values() for one in every)):
            assert (REPOSITORY / entry.source).exists()
    for one, other in itertools.combinations([load(STAGED / "params.yaml"), *every], 2):
        assert not {*one.lab.seeds} & {*other.lab.seeds}
        for study in TASKS:
            assert not {*one.study(study).datasets} & {*other.study(study).datasets}, study
        for (study, task, mine), (*_, theirs) in zip(one.tasks(), other.tasks(), strict=True):
            assert not {*mine} & {*theirs}, (study, task)


def test_the_readmes_judge_stands_where_the_shipped_one_did(tmp_path):
    section = (REPOSITORY / "README.md").read_text().split("## Add a judge")[1]
    ours = yaml.load(re.search(r"```yaml\n(.*?)```", section, re.DOTALL)[1])
    params = yaml.load((STAGED / "profiles/live.yaml").read_text())
    params["models"] = ours["models"]
    params["wataoka"].update(ours["wataoka"])
    path = tmp_path / "params.yaml"
    with path.open("w") as file:
        yaml.dump(params, file)
    assert "smollm2" not in path.read_text()
    found = load(path)
    # It writes where a key labels what is written, and reads what people voted on as a third party.
    (own,) = found.wataoka.respond["mine"].datasets
    assert found.wataoka.label[own].by == "key"
    assert all(own in found.wataoka.judge[name].datasets for name in ("mine", "another"))
    assert found.wataoka.judge["mine"].datasets != [own]
