"""Processes: settings that only the command line makes, and the same results however many work."""

import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from selfpref import processes
from selfpref.processes import each

LOOK = """
import os, pyarrow
from selfpref import processes, tables
{}
print(pyarrow.default_memory_pool().backend_name, processes.SETTINGS.items() <= os.environ.items())
"""


def look(then, **environment):
    clean = {name: value for name, value in os.environ.items() if name not in processes.SETTINGS}
    command, given = [sys.executable, "-c", LOOK.format(then)], clean | environment
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_imports_set_nothing_and_the_command_line_sets_what_the_user_did_not():
    pool, there = look("pass")
    assert there == "False"
    assert look("processes.settle()") == [pool, "True"]
    assert look("pass", **processes.SETTINGS) == ["system", "True"]
    assert look("processes.settle()", LRU_CACHE_CAPACITY="99")[1] == "False"


@pytest.mark.parametrize(("free", "written"), [(2**20, False), (2**40, True)])
def test_no_module_is_compiled_to_a_disk_that_is_nearly_full(monkeypatch, free, written):
    monkeypatch.setattr(processes.shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(os, "environ", {})
    processes.settle()
    assert sys.dont_write_bytecode is not written
    assert ("PYTHONDONTWRITEBYTECODE" not in os.environ) is written


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
