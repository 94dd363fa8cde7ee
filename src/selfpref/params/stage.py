"""What dvc.yaml declares for a stage, as a notebook's variables and as parameters again.

- `wataoka.threshold`: `threshold = 0.5`
- `wataoka.judge.terse`: `prompts = "lab"`, `min_mass = 0.5`, ...: an entry by its keys
- `bootstrap`, `wataoka`: a section by its keys; of a study its settings alone
- `lab.dialogues`: `dialogues = {...}`
- `models.terse`: no variable. Models are known by their keys, and an endpoint's address belongs
  into no notebook.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, cast, get_args

from pydantic import TypeAdapter, ValidationError

from selfpref.errors import SelfprefError
from selfpref.params.reading import explain, mapping
from selfpref.params.section import Section
from selfpref.params.studies import StudySection
from selfpref.params.whole import Params
from selfpref.paths import PARAMS, params_file, root


def _declared(stage: str) -> list[str]:
    """The parameters that dvc.yaml declares for a stage, such as `wataoka.judge.terse`."""
    # Imported where needed: DVC takes a quarter of a second.
    from dvc.parsing import DataResolver  # noqa: PLC0415
    from dvc.repo import Repo  # noqa: PLC0415

    # As `dvc.api.params_show` does, which reads all stages and the lock first, for two seconds.
    with Repo() as repo:
        resolver = DataResolver(repo, repo.root_dir, mapping(root() / "dvc.yaml"))
        (definition,) = resolver.resolve_one(stage).values()
    return list(definition.get("params", ()))


def kind_at(path: Sequence[str]) -> Any:
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
        return TypeAdapter(kind_at(path)).validate_python(value)
    except ValidationError as error:
        raise explain(error, PARAMS, tuple(path)) from error


def _at(values: Mapping[str, Any], path: Sequence[str]) -> Any:
    found: Any = values
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            raise SelfprefError(f"{PARAMS}: {'.'.join(path)}: missing; add it")
        found = found[name]
    return found


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
    values, found = mapping(params_file()), {"stage": stage}
    for declared in _declared(stage):
        path = declared.split(".")
        if path[0] == "models":
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
        if path[0] == "models":
            given = _at(mapping(params_file()), path)
        else:
            given = _assembled(kind_at(path), path, names)
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
        given = _at(mapping(params_file()), path)
        return {
            field: value if isinstance(value, dict) else _variable(field, names)
            for field, value in given.items()
        }
    return {field: names[field] for field in sections[0].model_fields if field in names}


def _taken_apart(path: Sequence[str]) -> bool:
    """Whether a declared parameter is a section or an entry, whose keys are variables."""
    kind = kind_at(path)
    entry = len(path) > 1 and not _is_section(kind_at(path[:-1]))
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
    made = kind.model_construct(_fields_set=set(filled), **filled)
    # A default is no declaration.
    for name in kind.model_fields.keys() - filled.keys():
        made.__dict__.pop(name, None)
    return made
