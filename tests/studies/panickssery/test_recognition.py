"""Evaluators asked about summaries: both orders, every question, and what is no answer."""

from itertools import cycle

import pytest
from asking import Ruled
from panickssery_frames import summarised

from selfpref import tables
from selfpref.models import Choice, Text
from selfpref.params import Verdicts
from selfpref.prompts.summaries import LABELS, PLAIN, SCORES
from selfpref.studies.panickssery.recognition import PAIR_TASKS, Evaluator, ordered_pairs

ITEMS, RESPONSES = summarised({who: f"{who} says" for who in ("human", "me", "x")})
READ = Verdicts(min_mass=0.5)
SAMPLED = Verdicts(min_mass=0.5, score_mode="sampled", samples=4, temperature=1.0)


def judged(rule, use=READ, pairs=True):
    """The valid verdicts, or one rating of each question; and what was asked."""
    model = Ruled(rule)
    asked = Evaluator("tuned", model, PLAIN, use, seed=1)
    if pairs:
        table = asked.verdicts(ordered_pairs(ITEMS, RESPONSES, "me"))
        return tables.validate(table, "verdicts", "made"), model.calls
    table = tables.validate(asked.ratings(ITEMS, RESPONSES), "ratings", "made")
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
    assert len({call.prompt for call in calls}) == 2 * 4 * 3
    assert (set(table["judge"]), set(table["choice"])) == ({"tuned"}, {"me"})
    # An article without an own summary has no pair.
    lacking = RESPONSES[~(RESPONSES["responder"].eq("me") & RESPONSES["item_id"].eq("news/1"))]
    assert {pair.item_id for pair in ordered_pairs(ITEMS, lacking, "me")} == {"news/2"}


@pytest.mark.parametrize("lacks", [["choice", "mass", "probabilities"], ["score", "distribution"]])
def test_what_is_no_answer_has_a_status_and_no_choice(lacks):
    table, _ = judged(lambda *_: Choice((), "refused"), pairs="choice" in lacks)
    assert set(table["status"]) == {"refused"}
    assert table[lacks].isna().all(axis=None)


def test_a_rating_is_the_share_of_yes_and_the_expectation_over_the_digits():
    given = {"Yes": 0.3, "yes": 0.1, "No": 0.15, "no": 0.05}
    given |= dict(zip(SCORES, (0.1, 0.0, 0.2, 0.0, 0.3), strict=True))
    rule = lambda text, labels: Choice(tuple(map(given.get, labels)), "ok")  # noqa: E731
    table, _ = judged(rule, pairs=False)
    # Every form of yes counts, and the rest is left out of the ratio.
    own, quality = table.loc["recognition"], table.loc["quality"]
    found = [own["score"], own["mass"], *own["distribution"]]
    assert found == pytest.approx([2 / 3, 0.6, 0.4, 0.2])
    assert quality["score"] == pytest.approx((0.1 + 3 * 0.2 + 5 * 0.3) / 0.6)
    table, _ = judged(lambda _, labels: Choice((0.0,) * len(labels), "ok"), pairs=False)
    assert (set(table["status"]), table["score"].notna().any()) == ({"low-mass"}, False)


def test_without_probabilities_the_frequencies_of_repeated_answers_are_read():
    said, grades = cycle(["1", "**2**.", " 1\n", "Both, 1 and 2"]), cycle("5514")
    table, calls = judged(lambda *_: Text(next(said), "ok"), SAMPLED)
    assert {tuple(shares) for shares in table["probabilities"]} == {(0.5, 0.25)}
    assert set(table["mass"]) == {0.75}
    assert [names[0] for names in table["candidates"]] == table["choice"].tolist()
    table, others = judged(lambda *_: Text(next(grades), "ok"), SAMPLED, pairs=False)
    assert table.loc["quality", "score"] == (5 + 5 + 1 + 4) / 4
    # Every repeat of every question has a seed of its own.
    seeds = [call.seed for call in (*calls, *others)]
    assert len(seeds) == len(set(seeds)) == 4 * (24 + 12)
