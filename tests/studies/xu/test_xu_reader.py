"""The reader of Xu et al. on a small release of the same layout, and on faults written into it."""

import json
from collections import Counter

import pytest
from conftest import REPOSITORY, XU_END, xu_feedback, xu_files
from study_frames import equal, released

from selfpref.download.fetch import pinned
from selfpref.errors import SelfprefError
from selfpref.studies.xu import read as xu

TOP = "model_outputs/gpt-4/self_refine/yor-en"
NAMED = "yor-en_refinement_8_gpt-4_new_2_rerun"
# The files of the last step of a chain.
LAST = {
    "text": f"{TOP}/gpt-4-outputs/{NAMED}.txt",
    "feedback": f"{TOP}/gpt-4-scores/yor-en_eval_8_one-shot_gpt-4_new_2_rerun.txt",
    "bleurt": f"{TOP}/bleurt-raw/{NAMED}_bleurt.txt",
    "mapped": f"{TOP}/bleurt-nor/gpt-4_2_bleurt_nor.txt",
}


@pytest.fixture
def read(tmp_path):
    """Read a release from its files."""
    return lambda files, *judges: released(tmp_path, xu.read, files, "xu", "xu", *judges)


def test_every_pinned_file_has_a_place():
    files = pinned(REPOSITORY / "src/selfpref/studies/xu/read/xu.csv")
    counts = {"feedback": 335, "text": 306, "bleurt": 234, "bleurt-mqm": 226, "human-mqm": 6}
    counts |= {"asked": 5, "concepts": 1}
    assert Counter(xu.place(file.path).kind for file in files) == counts


def test_a_sound_release_is_read_whole(read):
    files = xu_files()
    found = read(files)
    audit = found["audit"].set_index("file")
    assert set(audit.index) == set(files)
    assert set(audit["finding"]) == {"read"}
    # The list of concepts goes on after the items that were used.
    assert audit.loc["srcs/commongen_hard.jsonl", ["rows", "affected"]].tolist() == [10, 8]

    items = found["items"].set_index("item_id")
    assert items.loc["yor-en/3", "messages"] == [{"role": "user", "content": "source sentence 2"}]
    assert items.loc["yor-en/3", "reference"] == "the red fox 2 goes to its den"
    # The same line of FLORES is one cluster in any language and condition.
    same = items["cluster"][items.index.str.endswith("-en/3")]
    assert (set(same), len(same)) == ({"flores/3"}, 5)
    words = items.loc["commongen/1"]
    assert words[["category", "cluster"]].tolist() == ["commongen", "commongen/1"]
    assert json.loads(words["metadata"]) == {"concepts": ["fox", "den", "run"]}

    texts = found["responses"].set_index(["item_id", "responder", "step", "sample"])["text"]
    candidates = texts["best-of-2/yor-en/1", "gpt-4"].tolist()
    assert [text[-1] for text in candidates] == ["0", "1", "1"]
    style = "paraphrase/nllb-moe-54b/yor-en/1"
    assert texts[style].tolist() == ["a red fox 0_gpt-4_paraphrase", "a red fox 0"]
    assert texts["yor-en/1", "human", 0, 0] == "the red fox 0 goes to its den"

    key = ["item_id", "responder", "judge", "step", "sample", "repeat"]
    scores = found["ratings"].set_index(key)["score"].sort_index()
    assert scores["best-of-2/yor-en/1", "gpt-4", "gpt-4"].tolist() == [-6, -1, -1]
    # A judge's second file on the same texts is a repeat.
    assert [*scores["yor-en/1", "human", "gemini", 0, 0].index] == [0, 1]
    said = {("nllb-moe-54b", "gpt-4", 0, 0, 0): -7, ("gpt-4", "gpt-4", 1, 0, 0): -3}
    assert scores[style].to_dict() == said

    key = ["item_id", "responder", "step", "metric"]
    scores = found["truths"].set_index(key)["score"].sort_index()
    assert scores["yor-en/4", "gpt-4", 2, "human-mqm"] == -6
    assert ("yor-en/5", "gpt-4", 2, "human-mqm") not in scores.index
    given = scores["commongen/1", "gpt-4"].xs("coverage-lemma", level="metric")
    assert given.tolist() == [0, 1, 1]
    # The second run has raw scores only; the map is recovered from the other files.
    assert scores["second-run/yor-en/1", "gemini", 0, "bleurt"] == 0.3
    assert -25 <= scores["second-run/yor-en/1", "gemini", 0, "bleurt-mqm"] <= 0


def test_scores_stand_beside_those_of_the_released_rule(read):
    records = {"[BLOCKED]": (0, None, "refused"), "'a' is a Major style error": (0, -5, "ok")}
    said = [*records, *[xu_feedback(2)] * 6]
    files = xu_files() | {LAST["feedback"]: "".join(record + XU_END for record in said)}
    # Feedback on concepts that repeats the instruction.
    echoed = next(name for name in files if "/commongen/gpt-4-scores/" in name)
    files[echoed] = "Concepts: a. If so, output 'all covered'. " + files[echoed]
    found = read(files)
    rows = found["ratings"].query("responder == 'gpt-4' and step == 2 and judge == 'gpt-4'")
    rows = rows[rows["item_id"].isin(["yor-en/1", "yor-en/2", "yor-en/3"])]
    equal(rows, "stored score status", *records.values(), (-2, -2, "ok"))
    (noted,) = found["audit"].query("finding == 'instruction repeated'").to_dict("records")
    assert (noted["file"], noted["rows"], noted["affected"]) == (echoed, 8, 1)


def test_only_the_judges_wanted_are_read(read):
    found = read(xu_files(), ["gpt-4"])
    assert set(found["ratings"]["judge"]) == {"gpt-4"}
    assert "left out: judge not wanted" in set(found["audit"]["finding"])


HELD = {"feedback": "records", "text": "lines", "bleurt": "numbers"}


@pytest.mark.parametrize("kind", HELD)
def test_a_file_with_another_number_of_rows_is_left_out(read, kind):
    files, path = xu_files(), LAST[kind]
    files[path] = files[path].partition(XU_END if kind == "feedback" else "\n")[2]
    found = read(files)
    (noted,) = found["audit"].query("file == @path").to_dict("records")
    assert noted["finding"] == f"left out: {HELD[kind]} are not texts"
    assert noted["detail"] == f"7 {HELD[kind]} for 8 texts"
    of = "item_id == 'yor-en/1' and step == 2 and responder == 'gpt-4'"
    assert found["ratings"].query(of).empty == (kind == "feedback")


def test_steps_without_bleurt_are_left_out(read):
    unscored = [LAST["bleurt"], LAST["mapped"]]
    found = read({path: text for path, text in xu_files().items() if path not in unscored})
    out = found["audit"].query("finding == 'left out: no true score'")
    assert set(out["file"]) == {LAST["text"], LAST["feedback"]}
    own = found["ratings"].query("judge == responder == 'gpt-4' and item_id == 'yor-en/1'")
    assert own["step"].max() == 1


def test_a_file_of_another_release_is_refused(read):
    with pytest.raises(SelfprefError, match=r"notes\.txt is no file of this release; remove"):
        read(xu_files() | {"model_outputs/notes.txt": "x"})
