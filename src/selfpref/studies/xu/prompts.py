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
from pathlib import Path
from typing import Final, NamedTuple

from selfpref.models import MARKER, Prompt
from selfpref.prompts import Texts
from selfpref.prompts.downloaded import text
from selfpref.studies.xu.items import Item, Task

TEXTS = Texts(Path(__file__).with_name("prompts.yaml"))


class Refinement(NamedTuple):
    """The prompts of self-refinement.

    Attributes:
        ask: From an item to the prompt for a first text, `ask("write", item)`; from a text to that
            for what is wrong with it, `ask("feedback", item, text)`; and from what was said to that
            for a better one, `ask("revise", item, text, said)`.
        reply: A model's feedback as text in the declared grammar.
        marker: What stands before a verdict on correctness; empty where that is a sentence.
    """

    ask: Callable[..., Prompt]
    reply: Callable[[str], str] = str.strip
    marker: str = MARKER


PLAIN: Final = Refinement(
    lambda kind, item, text="", said="": TEXTS.prompt(
        f"{kind}-{item.task}", item=item, text=text, feedback=said
    )
)

# Of each task: the numbers of its texts among those of one name in the authors' programs. First the
# system prompt's, then that of writing, of feedback and its examples, of revising and its examples.
_NUMBERS: Final[Mapping[Task, tuple[int, ...]]] = {
    "mqm": (0, 1, 0, 0, 1, 0),
    "coverage": (1, 3, 2, 2, 3, 1),
    "correctness": (2, 4, 3, 0, 4, 0),
}
_PROGRAMS = {"write": "generate_base_output", "feedback": "generate_feedback"}
# What their programs call what is asked, a text, and what was said of it.
_ASKED = [name + of for name in ("line", "src", "src_txt") for of in ("", "[:-1]", "['concepts']")]
_DRAFT = ("out", "out[:-1]", "new_out")
_SAID = ("eval", "eval.split('[PAD]')[0].strip()")


def _authors(kind: str, item: Item, draft: str = "", said: str = "") -> Prompt:
    # Concepts stand there as Python shows a list of them.
    asked = str([*item.concepts]) if item.concepts else item.request
    values = {"src_lang": item.language, "tgt_lang": item.target}
    values |= dict.fromkeys(_ASKED, asked) | dict.fromkeys(_DRAFT, draft)
    values |= dict.fromkeys(_SAID, said)

    def told(name: str, number: int = 0, **more: str) -> str:
        file = f"code/{_PROGRAMS.get(kind, 'refinement')}.py"
        return text("xu", file, f"main.{name}", number, values | more)

    system, write, feedback, shown, revise, refined = _NUMBERS[item.task]
    if kind == "write":
        first = told("system_prompt", system).replace("\b", r"\b")
        last = told("prompt_txt_ls", write, icl_str=told("icl_str", 1))
        return Prompt((("system", first), ("user", last)))
    if kind == "feedback":
        shots = told("in_context_txt", shown)
        last = told("prompt_txt_ls", feedback, in_context_txt=shots)
        return Prompt((("system", told("instruction_str", system)), ("user", last)))
    languages = f"{item.language}-to-{item.target}"
    parts = {
        "prompt_txt": told("prompt_txt"),
        "in_context_txt": told("in_context_txt", refined),
        "suffix_prompt": told("suffix_prompt").replace("Yorba-to-English", languages),
    }
    return Prompt((("user", told("prompt_txt", revise, **parts)),))


AUTHORS: Final = Refinement(_authors, marker="")
