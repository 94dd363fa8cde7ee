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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from selfpref.errors import SelfprefError
from selfpref.models import MARKER, Prompt
from selfpref.prompts.authors import text
from selfpref.prompts.texts import Texts
from selfpref.studies.xu.items import Item

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


PLAIN: Final = Refinement(
    lambda item: TEXTS.prompt(f"write-{item.task}", item=item),
    lambda item, text: TEXTS.prompt(f"feedback-{item.task}", item=item, text=text),
    lambda item, text, said: TEXTS.prompt(
        f"revise-{item.task}", item=item, text=text, feedback=said
    ),
)

# The authors' programs, and the numbers of a task's texts among those of one name.
_WRITE, _FEEDBACK, _REVISE = "generate_base_output", "generate_feedback", "refinement"
_SYSTEM = {"mqm": 0, "coverage": 1, "correctness": 2}
_YORUBA = "Yorba-to-English"


def _program(
    file: str, name: str, number: int = 0, values: Mapping[str, object] | None = None
) -> str:
    return text("xu", f"code/{file}.py", f"main.{name}", number, values)


def _concepts(item: Item) -> str:
    # As Python shows a list of them.
    return str(list(item.concepts))


def _authors_write(item: Item) -> Prompt:
    languages = {"src_lang": item.language, "tgt_lang": item.target}
    match item.task:
        case "mqm":
            number, values = 1, {**languages, "line[:-1]": item.request}
        case "coverage":
            number, values = 3, {"line['concepts']": _concepts(item)}
        case "correctness":
            number, values = 4, {"line": item.request, "icl_str": _program(_WRITE, "icl_str", 1)}
    system = _program(_WRITE, "system_prompt", _SYSTEM[item.task], languages).replace("\b", r"\b")
    return Prompt((("system", system), ("user", _program(_WRITE, "prompt_txt_ls", number, values))))


def _authors_feedback(item: Item, draft: str) -> Prompt:
    match item.task:
        case "mqm":
            number, values = 0, {"src_txt[:-1]": item.request, "out[:-1]": draft}
            values["in_context_txt"] = _program(_FEEDBACK, "in_context_txt")
        case "coverage":
            number, values = 2, {"src_txt['concepts']": _concepts(item), "new_out": draft}
            values["in_context_txt"] = _program(_FEEDBACK, "in_context_txt", 2)
        case "correctness":
            number, values = 3, {"src_txt": item.request, "new_out": draft}
    asked = _program(_FEEDBACK, "prompt_txt_ls", number, values)
    system = _program(_FEEDBACK, "instruction_str", _SYSTEM[item.task])
    return Prompt((("system", system), ("user", asked)))


def _authors_revise(item: Item, draft: str, said: str) -> Prompt:
    match item.task:
        case "mqm":
            wanted = _program(_REVISE, "suffix_prompt")
            if _YORUBA not in wanted:
                raise SelfprefError(f"{_REVISE}: no {_YORUBA!r}; is this the pinned file?")
            both = {"src[:-1]": item.request, "out[:-1]": draft}
            asked = _program(_REVISE, "prompt_txt", values=both)
            number, values = 1, {"prompt_txt": asked, "eval.split('[PAD]')[0].strip()": said}
            values["in_context_txt"] = _program(_REVISE, "in_context_txt")
            values["suffix_prompt"] = wanted.replace(_YORUBA, f"{item.language}-to-{item.target}")
        case "coverage":
            number, values = 3, {"src": _concepts(item), "out": draft, "eval": said}
            values["in_context_txt"] = _program(_REVISE, "in_context_txt", 1)
        case "correctness":
            number, values = 4, {"src": item.request, "out": draft, "eval": said}
    return Prompt((("user", _program(_REVISE, "prompt_txt", number, values)),))


AUTHORS: Final = Refinement(_authors_write, _authors_feedback, _authors_revise, marker="")
