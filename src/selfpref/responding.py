"""Responses: every item answered by one model."""

from collections.abc import Callable
from typing import Protocol
from zlib import crc32

import pandas as pd

from selfpref.engines import Prompt
from selfpref.engines.calls import Calls


class Asks(Protocol):
    """Any layout that asks for a response."""

    @property
    def respond(self) -> Callable[..., Prompt]:
        """From what was asked to the prompt for a response."""


def question(messages: list[dict[str, str]]) -> str:
    """The text of an item's user turns."""
    return "\n\n".join(message["content"] for message in messages if message["role"] == "user")


def respond(
    items: pd.DataFrame,
    responder: str,
    calls: Calls,
    layout: Asks,
    *,
    max_tokens: int,
    temperature: float,
    seed: int,
) -> tuple[pd.DataFrame, int]:
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
        Items whose prompt does not fit the context have no row; their number is the second value.
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
            "status": ["ok" if generation.status == "ok" else "truncated" for generation in made],
        }
    )
    unfit = pd.Series([generation.status == "truncated" for generation in made], dtype=bool)
    return table[~unfit].reset_index(drop=True), int(unfit.sum())
