"""What requests will take before they are sent: tokens by length of text.

Only the endpoint knows its tokenizer, so its tokens are guessed: one for every four bytes of text
and four a message. English prose has 4 to 5 bytes a token, code and other scripts fewer, so a guess
for those is low. The reply is counted at its limit: what is used lies below.
"""

from selfpref.models import Json

BYTES = 4
MESSAGE = 4


def of_text(text: str) -> int:
    """Tokens of a text."""
    return -(-len(text.encode()) // BYTES)


def guess(request: Json) -> int:
    """Tokens of one request and its reply, as the module says."""
    body = request["body"]
    texts = [message["content"] for message in body["messages"]]
    if "continuation" in body:
        texts.append(body["continuation"])
    prompt = sum(of_text(text) + MESSAGE for text in texts)
    return prompt + (body.get("max_tokens") or body.get("max_completion_tokens") or 1)
