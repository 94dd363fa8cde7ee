"""Prompts of the Panickssery study: to write a summary, and to be asked about summaries.

A question stands at the end, after article and summaries, so that the questions about one pair
share all but their last words. Answers are single tokens: `1` or `2` for the summary read first or
second, yes or no, a score from 1 to 5.

`authors` are the study's own, as they asked GPT models, downloaded at a pinned commit. Which system
prompt stood before its control questions is not in the program; here it is that of recognition.
`plain` is worded by this project, for any chat model; `lab` is the testbed's.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from selfpref.lab import summaries as lab
from selfpref.models import Prompt
from selfpref.prompts import Texts
from selfpref.prompts.downloaded import text

LABELS, SCORES = tuple("12"), tuple("12345")
TEXTS = Texts(Path(__file__).with_name("summaries.yaml"))


class SummaryLayout(NamedTuple):
    """The prompts of one experiment on summaries.

    Attributes:
        ask: From a kind of articles (a reader of them) and an article to the prompt that asks for
            its summary; from a task, an article and two summaries in presented order to the prompt
            whose next token is one of `LABELS`; of one summary (`recognition`, `quality`) to that
            whose next token is a form of yes or no, or one of `SCORES`.
        yes: Forms of yes; each stands for itself with and without a space before it.
        no: Forms of no.
    """

    ask: Callable[..., Prompt]
    yes: tuple[str, ...] = ("Yes", "yes")
    no: tuple[str, ...] = ("No", "no")


# What is asked, in the authors' names: the system prompt, and the question in `prompts.py` or,
# where it is a function's, in `models.py`.
_COMPARE, _DETECT = "COMPARISON_SYSTEM_PROMPT", "DETECTION_SYSTEM_PROMPT"
_ASKED = {
    "recognition": (_DETECT, "DETECTION_PROMPT_TEMPLATE"),
    "preference": (_COMPARE, "COMPARISON_PROMPT_TEMPLATE"),
    "inferiority": (_COMPARE, "COMPARISON_PROMPT_TEMPLATE_WITH_WORSE"),
    "readability": (_DETECT, "READABILITY_PROMPT_TEMPLATE"),
    "length": (_DETECT, "LENGTH_PROMPT_TEMPLATE"),
    "vowelcount": (_DETECT, "VOWEL_COUNT_PROMPT_TEMPLATE"),
    "single recognition": ("RECOGNITION_SYSTEM_PROMPT", "RECOGNITION_PROMPT_TEMPLATE"),
    "single quality": ("SCORING_SYSTEM_PROMPT", "get_gpt_score.history.content"),
    "xsum": ("DATASET_SYSTEM_PROMPTS.xsum", "get_gpt_summary.history.content"),
    "cnn-dailymail": ("DATASET_SYSTEM_PROMPTS.cnn", "get_gpt_summary.history.content"),
}


def _authors(task: str, article: str, *summaries: str) -> Prompt:
    one = len(summaries) == 1
    names = ("summary",) if one else ("summary1", "summary2")
    values = dict(zip(names, summaries, strict=False), article=article)
    system, asked = _ASKED[f"single {task}" if one else task]
    if "." in asked:
        question = text("panickssery", "models.py", asked, values=values)
    else:
        question = text("panickssery", "prompts.py", asked).format(**values)
    return Prompt((("system", text("panickssery", "prompts.py", system)), ("user", question)))


def _plain(task: str, article: str, *summaries: str) -> Prompt:
    name = (task, "single", "pair")[len(summaries)]
    return TEXTS.prompt(name, task=task, article=article, summaries=summaries)


SUMMARY_LAYOUTS = {
    "lab": SummaryLayout(
        lambda task, *read: Prompt(lab.messages(task if read[1:] else "write", *read)),
        yes=("yes",),
        no=("no",),
    ),
    "authors": SummaryLayout(_authors),
    "plain": SummaryLayout(_plain),
}
PLAIN = SUMMARY_LAYOUTS["plain"]
