"""Single summaries, conditions and proofs; the whole study on a cut-down release and on less."""

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY, entry, pin
from panickssery_frames import frames_of
from panickssery_release import files as whole_release
from scipy.stats import mannwhitneyu

from selfpref import tables
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.panickssery import defects, evaluators
from selfpref.studies.panickssery import read as archive
from selfpref.studies.panickssery.individual import auroc, individual, scores

BOOTSTRAP = ClusterBootstrap(200, seed=1)
PUBLISHED = pd.read_csv(REPOSITORY / "data/published/panickssery.csv")
# As the issue and every reader of these files were promised them.
PROMISED = {
    "pairwise": "dataset evaluator other task convention mean se lo hi n ambiguous",
    "correlation": "dataset subset convention r slope intercept n lo hi families",
    "individual": "dataset evaluator target task statistic value lo hi n",
    "inverted": "dataset evaluator prefer worse mean n pattern",
}


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    root = tmp_path_factory.mktemp("mirror")
    patch = pytest.MonkeyPatch()
    patch.setenv("SELFPREF_ARCHIVES", str(root))
    source = pin(root, "owner/name", whole_release(), root / "source.csv")
    found = archive.read("set", entry("panickssery", "panickssery"), source)
    patch.undo()
    return found


@pytest.fixture(scope="module")
def frames(release, tmp_path_factory):
    return frames_of(tmp_path_factory.mktemp("frames"), release)


@pytest.mark.parametrize("name", PROMISED)
def test_the_promised_columns(frames, name):
    assert list(frames[name].columns) == PROMISED[name].split()


def test_every_evaluator_has_both_questions_by_every_source_and_convention(frames):
    table = frames["pairwise"]
    counted = table.groupby(["dataset", "evaluator"]).size()
    # Two tasks, two conventions, four sources and all of them.
    assert (counted == 20).all()
    assert len(counted) == 2 * 12


def test_one_who_always_answers_1_recognises_nothing_once_corrected(frames):
    rows = frames["pairwise"].query("task == 'recognition' and other == 'all'")
    rows = rows[rows["evaluator"].str.contains("always")].set_index(["dataset", "evaluator"])
    corrected = rows[rows["convention"].eq("corrected")]["mean"]
    assert np.allclose(corrected, 0.5, atol=1e-5)
    released = rows[rows["convention"].eq("released")]["mean"]
    assert released["cnn", "cnn_always_1_ft_llama"] > 0.95


def test_swapped_labels_are_the_swapped_rows_of_the_random_run(frames):
    pairs = frames["pairs"]
    key = ["dataset", "evaluator", "other", "item_id"]
    gpt = pairs[pairs["evaluator"].eq("gpt4")]
    swapped, random = (
        gpt[gpt["variant"].eq(name)].astype(dict.fromkeys(key, "str"))
        for name in ("labels-swapped", "labels-random-swapped")
    )
    both = swapped.merge(random, on=key, suffixes=("", "_random"))
    assert len(both) > 20
    assert np.allclose(both["corrected"], both["corrected_random"])
    wrong = both["dataset"].eq("xsum")
    assert np.allclose(both.loc[wrong, "released"], 1 - both.loc[wrong, "released_random"])
    assert np.allclose(both.loc[~wrong, "released"], both.loc[~wrong, "released_random"])


def test_the_proof_of_the_sign(frames):
    table = defects.swapped_labels(frames["pairs"]).set_index("dataset")
    assert table.loc["xsum", ["as_own", "as_inverse"]].tolist() == [0, 1]
    assert table.loc["cnn", ["as_own", "as_inverse"]].tolist() == [1, 0]
    assert table["r_corrected"].tolist() == pytest.approx([1, 1])
    assert table.loc["xsum", "r_released"] == pytest.approx(-1)


def test_the_proof_of_the_position_bias_and_of_the_swap(frames):
    table = defects.stored_as(frames["pairs"]).set_index(["dataset", "evaluator", "task"])
    tuned = table.xs("xsum_2_ft_llama", level="evaluator")
    assert (tuned["as_position"] == 1).all()
    assert (tuned["as_own"] < 0.2).all()
    assert (tuned["reading"] == defects.POSITION).all()
    swapped = table.loc["xsum"].loc["cnn_length_ft_llama"]
    assert (swapped["distance_other"] < 1e-9).all()
    assert (swapped["distance"] > 0.01).all()
    assert (swapped["reading"] == defects.OTHER_QUESTION).all()
    right = table.loc["cnn"].loc["cnn_length_ft_llama"]
    assert (right["as_own"] == 1).all()
    assert (right["reading"] == defects.CONFIDENCE).all()


def test_a_swap_cannot_be_told_where_both_questions_are_answered_alike(frames):
    pairs = frames["pairs"].query("evaluator == 'xsum_2_ft_llama' and variant == 'plain'")
    alike = pairs.assign(forward=0.5, backward=0.5, undivided=0.4, released=0.5, position=0.9)
    assert set(defects.stored_as(alike)["reading"]) == {defects.EITHER}
    # Undivided probabilities tell questions apart whose confidences are one.
    first = pairs["task"].eq("recognition")
    swapped = alike.assign(undivided=np.where(first, 0.4, 0.3), released=np.where(first, 0.3, 0.4))
    assert set(defects.stored_as(swapped)["reading"]) == {defects.OTHER_QUESTION}


def test_what_the_always_1_model_stores_is_one_number_in_every_table(frames):
    who = ["dataset", "evaluator", "task"]
    answered = frames["always_first"].query("evaluator.str.contains('llama')").set_index(who)
    stored = frames["stored_as"].set_index(who).loc[answered.index]
    assert np.allclose(answered["released"], stored["released"])
    # The pair without an answer, for which the release stores ½, is in neither.
    filled = frames["fills"].set_index(who)
    assert np.allclose(answered.loc[filled.index, "released"], filled["without"])


def test_the_proof_of_the_fills(frames):
    row = defects.fills(frames["pairs"]).iloc[0]
    assert (row["filled"], row["at_half"]) == (1, 1)
    table = frames["pairwise"].query("other == 'all' and task == 'recognition'")
    table = table[table["evaluator"].eq("cnn_always_1_ft_llama")].set_index(
        ["dataset", "convention"]
    )
    # The pair without an answer is dropped once corrected.
    assert table.loc[("cnn", "released"), "n"] == table.loc[("cnn", "corrected"), "n"] + 1


def test_the_proof_of_the_articles_tuned_on(frames):
    # New summaries apart, no file of the cut-down release has any.
    assert defects.tuned_on(frames["pairs"]).empty
    early = frames["pairs"].assign(held_out=frames["pairs"]["item_id"].ne("xsum/xsum-500"))
    table = defects.tuned_on(early)
    assert set(table["dataset"]) == {"xsum"}
    assert (table["tuned_on"] < table["n"]).all()


def test_a_second_name_and_a_broken_model_are_marked(frames):
    who = frames["evaluators"].set_index("evaluator")
    assert who.loc["xsum_always_1_ft_gpt35", "duplicate_of"] == "xsum_random_ft_gpt35"
    assert who["duplicate_of"].ne("").sum() == 2
    # All grades of this one are not a number.
    assert who.index[who["degenerate"]].tolist() == ["cnn_length_ft_llama"]
    assert who.loc["cnn_length_ft_llama", "broken"] == 1


def test_labels_stand_beside_the_plain_question_and_tell_the_orders(frames):
    table = frames["labels"].query("other == 'all' and convention == 'corrected'")
    found = table.groupby("evaluator")["labels"].unique().map(set)
    shown = {"none", "correct", "swapped", "random-correct", "random-swapped"}
    assert found["gpt4"] == shown
    assert table[table["evaluator"].eq("llama") & table["labels"].ne("none")]["orders"].eq(1).all()
    assert table[table["evaluator"].eq("gpt4")]["orders"].eq(2).all()


def test_the_order_of_the_rows_changes_no_number(release, frames, tmp_path):
    mixed = {name: table.sample(frac=1, random_state=3) for name, table in release.items()}
    again = frames_of(tmp_path, mixed)
    for name, frame in frames.items():
        if name != "audit":
            pd.testing.assert_frame_equal(frame, again[name], obj=name)


def test_every_published_number_names_a_frame_and_its_columns(frames):
    for row in PUBLISHED.itertuples():
        named = {part.partition("=")[0] for part in row.where.split()}
        assert {*named, row.quantity} <= set(frames[row.item].columns), row
    assert PUBLISHED[["source", "place", "how_read"]].notna().all().all()
    assert not PUBLISHED.duplicated(["item", "where", "quantity"]).any()


def test_a_number_of_our_own_is_a_self_check_and_names_no_table_of_the_release():
    own = PUBLISHED["how_read"].str.startswith("self-check of the reader")
    assert PUBLISHED.loc[~own, "how_read"].eq("copied from the printed table").all()
    assert PUBLISHED.loc[~own, "place"].str.startswith("output of cell").all()
    assert not PUBLISHED.loc[own, "place"].str.contains("cell").any()


def test_a_published_number_stands_beside_the_recomputed_one(frames):
    table = frames["checks"]
    assert len(table)
    both = table.dropna()
    assert np.allclose(both["difference"], both["recomputed"] - both["published"])
    row = table[table["where"].str.contains("evaluator=gpt4 other=all task=preference")].iloc[0]
    assert row["item"] == "pairwise"
    means = frames["pairwise"].query(
        "evaluator == 'gpt4' and other == 'all' and task == 'preference'"
    )
    chosen = means[means["dataset"].eq("xsum") & means["convention"].eq("released")]
    assert row["recomputed"] == chosen["mean"].item()


# What the testbed has: no stored scores, no audit, perhaps no ratings and no second wording.


def test_without_stored_scores_there_is_one_convention_and_empty_tables_are_no_error(
    release, tmp_path
):
    verdicts = release["verdicts"]
    few = verdicts[verdicts["variant"].eq("plain") & verdicts["task"].ne("inferiority")]
    few = few[
        few["judge"].isin(["gpt35", "llama", "xsum_2_ft_llama"])
        & few["item_id"].str.startswith("cnn")
    ]
    bare = release | {name: tables.empty(name) for name in ("ratings", "audit")}
    frames = frames_of(tmp_path, bare | {"verdicts": few.assign(stored=np.nan)})
    assert set(frames["pairwise"]["convention"]) == {"corrected"}
    for name, columns in PROMISED.items():
        assert list(frames[name].columns) == columns.split(), name
    for name in ("inverted", "individual", "labels", "audit", "checks"):
        assert frames[name].empty, name
    for defect in (defects.stored_as, defects.swapped_labels, defects.fills, defects.tuned_on):
        assert defect(frames["pairs"]).empty


# Single summaries, by hand.


def ratings(rows):
    """judge, responder, article, score and, where it differs, what the source stored."""
    return pd.DataFrame(
        [
            {
                "item_id": f"set/{number}",
                "responder": responder,
                "judge": judge,
                "task": "recognition",
                "variant": "plain",
                "score": score,
                "stored": more[0] if more else score,
                "status": "unparsable" if np.isnan(score) else "ok",
            }
            for judge, responder, number, score, *more in rows
        ]
    )


ITEMS = pd.DataFrame(
    {
        "item_id": [f"set/{number}" for number in range(4)],
        "cluster": [f"set/{number}" for number in range(4)],
        "metadata": [f'{{"index": {number}}}' for number in range(4)],
    }
)
WHO = evaluators.from_names(["a", "b", "c"])


def values(rows, who=WHO):
    table = individual(scores(ratings(rows), ITEMS, who), who, BOOTSTRAP)
    return table.set_index(["evaluator", "target", "statistic"])["value"]


def test_difference_ratio_and_auroc_by_hand():
    found = values([("a", "a", 0, 0.6), ("a", "b", 0, 0.2), ("a", "a", 1, 0.4), ("a", "b", 1, 0.4)])
    assert found["a", "b", "difference"] == pytest.approx(0.2)
    assert found["a", "b", "ratio"] == pytest.approx((0.75 + 0.5) / 2)
    # 0.6 beats both, 0.4 beats one and ties one.
    assert found["a", "b", "auroc"] == pytest.approx(3.5 / 4)
    assert found["a", "a", "ratio"] == 0.5
    assert ("a", "a", "auroc") not in found.index
    assert found["a", "all", "mean"] == pytest.approx(0.3)


def test_the_gap_takes_out_what_those_see_who_wrote_neither():
    rows = [("a", "a", 0, 0.9), ("a", "b", 0, 0.3)]
    # c wrote neither and sees a difference of 0.2; b's view of its own text does not count.
    rows += [("c", "a", 0, 0.6), ("c", "b", 0, 0.4), ("b", "a", 0, 0.1), ("b", "b", 0, 0.9)]
    found = values(rows)
    assert found["a", "b", "difference"] == pytest.approx(0.6)
    assert found["a", "b", "gap"] == pytest.approx(0.4)


def test_the_ratio_is_of_stored_scores_and_another_of_corrected_ones_both_on_held_out_articles():
    who = evaluators.from_names(["a", "set_2_ft_a"])
    rows = []
    for number in range(4):
        rows += [
            ("set_2_ft_a", "a", number, 0.8, 0.6),
            ("set_2_ft_a", "b", number, 0.2, 0.2 if number < 2 else 0.6),
        ]
    found = values(rows, who)
    # The stored 0.6 and 0.2 of articles 0 and 1, which it was tuned on, do not enter.
    assert found["set_2_ft_a", "b", "ratio"] == pytest.approx(0.5)
    assert found["set_2_ft_a", "b", "ratio_corrected"] == pytest.approx(0.8)
    table = individual(scores(ratings(rows), ITEMS, who), who, BOOTSTRAP)
    counted = table.set_index(["target", "statistic"])["n"]
    assert (counted["b", "ratio"], counted["b", "ratio_corrected"]) == (2, 2)


def test_a_dropped_row_is_missing_and_counts_as_no_in_its_own_statistic_alone():
    rows = [("a", "b", 0, 0.4), ("a", "b", 1, np.nan), ("a", "a", 0, 0.5), ("a", "a", 1, 0.5)]
    found = values(rows)
    assert found["a", "b", "mean"] == pytest.approx(0.4)
    assert found["a", "b", "mean_missing_no"] == pytest.approx(0.2)


def test_the_auroc_is_mann_whitneys_and_its_error_that_of_the_jackknife(rng):
    own, other = rng.normal(0.5, 1, 80).round(1), rng.normal(0, 1, 160).round(1)
    at, others_at = np.arange(80), np.repeat(np.arange(80), 2)
    found = auroc(own, at, other, others_at, 0.95)
    wanted = mannwhitneyu(own, other).statistic / (80 * 160)
    assert found["value"] == pytest.approx(wanted)
    left = [
        mannwhitneyu(own[at != k], other[others_at != k]).statistic / (79 * 158) for k in range(80)
    ]
    error = np.sqrt(79 / 80 * ((np.array(left) - np.mean(left)) ** 2).sum())
    assert (found["hi"] - found["lo"]) / (2 * 1.959964) == pytest.approx(error, rel=0.02)
