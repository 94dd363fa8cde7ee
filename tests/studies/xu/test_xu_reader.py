"""The reader of Xu et al. on a small release of the same layout, and on faults written into it."""

import json
from collections import Counter

import numpy as np
import pytest
from conftest import REPOSITORY, XU_END, entry, pin, xu_feedback, xu_files

from selfpref import tables
from selfpref.download.fetch import pinned
from selfpref.errors import SelfprefError
from selfpref.studies.xu import read as xu
from selfpref.studies.xu.read import place

N = 8
TOP = "model_outputs/gpt-4/self_refine/yor-en"
NAMED = f"yor-en_refinement_{N}_gpt-4_new_2_rerun"
# The files of the last step of a chain.
LAST = {
    "text": f"{TOP}/gpt-4-outputs/{NAMED}.txt",
    "feedback": f"{TOP}/gpt-4-scores/yor-en_eval_{N}_one-shot_gpt-4_new_2_rerun.txt",
    "bleurt": f"{TOP}/bleurt-raw/{NAMED}_bleurt.txt",
    "mapped": f"{TOP}/bleurt-nor/gpt-4_2_bleurt_nor.txt",
}


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a release from its files, every table validated."""
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def reading(files, judges=None):
        source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
        found = xu.read("xu", entry("xu", "xu", judges), source)
        return {name: tables.validate(frame, name, "xu") for name, frame in found.items()}

    return reading


def test_every_pinned_file_has_a_place():
    files = [file.path for file in pinned(REPOSITORY / "src/selfpref/studies/xu/read/xu.csv")]
    counts = {"feedback": 335, "text": 306, "bleurt": 234, "bleurt-mqm": 226, "human-mqm": 6}
    counts |= {"asked": 5, "concepts": 1}
    assert Counter(place(path).kind for path in files) == counts


def test_a_sound_release_is_read_whole(read):
    files = xu_files()
    found = read(files)
    audit = found["audit"].set_index("file")
    assert set(audit.index) == set(files)
    assert set(audit["finding"]) == {"read"}
    # The list of concepts goes on after the items that were used.
    assert audit.loc["srcs/commongen_hard.jsonl", ["rows", "affected"]].tolist() == [N + 2, N]

    items = found["items"].set_index("item_id")
    assert items.loc["yor-en/3", "messages"] == [{"role": "user", "content": "source sentence 2"}]
    assert items.loc["yor-en/3", "reference"] == "the red fox 2 goes to its den"
    # The same line of FLORES is one cluster in any language and condition.
    same = ["yor-en/3", "jav_Latn-en/3", "best-of-2/yor-en/3", "second-run/yor-en/3"]
    assert set(items.loc[[*same, "paraphrase/nllb-moe-54b/yor-en/3"], "cluster"]) == {"flores/3"}
    given = items.loc["commongen/1"].fillna("none")
    names = ["category", "cluster", "reference"]
    assert given[names].tolist() == ["commongen", "commongen/1", "none"]
    assert json.loads(items.loc["commongen/1", "metadata"]) == {"concepts": ["fox", "den", "run"]}

    texts = found["responses"].set_index(["item_id", "responder", "step", "sample"])["text"]
    assert texts["best-of-2/yor-en/1", "gpt-4", 0, 1] == "the fox 0, candidate 1"
    assert texts["best-of-2/yor-en/1", "gpt-4", 1, 0] == "the fox 0, candidate 1"
    assert texts["paraphrase/nllb-moe-54b/yor-en/1", "nllb-moe-54b", 0, 0] == "a red fox 0"
    assert texts["paraphrase/nllb-moe-54b/yor-en/1", "gpt-4", 1, 0].endswith("paraphrase")
    assert texts["yor-en/1", "human", 0, 0] == "the red fox 0 goes to its den"

    ratings = found["ratings"]
    own = ratings.query("judge == responder and responder == 'gpt-4'")
    best = own.loc[own["item_id"].eq("best-of-2/yor-en/1"), ["step", "sample", "score"]]
    assert best.to_numpy().tolist() == [[0, 0, -6], [0, 1, -1], [1, 0, -1]]
    assert sorted(own.loc[own["item_id"].eq("yor-en/1"), "step"]) == [0, 1, 2]
    # A judge's second file on the same texts is a repeat.
    again = ratings.query("responder == 'human' and judge == 'gemini' and item_id == 'yor-en/1'")
    assert sorted(again["repeat"]) == [0, 1]
    style = ratings[ratings["item_id"].eq("paraphrase/nllb-moe-54b/yor-en/2")].sort_values("step")
    assert style[["step", "responder", "judge", "score"]].values.tolist() == [
        [0, "nllb-moe-54b", "gpt-4", -7],
        [1, "gpt-4", "gpt-4", -3],
    ]

    scores = found["truths"].set_index(["item_id", "responder", "step", "metric"])["score"]
    assert scores["yor-en/4", "gpt-4", 2, "human-mqm"] == -6
    assert ("yor-en/5", "gpt-4", 2, "human-mqm") not in scores.index
    given = scores[:, "gpt-4", :, :].loc["commongen/1"]
    assert given[:, "coverage-lemma"].tolist() == [0, 1, 1]
    assert given[:, "coverage-surface"].tolist() == [0, 0, 0]
    # The second run has raw scores only; the map is recovered from the other files.
    second = scores["second-run/yor-en/1", "gemini", 0]
    assert second["bleurt"] == 0.3
    assert -25 <= second["bleurt-mqm"] <= 0


def test_scores_stand_beside_those_of_the_released_rule(read):
    records = [
        "[BLOCKED]",
        "",
        "'a' is a Major style error",
        "'major cities' is a minor style error",
    ]
    records += ["'a' is a catastrophic style error", *[xu_feedback(2)] * 3]
    files = xu_files() | {LAST["feedback"]: "".join(record + XU_END for record in records)}
    # Feedback on concepts that repeats the instruction.
    folder = "model_outputs/gpt-4/self_refine/commongen/gpt-4-scores/"
    echoed = next(name for name in files if name.startswith(folder))
    files[echoed] = "Concepts: a. If so, output 'all covered'. " + files[echoed]
    found = read(files)
    rows = found["ratings"].query("responder == 'gpt-4' and step == 2 and judge == 'gpt-4'")
    rows = rows.set_index("item_id").loc[[f"yor-en/{i}" for i in range(1, 9)]]
    assert rows["stored"].tolist() == [0, 0, 0, -6, 0, -2, -2, -2]
    assert rows["status"].tolist()[:5] == ["refused", "unparsable", "ok", "ok", "unparsable"]
    wanted = [np.nan, np.nan, -5, -1, np.nan, -2, -2, -2]
    assert rows["score"].tolist() == pytest.approx(wanted, nan_ok=True)
    audit = found["audit"].query("finding == 'instruction repeated'")
    assert audit[["file", "rows", "affected"]].to_numpy().tolist() == [[echoed, N, 1]]


def test_only_the_judges_wanted_are_read(read):
    found = read(xu_files(), ["gpt-4"])
    assert set(found["ratings"]["judge"]) == {"gpt-4"}
    out = found["audit"].query("finding == 'left out: judge not wanted'")
    assert out["file"].str.contains("gemini").all()
    assert out[["rows", "affected"]].eq(N).all(axis=None)
    with pytest.raises(SelfprefError, match=r"datasets\.xu\.judges: 'nobody' is unknown; choose"):
        read(xu_files(), ["nobody"])


@pytest.mark.parametrize(
    ("kind", "change", "rows"),
    [
        # One record fewer, one more, no terminator at the end, a terminator lost between two.
        ("feedback", lambda text: text.partition(XU_END)[2], 7),
        ("feedback", lambda text: text + "none" + XU_END, 9),
        ("feedback", lambda text: text.removesuffix(XU_END), 7),
        ("feedback", lambda text: text.replace(XU_END, "", 1), 7),
        ("feedback", lambda _: "", 0),
        ("text", lambda text: text.replace("\n", "", 1), 7),
        ("bleurt", lambda text: text.partition("\n")[2], 7),
    ],
)
def test_a_file_with_another_number_of_rows_is_left_out(read, kind, change, rows):
    files, path = xu_files(), LAST[kind]
    files[path] = change(files[path])
    found = read(files)
    table, held = {
        "feedback": ("ratings", "records"),
        "text": ("responses", "lines"),
        "bleurt": ("truths", "numbers"),
    }[kind]
    (noted,) = found["audit"].query("file == @path").to_dict("records")
    assert (noted["finding"], noted["affected"]) == (f"left out: {held} are not texts", rows)
    assert noted["detail"] == f"{rows} {held} for {N} texts"
    left = found[table].query("item_id == 'yor-en/1' and responder == 'gpt-4' and step == 2")
    if kind == "feedback":
        left = left.query("judge == 'gpt-4'")
    assert set(left.get("metric", [])) <= {"bleurt-mqm", "human-mqm"}
    assert kind == "bleurt" or left.empty


def test_steps_without_bleurt_are_left_out(read):
    files = xu_files()
    for kind in ("bleurt", "mapped"):
        del files[LAST[kind]]
    found = read(files)
    out = found["audit"].query("finding == 'left out: no true score'")
    assert set(out["file"]) == {LAST["text"], LAST["feedback"]}
    own = found["ratings"].query("responder == 'gpt-4' and judge == 'gpt-4'")
    assert own.loc[own["item_id"].eq("yor-en/1"), "step"].max() == 1


def test_a_file_of_another_release_is_refused(read):
    with pytest.raises(SelfprefError, match=r"notes\.txt is no file of this release; remove"):
        read(xu_files() | {"model_outputs/notes.txt": "x"})
