"""A stage's parameters: what dvc.yaml declares, handed to its notebook and gathered there."""

import shlex
from contextlib import chdir
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from conftest import REPOSITORY, STAGED
from dvc.parsing import DataResolver
from dvc.repo import Repo
from pydantic import TypeAdapter
from ruamel.yaml import YAML

from selfpref.errors import SelfprefError
from selfpref.params import gather, load, section_of
from selfpref.params.section import Section

yaml = YAML(typ="safe")
PROFILES = {
    "lab": STAGED / "params.yaml",
    **{path.stem: path for path in sorted((STAGED / "profiles").glob("*.yaml"))},
}


@pytest.fixture(scope="module")
def repositories(tmp_path_factory):
    """For each profile a folder in which it is active, with dvc.yaml and nothing else."""
    made = {}
    for profile, path in PROFILES.items():
        made[profile] = tmp_path_factory.mktemp(profile)
        for name, text in (("dvc.yaml", REPOSITORY / "dvc.yaml"), ("params.yaml", path)):
            (made[profile] / name).write_text(text.read_text())
        Repo.init(str(made[profile]), no_scm=True).close()
    return made


@cache
def stages(folder):
    """Every stage of a folder's profile by its address, with its outs as paths."""
    with chdir(folder), Repo() as repo:
        resolver = DataResolver(repo, repo.root_dir, yaml.load(Path("dvc.yaml")))
        found = {name: resolver.resolve_one(name)[name] for name in resolver.get_keys()}
    for stage in found.values():
        stage["outs"] = [out if isinstance(out, str) else next(iter(out)) for out in stage["outs"]]
    return found


class Running:
    """A notebook that a stage runs: what it declares, what it is handed, and what is gathered."""

    def __init__(self, name, stage):
        self.declared = [tuple(entry.split(".")) for entry in stage["params"]]
        words = shlex.split(stage["cmd"])
        (self.notebook,) = [REPOSITORY / word for word in words if word.startswith("notebooks/")]
        given = [words[at + 1] for at, word in enumerate(words) if word == "-p"]
        self.given = dict(entry.split("=", 1) for entry in given)
        self.section = section_of(name)
        self.part = gather(name, self.section)


@pytest.fixture(scope="module", params=PROFILES)
def profile(request, repositories):
    """The whole of a profile's parameters, and with its stage every notebook that is run."""
    folder = repositories[request.param]
    with chdir(folder):
        every = stages(folder).items()
        found = [(name, Running(name, stage)) for name, stage in every if " run " in stage["cmd"]]
    assert len(found) > 5
    return load(PROFILES[request.param]), found


def at(whole, path):
    for name in path:
        whole = whole[name] if isinstance(whole, dict) else getattr(whole, name)
    return whole


def undeclared(part, whole, path=()):
    """Fields of the sections of a part that it does not hold."""
    for name in type(whole).model_fields:
        value, here = getattr(whole, name), (*path, name)
        if name not in part.model_fields_set:
            yield here
        elif isinstance(value, Section) and type(part).model_fields[name].annotation is type(value):
            yield from undeclared(getattr(part, name), value, here)


def test_what_a_stage_gathers_is_what_the_file_holds_and_no_more(profile):
    whole, found = profile
    for name, running in found:
        entries = {("models",): set()} if ("models" in {p[0] for p in running.declared}) else {}
        for path in running.declared:
            assert at(running.part, path) == at(whole, path), (name, path)
            if len(path) > 2 or path[0] == "models":
                entries.setdefault(path[:-1], set()).add(path[-1])
        # No stage has the entry of another model, nor another model.
        for path, wanted in entries.items():
            assert set(at(running.part, path)) == wanted, name
        missing = list(undeclared(running.part, whole))
        assert missing
        assert not set(missing) & set(running.declared)
        for path in missing:
            told = rf"dvc\.yaml: the stage reads '{path[-1]}'; list it under its params"
            with pytest.raises(SelfprefError, match=told):
                at(running.part, path)


def paths(values, path=()):
    """Where values stand that are no mapping."""
    for name, value in values.items():
        yield from paths(value, (*path, name)) if isinstance(value, dict) else [(*path, name)]


def cell(notebook):
    """The names and values of a notebook's parameters, as it is opened."""
    cells = nbformat.read(notebook, 4).cells
    (found,) = [one for one in cells if "parameters" in one.metadata.get("tags", [])]
    names: dict[str, object] = {}
    exec(found.source, names)
    return {name: value for name, value in names.items() if name != "__builtins__"}


def test_a_stage_gives_every_name_of_its_cell_and_the_section_what_is_declared(profile):
    for name, running in profile[1]:
        assert running.given["stage"] == name
        assert set(cell(running.notebook)) - {"task"} == {*running.given, "section"} - {"task"}
        assert "models" not in running.section, name
        shown = [*paths(running.section)]
        assert all(any(path[: len(one)] == one for one in running.declared) for path in shown)
        for path in running.declared:
            if path[0] != "models":
                wanted = TypeAdapter(Any).dump_python(at(running.part, path), mode="json")
                assert at(running.section, path) == wanted, (name, path)


def test_every_value_of_the_testbed_is_declared_by_a_stage(repositories):
    every = stages(repositories["lab"]).values()
    declared = {tuple(name.split(".")) for stage in every for name in stage.get("params", ())}
    read = {
        path
        for path in paths(yaml.load(PROFILES["lab"]))
        if any(path[: len(one)] == one for one in declared)
    }
    # These name stages.
    assert set(paths(yaml.load(PROFILES["lab"]))) - read == {("lab", "seeds")}


def test_a_notebook_opened_as_it_is_has_what_it_gathers(repositories):
    for notebook in (REPOSITORY / "notebooks").glob("*.ipynb"):
        names, opened = cell(notebook), 0
        for profile, folder in repositories.items():
            if names["stage"] in stages(folder):
                with chdir(folder):
                    part = gather(names["stage"], names["section"])
                assert part.profile == profile
                for path in stages(folder)[names["stage"]]["params"]:
                    assert at(part, path.split(".")) is not None, path
                opened += 1
        assert opened, notebook


def test_what_a_notebook_changes_is_what_it_gathers(repositories, monkeypatch):
    monkeypatch.chdir(repositories["lab"])
    stage = "wataoka-judge@judges"

    def changed(value):
        section = {"wataoka": {"judge": {"judges": {"min_mass": value}}}}
        return gather(stage, section).wataoka.judge["judges"]

    plain = gather(stage, {}).wataoka.judge["judges"]
    assert changed(0.25) == plain.model_copy(update={"min_mass": 0.25})
    with pytest.raises(SelfprefError, match=r"params\.yaml: wataoka\.judge\.judges\.min_mass: "):
        changed(2.0)
    made = gather("metrics@xu-lab", {"bootstrap": {"resamples": 200}})
    assert (made.bootstrap.resamples, made.bootstrap.level) == (200, 0.95)
    for name, told in {
        "wataoka-jugde@judges": "dvc.yaml: no stage 'wataoka-jugde'; correct its name",
        "wataoka-judge@judge": "params.yaml: wataoka.judge.judge: missing; add it",
    }.items():
        with pytest.raises(SelfprefError) as failure:
            section_of(name)
        assert str(failure.value) == told
