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

from selfpref import models
from selfpref.models import Answer, Answering, Call, Choice, Choose, Json, Prompt, Raw, Score
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
        self.identity = {"provider": "openai", "address": entry.base_url, "model": entry.model}

    def _continued(self, prefill: str) -> bool:
        """Whether the reply goes on where the prefill ends."""
        return not prefill or self._entry.server != "openai"

    def request(self, call: Call) -> dict[str, Any]:
        """What is sent for a call: address, path and body.

        What an endpoint does not give, the parameters do not ask of it.
        """
        entry, prefill = self._entry, call.prompt.prefill
        sent: dict[str, Any] = {"address": entry.base_url, "path": "chat/completions"}
        body: dict[str, Any] = {"model": entry.model, "messages": self._messages(call.prompt)}
        if isinstance(call, Score):
            body |= {"prefill": prefill, "continuation": call.continuation}
            body |= {"extra": entry.extra} if entry.extra else {}
            return sent | {"path": "score", **call.begins, "body": body}
        continued = self._continued(prefill)
        if prefill and continued:
            body["messages"].append({"role": "assistant", "content": prefill})
            if entry.server == "vllm":
                body |= {"add_generation_prompt": False, "continue_final_message": True}
        body |= entry.extra
        if entry.reasoning:
            body["reasoning_effort"] = entry.reasoning
        if isinstance(call, Choose):
            opened = 1 if continued else VERDICT_TOKENS
            limit, heat, seed = opened if prefill else LABEL_TOKENS, 0.0, 0
        else:
            limit, heat, seed = call.max_tokens, call.temperature, call.seed
        if entry.reasons:
            # It takes no seed and is never greedy: repeats are told apart in the key alone.
            limited = {"max_completion_tokens": limit + entry.reasoning_tokens}
            return sent | {"repeat": seed, "body": body | limited}
        body |= {"max_completion_tokens" if entry.reasoning else entry.limit: limit}
        body |= {"temperature": heat} | ({"seed": seed} if heat else {})
        weighed = {"logprobs": True, "top_logprobs": entry.top_logprobs}
        return sent | {"body": body | (weighed if call.labels else {})}

    def _messages(self, prompt: Prompt) -> list[dict[str, str]]:
        fold = self._entry.system == "fold"
        said = models.folded(prompt.messages) if fold else prompt.messages
        return [{"role": role, "content": content} for role, content in said]

    def read(self, call: Call, reply: Json) -> Answer:
        """The answer to a call that a raw reply holds."""
        prefill, continued = call.prompt.prefill, self._continued(call.prompt.prefill)
        if isinstance(call, Score):
            return reading.score(reply)
        if isinstance(call, Choose):
            marker = "" if continued else prefill
            found = reading.choice(reply, marker, call.labels, spaced=not prefill)
            return found or Choice((), "unparsable")
        return reading.generation(reply, call.marker, call.labels, prefill if continued else "")

    def answer(self, calls: Sequence[Call]) -> Iterator[tuple[int, Answer | Raw]]:
        """Replies as they come; see `Engine`."""
        for index, made in self._send([self.request(call) for call in calls]):
            yield index, made if isinstance(made, Raw) else models.unanswered(calls[index], made)
