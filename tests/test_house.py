"""Which room may import which: arrows point down, from the studies to the shared rooms."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY

SOURCE = REPOSITORY / "src/selfpref"
STUDIES = {path.parent.name for path in (SOURCE / "studies").glob("*/__init__.py")} - {"beyond"}
# The command line, the ceiling, the report and the card stand above the studies.
ABOVE = ("__main__", "commands", "report", "card")
SHARED = sorted(
    path.stem
    for path in SOURCE.iterdir()
    if (path.suffix == ".py" or (path / "__init__.py").is_file())
    and path.stem not in {*ABOVE, "studies", "lab", "__init__"}
)


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports, at the top or within a function, with what it takes."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(room: str, *wanted: str) -> list[str]:
    """The files of a room, a folder or module of src, that import one of these rooms of ours."""
    starts = tuple(f"selfpref.{start}." for start in wanted)
    return sorted(
        str(path.relative_to(SOURCE))
        for path in (SOURCE / f"{room}.py", *(SOURCE / room).rglob("*.py"))
        if path.is_file()
        if any(f"{name}.".startswith(starts) for name in imported(path))
    )


@pytest.mark.parametrize(
    ("rooms", "forbidden"),
    [
        # A user's judgments are measured by statistics and by no study.
        ([*SHARED, "card"], ["studies"]),
        # Only prompts and the studies' own stages know the testbed.
        (sorted({*SHARED, *ABOVE} - {"prompts"}), ["lab"]),
        (["plots"], ["statistics", "models", "ask"]),
        (["statistics"], ["models", "plots", "ask", "prompts"]),
        (["models", "prompts", "tables", "store", "params"], ["ask", "plots", "statistics"]),
        ([*SHARED, "studies"], [*ABOVE]),
    ],
    ids=lambda rooms: "-".join(rooms)[:60],
)
def test_no_arrow_points_up(rooms, forbidden):
    assert {room: found for room in rooms if (found := importers(room, *forbidden))} == {}


def test_no_study_imports_another_and_what_makes_the_testbeds_tables_knows_the_testbed():
    for study in STUDIES:
        others = STUDIES | {"beyond"}
        others -= {study}
        assert importers(f"studies/{study}", *(f"studies.{other}" for other in others)) == []
    found = {path.split("/", 2)[2] for path in importers("studies", "lab")}
    assert found == {"lab.py"}


def test_nothing_imports_a_notebook_or_a_test():
    names = {name.partition(".")[0] for path in SOURCE.rglob("*.py") for name in imported(path)}
    assert not names & {"notebooks", "tests", "conftest"}
