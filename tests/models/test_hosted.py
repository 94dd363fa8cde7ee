"""Served models over real HTTP on loopback: answers, faults, limits, and what is kept."""

import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from functools import partial

import pytest

pytest.importorskip("openai", reason="the extra `models` is not installed")

from asking import to_choose, to_generate, to_score
from conftest import REPOSITORY
from scripted import TRANSIENT, ByModel, Scripted, by_rule, share_of_a

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.calls import Model
from selfpref.models.served import HostedModel, live, reading
from selfpref.models.served.failures import HARD
from selfpref.models.served.live import send
from selfpref.params import Hosted, Transformers
from selfpref.prompts import LABELS
from selfpref.store import Store

KEY = "-".join(("sk", "planted", "0123456789abcdef"))


def hosted(url, **settings):
    fixed = {"engine": "openai", "model": "m", "base_url": url, "concurrency": 8, "timeout": 5.0}
    entry = Hosted(**(fixed | settings))
    return HostedModel("judge", entry, partial(send, "judge", entry))


def prompts(count, start=0):
    return [Prompt((("user", f"question {n}"),), "[[") for n in range(start, start + count)]


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


# --- answers ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    pytest.importorskip("torch", reason="the extra `models` is not installed")
    from selfpref.lab.model import build_model, save_checkpoint

    path = tmp_path_factory.mktemp("model")
    save_checkpoint(build_model(3), path)
    return path


@pytest.fixture(scope="module")
def both(folder):
    """The same weights on this machine and behind vLLM's API."""
    from selfpref.models.local import LocalModel

    with Scripted(ByModel(folder)) as server:
        entry = Transformers(engine="transformers", model=folder.name, threads=1)
        yield LocalModel(entry, folder.parent), hosted(server.url, server="vllm")


def lab():
    from selfpref.prompts import LAYOUTS

    return LAYOUTS["lab"]


QUESTIONS = ["list 3 red or blue things", "add 1 + 2 and 3 + 4", "use the words river lamp clock"]


def test_a_served_model_chooses_as_the_same_weights_do_here(both, store, tmp_path):
    here, served = both
    asked = [lab().judge(question, "cherry sky", "maybe river lamp") for question in QUESTIONS]
    # A random model's labels need not be among the 20 likeliest tokens; these are.
    first = here.tokenizer.convert_ids_to_tokens
    with Store(tmp_path / "other.sqlite") as other:
        for prompt in asked:
            import torch

            with torch.no_grad():
                logits = here.model(torch.tensor([here.encode(prompt)])).logits[0, -1]
            likely = first(logits.topk(20).indices.tolist())
            # A control token is no label.
            labels = [token for token in likely if not token.startswith("<")][:2]
            (wanted,) = Model(here, other, offline=False, title="").ask(to_choose([prompt], labels))
            (found,) = Model(served, store, offline=False, title="").ask(
                to_choose([prompt], labels)
            )
            assert found.probabilities == pytest.approx(wanted.probabilities, abs=1e-5)


def test_a_served_model_scores_as_the_same_weights_do_here(both, store, tmp_path):
    here, served = both
    asked = [lab().respond(question) for question in QUESTIONS] + [lab().bare()]
    texts = [lab().content(text) for text in ("cherry sky", "sure ! 1 + 2 = 3", "", "river lamp")]
    with Store(tmp_path / "other.sqlite") as other:
        wanted = Model(here, other, offline=False, title="").ask(to_score(asked, texts))
    found = Model(served, store, offline=False, title="").ask(to_score(asked, texts))
    for one, two in zip(found, wanted, strict=True):
        assert one.n_tokens == two.n_tokens
        assert one.sum_nll == pytest.approx(two.sum_nll, abs=1e-4)
        assert one.status == two.status == "ok"


def test_a_served_model_writes_as_the_same_weights_do_here(both, store, tmp_path):
    here, served = both
    asked = [lab().respond(question) for question in QUESTIONS]
    options = {"max_tokens": 6, "temperature": 0, "seeds": [0, 0, 0]}
    with Store(tmp_path / "other.sqlite") as other:
        wanted = Model(here, other, offline=False, title="").ask(to_generate(asked, **options))
    found = Model(served, store, offline=False, title="").ask(to_generate(asked, **options))
    assert [made.text.split() for made in found] == [made.text.split() for made in wanted]
    assert [made.status for made in found] == [made.status for made in wanted]


def test_a_prompt_beyond_the_context_is_truncated_and_no_failure(both, store):
    _, served = both
    long = lab().judge("list", "cherry " * 300, "sky")
    short = lab().judge("list", "cherry", "sky")
    found = ask(store, served, [short, long])
    assert found[1].status == "truncated"
    assert found[0].status == "ok"


def test_without_prefill_the_verdict_is_read_after_the_replys_own_bracket(store):
    with Scripted() as server:
        asked = prompts(5)
        check(asked, ask(store, hosted(server.url), asked))
    for body in server.bodies:
        assert [message["role"] for message in body["messages"]] == ["user"]
        assert (body["logprobs"], body["top_logprobs"], body["temperature"]) == (True, 20, 0.0)


@pytest.mark.parametrize("kind", ["vllm", "llama.cpp"])
def test_with_prefill_the_verdict_is_the_next_token(store, kind):
    with Scripted() as server:
        (found,) = ask(store, hosted(server.url, server=kind), prompts(1))
    (body,) = server.bodies
    assert body["messages"][-1] == {"role": "assistant", "content": "[["}
    assert body["max_tokens"] == 1
    assert body.get("continue_final_message", False) == (kind == "vllm")
    assert found.mass == pytest.approx(0.9)


def echoes(body):
    """llama.cpp's reply of 2026: the prefill stands before it, and is none of its tokens."""
    made = by_rule(body)
    message = made["choices"][0]["message"]
    message["content"] = body["messages"][-1]["content"] + message["content"]
    return made


def test_a_prefill_before_the_reply_is_no_part_of_it(store):
    with Scripted(echoes) as server:
        model, asked = hosted(server.url, server="llama.cpp"), prompts(3)
        assert [found.mass for found in ask(store, model, asked)] == pytest.approx([0.9] * 3)
        calls = Model(model, store, offline=False, title="")
        (drawn,) = calls.ask(to_generate(asked[:1], max_tokens=9, temperature=0.7, seeds=[1]))
    assert drawn.text in LABELS
    assert drawn.status == "cut"


def test_samples_are_calls_of_their_own(store):
    with Scripted() as server:
        calls = Model(hosted(server.url), store, offline=False, title="")
        calls.ask(to_generate(prompts(1) * 3, max_tokens=9, temperature=0.7, seeds=[1, 2, 3]))
    assert sorted(body["seed"] for body in server.bodies) == [1, 2, 3]
    assert {body["temperature"] for body in server.bodies} == {0.7}
    assert not any("logprobs" in body for body in server.bodies)


# --- faults -------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", TRANSIENT)
def test_a_transient_fault_costs_a_retry_and_no_row(store, fault):
    with Scripted(script=["ok", fault], stall=1.5) as server:
        asked = prompts(4)
        check(asked, ask(store, hosted(server.url, timeout=0.7), asked))
        assert len(server.bodies) == 5


def test_retry_after_is_honoured(store):
    """The server's 0.1 seconds, and not the SDK's own half a second."""
    waited = []
    # The shortest of several, as a busy machine adds to each.
    for prompt in prompts(5):
        with Scripted(script=["429"]) as server:
            began = time.monotonic()
            ask(store, hosted(server.url), [prompt])
            waited.append(time.monotonic() - began)
    assert 0.1 <= min(waited) < 0.35


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("400", "400: Unsupported parameter: 'logprobs'"),
        ("401", r"401: Incorrect API key provided: \*\*\*"),
        ("403", "403: Not yours"),
        ("404", "404: The model does not exist"),
        ("quota", "429: You exceeded your quota"),
        ("no logprobs", "gives no token probabilities.*`score_mode: sampled` or `text`"),
    ],
)
def test_what_the_endpoint_does_not_give_is_told_after_one_call(store, monkeypatch, fault, told):
    monkeypatch.setenv("PLANTED", KEY)
    with Scripted(always=fault) as server:
        with pytest.raises(SelfprefError) as failure:
            ask(store, hosted(server.url, key="PLANTED"), prompts(50))
        assert len(server.bodies) == 1
    message = str(failure.value)
    assert message.startswith("models.judge: stopped, 1 call failed (1 x ")
    assert len(message.splitlines()) == 2
    assert KEY not in message
    assert re.search(told, message)


def test_an_endpoint_that_is_not_there_is_told(store):
    with pytest.raises(SelfprefError, match=r"1 call failed \(1 x Cannot connect to host"):
        ask(store, hosted("http://127.0.0.1:9/v1", retries=0), prompts(3))


def test_a_host_that_does_not_take_the_connection_is_named(store, monkeypatch):
    monkeypatch.setattr(live, "CONNECT", 0.2)
    with socket.create_server(("127.0.0.1", 0), backlog=0) as full, ExitStack() as stack:
        place = full.getsockname()
        for _ in range(3):
            caller = stack.enter_context(socket.socket())
            caller.setblocking(False)
            caller.connect_ex(place)
        told = rf"Cannot connect to host 127\.0\.0\.1:{place[1]}: timed out"
        with pytest.raises(SelfprefError, match=told):
            ask(store, hosted(f"http://127.0.0.1:{place[1]}/v1", retries=0), prompts(1))


def test_a_prefill_that_is_not_continued_is_told(store):
    answer = Scripted().answer

    def starts_anew(body):
        return answer(body | {"messages": body["messages"][:-1]})

    with (
        Scripted(starts_anew) as server,
        pytest.raises(SelfprefError, match=r"does not continue the prefill '\[\['"),
    ):
        ask(store, hosted(server.url, server="llama.cpp"), prompts(3))


def test_repeated_hard_failures_stop_the_stage_and_lose_nothing(store):
    asked = prompts(300)
    with Scripted(script=["ok"] * 20, always="401", latency=0.01) as server:
        with pytest.raises(SelfprefError, match="20 answered and kept") as failure:
            ask(store, hosted(server.url), asked)
        # Those under way when the last of them came back, and no more.
        assert len(server.bodies) <= 20 + HARD + 3 * 8
    assert "not asked" in str(failure.value)
    with Scripted() as server:
        check(asked, ask(store, hosted(server.url), asked))
        # The address is part of the key: this is another endpoint, all is asked.
        assert len(server.bodies) == 300


def test_what_was_answered_before_a_stop_is_not_asked_again(store):
    asked = prompts(60)
    with Scripted(script=["ok"] * 20 + ["401"] * 40) as server:
        model = hosted(server.url)
        with pytest.raises(SelfprefError):
            ask(store, model, asked)
        server.script = iter(["ok"] * 100)
        server.received.clear()
        check(asked, ask(store, model, asked))
        assert len(server.bodies) == 40


def test_a_few_failed_calls_are_rows_of_their_own_and_asked_again(store):
    asked = prompts(40)
    with Scripted(script=["ok", "500", "ok", "no logprobs"]) as server:
        model = hosted(server.url, retries=0)
        found = ask(store, model, asked)
        assert [choice.status for choice in found].count("failed") == 2
        assert all(not choice.probabilities for choice in found if choice.status == "failed")
        check(asked, ask(store, model, asked))
        assert len(server.bodies) == 42


def test_many_failed_calls_fail_the_stage(store):
    with Scripted(script=["ok", *["500", "ok"] * 3]) as server:
        model = hosted(server.url, retries=0)
        with pytest.raises(SelfprefError, match=r"3 calls failed \(3 x 500: Oops") as failure:
            ask(store, model, prompts(40))
        assert "37 answered and kept, 0 not asked" in str(failure.value)
        check(prompts(40), ask(store, model, prompts(40)))


@pytest.mark.parametrize(
    ("fault", "status", "asked_again"),
    [
        ("refusal", "refused", True),
        ("filtered", "refused", True),
        ("filter", "refused", True),
        ("context", "truncated", True),
        ("empty", "unparsable", False),
        ("length", "unparsable", False),
    ],
)
def test_a_reply_without_a_verdict_has_a_status(store, fault, status, asked_again):
    asked = prompts(3)
    with Scripted(script=["ok", fault]) as server:
        model = hosted(server.url, concurrency=1)
        found = ask(store, model, asked)
        assert sorted(choice.status for choice in found) == sorted(["ok", "ok", status])
        ask(store, model, asked)
        assert len(server.bodies) == 3 + asked_again


def test_labels_outside_the_list_hold_nothing_and_duplicates_count_once(store):
    with Scripted(script=["outside", "duplicates"]) as server:
        found = ask(store, hosted(server.url, concurrency=1), prompts(2))
    assert found[0].probabilities == (0.0, 0.0)
    check(prompts(2)[1:], found[1:])


def test_only_vllm_gives_likelihoods(store):
    with pytest.raises(SelfprefError, match=r"gives no likelihoods of a given text.*`perplexity`"):
        Model(hosted("http://127.0.0.1:9/v1"), store, offline=False, title="").ask(
            to_score(prompts(1), ["text"])
        )


def test_likelihoods_that_a_cache_swallowed_are_refused(folder, store):
    with Scripted(ByModel(folder), always="cached") as server:
        calls = Model(hosted(server.url, server="vllm"), store, offline=False, title="")
        with pytest.raises(SelfprefError, match=r"--no-enable-prefix-caching"):
            calls.ask(to_score([lab().respond("list")], [lab().content("cherry")]))


# --- limits, progress, keys ---------------------------------------------------------------------


def test_no_more_requests_are_under_way_than_allowed(store):
    with Scripted(latency=0.02) as server:
        ask(store, hosted(server.url, concurrency=3), prompts(30))
        assert server.most_under_way == 3


@pytest.mark.parametrize(
    "limit",
    # A question is guessed at 7 tokens of prompt, and 16 of reply.
    [{"requests_per_minute": 600}, {"tokens_per_minute": 600 * 23}],
    ids=["requests", "tokens"],
)
def test_requests_are_spread_over_time(store, limit):
    with Scripted() as server:
        began = time.monotonic()
        ask(store, hosted(server.url, **limit), prompts(9))
        assert 0.8 <= time.monotonic() - began < 2


def test_no_cookie_leads_back_to_the_same_server(store):
    with Scripted() as server:
        ask(store, hosted(server.url, concurrency=1), prompts(3))
    assert len(server.received) == 3
    assert not any("Cookie" in headers for _, headers, _ in server.received)


def test_a_proxy_of_the_environment_is_used(store, monkeypatch):
    with Scripted() as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        monkeypatch.setenv("no_proxy", "")
        asked = prompts(3)
        check(asked, ask(store, hosted("http://judge.invalid/v1"), asked))
        assert len(proxy.bodies) == 3


def test_the_key_comes_from_the_environment(store, monkeypatch):
    monkeypatch.delenv("PLANTED", raising=False)
    with Scripted() as server:
        model = hosted(server.url, key="PLANTED")
        with pytest.raises(SelfprefError, match=r"models\.judge\.key: .* PLANTED is not set"):
            ask(store, model, prompts(1))
        assert not server.received
        monkeypatch.setenv("PLANTED", KEY)
        ask(store, model, prompts(1))
    assert server.received[0][1]["Authorization"] == f"Bearer {KEY}"


def test_offline_replays_without_key_or_endpoint(store, monkeypatch):
    monkeypatch.setenv("PLANTED", KEY)
    with Scripted() as server:
        first = ask(store, hosted(server.url, key="PLANTED"), prompts(5))
    monkeypatch.delenv("PLANTED")
    model = hosted(server.url, key="PLANTED")
    assert ask(store, model, prompts(5), offline=True) == first
    with pytest.raises(SelfprefError, match="1 calls are not in"):
        ask(store, model, prompts(6), offline=True)


def test_a_better_reader_never_pays_again(store, monkeypatch):
    with Scripted() as server:
        model = hosted(server.url)
        first = ask(store, model, prompts(5))
        monkeypatch.setattr(
            reading, "_sums", lambda entry, *_: [math.exp(entry["logprob"]) / 2, 0.0]
        )
        again = ask(store, model, prompts(5))
        assert len(server.bodies) == 5
    assert [max(one.probabilities) / 2 for one in first] == pytest.approx(
        [two.mass for two in again]
    )


@pytest.mark.parametrize("layout", ["ok", "spaced"])
def test_replies_are_kept_raw_with_their_usage(store, layout, monkeypatch):
    monkeypatch.setattr("selfpref.store.LARGE", 10**6)
    with Scripted(script=[layout]) as server:
        model = hosted(server.url)
        made = ask(store, model, prompts(1))
    (row,) = store._connection.execute("SELECT key, reply FROM replies")
    reply = store.get(row[:1])[row[0]]
    wanted = server.answer(server.bodies[0])
    assert reply == json.loads(json.dumps(wanted))
    assert reply["usage"]["prompt_tokens"] == 2
    # Byte for byte, but for what is around it: space, and the mark that some servers begin with.
    assert row[1].startswith(b"{\n  " if layout == "spaced" else b'{"')
    assert ask(store, model, prompts(1), offline=True) == made


# --- being interrupted --------------------------------------------------------------------------

WORK = """
import sys
from functools import partial
from pathlib import Path
from selfpref.models import Choose, Prompt
from selfpref.models.calls import Model
from selfpref.models.served import HostedModel
from selfpref.models.served.live import send
from selfpref.params import Hosted
from selfpref.store import Store

entry = Hosted(engine="openai", model="m", base_url=sys.argv[1], concurrency=8)
prompts = [Prompt((("user", f"{n} question"),), "[[") for n in range(2000)]
model = HostedModel("judge", entry, partial(send, "judge", entry))
with Store(Path(sys.argv[2])) as store:
    calls = Model(model, store, offline=False, title="")
    try:
        calls.ask([Choose(prompt, ("A", "B")) for prompt in prompts])
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "SIGKILL"])
def test_an_end_halfway_loses_no_answer_that_came(tmp_path, number):
    """After Ctrl-C every answer is kept; after SIGKILL all but those that were under way."""
    (tmp_path / "work.py").write_text(WORK)
    log = tmp_path / "answered"
    log.touch()
    with Scripted(latency=0.02, log=log) as server:
        command = [sys.executable, str(tmp_path / "work.py"), server.url, str(tmp_path / "store")]
        environment = os.environ | {"PYTHONPATH": str(REPOSITORY / "src")}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, text=True
        ) as process:
            while len(log.read_text().split()) < 100:
                time.sleep(0.01)
                assert process.poll() is None
            process.send_signal(number)
            told, _ = process.communicate(timeout=30)
        time.sleep(0.1)
    answered = log.read_text().split()
    with Store(tmp_path / "store") as store:
        (kept,) = store._connection.execute("SELECT count(*) FROM replies").fetchone()
    assert len(set(answered)) == len(answered) < 2000
    if number == signal.SIGINT:
        assert told == "interrupted\n"
        assert kept == len(answered)
    else:
        assert len(answered) - 2 * 8 <= kept <= len(answered)
