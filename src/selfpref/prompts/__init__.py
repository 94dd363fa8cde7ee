"""Prompt layouts: how an item and its responses become a prompt.

A verdict is the token after `MARKER`: the next one where the judge's prompt ends in it (its
prefill), else the one that follows the judge's explanation. Layouts are worded by this project,
`pair-v2` apart, whose texts are downloaded.
"""

from collections.abc import Callable
from dataclasses import dataclass

from selfpref.models import Prompt
from selfpref.prompts import chat, fastchat, lab

MARKER = "[["
LABELS = ("A", "B")
# Where a layout lets the judge call a tie.
TIE_LABEL = "C"


@dataclass(frozen=True)
class Layout:
    """The prompts of one experiment.

    Attributes:
        respond: From what the user asked, and in later turns what was answered and asked since,
            to the prompt for the next response: `respond(question, answer, question, ...)`.
        judge: From the item's text and two responses, in presented order, to the prompt whose next
            token, or the one after an explanation and `MARKER`, is a verdict, one of `labels`.
            Three more texts a turn: `judge(question, answer_a, answer_b, question, ...)`.
        bare: The context without an item, for unconditional perplexities.
        content: A response as it is scored: nothing in it acts as a control token.
        labels: The verdicts: first response, second, and `TIE_LABEL` if ties are allowed.
    """

    respond: Callable[..., Prompt]
    judge: Callable[..., Prompt]
    bare: Callable[[], Prompt]
    content: Callable[[str], str]
    labels: tuple[str, ...] = LABELS


LAYOUTS = {
    "lab": Layout(lab.respond, lab.judge, lab.bare, lab.content),
    "chat": Layout(chat.respond, chat.judge, chat.bare, chat.content),
    "pair-v2": Layout(chat.respond, fastchat.judge, chat.bare, chat.content, (*LABELS, TIE_LABEL)),
}
