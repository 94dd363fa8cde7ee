"""Perplexity of a reader that is not the judge: who wrote the texts is told from the texts."""

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS

from selfpref import tables
from selfpref.studies.wataoka.measure.judged import Judged
from selfpref.studies.wataoka.measure.outside_reader import outside_reader, outside_win_rates, sides

NAMES = ("broken", "fair", "strong")
KEY = ["who", "reader", "control"]


def made(table, rows):
    return tables.fill(pd.DataFrame(rows).assign(study="wataoka"), table)


def judged(follows, seed=1, questions=300, readers=("smollm2", "fair"), turn=False, names=NAMES):
    """Pairs of responders of unequal quality and perplexity; a verdict `follows` the text's own.

    Strong responders are preferred and more predictable. Beyond that each text has a perplexity of
    its own, which moves a decision by `follows` a nat.
    """
    draw = np.random.default_rng(seed)
    items, responses, labels, verdicts, scores = [], [], [], [], []
    for number in range(questions):
        item = f"set/{number}"
        items.append({"item_id": item, "cluster": item, "messages": []})
        own = dict(zip(names, draw.normal(0, 0.3, 3), strict=True))
        length = dict(zip(names, draw.integers(20, 200, 3), strict=True))
        for place, name in enumerate(names):
            text = "x" * int(length[name])
            responses.append({"item_id": item, "responder": name, "text": text})
            for reader in readers:
                nats = 3 - 0.5 * place + own[name]
                scores.append(
                    {"item_id": item, "responder": name, "judge": reader, "conditional": True}
                    | {"sum_nll": 10 * nats, "n_tokens": 10, "n_bytes": 10, "status": "ok"}
                )
        for one, other in (("broken", "fair"), ("broken", "strong"), ("fair", "strong")):
            a, b = (other, one) if turn else (one, other)
            gap = 0.12 * (names.index(a) - names.index(b)) + follows * (own[a] - own[b])
            chosen, voted = draw.random(2) < 0.5 + np.clip(gap, -0.5, 0.5)
            pair = {"item_id": item, "responder_a": a, "responder_b": b}
            labels.append(pair | {"label": "a" if voted else "b"})
            verdicts.append(
                {"item_id": item, "judge": "fair", "task": "preference", "candidates": [a, b]}
                | {"choice": a if chosen else b, "order_known": True, "status": "ok"}
            )
    kinds = {"items": items, "responses": responses, "labels": labels, "verdicts": verdicts}
    found = {name: made(name, rows) for name, rows in kinds.items()}
    found["perplexities"] = made("perplexities", scores)
    found["truths"] = tables.empty("truths")
    found["responses"]["length"] = found["responses"].pop("text").str.len()
    return Judged("set", found, SETTINGS)


def slopes(data):
    return outside_reader(data).set_index(KEY)


def test_a_slope_that_is_authorship_alone_goes_once_responders_have_effects():
    found = slopes(judged(follows=0.0))
    for who in ("human", "fair"):
        raw, within = (found.loc[(who, "outside", name)] for name in ("raw", "length"))
        assert raw["slope_hi"] < -0.1
        assert within["slope_lo"] < 0 < within["slope_hi"]


def test_a_slope_of_the_texts_own_stays():
    found = slopes(judged(follows=-0.3))
    for control in ("responders", "length"):
        row = found.loc["human", "outside", control]
        assert row["slope_lo"] < -0.3 < row["slope_hi"] < 0


def test_which_response_is_called_a_changes_nothing():
    one, other = (
        slopes(judged(follows=-0.3, turn=turn)).loc[("human", "outside", "raw")]
        for turn in (False, True)
    )
    data = judged(follows=-0.3)
    swapped = {
        **data.tables,
        "labels": data.tables["labels"].rename(
            columns={"responder_a": "responder_b", "responder_b": "responder_a"}
        ),
    }
    swapped["labels"]["label"] = swapped["labels"]["label"].map({"a": "b", "b": "a"})
    again = slopes(Judged("set", swapped, SETTINGS)).loc[("human", "outside", "raw")]
    first = slopes(data).loc[("human", "outside", "raw")]
    assert again["slope"] == pytest.approx(first["slope"], abs=1e-12)
    assert one["n"] == other["n"] == 900


def test_its_own_reader_is_the_judge_and_everyone_else_is_outside():
    found = slopes(judged(0.0, readers=("smollm2", "fair", "strong"))).reset_index()
    assert found.set_index(["who", "reader"])["readers"].to_dict() == {
        ("fair", "own"): "fair",
        ("fair", "outside"): "2 models",
        ("human", "outside"): "3 models",
    }
    # The people's votes control for nothing in the people's own fit.
    assert "vote" not in set(found.loc[found["who"].eq("human"), "control"])


def test_a_text_without_perplexity_is_counted_and_never_zero():
    data = judged(0.0, readers=("smollm2",))
    scored = data.tables["perplexities"]
    scored.loc[scored["item_id"].eq("set/0"), ["sum_nll", "status"]] = [np.nan, "truncated"]
    row = slopes(data).loc["human", "outside", "raw"]
    assert (row["n"], row["n_dropped"]) == (897, 3)
    assert sum(rows["x"].isna().sum() for _, rows in sides(data)) == 6


def test_without_perplexities_there_is_nothing():
    data = judged(0.0)
    bare = Judged("set", {**data.tables, "perplexities": tables.empty("perplexities")}, SETTINGS)
    assert outside_reader(bare).empty
    assert outside_win_rates(bare).empty


def test_the_bins_of_fig_3_are_those_of_the_outside_readers():
    rates = outside_win_rates(judged(-0.5)).query("pairs == 'all' and who == 'judge'")
    assert rates["n"].sum() == 900
    assert rates["x"].is_monotonic_increasing
    assert rates["win_rate"].iloc[0] > 0.6
    assert rates["win_rate"].iloc[-1] < 0.4


def test_the_judges_own_reading_is_no_outside_one():
    assert outside_win_rates(judged(-0.5, readers=("fair",))).empty
