"""Judged pairs on which nobody voted: what stands, what is named missing, what a panel says."""

import itertools
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
from conftest import PUBLISHED, SETTINGS, counted

from selfpref import tables
from selfpref.studies.beyond import measure as beyond
from selfpref.studies.wataoka import draw, measure
from selfpref.studies.wataoka.draw import by_perplexity, by_responder
from selfpref.studies.wataoka.measure.judged import Judged
from selfpref.studies.wataoka.measure.panel import by_panel

ITEMS, WRITERS, JUDGES = range(12), ("me", "she", "you"), ("me", "one", "two", "you")
PARAMS = SimpleNamespace(
    profile="live",
    bootstrap=SimpleNamespace(level=0.95, method="percentile", resamples=200),
    wataoka=SimpleNamespace(
        **{"scale": "log-perplexity", "bins": 4, "binning": "count", "panel": ["one", "two"]},
        **{"human_ties": "drop", "judge_ties": "drop", "judge_tie": "exact", "turns": "all"},
        threshold=0.5,
    ),
)


def chosen(judge, item, pair):
    """Both orders alike: `me` chooses itself on all items, others on every other or third one."""
    if judge == "me":
        return "me" if "me" in pair else pair[0]
    return sorted(pair)[item % {"one": 2, "two": 2, "you": 3}[judge] > 0]


def table(name, rows):
    return tables.validate(tables.fill(rows, name, study="wataoka"), name, "test")


def judged(*votes, panel=(), without=()):
    """The data set `mine`, with votes (item, first, second, label) and the verdicts of `JUDGES`."""
    ids = {item: f"mine/{item}" for item in ITEMS}
    keys = list(itertools.product(ITEMS, WRITERS))
    made = {
        "items": [{"item_id": n, "cluster": n, "messages": []} for n in ids.values()],
        "responses": [
            {"item_id": ids[item], "responder": name, "text": "x" * (item + len(name))}
            for item, name in keys
        ],
        "labels": [
            dict(zip(("responder_a", "responder_b", "label"), vote, strict=True), item_id=ids[item])
            for item, *vote in votes
        ],
        "truths": [],
        "verdicts": [
            {"item_id": ids[item], "judge": judge, "candidates": list(pair), "status": "ok"}
            | {"choice": chosen(judge, item, sorted(pair))}
            for item, pair, judge in itertools.product(
                ITEMS, itertools.permutations(WRITERS, 2), JUDGES
            )
            if judge not in without
        ],
        "perplexities": [
            {"item_id": ids[item], "responder": name, "judge": "me", "conditional": given}
            | {"sum_nll": 1.0 + item * len(name) % 7, "n_tokens": 2, "n_bytes": 9, "status": "ok"}
            for (item, name), given in itertools.product(keys, (True, False))
        ],
    }
    frames = {name: table(name, rows) for name, rows in made.items()}
    frames["responses"] = counted(frames["responses"])
    return Judged("mine", frames, replace(SETTINGS, panel=panel))


def computed(data):
    return measure.compute({data.name: data.tables}, PUBLISHED, data.settings)


@pytest.fixture(scope="module")
def unvoted():
    return computed(judged())


def test_a_judge_without_votes_has_no_bias_and_its_counts_are_0(unvoted):
    row = unvoted["fig1b_bias"].set_index("judge").loc["me"]
    assert pd.isna(row["eo"])
    assert pd.isna(row["dp"])
    assert (row["n"], row["n_dropped"]) == (0, 0)
    assert unvoted["excess"]["excess"].isna().all()


def test_parity_position_and_slopes_need_no_vote(unvoted):
    parity = unvoted["table2_demographic_parity"].set_index("judge").loc["me"]
    assert (parity["dp_every"], parity["n_every"], parity["n_decisive"]) == (1.0, 24, 0)
    place = unvoted["position"].set_index(["judge", "pairs"]).loc[("me", "own")]
    assert (place["n_both"], place["flip_rate"]) == (24, 0.0)
    slopes = unvoted["slopes"].set_index("pairs")
    assert set(slopes["who"]) == {"judge"}
    assert slopes.loc["own", "n"] == 24
    assert slopes["controlled"].isna().all()
    assert set(unvoted["win_rates_by_bin"]["who"]) == {"judge"}


def test_own_pairs_without_votes_stand_beside_others_with_votes():
    votes = [(item, "she", "you", "ab"[item % 2]) for item in ITEMS]
    found = computed(judged(*votes))["slopes"].set_index(["judge", "pairs", "who"])["n"]
    assert found["me", "own", "judge"] == 24
    assert ("me", "own", "human") not in found
    assert found["me", "other", "human"] == found["me", "other", "judge"] == 12


def test_figures_say_that_nobody_voted(unvoted):
    plate = draw.bias(unvoted["fig1b_bias"], unvoted["paper_bias"], PARAMS)
    assert "obody voted on a pair with a judge's own response" in plate.caption
    told = draw.demographic_parity(unvoted["table2_demographic_parity"], PARAMS).caption
    assert "Every pair: mine: 48 pairs of 2 judges, 0 left out" in told
    for plate in (
        draw.confusion(unvoted["fig1b_bias"], unvoted["paper_bias"]),
        draw.by_opponent(unvoted["bias_by_opponent"], PARAMS),
        draw.position(unvoted["position"], PARAMS),
        by_responder.towards(unvoted["bias_by_judge_and_responder"], PARAMS),
        by_perplexity.perplexity_vs_human(unvoted["win_rates_by_bin"], PARAMS),
        by_perplexity.slopes(unvoted["slopes"], PARAMS),
        by_perplexity.own_vs_other(unvoted["win_rates_by_bin"], PARAMS),
    ):
        assert plate.caption


def beyond_of(data):
    found = beyond.compute([beyond.pairs([data])], 0.95)["beyond"]
    return found.set_index(["judge", "gold", "statistic"])


def test_beyond_the_paper_excess_and_regression_need_no_vote():
    found = beyond_of(judged())
    mine = found.loc[("me", "none")]
    # The other judges choose its response on some of the items.
    assert mine.loc["paired_excess", "value"] > 0
    assert mine.loc["regression", "value"] > 0
    assert mine.loc["demographic_parity", "value"] == 1
    human = found.loc[("me", "human")]
    assert human["n"].eq(0).all()
    assert human.loc["equal_opportunity", "reason"] == "no label on a set with its own response"
    assert human["reason"].ne("").all()


def test_the_panel_is_of_judges_that_wrote_neither_response_and_did_not_vote():
    data = by_panel(judged((0, "me", "she", "a"), panel=("one", "two", "you")))
    labels = data.tables["labels"].set_index(["item_id", "responder_a", "responder_b"])["label"]
    assert data.name == "mine (panel)"
    # People voted on this one; `one` and `two` agree on all others, and outvote `you`.
    assert ("mine/0", "me", "she") not in labels
    assert len(labels) == len(ITEMS) * 3 - 1
    assert [labels[f"mine/{item}", "me", "she"] for item in (1, 2)] == ["b", "a"]
    judges = data.pairs.groupby(["first", "second"])["judge"].agg(set)
    assert judges["me", "she"] == {"me"}
    assert judges["me", "you"] == judges["she", "you"] == {"me", "you"}


def test_a_panel_of_one_member_abstains_on_its_own_pairs():
    data = by_panel(judged(panel=("you",)))
    assert set(zip(data.pairs["first"], data.pairs["second"], strict=True)) == {("me", "she")}
    assert by_panel(judged(panel=("you",), without=("you",))) is None
    assert by_panel(judged()) is None


def test_what_a_panel_says_is_marked_in_tables_captions_and_gold_labels():
    data = judged(panel=("one", "two"))
    frames = computed(data)
    bias = frames["fig1b_bias"].set_index(["dataset", "judge"])
    row = bias.loc[("mine (panel)", "me")]
    # It chooses itself on 24 pairs, of which the panel gives it 12.
    assert tuple(row[["tp", "fn", "fp", "tn", "eo"]]) == (12, 0, 12, 0, 1.0)
    assert bias.loc[("mine", "me"), "n"] == 0
    for name in ("wins_by_human", "agreement", "win_rates", "agreement_with_human", "position"):
        assert not frames[name].get("dataset", pd.Series()).eq("mine (panel)").any(), name
    bias = bias.reset_index()
    for plate in (
        draw.bias(bias, frames["paper_bias"], PARAMS),
        draw.confusion(bias, frames["paper_bias"]),
        draw.by_opponent(frames["bias_by_opponent"], PARAMS),
        by_responder.towards(frames["bias_by_judge_and_responder"], PARAMS),
    ):
        assert "mine (panel): nobody voted; what the text calls human is" in plate.caption
    asked = pd.DataFrame([["two", "verdicts", "no table"]], columns=["judge", "table", "status"])
    told = draw.rows_used(bias, frames["responses"], asked, PARAMS)
    assert "the majority of one, two" in told
    assert "Not there, since its stage failed: verdicts of two." in told
    found = beyond_of(data)
    assert found.loc[("me", "panel", "equal_opportunity"), "value"] == 1.0
    assert found.loc[("me", "human", "equal_opportunity"), "n"] == 0
