"""Evaluators asked about summaries: both orders, every question, and what is no answer."""

import pandas as pd
import pytest

from selfpref import tables
from selfpref.models import Choice
from selfpref.params import Verdicts
from selfpref.prompts.summaries import LABELS, PLAIN, SCORES
from selfpref.studies.panickssery.recognition import PAIR_TASKS, Evaluator, ordered_pairs

ITEMS = pd.DataFrame({"study": "panickssery", "item_id": ["news/1", "news/2"]})
ITEMS["messages"] = [[{"role": "user", "content": f"article {n}"}] for n in (1, 2)]
RESPONSES = pd.DataFrame(
    [(item, who, f"{who} on {item}") for item in ITEMS["item_id"] for who in ("human", "me", "x")],
    columns=["item_id", "responder", "text"],
).assign(study="panickssery", step=0, sample=0)
READ = Verdicts(min_mass=0.5)


class Scripted:
    """In the place of a `Model`: an answer for each prompt by a rule."""

    at_a_time = 100

    def __init__(self, rule):
        self.rule, self.calls = rule, []

    def ask(self, calls):
        self.calls += calls
        return [self.rule(call.prompt.messages[0][1], call.labels) for call in calls]


def judged(rule, pairs=True):
    """The valid verdicts, or one rating of each question; and what was asked."""
    model = Scripted(rule)
    asked = Evaluator("tuned", model, PLAIN, READ, seed=1)
    if pairs:
        table = asked.verdicts(ordered_pairs(ITEMS, RESPONSES, "me"))
        return tables.validate(table, "verdicts", "made"), model.calls
    table = tables.validate(asked.ratings(ITEMS, RESPONSES), "ratings", "made")
    assert table.groupby("task").size().to_dict() == {"quality": 6, "recognition": 6}
    return table.groupby("task").first(), model.calls


def test_own_and_other_are_read_in_both_orders_under_every_question():
    # Whoever always names its own text has it at the place where it stood.
    def rule(text, labels):
        assert labels == LABELS
        return Choice((0.9, 0.0) if "Summary 1:\nme" in text else (0.0, 0.9), "ok")

    table, calls = judged(rule)
    wanted = [["human", "me"], ["me", "human"], ["me", "x"], ["x", "me"]]
    offered = table.groupby(["task", "item_id"])["candidates"].agg(sorted)
    assert offered.tolist() == [wanted] * 2 * len(PAIR_TASKS)
    assert len(table) == len({call.prompt for call in calls}) == 2 * 4 * 3
    assert (set(table["judge"]), set(table["choice"])) == ({"tuned"}, {"me"})
    for row in table.itertuples():
        assert row.probabilities[row.candidates.index("me")] == 0.9
    # An article without an own summary has no pair.
    lacking = RESPONSES[~(RESPONSES["responder"].eq("me") & RESPONSES["item_id"].eq("news/1"))]
    assert {pair.item_id for pair in ordered_pairs(ITEMS, lacking, "me")} == {"news/2"}


@pytest.mark.parametrize("status", ["truncated", "failed", "refused"])
def test_what_is_no_answer_has_a_status_and_no_choice(status):
    answer = lambda *_: Choice((), status)  # noqa: E731
    table, _ = judged(answer)
    assert set(table["status"]) == {status}
    assert table[["choice", "mass", "probabilities"]].isna().all(axis=None)
    table, _ = judged(answer, pairs=False)
    assert set(table["status"]) == {status}
    assert table[["score", "distribution"]].isna().all(axis=None)


def test_a_rating_is_the_share_of_yes_and_the_expectation_over_the_digits():
    given = {"Yes": 0.3, "yes": 0.1, "No": 0.15, "no": 0.05}
    given |= dict(zip(SCORES, (0.1, 0.0, 0.2, 0.0, 0.3), strict=True))
    rule = lambda text, labels: Choice(tuple(map(given.get, labels)), "ok")  # noqa: E731
    table, calls = judged(rule, pairs=False)
    # Every form of yes counts, and the rest is left out of the ratio.
    own, quality = table.loc["recognition"], table.loc["quality"]
    found = [own["score"], own["mass"], *own["distribution"]]
    assert found == pytest.approx([2 / 3, 0.6, 0.4, 0.2])
    assert quality["score"] == pytest.approx((0.1 + 3 * 0.2 + 5 * 0.3) / 0.6)
    assert list(quality["distribution"]) == [0.1, 0.0, 0.2, 0.0, 0.3]
    asked = {"Did you write" in call.prompt.messages[0][1]: call.labels for call in calls}
    assert asked == {True: (*PLAIN.yes, *PLAIN.no), False: SCORES}
    table, _ = judged(lambda text, labels: Choice((0.0,) * len(labels), "ok"), pairs=False)
    assert set(table["status"]) == {"low-mass"}
    assert table["score"].isna().all()
