"""The actor pool: the inner engine's answers, whatever happens to a worker."""

import os
import pickle
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra `ray` is not installed")
pytest.importorskip("torch", reason="the extra `models` is not installed")

from ray.cluster_utils import Cluster

from selfpref.errors import SelfprefError
from selfpref.models import Choose, Likelihood, Prompt, Score, cluster
from selfpref.models.calls import Model, open_engine
from selfpref.params import Ray, Transformers
from selfpref.processes import SETTINGS
from selfpref.store import Store

TEXTS = [f"answer {number}" for number in range(120)]
PROMPTS = [Prompt((("user", f"question {number}"),)) for number in range(120)]
LOCAL = Transformers(engine="transformers", model="model", threads=1)


class Slow:
    """Writes down who computed what, and takes its time."""

    def __init__(self, log):
        self.log = log

    def answer(self, calls):
        for index in reversed(range(len(calls))):
            text = calls[index].continuation
            time.sleep(0.02)
            with open(self.log, "a") as handle:
                handle.write(f"{os.getpid()} {text}\n")
            yield index, Likelihood(float(len(text)), 1, "ok")


def computed(log):
    return [line.split(maxsplit=1) for line in log.read_text().splitlines()] if log.exists() else []


def test_what_a_worker_cannot_do_it_says_in_one_line(repository, monkeypatch):
    monkeypatch.setattr(os, "environ", {})

    def failing():
        raise RuntimeError("no memory\nand forty lines")

    row = cluster.Worker(repository, failing)({"batch": pickle.dumps((10, []))})
    assert pickle.loads(row["answers"]) == ([], "a Ray worker failed: RuntimeError: no memory")
    # A node of a cluster has an environment of its own.
    assert SETTINGS.items() <= os.environ.items()


@pytest.mark.parametrize("settings", [{"workers": 5}, {"workers": 3, "gpus": 1}])
def test_workers_that_leave_no_cpu_free_are_refused(monkeypatch, settings):
    """Ray would stall without a word, or wait for ever."""
    begun = []
    monkeypatch.setattr(cluster.ray, "init", lambda *given, **named: begun.append((given, named)))
    monkeypatch.setattr(cluster.ray, "cluster_resources", lambda: {"CPU": 5.0, "GPU": 2.0})
    with pytest.raises(SelfprefError, match="ask for fewer"):
        list(cluster._mapped(Ray(engine="ray", inner=LOCAL, **settings), [], ()))
    ((given, named),) = begun
    assert (given, named["num_cpus"]) == (("local",), settings["workers"] + 1)


@pytest.fixture
def nodes(monkeypatch):
    """Two, whose workers can import this file; the second is lost by `nodes.lose()`."""
    here = Path(__file__).parent
    monkeypatch.setenv("PYTHONPATH", f"{here}{os.pathsep}{here.parents[1] / 'src'}")
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 3, "include_dashboard": False})
    second = made.add_node(num_cpus=1)
    made.lose = lambda: made.remove_node(second, allow_graceful=False)
    monkeypatch.setenv("RAY_ADDRESS", made.address)
    yield made
    made.shutdown()


@pytest.mark.skipif(not os.environ.get("SELFPREF_SOAK"), reason="`make soak` runs this")
def test_no_row_is_lost_or_doubled_with_a_worker_and_then_a_node(nodes, tmp_path, capfd):
    log, calls = tmp_path / "computed", list(map(Score, PROMPTS, TEXTS))
    entry = Ray(engine="ray", inner=LOCAL, address="auto", workers=2)
    answering = cluster.answer(entry, partial(Slow, log), tmp_path, tmp_path / "ray.log", calls)
    capfd.readouterr()
    arrived, came = [], {}
    for index, answer in answering:
        assert answer == Likelihood(float(len(TEXTS[index])), 1, "ok")
        arrived.append(index)
        if "worker" not in came and len(arrived) > 30:
            came["worker"] = set(arrived)
            os.kill(int(computed(log)[-1][0]), signal.SIGKILL)
        if "node" not in came and len(arrived) > 80:
            came["node"] = set(arrived)
            nodes.lose()
    assert sorted(arrived) == list(range(len(calls)))
    # What had come was not computed again.
    times = Counter(text for _, text in computed(log))
    assert all(times[TEXTS[index]] == 1 for index in came["worker"])
    # What the lost had in hand was: a batch under way and one done or waiting, each time.
    assert times.total() <= len(calls) + 2 * 2 * 15
    # Ray's own words about it are in the log.
    assert capfd.readouterr() == ("", "")


def test_workers_answer_as_the_model_alone_does_and_under_its_identity(repository):
    # Ray's workers import this file, and have no path to that one.
    from small_models import byte_level, save

    save(repository / "model", byte_level())
    calls = [Choose(prompt, ("A", "B")) for prompt in PROMPTS[:21]]
    with Store(repository / ".cache/store.sqlite") as store:
        for entry, offline in (
            (Ray(engine="ray", workers=2, inner=LOCAL), False),
            (LOCAL, True),
            (LOCAL.model_copy(update={"processes": 2}), True),
        ):
            model = Model(open_engine("one", entry, ""), store, offline=offline, title="")
            found = model.ask(calls)
            assert {choice.status for choice in found} == {"ok"}
    # Alone it would have said the same.
    alone = dict(open_engine("one", LOCAL, "").answer(calls))
    for index, choice in enumerate(found):
        assert choice.probabilities == pytest.approx(alone[index].probabilities, abs=1e-6)
