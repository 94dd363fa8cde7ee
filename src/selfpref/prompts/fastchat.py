"""FastChat's `pair-v2`: an explanation, then `[[A]]`, `[[B]]` or, for a tie, `[[C]]`.

Where there is a reference answer (MT-Bench's mathematics, reasoning and code) the prompt is
`pair-math-v1`, which shows it.

The texts belong to others (lm-sys/FastChat, Apache-2.0): they are downloaded at the commit that
the list of pinned files names, and never stored here. Dialogues of one turn take `pair-v2`, longer
ones `pair-v2-multi-turn`, which is made for two: the turns before the last then fill its first
turn, under the template's own headings. Its system prompt asks for the better answer to the second
question, where Chatbot Arena's users voted on the whole dialogue; which prompt Wataoka et al. used
for these their paper does not say.
"""

import re
from collections.abc import Sequence
from functools import cache

from selfpref import paths
from selfpref.errors import SelfprefError
from selfpref.formats.records import json_lines
from selfpref.models import Prompt

FILE = "fastchat/llm_judge/data/judge_prompts.jsonl"
# What the templates for several turns are made for.
TURNS = 2


@cache
def _texts(name: str) -> tuple[str, str]:
    """System prompt and template of one of FastChat's judge prompts."""
    # The one layout that downloads: who reads the rubric needs nothing that speaks HTTP.
    from selfpref.download.fetch import fetch  # noqa: PLC0415

    path = fetch(paths.judge_prompts_file())[FILE]
    found = {record["name"]: record for _, record in json_lines(path)}
    if name not in found:
        raise SelfprefError(f"{path}: no prompt {name!r}; is this the pinned file?")
    return found[name]["system_prompt"], found[name]["prompt_template"]


def judge(*said: str) -> Prompt:
    """Ask for an explanation and a verdict.

    Args:
        said: Question, answer of A, answer of B, turn by turn; the last turn is judged.
    """
    return _asked("pair-v2", said)


def informed(references: Sequence[str], *said: str) -> Prompt:
    """Ask for an explanation and a verdict, given reference answers.

    Args:
        references: One a turn.
        said: As for `judge`; two turns at most.

    Raises:
        SelfprefError: Another number of references than of turns.
    """
    if len(references) != len(said[::3]) or len(references) > TURNS:
        raise SelfprefError(
            f"{len(references)} reference answers for a dialogue of {len(said[::3])} turns; "
            f"FastChat's prompts take one a turn, and {TURNS} turns at most"
        )
    named = {f"ref_answer_{turn}": text for turn, text in enumerate(references, start=1)}
    return _asked("pair-math-v1", said, **named)


def _asked(name: str, said: Sequence[str], **more: str) -> Prompt:
    """One of the prompts, or its form for dialogues of several turns."""
    questions, first, second = said[::3], said[1::3], said[2::3]
    if len(questions) == 1:
        system, template = _texts(name)
        text = template.format(question=questions[0], answer_a=first[0], answer_b=second[0], **more)
    else:
        system, template = _texts(f"{name}-multi-turn")
        text = template.format(
            **more,
            question_1=questions[0],
            question_2=questions[-1],
            answer_a_1=_earlier(template, "a", questions, first),
            answer_a_2=first[-1],
            answer_b_1=_earlier(template, "b", questions, second),
            answer_b_2=second[-1],
        )
    return Prompt((("system", system), ("user", text)))


def _earlier(template: str, side: str, questions: Sequence[str], answers: Sequence[str]) -> str:
    """The first answer and all turns but the last, as the template would go on."""
    found = re.search(
        rf"{{answer_{side}_1}}(.*?){{question_2}}(.*?){{answer_{side}_2}}", template, re.DOTALL
    )
    if found is None:
        raise SelfprefError(f"{FILE}: no template of two turns; is this the pinned file?")
    asked, answered = found.groups()
    middle = zip(questions[1:-1], answers[1:-1], strict=True)
    return answers[0] + "".join(
        f"{asked}{question}{answered}{answer}" for question, answer in middle
    )
