"""LiveBench's release: orders, totals, tie-breaks in both readings, stems, the whole study."""

import io
import json

import pandas as pd
import pytest
from conftest import STAGED
from study_frames import QUICK, equal, metrics_of, released
from synthetic_livebench import CONFIGURED, FOLDER, PATHS, PLAIN, livebench_files, log_cell

from selfpref import tables
from selfpref.studies.livebench.read import NAMES as SHORT
from selfpref.studies.livebench.read import release, stem

O3, CLAUDE = CONFIGURED
LANGUAGE = FOLDER + PATHS["language"][0]
NAMES = ["o3-mini", "claude-3-7-sonnet", "gemini-2.0-flash"]


def read(root, files, judges=None):
    return released(root, release, files, "livebench", "livebench", judges)


def sheet(files, path):
    return pd.read_csv(io.StringIO(files[path]), dtype=str, keep_default_na=False)


def test_the_thinking_variant_keeps_its_name_and_judges_can_be_left_out(tmp_path):
    found = read(tmp_path, livebench_files(2), ["o3-mini"])
    items = found["items"].set_index("category")["metadata"].map(json.loads)
    ids = {category: row["models"]["gemini-2.0-flash"] for category, row in items.items()}
    assert (ids["language"], ids["math"]) == (PLAIN, PATHS["math"][1])
    assert set(found["responses"]["responder"]) == set(NAMES)
    assert {*found["verdicts"]["judge"], *found["ratings"]["judge"]} == {"o3-mini"}


def test_totals_are_read_again_where_the_release_cut_a_sum(tmp_path):
    files = livebench_files(2)
    rows = sheet(files, LANGUAGE)
    # In the tables connections come before typos.
    rows.loc[[2, 3, 0, 1], [f"{O3}_SCORING_{CLAUDE}", f"{O3}_SR_{CLAUDE}"]] = [
        ["1.0", "+ 1 + 0 + 0 + 0 + 1 + 0 + 1 + 1 + 1 + 1 = **7**"],
        ["8.0", "/11\n\nJustification: fine"],
        ["99.0", ""],
        ["", ""],
    ]
    found = read(tmp_path, files | {LANGUAGE: rows.to_csv(index=False)})
    rows = found["ratings"].query("judge == 'o3-mini' and responder == 'claude-3-7-sonnet'")
    rows = rows[rows["item_id"].str.startswith("set/language/")]
    wanted = (1, 7, "ok"), (8, 8, "ok"), (99, None, "unparsable"), (None, None, "failed")
    equal(rows, "stored score status", *wanted)
    assert rows["marks"].iloc[0] == [1, 1, 0, 0, 0, 1, 0, 1, 1, 1, 1]
    audit = found["audit"].set_index(["file", "finding"])["affected"]
    assert audit[LANGUAGE, "stored total is not the one stated"] == 2
    assert audit[LANGUAGE, "total is blank"] == 1


def with_votes(votes, *log):
    """A release in which all agree but for the first row of language: its votes, and the log."""
    files = livebench_files(1)
    for name, gemini in PATHS.values():
        path, judges = FOLDER + name, [f"{judge}_PREFERENCE" for judge in (O3, CLAUDE, gemini)]
        rows = sheet(files, path)
        rows[judges] = O3
        if path == LANGUAGE:
            rows.loc[0, judges] = votes
        files[path] = rows.to_csv(index=False)
    return files | {"results.ipynb": log_cell(["category: language", *log])}


SPLIT = [CLAUDE, PLAIN, O3]
CALL = f"Result was Counter({{{', '.join(f'{vote!r}: 1' for vote in SPLIT)}}})"


def test_the_tie_breakers_number_is_read_in_the_order_shown(tmp_path):
    # It answered 1: claude as shown, o3 as looked up in the configured order.
    found = read(tmp_path, with_votes(SPLIT, CALL, f"tiebreaker decision: {O3}"))
    calls = found["verdicts"].query("judge == 'o1-preview'").set_index("variant")
    shown = ["claude-3-7-sonnet", "gemini-2.0-flash", "o3-mini"]
    assert calls["candidates"].tolist() == [shown, shown]
    assert calls["choice"].to_dict() == {"tie-break": shown[0], "tie-break-released": shown[2]}


def test_a_call_without_a_decision_and_a_blank_choice_have_failed(tmp_path):
    found = read(tmp_path, with_votes(SPLIT, CALL, "Error during API call"))["verdicts"]
    assert found.query("judge == 'o1-preview'")["status"].tolist() == ["failed", "failed"]
    found = read(tmp_path, with_votes(["", PLAIN, O3]))["verdicts"].query("status == 'failed'")
    assert found.set_index("judge")["choice"].isna().to_dict() == {"o3-mini": True}


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
    assert (checks["recomputed"] - checks["published"]).abs().max() <= 0.05
    vote = checks.query("category == 'instruction_following' and item == 'vote'")
    assert vote["recomputed"].round(1).tolist() == [27.5, 56.5, 16.0]


FILES = livebench_files(5)


def frames_of(folder, found):
    """The frames of the metrics of tables, in a folder that becomes the current one."""
    whole = lambda *_: found  # noqa: E731
    return metrics_of("livebench", folder, QUICK, tables__parts__StudyTables__whole=whole)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return read(tmp_path_factory.mktemp("mirror"), FILES)


@pytest.fixture(scope="module")
def frames(found, tmp_path_factory):
    return frames_of(tmp_path_factory.mktemp("frames"), found)


@pytest.mark.parametrize("category", PATHS)
def test_shares_and_the_released_vote_are_those_of_the_file(frames, category):
    file = sheet(FILES, FOLDER + PATHS[category][0]).replace(SHORT)
    shares = frames["preference_shares"].query("task == 'all'")
    votes = frames["majority_vote"].query("rule == 'released'").assign(judge="majority_vote")
    found = pd.concat([shares, votes]).query("category == @category").set_index("judge")
    # The release prints no vote on mathematics.
    for column in file.filter(regex="_PREFERENCE|majority_vote"):
        counts = file[column].value_counts(normalize=True).reindex(NAMES, fill_value=0)
        judge = SHORT.get(column.removesuffix("_PREFERENCE"), column)
        stored = found.loc[judge].set_index("responder")["share"]
        assert stored.to_dict() == pytest.approx(counts.to_dict())


def test_the_order_of_the_rows_changes_no_number(found, frames, tmp_path):
    mixed = {name: frame.sample(frac=1, random_state=3) for name, frame in found.items()}
    again = frames_of(tmp_path, mixed | {"audit": found["audit"]})
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, again[name], obj=name)


def test_no_rows_at_all(found, tmp_path):
    frames = frames_of(tmp_path, {name: tables.empty(name) for name in found})
    assert all(frame.empty for frame in frames.values())
