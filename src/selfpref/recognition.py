"""Self-recognition and self-preference of one evaluator (Panickssery, Bowman & Feng, Sec. 2).

In pairs, an evaluator reads an article with its own summary and another source's, in both orders,
and is asked which is its own (recognition), which it prefers (preference) and which is worse
(inferiority). One by one, it is asked whether a summary is its own and how good it is:

    recognition   P(yes) / (P(yes) + P(no)), every form of yes and no summed         0..1
    quality       sum of k P(k) / sum of P(k), k = 1..5                              1..5

The probabilities are those of the next token; what the labels hold of the whole is the mass, below
`min_mass` the evaluator answered something else. Whose summaries are an evaluator's own is its
family: a tuned model is asked about its base's.
"""

import itertools
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from selfpref.engines import Choice, Prompt
from selfpref.engines.calls import Calls
from selfpref.prompts.summaries import LABELS, SCORES, SummaryLayout
from selfpref.schemas import TIE

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
    pairs: Sequence[Shown], evaluator: str, calls: Calls, layout: SummaryLayout, *, min_mass: float
) -> pd.DataFrame:
    """Every pair judged on every question.

    Args:
        pairs: As `shown` returns them.
        evaluator: Whose verdicts these are.
        calls: The model behind the store.
        layout: The prompts.
        min_mass: Below this mass a verdict has the status low-mass.

    Returns:
        The verdicts table: a row a pair in one order and question.
    """
    asked = [(pair, task) for pair in pairs for task in PAIR_TASKS]
    choices = calls.choose([pair.prompt(task, layout) for pair, task in asked], LABELS)
    rows = [
        {
            "study": pair.study,
            "item_id": pair.item_id,
            "task": task,
            "candidates": list(pair.names),
            **_read(choice, min_mass),
            "choice": _chosen(pair.names, choice, min_mass),
        }
        for (pair, task), choice in zip(asked, choices, strict=True)
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
    calls: Calls,
    layout: SummaryLayout,
    *,
    min_mass: float,
) -> pd.DataFrame:
    """Every summary by itself: whose is it, and how good is it?

    Args:
        items: The items table.
        responses: The responses table.
        evaluator: Whose ratings these are.
        calls: The model behind the store.
        layout: The prompts.
        min_mass: Below this mass a rating has the status low-mass.

    Returns:
        The ratings table: two rows a summary. `distribution` holds P(yes) and P(no), or P(1) to
        P(5), as they were read.
    """
    articles = dict(zip(items["item_id"], map(article, items["messages"]), strict=True))
    judged = responses[responses["item_id"].isin(articles)]
    texts = [
        (articles[item], text) for item, text in zip(judged["item_id"], judged["text"], strict=True)
    ]
    parts = []
    for task in ("recognition", "quality"):
        labels = (*layout.yes, *layout.no) if task == "recognition" else SCORES
        choices = calls.choose([layout.single(task, *text) for text in texts], labels)
        if task == "recognition":
            choices = [_merged(choice, len(layout.yes)) for choice in choices]
            weights: Iterable[int] = (1, 0)
        else:
            weights = range(1, len(SCORES) + 1)
        read = pd.DataFrame(
            [
                _read(choice, min_mass) | {"score": _mean(choice, weights, min_mass)}
                for choice in choices
            ],
            columns=["probabilities", "mass", "status", "score"],
        ).rename(columns={"probabilities": "distribution"})
        keys = judged[["study", "item_id", "responder", "step", "sample"]].reset_index(drop=True)
        parts.append(keys.join(read).assign(task=task))
    return pd.concat(parts, ignore_index=True).assign(
        judge=evaluator, variant="plain", repeat=0, marks=None, reply=None, stored=None
    )


def _enough(choice: Choice, min_mass: float) -> bool:
    return choice.status == "ok" and choice.mass >= min_mass and choice.mass > 0


def _read(choice: Choice, min_mass: float) -> dict[str, object]:
    """What was read: probabilities, their sum, and whether that is an answer."""
    if choice.status != "ok":
        return {"probabilities": None, "mass": None, "status": choice.status}
    status = "ok" if _enough(choice, min_mass) else "low-mass"
    return {"probabilities": list(choice.probabilities), "mass": choice.mass, "status": status}


def _chosen(names: tuple[str, str], choice: Choice, min_mass: float) -> str | None:
    if not _enough(choice, min_mass):
        return None
    first, second = choice.probabilities
    return TIE if first == second else names[first < second]


def _merged(choice: Choice, yes: int) -> Choice:
    """The first `yes` labels as one, and the rest as one."""
    if choice.status != "ok":
        return choice
    p = choice.probabilities
    return Choice((sum(p[:yes]), sum(p[yes:])), "ok")


def _mean(choice: Choice, weights: Iterable[int], min_mass: float) -> float | None:
    """Expected weight of a label."""
    if not _enough(choice, min_mass):
        return None
    pairs = zip(weights, choice.probabilities, strict=True)
    return sum(weight * p for weight, p in pairs) / choice.mass
