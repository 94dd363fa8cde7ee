"""Statistics beyond the papers on tables small enough to count by hand, and their invariances."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS, counted, entry, mt_bench_files, pin, vicuna80_files

from selfpref import tables
from selfpref.params.studies import Xu
from selfpref.statistics import choices, effects, power, scaled, turned
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.effects import POOLED
from selfpref.statistics.judged import Judged, bias
from selfpref.statistics.turned import LONG
from selfpref.studies.beyond import sets
from selfpref.studies.beyond.mitigations import by_rule
from selfpref.studies.beyond.tables import STATISTICS, long, recovery, together, wide
from selfpref.studies.livebench.panel import Panel
from selfpref.studies.wataoka.pairs import excess_table
from selfpref.studies.wataoka.read import mt_bench, vicuna80
from selfpref.studies.xu.bias import Settings as XuSettings

# item, the judges' choices, the human's label; the texts of `me` and `you`.
PAIRS = [
    # The human prefers me.
    ("1", {"me": "me", "you": "me"}, "a", "xxxx", "xx"),
    ("2", {"me": "me", "you": "you"}, "a", "xxx", "xxxx"),
    ("3", {"me": "tie", "you": "me"}, "a", "x", "x"),
    # The human prefers you.
    ("4", {"me": "me", "you": "you"}, "b", "xx", "xxxxx"),
    ("5", {"me": "you", "you": "you"}, "b", "xx", "xx"),
    # The human ties.
    ("6", {"me": "me", "you": "tie"}, "tie", "xxxxx", "x"),
    # No label.
    ("7", {"me": "me", "you": "me"}, None, "xx", "xx"),
]


def table(name, rows):
    return pd.DataFrame(rows, columns=list(tables.TABLES[name].columns))


def judged(pairs=PAIRS, settings=SETTINGS, truths=(), names=("me", "you")):
    one, two = names
    new = dict(zip(("me", "you", "tie"), (*names, "tie"), strict=True))
    items = [{"item_id": f"d/{key}", "cluster": f"c{key}", "metadata": "{}"} for key, *_ in pairs]
    verdicts = [
        {
            "item_id": f"d/{key}",
            "judge": new.get(judge, judge),
            "task": "preference",
            "variant": "plain",
            "candidates": [one, two],
            "order_known": False,
            "repeat": 0,
            "choice": new.get(choice, choice),
            "status": "ok" if choice else "failed",
        }
        for key, choices, *_ in pairs
        for judge, choice in choices.items()
    ]
    labels = [
        {"item_id": f"d/{key}", "responder_a": one, "responder_b": two}
        | {"annotator": "human", "repeat": 0, "label": label}
        for key, _, label, *_ in pairs
        if label
    ]
    responses = [
        {"item_id": f"d/{key}", "responder": name, "step": 0, "sample": 0, "text": text}
        for key, _, _, *texts in pairs
        for name, text in zip(names, texts, strict=True)
    ]
    found = {
        "items": table("items", items),
        "verdicts": table("verdicts", verdicts).assign(probabilities=None),
        "labels": table("labels", labels),
        "responses": counted(table("responses", responses)),
        "truths": table("truths", list(truths)),
        "perplexities": tables.empty("perplexities"),
    }
    return Judged("d", found, settings)


def of_pairs(*data):
    """The rows of data sets of pairs, as the notebook makes them."""
    rows = [row for one in data for row in choices.against_people(one)]
    for labelled in (labelled for one in data for labelled in sets.by_gold(one)):
        rows += choices.of_judges(turned.from_pairs(*labelled))
        if sets.regressed(labelled):
            rows += [*effects.of_pairs(*labelled), *scaled.of_pairs(*labelled)[0]]
    return rows


def contests(panel):
    made = [row for one in sets.from_choices(panel, SETTINGS) for row in choices.of_judges(one)]
    return [*made, *sets.of_contests(panel, 0.95)]


def preferences(confidences, texts):
    made = sets.from_confidences(confidences, texts, SETTINGS)
    return [row for one in made for row in choices.of_judges(one)]


def indexed(rows):
    return long(rows).set_index(["judge", "gold", "statistic"])


@pytest.fixture(scope="module")
def hand():
    return indexed(of_pairs(judged()))


@pytest.mark.parametrize(
    ("statistic", "gold", "value", "n", "dropped"),
    [
        # Of six decided rows me chooses itself five times; the tie is dropped.
        ("demographic_parity", "none", 2 * 5 / 6 - 1, 6, 1),
        # Decided by both: 1, 2 (own, own), 4 (other, own), 5 (other, other); 3 and 6 are ties.
        ("demographic_parity", "human", 2 * 3 / 4 - 1, 4, 2),
        ("equal_opportunity", "human", 1 - 1 / 2, 4, 2),
        # You sees 1, 2, 3 (me, you, me) and 4, 5 (you, you): EO 2/3 - 1 towards me.
        ("excess", "human", 1 / 2 - (2 / 3 - 1), 4, 2),
        # Both decide 1, 2, 4, 5: you has 1/2 - 1.
        ("excess_common", "human", 1 / 2 - (1 / 2 - 1), 4, 2),
        # Me: (1 + 1 + 1/2)/3 - 1/2; you: 2/3 - 1.
        ("excess_half_ties", "human", (2.5 / 3 - 1 / 2) - (2 / 3 - 1), 5, 1),
        # Wins of me 1, 1, 1/2, 1, 0, 1, 1; of you's verdicts 1, 0, 1, 0, 0, 1/2, 1.
        ("paired_excess", "none", (5.5 - 3.5) / 7, 7, 0),
        # 4.5 wins in the six labelled rows; the human gives 3.5.
        ("gold_gap", "human", (4.5 - 3.5) / 6, 6, 0),
        ("equal_quality", "human", 1 / 2, 1, 0),
        ("harmful", "human", 1 / 2, 2, 0),
        ("neutral", "human", 1.0, 1, 0),
        ("legitimate", "human", 2.5 / 3, 3, 0),
    ],
)
def test_counted_by_hand(hand, statistic, gold, value, n, dropped):
    row = hand.loc[("me", gold, statistic)]
    assert row["value"] == pytest.approx(value)
    assert row[["n", "dropped"]].tolist() == [n, dropped]
    assert row["reason"] == ""


def test_both_human_sides_stand_beside_eo_and_excess(hand):
    # Me decides 1, 2 (own) and 4, 5 (other); you all of 1 to 5.
    sides = ["n_human_own", "n_human_other", "n_human_least"]
    human = hand.loc[("me", "human")]
    for name in ("equal_opportunity", "excess", "excess_common"):
        assert human.loc[name, sides].tolist() == [2, 2, 2], name
    assert human.loc["excess_half_ties", sides].tolist() == [3, 2, 2]
    assert human.loc[["harmful", "gold_gap"], sides].isna().all(axis=None)


def test_fewer_than_ten_pairs_on_one_human_side_are_too_few():
    rows = pd.DataFrame(
        {"n": [50, 50, 9, 0], "n_human_own": [40, 41, np.nan, np.nan], "n_human_other": [10, 9] * 2}
    )
    assert turned.too_few(rows).tolist() == [False, True, True, False]
    # Another judge's side counts as well.
    assert turned.too_few(rows.assign(n_human_least=9)).tolist() == [True, True, True, False]


def test_what_is_too_few_is_not_quoted_to_readers():
    rows = long(of_pairs(judged()))
    assert rows.loc[rows["n"].between(1, 9), "few"].all()
    row = wide(rows).query("judge == 'me' and gold == 'human'").iloc[0]
    assert row["equal_opportunity"] == "too few"


def test_rates_of_all_or_none_have_an_interval_with_a_width(hand):
    row = hand.loc[("me", "human", "neutral")]
    assert row["value"] == 1
    assert row["lo"] < 0.5
    assert row["hi"] == 1
    assert set(hand.loc[hand["interval"].eq("Wilson")].index.get_level_values("statistic")) == {
        *("demographic_parity", "equal_quality", "harmful", "neutral", "legitimate")
    }


def test_equal_length_is_the_fit_at_no_difference(hand):
    row = hand.loc[("me", "none", "equal_length")]
    x = [np.log1p(len(mine)) - np.log1p(len(other)) for *_, mine, other in PAIRS]
    _, at_zero = np.polyfit(x, np.array([1, 1, 0.5, 1, 0, 1, 1]) - 0.5, 1)
    assert row["value"] == pytest.approx(at_zero)
    assert row["n"] == 7


def test_intervals_hold_their_value_and_every_statistic_is_there(hand):
    known = hand[hand["n"].gt(0)].dropna(subset=["lo"])
    assert (known["lo"] <= known["value"] + 1e-12).all()
    assert (known["value"] <= known["hi"] + 1e-12).all()
    assert set(hand.index.get_level_values("statistic")) == set(STATISTICS)
    assert list(hand.reset_index()[LONG].columns) == LONG


def test_missing_is_nan_with_a_reason_and_never_zero():
    # One judge, no tie, no text: nothing to compare with, nothing of equal quality, no length.
    alone = judged([(key, {"me": "me"}, "a", "x", "x") for key in "12"])
    alone.tables["responses"] = alone.tables["responses"].iloc[:0]
    found = indexed(of_pairs(alone)).loc["me"]
    missing = found[found["n"].eq(0)]
    assert missing[["value", "lo", "hi"]].isna().all(axis=None)
    reasons = missing["reason"].droplevel("gold")
    assert reasons["equal_opportunity"] == "the gold label prefers one side only"
    assert reasons["excess"] == "no second judge read the same responses"
    assert reasons["equal_quality"] == "no such set with a verdict"
    assert reasons["regression"] == "own text cannot be told from the responder"
    assert reasons["equal_length"] == reasons["regression_length"] == "the texts are not known"


def test_a_failed_verdict_is_dropped_and_counted():
    broken = [*PAIRS[:4], ("5", {"me": None, "you": "you"}, "b", "xx", "xx"), *PAIRS[5:]]
    found = indexed(of_pairs(judged(broken)))
    row = found.loc[("me", "human", "gold_gap")]
    assert row[["n", "dropped"]].tolist() == [5, 1]
    assert found.loc[("me", "human", "harmful"), ["value", "n", "dropped"]].tolist() == [1.0, 1, 1]


def test_names_play_no_part(hand):
    # Under these names the other responder sorts first in every pair.
    turned = indexed(of_pairs(judged(names=("zebra", "ant"))))
    one = hand.loc["me"][["value", "n", "dropped"]]
    pd.testing.assert_frame_equal(one, turned.loc["zebra"][["value", "n", "dropped"]])


def test_a_judge_that_copies_the_gold_label_has_no_gap():
    copied = {"a": "me", "b": "you", "tie": "tie"}
    pairs = [
        (str(n), dict.fromkeys(("me", "you", "third"), copied[label]), label, "xx", "x" * n)
        for n, label in enumerate(["a", "b", "tie", "a", "b", "a", "tie", "b", "a"])
    ]
    found = indexed(of_pairs(judged(pairs)))
    for judge in ("me", "you"):
        values = found.loc[(judge, "human"), "value"]
        for name in ("gold_gap", "equal_quality", "harmful", "excess"):
            assert values[name] == 0, name
        assert values["regression"] == pytest.approx(0, abs=1e-9)
        assert values["legitimate"] == 1
        assert values["neutral"] == 0.5
    assert found.loc[(POOLED, "human", "regression"), "value"] == pytest.approx(0, abs=1e-9)


def test_the_oracle_is_a_gold_label_of_its_own(hand):
    # It prefers `you` in item 1 and nothing in the others.
    truths = [
        {"item_id": f"d/{key}", "responder": name, "step": 0, "metric": "quality"}
        | {"score": float(key == "1" and name == "you")}
        for key, *_ in PAIRS
        for name in ("me", "you")
    ]
    found = indexed(of_pairs(judged(truths=truths)))
    assert found.loc[("me", "oracle", "harmful"), ["value", "n"]].tolist() == [1, 1]
    assert found.loc[("me", "oracle", "equal_quality"), ["value", "n"]].tolist() == [
        pytest.approx(4.5 / 6 - 1 / 2),
        6,
    ]
    under_human = found.xs("human", level="gold")["value"]
    pd.testing.assert_series_equal(under_human, hand.xs("human", level="gold")["value"])


# Contests: three judges choose among three responses; the key knows who is right.
CHOICES = {
    # item: (choices of a, b, c), scores of a, b, c
    "1": (("a", "b", "a"), (1, 0, 0)),  # a legitimate
    "2": (("a", "b", "c"), (0, 1, 0)),  # a harmful
    "3": (("b", "b", "b"), (0, 1, 1)),  # a harmful, not chosen
    "4": (("a", "a", "tie"), (1, 1, 0)),  # neutral
    "5": (("a", "c", "a"), (1, 1, 1)),  # all alike
}


def contest():
    judges = ("a", "b", "c")
    items = [
        {"item_id": key, "cluster": key, "category": "sums", "metadata": "{}"} for key in CHOICES
    ]
    verdicts = [
        {"item_id": key, "judge": judge, "task": "preference", "variant": "plain"}
        | {"candidates": list(judges), "order_known": True, "repeat": 0}
        | {"choice": choice, "status": "ok"}
        for key, (choices, _) in CHOICES.items()
        for judge, choice in zip(judges, choices, strict=True)
    ]
    truths = [
        {"item_id": key, "responder": name, "step": 0, "metric": metric, "score": float(score)}
        for key, (_, scores) in CHOICES.items()
        for metric in ("strict", "tolerant", "rubric")
        for name, score in zip(judges, scores, strict=True)
    ]
    # Judge a gives itself 3 points, the others give it 2 and 1; the true rubric says 1 or 0.
    points = {("a", "a"): 3, ("b", "a"): 2, ("c", "a"): 1}
    ratings = [
        {"item_id": key, "responder": name, "step": 0, "sample": 0, "judge": judge}
        | {"task": "rubric", "variant": "plain", "repeat": 0}
        | {"score": float(points.get((judge, name), 2)), "status": "ok"}
        for key in CHOICES
        for judge in judges
        for name in judges
    ]
    found = {
        "items": table("items", items),
        "verdicts": table("verdicts", verdicts),
        "truths": table("truths", truths),
        "ratings": table("ratings", ratings),
        "responses": tables.empty("responses"),
    }
    return Panel(found, 0.0, ClusterBootstrap(200, seed=1))


def test_choices_among_three_counted_by_hand():
    found = indexed(contests(contest())).loc["a"]
    # Four of five: (4/5 - 1/3) / (2/3).
    assert found.loc[("none", "demographic_parity"), "value"] == pytest.approx(0.7)
    # The others choose a in 1/2, 0, 0, (1 + 1/3)/2 and 1/2 of the sets.
    others = (0.5 + 0 + 0 + (1 + 1 / 3) / 2 + 0.5) / 5
    assert found.loc[("none", "paired_excess"), "value"] == pytest.approx(4 / 5 - others)
    key = found.loc["key-strict"]
    for name, value, n in (
        ("harmful", 1 / 2, 2),
        ("neutral", 1.0, 2),
        ("legitimate", 1.0, 1),
        # Decided by the key: 1, 2 and 3: 1 - 1/2.
        ("equal_opportunity", 1 / 2, 3),
        # Only in the last set all responses are alike.
        ("equal_quality", 1 - 1 / 3, 1),
        # The key gives a 1, 0, 0, 1/2, 1/3.
        ("gold_gap", (4 - 11 / 6) / 5, 5),
    ):
        assert key.loc[name, "value"] == pytest.approx(value), name
        assert key.loc[name, "n"] == n, name


def test_gaps_of_scores_counted_by_hand():
    found = indexed(contests(contest())).loc["a"]
    assert found.loc[("other judges", "gold_gap"), "value"] == pytest.approx(3 - 1.5)
    # The true rubric gives a 1, 0, 0, 1, 1.
    assert found.loc[("rubric", "gold_gap"), ["value", "n", "unit"]].tolist() == [
        pytest.approx(3 - 3 / 5),
        5,
        "rubric points",
    ]
    # An answer key is no gold for the points of a rubric.
    assert ("key-strict", "gold_gap") in found[found["unit"].eq("probability")].index
    assert ("key-strict", "gold_gap") not in found[found["unit"].ne("probability")].index


def test_a_severe_judge_does_not_disfavour_its_own():
    panel = contest()
    ratings = panel.tables["ratings"]
    severe = ratings["score"] - ratings["judge"].map({"a": 5.0, "b": 0.0, "c": 1.0})
    moved = {**panel.tables, "ratings": ratings.assign(score=severe)}
    one, two = (
        indexed(contests(p)).xs("regression", level="statistic")
        for p in (panel, dataclasses.replace(panel, tables=moved))
    )
    assert (one["n"] == two["n"]).all()
    np.testing.assert_allclose(one["value"], two["value"], atol=1e-9)


def test_refinement_has_a_gap_at_step_zero_alone():
    items = [
        {
            "item_id": f"yor-en/{n}",
            "cluster": str(n),
            "messages": [{"role": "user", "content": "x"}],
        }
        for n in range(3)
    ]
    texts = [
        {"item_id": f"yor-en/{n}", "responder": "me", "step": step, "sample": 0, "text": f"t{step}"}
        for n in range(3)
        for step in (0, 1)
    ]
    ratings = [
        {key: text[key] for key in ("item_id", "responder", "step", "sample")}
        | {"judge": "me", "task": "mqm", "variant": "plain", "repeat": 0}
        | {"score": -1.0 if text["step"] == 0 else 0.0, "status": "ok"}
        for text in texts
    ]
    truths = [
        {key: text[key] for key in ("item_id", "responder", "step")}
        | {"metric": "mqm", "score": -5.0}
        for text in texts
    ]
    found = {
        "items": table("items", items),
        "responses": table("responses", texts),
        "ratings": table("ratings", ratings),
        "truths": table("truths", truths),
    }
    settings = XuSettings(
        Xu.model_construct(truth="mqm", matcher="lemma"), ClusterBootstrap(200, seed=1)
    )
    frame = long(sets.of_refinement(found, settings))
    assert frame[["judge", "gold", "value", "n", "unit"]].values.tolist() == [
        ["me", "mqm", 4.0, 3, "MQM points"]
    ]


def confidences(values):
    return pd.DataFrame(
        {
            "dataset": "xsum",
            "evaluator": "gpt4",
            "own": "gpt4",
            "other": "human",
            "item_id": [f"xsum/{n}" for n in range(len(values))],
            "cluster": [str(n) for n in range(len(values))],
            "task": "preference",
            "variant": "plain",
            "held_out": True,
            "corrected": values,
        }
    )


BARE = {name: tables.empty(name) for name in ("responses", "truths")}


def test_preferences_held_to_the_oracle():
    # The oracle prefers the own text, the other one, neither; two texts it does not know.
    scores = {"0": (2, 1), "1": (0, 1), "2": (3, 3)}
    truths = [
        {
            "item_id": f"xsum/{key}",
            "responder": name,
            "step": 0,
            "metric": "quality",
            "score": score,
        }
        for key, pair in scores.items()
        for name, score in zip(("gpt4", "human"), pair, strict=True)
    ]
    known = BARE | {"truths": table("truths", truths)}
    found = indexed(preferences(confidences([0.9, 0.6, 0.8, 0.1, 0.9]), known))
    oracle = found.loc[("gpt4", "oracle")]
    assert oracle.loc["gold_gap", ["value", "n"]].tolist() == [pytest.approx(1 - 0.5), 3]
    assert oracle.loc["harmful", ["value", "n"]].tolist() == [1, 1]
    assert oracle.loc["equal_quality", ["value", "n"]].tolist() == [0.5, 1]
    # All five enter where no gold label is needed.
    assert found.loc[("gpt4", "none", "demographic_parity"), "n"] == 5


def test_preferences_without_gold_labels():
    found = indexed(preferences(confidences([0.9, 0.6, 0.5, 0.1, np.nan]), BARE))
    assert set(found.index.get_level_values("gold")) == {"none"}
    found = found.loc[("gpt4", "none")]
    # Two of three decided; a tie and a missing answer are dropped.
    assert found.loc["demographic_parity", "value"] == pytest.approx(1 / 3)
    assert found.loc["demographic_parity", ["n", "dropped"]].tolist() == [3, 2]
    assert found.loc["paired_excess", "n"] == 0


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    root = tmp_path_factory.mktemp("mirror")
    patch = pytest.MonkeyPatch()
    patch.setenv("SELFPREF_ARCHIVES", str(root))
    made = []
    for name, module, files, judges in (
        ("mt-bench", mt_bench, mt_bench_files(12), ["gpt-4"]),
        ("vicuna80", vicuna80, vicuna80_files(12), list(vicuna80.NAMES.values())),
    ):
        source = pin(root, f"owner/{name}", files, root / f"{name}.csv")
        read = module.read(name, entry("wataoka", name, judges), source)
        none = {key: tables.empty(key) for key in ("truths", "perplexities")}
        found = none | {key: tables.validate(f, key, name) for key, f in read.items()}
        found["responses"] = counted(found["responses"])
        made.append(Judged(name, found, SETTINGS))
    patch.undo()
    return made


def test_the_chapters_of_the_studies_say_the_same(released):
    """EO, parity and excess are those of the study of Wataoka et al., intervals included."""
    rows = long(of_pairs(*released))
    human = rows[rows["gold"].eq("human")]
    for data in released:
        mine = human[human["dataset"].eq(data.name)].set_index(["judge", "statistic"])
        for row in bias([data]).itertuples():
            for name, short in (("equal_opportunity", "eo"), ("demographic_parity", "dp")):
                found = mine.loc[(row.judge, name), ["value", "lo", "hi", "n", "dropped"]]
                wanted = [getattr(row, f"{short}{end}") for end in ("", "_lo", "_hi")]
                assert found.tolist() == pytest.approx([*wanted, row.n, row.n_dropped])
        for row in excess_table([data]).itertuples():
            name = {"own": "excess", "common": "excess_common", "half-ties": "excess_half_ties"}
            found = mine.loc[(row.judge, name[row.variant]), ["value", "lo", "hi", "n"]]
            if not np.isnan(row.excess):
                wanted = [row.excess, row.excess_lo, row.excess_hi, row.n]
                assert found.tolist() == pytest.approx(wanted)
                assert mine.loc[(row.judge, name[row.variant]), "few"] == row.few


def test_the_order_of_the_rows_changes_no_number(released):
    mixed = [
        Judged(
            data.name,
            {name: frame.sample(frac=1, random_state=3) for name, frame in data.tables.items()},
            SETTINGS,
        )
        for data in released
    ]
    one, two = (long(of_pairs(*every)) for every in (released, mixed))
    pd.testing.assert_frame_equal(one, two)
    for data, other in zip(released, mixed, strict=True):
        pd.testing.assert_frame_equal(scaled.placebos(data), scaled.placebos(other))
        plans = (power.needed(turned.from_pairs(of, of.pairs, "human")) for of in (data, other))
        pd.testing.assert_frame_equal(*plans)
        for frames in zip(by_rule(data), by_rule(other), strict=True):
            pd.testing.assert_frame_equal(*frames)


def test_one_row_a_judge_gold_label_and_unit_for_readers(released):
    rows = long(of_pairs(*released))
    table = wide(rows)
    assert len(table) == len(rows[["study", "dataset", "judge", "gold", "unit"]].drop_duplicates())
    row = table.query("dataset == 'mt-bench' and gold == 'human'").iloc[-1]
    assert row["judge"] == "gpt-4"
    assert row["regression"] == ""
    assert "[" in row["demographic_parity"]
    assert row["equal_opportunity"] == "too few"
    # No cell is a formula to a spreadsheet.
    assert not table.map(lambda cell: str(cell).startswith("-")).any(axis=None)


def test_nothing_to_read_gives_empty_frames():
    rows = long(preferences(confidences([]), BARE))
    assert rows.empty
    assert list(rows.columns) == LONG
    assert wide(rows).empty
    assert recovery(rows, [], 0.95).empty
    # A sentence that looks for a row finds the columns.
    none = together([], scaled.PLACEBO)
    assert (len(none), list(none.columns)) == (0, [*scaled.PLACEBO, "few"])


def test_a_pair_without_texts_has_no_length():
    data = judged()
    data.tables["responses"] = data.tables["responses"].iloc[2:]
    rows = turned.from_pairs(data, data.pairs, "human").own("me").set_index("item_id")
    assert rows["length"].isna().tolist() == [True] + [False] * 6


def test_a_choice_among_three_has_the_length_beyond_the_mean_of_the_others():
    texts = [
        {"item_id": "1", "responder": name, "step": 0, "sample": 0, "text": "x" * n, "status": "ok"}
        for name, n in (("a", 10), ("b", 4), ("c", 2))
    ]
    panel = contest()
    panel = dataclasses.replace(
        panel, tables=panel.tables | {"responses": table("responses", texts)}
    )
    rows = sets.from_choices(panel, SETTINGS)[0].rows
    found = rows[rows["item_id"].eq("1")].groupby("responder")["length"].first()
    a, b, c = np.log1p([10, 4, 2])
    beyond_others = {"a": a - (b + c) / 2, "b": b - (a + c) / 2, "c": c - (a + b) / 2}
    assert found.to_dict() == pytest.approx(beyond_others)


def test_a_statistic_that_follows_what_was_planted_correlates_with_it():
    betas = {"a": -0.2, "b": 0.0, "c": 0.1, "d": 0.4, "e": 0.9}
    rows = [
        {"dataset": "d", "judge": judge, "gold": "human", "statistic": name, "n": 1, "value": value}
        for judge, beta in betas.items()
        for name, value in (("excess", 2 * beta + 1), ("harmful", -(beta**3)), ("neutral", 0.5))
    ]
    planted = SimpleNamespace(name="d", betas=pd.Series(betas))
    found = recovery(pd.DataFrame(rows), [planted], 0.95).set_index("statistic")
    # What does not vary has no correlation.
    assert list(found.index) == ["excess", "harmful"]
    assert found.loc["excess", "r"] == pytest.approx(1)
    assert np.isnan(found.loc["excess", "lo"])
    harmful = found.loc["harmful"]
    x = np.array(list(betas.values()))
    assert harmful["r"] == pytest.approx(np.corrcoef(x, -(x**3))[0, 1])
    wanted = np.tanh(np.arctanh(harmful["r"]) + 1.959964 / np.sqrt(2))
    assert harmful["hi"] == pytest.approx(wanted)
    assert recovery(pd.DataFrame(rows), [], 0.95).empty
