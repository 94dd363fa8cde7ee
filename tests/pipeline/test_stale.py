"""What a changed parameter makes stale: every value of params.yaml, one at a time.

Nothing runs here. Every output of the testbed is a file of a few bytes that DVC is told to take
for the stage's own, and its status is asked for after each change.
"""

import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
from clones import Clone, cloned
from conftest import REPOSITORY
from dvc.dependency import param
from dvc.dependency.param import ParamsDependency
from pydantic import ValidationError
from ruamel.yaml import YAML

from selfpref.params import Params

safe = YAML(typ="safe")
# What every change of params.yaml touches.
ALWAYS = {"check", "report@lab"}
STUDIES = ("wataoka", "livebench", "panickssery", "xu")
WORDS = (
    *("half", "width", "first", "perplexity", "bca", "surface", "chrf", "seeded", "export"),
    *("noise", "random", "length", "notes", "reports", "text", "umpire", "plain", "recorded"),
    "label-c",
    "src/selfpref/lab/train.py",
)


@pytest.fixture(scope="module")
def committed(tmp_path_factory) -> Iterator[Clone]:
    """The testbed as git has it, with outputs that nobody has computed."""
    with cloned(tmp_path_factory.mktemp("committed"), {}) as clone:
        # In git, but no output of this profile.
        (clone.folder / "figures/recorded").mkdir(parents=True)
        with clone.dvc() as repo:
            for stage in repo.index.stages:
                for out in stage.outs:
                    path = Path(out.fs_path)
                    path = path if path.suffix else path / "file"
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(stage.addressing)
            repo.commit(force=True)
        yield clone


# What dvc.yaml declares, read without DVC.


def filled(text: str, names: dict) -> str:
    """A text of dvc.yaml with what stands in for `${...}`."""

    def value(found: re.Match[str]) -> str:
        at = names
        for name in found[1].split("."):
            at = at[name]
        return str(at)

    return re.sub(r"\$\{([^}]+)\}", value, text)


def instances(stage: dict, params: dict) -> Iterator[tuple[str, dict, dict]]:
    """Of a stage of dvc.yaml each instance: what follows its name, its definition, its names."""

    def listed(given):
        if isinstance(given, list):
            return [filled(one, params) for one in given]
        at = params
        for name in given[2:-1].split("."):
            at = at[name]
        return at

    if "matrix" in stage:
        names = list(stage["matrix"])
        for values in itertools.product(*map(listed, stage["matrix"].values())):
            yield "@" + "-".join(values), stage, {"item": dict(zip(names, values, strict=True))}
    elif "foreach" in stage:
        over = listed(stage["foreach"])
        if isinstance(over, dict):
            for key, item in over.items():
                yield f"@{key}", stage["do"], {"key": key, "item": item}
        else:
            for item in over:
                yield f"@{item}", stage["do"], {"item": item}
    else:
        yield "", stage, {}


def declared(params: dict) -> dict[str, list[list[str]]]:
    """By instance of a stage the parameters that it declares, as paths."""
    stages = safe.load(REPOSITORY / "dvc.yaml")["stages"]
    return {
        name + after: [
            filled(given, params | names).split(".") for given in definition.get("params", ())
        ]
        for name, stage in stages.items()
        for after, definition, names in instances(stage, params)
    }


# Every value, and another one in its place.


def leaves(values, path=()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Every value that is no mapping, by its path."""
    for key, value in values.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def others(value) -> list:
    """What might stand in the place of a value."""
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1, value - 1, (value + 0.9) / 2]
        case []:
            return [["terse"]]
        case ["svg"]:
            return [["svg", "tex"]]
        case list():
            return [value[:-1], [*value, f"{value[-1]}-2"]]
    return [*(word for word in WORDS if word != value), f"{value}-2"]


def changed(params: dict, path: tuple[str, ...], value: object) -> dict:
    copy = json.loads(json.dumps(params))
    at = copy
    for name in path[:-1]:
        at = at[name]
    at[path[-1]] = value
    return copy


def another(params: dict, path: tuple[str, ...], value: object) -> tuple[dict, bool]:
    """The parameters with one other value, and whether they are valid."""
    made = [changed(params, path, other) for other in others(value)]
    for one in made:
        try:
            Params.model_validate(one)
        except ValidationError:
            continue
        return one, True
    return made[0], False


def test_every_value_makes_stale_what_declares_it_and_nothing_else(committed):
    params = json.loads(json.dumps(safe.load(committed.folder / "params.yaml")))
    stages, stuck = declared(params), set()
    with committed.dvc() as repo:
        reading = {
            stage.addressing: [dep for dep in stage.deps if isinstance(dep, ParamsDependency)]
            for stage in repo.index.stages
        }
        whole = {
            stage.addressing
            for stage in repo.index.stages
            for dep in stage.deps
            if dep.def_path == "params.yaml" and not isinstance(dep, ParamsDependency)
        }
        assert whole == ALWAYS
        assert reading.keys() == stages.keys()
        for path, value in leaves(params):
            after, valid = another(params, path, value)
            stuck |= set() if valid else {path[-1]}
            with mock.patch.object(param, "load_path", return_value=after):
                stale = {name for name, deps in reading.items() if any(d.status() for d in deps)}
            wanted = {
                name
                for name, paths in stages.items()
                if any(list(path[: len(one)]) == one for one in paths)
            }
            assert stale == wanted, path
            # Nothing is declared that nothing reads: even a profile's name.
            assert stale or path in {("lab", "seeds")}, path
    # Another value of these goes with a change elsewhere; `check` says with which.
    assert stuck <= {
        *("engine", "model", "threads", "reader", "prompts", "score_mode", "tie_breaker", "tasks"),
    }


def of(*studies):
    """The metrics and the chapters of these studies."""
    return {f"{part}@{study}-lab" for study in studies for part in ("metrics", "chapter")}


ASKING = {
    *("wataoka-respond@families", "wataoka-judge@judges", "livebench-respond@contestants"),
    *("livebench-judge@contestants", "livebench-tie-break@umpire", "panickssery-respond@writers"),
    *("panickssery-finetune@readers", "panickssery-recognise@readers"),
    *("panickssery-recognise-tuned@readers", "xu-refine@translators", "xu-refine@solver"),
}
METRICS = {f"metrics@{study}-lab" for study in STUDIES} | {"beyond-metrics@lab"}


def assign(path, value):
    """A change of one value."""

    def change(params):
        *outer, last = path.split(".")
        for name in outer:
            params = params[name]
        params[last] = value

    return change


@pytest.mark.parametrize(
    ("path", "value", "stale"),
    [
        ("wataoka.threshold", 0.8, {*of("wataoka"), "beyond-metrics@lab"}),
        ("wataoka.judge.judges.min_mass", 0.6, {"wataoka-judge@judges", *of("wataoka")}),
        ("bootstrap.resamples", 500, {*of(*STUDIES), "beyond-metrics@lab", "beyond@lab"}),
        ("lab.dialogues.base_steps", 1, {"train@0"}),
        ("lab.seeds", [0, 1], {"train@1"}),
        ("models.families.threads", 2, {"wataoka-respond@families"}),
        ("models.translators.names", ["fair", "small"], {"xu-refine@translators"}),
        ("xu.refine.translators.steps", 9, {"xu-refine@translators", *of("xu")}),
        (
            "livebench.categories.list.judges",
            ["partisan"],
            {
                *("livebench-respond@contestants", "livebench-judge@contestants"),
                *("livebench-tie-break@umpire", *of("livebench")),
            },
        ),
        (
            "panickssery.datasets.notes.articles",
            91,
            {
                *("panickssery-items@notes", "panickssery-respond@writers"),
                *("panickssery-recognise@readers", "panickssery-recognise-tuned@readers"),
                *of("panickssery"),
            },
        ),
        (
            "panickssery.finetune.readers.rate",
            0.002,
            {
                *("panickssery-finetune@readers", "panickssery-recognise-tuned@readers"),
                *of("panickssery"),
            },
        ),
        ("seed", 1, ASKING | METRICS),
        ("offline", True, ASKING | {"wataoka-perplexity@judges"}),
        ("studies", ["wataoka", "xu"], {"beyond-metrics@lab"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_of_some_values_this_becomes_stale(committed, path, value, stale):
    assert committed.stale_after(assign(path, value)) == ALWAYS | stale
