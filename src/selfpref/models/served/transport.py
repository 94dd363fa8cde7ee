"""What passes between the SDK and an endpoint: whole requests and whole replies, over aiohttp."""

import json
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import aiohttp
import httpx2
from openai import AsyncOpenAI

from selfpref.models import Json, Raw


class Http(httpx2.AsyncClient):
    """What the SDK sends by: whole requests and whole replies, over aiohttp.

    The SDK's own client over aiohttp takes three times as long as aiohttp itself, for streams,
    cookies, authentication and hooks; none of them is needed here.

    Args:
        session: Its connections, timeouts and proxies.
        wait: Waits for a request's turn.
    """

    def __init__(self, session: aiohttp.ClientSession, wait: Callable[[], Awaitable[None]]) -> None:
        super().__init__(transport=httpx2.AsyncBaseTransport())
        self._session, self._wait, self._url = session, wait, cache(httpx2.URL)

    def build_request(
        self, method: str, url: httpx2.URL | str, *, content: Any = None, **given: Any
    ) -> httpx2.Request:
        """A request as the SDK gives it, with nothing added."""
        return httpx2.Request(method, self._url(url), content=content, headers=given["headers"])

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """Send a request; `extensions` hold the reply.

        A body that is no reply is taken for a transfer that failed: the SDK tries again.

        Raises:
            httpx2.RequestError: No whole reply came.
        """
        await self._wait()
        try:
            async with self._session.post(
                str(request.url), headers=request.headers.multi_items(), data=request.content
            ) as response:
                body = await response.read()
        except TimeoutError as error:
            raise httpx2.TimeoutException(str(error), request=request) from error
        except aiohttp.ClientError as error:
            told = str(error) or type(error).__name__
            raise httpx2.TransportError(told, request=request) from error
        if not response.ok:
            # The body is no longer compressed.
            headers = [
                (name, value)
                for name, value in response.headers.items()
                if name.lower() != "content-encoding"
            ]
            return httpx2.Response(response.status, headers=headers, content=body, request=request)
        # The store tells a reply by its first bracket.
        body = body.removeprefix(BOM_UTF8).strip()
        try:
            reply = json.loads(body.decode())
        except ValueError as error:
            raise httpx2.DecodingError("the reply is no JSON", request=request) from error
        if not _is_reply(reply):
            failure = reply.get("error") if isinstance(reply, dict) else None
            raise httpx2.DecodingError(f"the reply is no completion: {failure}", request=request)
        return httpx2.Response(
            response.status, request=request, extensions={"reply": Raw(reply, body)}
        )


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
    """The reply to a request; to a `score`, what its three requests to vLLM give.

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
    """Encode the context and the whole as vLLM does, then ask for the whole's likelihoods."""
    root = address.removesuffix("/v1")

    async def encode(text: str) -> list[int]:
        sent: dict[str, Any] = {"model": body["model"]}
        if not body["messages"]:
            sent |= {"prompt": text, "add_special_tokens": True}
        elif text:
            answer = {"role": "assistant", "content": text}
            sent |= {"messages": [*body["messages"], answer], "continue_final_message": True}
            sent |= {"add_generation_prompt": False}
        else:
            sent |= {"messages": body["messages"], "add_generation_prompt": True}
        reply = await _post(client, f"{root}/tokenize", sent)
        return list(reply.reply["tokens"])

    context = len(await encode(body["prefill"]))
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
    return Raw({"context": context, "tokens": tokens, "completion": completion.reply})
