"""Contests of any models: orders, ties, marks, and a judge that picks whatever stands first."""

from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
from author_programs import programs  # noqa: F401

from selfpref.ask.judging import Judging
from selfpref.models import Choice, Choose, Text
from selfpref.params import Contest
from selfpref.params.uses import Assess
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.prompts.rubric import TOP
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.livebench import stages
from selfpref.studies.livebench.excess import EVERY, ONE, by_orders
from selfpref.studies.livebench.panel import Panel
from selfpref.tables import empty, validate

PLAIN = CHOICE_PROMPTS["plain"]
USE = Assess(prompts="plain", orders="cyclic", min_mass=0.5)
WRITERS = ("anna", "bert", "carl")


def items(number):
    return pd.DataFrame(
        {
            "study": "livebench",
            "item_id": [f"own/{n}" for n in range(number)],
            "category": "list",
            "cluster": [f"own/{n}" for n in range(number)],
            "messages": [[{"role": "user", "content": f"question {n}"}] for n in range(number)],
            "reference": None,
            "metadata": "{}",
        }
    )


def responses(number, writers=WRITERS):
    return pd.DataFrame(
        [
            {
                "study": "livebench",
                "item_id": f"own/{n}",
                "responder": name,
                "step": 0,
                "sample": 0,
                "text": f"{name} says {n}",
                "status": "ok",
            }
            for n in range(number)
            for name in writers
        ]
    )


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


def votes(judge, rule, number, orders="cyclic"):
    return stages.prefer(
        items(number), responses(number), judge, Scripted(rule), PLAIN, USE, orders=orders, seed=1
    )


def test_cyclic_orders_put_everyone_in_every_place_once():
    orders = stages.presented("own/1", "anna", WRITERS, "cyclic", 1)
    assert len(orders) == 3
    for place in range(3):
        assert {order[place] for order in orders} == set(WRITERS)


def test_the_seeded_order_is_the_first_of_the_cyclic_and_hangs_on_content_alone():
    seeded = stages.presented("own/1", "anna", WRITERS, "seeded", 1)
    assert seeded == stages.presented("own/1", "anna", WRITERS[::-1], "cyclic", 1)[:1]
    drawn = Counter(
        stages.presented(f"own/{n}", "anna", WRITERS, "seeded", 1)[0] for n in range(600)
    )
    assert len(drawn) == 6
    assert min(drawn.values()) > 60


def test_a_verdict_names_the_candidate_behind_the_letter():
    table = validate(votes("anna", fan_of("bert"), 8), "verdicts", "test")
    assert len(table) == 24
    assert set(table["choice"]) == {"bert"}
    for names, p in zip(table["candidates"], table["probabilities"], strict=True):
        assert max(p) == p[names.index("bert")]


def test_a_tie_is_an_answer_and_low_mass_is_none():
    tie = votes("anna", lambda text, labels: spread(labels, "tie"), 1)
    assert set(tie["choice"]) == {"tie"}
    faint = votes("anna", lambda text, labels: (0.1,) * len(labels), 1)
    assert set(faint["status"]) == {"low-mass"}
    assert faint["choice"].isna().all()


@pytest.mark.parametrize("number", [2, 3, 5])
def test_any_number_of_candidates(number):
    writers = [f"w{n}" for n in range(number)]
    table = stages.prefer(
        items(2),
        responses(2, writers),
        "w0",
        Scripted(first_picker),
        PLAIN,
        USE,
        orders="cyclic",
        seed=1,
    )
    assert len(table) == 2 * number
    assert [names[0] for names in table["candidates"]] == table["choice"].tolist()


def test_a_habit_of_the_first_place_is_position_and_not_self_preference():
    number = 60
    verdicts = pd.concat(
        [
            votes("anna", first_picker, number),
            votes("bert", fan_of("bert"), number),
            votes("carl", fan_of("anna"), number),
        ]
    )
    tables = {
        "items": items(number),
        "responses": responses(number),
        "verdicts": validate(verdicts, "verdicts", "test"),
        "truths": empty("truths"),
        "ratings": empty("ratings"),
        "audit": empty("audit"),
    }
    panel = Panel(tables, 0.0, ClusterBootstrap(200, seed=1))
    found = by_orders(panel).set_index(["judge", "orders"])
    # By one drawn order the first-picker's own share is that of a chance in three ...
    assert 0.2 < found.loc[("anna", ONE), "own"] < 0.5
    assert found.loc[("anna", ONE), "first"] == 1
    # ... and no choice of it survives all orders, while a preference for oneself does.
    assert found.loc[("anna", EVERY), "own"] == 0
    assert found.loc[("bert", EVERY), "own"] == 1
    assert found.loc[("bert", EVERY), "excess_lo"] > 0.9
    assert found.loc[("anna", EVERY), "excess_hi"] < 0


GOOD = '{"marks": [1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1]}'


def marked(replies, tries=1, number=1):
    calls = Scripted(replies=replies)
    table = stages.mark(
        items(number),
        responses(number, ("anna",)),
        "judge",
        calls,
        PLAIN,
        tries=tries,
        temperature=0.7,
        seed=1,
    )
    return validate(table, "ratings", "test"), calls


def test_the_program_adds_up_the_marks_and_not_the_judge():
    (row,) = marked([f"Total: 11. {GOOD}"])[0].itertuples()
    assert (row.score, row.status, len(row.marks)) == (9, "ok", TOP)
    assert row.reply.startswith("Total")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "8 of 11",
        '{"marks": [1, 1, 0]}',
        '{"marks": [1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 2]}',
        '{"marks": [1, 1, 0, 1, 1, 1, 1, 0, 1, 1, true]}',
        '{"marks": [1, 1, 0, 1, 1, 1, 1, 0, 1, 1',
        f"{GOOD} {GOOD}",
    ],
)
def test_marks_that_cannot_be_read_are_missing_and_never_zero(reply):
    (row,) = marked([reply])[0].itertuples()
    assert row.status == "unparsable"
    assert pd.isna(row.score)
    assert row.marks is None


def test_tries_are_bounded_and_stop_at_the_first_answer():
    table, calls = marked(["no", GOOD, "unused"], tries=3)
    assert (calls.asked, table["status"].tolist()) == (2, ["ok"])
    table, calls = marked(["no", "no", "no", GOOD], tries=3)
    assert (calls.asked, table["status"].tolist()) == (3, ["unparsable"])


def test_a_verdict_in_words_is_the_last_one_among_the_letters():
    use = SimpleNamespace(score_mode="text", samples=None, max_tokens=5, temperature=0, min_mass=0)
    asked = Judging(use, ("A", "B", "C", "tie")).verdict(PLAIN.prefer("q", "xyz"), WRITERS, 1)
    made = [asked.read(Text(reply, "ok")) for reply in ("A]] no, [[C]]", "tie]]", "D]]")]
    assert [row["choice"] for row in made] == ["carl", "tie", None]
    assert made[2]["status"] == "unparsable"


def test_without_a_label_for_a_tie_a_number_alone_is_the_verdict():
    use = SimpleNamespace(score_mode="text", samples=None, max_tokens=5, temperature=0, min_mass=0)
    numbered = Judging(use, ("1", "2", "3"), CHOICE_PROMPTS["authors"].marker)
    asked = numbered.verdict(PLAIN.prefer("q", "xyz"), WRITERS, 1)
    # The authors took the first digit of whatever was said, and 0 for the last response.
    replies = ("2", "**3**", "of the 3 responses, 1", "0", "tie")
    made = [asked.read(Text(reply, "ok")) for reply in replies]
    assert [row["choice"] for row in made] == [WRITERS[1], WRITERS[2], None, None, None]


def test_the_authors_prompts_number_the_responses(programs):  # noqa: F811
    calls = Scripted(fan_of("bert"))
    asked = (items(4), responses(4), "anna", calls, CHOICE_PROMPTS["authors"], USE)
    made = validate(stages.prefer(*asked, orders="cyclic", seed=1), "verdicts", "test")
    assert calls.labels == ("1", "2", "3")
    assert set(made["choice"]) == {"bert"}


def test_a_total_stands_without_marks_that_can_be_read():
    stated = replace(PLAIN, marks=lambda reply: (int(reply), None))
    calls = Scripted(replies=["7"])
    answers = (items(1), responses(1, ("anna",)), "judge", calls, stated)
    made = stages.mark(*answers, tries=1, temperature=0.7, seed=1)
    (row,) = validate(made, "ratings", "test").itertuples()
    assert (row.score, row.marks, row.status) == (7, None, "ok")


@pytest.fixture
def stage(tmp_path, monkeypatch):
    """Run a stage of the study on three items that three models have answered."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    stages.STUDY.write("lab", "own", items=items(3), responses=responses(3))
    model = Scripted(first_picker, [GOOD] * 9)

    def run(task, category, verdicts=None):
        if verdicts is not None:
            stages.STUDY.write("lab", "judges", verdicts=verdicts)
        use = {"judge": {"anna": USE}, "tie_break": {"umpire": USE}}
        contests = SimpleNamespace(categories={"list": category}, **use)
        named = SimpleNamespace(responder=None)
        params = SimpleNamespace(profile="lab", seed=1, livebench=contests)
        params.models = {"anna": named, "umpire": named}
        opened = lambda *_: nullcontext(model)  # noqa: E731
        return stages.STAGES[task](params, "anna" if task == "judge" else "umpire", opened)

    return run


CATEGORY = Contest(responders=list(WRITERS), judges=["anna", "bert"], tie_breaker="umpire")


@pytest.mark.parametrize("off", [{"score": False}, {"prefer": False}, {"judges": ["bert"]}])
def test_a_judge_that_has_nothing_to_do_ends_with_empty_tables(stage, off):
    made = stage("judge", CATEGORY.model_copy(update=off))
    assert len(made["ratings"]) == (9 if "prefer" in off else 0)
    assert len(made["verdicts"]) == (9 if "score" in off else 0)
    for name, table in made.items():
        validate(table, name, "test")


def votes_of(*rules):
    names = ["anna", "bert"][: len(rules)]
    return pd.concat(
        [votes(name, rule, 3, "seeded") for name, rule in zip(names, rules, strict=True)]
    )


def test_a_tie_breaker_is_asked_where_the_judges_reach_no_majority(stage):
    made = stage("tie_break", CATEGORY, votes_of(fan_of("anna"), fan_of("bert")))
    assert made["tie-breaks"]["item_id"].tolist() == ["own/0", "own/1", "own/2"]
    assert set(made["tie-breaks"]["variant"]) == {"tie-break"}
    assert made["dropped"].loc["list"].to_dict() == {"no majority": 3}


def test_a_tie_breaker_without_a_tie_ends_with_an_empty_table(stage):
    made = stage("tie_break", CATEGORY, votes_of(fan_of("bert"), fan_of("bert")))
    assert validate(made["tie-breaks"], "verdicts", "test").empty
    assert made["dropped"].loc["list"].to_dict() == {"majority": 3}


def test_a_tie_breaker_of_what_nobody_judged_ends_with_an_empty_table(stage):
    made = stage("tie_break", CATEGORY)
    assert validate(made["tie-breaks"], "verdicts", "test").empty
    assert made["dropped"].empty
