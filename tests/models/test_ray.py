"""The actor pool: the inner engine's answers, whatever happens to a worker."""

import os
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="the extra `ray` is not installed")

from ray.cluster_utils import Cluster

from selfpref.models import Choose, Likelihood, Prompt, Score, cluster
from selfpref.models.calls import Model
from selfpref.models.open import open_engine
from selfpref.params import Hosted, Ray
from selfpref.store import Store

TEXTS = [f"answer {number}" for number in range(120)]
PROMPTS = [Prompt((("user", f"question {number}"),)) for number in range(120)]


class Slow:
    """Writes down who computed what, and takes its time."""

    def __init__(self, log):
        self.log = log

    def __call__(self, calls):
        for index in reversed(range(len(calls))):
            text = calls[index].continuation
            time.sleep(0.02)
            with open(self.log, "a") as handle:
                handle.write(f"{os.getpid()} {text}\n")
            yield index, Likelihood(float(len(text)), 1, "ok")


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


@pytest.mark.skipif(not os.environ.get("SELFPREF_SOAK"), reason="`make soak` runs this")
def test_no_row_is_lost_or_doubled_with_a_worker_and_then_a_node(nodes, tmp_path, capfd):
    log, calls = tmp_path / "computed", list(map(Score, PROMPTS, TEXTS))
    inner = {"engine": "transformers", "model": "x"}
    entry = Ray(engine="ray", inner=inner, address="auto", workers=2)
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
    assert "worker died or was killed" in (tmp_path / "ray.log").read_text()


def test_what_workers_of_this_machine_have_answered_the_model_alone_replays(tmp_path, monkeypatch):
    # Ray's workers import this file, and have no path to that one.
    from scripted import Scripted

    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    calls = [Choose(prompt, ("A", "B")) for prompt in PROMPTS[:21]]
    with Scripted() as server, Store(tmp_path / "store.sqlite") as store:
        plain = Hosted(engine="openai", model="served", base_url=server.url)
        workers = Ray(engine="ray", workers=2, inner=plain)
        pool = Model(open_engine("one", workers, ""), store, offline=False, title="")
        alone = Model(open_engine("one", plain, ""), store, offline=True, title="")
        assert pool.ask(calls) == alone.ask(calls)
        assert len(server.bodies) == len(calls)
