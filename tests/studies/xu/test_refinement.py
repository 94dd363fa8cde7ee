"""Self-refinement by engines whose answers are written here: every arm, and the tables."""

import re

import pandas as pd
import pytest
from author_programs import programs  # noqa: F401
from scripted_refiner import CONCEPTS, PROBLEM, TRANSLATION, ScriptedEngine, refined
from xu_rows import SETTINGS

from selfpref.models import Text
from selfpref.studies.xu.bias import Settings, curves, rated
from selfpref.studies.xu.feedback import Feedback, read
from selfpref.studies.xu.items import Item, addressed, to_table, under_conditions
from selfpref.studies.xu.measures import expected
from selfpref.studies.xu.prompts import AUTHORS, PLAIN
from selfpref.studies.xu.stages import NoiseJudge, accepts, truths_of

ERROR = "'x' is a major accuracy error"
ARMS = ["accept-all", "accept-random", "external", "noise"]


def errors(number):
    return "\n".join([ERROR] * number) or "no error"


def in_turn(*texts):
    """What writes these texts in turn, and the same again for the same seed."""
    made, order = {}, iter(texts)
    return lambda seed: made.setdefault(seed, next(order, "late"))


def by_length(kind, text, seed):
    """One error fewer for each word of the translation; revisions grow by a word."""
    written = re.search(r"English: (.*)", text)
    if kind == "feedback":
        return errors(max(0, 4 - len(written[1].split())))
    return "word" if kind == "write" else f"{written[1]} more"


@pytest.mark.parametrize(
    ("arm", "old", "new", "draw", "accepted"),
    [
        *(("plain", -5, -1, 0.9, True), ("plain", -5, -5, 0, False), ("plain", -1, -5, 0, False)),
        *(("external", -30, -25, 0.9, True), ("noise", -1, -1, 0, False)),
        *(("accept-all", -1, -5, 0.9, True), ("accept-all", None, -5, 0, False)),
        *(("accept-all", -5, None, 0, False), ("plain", None, 0, 0, False)),
        *(("accept-random", -1, -5, 0.4, True), ("accept-random", -5, -1, 0.5, False)),
    ],
)
def test_an_arm_accepts_by_its_rule_and_never_unusable_feedback(arm, old, new, draw, accepted):
    readings = [Feedback("ok" if of is not None else "refused", of, of) for of in (old, new)]
    assert accepts(arm, *readings, draw) is accepted


def test_every_arm_from_its_first_text_to_its_bias(tmp_path):
    found = refined(tmp_path, [TRANSLATION], by_length, lambda *_: ERROR, steps=2, arms=ARMS)
    # What its judge says and its rule does: the text of each step in words, and its score.
    grown, still = [1, 2, 3], [1, 1, 1]
    arms = {
        "": ("plain", "me", grown, [-15, -10, -5]),
        "accept-all": ("accept-all", "me", grown, [-15, -10, -5]),
        "accept-random": ("accept-random", "me", [1, 2, 2], [-15, -10, -10]),
        "external": ("external", "other", still, [-5, -5, -5]),
        "noise": ("noise", "noise", still, [-15, -15, -15]),
    }
    texts, ratings = (
        found[name].join(addressed(found[name]["item_id"])) for name in ("responses", "ratings")
    )
    for condition, (variant, judge, words, scores) in arms.items():
        kept = texts[texts["condition"].eq(condition)]
        assert kept["step"].tolist() == [0, 1, 2]
        assert [len(text.split()) for text in kept["text"]] == words
        read = ratings[ratings["condition"].eq(condition)]
        drove = read[read["variant"].eq(variant)]
        assert set(drove["judge"]) == {judge}
        assert drove["score"].tolist() == scores
        # Either model reads every kept text afresh.
        fresh = read[read["variant"].eq("rescored")].groupby("judge")["score"].agg(list)
        own = [-15 + 5 * (number - 1) for number in words]
        assert fresh.tolist() == [own, [-5] * 3]

    # Their bias, where a text's truth is -20 and a point more a word.
    items = under_conditions(to_table("xu", [TRANSLATION]), found["ratings"]["item_id"])
    assert found["truths"]["metric"].eq("chrf-mqm").all()
    known = found["truths"].assign(score=[-20.0 + len(text.split()) for text in texts["text"]])
    use = SETTINGS.use.model_copy(update={"truth": "chrf-mqm"})
    settings = Settings(use, SETTINGS.bootstrap)
    rows = rated(found | {"items": items, "truths": known}, settings)
    table = curves(rows, settings).query("convention == 'corrected'").groupby("condition")
    wanted = {
        name: [score + 20 - number for score, number in zip(scores, words, strict=True)]
        for name, (_, _, words, scores) in arms.items()
    }
    assert table["bias"].agg(list).to_dict() == wanted
    # What was chosen among candidates has no expected score.
    rows = pd.concat([rows, rows.assign(condition="best-of-2")], ignore_index=True)
    fresh = expected(rows, settings).set_index(["condition", "step"])
    plain = fresh.loc["plain", ["n", "self_mean", "bias"]].values.tolist()
    assert plain == [[1, -15, 4], [1, -10, 8], [1, -5, 12]]
    assert set(fresh.index.get_level_values("condition")) == {"plain", *ARMS}


@pytest.mark.parametrize(
    ("feedback", "revision", "kinds"),
    [
        # A text, its feedback, and the fresh reading of it at the end.
        ("no error", "better", ["write", "feedback", "feedback"]),
        ("[BLOCKED]", "better", ["write", "feedback", "feedback"]),
        # An empty revision is not judged.
        (ERROR, "", ["write", "feedback", "revise", "revise", "feedback"]),
        (Text(ERROR, "cut"), "better", ["write", "feedback", "feedback"]),
    ],
)
def test_nothing_more_is_asked_than_there_is_to_mend(tmp_path, feedback, revision, kinds):
    said = {"write": "a text", "feedback": feedback, "revise": revision}
    engine = ScriptedEngine(lambda kind, *_: said[kind])
    found = refined(tmp_path, [TRANSLATION], engine, steps=2, arms=["accept-all"])
    assert [kind for kind, *_ in engine.asked] == kinds
    assert found["responses"]["text"].tolist() == ["a text"] * 6


def test_a_refinement_that_dies_at_step_seven_goes_on_there(tmp_path):
    def say(kind, text, seed):
        # Each step one error fewer, so that every revision is accepted.
        if kind == "write":
            return "version 0"
        version = int(re.search(r"version (\d+)", text)[1])
        return errors(12 - version) if kind == "feedback" else f"version {version + 1}"

    def dying(*asked):
        # Three items: 3 texts, 3 readings, and 3 + 3 a step.
        if len(dead.asked) > 6 + 6 * 6 + 2:
            raise KeyboardInterrupt
        return say(*asked)

    items = [
        Item(f"yor-en/{n}", "mqm", f"gbolohun {n}", f"sentence {n}", "Yoruba", "English")
        for n in (1, 2, 3)
    ]
    whole, dead, second = ScriptedEngine(say), ScriptedEngine(dying), ScriptedEngine(say)
    wanted = refined(tmp_path / "whole", items, whole, steps=10)
    with pytest.raises(KeyboardInterrupt):
        refined(tmp_path / "killed", items, dead, steps=10)
    found = refined(tmp_path / "killed", items, second, steps=10)
    # The call that it died in has no answer.
    answered = dead.asked[:-1]
    assert not set(answered) & set(second.asked)
    assert sorted(answered + second.asked) == sorted(whole.asked)
    for name, table in wanted.items():
        pd.testing.assert_frame_equal(table, found[name])


def test_texts_that_were_never_written_are_counted(tmp_path):
    def say(kind, text, seed):
        if kind == "write" and "1/4" in text:
            return Text("", "refused")
        return Text("half a te", "cut") if kind == "write" else "no error all covered"

    found = refined(tmp_path, [TRANSLATION, PROBLEM, CONCEPTS], say, steps=1)
    assert found["dropped"].to_dict("records") == [{"refused": 1}]
    assert set(found["responses"]["item_id"]) == {"yor-en/1", "commongen/1"}
    assert set(found["responses"]["status"]) == {"truncated"}


def test_the_first_of_the_best_is_chosen_and_never_one_without_usable_feedback(tmp_path):
    said = {"c0": "[BLOCKED]", "c1": errors(3), "c2": ERROR, "c3": ERROR}
    write = in_turn(*said)

    def say(kind, text, seed):
        if kind == "feedback":
            return said.get(re.search(r"English: (.*)", text)[1], "no error")
        return write(seed) if kind == "write" else "late"

    found = refined(tmp_path, [TRANSLATION], say, steps=1, best_of=[1, 2, 3, 4])
    chosen = found["responses"].query("step == 1").set_index("item_id")["text"]
    best = chosen[chosen.index.str.startswith("best-of")]
    names = {f"best-of-{k}/yor-en/1": text for k, text in ((2, "c1"), (3, "c2"), (4, "c2"))}
    assert best.to_dict() == names
    candidates = found["ratings"].query("item_id == 'best-of-4/yor-en/1' and step == 0")
    assert candidates["sample"].tolist() == [0, 1, 2, 3]
    assert candidates["score"].fillna(1).tolist() == [1, -15, -5, -5]
    assert set(candidates["variant"]) == {"plain"}
    # True scores are those of the chosen texts alone.
    assert set(found["truths"].query("item_id == 'best-of-4/yor-en/1'")["step"]) == {1}


@pytest.mark.parametrize(
    ("answers", "rounds", "current", "scores"),
    [
        # Round 1: 1 against 2. Round 2: 2, the majority by then, against 3.
        ("122333", [3, 6], "12", [0, 0]),
        ("445", [2, 3], "44", [1, 1]),
        # Of equals the first; samples without an answer do not vote.
        ("2112", [4], "2", [1]),
        # Nobody voted in the first round: the answer stays, and is not the majority of the second.
        ("??5", [2, 3], "??", [None, 0]),
    ],
)
def test_each_round_compares_the_current_answer_with_its_majority(
    tmp_path, answers, rounds, current, scores
):
    write = in_turn(*(answer if answer == "?" else rf"\boxed{{{answer}}}" for answer in answers))
    said = {"feedback": "[[yes]]", "revise": "late"}
    found = refined(
        tmp_path,
        [PROBLEM, TRANSLATION],
        lambda kind, text, seed: said.get(kind) or (write(seed) if "1/4" in text else "a text"),
        rounds=rounds,
    )
    votes = found["ratings"].query("variant == 'self-consistency'")
    assert set(votes["item_id"]) == {"self-consistency/math/1"}
    assert [None if pd.isna(score) else score for score in votes["score"]] == scores
    texts = found["responses"].query("item_id == 'self-consistency/math/1'")["text"]
    assert [text.strip(r"\boxed{}") for text in texts] == [*current]
    own = found["ratings"].query("item_id == 'math/1' and variant == 'plain'").iloc[0]
    assert (own["score"], list(own["distribution"]), own["mass"]) == (1, [0.75, 0.125], 0.875)


def test_truths_of_each_task():
    assert truths_of(TRANSLATION, "Good morning.") == {"chrf-mqm": 0}
    covered = truths_of(CONCEPTS, "The dogs chase frisbees.")
    assert covered == {"coverage-surface": 0, "coverage-lemma": 1}
    assert [truths_of(PROBLEM, text)["correctness"] for text in ("1/2", r"\boxed{1/2}")] == [0, 1]
    lab = Item("lab-en/1", "mqm", "x", "the cat sees the dog", "Lab", "English", oracle=True)
    assert truths_of(lab, "the cat sees the dog") == {"mqm": 0}


def test_a_noise_judge_knows_nothing_of_the_text():
    said = {"mqm": [errors(2), "no error"], "coverage": ["[a, b]"], "correctness": ["[[no]]"]}
    pool = {task: [read(task, reply) for reply in replies] for task, replies in said.items()}
    judge = NoiseJudge(pool, seed=1)
    items = [Item(f"x/{n}", "mqm", "", "") for n in range(40)]

    def scores(text, occasion):
        return [one.score for one in judge.rate([(item, text, occasion) for item in items])]

    assert scores("a perfect text", "0") == scores("an awful thing", "0") != scores("a", "1")
    assert 10 < scores("a", "0").count(0.0) < 30
    assert set(scores("a", "0")) == {0.0, -10.0}
    # The words that it calls wrong are the text's; those that are missing were asked for.
    named = [one.reply for one in judge.rate([(one, "an awful thing", "0") for one in items])]
    assert set(re.findall("'(.*)' is", "\n".join(named))) == {"an", "awful", "thing"}
    words, verdict = judge.rate([(item, "t", "0") for item in (CONCEPTS, PROBLEM)])
    assert set(re.findall(r"\w+", words.reply)) == set(CONCEPTS.concepts)
    assert [words.standing, verdict.standing] == [-2, -1]
    assert NoiseJudge({}, 1).rate([(TRANSLATION, "t", "0")])[0].status == "unparsable"


# By item: the texts of writing and judging, system first, and of revising.
AUTHORED = {
    TRANSLATION: [
        ["Yoruba to English. ", "Yoruba: {request} English:"],
        ["find errors", "shots of errors S {request} T a text E:"],
        ["shots of errors S {request} T a text F said\n better Yoruba-to-English:"],
    ],
    CONCEPTS: [
        ["use the words", "words {concepts}"],
        ["find words", "shots of words C {concepts} T a text F:"],
        ["shots of words C {concepts} T a text lacks said better:"],
    ],
    PROBLEM: [
        [r"end with \boxed", "a shot P {request} S:"],
        ["find faults", "Q {request} A a text F:"],
        ["Q {request} A a text F said better:"],
    ],
}


@pytest.mark.parametrize("item", AUTHORED, ids=lambda item: item.task)
def test_prompts_hold_what_is_asked_and_the_authors_are_those_of_their_programs(
    programs,  # noqa: F811
    item,
):
    (message,) = PLAIN.revise(item, "the text", "the feedback").messages
    texts = [message[1].index(text) for text in (item.request, "the text", "the feedback")]
    assert texts == sorted(texts)
    assert item.language in message[1]
    prompts = [AUTHORS.write(item), AUTHORS.feedback(item, "a text")]
    prompts.append(AUTHORS.revise(item, "a text", "said"))
    said = [[text for _, text in prompt.messages] for prompt in prompts]
    named = {"request": item.request, "concepts": list(item.concepts)}
    assert said == [[text.format(**named) for text in texts] for texts in AUTHORED[item]]
