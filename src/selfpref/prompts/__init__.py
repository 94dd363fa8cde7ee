"""Prompt layouts: how an item and its responses become a prompt.

A layout is worded by this project. Judges read the verdict at the token after `[[`.
"""

from collections.abc import Callable
from dataclasses import dataclass

from selfpref.engines import Prompt
from selfpref.prompts import lab

LABELS = ("A", "B")


@dataclass(frozen=True)
class Layout:
    """The prompts of one experiment.

    Attributes:
        respond: From the item's text to the prompt that asks for a response.
        judge: From the item's text and two responses, in presented order, to the prompt whose next
            token is a verdict, one of `LABELS`.
        bare: The context without an item, for unconditional perplexities.
        content: A response as it is scored: nothing in it acts as a control token.
    """

    respond: Callable[[str], Prompt]
    judge: Callable[[str, str, str], Prompt]
    bare: Callable[[], Prompt]
    content: Callable[[str], str]


LAYOUTS = {"lab": Layout(lab.respond, lab.judge, lab.bare, lab.content)}
