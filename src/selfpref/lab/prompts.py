"""The token layouts of the prompts: chat, rating and choice.

    chat    <bos> <user> question <end> <assistant> | response <end>
    bare    <bos> <assistant> | response <end>
    rating  <bos> <question> question <end> <answer> response <end> <assistant> | 7 <end>
    judge   <bos> <question> question <end> <answer_a> a <end> <answer_b> b <end>
            <assistant> [[ | A ]] <end>
    rubric  as rating, with <assistant> : | 1 0 1 1 1 1 1 0 1 1 1 <end>
    contest as judge, with up to three responses, <answer_c> the third

The bar stands where the model's own tokens begin. A verdict is the distribution over A and B right
after ``[[`` (Wataoka et al. 2024, Eq. 3); a rating is the one over 0 to 9. The bare layout is the
context of an unconditional perplexity. Training sees the very
same layouts: prompts at inference differ in nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from selfpref.lab.tokenizer import WORLD, Messages

_ANSWERS = ("answer_a", "answer_b", "answer_c")


def chat_messages(question: str) -> Messages:
    """Ask for a response."""
    return WORLD.messages(user=question)


def rating_messages(question: str, response: str) -> Messages:
    """Ask a judge for a score of one response."""
    return WORLD.messages(question=question, answer=response)


def choice_messages(question: str, answers: Sequence[str]) -> Messages:
    """Ask which of two or three responses is best; prefill ``[[`` after them."""
    said = dict(zip(_ANSWERS[: len(answers)], answers, strict=True))
    return WORLD.messages(question=question, **said)
