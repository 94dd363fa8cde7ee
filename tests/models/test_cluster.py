"""A worker of the actor pool, in this process: what it answers and how it fails."""

import os
import pickle
import subprocess
import sys

import pytest

pytest.importorskip("ray", reason="the extra `ray` is not installed")

from selfpref.errors import SelfprefError
from selfpref.models import Choice, Choose, Prompt, cluster
from selfpref.models.cluster import Worker
from selfpref.models.open import open_engine
from selfpref.params import Ray, Transformers
from selfpref.processes import SETTINGS


def failing(error):
    def answer(calls):
        yield 0, Choice((0.5, 0.5), "ok")
        raise error

    return answer


def answered(root, answering):
    calls = [Choose(Prompt(()), ("A", "B"))] * 9
    worker = Worker(root, lambda: answering)
    return pickle.loads(worker({"batch": pickle.dumps((10, calls))})["answers"])


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_a_worker_cannot_do_it_says_in_one_line_and_keeps_what_it_answered(root, monkeypatch):
    monkeypatch.setattr(os, "environ", {})
    half = [(10, Choice((0.5, 0.5), "ok"))]
    assert answered(root, failing(SelfprefError("no token"))) == (half, "no token")
    told = "a Ray worker failed: RuntimeError: out of memory"
    assert answered(root, failing(RuntimeError("out of memory\nand forty lines"))) == (half, told)
    found, fault = answered(root / "nowhere", failing(SelfprefError("no token")))
    assert found == []
    assert "No such file or directory" in fault
    # A node of a cluster has an environment of its own.
    assert SETTINGS.items() <= os.environ.items()


def entry(**settings):
    inner = {"engine": "transformers", "model": "model"}
    return Ray(engine="ray", **({"inner": inner, "workers": 1} | settings))


@pytest.mark.parametrize("settings", [{"workers": 5}, {"workers": 3, "gpus": 1}])
def test_workers_that_leave_no_cpu_free_are_refused(monkeypatch, settings):
    """Ray would stall without a word, or wait for ever."""
    begun = []
    monkeypatch.setattr(cluster.ray, "init", lambda *given, **named: begun.append((given, named)))
    monkeypatch.setattr(cluster.ray, "cluster_resources", lambda: {"CPU": 5.0, "GPU": 2.0})
    with pytest.raises(SelfprefError, match=r"workers: .* are not there; ask for fewer"):
        list(cluster._mapped(entry(**settings), [], ()))
    ((given, named),) = begun
    assert given == ("local",)
    assert named["num_cpus"] == settings["workers"] + 1


def test_ray_is_imported_where_it_is_used_and_nothing_to_do_starts_nothing(tmp_path):
    code = "import sys; from selfpref.models import open; sys.exit('ray' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert list(cluster.answer(entry(), None, tmp_path, tmp_path / "log", [])) == []


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
