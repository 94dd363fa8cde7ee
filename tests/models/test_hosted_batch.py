"""Batches: submitted once, waited for across restarts, read in part where they end in part."""

import pytest

pytest.importorskip("openai", reason="the extra `models` is not installed")

from asking import to_choose
from scripted import Scripted, share_of_a

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.calls import Model
from selfpref.models.served import HostedModel, batch
from selfpref.params import Hosted, Price
from selfpref.store import Store


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(batch, "POLL", 0.01)


@pytest.fixture
def server():
    with Scripted() as started:
        yield started


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "store.sqlite") as opened:
        yield opened


def ask(store, server, count, start=0, **settings):
    entry = Hosted(
        engine="openai", model="m", base_url=server.url, batch=True, retries=0, **settings
    )
    model = HostedModel("judge", entry, batch.Batch("judge", entry, store))
    asked = [Prompt((("user", f"question {n}"),), "[[") for n in range(start, start + count)]
    found = Model(model, store, offline=False, title="").ask(to_choose(asked, ("A", "B")))
    for prompt, choice in zip(asked, found, strict=True):
        if choice.status == "ok":
            a = share_of_a({"messages": [{"role": "user", "content": prompt.messages[0][1]}]})
            assert choice.probabilities[0] == pytest.approx(0.9 * a)
    return [choice.status for choice in found]


def test_a_batch_answers_like_single_calls_and_is_forgotten(store, server):
    assert ask(store, server, 30) == ["ok"] * 30
    assert ask(store, server, 30) == ["ok"] * 30
    assert len(server.batches.made) == 1
    assert not server.received
    assert store.notes() == {}


class Killed(BaseException):
    pass


def test_a_batch_under_way_is_waited_for_after_a_restart(store, server, monkeypatch):
    server.batches.status = "in_progress"

    def die(_):
        raise Killed

    monkeypatch.setattr(batch.time, "sleep", die)
    for _ in range(3):
        with pytest.raises(Killed):
            ask(store, server, 30)
    assert len(server.batches.made) == 1
    server.batches.status = "completed"
    # What the batch does not hold goes into another one.
    assert ask(store, server, 35) == ["ok"] * 35
    assert len(server.batches.made) == 2


def test_a_run_that_died_while_it_submitted_finds_its_batch(store, server, monkeypatch):
    """The batch was made, the answer that names it never came."""
    note, dying = Store.note, [False, True]

    def note_or_die(self, name, value):
        if value and value["id"] and dying.pop(0) is False:
            raise Killed
        note(self, name, value)

    monkeypatch.setattr(Store, "note", note_or_die)
    with pytest.raises(Killed):
        ask(store, server, 5)
    monkeypatch.setattr(Store, "note", note)
    assert ask(store, server, 5) == ["ok"] * 5
    assert len(server.batches.made) == 1


def test_a_run_that_died_before_it_submitted_submits(store, server, monkeypatch):
    create = batch.openai.resources.batches.Batches.create

    def die(*_, **__):
        raise Killed

    monkeypatch.setattr(batch.openai.resources.batches.Batches, "create", die)
    with pytest.raises(Killed):
        ask(store, server, 5)
    monkeypatch.setattr(batch.openai.resources.batches.Batches, "create", create)
    assert ask(store, server, 5) == ["ok"] * 5
    assert len(server.batches.made) == 1


def test_what_failed_in_a_batch_is_a_row_and_goes_into_the_next(store, server):
    server.batches.fates = {3: "500", 4: "refusal"}
    statuses = ask(store, server, 40)
    assert sorted(set(statuses)) == ["failed", "ok", "refused"]
    assert statuses.count("ok") == 38
    server.batches.fates = {}
    assert ask(store, server, 40) == ["ok"] * 40
    assert [made["request_counts"]["total"] for made in server.batches.made.values()] == [40, 2]


def test_an_expired_batch_keeps_what_it_has(store, server):
    server.batches.status = "expired"
    server.batches.fates = dict.fromkeys(range(5, 20), "expired")
    with pytest.raises(SelfprefError, match=r"15 calls failed \(15 x batch_expired: not in time"):
        ask(store, server, 20)
    server.batches.status, server.batches.fates = "completed", {}
    assert ask(store, server, 20) == ["ok"] * 20
    assert [made["request_counts"]["total"] for made in server.batches.made.values()] == [20, 15]


def test_a_refused_batch_is_told_and_forgotten(store, server):
    server.batches.status = "failed"
    with pytest.raises(SelfprefError, match=r"models\.judge: batch-0 was refused: failed"):
        ask(store, server, 3)
    assert store.notes() == {}


def test_large_sets_are_parted(store, server, monkeypatch):
    monkeypatch.setattr(batch, "REQUESTS", 8)
    assert ask(store, server, 20) == ["ok"] * 20
    assert [made["request_counts"]["total"] for made in server.batches.made.values()] == [8, 8, 4]


def test_calls_of_a_batch_that_nobody_asked_for_yet_are_left_in_it(store, server, monkeypatch):
    server.batches.status = "in_progress"
    monkeypatch.setattr(batch.time, "sleep", lambda _: (_ for _ in ()).throw(Killed))
    with pytest.raises(Killed):
        ask(store, server, 20)
    server.batches.status = "completed"
    assert ask(store, server, 5) == ["ok"] * 5
    assert ask(store, server, 15, start=5) == ["ok"] * 15
    assert len(server.batches.made) == 1
    assert store.notes() == {}


def test_a_batch_costs_half():
    entry = {"engine": "openai", "model": "m", "base_url": "http://x/v1"}
    entry["price"] = Price(input=1.0, output=2.0)
    usage = {"usage": {"prompt_tokens": 1_000_000, "completion_tokens": 500_000}}
    costs = [
        HostedModel("judge", Hosted(**entry, batch=whole), None).cost(usage)
        for whole in (False, True)
    ]
    assert costs == [2.0, 1.0]
