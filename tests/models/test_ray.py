"""The actor pool: the inner engine's answers, whatever happens to a worker."""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra `ray` is not installed")

from ray.cluster_utils import Cluster

from selfpref.errors import SelfprefError
from selfpref.models import Choice, Choose, Likelihood, Prompt, Score, cluster
from selfpref.models.calls import Model
from selfpref.models.cluster import Worker
from selfpref.models.open import open_engine
from selfpref.params import Hosted, Ray, Transformers
from selfpref.processes import SETTINGS
from selfpref.store import Store

TEXTS = [f"answer {number}" for number in range(120)]
CALLS = [
    Score(Prompt((("user", f"question {number}"),)), text) for number, text in enumerate(TEXTS)
]
# For models of the testbed: responses of unequal length.
ASKED = [
    Score(Prompt((("user", f"list {number} red things"),)), f" {'river ' * (number % 9)}")
    for number in range(21)
]


class Slow:
    """Writes down who computed what, and takes its time."""

    def __init__(self, log):
        self.log = log

    def __call__(self, calls):
        return self._scores(calls) if isinstance(calls[0], Score) else self._choices(calls)

    def _scores(self, calls):
        for index in reversed(range(len(calls))):
            text = calls[index].continuation
            time.sleep(0.02)
            with open(self.log, "a") as handle:
                handle.write(f"{os.getpid()} {text}\n")
            yield index, Likelihood(float(len(text)), 1, "ok")

    def _choices(self, calls):
        yield 0, Choice((0.5, 0.5), "ok")
        if "A" in calls[0].labels:
            raise SelfprefError("label 'A' is no single token of this model; use another label")
        raise RuntimeError("out of memory\nand forty lines")


def computed(log):
    return [line.split(maxsplit=1) for line in log.read_text().splitlines()] if log.exists() else []


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


def test_no_row_is_lost_or_doubled_with_a_worker_and_then_a_node(nodes, tmp_path, capfd):
    log = tmp_path / "computed"
    entry = Ray(engine="ray", inner="transformers", model="x", address="auto", workers=2)
    answering = cluster.answer(entry, partial(Slow, log), tmp_path, tmp_path / "ray.log", CALLS)
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
    assert sorted(arrived) == list(range(len(CALLS)))
    # What had come was not computed again.
    times = Counter(text for _, text in computed(log))
    assert all(times[TEXTS[index]] == 1 for index in came["worker"])
    # What the lost had in hand was: a batch under way and one done or waiting, each time.
    assert times.total() <= len(CALLS) + 2 * 2 * 15
    # Ray's own words about it are in the log.
    assert capfd.readouterr() == ("", "")
    assert "worker died or was killed" in (tmp_path / "ray.log").read_text()


def answered(worker, calls):
    return pickle.loads(worker({"batch": pickle.dumps((10, calls))})["answers"])


def test_a_worker_answers_with_the_place_of_each_prompt(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    worker = Worker(tmp_path, partial(Slow, tmp_path / "computed"))
    found, fault = answered(worker, [Score(Prompt(()), text) for text in ("a", "bc")])
    assert fault is None
    assert dict(found) == {10: Likelihood(1.0, 1, "ok"), 11: Likelihood(2.0, 1, "ok")}


def test_a_worker_on_another_node_makes_the_settings_of_its_process(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "environ", {})
    seen = {}
    answered(Worker(tmp_path, lambda: seen.update(os.environ)), [])
    assert SETTINGS.items() <= seen.items()


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("AB", "label 'A' is no single token of this model; use another label"),
        ("CD", "a Ray worker failed: RuntimeError: out of memory"),
    ],
)
def test_what_a_worker_cannot_do_it_says_in_one_line(tmp_path, monkeypatch, capsys, labels, told):
    monkeypatch.chdir(tmp_path)
    worker = Worker(tmp_path, partial(Slow, tmp_path / "computed"))
    found, fault = answered(worker, [Choose(Prompt(()), tuple(labels))] * 9)
    assert str(fault) == told
    # What was answered before is kept, and the whole of an unforeseen error is logged.
    assert found == [(10, Choice((0.5, 0.5), "ok"))]
    assert ("forty lines" in capsys.readouterr().err) == (labels == "CD")


def test_a_node_without_the_repository_is_named(tmp_path):
    worker = Worker(tmp_path / "nowhere", partial(Slow, tmp_path / "computed"))
    found, fault = answered(worker, CALLS)
    assert found == []
    assert "not on every node" in str(fault)


@pytest.mark.parametrize(
    ("settings", "fit"),
    [
        *(({"workers": 4}, True), ({"workers": 5}, False), ({"workers": 1, "gpus": 0.5}, True)),
        *(({"workers": 2, "threads": 2}, True), ({"workers": 3, "gpus": 1}, False)),
    ],
)
def test_workers_that_leave_no_cpu_free_are_refused(monkeypatch, settings, fit):
    """Ray would stall without a word, or wait for ever."""
    monkeypatch.setattr(cluster.ray, "init", lambda *_, **__: None)
    monkeypatch.setattr(cluster.ray, "cluster_resources", lambda: {"CPU": 5.0, "GPU": 2.0})
    entry = Ray(engine="ray", inner="transformers", model="x", **settings)
    if fit:
        cluster._connect(entry, entry.inner.threads or 1)
        assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
        return
    with pytest.raises(SelfprefError, match=r"do not fit on 5 CPUs and 2 GPUs; ask for fewer"):
        cluster._connect(entry, entry.inner.threads or 1)


def test_ray_is_imported_where_it_is_used_alone():
    code = "import sys; from selfpref.models import open; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nothing_to_do_starts_nothing(tmp_path):
    entry = Ray(engine="ray", inner="transformers", model="x", address="ray://nowhere:1", workers=1)
    assert (
        list(cluster.answer(entry, partial(Slow, tmp_path), tmp_path, tmp_path / "log", [])) == []
    )


@pytest.mark.parametrize(("address", "starts"), [("local", 3), ("auto", 1)])
def test_a_start_that_fails_is_tried_again_on_this_machine_alone(monkeypatch, address, starts):
    tried = []

    def init(address, **_):
        tried.append(address)
        raise Exception("timed out during startup")

    monkeypatch.setattr(cluster.ray, "init", init)
    entry = Ray(engine="ray", inner="transformers", model="x", workers=1, address=address)
    with pytest.raises(Exception, match="timed out during startup"):
        cluster._connect(entry, 1)
    assert len(tried) == starts


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder that passes for the repository, with an untrained model of the testbed's kind."""
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    from selfpref.lab.model import build_model, save_checkpoint

    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    save_checkpoint(build_model(3), tmp_path / "model")
    return tmp_path


def replayed(repository, plain, ray, calls):
    """What a model has answered by itself, asked of its workers: nothing is left to ask."""
    with Store(repository / "store.sqlite") as store:
        alone = Model(open_engine("one", plain, ""), store, offline=False, title="")
        pool = Model(open_engine("one", ray, ""), store, offline=True, title="")
        wanted = alone.ask(calls)
        assert pool.ask(calls) == wanted


def test_what_a_local_model_has_answered_its_workers_replay(repository):
    given = {"model": "model", "threads": 1}
    replayed(
        repository,
        Transformers(engine="transformers", **given),
        Ray(engine="ray", inner="transformers", workers=2, **given),
        ASKED,
    )


def test_what_a_served_model_has_answered_its_workers_replay(repository):
    # Ray's workers import this file, and have no path to that one.
    from scripted import Scripted

    with Scripted() as server:
        given = {"model": "served", "base_url": server.url}
        replayed(
            repository,
            Hosted(engine="openai", **given),
            Ray(engine="ray", inner="openai", workers=2, **given),
            [Choose(call.prompt, ("A", "B")) for call in ASKED],
        )
        assert len(server.bodies) == len(ASKED)


def test_on_this_machine_the_answers_are_those_of_the_engine_alone(repository):
    given = {"model": "model", "threads": 1}
    alone = open_engine("one", Transformers(engine="transformers", **given), "")
    entry = Ray(engine="ray", inner="transformers", workers=1, **given)
    found = dict(open_engine("one", entry, "").answer(ASKED))
    wanted = dict(alone.answer(ASKED))
    assert found.keys() == wanted.keys()
    for index, score in wanted.items():
        assert found[index].n_tokens == score.n_tokens
        assert found[index].sum_nll == pytest.approx(score.sum_nll, abs=1e-4)
