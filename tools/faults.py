"""Whether the tests bite: faults drawn over the lines of src, and whether a test fails for each.

    python tools/faults.py                          # sixty faults, the tests as they stand
    python tools/faults.py --tests 59b87bd          # the same faults, the tests of a commit
    python tools/faults.py --only 3 17 --say        # two of them again, with what pytest says

Works in a clone of HEAD below .cache/faults, never in this checkout. First every test runs once
(without those that start a pipeline, a cluster or a server): which functions of src it calls, and
how long it takes. Then each fault is planted alone, and only tests that call its function run, the
quickest first, until one fails. A function that no test calls counts as missed. Faults are drawn
from a seed over the files' syntax, room after room, each a kind in turn:

    comparison   < becomes <=, == becomes !=, in becomes not in, and becomes or, ...
    sign         + becomes -, * becomes /, a minus goes
    off by one   a whole number becomes one more
    filter       a condition of a comprehension, `[mask]`, `.query(...)` or `.dropna(...)` goes
    columns      two names beside each other change places
    argument     a keyword argument is left out
"""

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".cache" / "faults"
# Tests that do their work in other processes, where nothing of this sees them.
APART = ("pipeline", "soak", "servers", "models/test_ray.py", "test_lock.py")
SECONDS = 180
# By operator how it is written, and what takes its place.
TURNED: dict[type, tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
}
KINDS = ("comparison", "sign", "off by one", "filter", "columns", "argument")


class Fault(NamedTuple):
    """A place in a file, and what is to stand there."""

    kind: str
    file: str
    function: int
    line: int
    start: int
    end: int
    text: str


class Source:
    """A program with the offset of each of its places."""

    def __init__(self, text: str) -> None:
        self.raw = text.encode()
        self.starts = [0]
        for line in self.raw.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node: Any) -> tuple[int, int]:
        """Where a node begins and ends."""
        begin = self.starts[node.lineno - 1] + node.col_offset
        return begin, self.starts[node.end_lineno - 1] + node.end_col_offset

    def text(self, start: int, end: int) -> str:
        """What stands between two places."""
        return self.raw[start:end].decode()

    def changes(self, node: Any) -> Iterator[tuple[str, int, int, str]]:
        """The faults of one node: kind, where, and what is to stand there."""
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                yield "comparison", *self._turned(left, op, right)
            case ast.BoolOp(op=op, values=[left, right, *_]):
                yield "comparison", *self._turned(left, op, right)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in TURNED:
                yield "sign", *self._turned(left, op, right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                yield "sign", *self.span(node), self.text(*self.span(operand))
            case ast.Constant(value=int(value)) if not isinstance(value, bool):
                yield "off by one", *self.span(node), str(value + 1)
            case ast.comprehension(ifs=[condition, *_]):
                yield "filter", *self.span(condition), "True"
            case ast.Subscript(value=value, slice=ast.Compare() | ast.UnaryOp(op=ast.Invert())):
                yield "filter", *self.span(node), self.text(*self.span(value))
            case ast.Call(func=ast.Attribute(value=value, attr="query" | "dropna")):
                yield "filter", *self.span(node), self.text(*self.span(value))
            case ast.List(elts=[*found]) | ast.Tuple(elts=[*found]) | ast.Call(args=[*found]):
                yield from self._exchanged(found)
        for keyword in getattr(node, "keywords", []):
            start, end = self.span(keyword)
            rest = self.raw[end:].lstrip()
            if isinstance(node, ast.Call) and keyword.arg:
                after = len(self.raw) - len(rest) + 1 if rest.startswith(b",") else end
                yield "argument", start, after, ""

    def _turned(self, left: Any, op: ast.AST, right: Any) -> tuple[int, int, str]:
        """What stands between two operands, with another operator."""
        start, end = self.span(left)[1], self.span(right)[0]
        return start, end, self.text(start, end).replace(*TURNED[type(op)], 1)

    def _exchanged(self, found: list[Any]) -> Iterator[tuple[str, int, int, str]]:
        """The first two names or constants of a list, each in the other's place."""
        names = [one for one in found if isinstance(one, ast.Constant | ast.Name)][:2]
        if len(names) == 2:
            (start, middle), (again, end) = map(self.span, names)
            first, second = self.text(start, middle), self.text(again, end)
            if first != second:
                yield "columns", start, end, second + self.text(middle, again) + first


def faults_of(file: Path, root: Path) -> Iterator[Fault]:
    """Every fault that a file could have, within its functions."""
    source = Source(file.read_text(encoding="utf-8"))
    for function in ast.walk(ast.parse(source.raw)):
        if not isinstance(function, ast.FunctionDef):
            continue
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        inner = {
            id(part)
            for one in ast.walk(function)
            if isinstance(one, ast.FunctionDef) and one is not function
            for part in ast.walk(one)
        }
        for statement in function.body:
            for node in ast.walk(statement):
                if id(node) in inner:
                    continue
                for kind, start, end, text in source.changes(node):
                    line = source.raw[:start].count(b"\n") + 1
                    yield Fault(kind, str(file.relative_to(root)), first, line, start, end, text)


def drawn(root: Path, count: int, seed: int) -> list[Fault]:
    """So many faults, room after room, a kind in turn."""
    rng = random.Random(seed)
    package = root / "src" / "selfpref"
    rooms: dict[tuple[str, str], list[Fault]] = defaultdict(list)
    for file in sorted(package.rglob("*.py")):
        for fault in faults_of(file, root):
            parts = file.relative_to(package).parts
            room = parts[0] if parts[0] != "studies" else "/".join(parts[:2])
            rooms[room if len(parts) > 1 else "root", fault.kind].append(fault)
    names = sorted({room for room, _ in rooms})
    rng.shuffle(names)
    found: list[Fault] = []
    turn = 0
    while len(found) < count:
        those = rooms[names[turn % len(names)], KINDS[(turn + turn // len(names)) % len(KINDS)]]
        if those:
            found.append(those.pop(rng.randrange(len(those))))
        turn += 1
    return found


_found: dict[str, dict[str, Any]] = {}


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """As a plugin of pytest: which functions of src each test calls."""
    top, called = f"{Path.cwd() / 'src'}/", set()

    def see(frame: Any, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(top):
            called.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))

    start = perf_counter()
    sys.setprofile(see)
    yield
    sys.setprofile(None)
    names = [f"src/{name.removeprefix(top)}:{line}" for name, line in called]
    _found[item.nodeid] = {"seconds": perf_counter() - start, "calls": sorted(names)}


def pytest_sessionfinish() -> None:
    """What one process saw."""
    if _found:
        Path(f"{Path.cwd()}.{os.getpid()}.json").write_text(json.dumps(_found))


def environment(root: Path) -> dict[str, str]:
    """That of pytest in a clone."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{ROOT / 'tools'}", "PATH": path}


def reach(root: Path) -> dict[str, dict[str, Any]]:
    """What every test of a clone calls; run once."""
    done = root.with_name(f"{root.name}.json")
    if not done.is_file():
        command = [sys.executable, "-m", "pytest", "-q", "-p", "faults", "-n", "2"]
        apart = [f"--ignore=tests/{one}" for one in APART]
        subprocess.run([*command, *apart], cwd=root, env=environment(root), check=False)
        found: dict[str, dict[str, Any]] = {}
        for file in root.parent.glob(f"{root.name}.*.json"):
            found |= json.loads(file.read_text())
        done.write_text(json.dumps(found))
    kept: dict[str, dict[str, Any]] = json.loads(done.read_text())
    return kept


def caught(fault: Fault, root: Path, tests: dict[str, dict[str, Any]], *, say: bool) -> str:
    """The test that fails with a fault, or why none does."""
    key = f"{fault.file}:{fault.function}"
    reaching = sorted((one["seconds"], name) for name, one in tests.items() if key in one["calls"])
    chosen: list[str] = []
    spent = 0.0
    for seconds, name in reaching:
        spent += seconds
        if chosen and spent > SECONDS / 2:
            break
        chosen.append(name)
    if not chosen:
        return "missed: no test calls it"
    path = root / fault.file
    whole = path.read_bytes()
    path.write_bytes(whole[: fault.start] + fault.text.encode() + whole[fault.end :])
    try:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *chosen]
        done = subprocess.run(
            command,
            cwd=root,
            env=environment(root),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "caught: does not end"
    finally:
        path.write_bytes(whole)
    if say:
        print(done.stdout[-3000:])
    told = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if done.returncode:
        return f"caught: {told[0].split(' - ')[0].split(' ', 1)[1] if told else 'does not import'}"
    return f"missed: {len(chosen)} of {len(reaching)} tests ran"


def main() -> None:
    """Draw faults, run the tests and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--tests", default="HEAD", help="the commit whose tests run")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of the table")
    parser.add_argument("--say", action="store_true", help="print what pytest says")
    given = parser.parse_args()
    commits = [
        subprocess.check_output(["git", "rev-parse", "--short", name], text=True, cwd=ROOT).strip()
        for name in ("HEAD", given.tests)
    ]
    root = PLACE / "-".join(commits)
    if not root.is_dir():
        subprocess.run(["git", "clone", "-q", str(ROOT), str(root)], check=True)
        shutil.rmtree(root / "tests")
        command = ["git", "checkout", "-q", commits[1], "--", "tests"]
        subprocess.run(command, cwd=root, check=True)
    tests = reach(root)
    results = []
    for number, fault in enumerate(drawn(root, given.count, given.seed)):
        if given.only and number not in given.only:
            continue
        former = (root / fault.file).read_bytes()[fault.start : fault.end].decode()
        result = caught(fault, root, tests, say=given.say)
        results.append(result)
        place = f"{fault.file.removeprefix('src/selfpref/')}:{fault.line}"
        change = " ".join(f"{former} -> {fault.text or 'nothing'}".split())
        print(f"{number:3d} {fault.kind:11s} {place}: {change[:90]}\n    {result}", flush=True)
    good = sum(result.startswith("caught") for result in results)
    print(f"{good} of {len(results)} caught")


if __name__ == "__main__":
    main()
