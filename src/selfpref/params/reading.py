"""From a file to parameters, or to an error of one line that names file and key."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, cast, get_args

from pydantic import TypeAdapter, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from selfpref.errors import SelfprefError
from selfpref.params.models import CONCEALED
from selfpref.params.section import Section
from selfpref.params.studies import StudySection
from selfpref.params.whole import MOVED, Params
from selfpref.paths import PARAMS, params_file, root

# A key of an earlier version is unknown, or no list.
MOVING = ("extra_forbidden", "list_type")


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
            return "missing; add it (the README lists every key)"
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


def _explain(failure: ValidationError, source: str, prefix: tuple[str, ...] = ()) -> SelfprefError:
    # A misspelt key is both unknown and missing; the first of these is what the user can see.
    errors = sorted(failure.errors(), key=lambda error: error["type"] != "extra_forbidden")
    loc = [str(part) for part in (*prefix, *errors[0]["loc"])]
    if errors[0]["type"].startswith("union_tag"):
        loc.append(_discriminator(errors[0]))
    place = _place(loc)
    moved = MOVED.get(".".join(place)) if errors[0]["type"] in MOVING else None
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    key = f"{'.'.join(place)}: " if place else ""
    return SelfprefError(f"{source}: {key}{moved or _remedy(errors[0])}{more}")


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
    values = _mapping(path)
    try:
        params = Params.model_validate(values)
    except ValidationError as error:
        raise _explain(error, path.name) from error
    if sources is not None and (missing := params.missing_sources(sources)):
        raise SelfprefError(f"{path.name}: {missing[0]}: no such file; put it there or correct it")
    return params


def _declared(stage: str) -> list[str]:
    """The parameters that dvc.yaml declares for a stage, such as `wataoka.judge.terse`."""
    # Imported where needed: DVC takes a quarter of a second.
    from dvc.parsing import DataResolver  # noqa: PLC0415
    from dvc.repo import Repo  # noqa: PLC0415

    # As `dvc.api.params_show` does, which reads all stages and the lock first, for two seconds.
    with Repo() as repo:
        resolver = DataResolver(repo, repo.root_dir, _mapping(root() / "dvc.yaml"))
        (definition,) = resolver.resolve_one(stage).values()
    return list(definition.get("params", ()))


def _kind(path: Sequence[str]) -> Any:
    """The type of what stands at a path of params.yaml, with its constraints."""
    kind: Any = Params
    for name in path:
        if isinstance(kind, type) and issubclass(kind, Section):
            if name not in kind.model_fields:
                raise SelfprefError(f"{PARAMS}: {'.'.join(path)}: unknown key; correct it")
            field = kind.model_fields[name]
            kind = field.annotation
            if field.metadata:
                kind = Annotated[(kind, *field.metadata)]
        else:
            kind = get_args(kind)[1]  # of a mapping
    return kind


def _validated(path: Sequence[str], value: object) -> Any:
    try:
        return TypeAdapter(_kind(path)).validate_python(value)
    except ValidationError as error:
        raise _explain(error, PARAMS, tuple(path)) from error


def _at(values: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = values
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            raise SelfprefError(f"{PARAMS}: {'.'.join(path)}: missing; add it")
        found = found[name]
    return found


def _is_model(path: Sequence[str]) -> bool:
    """Models are known by their keys: an endpoint's address belongs into no notebook."""
    return path[0] == "models"


def variables(stage: str) -> dict[str, Any]:
    """What a stage declares, as flat values for the parameters of its notebook.

    An entry or a section is taken apart into its keys, with the defaults of those that are left
    out. `gather` reads itself what is known by its key: models, and of a whole study who does what
    in it.

    Args:
        stage: A stage's address, such as `wataoka-judge@terse`.

    Returns:
        By name, values of JSON.

    Raises:
        SelfprefError: A value is invalid, or two have one name.
    """
    values, found = _mapping(params_file()), {"stage": stage}
    for declared in _declared(stage):
        path = declared.split(".")
        if _is_model(path):
            continue
        value = _validated(path, _at(values, path))
        parts = TypeAdapter(Any).dump_python(value, mode="json")
        if isinstance(value, StudySection):
            parts = {name: parts[name] for name in value.settings()}
        elif not _taken_apart(path):
            parts = {path[-1]: parts}
        if twice := sorted(found.keys() & parts.keys()):
            raise SelfprefError(f"dvc.yaml: stage {stage} declares two values named {twice[0]!r}")
        found |= parts
    return found


def gather(names: Mapping[str, Any]) -> Params:
    """The parameters that a notebook's variables make: those that its stage declares.

    Args:
        names: The notebook's variables (`globals()`); `stage` among them names the stage.

    Returns:
        A part of the whole: what is not declared raises an error when it is read.

    Raises:
        SelfprefError: A value is missing or invalid; names it.
    """
    found: dict[str, Any] = {}
    for declared in _declared(names["stage"]):
        path = declared.split(".")
        if _is_model(path):
            given = _at(_mapping(params_file()), path)
        else:
            given = _assembled(_kind(path), path, names)
        *outer, last = path
        part = found
        for name in outer:
            part = part.setdefault(name, {})
        part[last] = _validated(path, given)
    return cast(Params, _part(Params, found))


def _assembled(kind: Any, path: Sequence[str], names: Mapping[str, Any]) -> Any:
    """The value of one declared parameter, put together from variables."""
    name = path[-1]
    if not _taken_apart(path):
        return _variable(name, names)
    sections = [one for one in (kind, *get_args(kind)) if _is_section(one)]
    # An entry that may be of several kinds says which by its reader.
    options = [option for one in get_args(kind) for option in get_args(one) if _is_section(option)]
    for option in options:
        if names.get("reader") in get_args(option.model_fields["reader"].annotation):
            sections = [option]
    if sections and issubclass(sections[0], StudySection):
        given = _at(_mapping(params_file()), path)
        return {
            field: value if isinstance(value, dict) else _variable(field, names)
            for field, value in given.items()
        }
    return {field: names[field] for field in sections[0].model_fields if field in names}


def _taken_apart(path: Sequence[str]) -> bool:
    """Whether a declared parameter is a section or an entry, whose keys are variables."""
    kind = _kind(path)
    entry = len(path) > 1 and not _is_section(_kind(path[:-1]))
    return entry or (len(path) == 1 and _is_section(kind))


def _variable(name: str, names: Mapping[str, Any]) -> Any:
    if name not in names:
        raise SelfprefError(f"the notebook has no variable {name!r}; give it with -p {name} ...")
    return names[name]


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def _part(kind: Any, values: Mapping[str, Any]) -> Any:
    """A section with no more than these values, which are valid already."""
    if not _is_section(kind):
        return values
    filled = {
        name: _part(kind.model_fields[name].annotation, value)
        if isinstance(value, dict) and _is_section(kind.model_fields[name].annotation)
        else value
        for name, value in values.items()
    }
    return kind.model_construct(_fields_set=set(filled), **filled)
