"""What passes between the SDK and an endpoint: whole requests and whole replies."""

import json
from codecs import BOM_UTF8
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx2
from openai import OpenAI

from selfpref.models import Json, Raw, response_start


def http(concurrency: int) -> httpx2.Client:
    """The SDK's own client, which looks at each reply.

    Args:
        concurrency: Most requests under way.
    """
    return httpx2.Client(
        limits=httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency),
        follow_redirects=True,
        # A cookie of a load balancer would lead every request to one of its servers.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=())),
        event_hooks={"response": [_check]},
    )


def _check(response: httpx2.Response) -> None:
    """Take a body that is no reply for a transfer that failed: the SDK tries again."""
    if not response.is_success:
        return
    response.read()
    # The store tells a reply by its first bracket.
    body = response.content.removeprefix(BOM_UTF8).strip()
    try:
        reply = json.loads(body.decode())
    except ValueError as error:
        raise httpx2.DecodingError("the reply is no JSON", request=response.request) from error
    match reply:
        # A chat completion, a completion, or the tokens of a text.
        case {"choices": [{"message": dict()} | {"text": _}, *_]} | {"tokens": list()}:
            response.extensions["reply"] = Raw(reply, body)
        case _:
            fault = reply.get("error") if isinstance(reply, dict) else None
            told = f"the reply is no completion: {fault}"
            raise httpx2.DecodingError(told, request=response.request)


def _post(client: OpenAI, url: str, body: Json) -> Raw:
    # As a raw response: parsing it into the SDK's own objects would take longer than all the rest.
    response = client.post(url, cast_to=httpx2.Response, body=body)
    reply: Raw = response.extensions["reply"]
    return reply


def exchange(client: OpenAI, request: Json) -> Raw:
    """The reply to a request; to a `score`, what its four requests to vLLM give.

    Args:
        client: Over `http`.
        request: With `address`, `path` and `body`.

    Raises:
        openai.APIError: No reply came, after the SDK's retries.
    """
    address, body = request["address"], request["body"]
    if request["path"] == "score":
        return _score(client, address, body)
    return _post(client, f"{address}/{request['path']}", body)


def _score(client: OpenAI, address: str, body: Json) -> Raw:
    """Encode the context and the whole as vLLM does, then ask for the whole's likelihoods.

    The context is the assistant's turn up to the prefill. Of an empty turn `transformers` cuts off
    the whitespace before the content where the template trims, which the generation prompt has; but
    a template may write more into the turn than into the generation prompt. The longer is taken.
    """
    root = address.removesuffix("/v1")

    def encode(text: str | None) -> list[int]:
        sent: dict[str, Any] = {"model": body["model"]}
        if not body["messages"]:
            sent |= {"prompt": text or "", "add_special_tokens": True}
        elif text is None:
            sent |= {"messages": body["messages"], "add_generation_prompt": True}
        else:
            answer = {"role": "assistant", "content": text}
            sent |= {"messages": [*body["messages"], answer], "continue_final_message": True}
            sent |= {"add_generation_prompt": False}
        # Such as what the chat template is told; a given text hangs on nothing else of it.
        sent |= body.get("extra", {}) if body["messages"] else {}
        reply = _post(client, f"{root}/tokenize", sent)
        return list(reply.reply["tokens"])

    tokens = encode(body["prefill"] + body["continuation"])
    completion = _post(
        client,
        f"{address}/completions",
        {
            "model": body["model"],
            "prompt": tokens,
            "max_tokens": 1,
            "temperature": 0.0,
            "prompt_logprobs": 0,
        },
    )
    start = max([response_start(encode(text), tokens) for text in (None, body["prefill"])])
    return Raw({"context": start, "tokens": tokens, "completion": completion.reply})
