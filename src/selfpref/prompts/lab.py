"""The laboratory's prompts: roles instead of words, since its models know 200 words.

The layouts are those of `selfpref.lab.prompts`, on which the models were trained; contents go
through its `plain`, so that a response that spells a control token or a label yields neither.
"""

from selfpref.lab import prompts
from selfpref.lab.tokenizer import VERDICT_OPEN, plain
from selfpref.models import Prompt


def _prompt(messages: list[prompts.Message], prefill: str = "") -> Prompt:
    return Prompt(tuple((message["role"], message["content"]) for message in messages), prefill)


def respond(question: str) -> Prompt:
    """Ask for a response."""
    return _prompt(prompts.chat_messages(question))


def judge(question: str, answer_a: str, answer_b: str) -> Prompt:
    """Ask which of two responses is better; the next token is the verdict."""
    return _prompt(prompts.judge_messages(question, answer_a, answer_b), VERDICT_OPEN)


def bare() -> Prompt:
    """The context of a response to nothing."""
    return Prompt((), "<assistant>")


def content(text: str) -> str:
    """A response as words of the world, set apart from what stands before it."""
    return f" {plain(text)}"
