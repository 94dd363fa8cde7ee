"""What the recorded profile last wrote of Xu et al.: the printed table, and others' own counts."""

import pandas as pd
import pytest
from conftest import STAGED


def table(name, query):
    return pd.read_csv(STAGED / f"figures/recorded/xu/{name}.csv").query(query)


def test_the_human_table_is_that_of_the_paper():
    found = table("human", "n == 50")
    # The paper prints one decimal after 10, and the difference of rounding is all that is left.
    assert (found["bias"] - found["bias_published"]).abs().max() < 0.05
    biases = [9.62, 17.56, 19.60, 21.86, 8.06, 14.62]
    assert found.sort_values(["model", "step"])["bias"].tolist() == pytest.approx(biases)


def test_contaminated_steps_are_those_of_the_leftover_runs():
    spoilt = table("integrity", "contaminated and language != 'commongen'").groupby("model")
    steps = spoilt["step"].agg(list).to_dict()
    assert steps == {"llama2-70b": [3, 4], "llama2-7b": [*range(1, 11)]}
