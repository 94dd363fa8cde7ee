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
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pandas as pd

from selfpref import tables
from selfpref.ask import Columns, Question, ask
from selfpref.ask.judging import Judging
from selfpref.models import Answer, Choice, Prompt
from selfpref.models.calls import Model
from selfpref.params import Verdicts
from selfpref.prompts.summaries import LABELS, SCORES, SummaryLayout

PAIR_TASKS = ("recognition", "preference", "inferiority")


@dataclass(frozen=True)
class OrderedPair:
    """An article with two summaries in presented order."""

    study: str
    item_id: str
    article: str
    names: tuple[str, str]
    texts: tuple[str, str]

    def prompt(self, task: str, layout: SummaryLayout) -> Prompt:
        """Ask something about the two summaries."""
        return layout.pair(task, self.article, *self.texts)


def article_index(items: pd.DataFrame) -> "pd.Series[float]":
    """The place of each article in its data set, from the metadata; NaN where it has none."""
    index: pd.Series[float] = (
        items["metadata"].str.extract(r'"index": (\d+)', expand=False).astype(float)
    )
    return index


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
        OrderedPair(
            study,
            item,
            messages[0]["content"],
            names,
            (texts[item, names[0]], texts[item, names[1]]),
        )
        for study, item, messages in items[["study", "item_id", "messages"]].itertuples(index=False)
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
        {"study": pair.study, "item_id": pair.item_id, "task": task, "pair": pair}
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

    def questions(task: str, judging: Judging, some: pd.DataFrame) -> Iterator[Question]:
        columns = ["item_id", "responder", "step", "sample", "text"]
        for item, *key, text in some[columns].itertuples(index=False):
            prompt = layout.single(task, articles[item], text)
            calls = judging.calls(prompt, seed, evaluator, task, item, *key)
            yield Question(calls, partial(_rated, judging, prompt, layout))

    labels = {"recognition": (*layout.yes, *layout.no), "quality": SCORES}
    made = [
        ask(
            model,
            judged,
            "ratings",
            partial(questions, task, Judging(use, known, marker="")),
            judge=evaluator,
            task=task,
        )
        for task, known in labels.items()
    ]
    return tables.together("ratings", made)


def _rated(judging: Judging, prompt: Prompt, layout: SummaryLayout, *answers: Answer) -> Columns:
    """The expected weight of a label: 1 of yes, 0 of no; or the score."""
    choice = judging.choice(prompt, answers)
    weights: Iterable[int] = range(1, len(SCORES) + 1)
    if judging.labels != SCORES:
        choice, weights = _merged(choice, len(layout.yes)), (1, 0)
    read = judging.read(choice)
    score = None
    if read["status"] == "ok":
        pairs = zip(weights, choice.probabilities, strict=True)
        score = sum(weight * p for weight, p in pairs) / choice.mass
    return {"distribution": read.pop("probabilities"), "score": score, **read}


def _merged(choice: Choice, yes: int) -> Choice:
    """The first `yes` labels as one, and the rest as one."""
    if choice.status != "ok":
        return choice
    p = choice.probabilities
    return Choice((sum(p[:yes]), sum(p[yes:])), "ok")
