"""The third judge, on marks written by hand."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from conftest import SETTINGS

from selfpref.statistics.third import BEYOND, brackets, kinds, scaled, third_judge

# By item the marks of judges x, y and z (rows) for the texts of x, y and z, and the key's.
ITEMS = {
    "a": ([[9, 4, 6], [5, 7, 3], [4, 2, 8]], [0.0, 0.5, 1.0]),
    "b": ([[8, 8, 8], [8, 8, 7], [7, 8, 8]], [1.0, 1.0, 1.0]),
}


def tables():
    marks = pd.DataFrame(product(ITEMS, "xyz", "xyz"), columns=["item_id", "judge", "responder"])
    marks["score"] = np.ravel([rows for rows, _ in ITEMS.values()])
    key = pd.DataFrame(product(ITEMS, "xyz"), columns=["item_id", "responder"])
    key["score"] = np.ravel([right for _, right in ITEMS.values()])
    return marks.assign(cluster=marks["item_id"], task="t"), key


def test_d_holds_the_texts_and_the_judges_severity():
    marks, key = tables()
    rows = brackets(marks, key).query("item_id == 'a'").set_index(["judge", "responder"])
    # x: (own 9 - y's 4) - (z marks them 4 and 2); (9 - 6) - (y marks them 5 and 3).
    wanted = {"xy": 3, "xz": 1, "yx": (7 - 5) - (2 - 4), "yz": (7 - 3) - (4 - 6)}
    wanted |= {"zx": (8 - 4) - (3 - 5), "zy": (8 - 2) - (6 - 4)}
    assert {"".join(key): d for key, d in rows["d"].items()} == wanted
    assert rows.loc[("x", "y"), "third"] == "z"
    assert rows.loc[("x", "z"), ["own", "other", "key_own", "key_other"]].tolist() == [9, 6, 0, 1]
    # An incomplete bracket is no row.
    found = brackets(marks[~(marks["judge"].eq("z") & marks["responder"].eq("y"))], key)
    assert {*(found["judge"] + found["responder"])} == {"xz", "yz", "zx"}


@pytest.mark.parametrize(
    ("own", "other", "which"),
    [
        (0.5, 0.2, ["both wrong"]),
        (0.5, 0.45, ["both wrong", "both wrong, alike"]),
        (0.0, 1.0, ["own wrong"]),
        (1.0, 1.0, ["both right"]),
        (1.0, 0.0, []),
    ],
)
def test_a_text_is_wrong_where_the_key_gives_less_than_all(own, other, which):
    found = kinds(pd.DataFrame({"key_own": [own], "key_other": [other]}), 0.1).iloc[0]
    assert [*found.index[found]] == which


def test_means_by_judge_and_pooled_and_wrong_minus_right():
    found = third_judge(*tables(), ["x", "y"], SETTINGS.bootstrap, margin=0.0)
    of = found[found["scale"].eq("marks")].set_index(["judge", "kind"])
    assert of.loc[("x", "both wrong"), ["value", "n", "items"]].tolist() == [3, 1, 1]
    # Both right, x: (8 - 8) - (7 - 8) and (8 - 8) - (8 - 7).
    assert of.loc[("x", "both right"), ["value", "n"]].tolist() == [0, 2]
    assert of.loc[("x", BEYOND), ["value", "n", "items"]].tolist() == [3, 1, 1]
    assert of.loc[("y", "own wrong"), "value"] == (7 - 3) - (4 - 6)
    assert of.loc[("all", "both wrong"), ["value", "n", "items"]].tolist() == [3.5, 2, 1]
    assert of.loc[("x", "both wrong"), "spread"] == np.std([9, 4])
    # Marks that are scaled have no level in a task, and one unit.
    of = scaled(tables()[0].assign(task=lambda rows: rows["item_id"])).groupby("judge")
    assert of["score"].mean().abs().max() < 1e-12
    assert np.ptp(of["score"].std(ddof=0)) == pytest.approx(0)
