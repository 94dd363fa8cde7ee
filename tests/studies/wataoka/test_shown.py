"""From the pairs that the chapter shows the pipeline's values follow by plain arithmetic."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from test_outside_reader import judged

from selfpref.studies.wataoka.measure.by_responder import bias_by_judge_and_responder
from selfpref.studies.wataoka.measure.judged import bias
from selfpref.studies.wataoka.measure.outside_reader import outside_reader
from selfpref.studies.wataoka.measure.shown import COLUMNS, pairs_of_one_judge


def equal_opportunity(rows):
    own, judge = rows["human"], rows["decision"]
    return (own * judge).sum() / own.sum() - ((1 - own) * (1 - judge)).sum() / (1 - own).sum()


def onlooking(data):
    """The same pairs, judged by someone who wrote none of the responses."""
    verdicts = data.tables["verdicts"].assign(judge="onlooker")
    return replace(data, tables={**data.tables, "verdicts": verdicts})


def test_a_judges_own_pairs_give_its_bias():
    data = judged(follows=-0.3)
    rows = pairs_of_one_judge(data)
    assert list(rows) == COLUMNS
    assert rows[["judge", "responder"]].eq("fair").all(axis=None)
    assert len(rows) == 600
    (row,) = bias(data).to_dict("records")
    assert equal_opportunity(rows[rows["enters"]]) == pytest.approx(row["eo"], abs=1e-12)
    assert rows["enters"].sum() == row["n"]


def test_a_pair_that_the_judge_ties_is_there_and_does_not_enter():
    data = judged(follows=0.0)
    own = data.own("fair").iloc[0]
    verdicts = data.tables["verdicts"]
    of_pair = verdicts["candidates"].map(set).map({"fair", own["opponent"]}.__eq__)
    verdicts.loc[verdicts["item_id"].eq(own["item_id"]) & of_pair, "choice"] = "tie"
    rows = pairs_of_one_judge(replace(data))
    assert rows.loc[~rows["enters"], "decision"].tolist() == [0.5]


def test_all_pairs_of_a_judge_that_wrote_none_give_its_bias_towards_each_model():
    data = onlooking(judged(follows=-0.3))
    rows = pairs_of_one_judge(data)
    assert len(rows) == 900
    turned = rows.assign(
        responder=rows["opponent"], human=1 - rows["human"], decision=1 - rows["decision"]
    )
    found = pd.concat([rows, turned]).query("enters").groupby("responder").apply(equal_opportunity)
    wanted = bias_by_judge_and_responder(data).set_index("responder")["eo"]
    assert found[wanted.index].tolist() == pytest.approx(wanted.tolist(), abs=1e-12)


def test_they_give_the_slope_on_perplexity_given_the_authors():
    data = onlooking(judged(follows=-0.3))
    rows = pairs_of_one_judge(data).dropna(subset=["decision", "x"])
    names = sorted({*rows["responder"], *rows["opponent"]})
    authors = [rows["responder"].eq(name) * 1.0 - rows["opponent"].eq(name) for name in names]
    found = np.linalg.lstsq(np.array([*authors, rows["x"]]).T, rows["decision"] - 0.5)[0][-1]
    fits = outside_reader(data).set_index(["who", "reader", "control"])["slope"]
    assert found == pytest.approx(fits["onlooker", "outside", "responders"], abs=1e-12)


def test_without_verdicts_there_are_none():
    data = judged(follows=0.0)
    none = replace(data, tables={**data.tables, "verdicts": data.tables["verdicts"].iloc[:0]})
    assert pairs_of_one_judge(none).empty
