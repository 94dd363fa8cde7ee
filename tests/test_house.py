"""Which room may import which: arrows point down, from the studies to the shared rooms."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY

SOURCE = REPOSITORY / "src/selfpref"
# The command line, the ceiling, the report and the card stand above the studies.
ABOVE = {"__main__", "commands", "report", "card"}
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
    """The files of a room, a folder or module of src, that import what begins with a name."""
    files = [SOURCE / f"{room}.py", *(SOURCE / room).rglob("*.py")]
    return sorted(
        str(path.relative_to(SOURCE))
        for path in files
        if path.is_file()
        for name in set(imported(path))
        if f"{name}.".startswith(tuple(f"{start}." for start in wanted))
    )


@pytest.mark.parametrize("room", SHARED)
def test_no_shared_room_imports_a_study(room):
    assert importers(room, "selfpref.studies") == []


@pytest.mark.parametrize("room", sorted({*SHARED, *ABOVE} - {"prompts"}))
def test_only_prompts_and_the_studies_own_stages_know_the_testbed(room):
    assert importers(room, "selfpref.lab") == []


def test_what_measures_a_users_judgments_stands_on_statistics_and_on_no_study():
    assert importers("card", "selfpref.studies") == []


def test_of_a_study_only_what_makes_the_testbeds_tables_knows_the_testbed():
    found = {path.split("/", 2)[2] for path in importers("studies", "selfpref.lab")}
    assert found == {"stages.py", "lab.py"}


def test_plots_compute_no_statistic_and_statistics_ask_no_model():
    assert importers("plots", "selfpref.statistics", "selfpref.models", "selfpref.ask") == []
    above = ("selfpref.models", "selfpref.plots", "selfpref.ask", "selfpref.prompts")
    assert importers("statistics", *above) == []


@pytest.mark.parametrize("study", ["wataoka", "livebench", "panickssery", "xu"])
def test_no_study_imports_another(study):
    others = {"wataoka", "livebench", "panickssery", "xu", "beyond"} - {study}
    assert importers(f"studies/{study}", *(f"selfpref.studies.{other}" for other in others)) == []


@pytest.mark.parametrize("room", ["models", "prompts", "tables", "store", "params"])
def test_the_lowest_rooms_know_none_above(room):
    rooms = ("ask", "plots", "statistics", *ABOVE)
    assert importers(room, *(f"selfpref.{name}" for name in rooms)) == []


@pytest.mark.parametrize("room", ["ask", "plots", "statistics", "formats", "studies"])
def test_nothing_below_the_command_line_imports_it(room):
    assert importers(room, *(f"selfpref.{name}" for name in ABOVE)) == []


def test_nothing_imports_a_notebook_or_a_test():
    assert importers(".", "notebooks", "tests", "conftest") == []
