"""People's ratings, given words, mathematics, paraphrases and the format of feedback, by hand."""

import numpy as np
import pandas as pd
import pytest
from study_frames import equal
from xu_rows import SETTINGS, judged, truths_of

from selfpref.studies.xu import measures

NAN = np.nan
GPT4, GEMINI = {"responder": "gpt-4"}, {"responder": "gemini"}
# Scores and the metric's truths; people rated two sentences of each.
ROWS = [
    judged([-5, -1, -9], [-10, -6, -20], **GPT4),
    judged([-4, -1, -1], [-6, -8, -20], step=1, **GPT4),
    judged([-10, -12], [-11, -13], **GEMINI),
    judged([0, 0], -1, condition="noise", **GPT4),
]
RATED = truths_of(
    "human-mqm",
    judged([0, 0], [-25, -20], **GPT4),
    judged([0, 0], [-20, -16], step=1, **GPT4),
    judged([0, 0], [-12, -13], **GEMINI),
    judged([0, 0], -25, condition="noise", **GPT4),
)
HELD = pd.concat(ROWS, ignore_index=True)
PUBLISHED = pd.DataFrame(
    [
        ("human", "gpt-4", 0, "bias", 8.06),
        ("human", "gpt-4", 10, "bias", 14.62),
        ("human", "gpt-4", 0, "dskew", 0.5),
        ("format", "", NAN, "least share", 0.95),
        ("format", "", NAN, "greatest share", 0.96),
    ],
    columns=["item", "model", "step", "quantity", "value"],
).assign(source="paper", place="Table 1", how_read="printed")


def test_own_scores_are_held_against_peoples_and_the_printed_bias_stands_beside():
    found = measures.human(HELD, RATED, PUBLISHED, SETTINGS)
    columns = "model step human_mean self_mean bias dskew n bias_change"
    equal(
        found,
        f"{columns} human_change noise_bias bias_published",
        ("gemini", 0, -12.5, -11, 1.5, 5 / 6, 2, NAN, NAN, 1.5, NAN),
        ("gpt-4", 0, -22.5, -3, 19.5, 1 - 2 / 156, 2, NAN, NAN, 19.5, 8.06),
        # The greater of two draws from -5 and -1 is -2 in the mean.
        ("gpt-4", 1, -18, -2.5, 15.5, 1 - 2 / 124, 2, -4, 4.5, 20.5, NAN),
    )
    form = pd.DataFrame(
        [("average", 1, 0.7), ("average", 5, 0.9), ("average", 2, 0.1), ("a", 1, 0.2)],
        columns=["language", "step", "well_formed"],
    )
    table = measures.checks(found, form, PUBLISHED)
    numbers = [(8.06, 19.5, 11.44), (14.62, NAN, NAN), (0.5, 19.5, 19.0)]
    numbers += [(0.95, 0.7, -0.25), (0.96, 0.9, -0.06)]
    equal(table, "published recomputed difference", *numbers)
    # What the paper prints stands only beside its models.
    assert measures.checks(found.replace({"model": {"gpt-4": "x"}}), form, PUBLISHED).empty


def test_the_metric_stands_beside_people_on_the_same_sentences():
    found = measures.human_truth(HELD, RATED, SETTINGS)
    columns = "language model step human_mean truth_mean n correlation"
    equal(
        found,
        columns,
        ("a", "gemini", 0, -12.5, -12, 2, 1.0),
        ("a", "gpt-4", 0, -22.5, -8, 2, 1),
        ("a", "gpt-4", 1, -18, -7, 2, -1),
    )
    assert (found["human_mean_lo"] < found["human_mean"]).all()
    assert (found["human_mean"] < found["human_mean_hi"]).all()


def test_one_figure_shows_the_greatest_bias_and_one_an_asymmetry_without_any():
    found = measures.examples(HELD, RATED, SETTINGS)
    columns = "figure language model step sentence said truth bias dskew"
    gpt4 = ("gpt-4", 0)
    equal(
        found.head(2),
        columns,
        (1, "a", *gpt4, "c0", -5, -25, 19.5, 1 - 2 / 156),
        (1, "a", *gpt4, "c1", -1, -20, 19.5, 1 - 2 / 156),
    )
    made = found[found["figure"].eq(2)]
    assert (made["said"] - made["truth"]).value_counts().to_dict() == {-2: 80, 8: 20}
    assert set(made["model"]) == {"made up"}
    assert made["bias"].eq(0).all()
    assert made["dskew"].gt(0.1).all()


def test_what_is_said_of_given_words_is_held_against_either_matcher():
    said = judged([1, 1, 0], NAN, language="commongen", task="coverage")
    lemma, surface = (
        truths_of(f"coverage-{name}", said.assign(truth=held))
        for name, held in (("lemma", [1, 0, 0]), ("surface", 0))
    )
    rows = pd.concat([said, HELD], ignore_index=True)
    found = measures.commongen(rows, pd.concat([lemma, surface]), SETTINGS)
    columns = "model step convention matcher predicted true bias n"
    names = ("me", 0)
    equal(
        found,
        columns,
        (*names, "corrected", "lemma", 2 / 3, 1 / 3, 1 / 3, 3),
        (*names, "corrected", "surface", 2 / 3, 0, 2 / 3, 3),
        (*names, "released", "lemma", 2 / 3, 1 / 3, 1 / 3, 3),
        (*names, "released", "surface", 2 / 3, 0, 2 / 3, 3),
    )
    # Wilson's intervals: 2 of 3, worth two observations, and 0 of 3.
    bounds = found.loc[1, ["predicted_lo", "predicted_hi", "true_lo", "true_hi"]].tolist()
    assert bounds == pytest.approx([0.159, 0.955, 0, 0.562], abs=1e-3)


def test_a_bias_that_is_the_same_in_every_answer_has_newcombes_interval():
    math = {"language": "math", "task": "correctness"}
    rows = [judged([1] * 6, 0, condition="self-consistency", step=1, **math)]
    rows += [judged([1, 1, 0], [1, 0, 0], **math), judged([0, 1, 1], [0, 1, 0], step=1, **math)]
    found = measures.mathematics(pd.concat([*rows, *ROWS], ignore_index=True), SETTINGS)
    columns = "condition language model step predicted true bias n"
    equal(
        found,
        f"{columns} bias_change",
        ("plain", "math", "me", 0, 2 / 3, 1 / 3, 1 / 3, 3, NAN),
        ("plain", "math", "me", 1, 2 / 3, 1 / 3, 1 / 3, 3, 0),
        ("self-consistency", "math", "me", 1, 1, 0, 1, 6, NAN),
    )
    last = found.iloc[2]
    assert last[["bias_lo", "bias_hi"]].tolist() == pytest.approx([0.448, 1], abs=1e-3)
    assert last[["dskew_lo", "dskew_hi"]].isna().all()
    assert found.iloc[0]["bias_lo"] == 0


def test_a_paraphrase_is_compared_with_the_translation_that_it_puts_otherwise():
    place = {"condition": "paraphrase/nllb", "own": False}
    rows = [judged([-7, -5], [-10, -8], responder="nllb", **place)]
    rows += [judged([-3, -1], [-9, -9], step=1, **place), *ROWS]
    found = measures.style(pd.concat(rows, ignore_index=True), SETTINGS)
    columns = "language system judge text convention bias bias_change"
    equal(
        found[found["convention"].eq("released")],
        f"{columns} self_change",
        ("a", "nllb", "me", "paraphrase", "released", 7, 4, 4),
        ("a", "nllb", "me", "translation", "released", 3, NAN, NAN),
    )


def test_the_form_of_feedback_counts_each_language_the_same():
    good = "'a' is a minor style error"
    said = [good, f"{good}\n'b", "bad", None]
    status = ["ok", "ok", "unparsable", "ok"]
    rows = [judged([-1] * 4, -5, reply=said, status=status)]
    rows += [judged([-1], -5, language="b", reply=good), judged([-1], -5, step=1, reply=good)]
    rows += [judged([-1], -5, own=False, reply="bad")]
    found = measures.format_accuracy(pd.concat(rows, ignore_index=True), SETTINGS)
    columns = "language model step n well_formed but_for_cut usable"
    equal(
        found,
        columns,
        ("a", "me", 0, 3, 1 / 3, 2 / 3, 2 / 3),
        ("a", "me", 1, 1, 1, 1, 1),
        ("b", "me", 0, 1, 1, 1, 1),
        ("average", "me", 0, 4, 2 / 3, 5 / 6, 5 / 6),
    )
    bounds = found.loc[0, ["well_formed_lo", "well_formed_hi"]].tolist()
    assert bounds == pytest.approx([0.045, 0.841], abs=1e-3)
