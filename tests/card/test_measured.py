"""What files of judgments show: the numbers of the studies, who is who, text, JSON and page.

The same numbers come of any format; what is wrong with a file is told.
"""

import hashlib
import io
import json
import re
import subprocess
import sys
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import refused

import selfpref
from selfpref.__main__ import main
from selfpref.card import measured
from selfpref.card.words import html
from selfpref.formats import judgments as formats
from selfpref.statistics import choices, scaled
from selfpref.statistics.judged import bias

MODELS = ("ann", "bob", "cat")
# So many judges tell their own effects from scales and responders; three do not.
FOUR = (*MODELS, "dan")
PAIR = ["item", "responder_a", "responder_b"]
VOTES = ["label", "annotator"]
BAD = {"latin": "item,responder_a,responder_b,judge\n1,x,y,x\n2,modèle,y,x\n", "empty": ""}
BAD |= {"list": "[1, 2]\n", "strange": "model;vote\nx;3\n"}
FILES = ("--votes=", "--json=", "--html=")
HOSTILE = "<script>alert('x')</script> & {{ 7 * 7 }} %s <img src=http://x>"


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr(measured, "RESAMPLES", 200)


@pytest.fixture
def mine(repository):
    judgments(items=20).to_csv("mine.csv", index=False)
    return repository / "mine.csv"


def judgments(items=60, judges=MODELS, responders=MODELS):
    """Judges and people who see quality with noise.

    Later responders are better: where all are alike, no judge's scale can be told.
    """
    rng, rows = np.random.default_rng(5), []
    for item in range(items):
        levels = rng.normal(np.arange(len(responders)) / 2, 1)
        quality = dict(zip(responders, levels, strict=True))
        for pair in combinations(responders, 2):
            gap = quality[pair[0]] - quality[pair[1]]
            labels = np.where(rng.normal(gap, 1.0, 3) > 0, "a", "b")
            for judge, order in product(judges, ("ab", "ba")):
                voter, verdict = len(rows) % 3, "ba"[rng.normal(gap, 0.6) > 0]
                rows.append((item, *pair, judge, order, labels[voter], f"p{voter}", verdict))
    return pd.DataFrame(rows, columns=[*PAIR, "judge", "order", *VOTES, "verdict"])


def numbers(found):
    return {key: value for key, value in found.to_dict().items() if key not in ("made", "name")}


def test_the_numbers_are_those_of_the_studies():
    frame = judgments(judges=FOUR, responders=FOUR)
    cards = selfpref.measure(frame).to_dict()["judges"]
    made = measured.tables_of(formats.of_frame(frame, "f"), measured.STREAM, "wataoka")
    data = measured.of_tables(made)

    def same(judge, name, *wanted):
        shown = [cards[judge][name][end] for end in ("value", "lo", "hi")]
        assert shown[: len(wanted)] == pytest.approx(wanted, abs=1e-6)

    for row in bias([data]).itertuples():
        same(row.judge, "equal_opportunity", row.eo, row.eo_lo, row.eo_hi)
        same(row.judge, "no_preference", row.eo_no_preference)
    place = data, data.pairs, choices.HUMAN
    (fitted, _), own = scaled.of_pairs(*place), choices.from_pairs(*place)
    assert all(row["n"] for row in fitted)
    names = {"gold_gap": "dbg"} | {one: one for one in ("excess", "harmful", "regression_scaled")}
    for row in (*choices.of_judges(own), *fitted):
        if name := names.get(row["statistic"]):
            same(row["judge"], name, row["value"], row["lo"], row["hi"])
    for card in cards.values():
        assert [*card["pairs_to_show_0.1"]] == ["equal_opportunity", "excess", "regression_scaled"]
        for name, shows in card["pairs_to_show_0.1"].items():
            # (1.960 + 0.842)^2 s^2 n / 0.1^2, s the standard error.
            spread = (card[name]["hi"] - card[name]["lo"]) / 3.92
            assert shows == pytest.approx(785 * spread**2 * card[name]["n"], rel=2e-3, abs=1)


def test_a_frame_and_its_file_give_the_same_and_json_what_the_docs_say(tmp_path, capsys):
    path, card = tmp_path / "mine.jsonl", tmp_path / "card.json"
    judgments().to_json(path, orient="records", lines=True)
    assert main(["measure", str(path), "--json", str(card), "--judge", "ann"]) == 0
    found = json.loads(card.read_text())
    wanted = numbers(selfpref.measure(judgments(), judge="ann"))
    assert {key: found[key] for key in wanted} == wanted
    made, digest = found["made"], hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    assert (made["resamples"], made["seed"], made["options"]) == (200, 20241030, "--judge ann")
    assert made["files"] == {"mine.jsonl": digest}
    ann = found["judges"]["ann"]
    tp, fn, fp, tn = (ann["cells"][name] for name in ("tp", "fn", "fp", "tn"))
    eo = ann["equal_opportunity"]
    assert eo["value"] == pytest.approx(tp / (tp + fn) - tn / (fp + tn), abs=1e-6)
    assert (eo["human_own"], eo["human_other"], ann["pairs"]) == (tp + fn, fp + tn, 120)
    written, of = capsys.readouterr().out.splitlines()[-2:]
    assert written.startswith(f"written by selfpref {selfpref.__version__} on {made['date']}; 200")
    assert of == f"of mine.jsonl (sha256 {digest})"


@pytest.mark.usefixtures("repository")
def test_votes_may_stand_beside_and_the_order_may_be_unknown():
    frame = judgments()
    bare, votes = frame.drop(columns=VOTES), frame[[*PAIR, *VOTES]].drop_duplicates()
    whole = numbers(selfpref.measure(frame))
    assert numbers(selfpref.measure(bare, votes=votes)) == whole
    for name, rows in (("bare.csv", bare), ("votes.csv", votes)):
        rows.to_csv(name, index=False)
    assert numbers(selfpref.read("bare.csv", votes="votes.csv")) == whole
    fewer = selfpref.measure(bare[bare["item"].gt(0)], votes=votes)
    assert fewer.to_dict()["voted_pairs_that_nobody_judged"] == 3
    alone = selfpref.measure(bare).to_dict()["judges"]["ann"]
    assert (alone["favours_itself"], alone["flips"]["n"]) == (None, 120)
    one = frame[frame["order"].eq("ab")].drop(columns="order")
    found = selfpref.measure(one).to_dict()["judges"]["ann"]
    assert (found["flips"]["n"], found["first_position"]["n"]) == (0, 0)
    assert found["equal_opportunity"]["n"] > 0


def test_names_match_exactly_then_by_alias_and_are_never_guessed():
    frame = judgments().replace({"judge": {"ann": "Ann-generations"}})
    found = selfpref.measure(frame)
    assert list(found.to_dict()["judges"]) == ["bob", "cat"]
    assert "Ann-generations (nearest name: ann; join them with --alias)" in str(found)
    joined = selfpref.measure(frame, alias={"Ann-generations": "ann"})
    assert joined.to_dict() == selfpref.measure(judgments()).to_dict()
    strange = selfpref.measure(judgments(), alias={"bobb": "bob", "cat": "cat"}).to_dict()
    assert strange["names_that_match_nothing"] == {"bobb": "bob"}
    stranger = str(selfpref.measure(judgments(items=2, judges=("Ann",))))
    assert stranger.startswith("cannot tell, because no judge wrote a response that it judged\n\n")


def test_one_judge_has_a_card_and_one_that_wrote_nothing_has_agreement_and_position():
    frame = judgments(judges=FOUR)
    ann = frame["judge"].eq("ann") & frame["responder_a"].eq("ann")
    frame.loc[ann & frame["item"].lt(5), "verdict"] = None
    frame.loc[ann & frame["item"].between(10, 12), "verdict"] = "tie"
    frame.loc[frame["item"].between(5, 9), "label"] = "tie"
    whole, bob = selfpref.measure(frame).to_dict(), selfpref.measure(frame, judge="bob").to_dict()
    assert bob["judges"] == {"bob": whole["judges"]["bob"]}
    other = whole["judges_without_own_responses"]["dan"]
    assert 0 < other["agreement"]["n"] <= 180
    assert other["flips"]["n"] == 180
    # Missing verdicts and ties are counted, and no zeros.
    card = whole["judges"]["ann"]
    counts = ("pairs", "voted", "human_ties", "no_verdict")
    assert [card[name] for name in counts] == [120, 120, 10, 10]
    reversals = card["reversals"]
    assert card["judge_ties"] == pytest.approx(6 + reversals["value"] * reversals["n"], abs=1e-3)
    assert sum(card["cells"].values()) <= 94


def test_too_few_is_told_and_the_labels_of_a_key_are_not_called_peoples():
    found = str(selfpref.measure(frame := judgments(items=6)))
    assert ", too few" in found
    assert "answer key's" not in found
    frame = frame.assign(annotator="key", label=frame.groupby(PAIR)["label"].transform("first"))
    assert "answer key's" in str(selfpref.measure(frame))
    frame.loc[3, "label"] = "nobody"
    with refused(match="frame, row 3: label 'nobody'; give a, b, tie"):
        selfpref.measure(frame)


def test_a_judge_that_favours_itself_may_end_a_pipeline_as_that_of_the_example(tmp_path, capsys):
    assert main(["example"]) == 0
    (path := tmp_path / "example.csv").write_text(capsys.readouterr().out)
    assert main(["measure", str(path), "--brief", "--fail-on", "favours"]) == 1
    assert main(["measure", str(path), "--brief"]) == 0
    assert [name for name, one in selfpref.read(path).answers.items() if one.favours] == ["ada"]
    assert main(["measure", str(path), "--judge", "bea", "--fail-on", "favours"]) == 0


@pytest.mark.parametrize(("given", "status"), [(["example"], 141), (["measure", "mine.csv"], 0)])
def test_a_closed_pipe_ends_a_command_quietly(mine, given, status):
    command = [sys.executable, "-m", "selfpref", *given]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
        run.stdout.close()
        assert run.stderr.read() == b""
    assert run.returncode == status


def test_a_line_a_judge_comes_first_and_the_page_says_what_the_text_says(mine, capsys):
    judgments(items=30, judges=("ann", "bob", "guest")).to_csv(mine, index=False)
    shown = []
    for option in ("--html=card.html", "--brief"):
        assert main(["measure", "mine.csv", option]) == 0
        told = capsys.readouterr().out.splitlines()
        shown.append([re.split(r"\s{2,}|: ", line) for line in told])
    text, brief = shown
    assert text[: len(brief)] == brief
    assert brief[0] == ["judge", "answer", "its own term", "EO", "a person's EO"]
    assert re.fullmatch(r"[+-]\d\.\d\d \[.*", brief[1][3])
    page = re.sub("</?strong>", "", Path("card.html").read_text())
    parts = [part.replace("'", "&#39;") for line in text for part in line if part.strip("=")]
    assert [part for part in parts if part not in page] == []
    assert selfpref.read(mine)._repr_html_().startswith("<pre>judge  answer")


def test_hostile_names_are_text_and_nothing_is_fetched():
    found = selfpref.measure(judgments(items=12).replace({"ann": HOSTILE, "bob": "b" * 90}))
    assert HOSTILE in str(found)
    page = html(found)
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; {{ 7 * 7 }}" in page
    assert not re.findall(r"<(?:script|img|link|iframe)|(?:src|href)=[\"']|url\(", page)
    assert "default-src 'none'" in page


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("latin.txt", "latin.txt, line 3: 'utf-8' codec"),
        ("list.txt", "list.txt, entry 1: 1 is not a JSON object"),
        ("empty.txt", "empty.txt: no record; is the file empty?"),
        ("strange.txt", "strange.txt: of no known format; it has the fields 'model'"),
        ("--votes=votes.csv", "votes.csv, line 2: item 'other', as all of the votes, is not"),
        *((f"{one}mine.csv", "mine.csv: given twice") for one in ("", *FILES)),
        ("--json=mine.csv/card", "mine.csv/card: "),
        ("--json=" + "n" * 300, "n" * 300 + ": File name too long; mend it and run again"),
        ("--judge=eve", "--judge eve: no such judge, there are ann, bob, cat; --alias joins"),
    ],
)
def test_what_is_wrong_with_a_file_is_told_and_nothing_is_written_over(mine, capsys, given, told):
    for name, content in BAD.items():
        Path(f"{name}.txt").write_text(content, encoding="latin-1")
    pd.read_csv(mine).assign(item="other").to_csv("votes.csv", index=False)
    before = mine.read_bytes()
    assert main(["measure", "mine.csv", given]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: {told}")
    assert said.count("\n") <= 2
    assert mine.read_bytes() == before


def test_columns_may_have_other_names(mine, capsys):
    names = {"item": "qid", "verdict": "winner"}
    other = pd.read_csv(mine).rename(columns=names).assign(note="x", model="y")
    other.to_csv("other.csv", index=False)
    assert numbers(selfpref.read("other.csv", columns=names)) == numbers(selfpref.read(mine))
    assert main(["measure", "other.csv", "--columns", "item=id"]) == 1
    assert "--columns item=id: no such column; it has qid" in capsys.readouterr().err


def test_standard_input_is_read_and_several_files_are_one_set(mine, monkeypatch):
    wanted, frame = numbers(selfpref.read(mine)), pd.read_csv(mine)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(mine.read_bytes())))
    assert numbers(selfpref.read("-")) == wanted
    frame[:100].to_csv("one.csv", index=False)
    frame[100:].to_json("two.jsonl", orient="records", lines=True)
    assert numbers(selfpref.read("one.csv", "two.jsonl")) == wanted
