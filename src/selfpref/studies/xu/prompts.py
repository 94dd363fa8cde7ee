"""Prompts of self-refinement: write, say what is wrong, write better.

The wording is this project's, in `prompts.yaml`. It names the languages of the item, and it is the
same at every step. The prompts of the testbed are in `selfpref.studies.xu.lab`.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from selfpref.models import Prompt
from selfpref.prompts.texts import Texts
from selfpref.studies.xu.items import TASKS, Item

TEXTS = Texts(Path(__file__).with_name("prompts.yaml"))


@dataclass(frozen=True)
class Refinement:
    """The prompts of self-refinement.

    Attributes:
        write: Ask for a first text.
        feedback: Ask what is wrong with a text.
        revise: Ask for a better text, given feedback.
        reply: A model's feedback as text in the declared grammar.
        content: A text as it is scored: nothing in it acts as a control token.
    """

    write: Callable[[Item], Prompt]
    feedback: Callable[[Item, str], Prompt]
    revise: Callable[[Item, str, str], Prompt]
    reply: Callable[[str], str] = str.strip
    content: Callable[[str], str] = str.strip

    @property
    def version(self) -> str:
        """A hash of the wording: of every prompt for placeholders."""
        asked = []
        for task in TASKS:
            item = Item("", task, "REQUEST", None, "LANGUAGE", "TARGET", ("CONCEPT",))
            asked += [self.write(item), self.feedback(item, "TEXT")]
            asked += [self.revise(item, "TEXT", "FEEDBACK")]
        return hashlib.sha256(repr(asked).encode()).hexdigest()[:12]


PLAIN: Final = Refinement(
    lambda item: TEXTS.prompt(f"write-{item.task}", item=item),
    lambda item, text: TEXTS.prompt(f"feedback-{item.task}", item=item, text=text),
    lambda item, text, said: TEXTS.prompt(
        f"revise-{item.task}", item=item, text=text, feedback=said
    ),
)
