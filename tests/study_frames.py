"""Frames of the studies: compared, and made by the cells of notebooks in this process."""

import shutil

import nbformat
import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED, entry, pin

from selfpref import tables
from selfpref.params import load
from selfpref.report.sections import of_source

RECORDED = load(STAGED / "profiles/recorded.yaml")
# The same with few resamples.
FEW = {"bootstrap": RECORDED.bootstrap.model_copy(update={"resamples": 200})}
QUICK = RECORDED.model_copy(update=FEW)


def repository(folder):
    """A folder that notebooks take for the repository."""
    (folder / "dvc.yaml").touch()
    shutil.copytree(REPOSITORY / "data/published", folder / "data/published")
    for name in ("claims.yaml", "names.csv"):
        shutil.copy(REPOSITORY / "data" / name, folder / "data")
    return folder


def released(folder, reader, files, *asked):
    """The tables of a release's files, each checked against its schema."""
    source = pin(folder / "mirror", "owner/name", files, folder / "source.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SELFPREF_ARCHIVES", str(folder / "mirror"))
        found = reader("set", entry(*asked), source)
    return {name: tables.validate(frame, name, "set") for name, frame in found.items()}


def run(notebook, params, **patched):
    """The names that a notebook's cells make in the current folder.

    Args:
        notebook: Its name.
        params: What it takes for its parameters.
        patched: By path, with `__` for a dot, what stands there instead.
    """
    made = nbformat.read(REPOSITORY / f"notebooks/{notebook}.ipynb", as_version=4)
    names: dict[str, object] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("selfpref.params.gather", lambda *_: params)
        for path, value in patched.items():
            patch.setattr(f"selfpref.{path.replace('__', '.')}", value)
        for cell in of_source(made, params.profile).cells:
            if cell.cell_type == "code":
                exec(cell.source, names)
    return names


def on_hub(folder, rows, split):
    """A file that pins a set of the Hub, which a folder holds."""
    (folder / "data").mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_parquet(folder / f"data/{split}-00000-of-00001.parquet")
    source = folder / "pinned.csv"
    source.write_text(f"repository,revision,split\n{folder},0123abcd,{split}\n")
    return source


def metrics_of(study, folder, params, **given):
    """The frames of a study's metrics, in a folder that is taken for the repository."""
    nobody = pd.DataFrame(columns=["judge", "table", "task", "status", "n"])
    given["tables__parts__asked"] = lambda *_: nobody
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository(folder))
        return run(f"{study}_metrics", params, **given)["frames"]


def equal(found, columns, *wanted, **chosen):
    """Some columns of some rows of a frame are those that are wanted."""
    for name, value in chosen.items():
        found = found[found[name].eq(value)]
    names = columns.split()
    found = found[names].reset_index(drop=True).astype(object)
    wanted = pd.DataFrame(wanted, columns=names).astype(object)
    pd.testing.assert_frame_equal(found, wanted, check_names=False)
