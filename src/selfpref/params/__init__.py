"""The parameters: what params.yaml may hold, and what a stage may read of it.

Every section is a pydantic model that refuses unknown keys. `load` validates a whole file.
`section_of` gives a stage's notebook the values that dvc.yaml declares for it, and `gather` makes
parameters of them again: what a stage does not declare cannot change a result of it, and what its
executed notebook shows is what was run.

A stage has of params.yaml what dvc.yaml lists under its `params`, and no more. What papermill hands
to its notebook stands in a cell of the executed copy. Models are not in it: they are known by their
keys, and an endpoint's address belongs into no notebook. An error is one line with file and key.
"""

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from selfpref.errors import SelfprefError
from selfpref.params.data import Articles, Dataset, LabPrompts, LabRequests, Requests, Sentences
from selfpref.params.models import Hosted, Lab, Model, Ray, Transformers
from selfpref.params.studies import (
    TASKS,
    Contest,
    Judge,
    Panickssery,
    Params,
    Refine,
    Tuning,
    Verdicts,
    Writing,
)
from selfpref.paths import PARAMS, params_file, root

# In the place of pydantic's words, by its kind of error.
REMEDIES = {
    "extra_forbidden": "unknown key; remove it or correct its spelling",
    "missing": "missing; add it (docs/parameters.md lists every key)",
    "union_tag_not_found": "no `engine` (of a model) or `reader` (of a data set); add it",
}
# What a text that does not fit its pattern should be, by its key; `[key]` is a key itself.
MEANT = {
    "key": "name the environment variable that holds the key, never the key",
    "base_url": "give http://… or https://… up to its /v1, without @ or ?",
    "truth": "take a metric on the scale of MQM, whose name ends in mqm",
    "revision": "give the whole commit",
    **dict.fromkeys(("[key]", "profile"), "write it in a-z, 0-9 and hyphens"),
}


def mapping(path: Path) -> dict[str, Any]:
    """The keys and values of a YAML file, unchecked."""
    try:
        values = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (YAMLError, ValueError) as error:
        # The whole message may repeat a value, which may be a secret.
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = getattr(error, "problem", "unreadable").partition(" with ")[0]
        told = f"{path.name}{where}: not YAML in UTF-8: {reason}; correct it"
        raise SelfprefError(told) from error
    if not isinstance(values, dict):
        raise SelfprefError(f"{path.name}: expected a mapping with the keys of docs/parameters.md")
    return values


def validated(values: Mapping[str, Any], source: str) -> Params:
    """The whole of the parameters; an error names `source` and the key.

    On the way to a key pydantic names the kinds of entries, too: `models.mine.openai.base_url`.
    Of several mistakes the first is told, and not the value, which may be a secret.
    """
    try:
        return Params.model_validate(values)
    except ValidationError as error:
        # A misspelt key is both unknown and missing; the first of these is what the user can see.
        first, *rest = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        told = REMEDIES.get(first["type"], first["msg"].removeprefix("Value error, "))
        place = [str(part) for part in first["loc"]]
        if first["type"] == "string_pattern_mismatch":
            told = MEANT.get(place[-1], told)
        more = f" (and {len(rest)} more)" if rest else ""
        told = ": ".join(filter(None, [source, ".".join(place), told]))
        raise SelfprefError(f"{told}{more}") from error


def load(path: Path) -> Params:
    """Read and validate a whole params file.

    Raises:
        SelfprefError: Not YAML, an unknown key, a wrong type or value; names file and key.
    """
    return validated(mapping(path), path.name)


def _below(part: Any, name: str, file: str = PARAMS) -> Any:
    """What a mapping or a section holds under a name."""
    if not isinstance(part, Mapping):
        return getattr(part, name)
    if name not in part:
        raise SelfprefError(f"{file}: {name!r} is missing; add it, or correct the stage's name")
    return part[name]


def _declared(stage: str, params: Params) -> list[list[str]]:
    """The paths that dvc.yaml lists under a stage's `params`, its `${key}` and `${item}` filled."""
    name, _, key = stage.partition("@")
    made = _below(mapping(root() / "dvc.yaml")["stages"], name, "dvc.yaml")
    # Of a matrix over studies and profiles; no study's name has a hyphen.
    names = {"key": key, "item.study": key.partition("-")[0]}
    if isinstance(made.get("foreach"), str):
        entries = reduce(_below, made["foreach"].strip("${}").split("."), params)
        if isinstance(entries, Mapping):
            names |= {f"item.{field}": value for field, value in _below(entries, key)}
    return [
        re.sub(r"\$\{([\w.]+)\}", lambda found: names[found[1]], entry).split(".")
        for entry in made.get("do", made)["params"]
    ]


def _only(part: Any, paths: Sequence[list[str]]) -> Any:
    """The same with what stands at these paths and nothing else.

    >>> _only({"mine": Tuning(on="xsum", variant="random", articles=2)}, [["mine", "on"]])
    {'mine': Tuning(on='xsum')}
    """
    if [] in paths:
        return part
    found = {
        name: _only(_below(part, name), [rest for first, *rest in paths if first == name])
        for name, *_ in paths
    }
    if isinstance(part, Mapping):
        return found
    made = type(part).model_construct(**found)
    # Nor does a default stand in for what is not declared.
    for name in {*vars(made)} - {*found}:
        del vars(made)[name]
    return made


def _overlaid(values: Any, given: Any) -> Any:
    """The values with those that are given in their places."""
    if not isinstance(values, dict) or not isinstance(given, dict):
        return given
    return values | {name: _overlaid(values.get(name), value) for name, value in given.items()}


def gather(stage: str, section: Mapping[str, Any]) -> Params:
    """The parameters of a stage.

    Args:
        stage: Its address, such as `wataoka-judge@terse`.
        section: Values that take the place of those in params.yaml; empty: params.yaml as it is.

    Returns:
        A part of the whole: what the stage does not declare raises an error when it is read.

    Raises:
        SelfprefError: A value is missing or invalid, or there is no such stage; names it.
    """
    params = validated(_overlaid(mapping(params_file()), section), PARAMS)
    return cast(Params, _only(params, _declared(stage, params)))


def section_of(stage: str) -> dict[str, Any]:
    """What a stage declares, as values of JSON: as params.yaml has it.

    Raises:
        SelfprefError: As `gather`.
    """
    return gather(stage, {}).model_dump(mode="json", exclude={"models"}, exclude_unset=True)
