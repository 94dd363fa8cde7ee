"""The readers of MT-Bench and Vicuna-80 on small releases of the same layout."""

import pandas as pd
import pytest
from conftest import STAGED, entry, lines, mt_bench_files, pin, vicuna80_files

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.studies.wataoka.read import mt_bench, vicuna80

ALL = list(vicuna80.NAMES.values())


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a release from its files, every table validated."""
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def reading(module, files, judges):
        source = pin(tmp_path / "mirror", "owner/name", files, tmp_path / "source.csv")
        found = module.read("set", entry("wataoka", "mt-bench", judges), source)
        return {name: tables.validate(frame, name, "set") for name, frame in found.items()}

    return reading


def test_mt_bench_turns_are_items_of_one_cluster(read):
    items = read(mt_bench, mt_bench_files(2), ["gpt-4"])["items"].set_index("item_id")
    assert list(items.index) == ["set/81/1", "set/81/2", "set/82/1", "set/82/2"]
    assert items.loc["set/81/2", "cluster"] == items.loc["set/81/1", "cluster"] == "set/81"
    assert [m["content"] for m in items.loc["set/81/2", "messages"]] == ["first?", "then?"]


def test_mt_bench_each_file_orients_a_pair_its_own_way_and_merged_orders_are_unknown(read):
    files, folder = mt_bench_files(1), "data/snapshots/mtbench"
    row = {"question_id": 81, "turn": 1}
    vote = row | {"judge": "expert_0", "model_a": "gpt-4", "model_b": "x"}
    files[f"{folder}/human.jsonl"] = lines(vote | {"winner": "model_b"}, vote | {"winner": "tie"})
    verdict = row | {"judge": "gpt4_pair", "model_b": "gpt-4"}
    files[f"{folder}/gpt4_pair.jsonl"] = lines(
        verdict | {"model_a": "x", "winner": "model_b"},
        verdict | {"model_a": "y", "winner": "tie (inconsistent)"},
    )
    found = read(mt_bench, files, ["gpt-4"])
    # A second vote of one annotator is kept, and an inconsistent tie is a tie.
    labels = found["labels"][["responder_a", "responder_b", "label", "repeat"]]
    assert labels.values.tolist() == [["gpt-4", "x", "b", 0], ["gpt-4", "x", "tie", 1]]
    verdicts = found["verdicts"]
    assert verdicts["candidates"].tolist() == [["x", "gpt-4"], ["y", "gpt-4"]]
    assert verdicts["choice"].tolist() == ["gpt-4", "tie"]
    assert not verdicts["order_known"].any()
    assert verdicts["probabilities"].isna().all()


def test_vicuna80_takes_the_order_from_the_file_name(read):
    files = {k: v for k, v in vicuna80_files(1).items() if "ratings-" not in k}
    folder = "data/vicuna80/ratings-gpt4/"
    score = {"question_id": 1, "score": 1}
    one = f"{folder}answer_bard-vs-answer_gpt4-gpt4-reviewer_threeclass.jsonl"
    two = f"{folder}answer_gpt4-vs-answer_bard-gpt4-reviewer-threeclass.jsonl"
    files |= {one: lines(score), two: lines(score | {"score": 3})}
    verdicts = read(vicuna80, files, ["gpt-4"])["verdicts"]
    assert list(verdicts["candidates"]) == [["bard", "gpt-4"], ["gpt-4", "bard"]]
    assert list(verdicts["choice"]) == ["bard", "tie"]
    assert verdicts["order_known"].all()


def test_vicuna80_leaves_out_the_earlier_run_with_hyphens(read):
    files = vicuna80_files(1)
    files["data/vicuna80/ratings-gpt35/answer-gpt35-vs-answer-gpt4-gpt35-reviewer.jsonl"] = lines(
        {"question_id": 1, "score": 2}
    )
    verdicts = read(vicuna80, files, ALL)["verdicts"]
    assert len(verdicts) == 5 * 20


def test_vicuna80_reads_only_the_judges_wanted_and_all_votes(read):
    found = read(vicuna80, vicuna80_files(2), ["bard"])
    assert set(found["verdicts"]["judge"]) == {"bard"}
    assert len(found["labels"]) == 2 * 10 * 3
    assert set(found["labels"]["repeat"]) == {0, 1, 2}
    assert set(found["responses"]["responder"]) == set(ALL)


@pytest.mark.parametrize(
    ("module", "files"), [(mt_bench, mt_bench_files), (vicuna80, vicuna80_files)]
)
def test_an_unknown_judge_is_named(read, module, files):
    with pytest.raises(SelfprefError, match=r"datasets\.set\.judges: 'nobody' is unknown; choose"):
        read(module, files(1), ["gpt-4", "nobody"])


def test_released_numbers_in_git():
    """What the recorded profile last wrote holds the numbers of the study's own count."""

    table = pd.read_csv(STAGED / "figures/recorded/wataoka/fig1b_bias.csv")
    rows = table.set_index(["dataset", "judge"])
    cells = rows[["tp", "fn", "fp", "tn"]]
    assert list(cells.loc[("mt-bench", "gpt-4")]) == [330, 12, 57, 15]
    assert list(cells.loc[("vicuna80", "gpt-4")]) == [208, 7, 27, 2]
    assert round(rows.loc[("mt-bench", "gpt-4"), "eo"], 3) == 0.757
    assert round(rows.loc[("vicuna80", "gpt-4"), "eo"], 3) == 0.898
    checks = pd.read_csv(STAGED / "figures/recorded/wataoka/checks.csv")
    agreed = checks[checks["item"].eq("agreement")]["recomputed"]
    assert list(agreed.round(3)) == [0.660, 0.846, 0.657, 0.846]
    assert (checks[checks["item"].eq("win rate")]["difference"].abs() < 1e-12).all()
