"""Served models over real HTTP on loopback: answers, faults, limits, and what is kept."""

import math
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("openai", reason="the extra `models` is not installed")

from asking import to_choose
from scripted import TRANSIENT, Scripted, share_of_a

from selfpref.errors import SelfprefError
from selfpref.models import Prompt, served
from selfpref.models.calls import Model
from selfpref.models.served import IN_ROW, HostedModel
from selfpref.params import Hosted
from selfpref.prompts import LABELS
from selfpref.store import Store

KEY = "-".join(("sk", "planted", "0123456789abcdef"))


def hosted(url, **settings):
    fixed = {"engine": "openai", "model": "m", "base_url": url, "concurrency": 8, "timeout": 5.0}
    entry = Hosted(**(fixed | settings))
    return HostedModel("judge", entry)


def prompts(count):
    return [Prompt((("user", f"{n} question"),), "[[") for n in range(count)]


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def ask(store, model, asked, offline=False):
    return Model(model, store, offline=offline, title="").ask(to_choose(asked, LABELS))


def check(asked, choices):
    """Every prompt has its own answer by the server's rule."""
    for prompt, choice in zip(asked, choices, strict=True):
        a = share_of_a({"messages": [{"role": "user", "content": prompt.messages[0][1]}]})
        assert choice.probabilities == pytest.approx((0.9 * a, 0.9 * (1 - a)))


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_transient_fault_costs_a_retry_and_no_row(store, fault):
    with Scripted(script=["ok", fault], stall=1.0) as server:
        asked = prompts(4)
        check(asked, ask(store, hosted(server.url, timeout=0.5), asked))
        assert len(server.bodies) == 5


@pytest.mark.parametrize(
    ("fault", "told"),
    [("401", r"401: Incorrect API key provided: \*\*\*"), ("no logprobs", "`score_mode: sampled`")],
)
def test_what_the_endpoint_does_not_give_is_told_after_one_call(store, monkeypatch, fault, told):
    monkeypatch.setenv("PLANTED", KEY)
    with Scripted(always=fault) as server:
        with pytest.raises(SelfprefError) as failure:
            ask(store, hosted(server.url, key="PLANTED"), prompts(50))
        assert len(server.bodies) == 1
        assert server.received[0][1]["Authorization"] == f"Bearer {KEY}"
    message = str(failure.value)
    assert message.startswith("models.judge: http://127.0.0.1:")
    assert KEY not in message
    assert re.search(told, message)


def test_an_endpoint_that_is_not_there_and_a_key_that_is_not_set_are_told(store, monkeypatch):
    with pytest.raises(SelfprefError, match=r"127\.0\.0\.1:9/v1: calls failed \(1 x Connect"):
        ask(store, hosted("http://127.0.0.1:9/v1", retries=0), prompts(3))
    monkeypatch.delenv("PLANTED", raising=False)
    with Scripted() as server:
        with pytest.raises(SelfprefError, match=r"models\.judge\.key: .* PLANTED is not set"):
            ask(store, hosted(server.url, key="PLANTED"), prompts(1))
        assert not server.received


def test_failures_in_a_row_stop_the_stage_and_lose_nothing(store):
    asked = prompts(100)
    with Scripted(script=["ok"] * 20, always="401", latency=0.01) as server:
        model = hosted(server.url)
        with pytest.raises(SelfprefError, match=r"20 answered and kept.* not asked"):
            ask(store, model, asked)
        # Those under way when the last of them came back, and no more.
        assert len(server.bodies) <= 20 + IN_ROW + 2 * 8
        server.script = iter(["ok"] * 100)
        server.received.clear()
        check(asked, ask(store, model, asked))
        assert len(server.bodies) == 80


@pytest.mark.parametrize(
    ("failures", "told"), [(5, None), (6, r"6 x 500.*94 answered and kept, 0")]
)
def test_a_stage_fails_where_more_than_one_call_in_twenty_did(store, failures, told):
    with Scripted(script=["ok", *["500", "ok"] * failures]) as server:
        model = hosted(server.url, retries=0, concurrency=1)
        if told is None:
            ask(store, model, prompts(100))
            return
        with pytest.raises(SelfprefError, match=told):
            ask(store, model, prompts(100))


def test_what_is_no_answer_is_a_row_with_a_status_and_asked_again(store):
    asked = prompts(60)
    odd = ["500", "no logprobs", "refusal", "filtered", "filter", "context", "empty", "length"]
    with Scripted(script=["ok", *odd]) as server:
        model = hosted(server.url, retries=0)
        found = ask(store, model, asked)
        statuses = {"failed": 2, "refused": 3, "truncated": 1, "unparsable": 2, "ok": 52}
        assert Counter(choice.status for choice in found) == statuses
        # An answer without a verdict is an answer.
        again = ask(store, model, asked)
        assert Counter(choice.status for choice in again) == {"unparsable": 2, "ok": 58}
        assert len(server.bodies) == 66


# --- limits, and what is kept -------------------------------------------------------------------


def test_no_more_requests_are_under_way_than_allowed(store):
    with Scripted(latency=0.02) as server:
        ask(store, hosted(server.url, concurrency=3), prompts(30))
        assert server.most_under_way == 3


def test_offline_replays_without_key_or_endpoint(store, monkeypatch):
    monkeypatch.setenv("PLANTED", KEY)
    with Scripted() as server:
        model = hosted(server.url, key="PLANTED")
        first = ask(store, model, prompts(5))
    monkeypatch.delenv("PLANTED")
    assert ask(store, model, prompts(5), offline=True) == first
    with pytest.raises(SelfprefError, match="1 calls are not in"):
        ask(store, model, prompts(6), offline=True)
    # A better reader never pays again.
    monkeypatch.setattr(served, "_sums", lambda entry, *_: [math.exp(entry["logprob"]) / 2, 0.0])
    masses = [found.mass for found in ask(store, model, prompts(5), offline=True)]
    assert masses == pytest.approx([max(one.probabilities) / 2 for one in first])


# In a process of its own.
WORK = """
import sys
from pathlib import Path
from test_hosted import Store, ask, hosted, prompts
with Store(Path(sys.argv[2])) as store:
    try:
        ask(store, hosted(sys.argv[1]), prompts(2000))
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "SIGKILL"])
def test_an_end_halfway_loses_no_answer_that_came(tmp_path, number):
    """All but those that were under way is kept."""
    log = tmp_path / "answered"
    log.touch()
    here = Path(__file__).parents
    path = os.pathsep.join(map(str, (here[0], here[1], here[2] / "src")))
    with Scripted(latency=0.02, log=log) as server:
        command = [sys.executable, "-c", WORK, server.url, str(tmp_path / "store")]
        pipes = {"env": os.environ | {"PYTHONPATH": path}, "stdout": subprocess.PIPE, "text": True}
        with subprocess.Popen(command, **pipes) as process:
            while len(log.read_text().split()) < 100:
                time.sleep(0.01)
                assert process.poll() is None
            process.send_signal(number)
            told, _ = process.communicate(timeout=30)
        time.sleep(0.1)
    answered = log.read_text().split()
    with Store(tmp_path / "store") as store:
        (kept,) = store._connection.execute("SELECT count(*) FROM replies").fetchone()
    assert len({*answered}) == len(answered) < 2000
    assert told == ("interrupted\n" if number == signal.SIGINT else "")
    assert len(answered) - 2 * 8 <= kept <= len(answered)
