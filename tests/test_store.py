"""The store of model calls: nothing lost, nothing asked twice, nothing half-read."""

import multiprocessing
import os
import sqlite3
import subprocess
import sys
import time

import pytest
from asking import to_choose, to_generate, to_score
from conftest import REPOSITORY

from selfpref.errors import SelfprefError
from selfpref.models import Choice, Choose, Generate, Likelihood, Prompt, Raw, Score, Text
from selfpref.models.calls import Model
from selfpref.store import Store, call_key


class Counting:
    """An engine that counts what it is asked and dies when told to."""

    def __init__(self, dies_at=None, status="ok"):
        self.identity = {"provider": "test"}
        self.asked = []
        self.dies_at, self.status = dies_at, status

    def answer(self, calls):
        for number, call in enumerate(calls):
            if len(self.asked) == self.dies_at:
                raise KeyboardInterrupt
            self.asked.append(call)
            match call:
                case Choose():
                    yield number, Choice((0.25, 0.5), self.status)
                case Score():
                    yield number, Likelihood(1.5, 3, self.status)
                case Generate():
                    yield number, Text(call.prompt.prefill, self.status)


def prompts(count):
    return [Prompt((("user", f"question {n}"),), "[[") for n in range(count)]


def through(store, engine, offline=False):
    return Model(engine, store, offline=offline, title="test")


def test_a_call_that_was_made_is_replayed(tmp_path):
    engine = Counting()
    with Store(tmp_path / "store.sqlite") as store:
        first = through(store, engine).ask(to_choose(prompts(5), ("A", "B")))
    with Store(tmp_path / "store.sqlite") as store:
        assert through(store, engine).ask(to_choose(prompts(7), ("A", "B")))[:5] == first
    assert len(engine.asked) == 7


def test_equal_requests_are_one_call(tmp_path):
    engine = Counting()
    with Store(tmp_path / "store.sqlite") as store:
        assert len(through(store, engine).ask(to_choose(prompts(2) * 3, ("A", "B")))) == 6
    assert len(engine.asked) == 2


def test_what_can_change_the_answer_is_another_call(tmp_path):
    engine = Counting()
    with Store(tmp_path / "store.sqlite") as store:
        calls = through(store, engine)
        calls.ask(to_choose(prompts(1), ("A", "B")))
        calls.ask(to_choose(prompts(1), ("B", "A")))
        calls.ask(to_score(prompts(1), ["text"]))
        calls.ask(to_score(prompts(1), ["other"]))
        for seed, temperature in ((1, 1.0), (2, 1.0), (1, 0.0)):
            calls.ask(to_generate(prompts(1), max_tokens=3, temperature=temperature, seeds=[seed]))
        engine.identity = {"provider": "another"}
        calls.ask(to_choose(prompts(1), ("A", "B")))
    assert len(engine.asked) == 8


def test_an_interrupted_run_goes_on_where_it_was(tmp_path):
    total = 60
    dying, going_on = Counting(dies_at=47), Counting()
    with Store(tmp_path / "store.sqlite") as store, pytest.raises(KeyboardInterrupt):
        through(store, dying).ask(to_choose(prompts(total), ("A", "B")))
    with Store(tmp_path / "store.sqlite") as store:
        assert len(through(store, going_on).ask(to_choose(prompts(total), ("A", "B")))) == total
    assert len(going_on.asked) == total - 47


def test_a_prompt_that_did_not_fit_is_no_answer(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        through(store, Counting(status="truncated")).ask(to_choose(prompts(2), ("A", "B")))
        engine = Counting()
        through(store, engine).ask(to_choose(prompts(2), ("A", "B")))
    assert len(engine.asked) == 2


def test_an_answer_that_was_cut_off_is_an_answer(tmp_path):
    for asked in (2, 0):
        engine = Counting(status="cut")
        with Store(tmp_path / "store.sqlite") as store:
            through(store, engine).ask(
                to_generate(prompts(2), max_tokens=3, temperature=0, seeds=[1, 1])
            )
        assert len(engine.asked) == asked


class Sloppy(Counting):
    """An endpoint whose reader is broken."""

    def answer(self, calls):
        for number in range(len(calls)):
            yield number, Raw({"n": number})

    def request(self, call):
        return {"body": call.prompt.as_json()}

    def read(self, call, reply):
        raise ZeroDivisionError


def test_a_reply_is_kept_before_it_is_read(tmp_path):
    engine = Sloppy()
    with Store(tmp_path / "store.sqlite") as store:
        with pytest.raises(ZeroDivisionError):
            through(store, engine).ask(to_choose(prompts(3), ("A", "B")))
        keys = [call_key(engine.request(call)) for call in to_choose(prompts(3), ("A", "B"))]
        assert store.get(keys) == {keys[0]: {"n": 0}}


def test_offline_replays_and_fails_on_a_miss(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        through(store, Counting()).ask(to_choose(prompts(2), ("A", "B")))
        engine = Counting()
        through(store, engine, offline=True).ask(to_choose(prompts(2), ("A", "B")))
        with pytest.raises(SelfprefError, match=r"test: 1 calls are not in .*offline: false"):
            through(store, engine, offline=True).ask(to_choose(prompts(3), ("A", "B")))
    assert not engine.asked


@pytest.mark.parametrize("damage", ["truncated", "overwritten", "a flipped byte"])
def test_a_damaged_store_is_named(tmp_path, damage):
    path = tmp_path / "store.sqlite"
    keys = [call_key({"n": n}) for n in range(500)]
    with Store(path) as store:
        store.put({key: {"text": "a reply that fills its page " * 4} for key in keys})
    body = bytearray(path.read_bytes())
    if damage == "truncated":
        body = body[: len(body) // 2]
    elif damage == "overwritten":
        body[:100] = b"x" * 100
    else:
        at = body.rindex(b"fills its page")
        body[at] ^= 1
    path.write_bytes(bytes(body))
    with pytest.raises(SelfprefError, match=r"store\.sqlite: damaged"), Store(path) as store:
        store.get(keys)


def test_a_store_with_texts_that_are_no_utf8_is_damaged(tmp_path):
    with Store(tmp_path / "store.sqlite") as store:
        store.put({"a": {"text": "an answer"}})
        store._connection.execute("UPDATE replies SET digest = CAST(x'ff' AS TEXT)")
        with pytest.raises(SelfprefError, match=r"store\.sqlite: damaged"):
            store.get(["a"])


def test_the_reply_to_another_call_is_not_taken_for_it(tmp_path):
    """Where a damaged index leads to another row, that row is whole in itself."""
    keys = [call_key({"n": n}) for n in range(2)]
    with Store(tmp_path / "store.sqlite") as store:
        store.put({key: {"text": key} for key in keys})
        with store._connection:
            store._connection.execute(
                "UPDATE replies SET (reply, digest) = "
                "(SELECT reply, digest FROM replies WHERE key = ?)",
                keys[:1],
            )
        assert store.get(keys[:1]) == {keys[0]: {"text": keys[0]}}
        with pytest.raises(SelfprefError, match=f"damaged .the reply to {keys[1][:12]} is not"):
            store.get(keys)


def _write(path, start):
    with Store(path) as store:
        for n in range(start, start + 50):
            store.put({call_key({"n": n}): {"n": n}})


def test_two_processes_at_once_lose_nothing(tmp_path):
    path = tmp_path / "store.sqlite"
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_write, args=(path, start)) for start in (0, 25)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    with Store(path) as store:
        assert len(store.get(call_key({"n": n}) for n in range(75))) == 75


def _make(folder, start):
    for n in range(50):
        start.wait(60)
        with Store(folder / f"{n}.sqlite"):
            pass


def test_processes_that_start_together_make_one_store(tmp_path):
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(4)
    workers = [context.Process(target=_make, args=(tmp_path, start)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * 4


@pytest.mark.parametrize("hindrance", ["database is locked", "database or disk is full"])
def test_what_keeps_a_store_from_being_written_is_no_damage(tmp_path, monkeypatch, hindrance):
    monkeypatch.setattr("selfpref.store.PATIENCE", 0.1)
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        if hindrance == "database is locked":
            other = sqlite3.connect(path)
            other.execute("BEGIN IMMEDIATE")
        else:
            store._connection.execute("PRAGMA max_page_count=1")
        with pytest.raises(SelfprefError, match=rf"^{path}: {hindrance}; mend that and run again$"):
            store.put({call_key({"n": n}): {"text": "long " * 100} for n in range(500)})


WORK = """
import sys, time
from pathlib import Path
from selfpref.models import Choice, Choose, Prompt
from selfpref.models.calls import Model
from selfpref.store import Store

folder = Path(sys.argv[1])

class Logging:
    identity = {"provider": "test"}

    def answer(self, calls):
        for number, call in enumerate(calls):
            with open(folder / "asked.log", "a") as log:
                log.write(call.prompt.messages[0][1] + "\\n")
            time.sleep(0.0005)
            yield number, Choice((0.25, 0.5), "ok")

calls = [Choose(Prompt((("user", str(n)),)), ("A", "B")) for n in range(4000)]
with Store(folder / "store.sqlite") as store:
    Model(Logging(), store, offline=False, title="judge").ask(calls)
(folder / "done").touch()
"""


def test_a_killed_run_repeats_no_completed_call(tmp_path, rng):
    """SIGKILL at random moments: what was in the store is never asked again, nothing is lost."""
    (tmp_path / "work.py").write_text(WORK)
    command = [sys.executable, str(tmp_path / "work.py"), str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "src")}
    prompts = [Prompt((("user", str(n)),)) for n in range(4000)]
    keys = {
        call_key(
            {"engine": {"provider": "test"}, **Choose(prompt, ("A", "B")).as_json()}
        ): prompt.messages[0][1]
        for prompt in prompts
    }
    log = tmp_path / "asked.log"
    log.touch()
    kills = 0
    for kill in (True, True, True, False):
        kept = set()
        if (tmp_path / "store.sqlite").exists():
            with Store(tmp_path / "store.sqlite") as store:
                kept = {keys[key] for key in store.get(keys)}
        before = len(log.read_text().split())
        assert before <= len(kept) + kills
        kills += kill
        # At a random call of the next few hundred, and not at a random time: startup may be slow.
        enough = before + 600 + int(rng.integers(600))
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
            while kill and process.poll() is None and len(log.read_text().split()) < enough:
                time.sleep(0.01)
            if kill:
                process.kill()
            process.wait(timeout=120)
        assert not kept & set(log.read_text().split()[before:])
    assert kept
    assert (tmp_path / "done").exists()
    # One call may be under way at each kill.
    assert len(log.read_text().split()) <= len(prompts) + kills
    with Store(tmp_path / "store.sqlite") as store:
        assert len(store.get(keys)) == len(prompts)
