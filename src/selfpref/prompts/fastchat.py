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


@cache
def _texts(name: str) -> tuple[str, str]:
    """System prompt and template of one of FastChat's judge prompts."""
    # The one layout that downloads: who reads the rubric needs nothing that speaks HTTP.
    from selfpref.download.fetch import fetch  # noqa: PLC0415

    records = json_lines(fetch(paths.judge_prompts_file())[FILE])
    found = next(record for _, record in records if record["name"] == name)
    return found["system_prompt"], found["prompt_template"]


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
    if len(references) != len(said[::3]) or len(references) > 2:
        raise SelfprefError(
            f"{len(references)} reference answers for {len(said[::3])} turns: FastChat's prompts "
            "take one a turn, and 2 turns at most"
        )
    named = {f"ref_answer_{turn}": text for turn, text in enumerate(references, start=1)}
    return _asked("pair-math-v1", said, **named)


def _asked(name: str, said: Sequence[str], **more: str) -> Prompt:
    """One of the prompts, or its form for dialogues of several turns."""
    several = len(said) > 3
    system, template = _texts(f"{name}-multi-turn" if several else name)
    last = "_2" if several else ""
    more |= {f"question{last}": said[-3], f"answer_a{last}": said[-2], f"answer_b{last}": said[-1]}
    if several:
        more["question_1"] = said[0]
        for side, texts in (("a", said[1::3]), ("b", said[2::3])):
            # The first answer and all turns but the last, as the template goes on.
            between = rf"{{answer_{side}_1}}(.*?){{question_2}}(.*?){{answer_{side}_2}}"
            ((asked, answered),) = re.findall(between, template, re.DOTALL)
            middle = zip(said[3:-3:3], texts[1:-1], strict=True)
            later = (f"{asked}{question}{answered}{text}" for question, text in middle)
            more[f"answer_{side}_1"] = "".join([texts[0], *later])
    return Prompt((("system", system), ("user", template.format(**more))))
