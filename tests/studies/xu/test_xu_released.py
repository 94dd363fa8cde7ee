"""What the recorded profile last wrote of Xu et al.: the printed table, and others' own counts."""

import pandas as pd
import pytest
from conftest import REPOSITORY, STAGED


def table(name, query="convention == 'corrected'"):
    found = pd.read_csv(STAGED / f"figures/recorded/xu/{name}.csv")
    return found.query(query) if query else found


def test_the_human_table_is_that_of_the_paper():
    found = table("human", "").set_index(["model", "step"])
    # The paper prints one decimal after 10, and the difference of rounding is all that is left.
    assert (found["bias"] - found["bias_published"]).abs().max() < 0.05
    columns = ["bias", "human_mean", "self_mean", "n", "dskew"]
    assert found.loc[("gpt-4", 0), columns].round(3).tolist() == [8.06, -14.98, -6.92, 50, 0.452]
    assert found["bias"].to_dict() == pytest.approx(
        {
            **{("gpt-4", 0): 8.06, ("gpt-4", 10): 14.62},
            **{("gpt-3.5-turbo", 0): 19.60, ("gpt-3.5-turbo", 10): 21.86},
            **{("gemini", 0): 9.62, ("gemini", 10): 17.56},
        }
    )
    assert found["dskew"].round(3)["gpt-3.5-turbo", 0] == 0.803


def test_translations():
    mean = table("translation", "convention == 'released' and step == 0 and language == 'average'")
    mean = mean.set_index("model")[["bias", "dskew"]].round(2)
    assert mean.loc["gpt-4"].tolist() == [0.58, 0.06]
    assert mean.loc["gemini"].tolist() == [-3.27, 0.18]
    # Asymmetric steps, and of translation each once.
    held = table("translation_dskew", "convention == 'corrected' and n > 0")
    assert (len(held), int((held["p"] < 0.05).sum())) == (238, 214)
    once = held[held["language"].ne("commongen") & ~held["repeated"]]
    assert (len(once), int((once["p"] < 0.05).sum())) == (152, 137)
    style = table("style", "convention == 'released'").set_index(["judge", "system", "text"])
    row = style.loc[("gpt-4", "madlad400-10b-mt", "paraphrase")]
    assert row[["self_change", "bias_change"]].round(2).tolist() == [3.23, 4.20]


def test_contaminated_steps_are_those_of_the_leftover_runs():
    found = table("integrity", "")
    spoilt = found[found["contaminated"] & found["language"].ne("commongen")]
    steps = spoilt.groupby("model")["step"].agg(list).to_dict()
    assert steps == {"llama2-70b": [3, 4], "llama2-7b": [*range(1, 11)]}
    fell = found[found["self_decreased"].gt(0)].set_index(["model", "step"])["self_decreased"]
    assert fell["llama2-70b"][[3, 5]].tolist() == [35, 29]


def test_candidates_of_each_k_are_a_set_of_their_own():
    found = table("best_of_noise")
    mixtral = found[found["model"].eq("mistral_moe")].set_index("k")
    assert mixtral["scores"].to_dict() == {4: 400, 8: 800, 16: 1600, 32: 3199}
    assert mixtral["candidate_mean"].round(1).to_dict() == {4: -15.3, 8: -13.2, 16: -9.5, 32: -10.2}
    # No model's choice reaches what a judge of pure noise would keep.
    assert (found["beyond_hi"] < 0).all()


def test_the_sheets_formats_do_not_come_out_and_coverage_is_without_the_instruction():
    found = table("checks", "").set_index("quantity")["recomputed"]
    assert found[["least share", "greatest share"]].tolist() == pytest.approx([0.6275, 0.995])
    found = table("commongen_corrected", "matcher == 'lemma' and step == 0").set_index("model")
    assert found["predicted"].round(2).to_dict() == {
        **{"deepseek_moe": 0.03, "gemini": 0.01, "gpt-3.5-turbo": 0.03},
        **{"gpt-4": 0.65, "llama2-7b": 0.19, "mistral_moe": 1.0},
    }


def test_every_pinned_file_is_in_the_audit():
    source = pd.read_csv(REPOSITORY / "src/selfpref/studies/xu/read/xu.csv")
    assert set(table("audit", "")["file"]) == set(source["path"])
