"""The notebooks of Xu et al. on a small release, whole, with faults, and in parts."""

import pytest
from conftest import xu_files
from study_frames import QUICK, metrics_of, released, run
from xu_rows import SETTINGS, USE

from selfpref import say
from selfpref.errors import SelfprefError
from selfpref.studies.xu import read as xu
from selfpref.studies.xu.bias import Settings, rated

PARAMS = QUICK.model_copy(update={"xu": USE.model_copy(update={"sizes": []})})


def frames_of(folder, held):
    """What the notebook of metrics makes of a release, in a folder that becomes the current one."""
    return metrics_of("xu", folder, PARAMS, studies__xu__bias__load=lambda _: held)


def told(folder):
    """The keys of what the chapter says of the frames of a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        run("xu", PARAMS)
        said = say.said(folder / "figures/recorded/xu")
    assert not any("nan" in one["text"] for one in said.values())
    return set(said)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return released(tmp_path_factory.mktemp("release"), xu.read, xu_files(), "xu", "xu")


def test_of_a_small_release_what_it_holds_is_said_and_no_text_of_it_is_kept(release, tmp_path):
    frames = frames_of(tmp_path, release)
    # The authors released no problem, and one draw of each score; nobody compares sizes here.
    empty = {name for name, frame in frames.items() if frame.empty}
    assert empty == {"mathematics", "expected", "asked", "size"}
    texts = ("its den", "red fox", "candidate 1", "source sentence")
    for name, frame in frames.items():
        held = frame.astype(str).to_string()
        assert not [text for text in texts if text in held], name
    # Two models, three steps, two conventions.
    counts = frames["translation"].groupby("language").size().to_dict()
    assert counts == {"average": 12, "jav_Latn-en": 12, "yor-en": 12}
    said = told(tmp_path)
    assert {"matched", "human_gap"} & said
    assert not {"noise", "size", "commongen", "best_of_k"} & said


def test_a_truth_on_another_scale_than_the_scores_ends_in_a_line(release):
    settings = Settings(USE.model_copy(update={"truth": "bleurt"}), SETTINGS.bootstrap)
    with pytest.raises(SelfprefError, match=r"xu\.truth: bleurt goes from 0\.\d+ to 0\.\d+, "):
        rated(release, settings)


@pytest.mark.parametrize("kept", ["yor-en/", "paraphrase/"])
def test_a_part_of_the_study_is_enough(release, kept, tmp_path):
    """The testbed fills some of the tables; what it lacks is empty, and nothing fails."""
    part = {
        name: table[table["item_id"].str.startswith(kept)] if "item_id" in table else table
        for name, table in release.items()
    }
    # As if other models had made it: nothing that the paper says of its own is said of them.
    new = {"gpt-4": "a", "gemini": "b"}
    part = {name: table.replace({"responder": new, "judge": new}) for name, table in part.items()}
    found = frames_of(tmp_path, part)
    assert found["translation"].empty == (kept != "yor-en/")
    assert found["style"].empty == (kept != "paraphrase/")
    assert found["checks"].empty
    assert told(tmp_path) == ({"human_gap"} if kept == "yor-en/" else set())
