r"""Prompts of self-refinement: write, say what is wrong, write better.

Those of `plain` are worded by this project, in `prompts.yaml`; the testbed's are in
`selfpref.studies.xu.lab`. `AUTHORS` are the study's own, as they asked models behind APIs:
downloaded at a pinned commit (`selfpref.prompts.authors`). All name the languages of the item and
are the same at every step, which takes three changes to the authors':

- Their request for a better translation says "Yorba-to-English" whatever the languages are; here it
  names those of the item.
- Within the loop they asked for feedback with other last words than at first; here all feedback is
  asked for as at first.
- Where their program says `\boxed` its text holds a backspace and "oxed"; here it holds `\boxed`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from selfpref.errors import SelfprefError
from selfpref.models import MARKER, Prompt
from selfpref.prompts.authors import template
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
        marker: What stands before a verdict on correctness; empty where that is a sentence.
    """

    write: Callable[[Item], Prompt]
    feedback: Callable[[Item, str], Prompt]
    revise: Callable[[Item, str, str], Prompt]
    reply: Callable[[str], str] = str.strip
    content: Callable[[str], str] = str.strip
    marker: str = MARKER

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

# The authors' programs, and the numbers of a task's texts among those of one name.
_WRITE, _FEEDBACK, _REVISE = (
    f"code/{name}.py" for name in ("generate_base_output", "generate_feedback", "refinement")
)
_NTH = {"mqm": 0, "coverage": 1, "correctness": 2}
_YORUBA = "Yorba-to-English"


def _program(
    file: str, name: str, number: int = 0, values: Mapping[str, object] | None = None
) -> str:
    return template("xu", file, f"main.{name}", number).fill(values)


def _authors_write(item: Item) -> Prompt:
    system = template("xu", _WRITE, "main.system_prompt", _NTH[item.task])
    number = {"mqm": 1, "coverage": 3, "correctness": 4}[item.task]
    languages = {"src_lang": item.language, "tgt_lang": item.target}
    # Concepts as Python shows a list of them.
    values = {**languages, "line['concepts']": str(list(item.concepts))}
    values |= dict.fromkeys(("line", "line[:-1]"), item.request)
    if item.task == "correctness":
        values["icl_str"] = _program(_WRITE, "icl_str", 1)
    asked = _program(_WRITE, "prompt_txt_ls", number, values)
    said = system.fill(languages).replace("\b", r"\b")
    return Prompt((("system", said), ("user", asked)))


def _authors_feedback(item: Item, text: str) -> Prompt:
    number = {"mqm": 0, "coverage": 2, "correctness": 3}[item.task]
    values = {"src_txt['concepts']": str(list(item.concepts))}
    values |= dict.fromkeys(("src_txt", "src_txt[:-1]"), item.request)
    values |= dict.fromkeys(("new_out", "out[:-1]"), text)
    if item.task != "correctness":
        values["in_context_txt"] = _program(_FEEDBACK, "in_context_txt", number)
    asked = _program(_FEEDBACK, "prompt_txt_ls", number, values)
    system = _program(_FEEDBACK, "instruction_str", _NTH[item.task])
    return Prompt((("system", system), ("user", asked)))


def _authors_revise(item: Item, text: str, said: str) -> Prompt:
    number = {"mqm": 1, "coverage": 3, "correctness": 4}[item.task]
    source = str(list(item.concepts)) if item.task == "coverage" else item.request
    values = {"src": source, "out": text, "eval": said, "eval.split('[PAD]')[0].strip()": said}
    if item.task == "mqm":
        wanted = _program(_REVISE, "suffix_prompt")
        if _YORUBA not in wanted:
            raise SelfprefError(f"{_REVISE}: no {_YORUBA!r}; is this the pinned file?")
        values["suffix_prompt"] = wanted.replace(_YORUBA, f"{item.language}-to-{item.target}")
        asked = {"src[:-1]": item.request, "out[:-1]": text}
        values["prompt_txt"] = _program(_REVISE, "prompt_txt", 0, asked)
    if item.task != "correctness":
        values["in_context_txt"] = _program(_REVISE, "in_context_txt", _NTH[item.task])
    return Prompt((("user", _program(_REVISE, "prompt_txt", number, values)),))


AUTHORS: Final = Refinement(_authors_write, _authors_feedback, _authors_revise, marker="")
