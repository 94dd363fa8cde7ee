"""The reader of Panickssery et al.: every rule on hand-written rows, every error with its words."""

import json
from itertools import product
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from study_frames import equal, released

from selfpref.errors import SelfprefError
from selfpref.params import Tuning
from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery import read as panickssery

NAN = np.nan
SOURCES = ("human", "claude", "gpt35", "gpt4", "llama")
PAIR = {"key": "a", "model": "human"}
SEEN = [("article that the judge was tuned on", 2), ("read", 0)]
LLAMA, GPT4 = "results/xsum/llama_results.json", "results/{}/gpt4_results.json"
RECOGNITION = "individual_setting_results/recognition_results/xsum/{}_results.json"


@pytest.fixture
def read(tmp_path):
    """Read files of rows beside the summaries, every table validated."""

    def reading(found, judges=None):
        for name, of in product(SOURCES, ("xsum", "cnn")):
            texts = {key: f"{name} on {key}" for key in "abcdef"}
            found[f"summaries/{of}/{of}_train_{name}_responses.json"] = texts
        files = {path: json.dumps(rows) for path, rows in found.items()}
        return released(tmp_path, panickssery.read, files, "panickssery", "panickssery", judges)

    return reading


def llama(key, forward, backward=(0.125, 0.5)):
    """A row of Llama: recognition as given, preference of little interest."""
    row = {"key": key, "model": "human", "self_preference": 0.5, "detection_score": 0.25}
    for order, pair in (("forward", forward), ("backward", backward)):
        row[f"{order}_detection_output"] = pair and dict(zip("12", pair, strict=True))
        row[f"{order}_comparison_output"] = {"1": 0.5, "2": 0.4}
    return row


def gpt(**more):
    """A row of GPT: the likeliest tokens."""
    row = PAIR | {"self_preference": 0.4375, "detection_score": 0.6, "backward_detection": "1"}
    row |= {"forward_detection": "1", "forward_detection_probability": 0.875}
    for order, p in (("forward", 0.75), ("backward", 0.625)):
        row |= {f"{order}_comparison": "2", f"{order}_comparison_probability": p}
    return row | more


def of(rows, *columns, **chosen):
    """Some columns of some rows, as lists; None where missing."""
    for name, value in chosen.items():
        rows = rows[rows[name].eq(value)]
    found = rows[list(columns)].astype(object)
    return found.where(found.notna(), None).to_numpy().tolist()


def answers(verdicts, offered, **chosen):
    """By article, what was answered to a pair in presented order."""
    rows = verdicts[verdicts["candidates"].map("|".join).eq(offered)]
    told = of(rows, "item_id", "probabilities", "choice", "status", "stored", **chosen)
    return {item.partition("/")[2]: [pair and list(pair), *rest] for item, pair, *rest in told}


def test_an_article_is_an_item_with_its_index_and_five_responses_of_judges_that_are_known(read):
    files = {LLAMA: [llama("a", (0.6, 0.2))], GPT4.format("xsum"): [gpt()]}
    tuned = "results/{}/xsum_2_ft_gpt35_results.json"
    files |= {tuned.format(name): [gpt(key=key) for key in "abc"] for name in ("xsum", "cnn")}
    found = read(files, ["llama", "xsum_2_ft_gpt35"])
    items = of(found["items"], "item_id", "cluster", "metadata")
    assert ["xsum/c", "xsum/c", '{"index": 2}'] in items
    texts = of(found["responses"], "item_id", "responder", "text")
    assert ["xsum/c", "gpt4", "gpt4 on c"] in texts
    assert (len(items), len(texts)) == (2 * 6, 2 * 6 * 5)
    assert set(found["verdicts"]["judge"]) == {"llama", "xsum_2_ft_gpt35"}
    # Articles that a judge was tuned on are counted.
    for name, told in {"xsum": SEEN, "cnn": SEEN[1:]}.items():
        equal(found["audit"], "finding affected", *told, file=tuned.format(name))
    with pytest.raises(SelfprefError, match=r"datasets\.set\.judges: 'gpt5' is unknown; choose of"):
        read(files, judges=["gpt5"])


def test_llamas_probabilities_are_those_of_the_labels_in_presented_order(read):
    pairs = {"a": (0.5, 0.25), "b": (0.3, 0.3), "c": (NAN, 0.2), "d": (0.0, 0.0)}
    found = read({LLAMA: [llama(key, pairs.get(key)) for key in "abcde"]})["verdicts"]
    # The order with the own text first is the release's `forward`. What the release stores stays.
    assert answers(found, "llama|human", task="recognition") == {
        "a": [[0.5, 0.25], "llama", "ok", 0.25],
        "b": [[0.3, 0.3], "tie", "ok", 0.25],
        "d": [[0.0, 0.0], None, "low-mass", 0.25],
        **{key: [None, None, "failed", 0.25] for key in "ce"},
    }
    backward = {key: [[0.125, 0.5], "llama", "ok", 0.25] for key in "abcde"}
    assert answers(found, "human|llama", task="recognition") == backward
    assert of(found, "mass", task="recognition", item_id="xsum/a") == [[0.625], [0.75]]


def test_gpts_likeliest_token_gets_its_probability_and_the_other_label_the_rest(read):
    rows = [gpt(), gpt(key="b", forward_comparison="Both"), gpt(key="c", forward_comparison=None)]
    rows += [gpt(key="e", forward_comparison_probability=1.000001)]
    # The release flips the choice: "1" in the forward order says that the own text is better.
    worse = gpt(forward_comparison="1", backward_comparison="1", self_preference=0.5625)
    bare = {name: value for name, value in gpt().items() if "probability" not in name}
    files = {GPT4.format("cnn"): rows, GPT4.format("xsum"): [bare]}
    files |= {"results_with_worse/cnn/gpt4_results.json": [worse]}
    found, first, second = read(files)["verdicts"], "gpt4|human", "human|gpt4"
    cnn, xsum = (found[found["item_id"].str.startswith(name)] for name in ("cnn", "xsum"))
    assert answers(cnn, first, task="preference") == {
        "a": [[0.25, 0.75], "human", "ok", 0.4375],
        "e": [[0.0, 1.0], "human", "ok", 0.4375],
        "b": [None, None, "unparsable", 0.4375],
        "c": [None, None, "failed", 0.4375],
    }
    # Recognition lacks the backward probability; choices without any are choices. The inverted
    # question names the worse text.
    for rows, offered, task, *wanted in (
        (cnn, second, "preference", [0.375, 0.625], "gpt4", "ok", 0.4375),
        (cnn, first, "recognition", [0.875, 0.125], "gpt4", "ok", 0.6),
        (cnn, second, "recognition", None, "human", "ok", 0.6),
        (xsum, first, "preference", None, "human", "ok", 0.4375),
        (cnn, first, "inferiority", [0.25, 0.75], "human", "ok", 0.5625),
        (cnn, second, "inferiority", [0.375, 0.625], "gpt4", "ok", 0.5625),
    ):
        assert answers(rows, offered, task=task)["a"] == wanted
    assert found["mass"].isna().all()


def test_shown_labels_are_variants_and_random_ones_go_by_what_fell(read):
    row = PAIR | {"self_preference": 0.6}
    for order, p in (("forward", 0.75), ("backward", 0.625)):
        row |= {f"{order}_comparison": "1", f"{order}_probability": p}
    path = "label_results/{}_label_results/xsum/{}_results.json"
    raw = PAIR | {"random_labels": ["human", "llama"]}
    outputs = {"correct": (0.5, 0.25), "incorrect": (0.25, 0.5), "random": (0.125, 0.5)}
    raw |= {f"{word}_label_output": dict(zip("12", p, strict=True)) for word, p in outputs.items()}
    single = [PAIR | {"self_preference": 0.75}, {"key": "z", "model": "gpt4"}]
    random = [row | {"key": "b", "random_labels": ["human", "gpt4"]}]
    random += [row | {"random_labels": ["gpt4", "human"]}]
    files = {
        path.format("correct", "gpt4"): [row],
        path.format("wrong", "gpt4"): [row],
        path.format("random", "gpt4"): random,
        path.format("correct", "llama"): single,
        path.format("random", "llama"): single[:1] * 4,
        "label_results/raw_llama_label_results/xsum_label_llama_raw.json": [raw],
    }
    found = read(files)
    verdicts = found["verdicts"]
    of_gpt = verdicts[verdicts["judge"].eq("gpt4")]
    assert {item: set(rows["variant"]) for item, rows in of_gpt.groupby("item_id")} == {
        "xsum/a": {"labels-correct", "labels-swapped", "labels-random-correct"},
        "xsum/b": {"labels-random-swapped"},
    }
    told = of(of_gpt, "probabilities", "choice", "stored", item_id="xsum/b")
    assert [(list(pair), *rest) for pair, *rest in told] == [
        ([0.75, 0.25], "gpt4", 0.6),
        ([0.625, 0.375], "human", 0.6),
    ]
    # Llama saw labels in one order; what the files of scores store is joined.
    columns = ["variant", "probabilities", "choice", "stored"]
    assert of(verdicts, *columns, judge="llama", item_id="xsum/a") == [
        ["labels-correct", [0.5, 0.25], "llama", 0.75],
        ["labels-random-swapped", [0.125, 0.5], "human", 0.75],
        ["labels-swapped", [0.25, 0.5], "human", None],
    ]
    # An article of the other data set is a verdict that failed.
    assert of(verdicts, "status", item_id="xsum/z") == [["failed"]]
    told = ("article of the other data set", 1), ("read", 0)
    equal(found["audit"], "finding affected", *told, file=path.format("correct", "llama"))


def test_every_spelling_of_yes_counts_and_a_dropped_row_comes_back_unparsable(read):
    def row(key, name, stored, **more):
        return {"key": key, "target_model": name, "recognition_score": stored, **more}

    rows = [row("a", "gpt35", 0.5, res={"Yes": 0.5, " yes": 0.25})]
    rows += [row("a", "human", 0.4, res={"Yes": 0.4, "No": 0.25})]
    bare = [row(*at, 0.2) for at in (("a", "gpt4"), ("a", "human"), ("b", "gpt4"))]
    tuned = RECOGNITION.format("xsum_2_ft_gpt35")
    found = read({tuned: rows, RECOGNITION.format("gpt4"): bare})
    columns = ["responder", "score", "distribution", "stored", "mass"]
    assert of(found["ratings"], *columns, judge="xsum_2_ft_gpt35") == [
        ["gpt35", 0.75, [0.75, 0.0], 0.5, 0.75],
        ["human", 0.4, [0.4, 0.25], 0.4, 0.65],
    ]
    rated = of(found["ratings"], "item_id", "responder", "status", "score", judge="gpt4")
    wanted = [["xsum/a", "gpt4", "ok", 0.2], ["xsum/a", "human", "ok", 0.2]]
    wanted += [["xsum/b", "gpt4", "ok", 0.2], ["xsum/b", "human", "unparsable", None]]
    assert sorted(rated, key=str) == wanted


def test_a_grade_is_the_expectation_of_its_digits(read):
    given = [("a", 3.5, [0, 0.25, 0, 0.5, 0]), ("b", 2.5, [0] * 5), ("c", NAN, [NAN] * 5)]
    rows = [
        {"key": key, "target_model": "human", "score": stored, "scores": dict(enumerate(grades, 1))}
        for key, stored, grades in given
    ]
    path = "individual_setting_results/score_results/xsum/llama_results.json"
    found = read({path: rows})["ratings"]
    assert of(found, "status", "score", "mass", "stored") == [
        ["ok", pytest.approx(2.5 / 0.75), 0.75, 3.5],
        ["low-mass", None, 0.0, 2.5],
        ["failed", None, None, None],
    ]
    assert of(found, "distribution")[0] == [[0, 0.25, 0, 0.5, 0]]


def test_an_evaluator_is_told_by_the_parameters_or_by_its_name():
    tuned = Tuning(on="set", variant="self-recognition", articles=2)
    recognise = {"host": SimpleNamespace(own="me", tuned=tuned)}
    again = {"two": tuned.model_copy(update={"replay": 0.5})}
    finetune = {"me": SimpleNamespace(model="me", evaluators=again)}
    section = SimpleNamespace(recognise=recognise, finetune=finetune)
    judges = ("host", "me-two", "gpt4", "xsum_10_ft_gpt35", "cnn_always_1_ft_llama")
    table = evaluators.described(section, judges, {"human", "me", "you"})
    # Two articles beside two other sources in two orders; in the release beside four.
    assert of(table, *evaluators.COLUMNS) == [
        ["host", "me", "set", "self-recognition", 8, 2],
        ["me-two", "me", "set", "self-recognition-replay", 8, 2],
        ["cnn_always_1_ft_llama", "llama", "cnn", "always-1", 4000, 500],
        ["gpt4", "gpt4", "", "base", 0, 0],
        ["xsum_10_ft_gpt35", "gpt35", "xsum", "self-recognition", 80, 10],
    ]


def test_one_model_under_two_names_is_told_from_two_models_alike():
    grades = {"a": [1, 5, 3], "b": [1.01, 5, 2.99], "c": [NAN, 5, 2.5], "d": [3, 3, 3]}
    rows = pd.DataFrame({"cluster": list("xyz"), **grades})
    rows = rows.melt("cluster", var_name="evaluator", value_name="released").assign(target="t")
    distances = evaluators.grade_distances(rows)
    wanted = [("a", "b", 0.02 / 3, 3), ("b", "c", 0.245, 2), ("a", "c", 0.25, 2)]
    equal(distances, "one two distance n", *wanted)
    assert evaluators.duplicated(distances) == {"a": "b", "b": "a"}
