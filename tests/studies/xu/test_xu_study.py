"""The study of Xu et al. on written rows and on a small release."""

import shutil

import nbformat
import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED, entry, pin, xu_files

from selfpref import paths, say, tables
from selfpref.params import load
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.studies.xu import bias, matched, people, selection, tasks, translation
from selfpref.studies.xu import read as xu
from selfpref.studies.xu.bias import TABLES, Settings, integrity, rated, summary
from selfpref.studies.xu.skewness import distance_skewness, null_band
from selfpref.studies.xu.translation import nulls
from selfpref.tables.frames import write_frames

RECORDED = load(STAGED / "profiles/recorded.yaml")

USE = RECORDED.xu.model_copy(update={"flips": 100, "sizes": ["gpt-4", "gemini"]})
SETTINGS = Settings(USE, ClusterBootstrap(300, seed=1))
PUBLISHED = pd.read_csv(REPOSITORY / "data/published/xu.csv")
TRANSLATION = (
    "language, model, step, convention, self_mean, truth_mean, bias, bias_lo, bias_hi, dskew, "
    "dskew_lo, dskew_hi, n, unusable"
)
HUMAN = (
    "model, step, human_mean, self_mean, bias, bias_lo, bias_hi, dskew, n, bias_change, "
    "bias_change_lo, bias_change_hi, human_change, human_change_lo, human_change_hi, noise_bias"
)
ASKED = pd.DataFrame(columns=["judge", "table", "task", "status", "n"])
COMMONGEN = "model, step, predicted, true, bias, dskew, n, matcher"


def read(folder, files):
    """The tables of a release, validated."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SELFPREF_ARCHIVES", str(folder / "mirror"))
        source = pin(folder / "mirror", "owner/name", files, folder / "source.csv")
        found = xu.read("xu", entry("xu", "xu"), source)
    return {
        name: tables.validate(found[name], name, "xu") if name in found else tables.empty(name)
        for name in TABLES
    }


def compute(held, published, settings):
    """Every frame, by the functions that the metrics notebook calls."""
    rows, truths = rated(held, settings), held["truths"]
    found = bias.curves(rows, settings)
    table = bias.translation(found)
    people_bias = people.human(rows, truths, published, settings)
    form = tasks.format_accuracy(rows, settings)
    covered = tasks.commongen(rows, truths, settings)
    share = {name: part[tasks.COMMONGEN] for name, part in covered.groupby("convention")}
    none = covered.iloc[:0][tasks.COMMONGEN]
    return {
        "translation": table,
        "change": translation.change(found),
        "gains": translation.gains(found),
        "arms": translation.arms(found),
        "expected": translation.expected(rows, settings),
        "skewness": translation.skewness(rows, settings),
        "size": translation.sizes(rows, table, settings),
        "refined_by_noise": selection.refined_by_noise(rows, settings),
        "best_of_k": selection.best_of_k(rows, truths, settings),
        "best_of_noise": selection.best_of_noise(rows, settings),
        "matched": matched.matched(rows, settings),
        "human": people_bias,
        "human_truth": people.human_truth(rows, truths, settings),
        "examples": people.examples(rows, truths, settings),
        "commongen": share.get("released", none),
        "commongen_corrected": share.get("corrected", none),
        "commongen_intervals": covered,
        "mathematics": tasks.mathematics(rows, settings),
        "style": tasks.style(rows, settings),
        "format": form,
        "checks": people.checks(people_bias, form, published),
        "integrity": integrity(rows, truths).rename(columns={"responder": "model"}),
        "audit": held["audit"].drop(columns="study"),
    }


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return read(tmp_path_factory.mktemp("release"), xu_files())


@pytest.fixture(scope="module")
def frames(release):
    return compute(release, PUBLISHED, SETTINGS)


def rows(said, truth, language="a", step=0, status="ok"):
    """Scores of one cell as `summary` takes them; the n-th of every cell is one cluster."""
    return pd.DataFrame(
        {
            "language": language,
            "step": step,
            "convention": "released",
            "cluster": [f"c{i}" for i in range(len(said))],
            "item_id": [f"{language}/{i}" for i in range(len(said))],
            "score": np.array(said, dtype=float),
            "truth": np.array(truth, dtype=float),
            "status": status,
        }
    )


def test_bias_is_the_mean_gap_and_missing_scores_are_counted_not_filled():
    part = rows([-1, np.nan, -4, 0], [-2, -20, -6, np.nan])
    part.loc[1, "status"] = "unparsable"
    found = summary(part, SETTINGS, "x").iloc[0]
    assert found["bias"] == 1.5
    assert found["self_mean"] == -2.5
    assert found["truth_mean"] == -4
    assert found["dskew"] == pytest.approx(5 / 6)
    assert (found["n"], found["unusable"]) == (2, 1)


def test_without_truth_there_is_a_mean_score_and_no_bias():
    found = summary(rows([-1, -3], [np.nan, np.nan]), SETTINGS, "x").iloc[0]
    assert found["self_mean"] == -2
    assert np.isnan(found["bias"])
    assert np.isnan(found["dskew"])
    assert found["n"] == 0


def test_a_change_is_paired_by_sentence(rng):
    """Every sentence's score rises by 2: the change is certain, the level is not."""
    said, truth = rng.normal(-9, 6, 30), rng.normal(-9, 6, 30)
    part = pd.concat([rows(said, truth), rows(said + 2, truth, step=1)])
    found = summary(part, SETTINGS, "x").set_index("step").loc[1]
    assert found["bias_change"] == pytest.approx(2)
    assert found["bias_change_lo"] == pytest.approx(2)
    assert found["bias_change_hi"] == pytest.approx(2)
    assert found["bias_hi"] - found["bias_lo"] > 1


def test_a_change_rests_on_what_counts_at_both_steps():
    part = pd.concat([rows([0, 0, 0], [0, 0, -9]), rows([1, 1, np.nan], [0, 0, 0], step=1)])
    found = summary(part, SETTINGS, "x").set_index("step").loc[1]
    assert found["bias_change"] == 1
    assert found["n_both"] == 2


def test_the_average_is_that_of_the_languages_not_of_one_pool():
    part = pd.concat([rows([1, 2, 3, 6], [0] * 4), rows([-4, -5], [0, 0], language="b")])
    found = summary(part.assign(languages=2), SETTINGS, "x").set_index("language")
    assert found.loc["average", "bias"] == pytest.approx((3 - 4.5) / 2)
    both = [distance_skewness(np.array(x, dtype=float)) for x in ([1, 2, 3, 6], [-4, -5])]
    assert found.loc["average", "dskew"] == pytest.approx(np.mean(both))
    assert found.loc["average", "n"] == 6


def test_an_average_that_lacks_a_language_is_missing():
    part = pd.concat([rows([1, 2], [0, 0]), rows([1, 2], [np.nan] * 2, language="b")])
    found = summary(part.assign(languages=2), SETTINGS, "x").set_index("language")
    assert np.isnan(found.loc["average", "bias"])
    assert found.loc["average", "n"] == 0


def test_intervals_cover_at_their_level(rng):
    """Bias of 40 sentences around 1: nine intervals in ten hold it."""
    held = 0
    for trial in range(100):
        part = rows(rng.normal(1, 3, 40), np.zeros(40))
        boot = Settings(USE, ClusterBootstrap(300, 0.9))
        found = summary(part, boot, str(trial)).iloc[0]
        held += found["bias_lo"] <= 1 <= found["bias_hi"]
    assert held / 100 == pytest.approx(0.9, abs=0.08)


@pytest.mark.parametrize(
    ("name", "columns"),
    [("translation", TRANSLATION), ("commongen", COMMONGEN), ("commongen_corrected", COMMONGEN)],
)
def test_tables_have_the_promised_columns(frames, name, columns):
    assert list(frames[name].columns) == columns.split(", ")


def test_the_human_table_has_the_printed_values_beside(frames):
    assert list(frames["human"].columns) == [*HUMAN.split(", "), "bias_published"]
    known = frames["human"].set_index(["model", "step"])["bias_published"]
    assert known["gpt-4", 0] == 8.06


def test_every_language_step_and_convention_has_a_row(frames):
    keys = frames["translation"].groupby("language").size()
    # Two models, three steps, two conventions.
    assert keys.to_dict() == {"average": 12, "jav_Latn-en": 12, "yor-en": 12}
    assert frames["translation"]["dskew"].between(0, 1).all()
    assert (frames["translation"]["n"] > 0).all()


def test_every_frame_of_the_small_release_is_filled_but_for_two(frames):
    # The authors released no problem, and one draw of each score.
    assert {name for name, frame in frames.items() if frame.empty} == {"mathematics", "expected"}


def test_two_computations_are_equal(release, frames):
    again = compute(release, PUBLISHED, SETTINGS)
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, again[name], check_exact=True)


def test_unusable_feedback_is_perfect_as_released_and_missing_when_corrected(tmp_path):
    files = xu_files()
    path = next(
        name for name in files if name.endswith("yor-en_eval_8_one-shot_gpt-4_new_2_rerun.txt")
    )
    end = "[SEP_TOKEN_WENDA]"
    files[path] = ("[BLOCKED]" + end) * 4 + "'a' is a minor style error" + end + ("none" + end) * 3
    found = compute(read(tmp_path, files), PUBLISHED, SETTINGS)["translation"]
    cell = found.query("language == 'yor-en' and model == 'gpt-4' and step == 2")
    cell = cell.set_index("convention")
    assert cell["unusable"].tolist() == [4, 4]
    assert cell["n"].to_dict() == {"released": 8, "corrected": 4}
    assert cell.loc["released", "self_mean"] == -1 / 8
    assert cell.loc["corrected", "self_mean"] == -1 / 4


def test_contaminated_steps_have_no_bias_when_corrected(tmp_path):
    files = xu_files()
    path = next(
        name for name in files if name.endswith("yor-en_refinement_8_gpt-4_new_1_rerun.txt")
    )
    files[path] = "".join(
        f"Sure, here is an improved translation: {line}\n" for line in files[path].splitlines()
    )
    found = compute(read(tmp_path, files), PUBLISHED, SETTINGS)
    cell = found["translation"].query("model == 'gpt-4' and step == 1")
    cell = cell.set_index(["language", "convention"])
    assert cell.loc[("yor-en", "released"), "n"] == 8
    assert cell.loc[("yor-en", "corrected"), "n"] == 0
    assert np.isnan(cell.loc[("yor-en", "corrected"), "bias"])
    # The mean over languages lacks one of them.
    assert np.isnan(cell.loc[("average", "corrected"), "bias"])
    assert not np.isnan(cell.loc[("average", "released"), "bias"])


def test_coverage_compares_what_is_said_with_what_is_there(frames):
    table = frames["commongen"].query("matcher == 'lemma'").set_index("step")
    # Step t says so of t + 1 of 8 sentences, and holds every concept in t.
    assert table["predicted"].tolist() == pytest.approx([1 / 8, 2 / 8, 3 / 8])
    assert table["true"].tolist() == pytest.approx([0, 1 / 8, 2 / 8])
    assert table["bias"].tolist() == pytest.approx([1 / 8] * 3)
    assert (frames["commongen"].query("matcher == 'surface'")["true"] == 0).all()


def test_a_noise_judges_best_of_k_is_its_greatest_score(frames, rng):
    (row,) = frames["best_of_noise"].query("convention == 'released'").to_dict("records")
    scores = np.array([-6.0, -1.0] * 8)
    assert row["k"] == 2
    assert row["candidate_mean"] == scores.mean()
    drawn = rng.choice(scores, (40_000, 2)).max(axis=1).mean()
    assert row["noise_score"] == pytest.approx(drawn, abs=0.05)
    best = frames["best_of_k"].query("convention == 'released'").iloc[0]
    assert best["self_mean"] == -1
    assert best["noise_bias"] == row["noise_bias"] == row["noise_score"] - best["truth_mean"]
    # The choice is the better of the two in every sentence, the noise judge's only three in four.
    assert best["beyond"] == pytest.approx(-1 + 0.25 * 6 + 0.75 * 1)
    assert best["beyond_lo"] == pytest.approx(best["beyond_hi"])


def test_each_k_has_a_null_from_its_own_candidates():
    """Two sets of candidates: of two with -9 and -3, of four with -1 only."""

    def judged(k, step, said):
        items = [f"best-of-{k}/a/{i}" for i in range(3) for _ in range(len(said) // 3)]
        return pd.DataFrame(
            {
                "item_id": items,
                "cluster": [item.rsplit("/", 1)[1] for item in items],
                "condition": f"best-of-{k}",
                "step": step,
                "score": said,
                "truth": np.nan if step == 0 else -10.0,
            }
        )

    parts = [judged(2, 0, [-9.0, -3.0] * 3), judged(2, 1, [-3.0] * 3)]
    parts += [judged(4, 0, [-1.0] * 12), judged(4, 1, [-1.0] * 3)]
    held = pd.concat(parts, ignore_index=True).assign(
        responder="me", language="a", own=True, status="ok", contaminated=False
    )
    held = held.assign(stored=held["score"])
    found = selection.best_of_noise(held, SETTINGS).query("convention == 'corrected'")
    found = found.set_index("k")
    assert found["scores"].to_dict() == {2: 6, 4: 12}
    assert found["candidate_mean"].to_dict() == {2: -6, 4: -1}
    # The greater of two draws is -3 in three of four; all of four are -1.
    assert found["noise_score"].to_dict() == {2: -4.5, 4: -1}
    assert found["noise_bias"].to_dict() == {2: 5.5, 4: 9}
    assert found["beyond"].to_dict() == {2: 1.5, 4: 0}


def test_refinement_by_noise_keeps_the_greatest_of_all_draws(frames, release, rng):
    """The accept rule played out with scores at random: bias rises, and no text has changed."""
    table = frames["refined_by_noise"].query("convention == 'released' and language == 'yor-en'")
    table = table[table["model"].eq("gpt-4")].set_index("step")
    own = release["ratings"].query("judge == 'gpt-4' and responder == 'gpt-4' and step == 0")
    scores = own.loc[own["item_id"].str.startswith("yor-en/"), "stored"].to_numpy()
    kept = rng.choice(scores, 40_000)
    for step in (1, 2):
        fresh = rng.choice(scores, 40_000)
        kept = np.where(fresh > kept, fresh, kept)
        assert table.loc[step, "noise_score"] == pytest.approx(kept.mean(), abs=0.05)
    assert table["noise_bias"].is_monotonic_increasing
    measured = frames["translation"].query("language == 'yor-en' and model == 'gpt-4'")
    measured = measured.query("convention == 'released'").set_index("step")["bias"]
    assert table.loc[0, "noise_bias"] == pytest.approx(measured[0])
    assert np.isnan(table.loc[0, "beyond"])
    for step in (1, 2):
        beyond = table.loc[step, ["beyond_lo", "beyond", "beyond_hi"]].tolist()
        assert beyond[1] == pytest.approx(measured[step] - table.loc[step, "noise_bias"])
        assert beyond == sorted(beyond)


def test_the_mean_over_languages_of_what_is_beyond_noise(frames):
    table = frames["refined_by_noise"].query("convention == 'corrected' and step == 2")
    table = table[table["model"].eq("gpt-4")].set_index("language")["beyond"]
    assert "commongen" in table
    table = table.drop("commongen")
    assert table["average"] == pytest.approx(table.drop("average").mean())


def test_shares_of_0_and_1_have_an_interval(frames):
    table = frames["commongen_intervals"].query("matcher == 'surface' and step == 0")
    assert (table["true"] == 0).all()
    assert table["true_hi"].between(0.2, 0.5).all()
    table = frames["format"]
    for share in ("well_formed", "but_for_cut", "usable"):
        bounds = table[[f"{share}_lo", share, f"{share}_hi"]]
        assert bounds.apply(lambda row: row.is_monotonic_increasing, axis=1).all()
        assert (bounds[f"{share}_hi"] > bounds[f"{share}_lo"]).all()


def test_a_bias_that_is_the_same_in_every_sentence_has_an_interval(release):
    """Every sentence is said to be covered, and none is."""
    ratings = release["ratings"]
    given = ratings["task"].eq("coverage")
    said = ratings.assign(
        stored=ratings["stored"].mask(given, 1.0), score=ratings["score"].mask(given, 1.0)
    )
    truths = release["truths"]
    none = truths.assign(score=truths["score"].mask(truths["metric"].str.startswith("cov"), 0.0))
    found = compute({**release, "ratings": said, "truths": none}, PUBLISHED, SETTINGS)
    table = found["commongen_intervals"].query("convention == 'released'")
    assert (table["bias"] == 1).all()
    assert table["bias_lo"].between(0.3, 0.7).all()
    assert table["dskew_lo"].isna().all()


def test_a_step_that_repeats_the_values_of_an_earlier_one_is_marked():
    said = [-1.0, -4.0, -2.0]
    same = pd.concat([rows(said, [0] * 3, step=step) for step in (0, 1)])
    part = pd.concat([same, rows([-1.0, -4.0, 0.0], [0] * 3, step=2)])
    assert nulls(part, SETTINGS, "x")["repeated"].tolist() == [False, True, False]
    other = pd.concat([rows(said, [0] * 3), rows(said, [0] * 3, language="b")])
    assert not nulls(other, SETTINGS, "x")["repeated"].any()


def test_what_the_paper_prints_stands_only_beside_its_models(release, frames):
    table = frames["checks"].set_index(["item", "quantity", "model", "step"])
    human = frames["human"].set_index(["model", "step"])
    row = table.loc[("human", "bias", "gpt-4", 0)]
    assert row["recomputed"] == human.loc[("gpt-4", 0), "bias"]
    assert row["difference"] == pytest.approx(row["recomputed"] - 8.06)
    assert table["how_read"].str.contains("sheet").all()
    # The map was fitted on data that are not released.
    assert table.xs("map")["recomputed"].isna().all()
    others = compute(renamed(release), PUBLISHED, SETTINGS)
    assert others["checks"].empty


def test_a_second_reader_counts_only_where_it_quotes_the_text(release):
    held = rated(release, SETTINGS)
    second = held[~held["own"]].assign(quotes=matched.reads_its_text(held))
    by = second.groupby(["responder", "judge"])["quotes"].agg(["all", "any"])
    assert by.loc[("gpt-4", "gemini"), "all"]
    assert not by.loc[("nllb-moe-54b", "gpt-4"), "any"]


def test_own_texts_are_matched_within_bins_of_quality():
    """Own texts are over-rated by 1 at either quality; unmatched, by 9."""

    def judged(item, responder, said, truth, count):
        return pd.DataFrame(
            {
                "item_id": [f"a/{item}{i}" for i in range(count)],
                "cluster": [f"{item}{i}" for i in range(count)],
                "responder": responder,
                "score": float(said),
                "truth": float(truth),
            }
        )

    held = pd.concat(
        [
            judged("x", "me", -9, -20, 9),
            judged("y", "me", 1, 0, 1),
            judged("z", "you", -10, -20, 1),
            judged("w", "you", 0, 0, 9),
        ],
        ignore_index=True,
    ).assign(
        judge="me",
        step=0,
        condition="",
        language="a",
        task="mqm",
        variant="plain",
        repeat=0,
        status="ok",
        contaminated=False,
        reply=None,
        text=None,
        source=None,
    )
    held = held.assign(own=held["responder"].eq("me"), stored=held["score"])
    found = matched.matched(held, SETTINGS)
    found = found.query("convention == 'released'").iloc[0]
    assert found["matched"] == pytest.approx(1)
    assert found["difference"] == pytest.approx(9)


@pytest.mark.parametrize("kept", ["yor-en/", "commongen/", "best-of-2/", "paraphrase/"])
def test_a_part_of_the_study_is_enough(release, frames, kept, tmp_path, monkeypatch):
    """The testbed fills some of the tables; what it lacks is empty, and nothing fails."""
    part = {
        name: table[table["item_id"].str.startswith(kept)] if "item_id" in table else table
        for name, table in release.items()
    }
    found = compute(part, PUBLISHED, SETTINGS)
    assert set(found) == set(frames)
    assert found["translation"].empty == (kept != "yor-en/")
    assert found["style"].empty == (kept != "paraphrase/")
    told(tmp_path, monkeypatch, found)


def test_no_text_of_the_release_is_in_a_frame(frames):
    for name, frame in frames.items():
        held = frame.astype(str).to_string()
        for text in ("its den", "red fox", "candidate 1", "source sentence"):
            assert text not in held, name


def renamed(release):
    """The release as if other models had made it."""
    new = {"gpt-4": "a", "gemini": "b"}
    return {
        name: table.replace({"responder": new, "judge": new}) for name, table in release.items()
    }


def told(folder, monkeypatch, frames):
    """The keys of what the chapter says of these frames."""
    (folder / "dvc.yaml").touch()
    (folder / "data").mkdir()
    for name in ("claims.yaml", "names.csv"):
        shutil.copy(REPOSITORY / "data" / name, folder / "data")
    monkeypatch.chdir(folder)
    write_frames({"asked": ASKED, **frames}, paths.metrics_dir("recorded", "xu"))
    monkeypatch.setattr("selfpref.params.gather", lambda *_: RECORDED)
    cells = nbformat.read(REPOSITORY / "notebooks/xu.ipynb", 4).cells
    variables = {}
    for cell in cells:
        if cell.cell_type == "code":
            exec(cell.source, variables)
    said = say.said(folder / "figures/recorded/xu")
    assert not any("nan" in one["text"] for one in said.values())
    return set(said)


def test_of_a_part_of_the_release_what_it_holds_is_said(frames, tmp_path, monkeypatch):
    """The small release has the paper's models, but few steps; what is not there is not said."""
    said = told(tmp_path, monkeypatch, frames)
    assert {"matched", "human_gap"} & said
    assert not {"noise", "size", "commongen", "best_of_k"} & said


def test_of_other_models_nothing_is_said(release, tmp_path, monkeypatch):
    others = compute(renamed(release), PUBLISHED, SETTINGS)
    assert told(tmp_path, monkeypatch, others) == {"human_gap"}


def test_the_made_up_example_hides_an_asymmetry_behind_a_bias_of_0(frames):
    made = frames["examples"].query("figure == 2")
    assert set(made["model"]) == {"made up"}
    assert (made["said"] - made["truth"]).sum() == 0
    assert made["said"].between(-25, 0).all()
    assert made["dskew"].iloc[0] > null_band(len(made))[1]


def test_peoples_means_and_the_noise_judge_have_intervals(frames):
    human = frames["human_truth"]
    assert human["human_mean"].between(human["human_mean_lo"], human["human_mean_hi"]).all()
    noise = frames["refined_by_noise"].dropna(subset="noise_bias")
    assert noise["noise_bias"].between(noise["noise_bias_lo"], noise["noise_bias_hi"]).mean() > 0.9


def test_the_headline_is_of_the_last_step_and_not_of_the_last_that_is_known():
    """Of one model the last step is mismatched; neither other scorings nor languages count."""
    mean = {"language": "average", "convention": "corrected"}
    rows = [
        {**mean, "model": "a", "step": 1, "bias": 4.0},
        {**mean, "model": "a", "step": 0, "bias": 1.0},
        {**mean, "model": "b", "step": 0, "bias": 2.0},
        {**mean, "model": "b", "step": 1, "bias": np.nan},
        {**mean, "model": "b", "step": 1, "bias": 9.0, "convention": "released"},
        {**mean, "model": "b", "step": 2, "bias": 9.0, "language": "yor-en"},
    ]
    found = translation.first_and_last(pd.DataFrame(rows)).set_index("model")
    assert found.loc["a"].tolist() == [1.0, 4.0]
    assert found.loc["b", "first"] == 2.0
    assert np.isnan(found.loc["b", "last"])
