"""Bias, its controls, Table 2, ties and failures, on pairs counted by hand."""

from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from conftest import PUBLISHED, SETTINGS
from judged_sets import by_chance, data_set, said
from study_frames import equal

from selfpref import tables
from selfpref.statistics import judged
from selfpref.statistics.bias import CELLS
from selfpref.statistics.judged import Judged
from selfpref.studies.wataoka import checks, keyed, pairs, perplexity

NAMES, NAN = ("j", "k", "l"), np.nan


@pytest.fixture(scope="module")
def three():
    """Sixty prompts, three judges of all their responses, in both orders; three votes a pair."""
    return by_chance(np.random.default_rng(3), NAMES, 3, 60)


def test_an_excess_is_beyond_the_mean_of_the_others(three):
    excess = pairs.excess_table([three])
    assert (excess["few"] == excess[pairs.ALL_SIDES].lt(10).any(axis=1)).all()
    own = excess.query("variant == 'own'").set_index("judge")
    towards = judged.bias_by_judge_and_responder([three]).set_index(["judge", "responder"])["eo"]
    for judge in NAMES:
        others = np.mean([towards[other, judge] for other in NAMES if other != judge])
        assert own.loc[judge, "eo_others"] == pytest.approx(others)
        assert own.loc[judge, "excess"] == pytest.approx(towards[judge, judge] - others)
    controls = excess, judged.position([three]), checks.planted([three])
    table = pairs.with_controls(judged.bias([three]), *controls)
    assert table[CELLS].sum(axis=1).tolist() == table["n"].tolist() == own["n"].tolist()
    assert (table["n"] + table["n_dropped"] == 120).all()
    for name in ("excess", "eo_others"):
        assert table[name].tolist() == own[name].tolist()
        assert table[name].between(table[f"{name}_lo"], table[f"{name}_hi"]).all()


@pytest.mark.parametrize("cells", [(12, 9, 8, 11), (12, 3, 4, 11), (20, 0, 2, 13), (3, 1, 1, 2)])
def test_an_interval_is_of_the_value_by_the_formula(cells):
    votes, verdicts = said("me", "you", cells)
    row = pairs.bias_by_opponent([data_set(votes=votes, verdicts=verdicts)]).iloc[0]
    tp, fn, fp, tn = cells
    assert row["eo"] == pytest.approx(tp / (tp + fn) - tn / (fp + tn))
    assert row["eo_lo"] < row["eo"] < row["eo_hi"]
    assert (row["opponent"], *row[CELLS]) == ("you", *cells)


def test_a_live_judge_moves_no_released_judges_excess(three):
    verdicts = three.tables["verdicts"]
    live = verdicts.assign(released=verdicts["judge"].ne("l"))
    mixed, two = (
        pairs.excess_table([Judged("set", {**three.tables, "verdicts": rows}, SETTINGS)])
        for rows in (live, verdicts.query("judge != 'l'"))
    )
    assert mixed.groupby("judge")["left_out"].first().to_dict() == {"j": "l", "k": "l", "l": ""}
    same = ["judge", "variant", "excess", "excess_lo", "excess_hi", "others", "n"]
    pd.testing.assert_frame_equal(mixed.query("judge != 'l'")[same], two[same])


def test_readings_of_table_2():
    votes, verdicts = said("gpt-4", "you", (6, 1, 2, 3))
    votes += [(n, "gpt-4", "you", "tie") for n in (12, 13)]
    verdicts += [(n, "gpt-4", "gpt-4", "you", "gpt-4") for n in (12, 13, 14, 15)]
    row = pairs.demographic_parity([data_set(votes=votes, verdicts=verdicts)], PUBLISHED).iloc[0]
    for reading, n, won in (("decisive", 12, 8), ("with_ties", 14, 10), ("every", 16, 12)):
        assert row[f"n_{reading}"] == n
        assert row[f"dp_{reading}"] == pytest.approx(2 * won / n - 1)
    assert (row["n_dropped_decisive"], row["published"]) == (2, 0.749)


def test_wins_count_every_decided_vote_and_tell_ties_apart():
    votes = [(n, "a", "b", label) for n, label in enumerate(["a", "a", "b", "tie", "a"])]
    found = pairs.wins_by_human([data_set(votes=votes)])
    rows = ("a", 4, 3, 1, 1, 3 / 4), ("b", 4, 1, 3, 1, 1 / 4)
    equal(found, "responder n n_won n_lost n_ties win_rate", *rows)


# Of judge me on pairs with you: what each order says (me first, you first) and people say, and how
# often.
SAID = {"mmm": 12, "yyy": 11, "tmm": 3, "myy": 1, "ttm": 1, "m-m": 1, "mmt": 1}
CHOICES = {"m": "me", "y": "you", "t": "tie", "-": None}


@pytest.fixture(scope="module")
def undecided():
    votes, verdicts = [], []
    every = [name for name, times in SAID.items() for _ in range(times)]
    for n, letters in enumerate(every):
        one, two, human = (CHOICES[letter] for letter in letters)
        votes.append((n, "me", "you", human))
        verdicts += [(n, "me", "me", "you", one), (n, "me", "you", "me", two)]
    # Another judge that wrote neither: not in the table of own pairs, but its failures count.
    verdicts += [(n, "third", "you", "me", None if n < 4 else "me") for n in range(5)]
    return data_set("d", votes, verdicts)


def test_each_reading_of_a_tie_leaves_other_pairs(undecided):
    # People tie one pair of 30; one has a verdict in one order alone, which is no tie.
    columns, every = "judge n_human n_no_verdict judge_tie n_ties n tp", ("me", 29, 1)
    # The reversal and the double tie have no winner under any reading.
    rows = ("exact", 2, 26, 15), ("label-c", 5, 23, 12), ("orders-disagree", 2, 26, 15)
    equal(pairs.judge_ties([undecided]), columns, *((*every, *row) for row in rows))


def test_failures_are_counted_apart_from_ties(undecided):
    found, columns = pairs.exclusions([undecided]), "status n of share"
    counts = {"any failure": 1, "response": 54, "tie": 5, "unparsable": 1}
    equal(found, columns, *((name, n, 60, n / 60) for name, n in counts.items()), judge="me")
    equal(found, columns, ("any failure", 4, 5, 4 / 5), judge="third", status="any failure")


def test_the_example_has_a_witness_a_clear_vote_and_short_texts():
    votes = [(n, "me", "you", "you", who) for n in range(5) for who in "pqr"[: 1 + (n > 1)]]
    verdicts = [(n, "me", "me", "you", "me") for n in range(6)]
    verdicts += [(n, "you", "me", "you", "you") for n in (1, 2, 3)]
    rows = product(range(6), ("me", "you"), (0, 1))
    texts = [{"item": n, "responder": who, "step": k, "text": who * (9 - n)} for n, who, k in rows]
    found = pairs.example([data_set(votes=votes, verdicts=verdicts, responses=texts)])
    equal(found, "item_id judge opponent margin length", ("set/3", "me", "you", -2, 30))


def keyed_set():
    """A judge of 8b and one of 2b, each with 12 pairs of every case; the small one reverses."""
    # The large one follows itself; the small one, by a hair, the other.
    shares = {"x-8b": ([0.9, 0.1], [0.1, 0.9]), "y-2b": ([0.6, 0.4], [0.62, 0.38])}
    labels, truths, verdicts = [], [], []
    for item, (judge, case) in enumerate(product(shares, [*keyed.CASES] * 12)):
        pair = {"item": item, "responder_a": judge, "responder_b": "other", "annotator": "key"}
        labels.append(pair | {"label": ["tie", "a", "b"][int(case[0] - case[1])]})
        for who, score in zip((judge, "other"), case, strict=True):
            truths.append({"item": item, "responder": who, "metric": "correct", "score": score})
        for names, given in zip(permutations((judge, "other")), shares[judge], strict=True):
            row = {"item_id": f"set/{item}", "judge": judge, "candidates": [*names]}
            verdicts.append(row | {"probabilities": given, "choice": names[given[1] > given[0]]})
    data, status = data_set(labels=labels, truths=truths), {"status": "ok", "order_known": True}
    soft = tables.fill(verdicts, "verdicts", study="wataoka", mass=1.0, **status)
    return replace(data, tables={**data.tables, "verdicts": soft})


def test_a_key_on_a_judge_that_follows_itself_and_one_that_reverses():
    data = keyed_set()
    assert data.keyed
    found = keyed.bias([data])
    columns = "judge size tp fn fp tn eo dp"
    equal(found, columns, ("x-8b", 8, 12, 0, 12, 0, 1, 1), ("y-2b", 2, 0, 12, 0, 12, -1, -1))
    # Without any pair in which both orders name one response there is nothing, and no 0.
    rows = (0, 24, False, 1, NAN, 0.5), (1, 0, True, NAN, 0.01, 0.5)
    columns = "reversal_rate n_agreed few_agreed eo_agreed margin_reversed accuracy"
    equal(found, columns, *rows)
    cases = keyed.by_case([data]).set_index(["judge", "case"])
    assert cases.loc[("x-8b", "other alone right"), ["n", "n_own"]].tolist() == [12, 12]
    assert cases.loc["y-2b", "score"].tolist() == pytest.approx([0.49] * 4)


def test_slopes_over_sizes_need_enough_judges():
    rows = pd.DataFrame({"judge": list("pqrs"), "family": list("aabb"), "size": [1, 2, 4, 8]})
    rows["eo"], rows["accuracy"] = [0.0, 0.1, 0.2, 0.3], [0.5, 0.7, 0.4, 0.9]
    raw, given = keyed.sizes(rows.assign(dataset="d")).to_dict("records")
    assert raw["slope"] == pytest.approx(0.1)
    # Two judges cannot tell size from accuracy.
    assert np.isnan(given["least"])


@pytest.mark.parametrize("sets", [[], [data_set(verdicts=[(1, "j", "a", "b", None)])]])
def test_without_rows_every_frame_has_its_columns(sets):
    measures = {
        pairs.bias_by_opponent: pairs.BY_OPPONENT,
        pairs.judge_ties: pairs.TIES,
        pairs.example: pairs.EXAMPLE,
        pairs.excess_table: pairs.EXCESS,
        checks.planted: checks.PLANTED,
        checks.recovery: checks.RECOVERY,
        checks.oracle_agreement: checks.AGREEMENT,
        keyed.by_case: keyed.BY_CASE,
        perplexity.win_rates_by_bin: perplexity.RATES,
        perplexity.slopes: perplexity.SLOPES,
        perplexity.log_perplexity: perplexity.TEXTS,
        perplexity.outside_reader: perplexity.READERS,
    }
    for measure, columns in measures.items():
        found = measure(sets)
        assert (found.empty, list(found)) == (True, columns)
    assert list(pairs.exclusions([])) == pairs.EXCLUSIONS
    for measure in (pairs.demographic_parity, checks.checks):
        assert "published" in measure(sets, PUBLISHED)
    assert keyed.sizes(keyed.bias(sets)).empty
    # Nobody has read the texts.
    assert keyed.by_perplexity([keyed_set()]).empty
