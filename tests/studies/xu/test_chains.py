"""What must hold along a chain, on chains written out."""

import pandas as pd
import pytest
from study_frames import equal

from selfpref.studies.xu import bias, items


def chain(*steps, item="yor-en/1", **more):
    rows = pd.DataFrame(steps, columns=["text", "reply", "score", "truth"])
    named = {"item_id": item, "responder": "m", "model": "m", "step": range(len(rows))}
    named |= {"condition": "", "language": "yor-en", "status": "ok"}
    return rows.assign(**named | more)


def counted(rows):
    """What is found at all, by step."""
    found = bias.cells(rows)
    return {name: found[name].tolist() for name in found.columns[5:-1] if found[name].any()}


START = ("a", "x", -9, 0.5)


# By what is found: a second step.
SECOND = {
    "": START,
    "text_changed": ("b", "y", -5, 0.6),
    "text_changed self_decreased": ("b", "y", -10, 0.6),
    "truth_without_text": ("a", "x", -9, 0.7),
    "boilerplate text_changed": ("Sure! A better translation: b", "y", -5, 0.6),
}


@pytest.mark.parametrize("findings", SECOND)
def test_each_finding_is_counted_at_its_step(findings):
    found = counted(chain(START, SECOND[findings]))
    assert found == {name: [0, 1] for name in findings.split()}


def test_a_truth_may_stay_and_unusable_feedback_is_counted():
    rows = chain(START, ("b", "y", -5, 0.5), status=["refused", "ok"])
    assert counted(rows) == {"unusable": [1, 0], "text_changed": [0, 1]}
    # Scores without texts, and a step without its predecessor, are linked to nothing.
    assert counted(chain(START, (None, "y", -5, 0.6))) == {}
    assert counted(chain(START, START, ("b", "y", -10, 0.6)).query("step != 1")) == {}


def test_scores_of_another_run_contaminate_all_that_follows():
    moved = ("a", "x", -9, 0.7)
    parts = [chain(START, moved, ("b", "y", -5, 0.8)), chain(START, START, item="yor-en/2")]
    other = chain(START, START, item="jav-en/1", language="jav-en")
    found = bias.cells(pd.concat([*parts, other]))
    assert found["contaminated"].tolist() == [False, False, False, True, True]
    assert found["n"].tolist() == [1, 1, 2, 2, 1]


def test_boilerplate_contaminates_from_a_tenth_on():
    many = [chain(START, item=f"yor-en/{i}") for i in range(18)]
    one = chain(("Sure! Here is the translation: a", "x", -9, 0.5), item="yor-en/19")
    two = chain(("Here's a better translation: a", "x", -9, 0.5), item="yor-en/20")
    assert not bias.cells(pd.concat([*many, one]))["contaminated"].any()
    assert bias.cells(pd.concat([*many, one, two]))["contaminated"].tolist() == [True]


def test_an_item_is_addressed_by_its_name_and_has_a_row_under_every_condition():
    conditions = ["best-of-8", "paraphrase/nllb"]
    names = [f"{condition}/yor-en/12" for condition in conditions]
    found = items.addressed(pd.Series(["yor-en/12", *names]))
    assert found.values.tolist() == [[condition, "yor-en"] for condition in ("", *conditions)]
    asked = pd.DataFrame([("yor-en/12", "c"), ("math/1", "d")], columns=["item_id", "cluster"])
    whole = items.under_conditions(asked, pd.Series(["yor-en/12", *names, *names]))
    wanted = [("yor-en/12", "c"), ("math/1", "d"), *((name, "c") for name in names)]
    equal(whole, "item_id cluster", *wanted)
