"""Contests of any models: orders, ties, marks, and a judge that picks whatever stands first."""

from collections import Counter
from contextlib import nullcontext
from types import SimpleNamespace

import pandas as pd
import pytest
from asking import Ruled

from selfpref.models import Choice, Text
from selfpref.params import Contest
from selfpref.params.studies import Assess
from selfpref.prompts.rubric import TOP
from selfpref.studies.livebench import stages
from selfpref.tables import fill, validate

USE = Assess(prompts="plain", orders="cyclic", min_mass=0.5)
THRICE = USE.model_copy(update={"tries": 3})
WRITERS = ("anna", "bert", "carl")


ITEMS = pd.DataFrame({"item_id": ["own/0", "own/1", "own/2"], "category": "list"})
WRITTEN = ITEMS[["item_id"]].merge(pd.DataFrame({"responder": WRITERS}), "cross")
WRITTEN["text"] = WRITTEN["responder"] + " says " + WRITTEN["item_id"]
WRITTEN = fill(WRITTEN, "responses", study="livebench", status="ok")
ASKED = [[{"role": "user", "content": f"question {n}"}] for n in range(3)]
ITEMS = ITEMS.assign(cluster=ITEMS["item_id"], messages=ASKED, metadata="{}", reference=None)
ITEMS = fill(ITEMS, "items", study="livebench")


def fan_of(name):
    """Prefers one writer's response wherever it stands; without a name, whatever stands first."""

    def rule(text, labels):
        order = sorted(WRITERS, key=lambda writer: text.find(f"{writer} says"))
        best = labels[order.index(name) if name else 0]
        shares = (0.9 if label == best else 0.1 / (len(labels) - 1) for label in labels)
        return Choice(tuple(shares), "ok")

    return rule


def votes(judge, favourite, orders):
    one = stages.Asked(judge, Ruled(fan_of(favourite)), USE, 1)
    return validate(stages.prefer(ITEMS, WRITTEN, one, orders), "verdicts", "")


def test_cyclic_orders_put_everyone_in_every_place_once_and_hang_on_content_alone():
    orders = stages.presented("own/1", "anna", WRITERS, "cyclic", 1)
    assert [sorted(place) for place in zip(*orders, strict=True)] == [[*WRITERS]] * 3
    assert stages.presented("own/1", "anna", WRITERS[::-1], "seeded", 1) == orders[:1]
    drawn = Counter(stages.presented(n, "anna", WRITERS, "seeded", 1)[0] for n in range(600))
    assert len(drawn) == 6
    assert min(drawn.values()) > 60


def test_a_verdict_names_the_candidate_behind_the_letter_in_every_order():
    table = votes("anna", "bert", "cyclic")
    assert table["repeat"].value_counts().to_dict() == {0: 3, 1: 3, 2: 3}
    assert set(table["choice"]) == {"bert"}
    for names, p in zip(table["candidates"], table["probabilities"], strict=True):
        assert max(p) == p[names.index("bert")]


GOOD = '{"marks": [1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1]}'
UNREADABLE = ["8 of 11", '{"marks": [1, 1, 0]}', GOOD.replace("1]", "2]"), GOOD[:-2], GOOD * 2]


@pytest.mark.parametrize(
    ("replies", "asked"),
    [
        # The program adds up the marks, and stops at the first answer.
        ([f"Total: 11. {GOOD}"], 1),
        (["no", GOOD, "unused"], 2),
        # What cannot be read is missing and never zero.
        *((["no", "no", reply, GOOD], 3) for reply in UNREADABLE),
    ],
)
def test_marks_are_added_up_or_missing(replies, asked):
    said = iter(replies)
    model = Ruled(lambda *_: Text(next(said), "ok"))
    table = stages.mark(ITEMS, WRITTEN[:1], stages.Asked("judge", model, THRICE, 1))
    (row,) = validate(table, "ratings", "test").itertuples()
    assert (len(model.calls), row.reply) == (asked, replies[asked - 1])
    if asked < 3:
        assert (row.score, row.status, len(row.marks)) == (9, "ok", TOP)
    else:
        assert (row.status, row.marks) == ("unparsable", None)
        assert pd.isna(row.score)


@pytest.fixture
def stage(tmp_path, monkeypatch):
    """Run a stage of the study on three items that three models have answered."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    stages.STUDY.write("lab", "own", items=ITEMS, responses=WRITTEN)

    def run(task, model, **changed):
        contest = {"responders": [*WRITERS], "judges": ["anna", "bert"], "tie_breaker": "umpire"}
        categories = {"list": Contest(**{**contest, **changed})}
        contests = SimpleNamespace(categories=categories, **{task: {model: USE}})
        params = SimpleNamespace(profile="lab", seed=1, livebench=contests)
        params.models = {model: SimpleNamespace(responder=None)}
        choose = fan_of(None)
        answers = Ruled(lambda text, labels: choose(text, labels) if labels else Text(GOOD, "ok"))
        return stages.STAGES[task](params, model, lambda *_: nullcontext(answers))

    return run


def test_a_judge_reads_the_items_and_responders_of_its_category(stage):
    made = stage("judge", "anna", start=1, end=2, responders=["anna", "carl"])
    marked = made["ratings"][["item_id", "responder"]].values.tolist()
    assert marked == [["own/1", "anna"], ["own/1", "carl"]]
    assert made["verdicts"]["item_id"].tolist() == ["own/1"] * 2
    for part, other in (("score", "verdicts"), ("prefer", "ratings")):
        made = stage("judge", "anna", **{part: False})
        assert [name for name, rows in made.items() if len(rows)] == [other]


@pytest.mark.parametrize(
    ("first", "ends", "calls"), [("anna", {"no majority": 3}, 3), ("bert", {"majority": 3}, 0)]
)
def test_a_tie_breaker_is_asked_where_the_judges_reach_no_majority(stage, first, ends, calls):
    cast = pd.concat([votes("anna", first, "seeded"), votes("bert", "bert", "seeded")])
    stages.STUDY.write("lab", "judges", verdicts=cast)
    made = stage("tie_break", "umpire")
    assert made["dropped"].loc["list"].to_dict() == ends
    breaks = validate(made["tie-breaks"], "verdicts", "test")
    assert breaks["variant"].tolist() == ["tie-break"] * calls
