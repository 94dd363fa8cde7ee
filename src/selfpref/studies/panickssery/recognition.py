"""Self-recognition and self-preference of one judge (Panickssery, Bowman & Feng, Sec. 2).

In pairs, a judge reads an article with its own summary and another source's, in both orders,
and is asked which is its own (recognition), which it prefers (preference) and which is worse
(inferiority). One by one, it is asked whether a summary is its own and how good it is:

    recognition   P(yes) / (P(yes) + P(no)), every form of yes and no summed         0..1
    quality       sum of k P(k) / sum of P(k), k = 1..5                              1..5

An answer is the label alone. P is its probability as the next token, or with the score mode
`sampled` its frequency among repeated answers; mass and status are as in `selfpref.ask.judging`.
Whose summaries are a judge's own is its family: a tuned model is asked about its base's.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import pandas as pd

from selfpref import tables
from selfpref.ask import Columns, Question, ask
from selfpref.ask.judging import Judging
from selfpref.models import Answer, Choice, Prompt
from selfpref.models.calls import Model
from selfpref.params import Verdicts
from selfpref.prompts.summaries import LABELS, SCORES, SummaryLayout
from selfpref.studies.panickssery import STUDY

PAIR_TASKS = ("recognition", "preference", "inferiority")


class OrderedPair(NamedTuple):
    """An article with two summaries in presented order."""

    item_id: str
    article: str
    names: tuple[str, str]
    texts: tuple[str, str]

    def prompt(self, task: str, layout: SummaryLayout) -> Prompt:
        """Ask something about the two summaries."""
        return layout.pair(task, self.article, *self.texts)


def article_index(items: pd.DataFrame) -> "pd.Series[float]":
    """The place of each article in its data set, from the metadata; NaN where it has none."""
    return items["metadata"].str.extract(r'"index": (\d+)', expand=False).astype(float)


def ordered_pairs(items: pd.DataFrame, responses: pd.DataFrame, own: str) -> list[OrderedPair]:
    """A judge's own summary beside every other one of the same article, in both orders.

    Args:
        items: The items table; an item is an article.
        responses: The responses table.
        own: The responder whose summaries are the judge's own.

    Returns:
        Articles in the order of `items`, sources by name, the own summary first, then second. An
        article without an own summary has none.
    """
    texts = responses.set_index(["item_id", "responder"])["text"].to_dict()
    others = sorted(set(responses["responder"]) - {own})
    return [
        OrderedPair(item, said[0]["content"], names, (texts[item, names[0]], texts[item, names[1]]))
        for item, said in zip(items["item_id"], items["messages"], strict=True)
        for other in others
        if (item, own) in texts and (item, other) in texts
        for names in itertools.permutations((own, other))
    ]


def verdicts(
    pairs: Sequence[OrderedPair],
    evaluator: str,
    model: Model,
    layout: SummaryLayout,
    use: Verdicts,
    *,
    seed: int,
) -> pd.DataFrame:
    """Every pair judged on every question.

    Args:
        pairs: As `ordered_pairs` returns them.
        evaluator: Whose verdicts these are.
        model: The judge's model.
        layout: The prompts.
        use: How it comes to a verdict.
        seed: With judge, question, pair and repeat, the seed of each verdict in words.

    Returns:
        The verdicts table: a row a pair in one order and question.
    """
    judging = Judging(use, LABELS, marker="")
    rows = [
        {"study": STUDY.name, "item_id": pair.item_id, "task": task, "pair": pair}
        for pair in pairs
        for task in PAIR_TASKS
    ]

    def questions(some: pd.DataFrame) -> Iterator[Question]:
        for pair, task in zip(some["pair"], some["task"], strict=True):
            named = (seed, evaluator, task, pair.item_id, *pair.names)
            yield judging.verdict(pair.prompt(task, layout), pair.names, *named)

    return ask(model, pd.DataFrame(rows), "verdicts", questions, judge=evaluator)


def ratings(
    items: pd.DataFrame,
    responses: pd.DataFrame,
    evaluator: str,
    model: Model,
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
        model: The judge's model.
        layout: The prompts.
        use: How it comes to a rating.
        seed: With judge, question, summary and repeat, the seed of each rating in words.

    Returns:
        The ratings table: two rows a summary. `distribution` holds P(yes) and P(no), or P(1) to
        P(5), as they were read.
    """
    articles = {item: said[0]["content"] for item, said in items[["item_id", "messages"]].values}
    judged = responses[responses["item_id"].isin(articles)]
    forms = (len(layout.yes), len(layout.no))
    # Of each question the labels, how many of them mean the same, and what each meaning counts.
    kinds = {
        "recognition": ((*layout.yes, *layout.no), forms, (1, 0)),
        "quality": (SCORES, (1,) * len(SCORES), range(1, len(SCORES) + 1)),
    }

    def questions(
        task: str, judging: Judging, read: partial[Columns], some: pd.DataFrame
    ) -> Iterator[Question]:
        columns = ["item_id", "responder", "step", "sample", "text"]
        for item, *key, text in some[columns].itertuples(index=False):
            prompt = layout.single(task, articles[item], text)
            calls = judging.calls(prompt, seed, evaluator, task, item, *key)
            yield Question(calls, partial(read, prompt))

    made = []
    for task, (labels, sizes, weights) in kinds.items():
        judging = Judging(use, labels, marker="")
        asked = partial(questions, task, judging, partial(_rated, judging, sizes, weights))
        made.append(ask(model, judged, "ratings", asked, judge=evaluator, task=task))
    return tables.together("ratings", made)


def _rated(
    judging: Judging, sizes: Sequence[int], weights: Sequence[int], prompt: Prompt, *answers: Answer
) -> Columns:
    """The expected weight of an answer: 1 of yes, 0 of no; or the score."""
    choice = judging.choice(prompt, answers)
    if choice.status == "ok":
        shares = iter(choice.probabilities)
        merged = tuple(sum(itertools.islice(shares, size)) for size in sizes)
        choice = Choice(merged, "ok")
    read, score = judging.read(choice), None
    if read["status"] == "ok":
        pairs = zip(weights, choice.probabilities, strict=True)
        score = sum(weight * p for weight, p in pairs) / choice.mass
    return {"distribution": read.pop("probabilities"), "score": score, **read}
