"""The authors' own prompts, taken out of the programs that they released.

The programs belong to others, without a licence: they are downloaded at the commit that a list of
pinned files names (`<study>-authors.csv`, beside this module), parsed, never run and never stored
here. Every text that a program assigns is kept under its function and name; several of one name
stand in the order of the file:

    RUBRIC = "..."                                                  RUBRIC
    TASKS = {"short": "..."}                                        TASKS.short
    def judge(answer):
        prompt = f"{RUBRIC} {answer}"                               judge.prompt
        said = [{"role": "user", "content": f"Is {answer} right?"}] judge.said.content

A text's fields are expressions of Python, known by their source: `answer`, `lines[0]`.
"""

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from selfpref import paths

# Texts, and with True the expressions between them.
Parts = list[tuple[str, bool]]


def text(
    study: str, file: str, name: str, number: int = 0, values: Mapping[str, object] | None = None
) -> str:
    """One of the texts of a study's program, with a value for every field.

    Args:
        study: The study.
        file: The path in its repository.
        name: Function and name; see above.
        number: Of those of this name, from 0.
        values: By field.
    """
    known = values or {}
    parts = _programs(study)[file][name][number]
    return "".join(str(known[part]) if field else part for part, field in parts)


@cache
def _programs(study: str) -> dict[str, dict[str, list[Parts]]]:
    """The texts of each of a study's programs, by path."""
    # Who takes other prompts needs nothing that speaks HTTP.
    from selfpref.download.fetch import fetch  # noqa: PLC0415

    return {name: read(path) for name, path in fetch(paths.author_prompts_file(study)).items()}


def read(path: Path) -> dict[str, list[Parts]]:
    """Every text that a program assigns, by function and name."""
    found: dict[str, list[Parts]] = {}
    for name, parts in _texts(ast.parse(path.read_text(encoding="utf-8")), ""):
        found.setdefault(name, []).append(parts)
    return found


def _texts(node: ast.AST, name: str) -> Iterator[tuple[str, Parts]]:
    """The texts assigned below a node, in the order of the file, each with its name."""
    if isinstance(node, ast.Assign):
        yield from _assigned(node.value, name + ast.unparse(node.targets[0]))
        return
    if isinstance(node, ast.FunctionDef):
        name += f"{node.name}."
    for child in ast.iter_child_nodes(node):
        yield from _texts(child, name)


def _assigned(node: ast.AST, name: str) -> Iterator[tuple[str, Parts]]:
    """The texts of what is assigned to a name."""
    parts = _parts(node)
    if not all(field for _, field in parts):
        yield name, parts
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield from _assigned(value, f"{name}.{key.value}")
    else:
        for child in ast.iter_child_nodes(node):
            yield from _assigned(child, name)


def _parts(node: ast.AST) -> Parts:
    """Texts and expressions of a string, of a formatted one, or of their sum."""
    match node:
        case ast.Constant(value=str(text)):
            return [(text, False)]
        case ast.JoinedStr(values=values):
            return [part for value in values for part in _parts(value)]
        case ast.FormattedValue(value=value):
            return [(ast.unparse(value), True)]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return [*_parts(left), *_parts(right)]
    return [(ast.unparse(node), True)]
