"""Processes: settings that only the command line makes, and the same results however many work."""

import os
import sys
import time
from types import SimpleNamespace

import pytest

from selfpref import processes
from selfpref.processes import each


@pytest.mark.parametrize(("free", "written"), [(2**26 - 1, False), (2**26, True)])
def test_a_users_setting_stays_and_a_full_disk_gets_no_module(monkeypatch, free, written):
    own = {"LRU_CACHE_CAPACITY": "99"}
    monkeypatch.setattr(processes.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(os, "environ", dict(own))
    monkeypatch.delitem(sys.modules, "rfc3987_syntax", raising=False)
    processes.settle()
    assert sys.dont_write_bytecode is not written
    assert sys.modules["rfc3987_syntax"] is None
    told = {} if written else {"PYTHONDONTWRITEBYTECODE": "1"}
    assert os.environ == processes.SETTINGS | own | told


def test_processors_are_those_of_this_process(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda of: {1, 2, 3} - {of}, raising=False)
    assert processes.processors() == 3
    # Where neither is known, as on some systems.
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processes.processors() == 1


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
