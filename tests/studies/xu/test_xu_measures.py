"""What refinement brings, what noise would, and what is matched: on rows counted by hand."""

import numpy as np
import pandas as pd
import pytest
from study_frames import equal
from xu_rows import SETTINGS, judged, truths_of

from selfpref.studies.xu.bias import curves, rated, translation
from selfpref.studies.xu.controls import best_of_k, matched, reads_its_text, refined_by_noise
from selfpref.studies.xu.measures import arms, change, first_and_last, gains, sizes, skewness
from selfpref.studies.xu.skewness import null_band, sign_flips

NAN = np.nan
# What none of these measures looks at.
ASIDE = [
    judged([-20], 0, own=False, judge="other"),
    judged([-20], 0, condition="best-of-2"),
    judged([-20], 0, condition="paraphrase/x"),
    judged([1], 0, language="commongen", task="coverage"),
]
CHAIN = [
    judged([-9, -5], -10),
    judged([-7, -3], -6, step=1),
    judged([-2, -2], -7, step=2),
    judged([-1, -1], NAN, step=3),
]


def rows_of(table, convention="corrected", **chosen):
    for name, value in ({"convention": convention} | chosen).items():
        table = table[table[name].eq(value)]
    return table.reset_index(drop=True)


def test_what_refinement_brings_by_the_last_step_with_a_truth():
    noise = judged([-3, -3], -5, condition="noise")
    found = curves(pd.concat([*CHAIN, noise, *ASIDE], ignore_index=True), SETTINGS)
    assert translation(found)["convention"].value_counts().to_dict() == {
        "released": 4,
        "corrected": 4,
    }
    moved = "self_change truth_change bias_change dskew_change n_both"
    columns = f"language model best_step last_step {moved}"
    equal(rows_of(gains(found)), columns, ("a", "me", 1, 2, 5, 3, 2, 1 / 3, 2))
    equal(
        rows_of(change(found)),
        f"step {moved}",
        (1, 2, 4, -2, -1 / 3, 2),
        (2, 5, 3, 2, 1 / 3, 2),
        (3, NAN, NAN, NAN, NAN, 0),
    )
    steps = [("noise", 0, 2), ("plain", 0, 3), ("plain", 1, 1), ("plain", 2, 5), ("plain", 3, NAN)]
    other = rows_of(arms(found)).sort_values(["condition", "step"], ignore_index=True)
    equal(other, "condition step bias", *steps)
    assert arms(found[found["condition"].eq("")]).empty


def test_d_stands_beside_its_nulls_and_a_repeated_step_is_marked():
    same = judged([-9, -5], -10, step=1)
    parts = [CHAIN[0], same, judged([-8, -5], -10, step=2), judged([-9, -5], -10, language="b")]
    found = rows_of(skewness(pd.concat([*parts, *ASIDE[:3]], ignore_index=True), SETTINGS))
    values = [("a", 0, 2, 2 / 3, False), ("a", 1, 2, 2 / 3, True)]
    values += [("a", 2, 2, 1 - 6 / 28, False), ("b", 0, 2, 2 / 3, False)]
    equal(found, "language step n dskew repeated", *values)
    # The first values draw the first signs.
    rng = SETTINGS.intervals.rng("skewness", "me", "flips")
    nulls = (*sign_flips(np.array([1.0, 5.0]), 0.0, 100, 0.95, rng), *null_band(2, 0.95))
    first = found.loc[0, ["p", "flip_upper", "band_mean", "band_upper"]]
    assert first.tolist() == pytest.approx(nulls)


def test_sizes_are_compared_on_the_sentences_that_count_for_both():
    rows = [
        judged([-5, -4, -9], [-10, -10, NAN], responder="small"),
        judged([-3, -1, -9], -10, responder="large"),
        judged([-5], -10, responder="small", language="b"),
        judged([-3], -1, responder="unlisted"),
    ]
    rows = pd.concat(rows, ignore_index=True)
    found = rows_of(sizes(rows, translation(curves(rows, SETTINGS)), SETTINGS))
    columns = "language model step bias difference"
    equal(found, columns, ("a", "small", 0, 5.5, NAN), ("a", "large", 0, 17 / 3, 2.5))


def test_the_headline_is_of_the_last_step_and_not_of_the_last_that_is_known():
    rows = [
        ("average", "corrected", "a", 1, 4.0),
        ("average", "corrected", "a", 0, 1.0),
        ("average", "corrected", "b", 0, 2.0),
        ("average", "corrected", "b", 1, NAN),
        ("average", "released", "b", 1, 9.0),
        ("yor-en", "corrected", "b", 2, 9.0),
    ]
    table = pd.DataFrame(rows, columns=["language", "convention", "model", "step", "bias"])
    equal(first_and_last(table), "model first last", ("a", 1, 4), ("b", 2, NAN))


def test_each_best_of_k_stands_beside_a_judge_of_noise_on_its_own_candidates():
    def drawn(k, said, step=0):
        cluster = [f"c{n % 3}" for n in range(len(said))]
        items = [f"best-of-{k}/a/{n % 3}" for n in range(len(said))]
        truth = -10.0 if step else NAN
        place = {"condition": f"best-of-{k}", "cluster": cluster, "item_id": items}
        return judged(said, truth, step=step, **place)

    parts = [drawn(2, [-9, -9, -9, -3, -3, -3]), drawn(2, [-3, -3, -1], 1)]
    parts += [drawn(4, [-1.0] * 12), drawn(4, [-1] * 3, 1)]
    # Nothing that the judge said of these can be read.
    parts += [drawn(8, [NAN] * 8).assign(status="unparsable")]
    rows = pd.concat([*parts, *CHAIN], ignore_index=True)
    offered = pd.concat([parts[1], parts[3], parts[4]])
    found = rows_of(best_of_k(rows, truths_of("bleurt", offered, CHAIN[0]), SETTINGS))
    columns = "language model k n unusable self_mean truth_mean bias"
    columns += " noise_bias beyond"
    # The greater of two draws is -3 in three of four; all of four are -1.
    chosen = -7 / 3
    equal(
        found,
        columns,
        ("a", "me", 2, 3, 0, chosen, -10, chosen + 10, 5.5, chosen + 4.5),
        ("a", "me", 4, 3, 0, -1, -10, 9, 9, 0),
        ("a", "me", 8, 0, 0, *[NAN] * 5),
    )
    two, four = (found.loc[n, ["beyond_lo", "beyond_hi"]].tolist() for n in (0, 1))
    assert four == [0, 0]
    assert two[0] < chosen + 4.5 < two[1]


def test_refinement_by_noise_keeps_the_greatest_of_all_draws_and_learns_nothing():
    parts = [
        judged([-9, -3, -25], [-10, -12, NAN]),
        judged([-3, -3, -25], [-9, -13, NAN], step=1),
        judged([-4, -4], -6, language="b"),
        judged([-2, -4], -6, language="b", step=1),
        judged([0, 1], 0, language="commongen", task="coverage"),
        judged([1, 1], [0, 1], language="commongen", task="coverage", step=1),
    ]
    found = refined_by_noise(pd.concat([*parts, *ASIDE[:3]], ignore_index=True), SETTINGS)
    columns = "language model step noise_score noise_bias scores beyond"
    equal(
        rows_of(found),
        columns,
        ("a", "me", 0, -6, 5, 2, NAN),
        ("a", "me", 1, -4.5, 6.5, 2, 8 - 6.5),
        ("b", "me", 0, -4, 2, 2, NAN),
        ("b", "me", 1, -4, 2, 2, 3 - 2),
        ("average", "me", 0, -5, 3.5, 4, NAN),
        ("average", "me", 1, -4.25, 4.25, 4, 1.25),
        ("commongen", "me", 0, 0.5, 0.5, 2, NAN),
        ("commongen", "me", 1, 0.75, 0.75, 2, 0.5 - 0.75),
    )
    bounds = rows_of(found).loc[1, ["noise_bias_lo", "noise_bias", "noise_bias_hi"]].tolist()
    assert bounds[0] < bounds[1] < bounds[2]


def test_own_texts_are_matched_within_bins_of_quality_and_with_another_judge_as_control():
    def read(name, responder, said, truth, count):
        place = {"item_id": [f"a/{name}{n}" for n in range(count)], "responder": responder}
        place |= {"cluster": [f"{name}{n}" for n in range(count)]}
        own = responder == "me"
        texts = judged([said] * count, truth, own=own, **place)
        # The control sees two points more in one's own texts, one in those of measures.
        given = [truth + 2 if own else truth + 1] * count
        return [texts, judged(given, truth, judge="control", own=False, **place)]

    parts = [*read("x", "me", -9, -20, 9), *read("y", "me", 1, 0, 1)]
    parts += [*read("z", "you", -10, -20, 1), *read("w", "you", 0, 0, 9)]
    # Neither a later step nor another language than the others'; what the control wrote is no
    # other's text to itself.
    parts += [judged([-1], -20, step=1), judged([-1], -20, language="b")]
    its = {"item_id": ["a/v"], "own": False, "responder": "control"}
    parts += [judged([-19], -20, **its), judged([-1], -20, judge="control", **its)]
    found = rows_of(matched(pd.concat(parts, ignore_index=True), SETTINGS), "released")
    columns = "judge control n_own n_others own_gap others_gap difference"
    equal(
        found,
        f"{columns} matched",
        ("me", "none", 10, 11, 10, 1, 9, 5.05),
        ("me", "control", 10, 10, 8, 0, 8, 0),
    )


@pytest.mark.parametrize(
    ("found", "elsewhere", "reads"), [(4, 1, True), (8, 2, True), (3, 1, False), (7, 3, False)]
)
def test_a_reading_counts_where_it_quotes_its_texts_often_enough(found, elsewhere, reads):
    said = ["'the den' is a minor style error"] * found + ["'a lake' is a minor style error"]
    said = "\n".join([*said, *said[-1:] * (elsewhere - 1)])
    texts = {"own": False, "text": "To the den.", "source": "source", "reply": said}
    rows = judged([-1, -1], -5, **texts)
    others = judged([-1], -5, **texts | {"text": None, "judge": "you"})
    found = reads_its_text(pd.concat([rows, others, CHAIN[0]], ignore_index=True))
    assert found.tolist() == [reads, reads, False]


def test_a_truth_on_another_scale_than_the_scores_ends_in_a_line():
    rows = judged([-5.0], NAN)[["item_id", "responder", "step", "judge", "task", "status"]]
    rows = rows.assign(variant="plain", repeat=0, sample=0, score=-5.0, stored=NAN, reply="r")
    items = pd.DataFrame({"item_id": ["a/0"], "cluster": "c0", "messages": [[{"content": "x"}]]})
    tables = {"items": items, "ratings": rows, "responses": rows.assign(text="t")}
    tables["truths"] = truths_of(SETTINGS.use.truth, judged([-5], 0.8))
    with pytest.raises(Exception, match=r"xu\.truth: .* goes from 0\.8 to 0\.8, judges .* -25 to"):
        rated(tables, SETTINGS)
