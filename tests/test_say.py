"""A sentence takes its numbers from frames and is not made where a word of it is not true."""

import ast
import re

import nbformat
import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED

from selfpref import paths, say
from selfpref.say import Estimate, Sentences, at, said

BIAS = pd.DataFrame(
    {
        "judge": ["own", "other", "none"],
        "eo": [0.9, -0.25, None],
        "eo_lo": [0.8, -0.5, None],
        "eo_hi": [0.95, 0.1, None],
    }
)


def test_a_number_is_that_of_its_row_with_its_bounds():
    assert f"{at(BIAS, 'eo', judge='own'):.2f}" == "0.90 [0.80, 0.95]"
    assert f"{at(BIAS[['judge', 'eo']], 'eo', judge='other'):.1f}" == "\N{MINUS SIGN}0.2"
    one = pd.DataFrame({"r": [0.9], "lo": [0.8], "hi": [0.95]})
    assert at(one, "r") == Estimate(0.9, 0.8, 0.95)
    assert [at(BIAS, "eo", judge=name).excludes(0) for name in BIAS["judge"]] == [
        True,
        False,
        False,
    ]
    assert [Estimate(0, *ends).excludes(0) for ends in ((-2, -1), (0, 1), (-1, 0))] == [True, 0, 0]
    for where in ({"row": "own"}, {}):
        with pytest.raises(LookupError):
            at(BIAS, "eo", **where)


@pytest.fixture
def told(monkeypatch):
    shown = []
    monkeypatch.setattr(say, "display", lambda markdown: shown.append(markdown.data))
    return shown


def test_a_word_that_is_not_true_is_told_and_kept(tmp_path, told):
    sentences = Sentences(tmp_path)
    sentences("0.90 is higher.", "true", higher=True)
    sentences("0.10 is far higher.", "false", far_higher=False)
    sentences("Not kept.")
    # Nothing is said of what is not in the data.
    for frame in (BIAS.iloc[:0], BIAS.iloc[:1], BIAS.iloc[2:]):
        sentences(f"It is {at(frame, 'eo', judge='none'):.2f}.", "key", there=False)
    words = "(With these data and settings “far higher” is not true of: 0.10 is far higher.)"
    assert told == ["0.90 is higher.", words, "Not kept."]
    assert said(tmp_path) == {
        "true": {"text": told[0], "untrue": []},
        "false": {"text": words, "untrue": ["far higher"]},
    }
    assert said(tmp_path / "nowhere") == {}


CLAIM = {
    "claim": "Judges are biased.",
    "place": "Fig. 1",
    "test": "Again.",
    "number": "bias[judge=own].eo",
    "holds": "lo > 0.5",
    "finding": "biased",
    "verdict": "holds",
    "figure": "bias",
}


@pytest.fixture
def rows(tmp_path, monkeypatch, told):
    """From a claim, and the words of its finding, to its row."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)

    def row(claim, **holds):
        found = {"study": {"paper": "A paper", "claims": [claim]}}
        monkeypatch.setattr(say, "papers", lambda: found)
        folder = paths.figure_dir("recorded", "study")
        Sentences(folder)("0.90 is far above 0.", "biased", **holds)
        (made,) = say.claim_rows("study", {"bias": BIAS}, folder)
        return made

    return row


def test_a_claim_has_its_number_its_finding_and_its_verdict(rows):
    shared = {"study": "study", "paper": "A paper"}
    shared |= {name: CLAIM[name] for name in ("claim", "place", "test")}
    whole = {"finding": "0.90 is far above 0.", "verdict": "holds"}
    whole |= {"value": 0.9, "lo": 0.8, "hi": 0.95, "figure": "figures/recorded/study/bias.svg"}
    whole |= {"cell": "figures/recorded/study/bias.csv: eo where judge = own"}
    assert rows(CLAIM, far=True) == shared | whole
    for change, far in (({"holds": "lo > 0.85"}, True), ({}, False), ({"finding": "un"}, True)):
        assert rows(CLAIM | change, far=far)["verdict"] is None
    told = {"no_data": "Nobody measured it.", "verdict": "no data"}
    empty = {"finding": told["no_data"], "verdict": told["verdict"], "cell": "", "figure": ""}
    bare = {name: CLAIM[name] for name in ("claim", "place", "test")}
    assert rows(bare | told) == shared | empty | dict.fromkeys(("value", "lo", "hi"))


def test_a_whole_number_chooses_the_row_of_a_claim():
    steps = pd.DataFrame({"judge": "own", "step": [0, 5], "eo": [0.1, 0.4]})
    claim = CLAIM | {"number": "bias[judge=own, step=5].eo", "holds": "value > 0.3"}
    (shown,) = say.head([claim], {"bias": steps}).to_dict("records")
    assert (shown["tested here"], shown["verdict"]) == ("Again. 0.40", "holds")


def test_the_head_of_a_chapter_leaves_out_what_the_data_cannot_be_asked():
    steps = pd.DataFrame({"judge": "own", "step": [0, 5], "eo": [0.1, 0.4]})
    claims = [
        CLAIM,
        CLAIM | {"number": "bias[judge=none].eo"},
        # A whole number chooses a row too.
        CLAIM | {"number": "steps[judge=own, step=5].eo", "holds": "value > 0.4"},
    ]
    shown = say.head(claims, {"bias": BIAS, "steps": steps})
    assert shown["the paper's claim"].tolist() == ["Judges are biased. (Fig. 1)"] * 2
    assert shown["verdict"].tolist() == ["holds", ""]
    assert shown["tested here"].tolist() == ["Again. 0.90 [0.80, 0.95]", "Again. 0.40"]


# What may carry a number: a place in a paper, a step, a model's version; the size that a plan asks.
NAMED = re.compile(r"(?:Figs?\.|Table|Eq\.|Def\.|Section|step|Claude|Gemini|bias of) [\d.]*\d")
# One that stands alone, neither a part of a name (GPT-4) nor of a word.
BY_HAND = re.compile(r"(?<![\w.,/-])\d+(?:\.\d+)?(?![\w-])")


@pytest.mark.parametrize("study", ["wataoka", "panickssery", "xu", "livebench", "beyond"])
def test_no_number_of_a_sentence_is_written_by_hand_and_every_word_is_true(study):
    notebook = nbformat.read(REPOSITORY / f"notebooks/{study}.ipynb", 4)
    texts = [
        part.value
        for cell in notebook.cells
        if cell.cell_type == "code"
        for call in ast.walk(ast.parse(cell.source))
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "say"
        for string in ast.walk(call.args[0])
        if isinstance(string, ast.JoinedStr)
        for part in string.values
        if isinstance(part, ast.Constant)
    ]
    assert texts
    assert {one for text in texts for one in BY_HAND.findall(NAMED.sub("", text))} <= {"0", "1"}
    sentences = said(STAGED / f"figures/recorded/{study}")
    assert sentences
    assert [key for key, one in sentences.items() if one["untrue"]] == []
