"""From a file to parameters, or to an error of one line that names file and key."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from selfpref.errors import SelfprefError
from selfpref.params.models import CONCEALED
from selfpref.params.whole import Params


def _place(loc: Sequence[str]) -> list[str]:
    """An error's place as the file has it: without the kinds of entries, which pydantic adds."""
    place = [part for part in loc if part != "[key]"]
    at = 2 if place[:1] == ["models"] else 3 if place[1:2] == ["datasets"] else None
    if at is not None and place[at:] not in (["engine"], ["reader"]):
        del place[at : at + 1]
    if place[:1] == ["models"] and place[2:3] == ["inner"] and len(place) > 3:
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
            return "missing; add it (docs/parameters.md lists every key)"
        case "union_tag_invalid":
            found = error["input"][_discriminator(error)]
            wanted = f"one of {error['ctx']['expected_tags']}"
            return f"is empty; {wanted}" if found is None else f"{wanted}, not {found!r}"
    # A section as a whole, and what may be a secret, is not repeated.
    if isinstance(error["input"], dict) or error["type"] == CONCEALED:
        return wanted
    return f"is empty; {wanted}" if error["input"] is None else f"{wanted}, not {error['input']!r}"


def _discriminator(error: Mapping[str, Any]) -> str:
    """The key that says of which kind an entry is: `engine` or `reader`."""
    return str(error["ctx"]["discriminator"]).strip("'")


def _explained(failure: ValidationError, source: str) -> SelfprefError:
    """The first thing that is wrong, with file, key and remedy."""
    # A misspelt key is both unknown and missing; the first of these is what the user can see.
    errors = sorted(failure.errors(), key=lambda error: error["type"] != "extra_forbidden")
    loc = [str(part) for part in errors[0]["loc"]]
    if errors[0]["type"].startswith("union_tag"):
        loc.append(_discriminator(errors[0]))
    place = _place(loc)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    key = f"{'.'.join(place)}: " if place else ""
    return SelfprefError(f"{source}: {key}{_remedy(errors[0])}{more}")


def mapping(path: Path) -> dict[str, Any]:
    """The keys and values of a YAML file, unchecked."""
    try:
        values = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (OSError, MarkedYAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path.name}, line {mark.line + 1}" if mark else path.name
        reason = getattr(error, "problem", None) or error
        raise SelfprefError(f"{where}: not readable as YAML: {reason}") from error
    if not isinstance(values, dict):
        raise SelfprefError(f"{path.name}: expected a mapping with the keys of docs/parameters.md")
    return values


def validated(values: Mapping[str, Any], source: str) -> Params:
    """The whole of the parameters; an error names `source` and the key."""
    try:
        return Params.model_validate(values)
    except ValidationError as error:
        raise _explained(error, source) from error


def load(path: Path, sources: Path | None = None) -> Params:
    """Read and validate a whole params file.

    Args:
        path: The file.
        sources: The folder in which the sources of its data sets have to be; left out: they are
            not looked for.

    Raises:
        SelfprefError: Not YAML, an unknown key, a wrong type or value, a source that is not there;
            names file and key.
    """
    params = validated(mapping(path), path.name)
    if sources is not None and (missing := params.missing_sources(sources)):
        raise SelfprefError(f"{path.name}: {missing[0]}: no such file; put it there or correct it")
    return params
