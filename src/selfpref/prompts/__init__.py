"""Prompt layouts: how an item and its responses become a prompt.

A layout is worded by this project. A verdict is the token after `MARKER`: the next one where the
judge's prompt ends in it (its prefill), else the one that follows the judge's explanation.
"""

from collections.abc import Callable
from dataclasses import dataclass

from selfpref.engines import Prompt
from selfpref.prompts import lab

MARKER = "[["
LABELS = ("A", "B")
# Where a layout lets the judge call a tie.
TIE_LABEL = "C"


@dataclass(frozen=True)
class Layout:
    """The prompts of one experiment.

    Attributes:
        respond: From the item's text to the prompt that asks for a response.
        judge: From the item's text and two responses, in presented order, to the prompt whose next
            token, or the one after an explanation and `MARKER`, is a verdict, one of `labels`.
        bare: The context without an item, for unconditional perplexities.
        content: A response as it is scored: nothing in it acts as a control token.
        labels: The verdicts: first response, second, and `TIE_LABEL` if ties are allowed.
    """

    respond: Callable[[str], Prompt]
    judge: Callable[[str, str, str], Prompt]
    bare: Callable[[], Prompt]
    content: Callable[[str], str]
    labels: tuple[str, ...] = LABELS


LAYOUTS = {"lab": Layout(lab.respond, lab.judge, lab.bare, lab.content)}
