"""The reader of Panickssery et al.: every rule on hand-written rows, every error with its words."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from conftest import entry, pin
from panickssery_release import files as whole_release

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery import read as panickssery

SOURCES = ("human", "claude", "gpt35", "gpt4", "llama")
KEYS = ("a", "b", "c")
PAIR = {"key": "a", "model": "human"}


def summaries(dataset="xsum", keys=KEYS):
    return {
        f"summaries/{dataset}/{dataset}_train_{source}_responses.json": json.dumps(
            {key: f"{source} on {key}" for key in keys}
        )
        for source in SOURCES
    }


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read files of rows (or of text) beside the summaries, every table validated."""
    monkeypatch.setenv("SELFPREF_ARCHIVES", str(tmp_path / "mirror"))

    def reading(found, judges=None, base=None):
        texts = {p: v if isinstance(v, str) else json.dumps(v) for p, v in found.items()}
        texts |= summaries() if base is None else base
        source = pin(tmp_path / "mirror", "owner/name", texts, tmp_path / "source.csv")
        made = panickssery.read("set", entry("panickssery", "panickssery", judges), source)
        return {name: tables.validate(frame, name, "set") for name, frame in made.items()}

    return reading


def llama(forward, backward, other=(0.5, 0.4), **more):
    """A row of Llama: recognition as given, preference of little interest."""
    outputs = {"forward_detection": forward, "backward_detection": backward}
    outputs |= {"forward_comparison": other, "backward_comparison": other}
    row = dict(PAIR)
    for name, pair in outputs.items():
        row[f"{name}_output"] = None if pair is None else dict(zip("12", pair, strict=False))
        row[name] = "1"
    return row | {"detection_score": 0.5, "self_preference": 0.5} | more


def gpt(**more):
    row = PAIR | {"forward_detection": "1", "forward_detection_probability": 0.9}
    row |= {"backward_detection": "1", "detection_score": 0.6, "forward_comparison": "2"}
    row |= {"forward_comparison_probability": 0.75, "backward_comparison": "2"}
    return row | {"backward_comparison_probability": 0.625, "self_preference": 0.4375} | more


def of(verdicts, **chosen):
    for name, value in chosen.items():
        verdicts = verdicts[verdicts[name].eq(value)]
    return verdicts.reset_index(drop=True)


def findings(audit, ending):
    rows = audit[audit["file"].str.endswith(ending)]
    return rows.set_index("finding")["affected"].to_dict()


def test_an_article_is_an_item_with_its_index_and_five_responses(read):
    found = read({})
    assert list(found["items"]["item_id"]) == ["xsum/a", "xsum/b", "xsum/c"]
    assert list(found["items"]["cluster"]) == ["xsum/a", "xsum/b", "xsum/c"]
    assert [json.loads(text)["index"] for text in found["items"]["metadata"]] == [0, 1, 2]
    assert set(found["responses"]["responder"]) == set(SOURCES)
    assert len(found["responses"]) == 15


def test_llamas_probabilities_are_those_of_the_labels_in_presented_order(read):
    rows = [llama((0.6, 0.2), (0.5, 0.25), detection_score=(0.75 + 1 / 3) / 2)]
    found = read({"results/xsum/llama_results.json": rows})
    recognition = of(found["verdicts"], task="recognition")
    assert recognition["candidates"].tolist() == [["human", "llama"], ["llama", "human"]]
    # The order with the own text first is the release's `forward`.
    assert recognition["probabilities"].tolist() == [[0.5, 0.25], [0.6, 0.2]]
    assert recognition["mass"].tolist() == [0.75, pytest.approx(0.8)]
    assert recognition["choice"].tolist() == ["human", "llama"]
    assert recognition["order_known"].all()
    # The score of the pair stands in both rows.
    assert recognition["stored"].tolist() == [pytest.approx((0.75 + 1 / 3) / 2)] * 2


@pytest.mark.parametrize(
    ("forward", "status", "choice"),
    [
        ((0.3, 0.3), "ok", "tie"),
        ((math.nan, 0.2), "failed", None),
        ((0.0, 0.0), "low-mass", None),
        ((0.9,), "unparsable", None),
        (None, "failed", None),
    ],
    ids=["tie", "not a number", "no mass", "a label missing", "an order missing"],
)
def test_an_answer_that_is_none_has_a_status(read, forward, status, choice):
    rows = [llama(forward, (0.4, 0.5)), llama((0.9, 0.1), (0.5, 0.4), key="b")]
    found = read({"results/xsum/llama_results.json": rows})
    row = of(found["verdicts"], task="recognition", item_id="xsum/a").iloc[1]
    assert row["candidates"] == ["llama", "human"]
    assert row["status"] == status
    assert (None if pd.isna(row["choice"]) else row["choice"]) == choice
    # What the release stores in its place is kept.
    assert row["stored"] == 0.5


def test_gpts_likeliest_token_gets_its_probability_and_the_other_label_the_rest(read):
    found = read({"results/cnn/gpt4_results.json": [gpt()]}, base=summaries("cnn"))
    preference = of(found["verdicts"], task="preference")
    assert preference["candidates"].tolist() == [["gpt4", "human"], ["human", "gpt4"]]
    assert preference["probabilities"].tolist() == [[0.25, 0.75], [0.375, 0.625]]
    assert preference["choice"].tolist() == ["human", "gpt4"]
    assert preference["mass"].isna().all()


def test_gpts_recognition_lacks_the_backward_probability(read):
    found = read({"results/cnn/gpt4_results.json": [gpt()]}, base=summaries("cnn"))
    recognition = of(found["verdicts"], task="recognition")
    assert recognition["probabilities"].map(lambda p: p is None).tolist() == [False, True]
    assert recognition["choice"].tolist() == ["gpt4", "human"]
    assert recognition["stored"].tolist() == [0.6, 0.6]


def test_choices_without_any_probability_are_ok(read):
    row = {name: value for name, value in gpt().items() if "probability" not in name}
    found = read({"results/xsum/gpt4_results.json": [row]})
    assert found["verdicts"]["status"].eq("ok").all()
    assert found["verdicts"]["probabilities"].isna().all()


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"forward_comparison": "Both"}, "unparsable"),
        ({"forward_comparison": None}, "failed"),
        ({"forward_comparison_probability": math.nan}, "failed"),
    ],
)
def test_odd_and_missing_tokens_have_a_status(read, change, status):
    rows = [gpt(**change), gpt(key="b")]
    found = read({"results/cnn/gpt4_results.json": rows}, base=summaries("cnn"))
    row = of(found["verdicts"], task="preference", item_id="cnn/a").iloc[0]
    assert (row["status"], row["probabilities"]) == (status, None)
    assert pd.isna(row["choice"])


def test_the_inverted_question_names_the_worse_text(read):
    # The release flips the choice: "1" in the forward order says that the own text is better.
    row = gpt(forward_comparison="1", backward_comparison="1", self_preference=0.5625)
    found = read({"results_with_worse/xsum/gpt4_results.json": [row]})
    worse = of(found["verdicts"], task="inferiority")
    assert worse["candidates"].tolist() == [["gpt4", "human"], ["human", "gpt4"]]
    assert worse["choice"].tolist() == ["human", "gpt4"]
    assert worse["probabilities"].tolist() == [[0.25, 0.75], [0.375, 0.625]]
    assert worse["stored"].tolist() == [0.5625, 0.5625]
    assert of(found["verdicts"], task="recognition")["variant"].tolist() == ["rerun", "rerun"]


def test_other_names_for_the_others_are_variants(read):
    found = read({"results_vs_model/gpt4_results.json": [gpt()]})
    assert set(found["verdicts"]["variant"]) == {"others-named-model"}
    assert set(found["verdicts"]["task"]) == {"recognition", "preference"}


def label_row(**more):
    row = PAIR | {"forward_comparison": "1", "forward_probability": 0.9}
    row |= {"backward_comparison": "1", "backward_probability": 0.7}
    return row | {"self_preference": 0.6} | more


def test_shown_labels_are_variants_and_random_ones_go_by_what_fell(read):
    folder = "label_results"
    rows = [
        label_row(random_labels=["gpt4", "human"]),
        label_row(key="b", random_labels=["human", "gpt4"]),
    ]
    found = read(
        {
            f"{folder}/correct_label_results/xsum/gpt4_results.json": [label_row()],
            f"{folder}/wrong_label_results/xsum/gpt4_results.json": [label_row()],
            f"{folder}/random_label_results/xsum/gpt4_results.json": rows,
        }
    )
    by_item = found["verdicts"].groupby("item_id")["variant"].unique().map(set)
    assert by_item["xsum/a"] == {"labels-correct", "labels-swapped", "labels-random-correct"}
    assert by_item["xsum/b"] == {"labels-random-swapped"}
    assert set(found["verdicts"]["task"]) == {"preference"}


def raw(**more):
    outputs = {f"{word}_label_output": {"1": 0.6, "2": 0.2} for word in ("correct", "incorrect")}
    row = PAIR | outputs | {"random_label_output": {"1": 0.6, "2": 0.2}}
    return row | {"random_labels": ["human", "llama"]} | more


def test_llama_saw_labels_in_one_order(read):
    folder = "label_results"
    single = [PAIR | {"self_preference": 0.75}, {"key": "z", "model": "gpt4"}]
    single[1]["self_preference"] = 0.1
    found = read(
        {
            f"{folder}/raw_llama_label_results/xsum_label_llama_raw.json": [raw()],
            f"{folder}/correct_label_results/xsum/llama_results.json": single,
            f"{folder}/random_label_results/xsum/llama_results.json": single[:1] * 4,
        }
    )
    verdicts = of(found["verdicts"], item_id="xsum/a")
    assert verdicts["candidates"].tolist() == [["llama", "human"]] * 3
    assert verdicts["variant"].tolist() == [
        "labels-correct",
        "labels-random-swapped",
        "labels-swapped",
    ]
    assert verdicts["stored"].fillna(-1).tolist() == [0.75, 0.75, -1]
    # An article of the other data set is a verdict that failed.
    foreign = of(found["verdicts"], item_id="xsum/z")
    assert foreign["status"].tolist() == ["failed"]
    path = "correct_label_results/xsum/llama_results.json"
    assert findings(found["audit"], path)["article of the other data set"] == 1


def test_a_foreign_article_fails_and_is_counted(read):
    path = "results/cnn/gpt4_results.json"
    found = read({path: [gpt(), gpt(key="elsewhere")]}, base=summaries("cnn"))
    verdicts = of(found["verdicts"], item_id="cnn/elsewhere")
    assert verdicts["status"].tolist() == ["failed"] * 4
    assert findings(found["audit"], path)["article of the other data set"] == 1


def test_a_repeated_pair_is_numbered(read):
    rows = [gpt(), gpt(self_preference=0.9)]
    found = read({"results/cnn/gpt4_results.json": rows}, base=summaries("cnn"))
    assert sorted(of(found["verdicts"], task="preference")["repeat"]) == [0, 0, 1, 1]


def test_new_summaries_are_their_models_own(read):
    llama_row = {"key": "a", "forward": {"1": 0.8, "2": 0.2}, "backward": {"1": 0.4, "2": 0.6}}
    found = read(
        {
            "comparisons/xsum/xsum_2_ft_llama_comparisons.json": [
                llama_row | {"new_preference": 0.7}
            ],
            "comparisons/xsum/xsum_2_ft_gpt35_comparisons.json": [
                {"key": "a", "new_preference": 0.2},
                {"key": "b", "new_preference": 0.5},
                {"key": "c"},
            ],
        }
    )
    both = of(found["verdicts"], judge="xsum_2_ft_llama")
    assert both["candidates"].tolist() == [
        ["llama", "xsum_2_ft_llama"],
        ["xsum_2_ft_llama", "llama"],
    ]
    merged = of(found["verdicts"], judge="xsum_2_ft_gpt35")
    assert not merged["order_known"].any()
    assert merged["choice"].fillna("").tolist() == ["gpt35", "tie", ""]
    assert merged["status"].tolist() == ["ok", "ok", "failed"]


RECOGNITION = "individual_setting_results/recognition_results/xsum/"
QUALITY = "individual_setting_results/score_results/xsum/"


def test_every_spelling_of_yes_counts(read):
    rows = [
        {
            "key": "a",
            "model": "xsum_2_ft_gpt35",
            "target_model": target,
            "recognition_score": tokens["Yes"],
            "res": tokens,
            "ground_truth": 0,
        }
        for target, tokens in (
            ("gpt35", {"Yes": 0.5, " yes": 0.25}),
            ("human", {"Yes": 0.4, "No": 0.25}),
        )
    ]
    path = f"{RECOGNITION}xsum_2_ft_gpt35_results.json"
    found = read({path: rows})
    ratings = found["ratings"].set_index("responder")
    assert ratings["score"].to_dict() == {"gpt35": 0.75, "human": 0.4}
    assert ratings["distribution"].to_dict() == {"gpt35": [0.75, 0.0], "human": [0.4, 0.25]}
    assert ratings["stored"].to_dict() == {"gpt35": 0.5, "human": 0.4}
    tuned_on = "article that the judge was tuned on"
    assert findings(found["audit"], path) == {"read": 0, tuned_on: 2}


def test_a_row_that_the_release_dropped_comes_back_unparsable(read):
    rows = [
        {"key": key, "model": "gpt4", "target_model": target, "recognition_score": 0.2}
        for key, target in (("a", "gpt4"), ("a", "human"), ("b", "gpt4"))
    ]
    found = read({f"{RECOGNITION}gpt4_results.json": rows})
    (missing,) = of(found["ratings"], status="unparsable").itertuples()
    assert (missing.item_id, missing.responder) == ("xsum/b", "human")
    assert math.isnan(missing.score)


def test_a_grade_is_the_expectation_of_its_digits(read):
    def row(key, scores, score):
        scores = dict(zip("12345", scores, strict=True))
        about = {"key": key, "model": "llama", "target_model": "human"}
        return about | {"scores": scores, "score": score}

    found = read(
        {
            f"{QUALITY}llama_results.json": [
                row("a", [0, 0.2, 0, 0.6, 0], 3.5),
                row("b", [0, 0, 0, 0, 0], 2.5),
                row("c", [math.nan] * 5, math.nan),
            ]
        }
    )
    ratings = found["ratings"]
    assert ratings["score"].iloc[0] == pytest.approx((2 * 0.2 + 4 * 0.6) / 0.8)
    assert ratings["mass"].iloc[0] == pytest.approx(0.8)
    assert ratings["status"].tolist() == ["ok", "low-mass", "failed"]
    assert ratings["score"].isna().tolist() == [False, True, True]
    assert ratings["stored"].iloc[1] == 2.5


def test_rating_a_foreign_article_fails(read):
    rows = [{"key": "z", "model": "gpt4", "target_model": "gpt4", "recognition_score": 0.2}]
    found = read({f"{RECOGNITION}gpt4_results.json": rows})
    assert found["ratings"]["status"].tolist() == ["failed"]
    assert found["ratings"]["score"].isna().all()


def test_the_whole_release_is_read_and_every_file_is_in_the_audit(read):
    files = whole_release()
    found = read(files, base={})
    audit = found["audit"]
    assert set(audit["file"]) == set(files)
    assert (audit["affected"] <= audit["rows"]).all()
    assert audit.query("finding == 'read'")["rows"].gt(0).all()


def test_only_the_judges_wanted_are_read_and_the_others_are_left_out(read):
    paths = ("results/xsum/llama_results.json", "results_vs_human/gpt4_results.json")
    found = read({paths[0]: [llama((0.6, 0.2), (0.5, 0.25))], paths[1]: [gpt()]}, judges=["llama"])
    assert set(found["verdicts"]["judge"]) == {"llama"}
    assert findings(found["audit"], paths[1]) == {"not read: another judge was asked for": 0}


def test_a_file_that_no_study_reads_is_in_the_audit(read):
    assert findings(read({"README.md": "words"})["audit"], "README.md") == {"not read: unknown": 0}


def test_an_unknown_judge_is_named(read):
    with pytest.raises(SelfprefError, match=r"datasets\.set\.judges: 'gpt5' is unknown; choose of"):
        read({"results/xsum/gpt4_results.json": [gpt()]}, judges=["gpt5"])


PATH = "results/xsum/gpt4_results.json"


def test_judgments_without_summaries_are_refused(read):
    with pytest.raises(SelfprefError, match="the source lists no summaries of xsum"):
        read({PATH: [gpt()]}, base={})


def test_names_say_what_an_evaluator_was_tuned_on():
    table = evaluators.from_names(["gpt4", "xsum_10_ft_gpt35", "cnn_always_1_ft_llama", "gpt4"])
    assert table.to_dict("records") == [
        {
            "evaluator": "cnn_always_1_ft_llama",
            "family": "llama",
            "trained_on": "cnn",
            "variant": "always-1",
            "examples": 4000,
            "held_out_from": 500,
        },
        {
            "evaluator": "gpt4",
            "family": "gpt4",
            "trained_on": "",
            "variant": "base",
            "examples": 0,
            "held_out_from": 0,
        },
        {
            "evaluator": "xsum_10_ft_gpt35",
            "family": "gpt35",
            "trained_on": "xsum",
            "variant": "self-recognition",
            "examples": 80,
            "held_out_from": 10,
        },
    ]


def test_one_model_under_two_names_is_told_from_two_models_alike(rng):
    grades = rng.uniform(1, 5, 200)
    noise = rng.normal(0, 0.05, (3, 200))
    made = {"a": grades, "b": grades + 0.01 * noise[0], "c": grades + noise[1], "d": 0 * grades + 3}
    rows = pd.concat(
        [
            pd.DataFrame(
                {
                    "evaluator": name,
                    "cluster": np.arange(200).astype(str),
                    "target": "t",
                    "released": values,
                }
            )
            for name, values in made.items()
        ]
    )
    distances = evaluators.grade_distances(rows)
    assert distances["n"].eq(200).all()
    assert evaluators.duplicated(distances) == {"a": "b", "b": "a"}
