"""Prompts of the Panickssery study: to write a summary, and to be asked about summaries.

A question stands at the end, after article and summaries, so that the questions about one pair
share all but their last words. Answers are single tokens: `1` or `2` for the summary read first or
second, yes or no, a score from 1 to 5.

`authors` are the study's own, as they asked GPT models: downloaded at a pinned commit (`authors`).
Which system prompt stood before its control questions is not in the program; here it is that of
recognition. `plain` is worded by this project, for any chat model; `lab` is the testbed's. Every
layout has a version, a hash of all that it can say.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from selfpref.lab.summaries import prompts as lab
from selfpref.models import Prompt
from selfpref.prompts.authors import text
from selfpref.prompts.texts import Texts

LABELS = ("1", "2")
SCORES = ("1", "2", "3", "4", "5")
CONTROLS = ("readability", "length", "vowelcount")

TASKS = ("recognition", "preference", "inferiority", *CONTROLS)
SINGLE = ("recognition", "quality")
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

    @property
    def version(self) -> str:
        """A hash of everything that the layout can say, 12 hex digits."""
        said = [
            *(form("article") for _, form in sorted(self.forms.items())),
            *(self.pair(task, "article", "first", "second") for task in TASKS),
            *(self.single(task, "article", "summary") for task in SINGLE),
        ]
        whole = json.dumps([[asdict(prompt) for prompt in said], self.yes, self.no])
        return hashlib.sha256(whole.encode()).hexdigest()[:12]


PLAIN = SummaryLayout(
    {
        "xsum": lambda article: TEXTS.prompt("xsum", article=article),
        "cnn-dailymail": lambda article: TEXTS.prompt("cnn-dailymail", article=article),
    },
    lambda task, article, first, second: TEXTS.prompt(
        "pair", task=task, article=article, first=first, second=second
    ),
    lambda task, article, summary: TEXTS.prompt(
        "single", task=task, article=article, summary=summary
    ),
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


def _authors(name: str, **values: str) -> str:
    """One of the texts in the authors' file of prompts."""
    said = text("panickssery", "prompts.py", name)
    return said.format(**values) if values else said


def _program(name: str, **values: str) -> str:
    """One of the texts that stand in the authors' functions."""
    return text("panickssery", "models.py", f"{name}.history.content", values=values)


def _authors_form(name: str, article: str) -> Prompt:
    said = _program("get_gpt_summary", article=article)
    return _asked(_authors(f"DATASET_SYSTEM_PROMPTS.{name}"), said)


def _authors_pair(task: str, article: str, first: str, second: str) -> Prompt:
    system, question = _PAIRS[task]
    said = _authors(question, article=article, summary1=first, summary2=second)
    return _asked(_authors(system), said)


def _authors_single(task: str, article: str, summary: str) -> Prompt:
    if task == "quality":
        system = _authors("SCORING_SYSTEM_PROMPT")
        return _asked(system, _program("get_gpt_score", article=article, summary=summary))
    said = _authors("RECOGNITION_PROMPT_TEMPLATE", article=article, summary=summary)
    return _asked(_authors("RECOGNITION_SYSTEM_PROMPT"), said)


def _asked(system: str, user: str) -> Prompt:
    return Prompt((("system", system), ("user", user)))


AUTHORS = SummaryLayout(
    {"xsum": partial(_authors_form, "xsum"), "cnn-dailymail": partial(_authors_form, "cnn")},
    _authors_pair,
    _authors_single,
    yes=("Yes", "yes"),
    no=("No", "no"),
)
LAB = SummaryLayout(
    {"lab": lambda article: Prompt(lab.write_messages(article))},
    lambda *asked: Prompt(lab.pair_messages(*asked)),
    lambda *asked: Prompt(lab.single_messages(*asked)),
    yes=("yes",),
    no=("no",),
)
SUMMARY_LAYOUTS = {"lab": LAB, "authors": AUTHORS, "plain": PLAIN}
