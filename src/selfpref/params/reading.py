"""From a file to parameters, or to an error of one line that names file and key."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from selfpref.errors import SelfprefError
from selfpref.params.whole import Params

# What a text that does not fit its pattern should be, by its key; `[key]` is a key itself.
NAMES = "write it in a-z, 0-9 and hyphens"
MEANT = {
    "key": "name the environment variable that holds the key, never the key",
    "base_url": "give http://… or https://… up to its /v1, without @ or ?",
    "truth": "take a metric on the scale of MQM, whose name ends in mqm",
    "revision": "give the whole commit",
    "[key]": NAMES,
    "profile": NAMES,
}


def _explained(failure: ValidationError, source: str) -> SelfprefError:
    """The first thing that is wrong; a value, which may be a secret, is not repeated.

    On the way to a key pydantic names the kinds of entries, too: `models.mine.openai.base_url`.
    """
    # A misspelt key is both unknown and missing; the first of these is what the user can see.
    errors = sorted(failure.errors(), key=lambda error: error["type"] != "extra_forbidden")
    remedies = {
        "extra_forbidden": "unknown key; remove it or correct its spelling",
        "missing": "missing; add it (docs/parameters.md lists every key)",
        "union_tag_not_found": "no `engine` (of a model) or `reader` (of a data set); add it",
    }
    told = remedies.get(errors[0]["type"], errors[0]["msg"].removeprefix("Value error, "))
    if errors[0]["type"] == "string_pattern_mismatch":
        told = MEANT.get(str(errors[0]["loc"][-1]), told)
    place = ".".join(map(str, errors[0]["loc"]))
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return SelfprefError(f"{source}: {f'{place}: ' if place else ''}{told}{more}")


def mapping(path: Path) -> dict[str, Any]:
    """The keys and values of a YAML file, unchecked."""
    try:
        values = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SelfprefError(
            f"{path.name}: {error.strerror}; put a file of parameters there"
        ) from error
    except (YAMLError, ValueError) as error:
        # The whole message may repeat a value, which may be a secret.
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        reason = str(getattr(error, "problem", None) or error).partition(" with ")[0]
        told = f"{path.name}{where}: not YAML in UTF-8: {' '.join(reason.split())}; correct it"
        raise SelfprefError(told) from error
    if not isinstance(values, dict):
        raise SelfprefError(f"{path.name}: expected a mapping with the keys of docs/parameters.md")
    return values


def validated(values: Mapping[str, Any], source: str) -> Params:
    """The whole of the parameters; an error names `source` and the key."""
    try:
        return Params.model_validate(values)
    except ValidationError as error:
        raise _explained(error, source) from error


def load(path: Path) -> Params:
    """Read and validate a whole params file.

    Raises:
        SelfprefError: Not YAML, an unknown key, a wrong type or value; names file and key.
    """
    return validated(mapping(path), path.name)
