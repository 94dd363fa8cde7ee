"""Prompt layouts: how an item and its responses become a prompt.

A verdict is the token after `MARKER`: the next one where the judge's prompt ends in it (its
prefill), else the one that follows the judge's explanation. Layouts are worded by this project,
`pair-v2` apart, whose texts are downloaded. The words stand in YAML files, and in them for each
prompt its messages by role, in order, as Jinja templates; nothing in a value is a template:

    judge:
      system: You compare two answers.
      user: |-
        Question: {{ question }}
        ...
      prefill: "[["

The testbed's layout is roles instead of words, since its models know 200 words: it is that of
`selfpref.lab.tokenizer`, on which they were trained. Contents go through `plain`, so that a
response that spells a control token or a label yields neither.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from ruamel.yaml import YAML

from selfpref.lab import tokenizer as lab
from selfpref.models import MARKER, Prompt
from selfpref.prompts import downloaded

LABELS = ("A", "B")


@dataclass(frozen=True)
class Texts:
    """The prompts of one file.

    Attributes:
        path: The YAML file; it is read when the first prompt is made.
    """

    path: Path

    @cached_property
    def _templates(self) -> dict[str, dict[str, Template]]:
        jinja = Environment(undefined=StrictUndefined, trim_blocks=True)
        found: dict[str, dict[str, str]] = YAML(typ="safe").load(self.path)
        return {
            name: {role: jinja.from_string(text) for role, text in parts.items()}
            for name, parts in found.items()
        }

    def prompt(self, name: str, **values: object) -> Prompt:
        """One of the prompts.

        Args:
            name: Which.
            values: What its templates name.
        """
        parts = {role: template.render(values) for role, template in self._templates[name].items()}
        prefill = parts.pop("prefill", "")
        return Prompt(tuple(parts.items()), prefill)


@dataclass(frozen=True)
class Layout:
    """The prompts of one experiment.

    Attributes:
        respond: From what the user asked, and in later turns what was answered and asked since,
            to the prompt for the next response: `respond(question, answer, question, ...)`.
        judge: From the item's text and two responses, in presented order, to the prompt whose next
            token, or the one after an explanation and `MARKER`, is a verdict, one of `labels`.
            Three more texts a turn: `judge(question, answer_a, answer_b, question, ...)`. With
            `references`, a reference answer a turn, which it shows where it has words for them.
        bare: The context without an item, for unconditional perplexities.
        content: A response as it is scored: nothing in it acts as a control token.
        labels: The verdicts: first response, second, and a tie's if ties are allowed.
    """

    respond: Callable[..., Prompt]
    judge: Callable[..., Prompt]
    bare: Callable[[], Prompt] = lambda: Prompt(())
    content: Callable[[str], str] = str
    labels: tuple[str, ...] = LABELS


def dialogue(*said: str) -> Prompt:
    """Go on with a dialogue that ends with the user's turn: question, answer, question, ..."""
    return Prompt(tuple((("user", "assistant")[n % 2], text) for n, text in enumerate(said)))


CHAT = Texts(Path(__file__).with_name("chat.yaml"))
LAYOUTS = {
    "lab": Layout(
        lambda question: Prompt(lab.WORLD.messages(user=question)),
        lambda question, *answers, **_: Prompt(lab.judge_messages(question, answers), MARKER),
        bare=lambda: Prompt((), "<assistant>"),
        # Words of the testbed, set apart from what stands before them.
        content=lambda text: f" {lab.WORLD.plain(text)}",
    ),
    "chat": Layout(
        dialogue,
        lambda *said, **_: CHAT.prompt("judge", turns=downloaded.turns(said)),
    ),
    "pair-v2": Layout(dialogue, downloaded.judge, labels=(*LABELS, "C")),
}
