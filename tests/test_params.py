"""params.yaml: what is accepted, what docs say of it, and switching profiles."""

import itertools
import re

from conftest import REPOSITORY, STAGED
from ruamel.yaml import YAML

from selfpref.__main__ import main
from selfpref.params import TASKS, load, section_of, validated
from selfpref.params.data import Section

TEXT = (STAGED / "profiles/recorded.yaml").read_text()
yaml = YAML(typ="safe")
PROFILES = sorted((STAGED / "profiles").glob("*.yaml"))
LAB = load(STAGED / "params.yaml")


def test_an_entry_for_several_models_stands_for_each_of_them():
    assert (LAB.names("readers"), LAB.names("solver")) == (["clerk", "host"], ["solver"])


def test_a_release_is_no_set_of_articles_or_requests():
    released = load(STAGED / "profiles/recorded.yaml")
    assert all([released.panickssery.datasets, released.xu.datasets])
    assert released.panickssery.articles == released.xu.requests == {}
    # Entries may share a model; `writers` names one more.
    every, names = LAB.every_model(), ("clerk", "host", "aide", "solver")
    assert [every[name].model for name in names] == [f"data/lab/models/seed-0/{n}" for n in names]
    assert "readers" not in every
    # Evaluators are named after their base where there are several, else after the entry.
    (tuned,) = LAB.panickssery.finetune.values()
    assert LAB.tuned_from("readers", tuned) == {"clerk": "clerk", "host": "host"}
    alone = tuned.model_copy(update={"model": "solver"})
    assert LAB.tuned_from("mine", alone) == {"mine": "solver"}


def test_switching_saves_the_active_file_to_its_own_profile(repository, capsys):
    (repository / "dvc.yaml").write_text((STAGED / "dvc.yaml").read_text())
    (repository / "profiles").mkdir()
    params, paper = repository / "params.yaml", (STAGED / "profiles/paper-xu.yaml").read_text()
    (repository / "profiles/paper-xu.yaml").write_text(paper)
    (repository / "profiles/recorded.yaml").write_text("stale")
    edited = TEXT + "# a judge that a user added\n"
    params.write_text(edited)
    assert main(["use", "recorded"]) == 0
    assert params.read_text() == edited
    assert main(["use", "paper-xu"]) == 0
    assert params.read_text() == paper
    # A profile's name may hold hyphens.
    assert section_of("metrics@xu-paper-xu")["profile"] == "paper-xu"
    assert main(["use", "recorded"]) == 0
    assert params.read_text() == (repository / "profiles/recorded.yaml").read_text() == edited
    # What is unknown or broken changes nothing.
    (repository / "profiles/demo.yaml").write_text("profile: demo\nsed: 1\n")
    known = "no such profile; choose one of: demo, paper-xu, recorded"
    for name, told in {"lab": f"profiles/lab.yaml: {known}", "demo": "demo.yaml: sed"}.items():
        assert main(["use", name]) == 1
        assert capsys.readouterr().err.startswith(f"error: {told}")
    assert params.read_text() == edited


def test_no_two_profiles_share_a_stage():
    """A stage of the same name would take the other's place in dvc.lock, and run at each switch."""
    every = [load(path) for path in PROFILES]
    assert [one.profile for one in every] == [path.stem for path in PROFILES]
    for one, other in itertools.combinations([LAB, *every], 2):
        assert not {*one.lab.seeds} & {*other.lab.seeds}
        for study in TASKS:
            assert not {*one.study(study).datasets} & {*other.study(study).datasets}, study
        for (study, task, mine), (*_, theirs) in zip(one.tasks(), other.tasks(), strict=True):
            assert not {*mine} & {*theirs}, (study, task)


def keys(section):
    """The keys of a section and of its sections' entries and groups; of data and models no more."""
    for name in type(section).model_fields:
        yield name
        value = getattr(section, name)
        for inner in value.values() if isinstance(value, dict) else [value]:
            if isinstance(inner, Section) and name not in ("datasets", "models"):
                yield from keys(inner)


def test_docs_name_every_key():
    text = (REPOSITORY / "docs/parameters.md").read_text()
    told = {word for said in re.findall(r"`([^`]*)`", text) for word in re.findall(r"\w+", said)}
    assert {*keys(LAB)} - told == set()


def test_the_readmes_judge_stands_where_the_shipped_one_did():
    section = (REPOSITORY / "README.md").read_text().split("## Add a judge")[1]
    ours = yaml.load(re.search(r"```yaml\n(.*?)```", section, re.DOTALL)[1])
    params = yaml.load((STAGED / "profiles/live.yaml").read_text())
    params["models"] = ours["models"]
    params["wataoka"].update(ours["wataoka"])
    found = validated(params, "README.md")
    # It writes where a key labels what is written, and reads what people voted on as a third party.
    (own,) = found.wataoka.respond["mine"].datasets
    assert found.wataoka.label[own].by == "key"
    assert all(own in found.wataoka.judge[name].datasets for name in ("mine", "ada", "bea", "cyd"))
    assert found.wataoka.judge["mine"].datasets != [own]
