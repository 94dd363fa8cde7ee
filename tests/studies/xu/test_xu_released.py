"""What the recorded profile last wrote of Xu et al.: the printed table, and others' own counts."""

import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED

FOLDER = STAGED / "figures/recorded/xu"


def test_the_human_table_is_that_of_the_paper():
    table = pd.read_csv(FOLDER / "human.csv").set_index(["model", "step"])
    bias = {
        ("gpt-4", 0): 8.06,
        ("gpt-4", 10): 14.62,
        ("gpt-3.5-turbo", 0): 19.60,
        ("gpt-3.5-turbo", 10): 21.86,
        ("gemini", 0): 9.62,
        ("gemini", 10): 17.56,
    }
    assert table["bias"].to_dict() == pytest.approx(bias)
    # The paper prints one decimal after 10, and the difference of rounding is all that is left.
    assert (table["bias"] - table["bias_published"]).abs().max() < 0.05
    first = table.loc[("gpt-4", 0), ["human_mean", "self_mean", "n"]]
    assert first.tolist() == [-14.98, -6.92, 50]
    assert table["dskew"].round(3)["gpt-4", 0] == 0.452
    assert table["dskew"].round(3)["gpt-3.5-turbo", 0] == 0.803


def test_averages_over_languages():
    table = pd.read_csv(FOLDER / "translation.csv").query("convention == 'released' and step == 0")
    mean = table[table["language"].eq("average")].set_index("model")[["bias", "dskew"]].round(2)
    assert mean.loc["gpt-4"].tolist() == [0.58, 0.06]
    assert mean.loc["gemini"].tolist() == [-3.27, 0.18]


def test_contaminated_steps_are_those_of_the_leftover_runs():
    table = pd.read_csv(FOLDER / "integrity.csv")
    spoilt = table[table["contaminated"] & table["language"].ne("commongen")]
    assert spoilt.groupby("model")["step"].agg(list).to_dict() == {
        "llama2-70b": [3, 4],
        "llama2-7b": [*range(1, 11)],
    }
    fell = table[table["self_decreased"].gt(0)].set_index(["model", "step"])["self_decreased"]
    assert fell["llama2-70b", 3] == 35
    assert fell["llama2-70b", 5] == 29


def test_candidates_of_each_k_are_a_set_of_their_own():
    table = pd.read_csv(FOLDER / "best_of_noise.csv").query("convention == 'corrected'")
    mixtral = table[table["model"].eq("mistral_moe")].set_index("k")
    assert mixtral["scores"].to_dict() == {4: 400, 8: 800, 16: 1600, 32: 3199}
    assert mixtral["candidate_mean"].round(1).to_dict() == {4: -15.3, 8: -13.2, 16: -9.5, 32: -10.2}
    # No model's choice reaches what a judge of pure noise would keep.
    assert (table["beyond_hi"] < 0).all()


def test_a_paraphrase_raises_gpt4s_own_score():
    table = pd.read_csv(FOLDER / "style.csv").query("convention == 'released'")
    row = table.set_index(["judge", "system", "text"]).loc[
        ("gpt-4", "madlad400-10b-mt", "paraphrase")
    ]
    assert row[["self_change", "bias_change"]].round(2).tolist() == [3.23, 4.20]


def test_what_the_sheet_prints_of_formats_does_not_come_out():
    table = pd.read_csv(FOLDER / "checks.csv").set_index("quantity")
    assert table.loc["least share", "recomputed"] == pytest.approx(0.6275)
    assert table.loc["greatest share", "recomputed"] == pytest.approx(0.995)


def test_asymmetric_steps_of_translation_each_once():
    table = pd.read_csv(FOLDER / "translation_dskew.csv").query(
        "convention == 'corrected' and n > 0"
    )
    assert (len(table), int((table["p"] < 0.05).sum())) == (238, 214)
    once = table[table["language"].ne("commongen") & ~table["repeated"]]
    assert (len(once), int((once["p"] < 0.05).sum())) == (152, 137)


def test_coverage_without_the_repeated_instruction():
    table = pd.read_csv(FOLDER / "commongen_corrected.csv").query(
        "matcher == 'lemma' and step == 0"
    )
    assert table.set_index("model")["predicted"].round(2).to_dict() == {
        "deepseek_moe": 0.03,
        "gemini": 0.01,
        "gpt-3.5-turbo": 0.03,
        "gpt-4": 0.65,
        "llama2-7b": 0.19,
        "mistral_moe": 1.0,
    }


def test_every_pinned_file_is_in_the_audit():
    source = pd.read_csv(REPOSITORY / "src/selfpref/studies/xu/read/xu.csv")
    assert set(pd.read_csv(FOLDER / "audit.csv")["file"]) == set(source["path"])
