"""Arms, best of k, votes, fresh readings: how they stand in the tables."""

import json
import re

import pandas as pd
import pytest
from scripted_refiner import CONCEPTS, PROBLEM, TRANSLATION, ScriptedEngine, model, plan

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.models import Text
from selfpref.params.studies import Xu
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.store import Store
from selfpref.studies.xu import chains, refine
from selfpref.studies.xu.bias import Settings, averaged, curves, rated
from selfpref.studies.xu.feedback import Feedback, read
from selfpref.studies.xu.items import Item, from_table, to_table
from selfpref.studies.xu.refine import truths_of
from selfpref.studies.xu.refine.judges import Draft, NoiseJudge
from selfpref.studies.xu.translation import expected

ERROR = "'x' is a major accuracy error"


def settings_of(truth, resamples):
    use = Xu.model_construct(truth=truth, matcher="lemma", gamma=0.0)
    return Settings(use, ClusterBootstrap(resamples, seed=1))


def run(tmp_path, say, asked, use, *, other=None, scores=True):
    with Store(tmp_path / "store.sqlite") as store:
        external = other and model(store, ScriptedEngine(other, "other"), use, "other", scores)
        found, _ = refine.run("xu", asked, model(store, ScriptedEngine(say), use), external)
    return {name: tables.validate(table, name, name) for name, table in found.items()}


def by_length(kind, text, seed):
    """One error fewer for each word of the translation; revisions grow by a word."""
    written = re.search(r"English: (.*)", text)
    if kind == "write":
        return f"word{seed % 97}"
    if kind == "feedback":
        return "\n".join([ERROR] * max(0, 4 - len(written[1].split()))) or "no error"
    return f"{written[1]} more"


def test_ratings_are_found_by_judge_and_arm(tmp_path):
    use = plan(2, ("accept-all", "accept-random", "external", "noise"))
    found = run(tmp_path, by_length, [TRANSLATION], use, other=lambda *_: "no error")
    ratings = found["ratings"].join(chains.addressed(found["ratings"]["item_id"]))
    drove = ratings[ratings["variant"].ne("rescored")]
    assert set(zip(drove["condition"], drove["variant"], drove["judge"], strict=True)) == {
        ("", "plain", "me"),
        ("accept-all", "accept-all", "me"),
        ("accept-random", "accept-random", "me"),
        ("external", "external", "other"),
        ("noise", "noise", "noise"),
    }
    assert set(drove.groupby("condition")["step"].agg(list).map(tuple)) == {(0, 1, 2)}
    # Every kept text has a fresh reading by either model, and what is true of it.
    texts = set(zip(found["responses"]["item_id"], found["responses"]["step"], strict=True))
    for judge in ("me", "other"):
        fresh = ratings[ratings["variant"].eq("rescored") & ratings["judge"].eq(judge)]
        assert set(zip(fresh["item_id"], fresh["step"], strict=True)) == texts
    for name in ("truths", "perplexities"):
        assert set(zip(found[name]["item_id"], found[name]["step"], strict=True)) == texts
    assert set(found["perplexities"]["judge"]) == {"other"}


def test_items_get_a_row_under_every_condition():
    items = to_table("xu", [TRANSLATION, PROBLEM])
    named = pd.Series(["yor-en/1", "best-of-4/yor-en/1", "noise/yor-en/1", "noise/yor-en/1"])
    found = chains.under_conditions(items, named).set_index("item_id")
    assert sorted(found.index) == [
        "best-of-4/yor-en/1",
        "math/1",
        "noise/yor-en/1",
        "yor-en/1",
    ]
    assert found.loc["noise/yor-en/1", "cluster"] == "yor-en/1"
    assert found.loc["best-of-4/yor-en/1", "reference"] == "Good morning."
    tables.validate(found.reset_index(), "items", "items")


def test_a_model_that_gives_no_likelihoods_is_not_asked_for_them(tmp_path):
    found = run(
        tmp_path, by_length, [TRANSLATION], plan(1), other=lambda *_: "no error", scores=False
    )
    assert found["perplexities"].empty


def test_the_first_of_the_best_is_chosen(tmp_path):
    order = iter(["c0", "c1", "c2", "c3"])
    errors = {"c0": 3, "c1": 1, "c2": 1, "c3": 0}
    texts: dict[int, str] = {}

    def say(kind, text, seed):
        if kind == "write":
            return texts.setdefault(seed, next(order, "late"))
        written = re.search(r"English: (.*)", text)[1]
        return "\n".join([ERROR] * errors.get(written, 3)) or "no error"

    found = run(tmp_path, say, [TRANSLATION], plan(1, best_of=(1, 2, 3, 4)))
    chosen = found["responses"][found["responses"]["step"].eq(1)]
    chosen = chosen.set_index("item_id")["text"]
    assert [chosen[f"best-of-{k}/yor-en/1"] for k in (1, 2, 3, 4)] == ["c0", "c1", "c1", "c3"]
    candidates = found["ratings"].query("item_id == 'best-of-3/yor-en/1' and step == 0")
    assert candidates["sample"].tolist() == [0, 1, 2]
    assert candidates["score"].tolist() == [-15, -5, -5]
    # True scores are those of the chosen texts alone.
    assert set(found["truths"].query("item_id == 'best-of-3/yor-en/1'")["step"]) == {1}


def test_candidates_without_usable_feedback_are_never_chosen(tmp_path):
    def say(kind, text, seed):
        if kind == "write":
            return f"c{seed}"
        return "[BLOCKED]"

    found = run(tmp_path, say, [TRANSLATION], plan(1, best_of=(2,)))
    best = found["responses"][found["responses"]["item_id"].str.startswith("best-of-2")]
    assert set(best["step"]) == {0}


def test_votes_rate_the_current_answer(tmp_path):
    answers = iter(["3", "2", "2", "2"])
    made: dict[int, str] = {}

    def say(kind, text, seed):
        if kind == "write":
            return made.setdefault(seed, rf"\boxed{{{next(answers, '2')}}}")
        return "[[yes]]"

    found = run(tmp_path, say, [PROBLEM], plan(1, rounds=(3, 4)))
    votes = found["ratings"].query("variant == 'self-consistency'")
    assert votes["item_id"].tolist() == ["self-consistency/math/1"] * 2
    assert votes["score"].tolist() == [0.0, 1.0]
    texts = found["responses"].query("item_id == 'self-consistency/math/1'")["text"]
    assert texts.tolist() == [r"\boxed{3}", r"\boxed{2}"]


def test_probabilities_of_a_verdict_are_kept(tmp_path):
    def say(kind, text, seed):
        return r"\boxed{\frac{1}{2}}" if kind == "write" else "Right. [[yes]]"

    found = run(tmp_path, say, [PROBLEM], plan(1))
    row = found["ratings"].iloc[0]
    assert (row["score"], list(row["distribution"]), row["mass"]) == (1, [0.75, 0.125], 0.875)
    assert found["truths"]["score"].tolist() == [1.0, 1.0]


def test_truths_of_each_task(tmp_path):
    texts = {"Yoruba": "Good morning.", "frisbee": "The dogs chase frisbees.", "1/4": "1/2"}

    def say(kind, text, seed):
        if kind == "feedback":
            return "no error all covered [[yes]]"
        return next(answer for sign, answer in texts.items() if sign in text)

    found = run(tmp_path, say, [TRANSLATION, CONCEPTS, PROBLEM], plan(1))["truths"]
    known = found[found["step"].eq(0)].set_index(["item_id", "metric"])["score"]
    # The reference itself, on the scale of MQM.
    assert known["yor-en/1", "chrf-mqm"] == 0
    assert known["commongen/1", "coverage-surface"] == 0
    assert known["commongen/1", "coverage-lemma"] == 1
    # Not in a box.
    assert known["math/1", "correctness"] == 0


def test_a_noise_judge_knows_nothing_of_the_text():
    pool = [read("mqm", ERROR), read("mqm", "no error"), Feedback("refused")]
    judge = NoiseJudge([("mqm", said) for said in pool], seed=1)
    items = [Item(f"x/{n}", "mqm", "", "") for n in range(200)]
    for occasion in ("0", "1"):
        good, bad = (
            judge.rate([Draft(item, text, occasion) for item in items])
            for text in ("a perfect text", "an awful thing")
        )
        # The scores do not change with the text; the words that it calls wrong are the text's.
        assert [one.score for one in good] == [one.score for one in bad]
        assert {one.score for one in good} == {0.0, -5.0}
        assert 60 < sum(one.flawless for one in good) < 140
        named = {re.match("'(.*)' is", one.reply)[1] for one in bad if not one.flawless}
        assert named <= {"an", "awful", "thing"}
    first, second = (
        [one.score for one in judge.rate([Draft(item, "t", step) for item in items])]
        for step in ("0", "1")
    )
    assert first != second


def test_noise_speaks_in_every_task():
    said = {"coverage": "[a, b]", "correctness": "[[no]]"}
    judge = NoiseJudge([(task, read(task, reply)) for task, reply in said.items()], seed=1)
    found = judge.rate([Draft(item, "t", "0") for item in (CONCEPTS, PROBLEM, TRANSLATION)])
    assert [one.standing for one in found] == [-2, -1, None]
    assert found[2].status == "unparsable"


def test_items_survive_the_table():
    written = [TRANSLATION, CONCEPTS, PROBLEM]
    table = tables.validate(to_table("xu", written), "items", "items").set_index("item_id")
    back = from_table(table.loc[[item.item_id for item in written]].reset_index())
    for item, other in zip(written, back, strict=True):
        assert item.request == other.request
        assert (item.task, item.reference, item.language) == (
            other.task,
            other.reference,
            other.language,
        )
        assert other.concepts == item.concepts


def test_an_item_without_a_task_is_named():
    table = to_table("xu", [TRANSLATION]).assign(metadata=json.dumps({"task": "chess"}))
    with pytest.raises(SelfprefError, match=r"yor-en/1.*'chess'"):
        from_table(table)


def test_a_reading_that_was_cut_off_is_unusable(tmp_path):
    def say(kind, text, seed):
        return Text(ERROR, "cut") if kind == "feedback" else "a text"

    found = run(tmp_path, say, [TRANSLATION], plan(2))
    assert set(found["ratings"]["status"]) == {"truncated"}
    assert found["ratings"]["score"].isna().all()
    assert set(found["responses"]["text"]) == {"a text"}


def test_fresh_draws_are_kept_and_their_mean_is_the_expected_score(tmp_path):
    asked = iter(range(1000))

    def say(kind, text, seed):
        if kind != "feedback":
            return "a text"
        # The first text's score drives the loop; then four fresh draws, of which one says nothing.
        return [ERROR, "no error", "\n".join([ERROR] * 3), "Fine, I think.", ERROR][next(asked) % 5]

    found = run(tmp_path, say, [TRANSLATION], plan(1, repeats=4))
    fresh = found["ratings"][found["ratings"]["variant"].eq("rescored")]
    first = fresh[fresh["step"].eq(0)].sort_values("repeat")
    assert first["repeat"].tolist() == [0, 1, 2, 3]
    assert sorted(first["status"]) == ["ok", "ok", "ok", "unparsable"]
    items = chains.under_conditions(to_table("xu", [TRANSLATION]), fresh["item_id"])
    settings = settings_of("chrf-mqm", 100)
    rows = rated(found | {"items": items}, settings)
    (mean,) = rows[rows["variant"].eq("rescored") & rows["step"].eq(0)].itertuples()
    usable = first.loc[first["status"].eq("ok"), "score"]
    assert (mean.score, mean.draws, mean.status) == (usable.mean(), 3, "ok")
    # What drove the refinement is one draw, as ever.
    assert rows.loc[rows["own"], "draws"].eq(1).all()
    table = expected(rows, settings).set_index("step")
    assert table.loc[0, ["texts", "draws"]].tolist() == [1, 3]
    assert table.loc[0, "self_mean"] == usable.mean()
    assert table.loc[0, "bias"] == pytest.approx(usable.mean() - mean.truth)


def test_a_text_none_of_whose_draws_is_usable_has_no_expected_score(tmp_path):
    found = run(tmp_path, lambda *_: "[BLOCKED]", [TRANSLATION], plan(1, repeats=3))
    (mean, *_) = averaged(found["ratings"]).query("variant == 'rescored'").itertuples()
    assert pd.isna(mean.score)
    assert (mean.draws, mean.status) == (0, "refused")


def test_a_judge_that_is_kind_by_three_points_is_measured_as_such(tmp_path, rng):
    """Translations of every quality, held against chrF on the scale of MQM."""
    words = list("abcdefghijklm")
    asked, texts, truths = [], {}, {}
    for n in range(100):
        reference = " ".join(int(rng.integers(2, 7)) * letter for letter in rng.permutation(words))
        asked.append(Item(f"yor-en/{n}", "mqm", f"source {n}.", reference, "Yoruba", "English"))
        texts[f"source {n}."] = " ".join(reference.split()[: 3 + n % 2])
        truths[texts[f"source {n}."]] = truths_of(asked[-1], texts[f"source {n}."])["chrf-mqm"]

    def say(kind, text, seed):
        if kind != "feedback":
            return next(texts[source] for source in texts if source in text)
        # One minor error a point.
        truth = truths[re.search(r"English: (.*)", text)[1]]
        errors = round(max(0, -truth - 3))
        return "\n".join(["'x' is a minor accuracy error"] * errors) or "no error"

    found = run(tmp_path, say, asked, plan(1))
    items = chains.under_conditions(to_table("xu", asked), found["ratings"]["item_id"])
    settings = settings_of("chrf-mqm", 300)
    table = curves(rated(found | {"items": items}, settings), settings)
    first = table.query("step == 0 and convention == 'corrected' and language == 'yor-en'").iloc[0]
    assert first["bias_lo"] <= 3 <= first["bias_hi"]
    assert first["bias_hi"] - first["bias_lo"] < 1


def test_a_truth_on_another_scale_than_the_scores_ends_in_a_line(tmp_path):
    def say(kind, text, seed):
        return "a text" if kind == "write" else ERROR

    found = run(tmp_path, say, [TRANSLATION], plan(1))
    items = chains.under_conditions(to_table("xu", [TRANSLATION]), found["ratings"]["item_id"])
    found["truths"] = found["truths"].assign(metric="comet", score=0.8)
    settings = settings_of("comet", 100)
    with pytest.raises(
        SelfprefError, match=r"xu\.truth: comet goes from 0\.8 to 0\.8, judges .* -25"
    ):
        rated(found | {"items": items}, settings)
