"""From a file to parameters, or to an error of one line that names file and key."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from selfpref.errors import SelfprefError
from selfpref.params.models import CONCEALED
from selfpref.params.whole import Params
from selfpref.paths import PARAMS, params_file, root


def _place(loc: Sequence[str]) -> list[str]:
    """An error's place as the file has it: without the kinds of entries, which pydantic adds."""
    place = [part for part in loc if part != "[key]"]
    kinds = (["models"], ["datasets"], ["requests"])
    if place[:1] in kinds and place[2:] not in (["engine"], ["reader"]):
        del place[2:3]
    if place[2:3] == ["inner"] and len(place) > 3:
        # The keys of Ray's inner engine stand beside its own, and `inner` names the engine.
        place[2:] = [part for part in place[3:] if part not in ("transformers", "openai")]
        place = [part if part != "engine" else "inner" for part in place]
    return place


def _remedy(error: Mapping[str, Any]) -> str:
    wanted = str(error["msg"].removeprefix("Value error, "))
    match error["type"]:
        case "extra_forbidden":
            return "unknown key; remove it or correct its spelling"
        case "missing" | "union_tag_not_found":
            return "missing; add it (the README lists every key)"
        case "union_tag_invalid":
            found = error["input"][_kind(error)]
            wanted = f"one of {error['ctx']['expected_tags']}"
            return f"is empty; {wanted}" if found is None else f"{wanted}, not {found!r}"
    # A section as a whole, and what may be a secret, is not repeated.
    if isinstance(error["input"], dict) or error["type"] == CONCEALED:
        return wanted
    return f"is empty; {wanted}" if error["input"] is None else f"{wanted}, not {error['input']!r}"


def _kind(error: Mapping[str, Any]) -> str:
    """The key that says of which kind an entry is: `engine` or `reader`."""
    return str(error["ctx"]["discriminator"]).strip("'")


def _explain(failure: ValidationError, source: str, prefix: tuple[str, ...] = ()) -> SelfprefError:
    # A misspelt key is both unknown and missing; the first of these is what the user can see.
    errors = sorted(failure.errors(), key=lambda error: error["type"] != "extra_forbidden")
    loc = [str(part) for part in (*prefix, *errors[0]["loc"])]
    if errors[0]["type"].startswith("union_tag"):
        loc.append(_kind(errors[0]))
    place = _place(loc)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    key = f"{'.'.join(place)}: " if place else ""
    return SelfprefError(f"{source}: {key}{_remedy(errors[0])}{more}")


def _mapping(path: Path) -> dict[str, Any]:
    try:
        values = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (OSError, MarkedYAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path.name}, line {mark.line + 1}" if mark else path.name
        reason = getattr(error, "problem", None) or error
        raise SelfprefError(f"{where}: not readable as YAML: {reason}") from error
    if not isinstance(values, dict):
        raise SelfprefError(f"{path.name}: expected a mapping with the keys of the README")
    return values


def load(path: Path) -> Params:
    """Read and validate a whole params file.

    Raises:
        SelfprefError: Not YAML, an unknown key, a wrong type or value; names file and key.
    """
    values = _mapping(path)
    try:
        return Params.model_validate(values)
    except ValidationError as error:
        raise _explain(error, path.name) from error


class StageParams:
    """The parameters that dvc.yaml declares for one stage, validated, as attributes."""

    def __init__(self, stage: str, sections: Mapping[str, Any]) -> None:
        self._stage = stage
        for name, value in sections.items():
            if name not in Params.model_fields:
                raise SelfprefError(f"{PARAMS}: {name}: unknown key; remove it or correct it")
            kind: Any = Params.model_fields[name].annotation
            try:
                parsed = TypeAdapter(kind).validate_python(value)
            except ValidationError as error:
                raise _explain(error, PARAMS, (name,)) from error
            setattr(self, name, parsed)

    def __getattr__(self, name: str) -> Any:
        """Reached only for what was not declared."""
        raise SelfprefError(f"dvc.yaml: stage {self._stage} reads {name!r}: list it under params")


def stage_params(stage: str) -> Params:
    """The declared parameters of a stage, as DVC sees them: a part of the whole.

    Args:
        stage: A stage's address, such as `archive@mt-bench`.

    Raises:
        SelfprefError: A value is invalid; or, on access, it is not declared in dvc.yaml.
    """
    # Half a second that the command line need not pay.
    from dvc.parsing import DataResolver  # noqa: PLC0415
    from dvc.repo import Repo  # noqa: PLC0415

    # As `dvc.api.params_show` does, which reads all stages and the lock first, for two seconds.
    with Repo() as repo:
        resolver = DataResolver(repo, repo.root_dir, _mapping(root() / "dvc.yaml"))
        (definition,) = resolver.resolve_one(stage).values()
    sections: dict[str, Any] = {}
    values = _mapping(params_file())
    for name in definition.get("params", ()):
        *outer, last = name.split(".")
        given, part = values, sections
        for key in outer:
            given, part = given[key], part.setdefault(key, {})
        part[last] = given[last]
    return cast(Params, StageParams(stage, sections))
