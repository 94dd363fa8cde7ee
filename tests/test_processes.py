"""Work beside each other: the same results in order however many processes there are."""

import os
import time

import pytest

from selfpref import processes
from selfpref.processes import each


def told(number, wait=0.0):
    """Later calls end first."""
    time.sleep(wait)
    return number, number**2


def failed(number):
    if number == 2:
        raise ValueError("the second")
    return number


def pid(_):
    time.sleep(0.2)
    return os.getpid()


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_are_in_order_whatever_the_number_of_processes(monkeypatch, count):
    monkeypatch.setattr(processes, "processors", lambda: count)
    calls = [(number, 0.05 * (4 - number)) for number in range(5)]
    assert each(told, calls) == [(number, number**2) for number in range(5)]
    assert each(told, calls[:1]) == [(0, 0)]
    assert each(told, []) == []


def test_one_call_or_one_processor_needs_no_process_and_more_have_their_own(monkeypatch):
    assert each(pid, [(0,)]) == [os.getpid()]
    monkeypatch.setattr(processes, "processors", lambda: 1)
    assert each(pid, [(0,), (1,)]) == [os.getpid()] * 2
    monkeypatch.setattr(processes, "processors", lambda: 2)
    assert os.getpid() not in each(pid, [(0,), (1,)])


@pytest.mark.parametrize("count", [1, 2])
def test_a_failure_is_the_callers(monkeypatch, count):
    monkeypatch.setattr(processes, "processors", lambda: count)
    with pytest.raises(ValueError, match="the second"):
        each(failed, [(1,), (2,), (3,)])
