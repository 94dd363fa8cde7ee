"""What must hold along a chain, on chains written out."""

import pandas as pd
import pytest

from selfpref.studies.xu import chains


def chain(*steps, item="yor-en/1", responder="m"):
    """One row a step: text, reply, own score, truth."""
    return pd.DataFrame(
        [
            {
                "item_id": item,
                "responder": responder,
                "step": step,
                "condition": "",
                "language": "yor-en",
                "text": text,
                "reply": reply,
                "score": said,
                "truth": truth,
                "fine": True,
                "status": "ok",
            }
            for step, (text, reply, said, truth) in enumerate(steps)
        ]
    )


def test_a_sound_chain_has_no_finding():
    found = chains.cells(
        chain(("a", "x", -9, 0.5), ("b", "y", -5, 0.6), ("b", "y", -5, 0.6), ("c", "z", 0, 0.1))
    )
    assert found["text_changed"].tolist() == [0, 1, 0, 1]
    assert not found["contaminated"].any()
    rest = [name for name in chains.COUNTS if name != "text_changed"]
    assert (found[rest] == 0).all(axis=None)


@pytest.mark.parametrize(
    ("second", "finding"),
    [
        (("a", "y", -5, 0.5), "rescored"),
        (("b", "y", -10, 0.6), "self_decreased"),
        (("b", "y", -5, 0.5), "text_without_truth"),
        (("a", "x", -9, 0.7), "truth_without_text"),
        (("[BLOCKED]", "y", -5, 0.6), "blocked_texts"),
        ((" ", "y", -5, 0.6), "empty_texts"),
        (("Sure, here's an improved translation: b", "y", -5, 0.6), "boilerplate"),
    ],
)
def test_each_fault_is_counted_at_its_step(second, finding):
    found = chains.cells(chain(("a", "x", -9, 0.5), second))
    assert found[finding].tolist() == [0, 1]
    faults = set(chains.COUNTS) - {"text_changed", finding}
    assert (found[list(faults)] == 0).all(axis=None)


def test_scores_of_another_run_contaminate_all_that_follows():
    found = chains.cells(
        chain(("a", "x", -9, 0.5), ("a", "x", -9, 0.7), ("b", "y", -5, 0.8), ("b", "y", -5, 0.8))
    )
    assert found["contaminated"].tolist() == [False, True, True, True]


def test_boilerplate_contaminates_from_a_tenth_on():
    many = [chain(("a", "x", -9, 0.5), item=f"yor-en/{i}") for i in range(18)]
    one = chain(("Sure! Here is the translation: a", "x", -9, 0.5), item="yor-en/19")
    two = chain(("Here's a better translation: a", "x", -9, 0.5), item="yor-en/20")
    assert not chains.cells(pd.concat([*many, one]))["contaminated"].any()
    assert chains.cells(pd.concat([*many, one, two]))["contaminated"].tolist() == [True]


def test_a_coarse_truth_may_stay_while_the_text_changes():
    rows = chain(("a", "x", 0, 1.0), ("b", "y", 1, 1.0)).assign(fine=False)
    assert chains.cells(rows)["text_without_truth"].tolist() == [0, 0]


def test_a_step_without_its_predecessor_is_linked_to_nothing():
    rows = chain(("a", "x", -9, 0.5), ("b", "y", -5, 0.6), ("b", "y", -9, 0.1)).query("step != 1")
    assert chains.links(rows)["self_decreased"].tolist() == [False, False]


@pytest.mark.parametrize(
    ("item", "condition", "language"),
    [
        ("yor-en/12", "", "yor-en"),
        ("best-of-8/yor-en/12", "best-of-8", "yor-en"),
        ("paraphrase/nllb-moe-54b/yor-en/12", "paraphrase/nllb-moe-54b", "yor-en"),
    ],
)
def test_an_item_is_addressed_by_its_name(item, condition, language):
    found = chains.addressed(pd.Series([item])).iloc[0]
    assert (found["condition"], found["language"]) == (condition, language)
