"""Prompts of self-refinement: write, say what is wrong, write better.

The wording is this project's. It names the languages of the item, and it is the same at every step:
feedback on a first text and on a revised one differ in nothing but the text. What a prompt asks for
is what `selfpref.studies.xu.feedback` reads. Those of the testbed are in `selfpref.studies.xu.lab`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from selfpref.models import Prompt
from selfpref.studies.xu.items import TASKS, Item, Task

_WRITE: Final[Mapping[Task, str]] = {
    "mqm": """\
Translate this sentence from {language} into {target}. Answer with the translation alone.

{language}: {request}""",
    "coverage": """\
Write one or two sensible sentences that use every one of these concepts, in any order and any \
inflected form. Answer with the sentences alone.

Concepts: {request}""",
    "correctness": """\
Solve this problem step by step. Put the final answer, and nothing else, in \\boxed{{}}.

Problem: {request}""",
}
_FEEDBACK: Final[Mapping[Task, str]] = {
    "mqm": """\
Below are a sentence in {language} and a translation into {target}. List every error of the \
translation, one a line, in exactly this form:

'<words of the translation>' is a <severity> <category> error

The severity is critical (the reader is misled, or cannot make sense of it), major (the meaning is \
changed or hard to get), or minor (noticeable, but the meaning stands). The category is accuracy, \
fluency, locale convention, style, terminology, non-translation or other. Write no other line. If \
there is nothing to correct, answer only: no error

{language}: {request}
{target}: {text}""",
    "coverage": """\
Below are concepts and a text that should use every one of them, in any inflected form. If it \
does, answer only: all covered
If it does not, answer only with the concepts that it lacks, in square brackets, separated by \
commas, such as [first concept, second concept].

Concepts: {request}
Text: {text}""",
    "correctness": """\
Below are a problem and a solution with its final answer in \\boxed{{}}. Check the solution step \
by step, then say on the last line whether its final answer is correct: [[yes]] or [[no]].

Problem: {request}
Solution: {text}""",
}
_REVISE: Final[Mapping[Task, str]] = {
    "mqm": """\
Below are a sentence in {language}, a translation into {target}, and the errors that were found in \
it. Write a better translation. Answer with the translation alone.

{language}: {request}
{target}: {text}
Errors:
{feedback}""",
    "coverage": """\
Below are concepts, a text that should use every one of them, and which of them it lacks. Write \
one or two sensible sentences that use them all. Answer with the sentences alone.

Concepts: {request}
Text: {text}
Lacks: {feedback}""",
    "correctness": """\
Below are a problem, a solution, and what was said of it. Write a better solution, step by step. \
Put the final answer, and nothing else, in \\boxed{{}}.

Problem: {request}
Solution: {text}
Said of it: {feedback}""",
}


def _untouched(reply: str) -> str:
    return reply.strip()


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
    reply: Callable[[str], str] = _untouched
    content: Callable[[str], str] = _untouched

    @property
    def version(self) -> str:
        """A hash of the wording: of every prompt for placeholders."""
        asked = []
        for task in TASKS:
            item = Item("", task, "REQUEST", None, "LANGUAGE", "TARGET", ("CONCEPT",))
            asked += [self.write(item), self.feedback(item, "TEXT")]
            asked += [self.revise(item, "TEXT", "FEEDBACK")]
        return hashlib.sha256(repr(asked).encode()).hexdigest()[:12]


def _ask(template: str, item: Item, **parts: str) -> Prompt:
    held = {"language": item.language, "target": item.target, "request": item.request}
    return Prompt((("user", template.format(**held, **parts)),))


PLAIN: Final = Refinement(
    lambda item: _ask(_WRITE[item.task], item),
    lambda item, text: _ask(_FEEDBACK[item.task], item, text=text),
    lambda item, text, said: _ask(_REVISE[item.task], item, text=text, feedback=said),
)
