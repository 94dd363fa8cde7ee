"""Evaluators asked about summaries: both orders, every question, and what is no answer."""

import pandas as pd
import pytest

from selfpref import tables
from selfpref.models import Choice, Choose, Text
from selfpref.params import Verdicts
from selfpref.prompts.summaries import LABELS, PLAIN, SCORES
from selfpref.studies.panickssery.recognition import PAIR_TASKS, ordered_pairs, ratings, verdicts

ITEMS = pd.DataFrame({"study": "panickssery", "item_id": ["news/1", "news/2"]})
ITEMS["messages"] = [[{"role": "user", "content": f"article {n}"}] for n in (1, 2)]
WRITERS = ("human", "me", "x")
RESPONSES = pd.DataFrame(
    [(item, name, f"{name} on {item}") for item in ITEMS["item_id"] for name in WRITERS],
    columns=["item_id", "responder", "text"],
).assign(study="panickssery", step=0, sample=0)
READ = Verdicts(min_mass=0.5)
LOST = ("truncated", "failed", "refused")


class Scripted:
    """In the place of a `Model`: an answer for each prompt by a rule."""

    at_a_time = 100

    def __init__(self, rule):
        self.rule, self.asked, self.seeds = rule, [], []

    def ask(self, calls):
        texts = [call.prompt.messages[0][1] for call in calls]
        self.asked += [(text, call.labels) for text, call in zip(texts, calls, strict=True)]
        if isinstance(calls[0], Choose):
            return [self.rule(text, call.labels) for text, call in zip(texts, calls, strict=True)]
        self.seeds += [call.seed for call in calls]
        return [self.rule(text, n) for n, text in enumerate(texts)]


def judged(rule, use=READ):
    calls = Scripted(rule)
    pairs = ordered_pairs(ITEMS, RESPONSES, "me")
    table = verdicts(pairs, "tuned", calls, PLAIN, use, seed=1)
    return tables.validate(table, "verdicts", "made"), calls


def rated(rule, use=READ):
    calls = Scripted(rule)
    table = ratings(ITEMS, RESPONSES, "tuned", calls, PLAIN, use, seed=1)
    table = tables.validate(table, "ratings", "made")
    assert table.groupby("task").size().to_dict() == {"quality": 6, "recognition": 6}
    return table.groupby("task").first(), calls


def sampled(samples):
    return Verdicts(min_mass=0.5, score_mode="sampled", samples=samples, temperature=1.0)


def test_own_and_other_are_read_in_both_orders_under_every_question():
    # Whoever always names its own text has it at the place where it stood.
    def rule(text, labels):
        assert labels == LABELS
        return Choice((0.9, 0.0) if "Summary 1:\nme" in text else (0.0, 0.9), "ok")

    table, calls = judged(rule)
    wanted = [["me", "human"], ["human", "me"], ["me", "x"], ["x", "me"]]
    for task in PAIR_TASKS:
        for item in ITEMS["item_id"]:
            rows = table[table["task"].eq(task) & table["item_id"].eq(item)]
            assert sorted(rows["candidates"]) == sorted(wanted)
    assert len(table) == len({text for text, _ in calls.asked}) == 2 * 4 * 3
    assert set(table["judge"]) == {"tuned"}
    assert set(table["choice"]) == {"me"}
    for row in table.itertuples():
        assert row.probabilities[row.candidates.index("me")] == 0.9
    # An article without an own summary has no pair.
    lacking = RESPONSES[~(RESPONSES["responder"].eq("me") & RESPONSES["item_id"].eq("news/1"))]
    assert {pair.item_id for pair in ordered_pairs(ITEMS, lacking, "me")} == {"news/2"}


@pytest.mark.parametrize(
    ("answer", "use", "status", "chosen", "mass"),
    [
        (Choice((0.3, 0.3), "ok"), READ, "ok", "tie", 0.6),
        (Choice((0.3, 0.1), "ok"), READ, "low-mass", None, 0.4),
        (Choice((0.0, 0.0), "ok"), READ, "low-mass", None, 0.0),
        *(
            (Choice((), name), READ, name, None, None)
            for name in ("truncated", "failed", "refused")
        ),
        *((Text(said, "ok"), sampled(2), "unparsable", None, None) for said in ("1, 2", "12")),
        (Text("", "cut"), sampled(2), "truncated", None, None),
        *((Text("", name), sampled(2), name, None, None) for name in ("refused", "failed")),
    ],
)
def test_what_is_no_answer_has_a_status_and_no_choice(answer, use, status, chosen, mass):
    table, _ = judged(lambda *_: answer, use)
    assert set(table["status"]) == {status}
    for name, value in (("choice", chosen), ("mass", mass)):
        assert table[name].isna().all() if value is None else set(table[name]) == {value}
    assert table["probabilities"].isna().all() == (not mass)
    if answer == Choice((), status):
        table, _ = rated(lambda *_: answer)
        assert set(table["status"]) == {status}
        assert table[["score", "distribution"]].isna().all(axis=None)


def test_a_rating_is_the_share_of_yes_and_the_expectation_over_the_digits():
    given = {"Yes": 0.3, "yes": 0.1, "No": 0.15, "no": 0.05}
    given |= dict(zip(SCORES, (0.1, 0.0, 0.2, 0.0, 0.3), strict=True))
    table, calls = rated(lambda text, labels: Choice(tuple(map(given.get, labels)), "ok"))
    # Every form of yes counts, and the rest is left out of the ratio.
    own, quality = table.loc["recognition"], table.loc["quality"]
    assert [own["score"], own["mass"], *own["distribution"]] == pytest.approx(
        [2 / 3, 0.6, 0.4, 0.2]
    )
    assert quality["score"] == pytest.approx((0.1 + 3 * 0.2 + 5 * 0.3) / 0.6)
    assert list(quality["distribution"]) == [0.1, 0.0, 0.2, 0.0, 0.3]
    asked = {"Did you write" in text: labels for text, labels in calls.asked}
    assert asked == {True: (*PLAIN.yes, *PLAIN.no), False: SCORES}
    table, _ = rated(lambda text, labels: Choice((0.0,) * len(labels), "ok"))
    assert table[["status"]].assign(score=table["score"].isna()).values.tolist() == [
        *(["low-mass", True], ["low-mass", True])
    ]


def test_without_probabilities_the_frequencies_of_repeated_answers_are_read():
    said = ["1", "**2**.", " 1\n", "Both, 1 and 2"]
    table, calls = judged(lambda _, n: Text(said[n % 4], "ok"), sampled(4))
    assert {tuple(shares) for shares in table["probabilities"]} == {(0.5, 0.25)}
    assert set(table["mass"]) == {0.75}
    assert [names[0] for names in table["candidates"]] == table["choice"].tolist()

    def rule(text, n):
        own = "Did you write" in text
        return Text((("yes", "No", "Yes.", "Yes") if own else "5514")[n % 4], "ok")

    table, others = rated(rule, sampled(4))
    assert table["score"].to_dict() == {"recognition": 0.75, "quality": (5 + 5 + 1 + 4) / 4}
    assert set(table["mass"]) == {1.0}
    # Every repeat of every question has a seed of its own.
    seeds = [*calls.seeds, *others.seeds]
    assert len(seeds) == len(set(seeds)) == 4 * (24 + 12)
