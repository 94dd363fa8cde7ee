"""Several calls at once: as one after the other."""

import pytest

from selfpref.statistics import threads
from selfpref.statistics.bootstrap import ClusterBootstrap


def test_intervals_do_not_depend_on_how_many_are_made_at_once(rng, monkeypatch):
    boot = ClusterBootstrap(300)
    calls = [(rng.exponential(size=20), range(20), str(n)) for n in range(8)]
    alone = [boot.mean(*call) for call in calls]
    for most in (1, 3):
        monkeypatch.setattr(threads, "MOST", most)
        monkeypatch.setattr(threads, "processors", lambda: 3)
        assert threads.at_once(boot.mean, calls) == alone


def test_an_error_reaches_the_caller():
    with pytest.raises(ZeroDivisionError):
        threads.at_once(lambda number: 1 / number, [(1,), (0,)])
