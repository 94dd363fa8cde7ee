"""Responses: every item answered by one model."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol

import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.models import Generate, Prompt
from selfpref.models.calls import Model
from selfpref.params import Hosted, Params, Ray
from selfpref.seeds import seed_of

# Prompts at a time: with their calls they would be most of a stage's memory.
PART = 10_000
# For a batch, which may take a day and so many at most, and Ray's workers, who load their model.
LARGE_PART = 50_000


def at_a_time(params: Params, model: str) -> int:
    """How many prompts of a model, a key of `models`, are made and asked at a time."""
    entry = params.models[model]
    begins_anew = isinstance(entry, Ray) or (isinstance(entry, Hosted) and entry.batch)
    return LARGE_PART if begins_anew else PART


class Asks(Protocol):
    """Any layout that asks for a response."""

    @property
    def respond(self) -> Callable[..., Prompt]:
        """From what was asked, and answered since, to the prompt for the next response."""


def dialogues(
    items: pd.DataFrame, responses: pd.DataFrame, wanted: Iterable[str]
) -> dict[tuple[str, str], list[str]]:
    """Every response to some items with what was said before it, by item and responder.

    An item of a later turn, `<...>/<turn>`, holds the user's turns; the answers to the earlier ones
    are the same responder's responses to the items of those turns.

    Args:
        items: The items table.
        responses: The responses table, one row an item and responder.
        wanted: Which items.

    Returns:
        Question, answer, question, ..., ending with the response. A response without those to
        earlier turns is left out.
    """
    some = items[items["item_id"].isin(list(wanted))]
    asked = dict(zip(some["item_id"], map(_questions, some["messages"]), strict=True))
    before = {
        item: [f"{item.rpartition('/')[0]}/{turn}" for turn in range(1, len(questions))]
        for item, questions in asked.items()
    }
    needed = responses["item_id"].isin(list({*asked}.union(*before.values())))
    texts = responses[needed].set_index(["item_id", "responder"])["text"].to_dict()
    found = {}
    for (item, responder), text in texts.items():
        if item not in asked:
            continue
        *earlier, last = asked[item]
        answers = [texts.get((turn, responder)) for turn in before[item]]
        if None not in answers:
            said = [words for pair in zip(earlier, answers, strict=True) for words in pair]
            found[item, responder] = [*said, last, text]
    return found


def compared(
    said: Mapping[tuple[str, str], list[str]], item: str, names: Collection[str]
) -> list[str]:
    """Two responses as a judge reads them: question, one answer, the other, turn by turn.

    Args:
        said: As `dialogues` returns it.
        item: Which item.
        names: The two responders, in presented order.

    Raises:
        SelfprefError: A response, or one to an earlier turn, is missing.
    """
    for name in names:
        if (item, name) not in said:
            raise SelfprefError(f"{item}: no response of {name!r}, or none to an earlier turn")
    first, second = (said[item, name] for name in names)
    turns = zip(first[::2], first[1::2], second[1::2], strict=True)
    return [text for turn in turns for text in turn]


def _questions(messages: list[dict[str, str]]) -> list[str]:
    return [message["content"] for message in messages if message["role"] == "user"]


def respond(
    items: pd.DataFrame,
    responder: str,
    calls: Model,
    layout: Asks,
    *,
    max_tokens: int,
    temperature: float,
    seed: int,
) -> tuple[pd.DataFrame, dict[str, int]]:
    """One response to each item.

    Args:
        items: The items table; one turn each.
        responder: Whose responses these are.
        calls: The model behind the store.
        layout: The prompts.
        max_tokens: Where a response is cut off.
        temperature: 0 is greedy.
        seed: With item and responder, the seed of each sample.

    Returns:
        The responses table: `status` is `truncated` where a response was cut off at the limit.
        Items without a response have no row. The second value counts both: `cut off`, and the
        items by reason: `truncated` where the prompt does not fit the context, `refused`, `failed`.
    """
    made = calls.ask(
        [
            Generate(
                layout.respond(*_questions(messages)),
                max_tokens,
                temperature,
                seed_of(seed, responder, item),
            )
            for messages, item in zip(items["messages"], items["item_id"], strict=True)
        ]
    )
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
    lost = Counter(g.status for g in made if g.status not in ("ok", "cut"))
    cut = int(table["status"].eq("truncated").sum())
    return table[answered].reset_index(drop=True), {"cut off": cut, **dict(sorted(lost.items()))}


def tallied(counts: Mapping[str, Mapping[str, int]]) -> pd.DataFrame:
    """The counts of `respond` by data set: one row each, a column for every reason."""
    columns = ["cut off", "truncated", "refused", "failed"]
    table = pd.DataFrame.from_dict(counts, orient="index").reindex(columns=columns)
    return table.fillna(0).astype(int)
