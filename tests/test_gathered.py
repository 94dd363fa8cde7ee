"""A stage's parameters: what dvc.yaml declares, handed to its notebook and gathered there."""

import shlex
import shutil
from contextlib import chdir
from functools import cache
from pathlib import Path

import nbformat
import pytest
from conftest import REPOSITORY, STAGED, refused
from dvc.parsing import DataResolver
from dvc.repo import Repo
from ruamel.yaml import YAML

from selfpref.params import gather, load, section_of
from selfpref.params.data import Section

yaml = YAML(typ="safe")
PROFILES = {
    "lab": STAGED / "params.yaml",
    **{path.stem: path for path in sorted((STAGED / "profiles").glob("*.yaml"))},
}


def prepared(folder, params):
    """A folder in which these parameters are active, for DVC and nothing else."""
    shutil.copy(REPOSITORY / "dvc.yaml", folder)
    shutil.copy(params, folder / "params.yaml")
    Repo.init(str(folder), no_scm=True).close()
    return folder


@pytest.fixture(scope="module")
def repositories(tmp_path_factory):
    """For each profile a folder in which it is active."""
    return {
        profile: prepared(tmp_path_factory.mktemp(profile), path)
        for profile, path in PROFILES.items()
    }


@cache
def stages(folder):
    """Every stage of a folder's profile by its address, with its outs as paths."""
    with chdir(folder), Repo() as repo:
        resolver = DataResolver(repo, repo.root_dir, yaml.load(Path("dvc.yaml")))
        found = {name: resolver.resolve_one(name)[name] for name in resolver.get_keys()}
    for stage in found.values():
        stage["outs"] = [out if isinstance(out, str) else next(iter(out)) for out in stage["outs"]]
    return found


def at(whole, path):
    for name in path.split("."):
        whole = whole[name] if isinstance(whole, dict) else getattr(whole, name)
    return whole


def undeclared(part, whole, start=""):
    """Fields of the sections of a part that it does not hold."""
    for name in type(whole).model_fields:
        value, here = getattr(whole, name), f"{start}{name}"
        if name not in part.model_fields_set:
            yield here
        elif isinstance(value, Section):
            yield from undeclared(getattr(part, name), value, f"{here}.")


def leaves(values, start=""):
    """Where values stand that are no mapping."""
    for name, value in values.items():
        inner = leaves(value, f"{start}{name}.") if isinstance(value, dict) else None
        yield from inner or [f"{start}{name}"]


def covered(path, declared):
    return any(f"{path}.".startswith(f"{one}.") for one in declared)


def cell(notebook):
    """The names and values of a notebook's parameters, as it is opened."""
    cells = nbformat.read(notebook, 4).cells
    (found,) = [one for one in cells if "parameters" in one.metadata.get("tags", [])]
    names: dict[str, object] = {}
    exec(found.source, names)
    return {name: value for name, value in names.items() if name != "__builtins__"}


@pytest.mark.parametrize("profile", PROFILES)
def test_a_stage_is_handed_and_gathers_what_it_declares_and_no_more(profile, repositories):
    whole, values = load(PROFILES[profile]), yaml.load(PROFILES[profile])
    folder, ran = repositories[profile], 0
    for name, stage in stages(folder).items():
        if " run " not in stage["cmd"]:
            continue
        with chdir(folder):
            section = section_of(name)
            part = gather(name, section)
        declared, entries = stage["params"], {}
        for path in declared:
            assert at(part, path) == at(whole, path), (name, path)
            above, _, key = path.rpartition(".")
            if isinstance(at(whole, above) if above else whole, dict):
                entries.setdefault(above, set()).add(key)
        # No stage has the entry of another model, nor another model.
        for above, keys in entries.items():
            assert set(at(part, above)) == keys, name
        for path in undeclared(part, whole):
            told = rf"dvc\.yaml: the stage reads '{path.rpartition('.')[2]}'; list it under its p"
            with refused(match=told):
                at(part, path)
        # What its notebook shows is what the file holds; an endpoint's address is in none.
        shown = [path for path in declared if not path.startswith("models.")]
        assert all(at(section, path) == at(values, path) for path in shown), name
        assert all(covered(path, shown) for path in leaves(section)), name
        words = shlex.split(stage["cmd"])
        (notebook,) = [REPOSITORY / word for word in words if word.startswith("notebooks/")]
        given = {words[n + 1].partition("=")[0] for n, word in enumerate(words) if word == "-p"}
        assert set(cell(notebook)) - {"task"} == {*given, "section"} - {"task"}
        ran += 1
    assert ran > 5


def test_every_value_of_the_testbed_is_declared_by_a_stage(repositories):
    every = stages(repositories["lab"]).values()
    declared = {name for stage in every for name in stage.get("params", ())}
    left = {path for path in leaves(yaml.load(PROFILES["lab"])) if not covered(path, declared)}
    # These name stages.
    assert left == {"lab.seeds"}


def test_a_notebook_opened_as_it_is_has_what_it_gathers(repositories):
    for notebook in (REPOSITORY / "notebooks").glob("*.ipynb"):
        names = cell(notebook)
        folder = next(one for one in repositories.values() if names["stage"] in stages(one))
        with chdir(folder):
            assert gather(names["stage"], names["section"]).profile


def test_what_a_notebook_changes_is_what_it_gathers(repositories, monkeypatch):
    monkeypatch.chdir(repositories["lab"])
    stage = "wataoka-judge@judges"

    def changed(**values):
        return gather(stage, {"wataoka": {"judge": {"judges": values}}}).wataoka.judge["judges"]

    assert changed(min_mass=0.25) == changed().model_copy(update={"min_mass": 0.25})
    with refused(match=r"params\.yaml: wataoka\.judge\.judges\.min_mass: "):
        changed(min_mass=2.0)
    for name, file in {"jugde@judges": "dvc.yaml", "judge@judge": "params.yaml"}.items():
        with refused(match=rf"{file}: '.*' is missing"):
            section_of(f"wataoka-{name}")
