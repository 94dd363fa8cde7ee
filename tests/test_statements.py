"""A sentence takes its numbers from frames and is not made where a word of it is not true."""

import pandas as pd
import pytest

from selfpref.statements import Claim, Statement, Teller, claimed, estimate, value

BIAS = pd.DataFrame(
    {
        "judge": ["own", "other", "few"],
        "eo": [0.9, -0.25, None],
        "eo_lo": [0.8, -0.5, None],
        "eo_hi": [0.95, 0.1, None],
    }
)
FRAMES = {"bias": BIAS}
HIGHER = Statement(
    "{own:.2f} is higher than {other:.1f}",
    {"own": estimate("bias", "eo", judge="own"), "other": value("bias", "eo", judge="other")},
    {"higher": lambda n: n.own.value > n.other},
)


def test_numbers_are_printed_with_interval_and_minus_sign():
    assert HIGHER.said(FRAMES) == "0.90 [0.80, 0.95] is higher than \N{MINUS SIGN}0.2"


def test_a_word_that_is_not_true_is_told_and_the_sentence_is_not_made():
    turned = {"bias": BIAS.assign(eo=-BIAS["eo"])}
    assert HIGHER.said(turned).startswith("(With these data and settings “higher” is not true")


def test_a_table_of_one_estimate_calls_its_bounds_lo_and_hi():
    one = pd.DataFrame({"r": [0.9], "lo": [0.8], "hi": [0.95]})
    assert Statement("{r:.2f}", {"r": estimate("one", "r")}, {}).said({"one": one}) == (
        "0.90 [0.80, 0.95]"
    )


@pytest.mark.parametrize("frame", [BIAS.head(1), BIAS.iloc[:0], BIAS.assign(eo_lo=float("nan"))])
def test_without_its_rows_or_values_it_says_nothing(frame):
    assert HIGHER.said({"bias": frame}) == ""


@pytest.mark.parametrize(
    ("frames", "named"),
    [({}, "bias"), ({"bias": BIAS.drop(columns="eo_lo")}, "hi, lo")],
)
def test_a_table_or_column_that_is_not_there_is_an_error(frames, named):
    with pytest.raises(LookupError, match=named):
        HIGHER.said(frames)


def test_a_name_that_no_cell_gives_and_an_address_of_two_rows_are_errors():
    with pytest.raises(LookupError, match="unknown"):
        Statement("{unknown}", {}, {}).said(FRAMES)
    with pytest.raises(LookupError, match="3 rows"):
        Statement("{eo}", {"eo": value("bias", "eo")}, {}).said(FRAMES)


def test_what_is_counted_on_the_spot():
    counted = Statement("{n:.0f} of 3", {"n": lambda f: int(f["bias"]["eo"].gt(0).sum())}, {})
    assert counted.said(FRAMES) == "1 of 3"


def test_a_claim_is_a_row_with_its_cell_and_loses_its_verdict_where_a_word_breaks():
    claim = Claim(
        HIGHER.text,
        HIGHER.cells,
        HIGHER.holds,
        claim="c",
        place="Fig. 1",
        test="t",
        verdict="holds",
        figure="bias",
    )
    row = claim.row(FRAMES)
    assert (row["value"], row["lo"], row["hi"]) == (0.9, 0.8, 0.95)
    assert row["cell"] == "bias.csv: eo where judge = own"
    assert row["verdict"] == "holds"
    assert claim.row({"bias": BIAS.assign(eo=-BIAS["eo"])})["verdict"] is None
    nothing = claim.row({"bias": BIAS.iloc[:0]})
    assert (nothing["verdict"], nothing["value"], nothing["finding"]) == (None, None, "")


def test_a_chapter_says_what_its_data_hold():
    more = Statement("{few}", {"few": value("bias", "eo", judge="few")}, {})
    say = Teller({"higher": HIGHER, "few": more}, FRAMES)
    assert say("higher").data == say("higher", "few").data == HIGHER.said(FRAMES)
    assert say("few") is None
    assert say("higher", "higher").data.count("- 0.90") == 2


def test_a_chapter_shows_the_claims_that_its_data_can_be_asked_about(monkeypatch):
    shown = []
    monkeypatch.setattr("selfpref.plots.show.display", shown.append)
    monkeypatch.setattr("selfpref.statements.display", shown.append)
    more = {"claim": "c", "place": "p", "test": "t", "verdict": "holds", "figure": ""}
    claim = Claim(HIGHER.text, HIGHER.cells, HIGHER.holds, **more)
    claimed([claim, claim], FRAMES)
    claimed([claim], {"bias": BIAS.iloc[:0]})
    table, none = (one.data for one in shown)
    assert table.count("<tr>") == 3
    assert table.count("0.90 [0.80,\N{NO-BREAK SPACE}0.95]") == 2
    assert none.startswith("None of the claims")
