"""An address in a table whose bounds are called `lo` and `hi`."""

import pandas as pd
import pytest

from selfpref.bounded import bounded
from selfpref.statements import AbsentError

MEANS = pd.DataFrame(
    {"judge": ["a", "b"], "mean": [0.5, 0.4], "lo": [0.4, None], "hi": [0.6, None]}
)


def test_the_bounds_are_lo_and_hi():
    found = bounded("means", "mean", judge="a")({"means": MEANS})
    assert found == (0.5, 0.4, 0.6)
    assert f"{found:.1f}" == "0.5 [0.4, 0.6]"


@pytest.mark.parametrize("judge", ["b", "c"])
def test_without_its_row_or_bounds_there_is_nothing_to_say(judge):
    with pytest.raises(AbsentError):
        bounded("means", "mean", judge=judge)({"means": MEANS})


def test_a_table_without_bounds_is_an_error():
    with pytest.raises(LookupError, match="lo"):
        bounded("means", "mean", judge="a")({"means": MEANS.drop(columns="lo")})
