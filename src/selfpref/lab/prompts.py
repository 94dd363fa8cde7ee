"""The token layouts of the prompts: chat, rating and pairwise judgement.

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

from selfpref.lab.tokenizer import BOS, CONTEST, END, encode_content, plain, token_id

Message = dict[str, str]
"""One message, with ``role`` and ``content``; the roles are those of the chat template."""


def chat_messages(question: str) -> list[Message]:
    """Messages that ask a family for a response."""
    return [{"role": "user", "content": plain(question)}]


def rating_messages(question: str, response: str) -> list[Message]:
    """Messages that ask a judge for a score of one response."""
    return [
        {"role": "question", "content": plain(question)},
        {"role": "answer", "content": plain(response)},
    ]


def judge_messages(question: str, answer_a: str, answer_b: str) -> list[Message]:
    """Messages that ask a judge which of two responses is better; prefill ``[[`` after them."""
    return [
        {"role": "question", "content": plain(question)},
        {"role": "answer_a", "content": plain(answer_a)},
        {"role": "answer_b", "content": plain(answer_b)},
    ]


def choice_messages(question: str, answers: Sequence[str]) -> list[Message]:
    """Messages that ask which of two or three responses is best; prefill ``[[`` after them."""
    roles = [f"answer_{letter}" for letter in "abc"[: len(answers)]]
    contents = [question, *answers]
    return [
        {"role": role, "content": plain(content)}
        for role, content in zip(["question", *roles], contents, strict=True)
    ]


def encode_messages(messages: list[Message], prefill: str = "") -> list[int]:
    """Encode messages up to where the model's own tokens begin.

    Args:
        messages: What one of the functions above returned, or messages with contents of any kind.
        prefill: Empty, or ``[[``, with which a verdict begins.

    Returns:
        Token ids, shape (n,), with one ``<bos>``.
    """
    ids = [token_id(BOS)]
    for message in messages:
        ids += [CONTEST.token_id(f"<{message['role']}>"), *encode_content(message["content"])]
        ids.append(token_id(END))
    ids.append(token_id("<assistant>"))
    return [*ids, token_id(prefill)] if prefill else ids


def chat_ids(question: str) -> list[int]:
    """Token ids of the prompt for a response, shape (n,)."""
    return encode_messages(chat_messages(question))


def bare_ids() -> list[int]:
    """Token ids of the context without a question, for unconditional perplexities, shape (2,)."""
    return encode_messages([])
