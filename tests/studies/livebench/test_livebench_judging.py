"""Contests of any models: orders, ties, marks, and a judge that picks whatever stands first."""

from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace

import pandas as pd
import pytest

from selfpref.models import Choice, Choose, Text
from selfpref.params import Contest
from selfpref.params.uses import Assess
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.prompts.rubric import TOP
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.livebench import stages
from selfpref.studies.livebench.excess import EVERY, ONE, by_orders
from selfpref.studies.livebench.panel import Panel
from selfpref.tables import empty, fill, validate

PLAIN = CHOICE_PROMPTS["plain"]
USE = Assess(prompts="plain", orders="cyclic", min_mass=0.5)
WRITERS = ("anna", "bert", "carl")


def items(number):
    rows = [
        {"item_id": f"own/{n}", "category": "list", "cluster": f"own/{n}", "metadata": "{}"}
        | {"messages": [{"role": "user", "content": f"question {n}"}]}
        for n in range(number)
    ]
    return fill(rows, "items", study="livebench", reference=None)


def responses(number, writers=WRITERS):
    rows = [
        {"item_id": f"own/{n}", "responder": name, "text": f"{name} says {n}", "status": "ok"}
        for n in range(number)
        for name in writers
    ]
    return fill(rows, "responses", study="livebench")


class Scripted:
    """Answers by a rule: a choice from the prompt's text, a text from a list of replies."""

    at_a_time = 100

    def __init__(self, rule=None, replies=()):
        self.rule, self.replies, self.asked = rule, list(replies), 0

    def ask(self, calls):
        if calls and isinstance(calls[0], Choose):
            self.labels = calls[0].labels
            texts = [call.prompt.messages[-1][1] for call in calls]
            return [Choice(self.rule(text, self.labels), "ok") for text in texts]
        self.asked += len(calls)
        return [Text(self.replies.pop(0), "ok") for _ in calls]


def spread(labels, best):
    return tuple(0.9 if label == best else 0.1 / (len(labels) - 1) for label in labels)


def first_picker(text, labels):
    return spread(labels, "A")


def fan_of(name):
    """Prefers one writer's response wherever it stands."""

    def rule(text, labels):
        place = sorted(WRITERS, key=lambda writer: text.index(f"{writer} says")).index(name)
        return spread(labels, labels[place])

    return rule


def votes(judge, rule, number, orders="cyclic", writers=WRITERS):
    one = stages.Judge(judge, Scripted(rule), USE, 1)
    made = stages.prefer(items(number), responses(number, writers), one, orders)
    return validate(made, "verdicts", "test")


def test_cyclic_orders_put_everyone_in_every_place_once_and_hang_on_content_alone():
    orders = stages.presented("own/1", "anna", WRITERS, "cyclic", 1)
    assert [{*place} for place in zip(*orders, strict=True)] == [{*WRITERS}] * 3
    assert len(orders) == 3
    assert stages.presented("own/1", "anna", WRITERS[::-1], "seeded", 1) == orders[:1]
    drawn = Counter(
        stages.presented(f"own/{n}", "anna", WRITERS, "seeded", 1)[0] for n in range(600)
    )
    assert len(drawn) == 6
    assert min(drawn.values()) > 60


def test_a_verdict_names_the_candidate_behind_the_letter_among_any_number():
    table = votes("anna", fan_of("bert"), 8)
    assert len(table) == 24
    assert set(table["choice"]) == {"bert"}
    for names, p in zip(table["candidates"], table["probabilities"], strict=True):
        assert max(p) == p[names.index("bert")]


def test_a_habit_of_the_first_place_is_position_and_not_self_preference():
    judges = {"anna": first_picker, "bert": fan_of("bert"), "carl": fan_of("anna")}
    verdicts = pd.concat([votes(name, rule, 60) for name, rule in judges.items()])
    tables = {name: empty(name) for name in ("truths", "ratings", "audit")}
    tables |= {"items": items(60), "responses": responses(60), "verdicts": verdicts}
    panel = Panel(tables, 0.0, ClusterBootstrap(200, seed=1))
    found = by_orders(panel).set_index(["judge", "orders"])
    # By one drawn order the first-picker's own share is that of a chance in three ...
    assert 0.2 < found.loc[("anna", ONE), "own"] < 0.5
    assert found.loc[("anna", ONE), "first"] == 1
    # ... and no choice of it survives all orders, while a preference for oneself does.
    assert found["own"].xs(EVERY, level=1).to_dict() == {"anna": 0, "bert": 1, "carl": 0}
    assert found.loc[("bert", EVERY), "excess_lo"] > 0.9
    assert found.loc[("anna", EVERY), "excess_hi"] < 0


GOOD = '{"marks": [1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1]}'


def marked(replies, tries=1):
    calls = Scripted(replies=replies)
    one = stages.Judge("judge", calls, USE, 1)
    table = stages.mark(items(1), responses(1, ("anna",)), one, tries)
    (row,) = validate(table, "ratings", "test").itertuples()
    return row, calls.asked


def test_the_program_adds_up_the_marks_and_stops_at_the_first_answer():
    row, _ = marked([f"Total: 11. {GOOD}"])
    assert (row.score, row.status, len(row.marks)) == (9, "ok", TOP)
    assert row.reply.startswith("Total")
    for replies, asked, status in (
        (["no", GOOD, "unused"], 2, "ok"),
        (["no", "no", "no", GOOD], 3, "unparsable"),
    ):
        row, count = marked(replies, tries=3)
        assert (count, row.status) == (asked, status)


@pytest.mark.parametrize(
    "reply",
    ["8 of 11", '{"marks": [1, 1, 0]}', GOOD.replace("1]", "2]"), GOOD[:-2], f"{GOOD} {GOOD}"],
)
def test_marks_that_cannot_be_read_are_missing_and_never_zero(reply):
    row, _ = marked([reply])
    assert (row.status, row.marks) == ("unparsable", None)
    assert pd.isna(row.score)


@pytest.fixture
def stage(tmp_path, monkeypatch):
    """Run a stage of the study on three items that three models have answered."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    stages.STUDY.write("lab", "own", items=items(3), responses=responses(3))

    def run(task, verdicts, **changed):
        stages.STUDY.write("lab", "judges", verdicts=verdicts)
        category = Contest(responders=list(WRITERS), judges=["anna", "bert"], tie_breaker="umpire")
        contests = SimpleNamespace(
            categories={"list": category.model_copy(update=changed)},
            judge={"anna": USE},
            tie_break={"umpire": USE},
        )
        named = SimpleNamespace(responder=None)
        params = SimpleNamespace(profile="lab", seed=1, livebench=contests)
        params.models = {"anna": named, "umpire": named}
        opened = lambda *_: nullcontext(Scripted(first_picker, [GOOD] * 9))  # noqa: E731
        return stages.STAGES[task](params, "anna" if task == "judge" else "umpire", opened)

    return run


@pytest.mark.parametrize(
    ("first", "ends", "calls"), [("anna", {"no majority": 3}, 3), ("bert", {"majority": 3}, 0)]
)
def test_a_tie_breaker_is_asked_where_the_judges_reach_no_majority(stage, first, ends, calls):
    rules = {"anna": fan_of(first), "bert": fan_of("bert")}
    cast = pd.concat([votes(name, rule, 3, "seeded") for name, rule in rules.items()])
    made = stage("tie_break", cast)
    assert made["dropped"].loc["list"].to_dict() == ends
    assert validate(made["tie-breaks"], "verdicts", "test")["variant"].tolist() == [
        *["tie-break"] * calls
    ]
