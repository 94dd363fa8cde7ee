"""Sentences and claims say no more than the data; those in git are of the released data."""

import ast
import re

import nbformat
import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED

from selfpref import paths, say
from selfpref.say import Estimate, Sentences, at, said
from selfpref.studies import claims

BIAS = pd.DataFrame({"judge": ["own", "other", "none"], "eo": [0.9, -0.25, None]})
BIAS = BIAS.assign(eo_lo=[0.8, -0.5, None], eo_hi=[0.95, 0.1, None], step=[5, 5, 5])


def test_a_number_is_that_of_its_row_with_its_bounds():
    assert f"{at(BIAS, 'eo', judge='own'):.2f}" == "0.90 [0.80, 0.95]"
    assert f"{at(BIAS[['judge', 'eo']], 'eo', judge='other'):.1f}" == "\N{MINUS SIGN}0.2"
    one = pd.DataFrame({"r": [0.9], "lo": [0.8], "hi": [0.95]})
    assert at(one, "r") == Estimate(0.9, 0.8, 0.95)
    told = [at(BIAS, "eo", judge=name) for name in BIAS["judge"]]
    told += [Estimate(0, *ends) for ends in ((-2, -1), (0, 1), (-1, 0))]
    assert [one.excludes(0) for one in told] == [True, False, False, True, False, False]
    for where in ({"row": "own"}, {}):
        with pytest.raises(LookupError):
            at(BIAS[:2], "eo", **where)


def test_a_word_that_is_not_true_is_told_and_kept(tmp_path, monkeypatch):
    told = []
    monkeypatch.setattr(say, "display", lambda markdown: told.append(markdown.data))
    sentences = Sentences(tmp_path)
    sentences("0.90 is higher.", "true", higher=True)
    sentences("0.10 is far higher.", "false", far_higher=False)
    sentences("Not kept.")
    # Nothing is said of what is not in the data.
    for frame in (BIAS.iloc[:0], BIAS.iloc[:1], BIAS.iloc[2:]):
        sentences(f"It is {at(frame, 'eo', judge='none'):.2f}.", "key", there=False)
    words = "(With these data and settings “far higher” is not true of: 0.10 is far higher.)"
    assert told == ["0.90 is higher.", words, "Not kept."]
    # A part of a chapter's sentences does not pass for all of them.
    assert said(tmp_path) == {}
    sentences.write()
    assert said(tmp_path) == {
        "true": {"text": told[0], "untrue": []},
        "false": {"text": words, "untrue": ["far higher"]},
    }


CLAIM = {"claim": "Judges are biased.", "place": "Fig. 1", "test": "Again.", "finding": "biased"}
# A whole number chooses a row too.
CLAIM |= {"number": "bias[judge=own, step=5].eo", "holds": "lo > 0.5", "verdict": "holds"}
BARE = {"claim": "Untold.", "place": "", "test": "", "no_data": "None.", "verdict": "no data"}


def test_a_claim_has_a_number_a_finding_and_a_verdict(repository, monkeypatch):
    folder = paths.figure_dir("recorded", "study")
    sentences = Sentences(folder)
    for key, far in {"biased": True, "denied": False}.items():
        sentences("0.90 is far above 0.", key, far=far)
    sentences.write()
    BIAS.to_csv(folder / "bias.csv", index=False)
    changes = ({"figure": "bias"}, {"holds": "lo > 0.85"}, {"finding": "denied"})
    every = [*(CLAIM | one for one in changes), CLAIM | {"number": "bias[judge=none].eo"}, BARE]
    monkeypatch.setattr(claims, "papers", lambda: {"study": {"paper": "P", "claims": every}})
    rows = claims.table()
    assert rows["verdict"].fillna("").tolist() == ["holds", "", "", "", "no data"]
    place = "figures/recorded/study/bias"
    made = {"value": 0.9, "lo": 0.8, "hi": 0.95, "part": "", "study": "study", "paper": "P"}
    made |= {"cell": f"{place}.csv: eo where judge = own, step = 5", "figure": f"{place}.svg"}
    made |= {"finding": "0.90 is far above 0."}
    assert rows.loc[0].to_dict() == {name: (CLAIM | made)[name] for name in claims.COLUMNS}
    assert rows.loc[4, ["finding", "cell", "figure"]].tolist() == ["None.", "", ""]
    # The head of a chapter leaves out what its data cannot be asked.
    head = claims.head("study", {"bias": BIAS}).fillna("").values.tolist()
    told = "Judges are biased. (Fig. 1)", "Again, 0.90 [0.80, 0.95]"
    assert head[:3] == [[told[0], verdict, told[1]] for verdict in ("holds", "", "holds")]
    assert head[3:] == [["Untold. ()", "no data", "None."]]
    # A study that was not drawn keeps its claims, without a finding.
    for path in folder.iterdir():
        path.unlink()
    assert claims.table()["verdict"].fillna("").tolist() == ["", "", "", "", "no data"]
    every[:] = [CLAIM | {"part": "half"}]
    assert claims.head("study", {"bias": BIAS})["verdict"].tolist() == ["holds: half"]


def test_the_table_of_claims_is_what_the_stage_writes_and_leads_somewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(STAGED)
    claims.write(tmp_path / "claims.csv")
    assert (STAGED / "data/claims.csv").read_bytes() == (tmp_path / "claims.csv").read_bytes()
    found = claims.table()
    assert set(found["verdict"]) <= set(claims.VERDICTS)
    for row in found.to_dict("records"):
        # Only a claim without data may do without a cell.
        table = row["cell"].partition(": ")[0]
        assert (STAGED / table).is_file() if table else row["finding"].startswith("No data")
        assert not row["figure"] or (STAGED / row["figure"]).is_file()


# What may carry a number: a place in a paper, a step, a model's version; the size that a plan asks.
NAMED = re.compile(r"(?:Figs?\.|Table|Eq\.|Def\.|Section|step|Claude|Gemini|bias of) [\d.]*\d")
# One that stands alone, neither a part of a name (GPT-4) nor of a word.
BY_HAND = re.compile(r"(?<![\w.,/-])\d+(?:\.\d+)?(?![\w-])")


@pytest.mark.parametrize("study", ["wataoka", "panickssery", "xu", "livebench", "beyond"])
def test_no_number_of_a_sentence_is_written_by_hand_and_every_word_is_true(study):
    cells = nbformat.read(REPOSITORY / f"notebooks/{study}.ipynb", 4).cells
    code = ast.parse("\n".join(cell.source for cell in cells if cell.cell_type == "code"))
    calls = [call for call in ast.walk(code) if isinstance(call, ast.Call)]
    told = [call.args[0] for call in calls if getattr(call.func, "id", "") == "say"]
    strings = [one for text in told for one in ast.walk(text) if isinstance(one, ast.JoinedStr)]
    parts = [part for string in strings for part in string.values]
    texts = [part.value for part in parts if isinstance(part, ast.Constant)]
    assert texts
    assert {one for text in texts for one in BY_HAND.findall(NAMED.sub("", text))} <= {"0", "1"}
    sentences = said(STAGED / f"figures/recorded/{study}")
    assert sentences
    assert [key for key, one in sentences.items() if one["untrue"]] == []
