"""The authors' own prompts, taken out of the programs that they released.

The programs belong to others, without a licence: they are downloaded at the commit that a list of
pinned files names (`<study>-authors.csv`, beside this module), parsed, never run and never stored
here. Every text that a program assigns is kept as a template under its function and name; several
of one name stand in the order of the file:

    RUBRIC = "..."                                                  RUBRIC
    TASKS = {"short": "..."}                                        TASKS.short
    def judge(answer):
        prompt = f"{RUBRIC} {answer}"                               judge.prompt
        said = [{"role": "user", "content": f"Is {answer} right?"}] judge.said, one a content

A template's fields are expressions of Python, known by their source: `answer`, `lines[0]`.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from selfpref import paths
from selfpref.errors import SelfprefError


@dataclass(frozen=True)
class Template:
    """A text with fields.

    Attributes:
        parts: Texts, and with True the expressions between them.
        source: Where it stands.
    """

    parts: tuple[tuple[str, bool], ...]
    source: str

    def fill(self, values: Mapping[str, object] | None = None) -> str:
        """The text with a value for every field.

        Raises:
            SelfprefError: A field has no value.
        """
        known = values or {}
        for text, field in self.parts:
            if field and text not in known:
                raise SelfprefError(
                    f"{self.source}: no value for {text!r}; is this the pinned file?"
                )
        return "".join(str(known[text]) if field else text for text, field in self.parts)


def template(study: str, file: str, name: str, number: int = 0) -> Template:
    """One of the texts of a study's program.

    Args:
        study: The study.
        file: The path in its repository.
        name: Function and name; see above.
        number: Of those of this name, from 0.

    Raises:
        SelfprefError: The file cannot be had, is no program, or has no such text.
    """
    path, found = _programs(study)[file]
    texts = found.get(name, [])
    if number >= len(texts):
        raise SelfprefError(f"{path}: no text {name!r}, number {number}; is this the pinned file?")
    return texts[number]


@cache
def _programs(study: str) -> dict[str, tuple[Path, dict[str, list[Template]]]]:
    """Local file and templates of each of a study's programs, by path."""
    # Who takes other prompts needs nothing that speaks HTTP.
    from selfpref.download.fetch import fetch  # noqa: PLC0415

    return {
        name: (path, read(path)) for name, path in fetch(paths.author_prompts_file(study)).items()
    }


def read(path: Path) -> dict[str, list[Template]]:
    """Every text that a program assigns, by function and name.

    Raises:
        SelfprefError: It is no program.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise SelfprefError(f"{path}: no Python: {error}") from error
    found: dict[str, list[Template]] = {}
    for name, node in _assigned(tree):
        for suffix, parts in _texts(node):
            found.setdefault(name + suffix, []).append(Template(tuple(parts), f"{path}: {name}"))
    return found


def _assigned(node: ast.AST, within: str = "") -> Iterator[tuple[str, ast.expr]]:
    """Every assignment in the order of the file, with the functions that it stands in."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Assign):
            yield within + ast.unparse(child.targets[0]), child.value
        inside = f"{within}{child.name}." if isinstance(child, ast.FunctionDef) else within
        yield from _assigned(child, inside)


def _texts(node: ast.expr) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """The texts of what is assigned, each with what is added to its name."""
    if isinstance(node, ast.ListComp):
        node = node.elt
    parts = _parts(node)
    if not all(field for _, field in parts):
        yield "", parts
        return
    for inner in ast.walk(node):
        if isinstance(inner, ast.Dict):
            for key, value in zip(inner.keys, inner.values, strict=True):
                parts = _parts(value)
                name = key.value if isinstance(key, ast.Constant) else None
                if not isinstance(name, str) or all(field for _, field in parts):
                    continue
                # Of a message the role is no prompt.
                if name == "content":
                    yield "", parts
                elif inner is node:
                    yield f".{name}", parts


def _parts(node: ast.expr) -> list[tuple[str, bool]]:
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
