"""Work beside each other: the same results in order however many processes there are."""

import os
import time

import pytest

from selfpref import processes
from selfpref.processes import each


def told(number, wait=0.0):
    """Later calls end first."""
    time.sleep(wait)
    if number == 5:
        raise ValueError("the fifth")
    return number, number**2, os.getpid()


@pytest.mark.parametrize("count", [1, 2])
def test_results_are_in_order_whatever_the_number_of_processes(monkeypatch, count):
    monkeypatch.setattr(processes, "processors", lambda: count)
    found = each(told, [(number, 0.1 * (4 - number)) for number in range(5)])
    assert [one[:2] for one in found] == [(number, number**2) for number in range(5)]
    assert (os.getpid() in {one[2] for one in found}) is (count == 1)
    # One call needs no process.
    assert each(told, [(3,)]) == [(3, 9, os.getpid())]
    assert each(told, []) == []
    with pytest.raises(ValueError, match="the fifth"):
        each(told, [(4,), (5,), (6,)])
