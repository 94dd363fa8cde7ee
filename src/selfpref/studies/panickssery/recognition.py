"""Self-recognition and self-preference of one judge (Panickssery, Bowman & Feng, Sec. 2).

In pairs, a judge reads an article with its own summary and another source's, in both orders,
and is asked which is its own (recognition), which it prefers (preference) and which is worse
(inferiority). One by one, it is asked whether a summary is its own and how good it is:

    recognition   P(yes) / (P(yes) + P(no)), every form of yes and no summed         0..1
    quality       sum of k P(k) / sum of P(k), k = 1..5                              1..5

An answer is the label alone. P is its probability as the next token, or with the score mode
`sampled` its frequency among repeated answers; mass and status are as in `selfpref.ask`.
Whose summaries are a judge's own is its family: a tuned model is asked about its base's.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import pandas as pd

from selfpref import tables
from selfpref.ask import Columns, Judging, Question, ask
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
        return layout.ask(task, self.article, *self.texts)


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


@dataclass(frozen=True)
class Evaluator:
    """A judge that is asked about summaries.

    Attributes:
        name: Whose verdicts and ratings these are.
        model: Its model.
        layout: The prompts.
        use: How it comes to a verdict or a rating.
        seed: With judge, question, texts and repeat, the seed of each answer in words.
    """

    name: str
    model: Model
    layout: SummaryLayout
    use: Verdicts
    seed: int

    def verdicts(self, pairs: Sequence[OrderedPair]) -> pd.DataFrame:
        """The verdicts table: every pair, as `ordered_pairs` has them, judged on every question."""
        judging = Judging(self.use, LABELS, marker="")
        rows = [
            {"study": STUDY.name, "item_id": pair.item_id, "task": task, "pair": pair}
            for pair in pairs
            for task in PAIR_TASKS
        ]

        def questions(some: pd.DataFrame) -> Iterator[Question]:
            for pair, task in some[["pair", "task"]].itertuples(index=False):
                named = (self.seed, self.name, task, pair.item_id, *pair.names)
                yield judging.verdict(pair.prompt(task, self.layout), pair.names, *named)

        return ask(self.model, pd.DataFrame(rows), "verdicts", questions, judge=self.name)

    def ratings(self, items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
        """Every summary by itself: whose is it, and how good is it?

        Args:
            items: The items table.
            responses: The responses table.

        Returns:
            The ratings table: two rows a summary. `distribution` holds P(yes) and P(no), or P(1)
            to P(5), as they were read.
        """
        said = items.set_index("item_id")["messages"]
        articles = said.map(lambda turns: turns[0]["content"]).to_dict()
        judged = responses[responses["item_id"].isin(articles)]
        # Of each question the labels and what they count; labels that count alike mean the same.
        kinds = {
            "recognition": dict.fromkeys(self.layout.yes, 1) | dict.fromkeys(self.layout.no, 0),
            "quality": {label: int(label) for label in SCORES},
        }

        def questions(task: str, some: pd.DataFrame) -> Iterator[Question]:
            judging = Judging(self.use, tuple(kinds[task]), marker="")
            columns = ["item_id", "responder", "step", "sample", "text"]
            for item, *key, text in some[columns].itertuples(index=False):
                prompt = self.layout.ask(task, articles[item], text)
                calls = judging.calls(prompt, self.seed, self.name, task, item, *key)
                yield Question(calls, partial(_rated, judging, kinds[task], prompt))

        asked = partial(ask, self.model, judged, "ratings", judge=self.name)
        return tables.together("ratings", [asked(partial(questions, k), task=k) for k in kinds])


def _rated(
    judging: Judging, weights: Mapping[str, int], prompt: Prompt, *answers: Answer
) -> Columns:
    """The expected weight of an answer: 1 of yes, 0 of no; or the score."""
    choice, score = judging.choice(prompt, answers), None
    if choice.status == "ok":
        merged = dict.fromkeys(weights.values(), 0.0)
        for weight, share in zip(weights.values(), choice.probabilities, strict=True):
            merged[weight] += share
        choice = Choice((*merged.values(),), "ok")
    read = judging.read(choice)
    if read["status"] == "ok":
        score = sum(weight * share for weight, share in merged.items()) / choice.mass
    return {"distribution": read.pop("probabilities"), "score": score, **read}
