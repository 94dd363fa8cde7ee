"""The whole study on a small release: the promised columns, laws, and what is not there."""

import io

import pandas as pd
import pytest
from conftest import REPOSITORY, entry, pin
from synthetic_livebench import FOLDER, PATHS, livebench_files

from selfpref import tables
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.livebench import excess, panel
from selfpref.studies.livebench.panel import TABLES
from selfpref.studies.livebench.read import release

PUBLISHED = pd.read_csv(REPOSITORY / "data/published/livebench.csv")
INTERVALS = ClusterBootstrap(100, seed=1)
FILES = livebench_files(5)
NAMES = ["o3-mini", "claude-3-7-sonnet", "gemini-2.0-flash"]


def compute(found):
    """The frames of notebooks/livebench_metrics.ipynb that are made of the tables alone."""
    study = panel.Panel(found, 0.0, INTERVALS)
    of_choices = (panel.counted, panel.models, panel.outcomes, panel.preference_shares)
    of_itself = (excess.excess, excess.by_orders, excess.objective, excess.true_scores)
    others = (panel.position, panel.tie_breaks, panel.agreement, panel.scores)
    made = {one.__name__: one(study) for one in (*of_choices, *of_itself, *others)}
    made["choices"] = study.choices
    made["majority_vote"], made["vote_outcomes"] = panel.majority_votes(study)
    printed = panel.checks(made["preference_shares"], made["majority_vote"], PUBLISHED)
    return made | {"checks": printed}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    root = tmp_path_factory.mktemp("mirror")
    patch = pytest.MonkeyPatch()
    patch.setenv("SELFPREF_ARCHIVES", str(root))
    source = pin(root, "owner/livebench", FILES, root / "source.csv")
    read = release("set", entry("livebench", "livebench"), source)
    patch.undo()
    return {name: tables.validate(read[name], name, name) for name in TABLES}


@pytest.fixture(scope="module")
def frames(found):
    return compute(found)


@pytest.mark.parametrize("category", PATHS)
def test_shares_and_the_released_vote_are_those_of_the_file(frames, category):
    file = pd.read_csv(io.StringIO(FILES[FOLDER + PATHS[category][0]]))

    def counted(column):
        counts = file[column].value_counts(normalize=True)
        return {name: sum(counts[m] for m in counts.index if name[:4] in m) for name in NAMES}

    of_file = frames["preference_shares"].query("category == @category and task == 'all'")
    shares = of_file.pivot(index="judge", columns="responder", values="share")
    for column in (name for name in file if name.endswith("_PREFERENCE")):
        judge = next(name for name in NAMES if name[:4] in column)
        assert shares.loc[judge].to_dict() == pytest.approx(counted(column))
    # The release prints no vote on mathematics.
    if category != "math":
        votes = frames["majority_vote"].query("category == @category and rule == 'released'")
        stored = votes.set_index("responder")["share"].to_dict()
        assert stored == pytest.approx(counted("majority_vote"))


def test_the_order_of_the_rows_changes_no_number(found, frames):
    mixed = {name: frame.sample(frac=1, random_state=3) for name, frame in found.items()}
    again = compute(mixed)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, again[name], obj=name)


def test_no_rows_at_all(found):
    frames = compute({name: tables.empty(name) for name in found})
    assert all(frame.empty for frame in frames.values())
