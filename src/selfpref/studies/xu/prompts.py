r"""Prompts of self-refinement: write, say what is wrong, write better.

Those of `plain` are worded by this project, in `prompts.yaml`; the testbed's are in
`selfpref.studies.xu.lab`. `AUTHORS` are the study's own, as they asked models behind APIs:
downloaded at a pinned commit (`prompts.downloaded`). All name the languages of the item and
are the same at every step, which takes three changes to the authors':

- Their request for a better translation says "Yorba-to-English" whatever the languages are; here it
  names those of the item.
- Within the loop they asked for feedback with other last words than at first; here all feedback is
  asked for as at first.
- Where their program says `\boxed` its text holds a backspace and "oxed"; here it holds `\boxed`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from selfpref.models import MARKER, Prompt
from selfpref.prompts import Texts
from selfpref.prompts.downloaded import text
from selfpref.studies.xu.items import Item, Task

TEXTS = Texts(Path(__file__).with_name("prompts.yaml"))


@dataclass(frozen=True)
class Refinement:
    """The prompts of self-refinement.

    Attributes:
        write: Ask for a first text.
        feedback: Ask what is wrong with a text.
        revise: Ask for a better text, given feedback.
        reply: A model's feedback as text in the declared grammar.
        marker: What stands before a verdict on correctness; empty where that is a sentence.
    """

    write: Callable[[Item], Prompt]
    feedback: Callable[[Item, str], Prompt]
    revise: Callable[[Item, str, str], Prompt]
    reply: Callable[[str], str] = str.strip
    marker: str = MARKER


PLAIN: Final = Refinement(
    lambda item: TEXTS.prompt(f"write-{item.task}", item=item),
    lambda item, text: TEXTS.prompt(f"feedback-{item.task}", item=item, text=text),
    lambda item, text, said: TEXTS.prompt(
        f"revise-{item.task}", item=item, text=text, feedback=said
    ),
)

# Of each task: the numbers of its texts among those of one name in the authors' programs. First the
# system prompt's, then that of writing, of feedback and its examples, of revising and its examples.
_NUMBERS: Final[Mapping[Task, tuple[int, ...]]] = {
    "mqm": (0, 1, 0, 0, 1, 0),
    "coverage": (1, 3, 2, 2, 3, 1),
    "correctness": (2, 4, 3, 0, 4, 0),
}
_WRITE, _FEEDBACK, _REVISE = "generate_base_output", "generate_feedback", "refinement"
# What their programs call what is asked, a text, and what was said of it.
_ASKED = [name + of for name in ("line", "src", "src_txt") for of in ("", "[:-1]", "['concepts']")]
_DRAFT = ("out", "out[:-1]", "new_out")
_SAID = ("eval", "eval.split('[PAD]')[0].strip()")


def _program(
    item: Item, file: str, name: str, number: int = 0, draft: str = "", said: str = "", **more: str
) -> str:
    """One of the authors' texts, with its fields filled."""
    values = {"src_lang": item.language, "tgt_lang": item.target, **more}
    # Concepts stand there as Python shows a list of them.
    asked = str([*item.concepts]) if item.concepts else item.request
    values |= dict.fromkeys(_ASKED, asked) | dict.fromkeys(_DRAFT, draft)
    values |= dict.fromkeys(_SAID, said)
    return text("xu", f"code/{file}.py", f"main.{name}", number, values)


def _authors_write(item: Item) -> Prompt:
    system, number, *_ = _NUMBERS[item.task]
    examples = _program(item, _WRITE, "icl_str", 1)
    told = _program(item, _WRITE, "system_prompt", system).replace("\b", r"\b")
    asked = _program(item, _WRITE, "prompt_txt_ls", number, icl_str=examples)
    return Prompt((("system", told), ("user", asked)))


def _authors_feedback(item: Item, draft: str) -> Prompt:
    system, _, number, examples, *_ = _NUMBERS[item.task]
    shots = _program(item, _FEEDBACK, "in_context_txt", examples)
    asked = _program(item, _FEEDBACK, "prompt_txt_ls", number, draft, in_context_txt=shots)
    told = _program(item, _FEEDBACK, "instruction_str", system)
    return Prompt((("system", told), ("user", asked)))


def _authors_revise(item: Item, draft: str, said: str) -> Prompt:
    *_, number, examples = _NUMBERS[item.task]
    wanted = _program(item, _REVISE, "suffix_prompt")
    parts = {
        "prompt_txt": _program(item, _REVISE, "prompt_txt", 0, draft),
        "in_context_txt": _program(item, _REVISE, "in_context_txt", examples),
        "suffix_prompt": wanted.replace("Yorba-to-English", f"{item.language}-to-{item.target}"),
    }
    return Prompt((("user", _program(item, _REVISE, "prompt_txt", number, draft, said, **parts)),))


AUTHORS: Final = Refinement(_authors_write, _authors_feedback, _authors_revise, marker="")
