"""What was planted is recovered: judges that follow their rule exactly, in a small true world."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from conftest import PUBLISHED, SETTINGS, counted

from selfpref.studies.wataoka.findings import FINDINGS
from selfpref.studies.wataoka.measure import compute

WRITERS = {"plain": 0.0, "proud": 0.4, "humble": -0.4}


@pytest.fixture(scope="module")
def world():
    """60 prompts, three writers; every judge decides by quality plus its bonus for itself."""
    rng = np.random.default_rng(5)
    judges = {**WRITERS, "onlooker": 0.0}
    items, responses, labels, truths, verdicts, scores = [], [], [], [], [], []
    for n in range(60):
        item = {"study": "wataoka", "item_id": f"seed-3/{n}"}
        items.append(
            item
            | {
                "category": "t",
                "cluster": f"seed-3/{n}",
                "messages": [],
                "reference": None,
                "metadata": json.dumps({"held_out": n % 5 == 0}),
            }
        )
        quality = {name: round(rng.random(), 3) for name in WRITERS}
        for name, q in quality.items():
            place = item | {"responder": name, "step": 0}
            responses.append(place | {"sample": 0, "text": f"{name} {n}", "status": "ok"})
            truths.append(place | {"metric": "quality", "score": q})
            for judge, beta in judges.items():
                bonus = beta if judge == name else 0.0
                truths.append(place | {"metric": f"rule-{judge}", "score": q + bonus})
                for conditional in (True, False):
                    nats = 8.0 if judge == name else 16.0
                    scores.append(
                        place
                        | {"judge": judge, "conditional": conditional, "sum_nll": nats}
                        | {"n_tokens": 4, "n_bytes": 20, "status": "ok"}
                    )
        for a, b in (("humble", "plain"), ("humble", "proud"), ("plain", "proud")):
            gap = quality[a] - quality[b]
            vote = "a" if rng.random() < 1 / (1 + np.exp(-gap / 0.15)) else "b"
            labels.append(
                item
                | {"responder_a": a, "responder_b": b, "annotator": "human", "repeat": 0}
                | {"label": vote}
            )
            for judge, beta in judges.items():
                lean = gap + beta * ((judge == a) - (judge == b))
                for names in ((a, b), (b, a)):
                    verdicts.append(
                        item
                        | {"judge": judge, "task": "preference", "variant": "plain"}
                        | {"candidates": list(names), "order_known": True, "repeat": 0}
                        | {"probabilities": None, "mass": None, "stored": None}
                        | {"choice": a if lean > 0 else b, "status": "ok"}
                    )
    truths += [
        {"study": "wataoka", "item_id": "seed-3", "responder": judge, "step": 0}
        | {"metric": "beta", "score": beta}
        for judge, beta in judges.items()
    ]
    tables = {
        "items": items,
        "responses": responses,
        "labels": labels,
        "truths": truths,
        "verdicts": verdicts,
        "perplexities": scores,
    }
    found = {name: pd.DataFrame(rows) for name, rows in tables.items()}
    return found | {"responses": counted(found["responses"])}


@pytest.fixture(scope="module")
def frames(world):
    return compute({"seed-3": world}, PUBLISHED, SETTINGS)


def test_judges_that_follow_their_rule_measure_what_was_planted(frames):
    planted = frames["planted"].set_index("judge")
    assert np.allclose(planted["measured"], planted["planted"])
    assert planted["beta"].to_dict() == WRITERS
    assert (planted["seed"] == 3).all()


def test_a_bonus_moves_the_bias_away_from_the_oracle_rule(frames):
    planted = frames["planted"].set_index("judge")
    assert planted.loc["plain", "measured"] == planted.loc["plain", "oracle_rule"]
    assert planted.loc["proud", "measured"] > planted.loc["proud", "oracle_rule"]
    assert planted.loc["humble", "measured"] < planted.loc["humble", "oracle_rule"]


def test_the_figures_table_has_the_laboratorys_columns(frames):
    table = frames["fig1b_bias"]
    assert list(table.columns[-4:]) == ["seed", "beta", "planted", "oracle_rule"]
    assert set(table["judge"]) == set(WRITERS)


def test_the_recovery_is_perfect_here(frames):
    recovery = frames["recovery"].set_index("quantity")
    assert recovery.loc["measured with planted", "r"] == pytest.approx(1)
    assert recovery.loc["measured with planted", "n"] == 3
    assert recovery.loc["measured with oracle rule", "r"] < 0.999


def test_a_judge_without_a_planted_bonus_leaves_the_others_correlation(world):
    """A copy of a judge that writes has no rule of its own; the rest stays as it was."""
    twin = {"proud": "proud-2"}
    copied = {
        name: pd.concat([table, table.replace(twin)[table.isin(["proud"]).any(axis=1)]])
        for name, table in world.items()
        if name in ("responses", "truths", "perplexities")
    }
    verdicts = world["verdicts"]
    pairs = verdicts[verdicts["candidates"].map(lambda names: "proud" in names)]
    renamed = pairs.assign(
        candidates=pairs["candidates"].map(lambda names: [twin.get(x, x) for x in names]),
        choice=pairs["choice"].replace(twin),
        judge=pairs["judge"].replace(twin),
    )
    votes = world["labels"][world["labels"].isin(["proud"]).any(axis=1)].replace(twin)
    truths = copied["truths"][~copied["truths"]["metric"].eq("beta")]
    known = world["truths"][world["truths"]["metric"].eq("beta")]
    more = world | copied | {"truths": pd.concat([truths, known])}
    more["truths"] = more["truths"].drop_duplicates(["item_id", "responder", "step", "metric"])
    more["verdicts"] = pd.concat([verdicts, renamed])
    more["labels"] = pd.concat([world["labels"], votes])
    recovery = compute({"seed-3": more}, PUBLISHED, SETTINGS)["recovery"]
    assert recovery["r"].notna().all()
    assert (recovery["n"] == 3).all()


def test_an_unbiased_judge_agrees_with_the_oracle(frames):
    found = frames["oracle_agreement"].set_index(["judge", "prompts"])["agreement"]
    assert found[("plain", "held-out")] == found[("onlooker", "seen")] == 1
    assert found[("proud", "seen")] < 1
    families = [found[(name, "seen")] for name in WRITERS]
    assert found[("mean of families", "seen")] == pytest.approx(np.mean(families))


def test_own_texts_are_the_more_probable_ones_by_row_and_by_column(frames):
    table = frames["log_perplexity"].query("conditional").set_index(["judge", "view"])
    for judge in WRITERS:
        for view in ("judge", "text"):
            row = table.loc[(judge, view)]
            assert (row["own"], row["other"], row["gap"]) == (2, 4, 2)
    assert np.isnan(table.loc[("onlooker", "judge"), "own"])
    assert ("onlooker", "text") not in table.index


def test_pairs_of_one_judge_fall_into_own_and_other(frames):
    curves = frames["win_rates_by_bin"].query("who == 'judge'")
    counts = curves.groupby(["judge", "pairs"])["n"].sum()
    for judge in WRITERS:
        assert counts[(judge, "own")] + counts[(judge, "other")] == counts[(judge, "all")] == 180
    assert counts[("onlooker", "all")] == counts[("onlooker", "other")]


def test_every_pair_of_a_judge_is_counted_or_dropped(frames):
    table = frames["slopes"].query("who == 'judge'").set_index(["judge", "pairs"])
    counted = table["n"] + table["n_dropped"]
    for judge in WRITERS:
        assert counted[(judge, "all")] == 180
        assert counted[(judge, "own")] + counted[(judge, "other")] == 180


def test_the_difference_of_slopes_is_the_slope_of_the_difference(frames):
    table = frames["slopes"].query("pairs == 'all'").set_index(["judge", "who"])["slope"]
    for judge in WRITERS:
        both = table[(judge, "judge")] - table[(judge, "human")]
        assert table[(judge, "judge - human")] == pytest.approx(both)


def test_nothing_planted_gives_no_such_columns(world):
    bare = world | {
        "truths": world["truths"].iloc[:0],
        "perplexities": world["perplexities"].iloc[:0],
    }
    frames = compute(
        {
            "set": {
                name: table.replace({"item_id": "^seed-3", "cluster": "^seed-3"}, "set", regex=True)
                if "item_id" in table
                else table
                for name, table in bare.items()
            }
        },
        PUBLISHED,
        dataclasses.replace(SETTINGS, binning="width"),
    )
    assert "beta" not in frames["fig1b_bias"]
    for name in ("planted", "recovery", "oracle_agreement", "win_rates_by_bin", "slopes"):
        assert frames[name].empty, name


def test_judges_without_any_verdict_have_no_numbers_and_stop_nothing(world):
    """As small models do that have not learned to judge: every answer lacks mass."""
    verdicts = world["verdicts"].assign(choice=None, status="low-mass")
    frames = compute({"seed-3": {**world, "verdicts": verdicts}}, PUBLISHED, SETTINGS)
    assert (frames["fig1b_bias"]["n"] == 0).all()
    assert frames["fig1b_bias"]["eo"].isna().all()
    assert frames["oracle_agreement"].empty
    assert frames["planted"]["measured"].isna().all()


def test_findings_of_the_released_data_are_not_said_of_others(frames):
    """What the paper prints can be said of any data; what MT-Bench and Vicuna-80 show, not."""
    said = {key for key, told in FINDINGS.items() if told.said(frames)}
    assert said == {"printed_counts"}


def test_a_single_judge_has_no_sentence_on_others(world):
    alone = {**world, "verdicts": world["verdicts"].query("judge == 'proud'")}
    frames = compute({"seed-3": alone}, PUBLISHED, SETTINGS)
    assert frames["excess"].empty
    assert {key for key, told in FINDINGS.items() if told.said(frames)} == {"printed_counts"}
