"""The whole study on small releases: columns, counts, laws, and what an empty selection gives."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from conftest import PUBLISHED, SETTINGS, counted, entry, mt_bench_files, pin, vicuna80_files

from selfpref import tables
from selfpref.studies.wataoka.measure import compute
from selfpref.studies.wataoka.measure.example import quoted
from selfpref.studies.wataoka.read import mt_bench, vicuna80

# As the issue and every reader of the figure's table were promised them.
COLUMNS = [
    "dataset",
    "judge",
    "n",
    "tp",
    "fn",
    "fp",
    "tn",
    "eo",
    "eo_lo",
    "eo_hi",
    "dp",
    "dp_lo",
    "dp_hi",
    "excess",
    "excess_lo",
    "excess_hi",
    "excess_common",
    "excess_half_ties",
    "flip_rate",
    "n_dropped",
    "n_human_own",
    "n_human_other",
    "few",
    "eo_others",
    "eo_others_lo",
    "eo_others_hi",
    "excess_few",
    "excess_common_few",
    "excess_half_ties_few",
    "eo_no_preference",
    "eo_no_preference_lo",
    "eo_no_preference_hi",
    "eo_one_vote",
    "eo_one_vote_lo",
    "eo_one_vote_hi",
    "beyond_no_preference",
    "beyond_no_preference_lo",
    "beyond_no_preference_hi",
    "n_two_votes",
    "no_preference_status",
]


@pytest.fixture(scope="module")
def datasets(tmp_path_factory):
    root = tmp_path_factory.mktemp("mirror")
    patch = pytest.MonkeyPatch()
    patch.setenv("SELFPREF_ARCHIVES", str(root))
    made = {}
    for name, module, files, judges in (
        ("mt-bench", mt_bench, mt_bench_files(12), ["gpt-4"]),
        ("vicuna80", vicuna80, vicuna80_files(12), list(vicuna80.NAMES.values())),
    ):
        source = pin(root, f"owner/{name}", files, root / f"{name}.csv")
        found = module.read(name, entry("wataoka", name, judges), source)
        none = {key: tables.empty(key) for key in ("truths", "perplexities")}
        made[name] = none | {key: tables.validate(f, key, name) for key, f in found.items()}
        made[name] |= {"texts": found["responses"], "responses": counted(found["responses"])}
    patch.undo()
    return made


@pytest.fixture(scope="module")
def frames(datasets):
    return compute(datasets, PUBLISHED, SETTINGS)


def test_fig1b_has_exactly_the_promised_columns_and_rows(frames):
    table = frames["fig1b_bias"]
    assert list(table.columns) == COLUMNS
    assert table[["dataset", "judge"]].values.tolist() == [
        ["mt-bench", "gpt-4"],
        *(["vicuna80", judge] for judge in sorted(vicuna80.NAMES.values())),
    ]


def test_every_labelled_own_pair_is_counted_or_dropped(frames):
    table = frames["fig1b_bias"].set_index(["dataset", "judge"])
    # 12 questions x 2 turns x 2 opponents; 12 questions x 4 opponents.
    assert table.loc[("mt-bench", "gpt-4"), ["n", "n_dropped"]].sum() == 48
    assert (table.loc["vicuna80"][["n", "n_dropped"]].sum(axis=1) == 48).all()
    assert (table[["tp", "fn", "fp", "tn"]].sum(axis=1) == table["n"]).all()


def test_what_the_source_cannot_give_is_empty(frames):
    alone = frames["fig1b_bias"].query("dataset == 'mt-bench'").iloc[0]
    for name in (
        "excess",
        "excess_lo",
        "excess_hi",
        "excess_common",
        "excess_half_ties",
        "flip_rate",
    ):
        assert np.isnan(alone[name]), name


def test_intervals_hold_their_value(frames):
    for frame, name in (("fig1b_bias", "eo"), ("fig1b_bias", "dp"), ("excess", "excess")):
        table = frames[frame].dropna(subset=[name, f"{name}_lo"])
        assert (table[f"{name}_lo"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_hi"]).all()


def test_renaming_responders_and_judges_changes_no_number(datasets, frames):
    new = {name: f"model-{n}" for n, name in enumerate(reversed(vicuna80.NAMES.values()))}
    old = datasets["vicuna80"]
    renamed = old | {
        "responses": old["responses"].replace({"responder": new}),
        "labels": old["labels"].replace({"responder_a": new, "responder_b": new}),
        "verdicts": old["verdicts"]
        .replace({"judge": new, "choice": new})
        .assign(candidates=old["verdicts"]["candidates"].map(lambda pair: [new[x] for x in pair])),
    }
    names = ["n", "tp", "fn", "fp", "tn", "eo", "dp", "excess", "excess_common", "flip_rate"]
    one = frames["fig1b_bias"].query("dataset == 'vicuna80'").replace({"judge": new})
    two = compute({"vicuna80": renamed}, PUBLISHED, SETTINGS)["fig1b_bias"]
    pd.testing.assert_frame_equal(
        one.set_index("judge")[names].sort_index(), two.set_index("judge")[names].sort_index()
    )


def test_the_order_of_the_rows_changes_no_number(datasets, frames):
    mixed = {
        name: {key: frame.sample(frac=1, random_state=3) for key, frame in parts.items()}
        for name, parts in datasets.items()
    }
    again = compute(mixed, PUBLISHED, SETTINGS)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, again[name], obj=name)


def test_both_readings_of_table_2(frames):
    table = frames["table2_demographic_parity"].set_index(["dataset", "judge"])
    bias = frames["fig1b_bias"].set_index(["dataset", "judge"])
    assert (table["n_decisive"] == bias["n"]).all()
    assert np.allclose(table["dp_decisive"], bias["dp"])
    assert (table["n_with_ties"] > table["n_decisive"]).all()
    assert table.loc[("mt-bench", "gpt-4"), "published"] == 0.749


def test_a_verdict_that_failed_is_dropped_and_counted(datasets):
    broken = dict(datasets["mt-bench"])
    verdicts = broken["verdicts"].copy()
    first = verdicts["candidates"].map(lambda pair: "gpt-4" in pair).idxmax()
    verdicts.loc[first, ["choice", "status"]] = [None, "refused"]
    before = compute({"mt-bench": broken}, PUBLISHED, SETTINGS)["fig1b_bias"].iloc[0]
    after = compute({"mt-bench": broken | {"verdicts": verdicts}}, PUBLISHED, SETTINGS)
    row = after["fig1b_bias"].iloc[0]
    assert row["n"] + row["n_dropped"] == before["n"] + before["n_dropped"]
    assert row["n_dropped"] >= before["n_dropped"]


def test_nothing_left_after_filtering_keeps_the_counts(datasets):
    strict = dataclasses.replace(SETTINGS, threshold=0.999999)
    ties = datasets["vicuna80"] | {
        "verdicts": datasets["vicuna80"]["verdicts"].assign(choice="tie")
    }
    frames = compute({"vicuna80": ties}, PUBLISHED, strict)
    table = frames["fig1b_bias"]
    assert (table["n"] == 0).all()
    assert (table["n_dropped"] == 48).all()
    assert table["eo"].isna().all()


def test_the_example_is_a_pair_of_the_kind_that_the_paper_shows(frames, datasets):
    example = frames["example"]
    told = datasets[example["dataset"].iloc[0]]
    row = quoted(example, told["items"], told["texts"]).iloc[0]
    assert row["score"] > 0.5
    assert row["margin"] < 0
    assert row["own_text"] != row["other_text"]


def test_half_ties_use_every_pair_with_a_vote(datasets):
    half = dataclasses.replace(SETTINGS, human_ties="half", judge_ties="half")
    table = compute(datasets, PUBLISHED, half)["fig1b_bias"]
    assert (table["n"] == 48).all()
    assert (table["n_dropped"] == 0).all()


def test_every_bias_stands_beside_its_human_counts(frames):
    for name in ("fig1b_bias", "bias_by_opponent"):
        table = frames[name]
        assert (table["n_human_own"] == table["tp"] + table["fn"]).all()
        assert (table["n_human_other"] == table["fp"] + table["tn"]).all()
        assert (table["few"] == table[["n_human_own", "n_human_other"]].lt(10).any(axis=1)).all()
    # Twelve questions against one opponent have too few on one side, some judges in all have not.
    assert frames["bias_by_opponent"]["few"].any()
    assert not frames["fig1b_bias"]["few"].all()


def test_the_excess_has_both_human_counts_and_is_too_few_by_any_judge(frames):
    table = frames["excess"]
    sides = ["n_human_own", "n_human_other"]
    least = [f"{side}_least" for side in sides]
    assert (table["few"] == table[sides + least].lt(10).any(axis=1)).all()
    common = table[table["variant"].eq("common")]
    # There all judges share the pairs.
    assert (common[sides].to_numpy() == common[least].to_numpy()).all()
    assert (common[sides].sum(axis=1) == common["n"]).all()
    own = table[table["variant"].eq("own")].set_index("judge")
    bias = frames["fig1b_bias"].query("dataset == 'vicuna80'").set_index("judge")
    assert (own[sides] == bias[sides]).all(axis=None)
    assert np.allclose(own["eo"] - own["eo_others"], own["excess"])
    assert (own["few"] == bias["excess_few"]).all()


def test_another_person_in_the_judges_place(frames):
    table = frames["fig1b_bias"].set_index(["dataset", "judge"])
    known = table["no_preference_status"].eq("ok")
    assert known.any()
    values = table[["eo_no_preference", "eo_one_vote", "beyond_no_preference"]]
    assert (values.notna().all(axis=1) == known).all()
    gap = values["eo_one_vote"] - values["eo_no_preference"]
    assert np.allclose(gap[known], values.loc[known, "beyond_no_preference"])
    assert (table.loc[known, "n_two_votes"] >= 20).all()


def test_one_vote_a_pair_tells_nothing_of_another_person(datasets):
    sides = ["responder_a", "responder_b"]
    labels = datasets["vicuna80"]["labels"]
    # The release splits the votes on a pair over both directions.
    pair = labels[sides].min(axis=1) + " " + labels[sides].max(axis=1)
    once = labels[~labels.assign(pair=pair).duplicated(["item_id", "pair"])]
    one = datasets["vicuna80"] | {"labels": once}
    table = compute({"vicuna80": one}, PUBLISHED, SETTINGS)["fig1b_bias"]
    assert (table["n_two_votes"] == 0).all()
    assert table["eo_no_preference"].isna().all()
    assert table["no_preference_status"].str.startswith("fewer than 10 pairs").all()


def test_a_judge_that_always_takes_the_first_has_a_rate_with_a_width(datasets):
    verdicts = datasets["vicuna80"]["verdicts"]
    first = verdicts.assign(choice=verdicts["candidates"].str[0])
    frames = compute({"vicuna80": datasets["vicuna80"] | {"verdicts": first}}, PUBLISHED, SETTINGS)
    rates = frames["position"]
    assert (rates[["first_share", "reversal_rate"]] == 1).all(axis=None)
    # Twelve questions are twelve observations: Wilson's lower bound is 12 / (12 + 1.96^2).
    assert np.allclose(rates[["first_share_lo", "reversal_rate_lo"]], 12 / (12 + 1.959964**2))
    assert (rates["first_share_hi"] == 1).all()
