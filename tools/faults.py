"""Whether the tests bite: faults drawn over the lines of src, and whether a test fails for each.

    python tools/faults.py                      # sixty faults
    python tools/faults.py --only 3 17          # two of them again, with what pytest says

Works in a clone of HEAD below .cache/faults, never in this checkout. All tests run once, to see
which reach which line (without those that start a pipeline, a cluster or a server). Then each fault
is planted alone, and the files of tests that reach its line run until one fails; where the line is
reached by a program alone, all do, those of pipelines too. Faults are drawn from a seed over the
files' syntax, room after room, each a kind in turn:

    comparison   < becomes <=, == becomes !=, in becomes not in, and becomes or, ...
    sign         + becomes -, * becomes /, a minus goes
    off by one   a whole number becomes one more
    filter       a condition of a comprehension, `[mask]`, `.query(...)` or `.dropna(...)` goes
    columns      two names beside each other change places
    argument     a keyword argument is left out
"""

import argparse
import ast
import os
import random
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import deepcopy
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import coverage

ROOT = Path(__file__).resolve().parents[1]
# Tests that start a cluster or a server.
APART = ("soak", "servers", "models/test_ray.py")
EVERY = ["-nlogical", "--dist=loadfile", "tests", *(f"--ignore=tests/{one}" for one in APART)]
# What takes the place of an operator, either way.
PAIRS = [
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.In, ast.NotIn)),
    *((ast.Is, ast.IsNot), (ast.And, ast.Or), (ast.Add, ast.Sub), (ast.Mult, ast.Div)),
]
TURNED = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
LISTS = (ast.List, ast.Tuple, ast.Call)
KINDS = ("comparison", "sign", "off by one", "filter", "columns", "argument")


class Fault(NamedTuple):
    """What is to stand in the place of a node of a file's syntax."""

    kind: str
    file: str
    line: int
    tree: ast.Module
    node: Any
    other: Any


def altered(node: Any, **fields: object) -> Any:
    """A node with other fields."""
    return type(node)(**{**dict(ast.iter_fields(node)), **fields})


def changes(node: Any) -> Iterator[tuple[str, Any]]:
    """The faults of one node: kind, and what is to stand there."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in TURNED:
            yield "comparison", altered(node, ops=[TURNED[type(op)]()])
        case ast.BoolOp(op=op):
            yield "comparison", altered(node, op=TURNED[type(op)]())
        case ast.BinOp(op=op) if type(op) in TURNED:
            yield "sign", altered(node, op=TURNED[type(op)]())
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            yield "sign", operand
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            yield "off by one", ast.Constant(value + 1)
        case ast.comprehension(ifs=[_, *rest]):
            yield "filter", altered(node, ifs=rest)
        case ast.Subscript(value=value, slice=ast.Compare() | ast.UnaryOp(op=ast.Invert())):
            yield "filter", value
        case ast.Call(func=ast.Attribute(value=value, attr="query" | "dropna")):
            yield "filter", value
    for field in {"elts", "args"} & {*node._fields} if isinstance(node, LISTS) else ():
        listed = [*getattr(node, field)]
        names = [n for n, one in enumerate(listed) if isinstance(one, ast.Constant | ast.Name)]
        if len(names) > 1 and ast.dump(listed[names[0]]) != ast.dump(listed[names[1]]):
            one, two = names[:2]
            listed[one], listed[two] = listed[two], listed[one]
            yield "columns", altered(node, **{field: listed})
    for keyword in node.keywords if isinstance(node, ast.Call) else ():
        if keyword.arg:
            left = [one for one in node.keywords if one is not keyword]
            yield "argument", altered(node, keywords=left)


def planted(fault: Fault) -> str:
    """The file's text with the fault."""
    known: dict[int, Any] = {}
    tree = deepcopy(fault.tree, known)
    node = known[id(fault.node)]
    node.__class__, node.__dict__ = type(fault.other), vars(fault.other)
    return ast.unparse(ast.fix_missing_locations(tree))


def faults_of(file: Path, root: Path) -> Iterator[Fault]:
    """Every fault that a file could have, within its functions."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    functions = [one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef)]
    statements = [statement for function in functions for statement in function.body]
    for node in dict.fromkeys(node for one in statements for node in ast.walk(one)):
        for kind, other in changes(node):
            line = getattr(node, "lineno", 0) or node.target.lineno
            yield Fault(kind, str(file.relative_to(root)), line, tree, node, other)


def drawn(root: Path, number: int, seed: int) -> list[Fault]:
    """So many faults, room after room, a kind in turn."""
    rng, package = random.Random(seed), root / "src" / "selfpref"
    rooms: dict[tuple[str, str], list[Fault]] = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).parts
        room = "/".join(parts[:-1][: 1 + (parts[0] == "studies")]) or "root"
        for fault in faults_of(file, root):
            rooms[room, fault.kind].append(fault)
    names = sorted({room for room, _ in rooms})
    rng.shuffle(names)
    turns = ((names[n % len(names)], KINDS[(n + n // len(names)) % len(KINDS)]) for n in count())
    found = (those.pop(rng.randrange(len(those))) for turn in turns if (those := rooms[turn]))
    return [*islice(found, number)]


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Pytest in the clone, on its own package."""
    where: dict[str, Any] = {"cwd": root, "env": os.environ | {"PYTHONPATH": str(root / "src")}}
    where |= {"timeout": 1800, "capture_output": True, "text": True}
    command = [sys.executable, "-m", "pytest", "-q", *arguments]
    return subprocess.run(command, **where, check=False)


def reaching(fault: Fault, root: Path) -> list[str]:
    """The files of tests that reach a fault's line, those that reach least of the file first."""
    data = coverage.CoverageData(root / ".coverage")
    data.read()
    lines = data.contexts_by_lineno(str(root / fault.file))
    files = Counter(test.split("::")[0] for tests in lines.values() for test in {*tests})
    line = next((n for n in range(fault.line, 0, -1) if n in lines), 0)
    those = {test.split("::")[0] for test in lines.get(line, ())} - {""}
    return sorted(those, key=lambda one: files[one])


def caught(fault: Fault, root: Path, *, say: bool) -> str:
    """The test that fails with a fault, or that none does."""
    path = root / fault.file
    whole = path.read_bytes()
    path.write_text(planted(fault))
    try:
        done = run(root, "-x", *(reaching(fault, root) or EVERY))
    except subprocess.TimeoutExpired:
        return "caught: does not end"
    finally:
        path.write_bytes(whole)
    print(done.stdout[-3000:] * say, end="")
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    told = failed[1] if failed else "does not import"
    return f"caught: {told}" if done.returncode else "missed"


def main() -> None:
    """Draw faults, run the tests and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the table")
    given = parser.parse_args()
    head = subprocess.getoutput(f"git -C '{ROOT}' rev-parse --short HEAD")
    root, results = ROOT / ".cache" / "faults" / head, []
    if not root.is_dir():
        subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)
    if not (root / ".coverage").exists():
        whole = ["--cov=src", "--cov-report=", "--cov-context=test", "--ignore=tests/pipeline"]
        done = run(root, *whole, *EVERY)
        if done.returncode:
            (root / ".coverage").unlink(missing_ok=True)
            sys.exit(f"tests fail without a fault:\n{done.stdout[-3000:]}")
    for number, fault in enumerate(drawn(root, given.count, given.seed)):
        if not given.only or number in given.only:
            former, other = (ast.unparse(one)[:60] for one in (fault.node, fault.other))
            results.append(caught(fault, root, say=bool(given.only)))
            print(f"{number:3d} {fault.kind:11s} {fault.file}:{fault.line}: {former} -> {other}")
            print(f"    {results[-1]}", flush=True)
    print(f"{sum(one.startswith('caught') for one in results)} of {len(results)} caught")


if __name__ == "__main__":
    main()
