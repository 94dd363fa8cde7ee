"""A worker of the actor pool, in this process: what it answers and how it fails."""

import os
import pickle
import subprocess
import sys

import pytest

pytest.importorskip("ray", reason="the extra `ray` is not installed")

from selfpref.errors import SelfprefError
from selfpref.models import Choice, Choose, Likelihood, Prompt, Score, cluster
from selfpref.models.cluster import Worker
from selfpref.models.open import open_engine
from selfpref.params import Ray, Transformers
from selfpref.processes import SETTINGS


def scores(calls):
    yield from (
        (at, Likelihood(float(len(call.continuation)), 1, "ok")) for at, call in enumerate(calls)
    )


def failing(error):
    def answer(calls):
        yield 0, Choice((0.5, 0.5), "ok")
        raise error

    return answer


def answered(root, answering, calls):
    worker = Worker(root, lambda: answering)
    return pickle.loads(worker({"batch": pickle.dumps((10, calls))})["answers"])


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_worker_answers_with_the_place_of_each_prompt(root, monkeypatch):
    monkeypatch.setattr(os, "environ", {})
    found, fault = answered(root, scores, [Score(Prompt(()), text) for text in ("a", "bc")])
    assert fault is None
    assert found == [(10, Likelihood(1.0, 1, "ok")), (11, Likelihood(2.0, 1, "ok"))]
    # A node of a cluster has an environment of its own.
    assert SETTINGS.items() <= os.environ.items()


def test_what_a_worker_cannot_do_it_says_in_one_line_and_keeps_what_it_answered(root, capsys):
    calls, half = [Choose(Prompt(()), ("A", "B"))] * 9, [(10, Choice((0.5, 0.5), "ok"))]
    found, fault = answered(root, failing(SelfprefError("no single token")), calls)
    assert (found, str(fault), capsys.readouterr().err) == (half, "no single token", "")
    found, fault = answered(root, failing(RuntimeError("out of memory\nand forty lines")), calls)
    assert (found, str(fault)) == (half, "a Ray worker failed: RuntimeError: out of memory")
    # The whole of an unforeseen error is logged.
    assert "forty lines" in capsys.readouterr().err
    found, fault = answered(root / "nowhere", scores, calls)
    assert found == []
    assert "not on every node" in str(fault)


def entry(**settings):
    inner = {"engine": "transformers", "model": "model"}
    return Ray(engine="ray", **({"inner": inner, "workers": 1} | settings))


def test_workers_that_leave_no_cpu_free_are_refused(monkeypatch):
    """Ray would stall without a word, or wait for ever."""
    begun = []
    monkeypatch.setattr(cluster.ray, "init", lambda *given, **named: begun.append((given, named)))
    monkeypatch.setattr(cluster.ray, "cluster_resources", lambda: {"CPU": 5.0, "GPU": 2.0})
    cluster._connect(entry(workers=2, gpus=1), 2)
    assert begun == [(("local",), {"num_cpus": 5, "include_dashboard": False})]
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    for settings, cpus in (({"workers": 5}, 1), ({"workers": 3, "gpus": 1}, 1)):
        with pytest.raises(SelfprefError, match=r"do not fit on 5 CPUs and 2 GPUs; ask for fewer"):
            cluster._connect(entry(**settings), cpus)


@pytest.mark.parametrize(("address", "starts"), [("local", 3), ("auto", 1)])
def test_a_start_that_fails_is_tried_again_on_this_machine_alone(monkeypatch, address, starts):
    tried = []

    def init(address, **_):
        tried.append(address)
        raise Exception("timed out during startup")

    monkeypatch.setattr(cluster.ray, "init", init)
    with pytest.raises(Exception, match="timed out during startup"):
        cluster._connect(entry(address=address), 1)
    assert tried == [address] * starts


def test_ray_is_imported_where_it_is_used_and_nothing_to_do_starts_nothing(tmp_path):
    code = "import sys; from selfpref.models import open; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    nowhere = entry(address="auto")
    assert list(cluster.answer(nowhere, lambda: scores, tmp_path, tmp_path / "log", [])) == []


def test_workers_answer_under_the_models_own_identity(root):
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    from small_models import byte_level, save

    (root / "dvc.yaml").touch()
    save(root / "model", byte_level())
    alone = Transformers(engine="transformers", model="model", threads=1)
    engines = [
        open_engine("one", one, "")
        for one in (alone, alone.model_copy(update={"processes": 2}), entry())
    ]
    assert engines[0].identity == engines[1].identity == engines[2].identity
