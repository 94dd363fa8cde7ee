"""The store of model calls: nothing lost, nothing asked twice, nothing half-read."""

import multiprocessing
import os
import signal
import sqlite3

import pytest
from asking import to_choose

from selfpref.errors import SelfprefError
from selfpref.models import Choice, Prompt, Raw
from selfpref.models.calls import Model
from selfpref.store import Store, call_key

SPAWNED = multiprocessing.get_context("spawn")


class Counting:
    """An engine that answers by the number of the question, and notes what it is asked."""

    def __init__(self, status="ok"):
        self.identity, self.asked, self.status = {"provider": "test"}, [], status

    def answer(self, calls):
        for number, call in enumerate(calls):
            self.asked.append(call)
            yield number, Choice((0.25, int(call.prompt.messages[0][1]) / 64), self.status)


def choices(count):
    return to_choose([Prompt((("user", str(n)),), "[[") for n in range(count)], ("A", "B"))


def ask(path, engine, calls, offline=False):
    with Store(path) as store:
        return Model(engine, store, offline=offline, title="test").ask(calls)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def test_equal_calls_are_one_which_is_replayed_and_offline_a_miss_is_told(path):
    engine, whole = Counting(), [Choice((0.25, n / 64), "ok") for n in range(5)]
    assert ask(path, engine, choices(3) * 2) == whole[:3] * 2
    assert ask(path, engine, choices(5)[::-1]) == whole[::-1]
    assert ask(path, engine, choices(5), offline=True) == whole
    with pytest.raises(SelfprefError, match=r"test: 2 calls are not in .*offline: false"):
        ask(path, engine, choices(7), offline=True)
    assert [call.prompt.messages[0][1] for call in engine.asked] == ["0", "1", "2", "4", "3"]


class Killed(Counting):
    def answer(self, calls):
        for number, answered in super().answer(calls):
            if number == 47:
                os.kill(os.getpid(), signal.SIGKILL)
            yield number, answered


def test_a_killed_run_goes_on_where_it_was_and_repeats_no_completed_call(path):
    run = SPAWNED.Process(target=ask, args=(path, Killed(), choices(60)))
    run.start()
    run.join(120)
    assert run.exitcode == -signal.SIGKILL
    going_on = Counting()
    assert len(ask(path, going_on, choices(60))) == 60
    assert going_on.asked == choices(60)[47:]


@pytest.mark.parametrize(("status", "again"), [("truncated", 2), ("cut", 0)])
def test_what_was_cut_off_is_an_answer_and_a_prompt_that_did_not_fit_is_none(path, status, again):
    ask(path, Counting(status=status), choices(2))
    engine = Counting()
    ask(path, engine, choices(2))
    assert len(engine.asked) == again


class Sloppy:
    """An endpoint whose reader is broken."""

    identity = None

    def answer(self, calls):
        yield from ((number, Raw({"n": number})) for number in range(len(calls)))

    def request(self, call):
        return {"asked": call.prompt.messages[0][1]}

    def read(self, call, reply):
        raise ZeroDivisionError


def test_a_reply_is_kept_before_it_is_read(path):
    with pytest.raises(ZeroDivisionError):
        ask(path, Sloppy(), choices(3))
    keys = [call_key({"asked": str(n)}) for n in range(3)]
    with Store(path) as store:
        assert dict(store.get(keys)) == {keys[0]: {"n": 0}}


@pytest.mark.parametrize(
    "damage", [lambda body: body[: len(body) // 2], lambda body: b"x" * 100 + body[100:]]
)
def test_a_damaged_store_is_named(path, damage):
    keys = [call_key({"n": n}) for n in range(500)]
    with Store(path) as store:
        store.put({key: {"text": "a reply that fills its page " * 4} for key in keys})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(SelfprefError, match=r"store\.sqlite: damaged"), Store(path) as store:
        dict(store.get(keys))


# A text that is no UTF-8; and the first call's reply, which is whole in itself.
NO_TEXT = "digest = CAST(x'ff' AS TEXT) WHERE key = 'two'"
ANOTHERS = "(reply, digest) = (SELECT reply, digest FROM replies LIMIT 1)"


@pytest.mark.parametrize("change", [NO_TEXT, ANOTHERS])
def test_a_reply_that_is_not_what_was_written_is_refused(path, change):
    with Store(path) as store:
        store.put({key: {"text": key} for key in ("one", "two")})
        with store._connection:
            store._connection.execute(f"UPDATE replies SET {change}")
        assert dict(store.get(["one"])) == {"one": {"text": "one"}}
        with pytest.raises(SelfprefError, match=r"store\.sqlite: damaged"):
            dict(store.get(["one", "two"]))


def _write(folder, number, start):
    for n in range(50):
        start.wait(60)
        with Store(folder / f"{n}.sqlite") as store:
            for m in range(number, number + 3):
                store.put({str(m): {"n": m}})


def test_processes_that_start_together_make_one_store_and_lose_nothing(tmp_path):
    start = SPAWNED.Barrier(4)
    workers = [SPAWNED.Process(target=_write, args=(tmp_path, n, start)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0] * 4
    for n in range(50):
        with Store(tmp_path / f"{n}.sqlite") as store:
            assert dict(store.get(map(str, range(7)))) == {str(m): {"n": m} for m in range(6)}


def test_a_new_store_waits_for_one_that_is_being_made_and_for_nothing_else(path, monkeypatch):
    monkeypatch.setattr("selfpref.store.PATIENCE", 0.1)
    with sqlite3.connect(path) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(SelfprefError, match="database is locked"):
            Store(path)
    monkeypatch.setattr("selfpref.store.PATIENCE", 60)
    with pytest.raises(SelfprefError, match="unable to open"):
        Store(path.parent)


def test_what_keeps_a_store_from_being_written_is_no_damage(path):
    told = rf"^{path}: database or disk is full; mend that and run again$"
    with Store(path) as store:
        store._connection.execute("PRAGMA max_page_count=1")
        with pytest.raises(SelfprefError, match=told):
            store.put({str(n): {"text": "long " * 100} for n in range(500)})
