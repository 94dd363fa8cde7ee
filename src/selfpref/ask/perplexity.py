"""Log-likelihood of every response under one judge, given its prompt and on its own.

    log-perplexity = sum of -ln p(token) over the response's tokens / number of tokens    (nats)

The response's text is scored as the content of the assistant's turn, without a token that ends it;
what the chat template writes before the content belongs to the prompt. Conditional on the prompt is
the paper's quantity; the unconditional one tells style from fit to the question.
"""

from collections.abc import Iterator
from functools import partial

import pandas as pd

from selfpref import tables
from selfpref.ask import Columns, Question, ask
from selfpref.ask.responding import dialogues
from selfpref.models import Likelihood, Prompt, Score
from selfpref.models.calls import Model
from selfpref.prompts import Layout


def score_responses(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    model: Model,
    layout: Layout,
    *,
    alone: bool,
) -> pd.DataFrame:
    """Score every response given its prompt and, where wanted, on its own.

    Args:
        items: The items table.
        responses: The responses table.
        judge: Whose likelihoods these are.
        model: The judge's model.
        layout: The prompts.
        alone: Whether responses are scored without their prompts too.

    Returns:
        The perplexities table: one or two rows a response; empty texts have no tokens and a sum
        of 0.
    """

    def conditional(some: pd.DataFrame) -> Iterator[Question]:
        said = dialogues(items, responses, some["item_id"])
        for item, responder, text in some[columns].itertuples(index=False):
            yield _question(layout.respond(*said[item, responder][:-1]), text, layout)

    def unconditional(some: pd.DataFrame) -> Iterator[Question]:
        return (_question(layout.bare(), text, layout) for text in some["text"])

    columns = ["item_id", "responder", "text"]
    made = [
        ask(model, responses, "perplexities", questions, judge=judge, conditional=given)
        for given, questions in ((True, conditional), (False, unconditional))[: 1 + alone]
    ]
    return tables.together("perplexities", made)


def _question(prompt: Prompt, text: str, layout: Layout) -> Question:
    return Question([Score(prompt, layout.content(text))], partial(_read, text))


def _read(text: str, found: Likelihood) -> Columns:
    return {
        "sum_nll": found.sum_nll,
        "n_tokens": found.n_tokens,
        "n_bytes": len(text.encode()),
        "status": found.status,
    }
