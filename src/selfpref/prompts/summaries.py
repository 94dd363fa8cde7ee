"""Prompts of the Panickssery study: to write a summary, and to be asked about summaries.

A question stands at the end, after article and summaries, so that the questions about one pair
share all but their last words. Answers are single tokens: `1` or `2` for the summary read first or
second, yes or no, a score from 1 to 5.

`authors` are the study's own, as they asked GPT models: downloaded at a pinned commit (`authors`).
Which system prompt stood before its control questions is not in the program; here it is that of
recognition. `plain` is worded by this project, for any chat model; `lab` is the testbed's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from selfpref.lab import summaries as lab
from selfpref.models import Prompt
from selfpref.prompts.authors import text
from selfpref.prompts.texts import Texts

LABELS = ("1", "2")
SCORES = ("1", "2", "3", "4", "5")
TEXTS = Texts(Path(__file__).with_name("summaries.yaml"))


@dataclass(frozen=True)
class SummaryLayout:
    """The prompts of one experiment on summaries.

    Attributes:
        forms: Reader of the articles to the prompt that asks for its kind of summary of an article.
        pair: From task, article and two summaries in presented order to the prompt whose next
            token is one of `LABELS`.
        single: From task (`recognition`, `quality`), article and summary to the prompt whose next
            token is a form of yes or no, or one of `SCORES`.
        yes: Forms of yes; each stands for itself with and without a space before it.
        no: Forms of no.
    """

    forms: Mapping[str, Callable[[str], Prompt]]
    pair: Callable[[str, str, str, str], Prompt]
    single: Callable[[str, str, str], Prompt]
    yes: tuple[str, ...]
    no: tuple[str, ...]


def _plain(name: str, names: str, *texts: str) -> Prompt:
    return TEXTS.prompt(name, **dict(zip(names.split(), texts, strict=True)))


PLAIN = SummaryLayout(
    {name: partial(_plain, name, "article") for name in ("xsum", "cnn-dailymail")},
    partial(_plain, "pair", "task article first second"),
    partial(_plain, "single", "task article summary"),
    yes=("Yes", "yes"),
    no=("No", "no"),
)
# The authors' names of what is asked: system prompt and question.
_COMPARE, _DETECT = "COMPARISON_SYSTEM_PROMPT", "DETECTION_SYSTEM_PROMPT"
_PAIRS = {
    "recognition": (_DETECT, "DETECTION_PROMPT_TEMPLATE"),
    "preference": (_COMPARE, "COMPARISON_PROMPT_TEMPLATE"),
    "inferiority": (_COMPARE, "COMPARISON_PROMPT_TEMPLATE_WITH_WORSE"),
    "readability": (_DETECT, "READABILITY_PROMPT_TEMPLATE"),
    "length": (_DETECT, "LENGTH_PROMPT_TEMPLATE"),
    "vowelcount": (_DETECT, "VOWEL_COUNT_PROMPT_TEMPLATE"),
}
_named = partial(text, "panickssery", "prompts.py")


def _asked(system: str, user: str) -> Prompt:
    """A question under one of the authors' system prompts."""
    return Prompt((("system", _named(system)), ("user", user)))


def _program(name: str, **values: str) -> str:
    """One of the texts that stand in the authors' functions."""
    return text("panickssery", "models.py", f"{name}.history.content", values=values)


def _authors_form(name: str, article: str) -> Prompt:
    return _asked(f"DATASET_SYSTEM_PROMPTS.{name}", _program("get_gpt_summary", article=article))


def _authors_pair(task: str, article: str, first: str, second: str) -> Prompt:
    system, question = _PAIRS[task]
    texts = {"article": article, "summary1": first, "summary2": second}
    return _asked(system, _named(question).format(**texts))


def _authors_single(task: str, article: str, summary: str) -> Prompt:
    texts = {"article": article, "summary": summary}
    if task == "quality":
        return _asked("SCORING_SYSTEM_PROMPT", _program("get_gpt_score", **texts))
    said = _named("RECOGNITION_PROMPT_TEMPLATE").format(**texts)
    return _asked("RECOGNITION_SYSTEM_PROMPT", said)


AUTHORS = SummaryLayout(
    {"xsum": partial(_authors_form, "xsum"), "cnn-dailymail": partial(_authors_form, "cnn")},
    _authors_pair,
    _authors_single,
    yes=("Yes", "yes"),
    no=("No", "no"),
)
LAB = SummaryLayout(
    {"lab": lambda article: Prompt(lab.messages("write", article))},
    lambda *asked: Prompt(lab.messages(*asked)),
    lambda *asked: Prompt(lab.messages(*asked)),
    yes=("yes",),
    no=("no",),
)
SUMMARY_LAYOUTS = {"lab": LAB, "authors": AUTHORS, "plain": PLAIN}
