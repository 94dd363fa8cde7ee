"""Log-likelihood of every response under one judge, given its prompt and on its own.

    log-perplexity = sum of -ln p(token) over the response's tokens / number of tokens    (nats)

The response's text is scored, without a token that ends it. Conditional on the prompt is the
paper's quantity; the unconditional one tells style from fit to the question.
"""

import pandas as pd

from selfpref import tables
from selfpref.ask.responding import PART, dialogues
from selfpref.models import Score
from selfpref.models.calls import Model
from selfpref.prompts import Layout


def score_responses(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    judge: str,
    calls: Model,
    layout: Layout,
    *,
    part: int = PART,
) -> pd.DataFrame:
    """Score every response, conditionally and unconditionally.

    Args:
        items: The items table.
        responses: The responses table.
        judge: Whose likelihoods these are.
        calls: The model behind the store.
        layout: The prompts.
        part: So many prompts at a time are made and asked.

    Returns:
        The perplexities table: two rows a response; empty texts have no tokens and a sum of 0.
    """
    made = [tables.empty("perplexities")]
    for start in range(0, len(responses), part):
        some = responses.iloc[start : start + part]
        known = dialogues(items, responses, some["item_id"])
        said = [known[key] for key in zip(some["item_id"], some["responder"], strict=True)]
        contents = [layout.content(text) for text in some["text"]]
        for conditional in (True, False):
            prompts = [
                layout.respond(*dialogue[:-1]) if conditional else layout.bare()
                for dialogue in said
            ]
            scores = calls.ask(list(map(Score, prompts, contents)))
            made.append(
                some[["study", "item_id", "responder", "step"]].assign(
                    judge=judge,
                    conditional=conditional,
                    sum_nll=[score.sum_nll for score in scores],
                    n_tokens=[score.n_tokens for score in scores],
                    n_bytes=[len(text.encode()) for text in some["text"]],
                    status=[score.status for score in scores],
                )
            )
    return pd.concat(made, ignore_index=True)
