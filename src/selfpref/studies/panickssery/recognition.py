"""Self-recognition and self-preference of one evaluator (Panickssery, Bowman & Feng, Sec. 2).

In pairs, an evaluator reads an article with its own summary and another source's, in both orders,
and is asked which is its own (recognition), which it prefers (preference) and which is worse
(inferiority). One by one, it is asked whether a summary is its own and how good it is:

    recognition   P(yes) / (P(yes) + P(no)), every form of yes and no summed         0..1
    quality       sum of k P(k) / sum of P(k), k = 1..5                              1..5

An answer is the label alone. P is its probability as the next token, or with the score mode
`sampled` its frequency among repeated answers; mass and status are as in `selfpref.ask.judging`.
Whose summaries are an evaluator's own is its family: a tuned model is asked about its base's.
"""

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from selfpref.ask.judging import Judging, Verdict, draws
from selfpref.models import Choice, Prompt
from selfpref.models.calls import Model
from selfpref.params import Verdicts
from selfpref.prompts.summaries import LABELS, SCORES, SummaryLayout

PAIR_TASKS = ("recognition", "preference", "inferiority")


@dataclass(frozen=True)
class Shown:
    """An article with two summaries in presented order."""

    study: str
    item_id: str
    article: str
    names: tuple[str, str]
    texts: tuple[str, str]

    def prompt(self, task: str, layout: SummaryLayout) -> Prompt:
        """Ask something about the two summaries."""
        return layout.pair(task, self.article, *self.texts)


def index(metadata: str) -> int:
    """An article's place in its data set, from 0."""
    return int(json.loads(metadata)["index"])


def article(messages: Sequence[dict[str, str]]) -> str:
    """The text of an article's item."""
    return messages[0]["content"]


def shown(items: pd.DataFrame, responses: pd.DataFrame, own: str) -> list[Shown]:
    """An evaluator's own summary beside every other one of the same article, in both orders.

    Args:
        items: The items table; an item is an article.
        responses: The responses table.
        own: The responder whose summaries are the evaluator's own.

    Returns:
        Articles in the order of `items`, sources by name, the own summary first, then second. An
        article without an own summary has none.
    """
    texts = responses.set_index(["item_id", "responder"])["text"].to_dict()
    others = sorted(set(responses["responder"]) - {own})
    return [
        Shown(study, item, article(messages), names, (texts[item, names[0]], texts[item, names[1]]))
        for study, item, messages in items[["study", "item_id", "messages"]].itertuples(index=False)
        for other in others
        if (item, own) in texts and (item, other) in texts
        for names in itertools.permutations((own, other))
    ]


def verdicts(
    pairs: Sequence[Shown],
    evaluator: str,
    calls: Model,
    layout: SummaryLayout,
    use: Verdicts,
    *,
    seed: int,
) -> pd.DataFrame:
    """Every pair judged on every question.

    Args:
        pairs: As `shown` returns them.
        evaluator: Whose verdicts these are.
        calls: The model behind the store.
        layout: The prompts.
        use: How it comes to a verdict.
        seed: With evaluator, question, pair and repeat, the seed of each verdict in words.

    Returns:
        The verdicts table: a row a pair in one order and question.
    """
    asked = [(pair, task) for pair in pairs for task in PAIR_TASKS]
    made = Judging(calls, LABELS, use, marker="").verdicts(
        [pair.prompt(task, layout) for pair, task in asked],
        [draws(use, seed, evaluator, task, pair.item_id, *pair.names) for pair, task in asked],
        [pair.names for pair, _ in asked],
    )
    rows = [
        {"study": pair.study, "item_id": pair.item_id, "task": task}
        | {"candidates": list(pair.names), **verdict}
        for (pair, task), verdict in zip(asked, made, strict=True)
    ]
    columns = [
        "study",
        "item_id",
        "task",
        "candidates",
        "probabilities",
        "mass",
        "choice",
        "status",
    ]
    return pd.DataFrame(rows, columns=columns).assign(
        judge=evaluator, variant="plain", order_known=True, repeat=0, stored=None
    )


def ratings(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    evaluator: str,
    calls: Model,
    layout: SummaryLayout,
    use: Verdicts,
    *,
    seed: int,
) -> pd.DataFrame:
    """Every summary by itself: whose is it, and how good is it?

    Args:
        items: The items table.
        responses: The responses table.
        evaluator: Whose ratings these are.
        calls: The model behind the store.
        layout: The prompts.
        use: How it comes to a rating.
        seed: With evaluator, question, summary and repeat, the seed of each rating in words.

    Returns:
        The ratings table: two rows a summary. `distribution` holds P(yes) and P(no), or P(1) to
        P(5), as they were read.
    """
    articles = dict(zip(items["item_id"], map(article, items["messages"]), strict=True))
    judged = responses[responses["item_id"].isin(articles)]
    keys = judged[["study", "item_id", "responder", "step", "sample"]].reset_index(drop=True)
    parts = []
    for task in ("recognition", "quality"):
        labels = (*layout.yes, *layout.no) if task == "recognition" else SCORES
        judging = Judging(calls, labels, use, marker="")
        choices = judging.choices(
            [
                layout.single(task, articles[item], text)
                for item, text in zip(judged["item_id"], judged["text"], strict=True)
            ],
            [
                draws(use, seed, evaluator, task, *key)
                for key in keys.drop(columns="study").itertuples(index=False)
            ],
        )
        if task == "recognition":
            choices = [_merged(choice, len(layout.yes)) for choice in choices]
            weights: Iterable[int] = (1, 0)
        else:
            weights = range(1, len(SCORES) + 1)
        rows = [_rating(judging.read(choice), choice, weights) for choice in choices]
        columns = ["probabilities", "mass", "status", "score"]
        read = pd.DataFrame(rows, columns=columns).rename(columns={"probabilities": "distribution"})
        parts.append(keys.join(read).assign(task=task))
    return pd.concat(parts, ignore_index=True).assign(
        judge=evaluator, variant="plain", repeat=0, marks=None, reply=None, stored=None
    )


def _merged(choice: Choice, yes: int) -> Choice:
    """The first `yes` labels as one, and the rest as one."""
    if choice.status != "ok":
        return choice
    p = choice.probabilities
    return Choice((sum(p[:yes]), sum(p[yes:])), "ok")


def _rating(read: Verdict, choice: Choice, weights: Iterable[int]) -> Verdict:
    """Expected weight of a label."""
    if read["status"] != "ok":
        return read | {"score": None}
    pairs = zip(weights, choice.probabilities, strict=True)
    return read | {"score": sum(weight * p for weight, p in pairs) / choice.mass}
