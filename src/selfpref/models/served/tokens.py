"""What requests will take before they are sent: tokens by length of text, and their price.

Only the endpoint knows its tokenizer, so its tokens are guessed: one for every four bytes of text
and four a message. English prose has 4 to 5 bytes a token, code and other scripts fewer, so a guess
for those is low. The reply is counted at its limit: what is spent lies below.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selfpref.models import Json, Raw, Status
from selfpref.params import Price

BYTES = 4
MESSAGE = 4
MILLION = 1e6


@dataclass(frozen=True)
class Tokens:
    """Tokens of prompts and of replies."""

    prompt: int = 0
    reply: int = 0

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(self.prompt + other.prompt, self.reply + other.reply)

    def price(self, price: Price) -> float:
        """In USD."""
        return (self.prompt * price.input + self.reply * price.output) / MILLION


def guess(request: Json) -> Tokens:
    """Tokens of one request, as the module says."""
    body = request["body"]
    texts = [message["content"] for message in body["messages"]]
    if "continuation" in body:
        texts.append(body["continuation"])
    prompt = sum(-(-len(text.encode()) // BYTES) + MESSAGE for text in texts)
    return Tokens(prompt, body.get("max_tokens") or body.get("max_completion_tokens") or 1)


class Meter:
    """A sender that sends nothing and adds up what would be sent."""

    def __init__(self) -> None:
        self.calls, self.tokens = 0, Tokens()

    def send(self, requests: Sequence[Json]) -> Iterator[tuple[int, Raw | Status]]:
        """Count the requests; none has an answer."""
        for index, request in enumerate(requests):
            self.calls += 1
            self.tokens += guess(request)
            yield index, "failed"
