"""Responses: every item answered by one model."""

from collections import Counter
from zlib import crc32

import pandas as pd

from selfpref.engines.calls import Calls
from selfpref.prompts import Layout


def question(messages: list[dict[str, str]]) -> str:
    """The text of an item's user turns."""
    return "\n\n".join(message["content"] for message in messages if message["role"] == "user")


def respond(
    items: pd.DataFrame,
    responder: str,
    calls: Calls,
    layout: Layout,
    *,
    max_tokens: int,
    temperature: float,
    seed: int,
) -> tuple[pd.DataFrame, dict[str, int]]:
    """One response to each item.

    Args:
        items: The items table.
        responder: Whose responses these are.
        calls: The model behind the store.
        layout: The prompts.
        max_tokens: Where a response is cut off.
        temperature: 0 is greedy.
        seed: With item and responder, the seed of each sample.

    Returns:
        The responses table: `status` is `truncated` where a response was cut off at the limit.
        Items without a response have no row; the second value counts them by reason: `truncated`
        where the prompt does not fit the context, `refused`, `failed`.
    """
    prompts = [layout.respond(question(messages)) for messages in items["messages"]]
    seeds = [crc32(f"{seed}/{responder}/{item}".encode()) for item in items["item_id"]]
    made = calls.generate(prompts, max_tokens=max_tokens, temperature=temperature, seeds=seeds)
    table = pd.DataFrame(
        {
            "study": items["study"],
            "item_id": items["item_id"],
            "responder": responder,
            "step": 0,
            "sample": 0,
            "text": [generation.text for generation in made],
            "status": ["truncated" if generation.status == "cut" else "ok" for generation in made],
        }
    )
    answered = [generation.status in ("ok", "cut") for generation in made]
    missing = Counter(
        generation.status for generation in made if generation.status not in ("ok", "cut")
    )
    return table[answered].reset_index(drop=True), dict(sorted(missing.items()))
