"""Arrows between rooms point down, stages declare what they run, workflows what a landing runs."""

import ast
import inspect
import re
from pathlib import Path

import nbformat
import pytest
from conftest import REPOSITORY
from ruamel.yaml import YAML

from selfpref.studies import registry

yaml = YAML(typ="safe")
SOURCE = REPOSITORY / "src"
PACKAGE = SOURCE / "selfpref"
STAGES = yaml.load(REPOSITORY / "dvc.yaml")["stages"]
STUDIES = (*registry.STUDIES, "beyond")
# The command line, the ceiling, the report and the card stand above the studies.
ABOVE = ("__main__", "commands", "report", "card")
SHARED = sorted(
    path.stem
    for path in PACKAGE.iterdir()
    if (path.suffix == ".py" or (path / "__init__.py").is_file())
    and path.stem not in {*ABOVE, "studies", "lab", "__init__"}
)


def imported(text):
    """What a program imports, at the top or within a function: `package.module.name`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def importers(room, *wanted):
    """The files of a room, a folder or module of src, that import one of these rooms of ours."""
    starts = tuple(f"selfpref.{start}." for start in wanted)
    return sorted(
        str(path.relative_to(PACKAGE))
        for path in (*PACKAGE.glob(f"{room}.py"), *PACKAGE.glob(f"{room}/**/*.py"))
        if any(f"{name}.".startswith(starts) for name in imported(path.read_text()))
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
    for study in registry.STUDIES:
        others = (f"studies.{other}" for other in STUDIES if other != study)
        assert importers(f"studies/{study}", *others) == []
    assert {path.split("/", 2)[2] for path in importers("studies", "lab")} == {"lab.py"}


# What dvc.yaml says a stage depends on covers its reader, its notebook and every definition. Of the
# rooms that a stage runs these; shared rooms below are listed as folders.
ROOMS = ("selfpref.studies", "selfpref.lab")
# Metrics run again when a statistic of theirs changes, too.
MEASURED = (*ROOMS, "selfpref.statistics")
# They import every study, or name who fills its tables: both are for the runner.
REGISTRY = PACKAGE / "studies/registry.py"
RUNNERS = {REGISTRY, *(PACKAGE / f"studies/{study}/__init__.py" for study in STUDIES)}


def named(text, rooms):
    """The files of some rooms that a program names in its imports."""
    return {
        file
        for name in imported(text)
        for dotted in (name.rpartition(".")[0], name)
        if dotted.startswith(rooms)
        for place in [SOURCE.joinpath(*dotted.split("."))]
        for file in (place.with_suffix(".py"), place / "__init__.py")
        if file.is_file()
    }


def uncovered(starts, rooms, found, without=RUNNERS):
    """What these files need of some rooms, and a stage's dependencies lack."""
    needed, left = set(), set(starts) - without
    while left:
        needed |= left
        left = {file for path in left for file in named(path.read_text(), rooms)}
        left -= needed | without
    # A package of packages holds a docstring.
    return sorted(
        str(path.relative_to(SOURCE))
        for path in needed
        if len(ast.parse(path.read_text()).body) > 1 and not found & {path, *path.parents}
    )


def deps(stage, study=""):
    """The dependencies of a stage of this study; the source of the testbed's entries is the lab."""
    listed = STAGES[stage].get("do", STAGES[stage])["deps"]
    for name, value in (("study", study), ("source", "src/selfpref/lab")):
        listed = [dep.replace(f"${{item.{name}}}", value) for dep in listed]
    return {REPOSITORY / dep for dep in listed}


def imports(notebook, rooms):
    cells = [cell for cell in nbformat.read(notebook, 4).cells if cell.cell_type == "code"]
    return {file for cell in cells for file in named(cell.source, rooms)}


def test_every_stage_lists_its_notebook_and_what_that_imports():
    checked = 0
    for stage, whole in STAGES.items():
        for name in re.findall(r"notebooks/\S+\.ipynb", whole.get("do", whole)["cmd"]):
            for study in registry.STUDIES if "item.study" in name else [""]:
                path, listed = REPOSITORY / name.replace("${item.study}", study), deps(stage, study)
                assert path in listed
                rooms, others = (MEASURED, {REGISTRY}) if "metrics" in stage else (ROOMS, RUNNERS)
                assert not uncovered(imports(path, rooms), rooms, listed, others), stage
                # No study reads what reads them all.
                assert "beyond" in stage or PACKAGE / "studies/beyond" not in listed, stage
                checked += 1
    assert checked > len(STAGES)


@pytest.mark.parametrize("study", sorted(registry.READERS))
def test_what_reads_or_asks_runs_again_when_its_reader_its_pins_or_its_questions_change(study):
    readers = {Path(inspect.getfile(read)) for read in registry.READERS[study].values()}
    rooms = ("selfpref.studies", "selfpref.formats", "selfpref.download")
    # The prompts of the testbed's refiners are laid out beside what draws its requests.
    own = {PACKAGE / f"studies/{study}/{name}.py" for name in ("__init__", "prompts")}
    assert not uncovered(readers, rooms, deps(f"{study}-items"), own)
    # The file that pins it is the entry's `source`.
    assert "${item.source}" in STAGES[f"{study}-items"]["do"]["deps"]
    # Of studies whose `stages` hold one task, or tasks that need the same.
    tasks = {"wataoka": ("respond", "judge", "perplexity"), "xu": ("refine",)}.get(study, ())
    for task in tasks:
        asks = {PACKAGE / f"studies/{study}/stages.py"}
        assert not uncovered(asks, ROOMS, deps(f"{study}-{task}")), task


def test_actions_are_pinned_and_ci_runs_what_a_landing_runs():
    text = "".join(path.read_text() for path in (REPOSITORY / ".github/workflows").glob("*.yml"))
    assert re.findall(r"uses: (?!actions/[a-z-]+@[0-9a-f]{40} # v)", text) == []
    landing = re.findall("^make .*$", (REPOSITORY / ".ci/run").read_text(), re.MULTILINE)
    assert landing == re.findall("run: (make .*)", text) != []
