"""A chat endpoint on loopback that answers from a model, or by rule, and can misbehave.

    python tests/scripted.py FOLDER [--latency 0.05] [--faults 0.03]

serves by rule, writes its address to FOLDER/address and a line for each answered request to
FOLDER/answered: what benchmarks/hosted.py measures against.
"""

import argparse
import asyncio
import hashlib
import itertools
import json
import math
import random
import threading
from pathlib import Path

from aiohttp import web

# What a request can meet, in place of or on top of the answer that it asked for.
TRANSIENT = ("429", "500", "stall", "drop", "malformed", "error in 200")


def position(token, alternatives):
    """One position of a reply: the token that was chosen and the list beside it."""

    def entry(token, p):
        logprob = math.log(p) if p > 0 else -9999.0
        return {"token": token, "logprob": logprob, "bytes": list(token.encode())}

    listed = [entry(*alternative) for alternative in alternatives.items()]
    return entry(token, alternatives.get(token, 0.0)) | {"top_logprobs": listed}


def completion(body, positions, finish="stop", **message):
    """A chat completion as OpenAI writes it."""
    content = "".join(entry["token"] for entry in positions)
    said = {"role": "assistant", "content": content, "refusal": None} | message
    logprobs = {"content": positions} if body.get("logprobs") else None
    choice = {"index": 0, "message": said, "logprobs": logprobs, "finish_reason": finish}
    return {"object": "chat.completion", "model": body["model"], "choices": [choice]}


def share_of_a(body):
    """The rule's P(A), from the text of the prompt."""
    text = json.dumps(body["messages"]).encode()
    return (1 + int.from_bytes(hashlib.sha256(text).digest()[:2])) / (2**16 + 1)


def by_rule(body):
    """`[[A]]` or `[[B]]`, with probabilities that the prompt decides."""
    a = share_of_a(body)
    listed = {"A": 0.9 * a, "B": 0.9 * (1 - a)} | {f"t{n}": 0.05 / 2**n for n in range(18)}
    label = max("AB", key=lambda name: listed[name])
    if body["messages"][-1]["role"] == "assistant":
        return completion(body, [position(label, listed)], "length")
    brackets = [position(token, {token: 1.0}) for token in ("[[", "]]")]
    return completion(body, [brackets[0], position(label, listed), brackets[1]])


class ByModel:
    """A model folder behind the API: what comes next after a prefill, as vLLM takes it."""

    def __init__(self, folder):
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.model = AutoModelForCausalLM.from_pretrained(folder)

    def __call__(self, body):
        text = self.tokenizer.apply_chat_template(
            body["messages"], continue_final_message=True, tokenize=False
        )
        ids = self.tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
        row = self.model(ids).logits[0, -1].detach().double().softmax(-1)
        best = row.topk(body["top_logprobs"])
        words = self.tokenizer.convert_ids_to_tokens(best.indices)
        listed = dict(zip(words, best.values.tolist(), strict=True))
        return completion(body, [position(words[0], listed)], "length")


def error(message, kind, code=None):
    return json.dumps({"error": {"message": message, "type": kind, "code": code}})


ERRORS = {
    "401": (401, error("Incorrect API key provided: {key}.", "invalid_request_error")),
    "429": (429, error("Slow down", "rate_limit_error", "rate_limit_exceeded")),
    "filter": (400, error("Filtered", "invalid_request_error", "content_filter")),
    "context": (400, error("Too long", "invalid_request_error", "context_length_exceeded")),
    "500": (500, error("Oops, {key}", "server_error")),
    "malformed": (200, '{"choices": [{"index": 0,'),
    "error in 200": (200, error("busy", "overloaded")),
}


class Scripted:
    """The server.

    Args:
        answer: From a request's body to a completion.
        script: What the first requests meet, in order of arrival; `ok` is an answer.
        always: What all others meet.
        latency: Seconds before each answer.
        faults: Share of requests, drawn at random, that meet something of `TRANSIENT`, stalls
            apart: how long they last would be all that a measurement shows.
        stall: Seconds that a `stall` lasts.
        log: Where to write a line for each answer, once it is sent.
    """

    def __init__(
        self, answer=by_rule, script=(), *, always="ok", latency=0, faults=0, stall=10, log=None
    ):
        self.answer, self.latency, self.stall = answer, latency, stall
        self.script = itertools.chain(script, itertools.repeat(always))
        self.faults, self.draw = faults, random.Random(0)
        self.received = []
        self.under_way = self.most_under_way = 0
        self.log = open(log, "a", buffering=1) if log else None  # noqa: SIM115
        self.url = ""

    @property
    def bodies(self):
        return [body for _, _, body in self.received]

    async def start(self):
        app = web.Application(client_max_size=1 << 28)
        app.router.add_post("/v1/chat/completions", self.chat)
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self.runner.addresses[0][1]}/v1"

    def __enter__(self):
        """Serve from a thread of its own."""
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        asyncio.run_coroutine_threadsafe(self.start(), self.loop).result(10)
        return self

    def __exit__(self, *_):
        asyncio.run_coroutine_threadsafe(self.stop(), self.loop).result(10)
        self.loop.call_soon_threadsafe(self.loop.stop)

    async def stop(self):
        await self.runner.cleanup()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    async def chat(self, request):
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            return await self._chat(request)
        finally:
            self.under_way -= 1

    async def _chat(self, request):
        body = await request.json()
        if not self.log:
            self.received.append((request.path, dict(request.headers), body))
        act = next(self.script)
        if act == "ok" and self.faults and self.draw.random() < self.faults:
            act = self.draw.choice([fault for fault in TRANSIENT if fault != "stall"])
        if self.latency:
            await asyncio.sleep(self.latency)
        if act == "stall":
            await asyncio.sleep(self.stall)
            act = "ok"
        key = request.headers["Authorization"].removeprefix("Bearer ")
        if act in ERRORS:
            status, text = ERRORS[act]
            headers = {"Retry-After": "0.1"} if act == "429" else {}
            said = {"text": text.replace("{key}", key), "content_type": "application/json"}
            return web.Response(status=status, headers=headers, **said)
        text = json.dumps(spoil(act, self.answer(body)))
        if act == "drop":
            half = web.StreamResponse(headers={"Content-Length": str(len(text))})
            await half.prepare(request)
            await half.write(text[: len(text) // 2].encode())
            if request.transport:
                request.transport.close()
            return half
        if self.log:
            self.log.write(body["messages"][0]["content"].partition(" ")[0] + "\n")
        return web.Response(text=text, content_type="application/json")


BEGUN = "The first assistant"
ODD = {
    **{"no logprobs": {"logprobs": None}, "empty": {"logprobs": {"content": []}}},
    **{"refusal": {"logprobs": None}, "filtered": {"finish_reason": "content_filter"}},
    "length": {"finish_reason": "length", "logprobs": {"content": [position(BEGUN, {})]}},
}
SAID = {"empty": {"content": ""}, "length": {"content": BEGUN}}
SAID |= {"refusal": {"content": None, "refusal": "I cannot help with that."}}


def spoil(act, reply):
    """Make of a good reply one of the odd ones that endpoints give."""
    (choice,) = reply["choices"]
    choice |= ODD.get(act, {})
    choice["message"] |= SAID.get(act, {})
    return reply


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--latency", type=float, default=0.05)
    parser.add_argument("--faults", type=float, default=0.0)
    given = parser.parse_args()
    server = Scripted(latency=given.latency, faults=given.faults, log=given.folder / "answered")

    async def serve():
        await server.start()
        (given.folder / "address.new").write_text(server.url)
        (given.folder / "address.new").rename(given.folder / "address")
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
