"""LiveBench's release: orders, totals, tie-breaks in both readings, stems, the whole study."""

import io
import json

import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED, entry, pin
from synthetic_livebench import CONFIGURED, FOLDER, PATHS, PLAIN, livebench_files, log_cell

from selfpref import tables
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.livebench import excess, panel
from selfpref.studies.livebench.read import release, stem

O3, CLAUDE = CONFIGURED
LANGUAGE = FOLDER + PATHS["language"][0]
NAMES = ["o3-mini", "claude-3-7-sonnet", "gemini-2.0-flash"]


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a release's files; every table is checked against its schema."""

    def go(files, judges=None):
        monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path))
        source = pin(tmp_path, "owner/livebench", files, tmp_path / "source.csv")
        found = release("set", entry("livebench", "livebench", judges), source)
        return {name: tables.validate(frame, name, "set") for name, frame in found.items()}

    return go


def changed(files, path, change):
    """The release with one table changed."""
    frame = pd.read_csv(io.StringIO(files[path]), dtype=str, keep_default_na=False)
    change(frame)
    return files | {path: frame.to_csv(index=False)}


def test_the_thinking_variant_keeps_the_name_and_its_id_is_told_and_judges_can_be_left_out(read):
    found = read(livebench_files(2), ["o3-mini"])
    models = {
        row.category: json.loads(row.metadata)["models"]["gemini-2.0-flash"]
        for row in found["items"].itertuples()
    }
    assert models["language"] == "gemini/gemini-2.0-flash"
    assert models["math"] == "gemini/gemini-2.0-flash-thinking-exp"
    assert set(found["responses"]["responder"]) == set(NAMES)
    assert {*found["verdicts"]["judge"], *found["ratings"]["judge"]} == {"o3-mini"}


def test_totals_are_read_again_where_the_release_cut_a_sum(read):
    def change(frame):
        total, reasons = f"{O3}_SCORING_{CLAUDE}", f"{O3}_SR_{CLAUDE}"
        frame.loc[0, [total, reasons]] = ["1.0", "+ 1 + 0 + 0 + 0 + 1 + 0 + 1 + 1 + 1 + 1 = **7**"]
        frame.loc[1, [total, reasons]] = ["8.0", "/11\n\nJustification: fine"]
        frame.loc[2, [total, reasons]] = ["99.0", ""]
        frame.loc[3, [total, reasons]] = ["", ""]

    found = read(changed(livebench_files(2), LANGUAGE, change))
    rows = found["ratings"].query("judge == 'o3-mini' and responder == 'claude-3-7-sonnet'")
    rows = rows[rows["item_id"].str.startswith("set/language")].set_index("item_id")
    rows = rows.loc[[f"set/language/{t}/{t}-{n}" for t in ("typos", "connections") for n in (0, 1)]]
    assert rows["stored"].tolist()[:3] == [1, 8, 99]
    assert rows["score"].tolist()[:2] == [7, 8]
    assert rows["status"].tolist() == ["ok", "ok", "unparsable", "failed"]
    assert rows["score"].isna().tolist() == [False, False, True, True]
    assert rows["marks"].iloc[0] == [1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1]
    audit = found["audit"].set_index(["file", "finding"])["affected"]
    assert audit[LANGUAGE, "stored total is not the one stated"] == 2
    assert audit[LANGUAGE, "total is blank"] == 1


def with_votes(files, votes, credited):
    """Language alone has a tie, in its first row: these votes and this decision."""
    models = [O3, CLAUDE, PLAIN]

    def agree(frame):
        gemini = next(name for name in frame if name.startswith("gemini/"))
        for judge in (O3, CLAUDE, gemini):
            frame[f"{judge}_PREFERENCE"] = O3

    for path, _ in PATHS.values():
        files = changed(files, FOLDER + path, agree)

    def differ(frame):
        frame.loc[0, [f"{judge}_PREFERENCE" for judge in models]] = votes

    shown = ", ".join(f"'{vote}': 1" for vote in votes)
    lines = ["category: language", f"Result was Counter({{{shown}}})", "Tie breaker Judge called."]
    lines += [f"tiebreaker decision: {credited}"] if credited else ["Error during API call"]
    return changed(files, LANGUAGE, differ) | {"results.ipynb": log_cell(lines)}


def test_the_tie_breakers_number_is_read_in_the_order_shown(read):
    # It answered 1: claude as shown, o3 as looked up in the configured order.
    found = read(with_votes(livebench_files(1), [CLAUDE, PLAIN, O3], O3))
    calls = found["verdicts"].query("judge == 'o1-preview'").set_index("variant")
    assert calls.loc["tie-break", "candidates"] == [
        *("claude-3-7-sonnet", "gemini-2.0-flash", "o3-mini")
    ]
    assert calls.loc["tie-break", "choice"] == "claude-3-7-sonnet"
    assert calls.loc["tie-break-released", "choice"] == "o3-mini"


def test_a_call_without_a_decision_and_a_blank_choice_have_failed(read):
    files = with_votes(livebench_files(1), [CLAUDE, PLAIN, O3], None)
    calls = read(files)["verdicts"].query("judge == 'o1-preview'")
    assert calls["status"].tolist() == ["failed", "failed"]

    def blank(frame):
        frame.loc[0, f"{O3}_PREFERENCE"] = ""

    files = changed(files, LANGUAGE, blank) | {"results.ipynb": log_cell(["category: language"])}
    lost = read(files)["verdicts"].query("status == 'failed'")
    assert lost[["judge", "choice"]].isna().values.tolist() == [[False, True]]


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("Take ${1}$. Please put your final answer in a $\\boxed{}$.", "Take ${1}$."),
        ("Take  ${1}$. Please give an exact answer (for example, $2$).", "Take ${1}$."),
        ("Add. $\\textbf{(A) }1\\qquad\\textbf{(B) }2$ If you cannot, guess.", "Add."),
        ("### Instructions: be brief\n### Question:\nSort it.\n### Format: x", "Sort it."),
        ("Another thing.", "Another thing."),
    ],
)
def test_questions_that_differ_in_form_share_a_cluster(asked, wanted):
    assert stem(asked) == wanted


def test_released_numbers_in_git():
    """What the recorded profile last wrote holds the numbers that the release prints."""
    checks = pd.read_csv(STAGED / "figures/recorded/livebench/checks.csv")
    assert len(checks) == 234
    assert checks["difference"].abs().max() <= 0.05
    whole = checks.query("category == 'instruction_following' and task == 'all'")
    table = whole.pivot(index="judge", columns="responder", values="recomputed")
    # The vote, then Claude, Gemini and o3-mini of the same.
    vote, *shares = table.round(1).values.tolist()
    assert vote == [56.5, 16.0, 27.5]
    assert shares == [[67.0, 19.0, 14.0], [59.0, 32.5, 8.5], [27.5, 8.0, 64.5]]


PUBLISHED = pd.read_csv(REPOSITORY / "data/published/livebench.csv")
INTERVALS = ClusterBootstrap(100, seed=1)
FILES = livebench_files(5)


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
    return {name: tables.validate(read[name], name, name) for name in panel.TABLES}


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
