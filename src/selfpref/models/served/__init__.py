"""Models behind the OpenAI chat API: OpenAI itself, vLLM, llama.cpp, gateways.

A chat endpoint takes messages and gives text, with the probabilities of the likeliest tokens at
each of its positions if it can. How the verdict after a prefill such as `[[` is asked for depends
on the server:

    openai      no prefill; the reply is asked for, and read at the token after its own `[[`
    vllm        the prefill is the last message, with `continue_final_message`
    llama.cpp   the prefill is the last message, which the server continues by itself

Likelihoods of a given text (`score`) are vLLM's `prompt_logprobs`; no other server gives them. They
are taken at temperature 1 and before any processing wherever the server says which it gives.

Without a prefill the label is the reply's first token that is more than whitespace: some tokenizers
write the space of a format such as `[/INST] 1` as a token of its own.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.models import (
    Answer,
    Answering,
    Call,
    Choice,
    Choose,
    Generate,
    Json,
    Prompt,
    Raw,
    Score,
    folded,
    unanswered,
)
from selfpref.models.served import reading
from selfpref.params import Hosted

# Limit of a reply that is a verdict, such as `[[A]]`, where the prefill cannot be sent; and of one
# that is a label alone, with whitespace before it.
VERDICT_TOKENS, LABEL_TOKENS = 16, 2


class HostedModel:
    """One model at one endpoint.

    Args:
        name: Its key in `models`, for messages.
        entry: Its parameters.
        send: From requests to replies as they come, each with the index of its request, or why
            there is none.
    """

    def __init__(self, name: str, entry: Hosted, send: Answering) -> None:
        self._name, self._entry, self._send = name, entry, send
        self.identity: dict[str, Any] = {
            "provider": "openai",
            "address": entry.base_url,
            "model": entry.model,
        }

    def _continued(self, prefill: str) -> bool:
        """Whether the reply goes on where the prefill ends."""
        return not prefill or self._entry.server != "openai"

    def request(self, call: Call) -> dict[str, Any]:
        """What is sent for a call: address, path and body.

        Raises:
            SelfprefError: The endpoint cannot give what the call asks for.
        """
        sent: dict[str, Any] = {"address": self._entry.base_url}
        match call:
            case Score():
                if self._entry.server != "vllm":
                    raise SelfprefError(
                        f"models.{self._name}: {self._entry.base_url} gives no likelihoods of a "
                        "given text; take it out of `perplexity`, or serve it with vLLM "
                        "(`server: vllm`)"
                    )
                return sent | {
                    "path": "score",
                    **call.begins,
                    "body": {
                        "model": self._entry.model,
                        "messages": self._messages(call.prompt),
                        "prefill": call.prompt.prefill,
                        "continuation": call.continuation,
                        **({"extra": self._entry.extra} if self._entry.extra else {}),
                    },
                }
            case Choose():
                limit = LABEL_TOKENS if not call.prompt.prefill else 1
                if not self._continued(call.prompt.prefill):
                    limit = VERDICT_TOKENS
                body = self._body(call, limit, 0.0)
            case Generate():
                body = self._body(call, call.max_tokens, call.temperature)
                if call.temperature and not self._entry.reasons:
                    body["seed"] = call.seed
                elif self._entry.reasons:
                    # A reasoning model takes no seed and is never greedy: repeats are told apart
                    # in the key alone.
                    sent["repeat"] = call.seed
        return sent | {"path": "chat/completions", "body": body}

    def _body(self, call: Choose | Generate, limit: int, temperature: float) -> dict[str, Any]:
        prefill, entry = call.prompt.prefill, self._entry
        body: dict[str, Any] = {"model": entry.model, "messages": self._messages(call.prompt)}
        if prefill and self._continued(prefill):
            body["messages"].append({"role": "assistant", "content": prefill})
            if entry.server == "vllm":
                body |= {"add_generation_prompt": False, "continue_final_message": True}
        body |= entry.extra
        if entry.reasoning:
            body["reasoning_effort"] = entry.reasoning
        if entry.reasons:
            if call.labels:
                raise SelfprefError(
                    f"models.{self._name}: a reasoning model gives no probabilities; use "
                    "`score_mode: sampled` or `text`"
                )
            return body | {"max_completion_tokens": limit + entry.reasoning_tokens}
        body |= {"max_completion_tokens" if entry.reasoning else entry.limit: limit}
        body["temperature"] = temperature
        if call.labels:
            body |= {"logprobs": True, "top_logprobs": entry.top_logprobs}
        return body

    def _messages(self, prompt: Prompt) -> list[dict[str, str]]:
        said = folded(prompt.messages) if self._entry.system == "fold" else prompt.messages
        return [{"role": role, "content": content} for role, content in said]

    def read(self, call: Call, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds."""
        prefill = call.prompt.prefill
        match call:
            case Score():
                return reading.score(reply)
            case Choose():
                marker = "" if self._continued(prefill) else prefill
                found = reading.choice(reply, marker, call.labels, spaced=not prefill)
                return found or Choice((), "unparsable")
            case Generate():
                given = prefill if self._continued(prefill) else ""
                return reading.generation(reply, call.marker, call.labels, given)

    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer | Raw]]:
        """Replies as they come; see `Engine`."""
        for index, made in self._send([self.request(call) for call in calls]):
            yield index, made if isinstance(made, Raw) else unanswered(calls[index], made)
