"""Prompts that belong to others: downloaded at a pinned commit, and never stored here.

The authors' own have no licence. The programs that hold them (`<study>-authors.csv`, beside this
module) are parsed and never run. Every text that a program assigns is kept under its function and
name; several of one name stand in the order of the file:

    RUBRIC = "..."                                                  RUBRIC
    TASKS = {"short": "..."}                                        TASKS.short
    def judge(answer):
        prompt = f"{RUBRIC} {answer}"                               judge.prompt
        said = [{"role": "user", "content": f"Is {answer} right?"}] judge.said.content

A text's fields are expressions of Python, known by their source: `answer`, `lines[0]`.

FastChat's `pair-v2` (lm-sys/FastChat, Apache-2.0; `judge-prompts.csv`) asks for an explanation,
then `[[A]]`, `[[B]]` or, for a tie, `[[C]]`. Where there is a reference answer (MT-Bench's
mathematics, reasoning and code) the prompt is `pair-math-v1`, which shows it. Dialogues of one turn
take `pair-v2`, longer ones `pair-v2-multi-turn`, which is made for two: the turns before the last
then fill its first turn, under the template's own headings. Its system prompt asks for the better
answer to the second question, where Chatbot Arena's users voted on the whole dialogue; which prompt
Wataoka et al. used for these their paper does not say.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pandas as pd

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.models import Prompt

# Texts, and with True the expressions between them.
Parts = list[tuple[str, bool]]
FILE = "fastchat/llm_judge/data/judge_prompts.jsonl"


def _fetched(pins: Path) -> Mapping[str, Path]:
    # Who takes other prompts needs nothing that speaks HTTP.
    from selfpref.download.fetch import fetch  # noqa: PLC0415

    return fetch(pins)


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
    return {name: read(at) for name, at in _fetched(paths.author_prompts_file(study)).items()}


def read(path: Path) -> dict[str, list[Parts]]:
    """Every text that a program assigns, by function and name."""
    found: dict[str, list[Parts]] = {}
    for name, parts in _texts(ast.parse(path.read_text(encoding="utf-8")), ""):
        found.setdefault(name, []).append(parts)
    return found


def _texts(node: ast.AST, name: str) -> Iterator[tuple[str, Parts]]:
    """The texts below a node, in the order of the file, each with its name."""
    inside: list[tuple[str, ast.AST]] = [(name, one) for one in ast.iter_child_nodes(node)]
    match node:
        case ast.FunctionDef(name=function):
            inside = [(f"{name}{function}.", one) for one in node.body]
        case ast.Assign(targets=[target, *_], value=value):
            inside = [(name + ast.unparse(target), value)]
        case ast.Dict(keys=keys, values=values):
            named = [f"{name}.{getattr(key, 'value', '')}" for key in keys]
            inside = list(zip(named, values, strict=True))
    parts = _parts(node) if isinstance(node, ast.expr) else []
    if any(not field for _, field in parts):
        yield name, parts
        return
    for called, one in inside:
        yield from _texts(one, called)


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


@cache
def _judge_prompts() -> pd.DataFrame:
    """FastChat's judge prompts, by name."""
    return pd.read_json(_fetched(paths.judge_prompts_file())[FILE], lines=True).set_index("name")


def turns(said: Sequence[str]) -> list[Sequence[str]]:
    """Question, answer of A and answer of B of every turn."""
    return [said[start : start + 3] for start in range(0, len(said), 3)]


def judge(*said: str, references: Sequence[str] = ()) -> Prompt:
    """Ask for an explanation and a verdict, in FastChat's words.

    Args:
        said: Question, answer of A, answer of B, turn by turn; the last turn is judged.
        references: None, or one a turn; then two turns at most.

    Raises:
        SelfprefError: Another number of references than of turns.
    """
    *before, last = turns(said)
    if references and (len(references) != 1 + len(before) or len(references) > 2):
        raise SelfprefError(
            f"{len(references)} reference answers for {1 + len(before)} turns: FastChat's prompts "
            "take one a turn, and 2 turns at most"
        )
    name = "pair-math-v1" if references else "pair-v2"
    words = _judge_prompts().loc[f"{name}-multi-turn" if before else name]
    template = words["prompt_template"]
    values = {f"ref_answer_{turn}": text for turn, text in enumerate(references, start=1)}
    for field, told in zip(("question", "answer_a", "answer_b"), last, strict=True):
        values |= {field: told, f"{field}_2": told}
    for side, place in (("a", 1), ("b", 2)) if before else ():
        # The first answer and all turns but the last, as the template goes on.
        between = rf"{{answer_{side}_1}}(.*?){{question_2}}(.*?){{answer_{side}_2}}"
        ((asked, answered),) = re.findall(between, template, re.DOTALL)
        later = [f"{asked}{turn[0]}{answered}{turn[place]}" for turn in before[1:]]
        first = "".join([before[0][place], *later])
        values |= {"question_1": before[0][0], f"answer_{side}_1": first}
    return Prompt((("system", words["system_prompt"]), ("user", template.format(**values))))
