"""What passes between the SDK and an endpoint: whole requests and whole replies."""

import json
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any

import httpx2
from openai import AsyncOpenAI

from selfpref.models import Json, Raw, response_start


class Http(httpx2.AsyncClient):
    """The SDK's own client, which waits for each request's turn and looks at each reply.

    Args:
        wait: Waits for a request's turn.
        concurrency: Most requests under way.
    """

    def __init__(self, wait: Callable[[], Awaitable[None]], concurrency: int) -> None:
        limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        # A cookie of a load balancer would lead every request to one of its servers.
        none = CookieJar(DefaultCookiePolicy(allowed_domains=()))
        super().__init__(limits=limits, follow_redirects=True, cookies=none)
        self._turn = wait

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; `extensions` hold the reply.

        A body that is no reply is taken for a transfer that failed: the SDK tries again.

        Raises:
            httpx2.RequestError: No whole reply came.
        """
        await self._turn()
        try:
            response = await super().send(request, **options)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            # The client's own words do not name it, and may be none.
            reason = str(error) or type(error).__name__
            told = f"Cannot connect to host {request.url.netloc.decode()}: {reason}"
            raise type(error)(told, request=request) from error
        if response.is_success:
            # The store tells a reply by its first bracket.
            body = response.content.removeprefix(BOM_UTF8).strip()
            try:
                reply = json.loads(body.decode())
            except ValueError as error:
                raise httpx2.DecodingError("the reply is no JSON", request=request) from error
            if not _is_reply(reply):
                fault = reply.get("error") if isinstance(reply, dict) else None
                raise httpx2.DecodingError(f"the reply is no completion: {fault}", request=request)
            response.extensions["reply"] = Raw(reply, body)
        return response


def _is_reply(reply: Any) -> bool:
    """A chat completion, a completion, or the tokens of a text."""
    match reply:
        case {"choices": [{"message": dict()}, *_]} | {"choices": [{"text": _}, *_]}:
            return True
        case {"tokens": list()}:
            return True
    return False


async def _post(client: AsyncOpenAI, url: str, body: Json) -> Raw:
    # As a raw response: parsing it into the SDK's own objects would take longer than all the rest.
    response = await client.post(url, cast_to=httpx2.Response, body=body)
    reply: Raw = response.extensions["reply"]
    return reply


async def exchange(client: AsyncOpenAI, request: Json) -> Raw:
    """The reply to a request; to a `score`, what its four requests to vLLM give.

    Args:
        client: Over an `Http`.
        request: With `address`, `path` and `body`.

    Raises:
        openai.APIError: No reply came, after the SDK's retries.
    """
    address, body = request["address"], request["body"]
    if request["path"] == "score":
        return await _score(client, address, body)
    return await _post(client, f"{address}/{request['path']}", body)


async def _score(client: AsyncOpenAI, address: str, body: Json) -> Raw:
    """Encode the context and the whole as vLLM does, then ask for the whole's likelihoods.

    The context is the assistant's turn up to the prefill. Of an empty turn `transformers` cuts off
    the whitespace before the content where the template trims, which the generation prompt has; but
    a template may write more into the turn than into the generation prompt. The longer is taken.
    """
    root = address.removesuffix("/v1")

    async def encode(text: str | None) -> list[int]:
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
        reply = await _post(client, f"{root}/tokenize", sent)
        return list(reply.reply["tokens"])

    tokens = await encode(body["prefill"] + body["continuation"])
    completion = await _post(
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
    start = max([response_start(await encode(text), tokens) for text in (None, body["prefill"])])
    return Raw({"context": start, "tokens": tokens, "completion": completion.reply})
