"""Eq. 1, and what is measured with it: on rows written and counted by hand."""

import numpy as np
import pandas as pd
import pytest
from study_frames import equal
from xu_rows import SETTINGS, judged, truths_of

from selfpref.studies.xu import measures
from selfpref.studies.xu.bias import curves, read_as, summary, translation
from selfpref.studies.xu.measures import best_of_k, matched, reads_its_text, refined_by_noise

NAN = np.nan
GPT4, GEMINI = {"responder": "gpt-4"}, {"responder": "gemini"}
CORRECTED = {"convention": "corrected"}
# What most of these measures do not look at.
ASIDE = [
    judged([-20], 0, own=False, judge="other"),
    judged([-20], 0, condition="best-of-2"),
    judged([-20], 0, condition="paraphrase/x"),
    judged([1], 0, language="commongen", task="coverage"),
]
CHAIN = [
    *(judged([-9, -5], -10), judged([-7, -3], -6, step=1)),
    *(judged([-2, -2], -7, step=2), judged([-1, -1], NAN, step=3)),
]
# Scores and the metric's truths; people rated two sentences of each.
HELD = [
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


def whole(*parts):
    return pd.concat(parts, ignore_index=True)


def summed(*parts):
    return summary(read_as(whole(*parts), "released").assign(languages=2), SETTINGS, "x")


def test_a_cell_is_what_counts_and_its_change_what_counts_at_both_steps():
    said = ["ok", "unparsable", "ok", "truncated"]
    found = summed(
        judged([-1, NAN, -4, 0], [-2, -20, -6, NAN], status=said),
        judged([0, -3, -1, -7], [-5, -4, -4, -7], step=1),
        # Without any truth there is a mean score, and no bias.
        judged([-1, -3], NAN, step=2),
        judged([-4, -5], 0, language="b"),
        judged([-3, -9], -1, language="b", step=1),
    )
    none, later = [NAN] * 4, (1 / 24 + 0.7 - 17 / 18) / 2
    equal(
        found,
        "language step n unusable n_both self_mean truth_mean bias dskew "
        "self_change truth_change bias_change dskew_change",
        ["a", 0, 2, 2, 0, -2.5, -4, 1.5, 5 / 6, *none],
        ["a", 1, 4, 0, 2, -2.75, -5, 2.25, 19 / 36, 2, -0.5, 2.5, 1 / 24],
        ["a", 2, 0, 0, 0, -2, NAN, NAN, NAN, *none],
        ["b", 0, 2, 0, 0, -4.5, 0, -4.5, 17 / 18, *none],
        ["b", 1, 2, 0, 2, -6, -1, -5, 0.7, -1.5, -1, -0.5, 0.7 - 17 / 18],
        # Of the languages' values, not of one pool; of the steps that both reach.
        ["average", 0, 4, 2, 0, -3.5, -2, -1.5, 8 / 9, *none],
        ["average", 1, 6, 0, 4, -4.375, -3, -1.375, (19 / 36 + 0.7) / 2, 0.25, -0.75, 1, later],
    )


def test_a_change_is_paired_by_sentence_and_an_average_needs_every_language(rng):
    said, truth = rng.normal(-9, 6, (2, 30))
    parts = [judged(said, truth), judged(said + 2, truth, step=1), judged(said, NAN, language="b")]
    found = summed(*parts).set_index(["language", "step"])
    change = found.loc[("a", 1), ["bias_change", "bias_change_lo", "bias_change_hi"]]
    assert change.tolist() == pytest.approx([2, 2, 2])
    assert found.loc[("a", 1), "bias_hi"] > found.loc[("a", 1), "bias"] + 1
    equal(found.reset_index(), "step n bias", (0, 0, NAN), language="average")


def test_released_is_the_sources_own_rule_and_corrected_only_what_says_something():
    said = {"stored": [0, NAN, -1], "status": ["refused", "ok", "ok"]}
    rows = judged([-9, -2, -3], [-4, -5, -6], contaminated=[False, False, True], **said)
    found = whole(*(read_as(rows, name) for name in ("released", "corrected")))
    columns = "score truth"
    equal(found, columns, (0, -4), (-2, -5), (-1, -6), convention="released")
    equal(found, columns, (NAN, -4), (-2, -5), (-3, NAN), **CORRECTED)


def test_what_refinement_brings_by_the_last_step_with_a_truth():
    found = curves(whole(*CHAIN, judged([-3, -3], -5, condition="noise"), *ASIDE), SETTINGS)
    columns = "language model best_step last_step self_change truth_change bias_change n_both"
    equal(measures.gains(found), columns, ("a", "me", 1, 2, 5, 3, 2, 2), **CORRECTED)
    assert measures.gains(found[found["step"].eq(0)]).empty
    steps = [(0, 3), (1, 1), (2, 5), (3, NAN)]
    equal(translation(found), "step bias", *steps, **CORRECTED)
    steps = [("noise", 0, 2), *(("plain", *step) for step in steps)]
    other = measures.arms(found).sort_values(["condition", "step"])
    equal(other, "condition step bias", *steps, **CORRECTED)
    assert measures.arms(found[found["condition"].eq("")]).empty


def test_sizes_are_compared_on_the_sentences_that_count_for_both():
    rows = whole(
        judged([-5, -4, -9], [-10, -10, NAN], responder="small"),
        judged([-3, -1, -9], -10, responder="large"),
        judged([-5], -10, responder="small", language="b"),
        judged([-3], -1, responder="unlisted"),
    )
    found = measures.sizes(rows, SETTINGS)
    equal(found, "language model step difference", ("a", "large", 0, 2.5), **CORRECTED)


def test_the_headline_is_of_the_last_step_and_not_of_the_last_that_is_known():
    rows = [
        *(("average", "corrected", "a", 1, 4.0), ("average", "corrected", "a", 0, 1.0)),
        *(("average", "corrected", "b", 0, 2.0), ("average", "corrected", "b", 1, NAN)),
        *(("average", "released", "b", 1, 9.0), ("yor-en", "corrected", "b", 2, 9.0)),
    ]
    table = pd.DataFrame(rows, columns=["language", "convention", "model", "step", "bias"])
    equal(measures.first_and_last(table), "model first last", ("a", 1, 4), ("b", 2, NAN))


def test_each_best_of_k_stands_beside_a_judge_of_noise_on_its_own_candidates():
    candidates = (2, -9), (2, -3), *[(4, -1)] * 4
    rows = [judged([said] * 3, NAN, condition=f"best-of-{k}") for k, said in candidates]
    rows.append(judged([-3, -3, -1], -10, condition="best-of-2", step=1))
    rows.append(judged([-1] * 3, -10, condition="best-of-4", step=1))
    found = best_of_k(whole(*rows, *CHAIN), SETTINGS)
    # The greater of two draws is -3 in three of four; all of four are -1.
    columns = "language model k n self_mean truth_mean bias noise_bias beyond"
    two = ("a", "me", 2, 3, -7 / 3, -10, 23 / 3, 5.5, 13 / 6)
    equal(found, columns, two, ("a", "me", 4, 3, -1, -10, 9, 9, 0), **CORRECTED)
    # Scorings that read the same share their resamples.
    ((low, high),) = found.query("k == 2")[["beyond_lo", "beyond_hi"]].drop_duplicates().values
    assert low < 13 / 6 < high


def test_refinement_by_noise_keeps_the_greatest_of_all_draws_and_learns_nothing():
    words = {"language": "commongen", "task": "coverage"}
    rows = whole(
        judged([-9, -3, -25], [-10, -12, NAN]),
        judged([-3, -3, -25], [-9, -13, NAN], step=1),
        judged([-4, -4, -20], [-6, -6, -2], language="b"),
        judged([-2, -4, -2], [-6, -6, NAN], language="b", step=1),
        judged([0, 1], 0, **words),
        judged([1, 1], [0, 1], step=1, **words),
        *ASIDE[:3],
    )
    found = refined_by_noise(rows, SETTINGS)
    columns = "language noise_score noise_bias scores beyond"
    start = [("a", -6, 5, 2, NAN), ("b", -28 / 3, -14 / 3, 3, NAN)]
    start += [("average", -23 / 3, 1 / 6, 5, NAN), ("commongen", 0.5, 0.5, 2, NAN)]
    equal(found, columns, *start, step=0, **CORRECTED)
    later = [("a", -4.5, 6.5, 2, 8 - 6.5), ("b", -4, 2, 2, 3 - 2)]
    later += [("average", -4.25, 4.25, 4, 1.25), ("commongen", 0.75, 0.75, 2, 0.5 - 0.75)]
    equal(found, columns, *later, step=1, **CORRECTED)
    step = found.query("language == 'a' and step == 1")
    assert step.eval("noise_bias_lo < noise_bias < noise_bias_hi").all()


def test_own_texts_are_matched_within_bins_of_quality_and_with_another_judge_as_control():
    own, others = [-20] * 9 + [0], [-20] + [0] * 9
    control, yours = {"judge": "control", "own": False}, {"responder": "you", "own": False}
    parts = [judged([-9] * 9 + [1], own), judged([-10] + [0] * 9, others, **yours)]
    # The control sees three points more in one's own texts, one in those of others.
    parts.append(judged([truth + 3 for truth in own], own, **control))
    parts.append(judged([truth + 1 for truth in others], others, **yours | control))
    # Neither a later step nor another language than the others'; what the control wrote is no
    # other's text to itself.
    parts += [judged([-1], -20, step=1), judged([-1], -20, language="b")]
    # Neither a second reading nor one afresh.
    parts += [judged([-1], -20, **yours, **more) for more in ({"repeat": 1}, {"variant": "x"})]
    its = {"own": False, "responder": "control"}
    parts += [judged([-19], -20, **its), judged([-1], -20, **its | control)]
    columns = "judge control n_own n_others matched"
    wanted = [("me", "none", 10, 11, 5.05), ("me", "control", 10, 10, -1)]
    equal(matched(whole(*parts), SETTINGS), columns, *wanted, convention="released")


@pytest.mark.parametrize(
    ("found", "elsewhere", "reads"), [(4, 1, True), (8, 2, True), (3, 1, False), (7, 3, False)]
)
def test_a_reading_counts_where_it_quotes_its_texts_often_enough(found, elsewhere, reads):
    said = ["'the den' is a minor style error"] * found + ["'a lake' is a minor style error"]
    said = "\n".join([*said, *said[-1:] * (elsewhere - 1)])
    texts = {"own": False, "text": "To the den.", "source": "source", "reply": said}
    rows = judged([-1, -1], -5, **texts)
    others = judged([-1], -5, **texts | {"text": None, "judge": "you"})
    assert reads_its_text(whole(rows, others, CHAIN[0])).tolist() == [reads, reads, False]


def test_own_scores_are_held_against_peoples_and_the_printed_bias_stands_beside():
    printed = [("human", "gpt-4", 0, "bias", 8.06), ("human", "gpt-4", 10, "bias", 14.62)]
    ends = {"least share": 0.95, "greatest share": 0.9}
    printed += [("format", "", NAN, *end) for end in ends.items()]
    published = pd.DataFrame(printed, columns=["item", "model", "step", "quantity", "value"])
    found = measures.human(whole(*HELD), RATED, published, SETTINGS)
    columns = "model step human_mean metric_mean self_mean bias human_change noise_bias"
    rows = [("gemini", 0, -12.5, -12, -11, 1.5, NAN, 1.5)]
    # The greater of two draws from -5 and -1 is -2 in the mean.
    rows += [
        ("gpt-4", 0, -22.5, -8, -3, 19.5, NAN, 19.5),
        ("gpt-4", 1, -18, -7, -2.5, 15.5, 4.5, 20.5),
    ]
    equal(found, columns, *rows, language="a")
    assert found["bias_published"].fillna(0).tolist() == [0, 8.06, 0]
    form = pd.DataFrame({"step": [1, 5, 2], "well_formed": [0.7, 0.9, 0.1]})
    numbers = [(8.06, 19.5, 11.44), (14.62, NAN, NAN), (0.95, 0.7, -0.25), (0.9, 0.9, 0)]
    equal(measures.checks(found, form, published), "published recomputed difference", *numbers)
    assert measures.checks(found.replace({"gpt-4": "x"}), form, published).empty


def test_the_first_figure_shows_the_greatest_bias():
    found = measures.examples(whole(*HELD), RATED, SETTINGS)
    columns, cell = "language model step sentence said truth bias dskew", (19.5, 1 - 2 / 156)
    rows = [("a", "gpt-4", 0, "c0", -5, -25, *cell), ("a", "gpt-4", 0, "c1", -1, -20, *cell)]
    equal(found, columns, *rows)


def test_what_is_said_of_given_words_is_held_against_what_is_there():
    said = judged([1, 1, 0], 0, language="commongen", task="coverage")
    found = measures.commongen(whole(said, *HELD), SETTINGS)
    row = "me", 0, 2 / 3, 0, 2 / 3, 3
    assert found["convention"].tolist() == ["corrected", "released"]
    equal(found, "model step predicted true bias n", row, row)
    # Wilson's interval of none of 3.
    assert found.loc[0, ["true_lo", "true_hi"]].tolist() == pytest.approx([0, 0.562], abs=1e-3)


def test_a_bias_that_is_the_same_in_every_answer_has_newcombes_interval():
    math = {"language": "math", "task": "correctness"}
    rows = [judged([1] * 6, 0, condition="self-consistency", step=1, **math)]
    rows += [judged([1, 1, 0], [1, 0, 0], **math), judged([0, 1, 1], [0, 1, 0], step=1, **math)]
    found = measures.mathematics(whole(*rows, *HELD), SETTINGS)
    columns, third = "condition step predicted true bias n bias_change", 1 / 3
    wanted = [("plain", 0, 2 / 3, third, third, 3, NAN), ("plain", 1, 2 / 3, third, third, 3, 0)]
    equal(found, columns, *wanted, ("self-consistency", 1, 1, 0, 1, 6, NAN), language="math")
    assert found.loc[2, ["bias_lo", "bias_hi"]].tolist() == pytest.approx([0.448, 1], abs=1e-3)
    assert found.loc[2, ["dskew_lo", "dskew_hi"]].isna().all()
    assert found.loc[0, "bias_lo"] == 0


def test_a_paraphrase_is_compared_with_the_translation_that_it_puts_otherwise():
    place = {"condition": "paraphrase/nllb", "own": False}
    first = judged([-7, -5], [-10, -8], responder="nllb", **place)
    found = measures.style(whole(first, judged([-3, -1], -9, step=1, **place), *HELD), SETTINGS)
    wanted = [("nllb", "me", "paraphrase", 7, 4), ("nllb", "me", "translation", 3, NAN)]
    equal(found, "system judge text bias bias_change", *wanted, convention="released")


def test_the_form_of_feedback_counts_each_language_the_same():
    good = "'a' is a minor style error"
    said = {"reply": [good, f"{good}\n'b", "bad", None], "status": ["ok", "ok", "unparsable", "ok"]}
    rows = [judged([-1] * 4, -5, **said), judged([-1], -5, language="b", reply=good)]
    rows += [judged([-1], -5, step=1, reply=good), judged([-1], -5, own=False, reply="bad")]
    found = measures.format_accuracy(whole(*rows), SETTINGS)
    # Step 1 is there in one language alone.
    equal(found, "model step n well_formed usable", ("me", 0, 4, 2 / 3, 5 / 6))
    assert found.eval("0 < well_formed_lo < 2 / 3 < well_formed_hi < 1").all()
