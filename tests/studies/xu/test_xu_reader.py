"""The reader of Xu et al. on a small release of the same layout, and on faults written into it."""

import json

import numpy as np
import pytest
from conftest import REPOSITORY, XU_END, entry, pin, xu_feedback, xu_files

from selfpref import tables
from selfpref.download.fetch import pinned
from selfpref.errors import SelfprefError
from selfpref.studies.xu import read as xu
from selfpref.studies.xu.read import place

N = 8
YORUBA = "model_outputs/gpt-4/self_refine/yor-en"


def path_of(kind, step, model="gpt-4", language="yor-en"):
    top = f"model_outputs/{model}/self_refine/{language}"
    name = f"{language}_refinement_{N}_{model}_new_{step}_rerun"
    return {
        "text": f"{top}/{model}-outputs/{name}.txt",
        "feedback": f"{top}/{model}-scores/"
        f"{language}_eval_{N}_one-shot_{model}_new_{step}_rerun.txt",
        "bleurt": f"{top}/bleurt-raw/{name}_bleurt.txt",
        "mapped": f"{top}/bleurt-nor/{model}_{step}_bleurt_nor.txt",
    }[kind]


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a release from its files, every table validated."""
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def reading(files, judges=None):
        source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
        found = xu.read("xu", entry("xu", "xu", judges), source)
        return {name: tables.validate(frame, name, "xu") for name, frame in found.items()}

    return reading


def test_every_file_is_in_the_audit(read):
    files = xu_files()
    assert set(read(files)["audit"]["file"]) == set(files)


def test_every_pinned_file_has_a_place():
    source = REPOSITORY / "src/selfpref/studies/xu/read/xu.csv"
    files = [file.path for file in pinned(source)]
    assert len(files) == 1113
    assert [path for path in files if place(path) is None] == []


def test_an_item_carries_condition_language_and_line(read):
    items = read(xu_files())["items"].set_index("item_id")
    assert items.loc["yor-en/3", "messages"] == [{"role": "user", "content": "source sentence 2"}]
    assert items.loc["yor-en/3", "reference"] == "the red fox 2 goes to its den"
    # The same line of FLORES is one cluster in any language and condition.
    same = ["yor-en/3", "jav_Latn-en/3", "best-of-2/yor-en/3", "second-run/yor-en/3"]
    assert set(items.loc[[*same, "paraphrase/nllb-moe-54b/yor-en/3"], "cluster"]) == {"flores/3"}
    assert json.loads(items.loc["commongen/1", "metadata"]) == {"concepts": ["fox", "den", "run"]}
    # The list of concepts goes on after the items that were used.
    assert sum(items.index.str.startswith("commongen/")) == N


def test_steps_are_steps_and_candidates_samples(read):
    found = read(xu_files())
    own = found["ratings"].query("judge == responder and responder == 'gpt-4'")
    best = own[own["item_id"].eq("best-of-2/yor-en/1")]
    assert best[["step", "sample", "score"]].to_numpy().tolist() == [
        [0, 0, -6],
        [0, 1, -1],
        [1, 0, -1],
    ]
    assert sorted(own.loc[own["item_id"].eq("yor-en/1"), "step"]) == [0, 1, 2]
    texts = found["responses"].set_index(["item_id", "responder", "step", "sample"])["text"]
    assert texts["best-of-2/yor-en/1", "gpt-4", 0, 1] == "the fox 0, candidate 1"
    assert texts["paraphrase/nllb-moe-54b/yor-en/1", "nllb-moe-54b", 0, 0] == "a red fox 0"
    assert texts["paraphrase/nllb-moe-54b/yor-en/1", "gpt-4", 1, 0].endswith("paraphrase")
    assert texts["yor-en/1", "human", 0, 0] == "the red fox 0 goes to its den"


def test_scores_stand_beside_those_of_the_released_rule(read):
    files = xu_files()
    records = [
        "[BLOCKED]",
        "",
        "'a' is a Major style error",
        "'major cities' is a minor style error",
        "'a' is a catastrophic style error",
        *[xu_feedback(2)] * 3,
    ]
    files[path_of("feedback", 2)] = "".join(record + XU_END for record in records)
    ratings = read(files)["ratings"].query(
        "responder == 'gpt-4' and step == 2 and judge == 'gpt-4'"
    )
    found = ratings.set_index("item_id").loc[[f"yor-en/{i}" for i in range(1, 9)]]
    assert found["stored"].tolist() == [0, 0, 0, -6, 0, -2, -2, -2]
    assert found["status"].tolist()[:5] == ["refused", "unparsable", "ok", "ok", "unparsable"]
    assert found["score"].tolist() == pytest.approx(
        [np.nan, np.nan, -5, -1, np.nan, -2, -2, -2], nan_ok=True
    )


def test_truths_are_bleurt_its_map_human_ratings_and_coverage(read):
    truths = read(xu_files())["truths"].set_index(["item_id", "responder", "step", "metric"])
    scores = truths["score"]
    assert scores["yor-en/4", "gpt-4", 2, "human-mqm"] == -6
    assert ("yor-en/5", "gpt-4", 2, "human-mqm") not in scores.index
    assert scores["commongen/1", "gpt-4", 0, "coverage-lemma"] == 0
    assert scores["commongen/1", "gpt-4", 1, "coverage-lemma"] == 1
    assert scores["commongen/1", "gpt-4", 1, "coverage-surface"] == 0
    # The second run has raw scores only; the map is recovered from the other files.
    raw = scores["second-run/yor-en/1", "gemini", 0, "bleurt"]
    assert raw == 0.3
    assert -25 <= scores["second-run/yor-en/1", "gemini", 0, "bleurt-mqm"] <= 0


def test_a_judges_second_file_on_the_same_texts_is_a_repeat(read):
    ratings = read(xu_files())["ratings"].query("responder == 'human' and judge == 'gemini'")
    assert sorted(ratings.loc[ratings["item_id"].eq("yor-en/1"), "repeat"]) == [0, 1]


def test_only_the_judges_wanted_are_read(read):
    ratings = read(xu_files(), ["gpt-4"])["ratings"]
    assert set(ratings["judge"]) == {"gpt-4"}


def test_an_unknown_judge_is_named(read):
    with pytest.raises(SelfprefError, match=r"datasets\.xu\.judges: 'nobody' is unknown; choose"):
        read(xu_files(), ["nobody"])


def faulty(path, change):
    files = xu_files()
    files[path] = change(files[path])
    return files


@pytest.mark.parametrize(
    ("kind", "change", "finding", "rows"),
    [
        # One record fewer, one more, no terminator at the end, a terminator lost between two.
        ("feedback", lambda t: t.partition(XU_END)[2], "left out: records are not texts", 7),
        ("feedback", lambda t: t + "none" + XU_END, "left out: records are not texts", 9),
        (
            "feedback",
            lambda t: t.removesuffix(XU_END),
            "left out: records are not texts",
            7,
        ),
        ("feedback", lambda t: t.replace(XU_END, "", 1), "left out: records are not texts", 7),
        ("feedback", lambda _: "", "left out: records are not texts", 0),
        ("text", lambda t: t.replace("\n", "", 1), "left out: lines are not texts", 7),
        ("bleurt", lambda t: t.partition("\n")[2], "left out: numbers are not texts", 7),
    ],
)
def test_a_file_with_another_number_of_rows_is_left_out(read, kind, change, finding, rows):
    path = path_of(kind, 2)
    found = read(faulty(path, change))
    noted = found["audit"].query("file == @path and finding == @finding")
    assert noted["affected"].tolist() == [rows]
    assert f"for {N} texts" in noted["detail"].iloc[0]
    table = {"feedback": "ratings", "text": "responses", "bleurt": "truths"}[kind]
    rows_read = found[table].query("item_id == 'yor-en/1' and responder == 'gpt-4' and step == 2")
    if kind == "feedback":
        rows_read = rows_read.query("judge == 'gpt-4'")
    if kind == "bleurt":
        rows_read = rows_read.query("metric == 'bleurt'")
    assert rows_read.empty


def test_steps_without_bleurt_are_left_out(read):
    files = xu_files()
    for kind in ("bleurt", "mapped"):
        del files[path_of(kind, 2)]
    found = read(files)
    assert set(found["audit"].query("finding == 'left out: no true score'")["file"]) == {
        path_of("text", 2),
        path_of("feedback", 2),
    }
    steps = found["ratings"].query("responder == 'gpt-4' and judge == 'gpt-4'")
    assert max(steps.loc[steps["item_id"].eq("yor-en/1"), "step"]) == 1


def test_a_step_without_its_predecessor_is_refused(read):
    files = xu_files()
    del files[path_of("text", 1)]
    with pytest.raises(SelfprefError, match=r"gpt-4: no text of step 1, but of step 2"):
        read(files)


def test_a_file_of_another_kind_is_refused(read):
    with pytest.raises(SelfprefError, match=r"notes\.txt is no file of this release"):
        read(xu_files() | {"model_outputs/notes.txt": "x\n"})


def test_a_sound_release_is_read_whole(read):
    audit = read(xu_files())["audit"]
    assert set(audit["finding"]) == {"read"}


def test_feedback_that_repeats_the_instruction_is_counted(read):
    path = "model_outputs/gpt-4/self_refine/commongen/gpt-4-scores/"
    path = next(name for name in xu_files() if name.startswith(path))
    echo = "Concepts: a. If so, output 'all covered'. "
    files = faulty(path, lambda text: echo + text)
    audit = read(files)["audit"].query("finding == 'instruction repeated'")
    assert audit[["file", "rows", "affected"]].to_numpy().tolist() == [[path, N, 1]]
