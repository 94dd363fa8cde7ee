"""What one file of judgments shows: the numbers of the studies, and who is who."""

import doctest
import hashlib
import json
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import selfpref
from selfpref.__main__ import main
from selfpref.card import command, measured, numbers, words
from selfpref.errors import SelfprefError
from selfpref.formats import judgments as formats
from selfpref.statistics import choices, scaled
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.judged import bias
from selfpref.studies.wataoka.pairs import excess_table

MODELS = ("ann", "bob", "cat")
# So many judges tell their own effects from scales and responders; three do not.
FOUR = (*MODELS, "dan")
# What no user of the base dependencies has.
UNWANTED = (
    *("torch", "transformers", "dvc", "jupyter", "IPython", "nbformat", "nbconvert", "papermill"),
    *("matplotlib", "seaborn", "PIL", "requests", "ray", "openai", "datasets", "psutil"),
    *("rapidfuzz", "sacrebleu", "simplemma", "tabulate", "tqdm", "pandera", "pooch", "ruamel"),
)


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr(measured, "RESAMPLES", 300)


def judgments(bonus=None, items=60, judges=MODELS, responders=MODELS):
    """Judges and people who see quality with noise; a bonus is added to a judge's own response.

    Later responders are better: where all are alike, no judge's scale can be told.
    """
    rng, rows = np.random.default_rng(5), []
    for item in range(items):
        levels = rng.normal(np.arange(len(responders)) / 2, 1)
        quality = dict(zip(responders, levels, strict=True))
        for one, two in combinations(responders, 2):
            gap = quality[one] - quality[two]
            labels = rng.normal(gap, 1.0, 3) > 0
            for judge, order in product(judges, ("ab", "ba")):
                own = (bonus or {}).get(judge, 0) * ((one == judge) - (two == judge))
                number = len(rows) % 3
                verdict = rng.normal(gap + own, 0.6) > 0
                row = (item, one, two, judge, order, labels[number], f"p{number}", verdict)
                rows.append(row)
    pair = ["item", "responder_a", "responder_b"]
    frame = pd.DataFrame(rows, columns=[*pair, "judge", "order", "label", "annotator", "verdict"])
    sides = {"label": {True: "a", False: "b"}, "verdict": {True: "a", False: "b"}}
    return frame.assign(**{name: frame[name].map(side) for name, side in sides.items()})


def test_the_numbers_are_those_of_the_studies():
    frame = judgments(judges=FOUR, responders=FOUR)
    found = selfpref.measure(frame, name="set")
    rows = formats.of_frame(frame, "f")
    data = measured._judged(measured.tables_of(rows, measured.STREAM, "wataoka"))
    renamed = selfpref.measure(frame, name="other").to_dict()
    assert renamed == found.to_dict() | {"name": "other"}
    assert data.settings.bootstrap == ClusterBootstrap(300, seed=20241030)
    pd.testing.assert_frame_equal(found.judges, bias([data]))
    table = found.to_dict()["judges"]
    for row in excess_table([data]).query("variant == 'own'").itertuples():
        shown = [table[row.judge]["excess"][end] for end in ("value", "lo", "hi")]
        wanted = [row.excess, row.excess_lo, row.excess_hi]
        assert shown == pytest.approx(wanted, abs=1e-6)
    judged = choices.from_pairs(data, data.pairs, choices.HUMAN)
    fitted, _ = scaled.of_pairs(data, data.pairs, choices.HUMAN)
    assert all(row["n"] for row in fitted)
    for row in (*choices.of_judges(judged), *fitted):
        if row["statistic"] in ("gold_gap", "harmful", "legitimate", "regression_scaled"):
            key = {"gold_gap": "dbg"}.get(row["statistic"], row["statistic"])
            assert table[row["judge"]][key]["value"] == pytest.approx(row["value"], abs=1e-6)


def test_json_holds_what_the_docs_say(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    judgments().to_csv(path, index=False)
    assert main(["measure", str(path), "--json", str(tmp_path / "card.json")]) == 0
    card = json.loads((tmp_path / "card.json").read_text())
    ann = card["judges"]["ann"]
    for key in ("equal_opportunity", "demographic_parity", "excess", "dbg", "harmful"):
        assert {"value", "lo", "hi", "n"} <= ann[key].keys()
    assert list(ann["cells"]) == ["tp", "fn", "fp", "tn"]
    tp, fn, fp, tn = ann["cells"].values()
    eo = ann["equal_opportunity"]
    assert eo["value"] == pytest.approx(tp / (tp + fn) - tn / (fp + tn), abs=1e-6)
    assert (eo["human_own"], eo["human_other"]) == (tp + fn, fp + tn)
    assert ann["pairs"] == 120
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed[:4]] == ["judge", *MODELS]
    assert printed[4].startswith("ann: ")
    assert printed[8] == "judges with own responses: ann, bob, cat"


def test_a_frame_and_its_file_give_the_same(tmp_path):
    frame, path = judgments(), tmp_path / "judgments.jsonl"
    frame.to_json(path, orient="records", lines=True)
    shown, wanted = command.read(path).to_dict(), selfpref.measure(frame).to_dict()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    assert shown["made"] == wanted["made"] | {"files": {"judgments.jsonl": digest}}
    assert shown | {"made": wanted["made"]} == wanted


def test_votes_may_stand_in_a_file_of_their_own():
    frame = judgments()
    voted = frame[["item", "responder_a", "responder_b", "label", "annotator"]].drop_duplicates()
    bare = frame.assign(label=None, annotator=None)
    one, two = selfpref.measure(frame), selfpref.measure(bare, votes=voted)
    pd.testing.assert_frame_equal(one.judges, two.judges)
    alone = selfpref.measure(bare)
    assert {answer.favours for answer in alone.answers.values()} == {None}
    assert "has both a vote and a verdict" in alone.answers["ann"].because
    assert "Nobody voted on its pairs" in str(alone)
    assert alone.to_dict()["judges"]["ann"]["flips"]["n"] == 120
    single = selfpref.measure(bare[bare["judge"].eq("ann")])
    assert "ann: cannot tell" in str(single)


def test_names_match_exactly_then_by_alias_and_are_never_guessed():
    frame = judgments().replace({"judge": {"ann": "Ann-2"}})
    found = selfpref.measure(frame)
    assert found.names.own == ["bob", "cat"]
    assert found.names.alone == {"Ann-2": "ann"}
    assert "Ann-2 (nearest name: ann; join them with --alias)" in str(found)
    joined = selfpref.measure(frame, alias={"Ann-2": "ann"})
    assert joined.to_dict() == selfpref.measure(judgments()).to_dict()
    strange = selfpref.measure(judgments(), alias={"bobb": "bob"})
    assert strange.names.unmatched == {"bobb": "bob"}
    with pytest.raises(SelfprefError, match="makes both responders 'bob'"):
        selfpref.measure(judgments(), alias={"ann": "bob"})


def test_one_judge_has_a_card_and_one_that_wrote_nothing_has_agreement_and_position():
    frame = judgments(judges=FOUR)
    whole, bob = selfpref.measure(frame).to_dict(), selfpref.measure(frame, judge="bob").to_dict()
    assert bob["judges"] == {"bob": whole["judges"]["bob"]}
    with pytest.raises(SelfprefError, match=r"--judge bop: no such judge.*nearest is 'bob'"):
        selfpref.measure(frame, judge="bop")
    other = whole["judges_without_own_responses"]["dan"]
    assert 0 < other["agreement"]["n"] <= 180
    assert other["flips"]["n"] == 180
    assert list(whole["judges"]) == [*MODELS]


def test_missing_verdicts_and_ties_are_counted_and_no_zeros():
    frame = judgments()
    ann = frame["judge"].eq("ann") & frame["responder_a"].eq("ann")
    frame.loc[ann & frame["item"].lt(5), "verdict"] = None
    frame.loc[frame["item"].between(5, 9), "label"] = "tie"
    found = selfpref.measure(frame).to_dict()["judges"]["ann"]
    assert (found["no_verdict"], found["human_ties"]) == (10, 10)
    assert sum(found["cells"].values()) <= 100


def test_too_few_is_told_and_hostile_texts_are_text():
    name = "<script>alert(1)</script> {{ 7 * 7 }} %s \u202e"
    told, frame = name.replace("\u202e", ""), judgments(items=6)
    found = selfpref.measure(frame.replace("ann", told))
    assert ", too few" in str(found)
    assert found.answers[told].favours is None
    assert told in str(found)
    frame.loc[3, "label"] = "nobody"
    for bad, wanted in (
        (frame.replace("ann", name), "is not printable"),
        (frame.drop(columns="judge"), "frame, row 0: no column 'judge'"),
        (frame, "frame, row 3: label names the unknown responder"),
    ):
        with pytest.raises(SelfprefError, match=wanted):
            selfpref.measure(bad)


def test_votes_may_stand_beside_and_the_order_may_be_unknown():
    whole = judgments(items=40)
    votes = whole[["item", "responder_a", "responder_b", "label", "annotator"]].drop_duplicates()
    found = selfpref.measure(whole.drop(columns=["label", "annotator"]), votes=votes)
    wanted = selfpref.measure(whole)
    pd.testing.assert_frame_equal(found.judges, wanted.judges)
    one = whole[whole["order"].eq("ab")].drop(columns="order")
    found = selfpref.measure(one).to_dict()["judges"]["ann"]
    assert (found["flips"]["n"], found["first_position"]["n"]) == (0, 0)
    assert found["equal_opportunity"]["n"] > 0


def test_the_command_needs_only_the_base_dependencies(tmp_path):
    path = tmp_path / "mine.csv"
    judgments(items=20).to_csv(path, index=False)
    program = (
        "import sys\n"
        f"for name in {UNWANTED!r}: sys.modules[name] = None\n"
        "import selfpref\n"
        "assert 'pandas' not in sys.modules, 'importing the package is light'\n"
        "from selfpref.__main__ import main\n"
        f"sys.exit(main(['measure', {str(path)!r}]))\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "judges with own responses: ann, bob, cat" in done.stdout


def test_whoever_reads_may_stop_after_the_first_line(tmp_path):
    path, card = tmp_path / "mine.csv", tmp_path / "card.json"
    judgments(items=12).to_csv(path, index=False)
    command = [sys.executable, "-m", "selfpref", "measure", str(path), "--json", str(card)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.close()
        told = running.stderr.read()
    assert (running.returncode, told) == (0, b"")
    assert card.exists()


def test_the_examples_of_the_docstrings():
    for module in (measured, command, numbers, words):
        assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("option", ["--json", "--html"])
@pytest.mark.parametrize("place", ["results", ".", "..", "mine.csv", "votes.csv", "mine.csv/card"])
def test_no_output_replaces_a_folder_or_what_is_read(tmp_path, monkeypatch, capsys, option, place):
    work = tmp_path / "work"
    (work / "results").mkdir(parents=True)
    (work / "results" / "kept").touch()
    monkeypatch.chdir(work)
    judgments(items=12).to_csv("mine.csv", index=False)
    Path("votes.csv").write_text("kept")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    given = ["measure", "mine.csv", "--votes", "votes.csv", option, place]
    assert main(given) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {place}: ")
    assert said.count("\n") == 1
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
