"""Responses: every item answered by one model; and what was said before a response."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

import pandas as pd

from selfpref.ask import Columns, Question, ask
from selfpref.errors import SelfprefError
from selfpref.models import Generate, Prompt, Text
from selfpref.models.calls import Model
from selfpref.params import Writing
from selfpref.seeds import seed_of


def respond(
    items: pd.DataFrame,
    responder: str,
    model: Model,
    prompt: Callable[..., Prompt],
    use: Writing,
    *,
    seed: int,
) -> tuple[pd.DataFrame, dict[str, int]]:
    """One response to each item.

    Args:
        items: The items table; one turn each.
        responder: Whose responses these are.
        model: The responder's model.
        prompt: From an item's question to the prompt.
        use: Limit and temperature.
        seed: With item and responder, the seed of each sample.

    Returns:
        The responses table: `status` is `truncated` where a response was cut off at the limit.
        Items without a response have no row. The second value counts both: `cut off`, and the
        items by reason: `truncated` where the prompt does not fit the context, `refused`, `failed`.
    """

    def questions(some: pd.DataFrame) -> Iterator[Question]:
        for item, messages in some[["item_id", "messages"]].itertuples(index=False):
            draw = seed_of(seed, responder, item)
            asked = prompt(*_questions(messages))
            yield Question([Generate(asked, use.max_tokens, use.temperature, draw)], _written)

    table = ask(model, items, "responses", questions, responder=responder)
    lost = table["text"].isna()
    counts = {"cut off": int(table.loc[~lost, "status"].eq("truncated").sum())}
    counts |= table.loc[lost, "status"].value_counts().sort_index().to_dict()
    return table[~lost].reset_index(drop=True), counts


def _written(answer: Text) -> Columns:
    if answer.status not in ("ok", "cut"):
        return {"text": None, "status": answer.status}
    return {"text": answer.text, "status": "ok" if answer.status == "ok" else "truncated"}


def tallied(counts: Mapping[str, Mapping[str, int]]) -> pd.DataFrame:
    """The counts of `respond` by data set: one row each, a column for every reason."""
    columns = ["cut off", "truncated", "refused", "failed"]
    table = pd.DataFrame.from_dict(counts, orient="index").reindex(columns=columns)
    return table.fillna(0).astype(int)


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
