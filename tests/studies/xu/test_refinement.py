"""Self-refinement by engines whose answers are written here: every arm, and the tables."""

import re

import pandas as pd
import pytest
from author_programs import programs  # noqa: F401
from scripted_refiner import CONCEPTS, PROBLEM, TRANSLATION, ScriptedEngine, refined
from study_frames import equal
from xu_rows import SETTINGS

from selfpref.models import Text
from selfpref.studies.xu.bias import Settings, rated
from selfpref.studies.xu.feedback import Feedback, read
from selfpref.studies.xu.items import Item, to_table, under_conditions
from selfpref.studies.xu.measures import expected
from selfpref.studies.xu.prompts import AUTHORS, PLAIN
from selfpref.studies.xu.stages import NoiseJudge, State, accepts, truths_of

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


def test_an_arm_accepts_by_its_rule_and_never_unusable_feedback():
    def accepted(arm, draw=0.9):
        # Reported scores have a floor; what is compared has none.
        said = ((-30, -27), (-5, -5), (-1, -5), (None, -5), (-5, None))
        pairs = [[Feedback("ok", -25, standing) for standing in pair] for pair in said]
        return [accepts(arm, *pair, draw) for pair in pairs]

    always, never = [True] * 3 + [False] * 2, [False] * 5
    assert accepted("plain") == accepted("external") == accepted("noise") == [True, *never[1:]]
    assert accepted("accept-all") == accepted("accept-random", 0.4) == always
    assert accepted("accept-random", 0.5) == never


def test_every_arm_from_its_first_text_to_its_bias(tmp_path):
    found = refined(tmp_path, [TRANSLATION], by_length, lambda *_: ERROR, steps=2, arms=ARMS)
    assert found["truths"]["metric"].eq("chrf-mqm").all()
    # As if a text's truth were -20, and a point more a word.
    words = found["responses"]["text"].str.split().str.len()
    found["truths"] = found["truths"].assign(score=words - 20.0)
    found["items"] = under_conditions(to_table("xu", [TRANSLATION]), found["ratings"]["item_id"])
    use = SETTINGS.use.model_copy(update={"truth": "chrf-mqm"})
    settings = Settings(use, SETTINGS.bootstrap)
    rows = rated(found, settings)
    # What its judge says and its rule does: the truth of the text at each step, and its score.
    drove = rows[rows["own"]].groupby(["condition", "variant", "judge"])[["truth", "score"]]
    grown, still = [-19, -18, -17], [-19, -19, -19]
    assert drove.agg(list).reset_index().values.tolist() == [
        ["", "plain", "me", grown, [-15, -10, -5]],
        ["accept-all", "accept-all", "me", grown, [-15, -10, -5]],
        ["accept-random", "accept-random", "me", [-19, -18, -18], [-15, -10, -10]],
        ["external", "external", "other", still, [-5, -5, -5]],
        ["noise", "noise", "noise", still, [-15, -15, -15]],
    ]
    # Either model reads every kept text afresh.
    fresh = rows[rows["variant"].eq("rescored")]
    assert fresh["judge"].value_counts().to_dict() == {"me": 15, "other": 15}
    # What was chosen among candidates has no expected score.
    rows = pd.concat([rows, rows.assign(condition="best-of-2")], ignore_index=True)
    fresh, drawn = expected(rows, settings), [(0, -15, 4), (1, -10, 8), (2, -5, 12)]
    equal(fresh[fresh["n"].eq(1)], "step self_mean bias", *drawn, condition="plain")
    assert set(fresh["condition"]) == {"plain", *ARMS}


@pytest.mark.parametrize(
    ("feedback", "revision", "kinds"),
    [
        # A text, its feedback, and the fresh reading of it at the end.
        ("no error", "better", ["write", "feedback", "feedback"]),
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


def test_a_refinement_that_dies_goes_on_where_it_was(tmp_path):
    def dying(*asked):
        # A text and its reading, as much a step, and the next revision.
        if len(dead.asked) > 5:
            raise KeyboardInterrupt
        return by_length(*asked)

    whole, dead, second = map(ScriptedEngine, (by_length, dying, by_length))
    wanted = refined(tmp_path / "whole", [TRANSLATION], whole)
    with pytest.raises(KeyboardInterrupt):
        refined(tmp_path / "killed", [TRANSLATION], dead)
    found = refined(tmp_path / "killed", [TRANSLATION], second)
    # The call that it died in has no answer.
    assert dead.asked[:-1] + second.asked == whole.asked
    for name, table in wanted.items():
        pd.testing.assert_frame_equal(table, found[name])


def test_texts_that_were_never_written_are_counted(tmp_path):
    def say(kind, text, seed):
        if kind == "write" and "1/4" in text:
            return Text("", "refused")
        return Text("half a te", "cut") if kind == "write" else "[BLOCKED]"

    # Chance has nothing to draw from, since no reading is usable.
    found = refined(tmp_path, [TRANSLATION, PROBLEM, CONCEPTS], say, steps=1, arms=["noise"])
    assert found["dropped"].to_dict("records") == [{"refused": 1}]
    kept = found["responses"].query("step == 1 and status == 'truncated'")["item_id"]
    assert {*kept} == {"yor-en/1", "commongen/1", "noise/yor-en/1", "noise/commongen/1"}


def test_the_first_of_the_best_is_chosen_and_never_one_without_usable_feedback(tmp_path):
    said = {"c0": "[BLOCKED]", "c1": errors(3), "c2": ERROR, "c3": ERROR}
    write = in_turn(*said)

    def say(kind, text, seed):
        if kind == "feedback":
            return said.get(re.search(r"English: (.*)", text)[1], "no error")
        return write(seed) if kind == "write" else "late"

    found = refined(tmp_path, [TRANSLATION], say, steps=1, best_of=[1, 2, 3, 4])
    chosen = found["responses"].query("step == 1 and item_id.str.startswith('best-of')")
    names = [[f"best-of-{k}/yor-en/1", text] for k, text in ((2, "c1"), (3, "c2"), (4, "c2"))]
    assert chosen[["item_id", "text"]].values.tolist() == names
    assert set(chosen["sample"]) == {0}
    candidates = found["ratings"].query("item_id == 'best-of-4/yor-en/1' and step == 0")
    equal(candidates, "sample score", (0, None), (1, -15), (2, -5), (3, -5), variant="plain")
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

    def say(kind, text, seed):
        said = {"feedback": "[[yes]]", "revise": "late"}
        return said.get(kind) or (write(seed) if "1/4" in text else "a text")

    found = refined(tmp_path, [PROBLEM, TRANSLATION], say, rounds=rounds)
    votes = found["ratings"].query("variant == 'self-consistency'")
    assert set(votes["item_id"]) == {"self-consistency/math/1"}
    assert [None if pd.isna(score) else score for score in votes["score"]] == scores
    held = found["responses"].query("item_id == 'self-consistency/math/1'")
    assert set(held["sample"]) == {0}
    assert [text.strip(r"\boxed{}") for text in held["text"]] == [*current]
    own = found["ratings"].query("item_id == 'math/1' and variant == 'plain'").iloc[0]
    assert (own["score"], list(own["distribution"]), own["mass"]) == (1, [0.75, 0.125], 0.875)


def test_truths_of_each_task():
    assert truths_of(TRANSLATION, "Good morning.") == {"chrf-mqm": 0}
    covered = truths_of(CONCEPTS, "The dogs chase frisbees.")
    assert covered == {"coverage-surface": 0, "coverage-lemma": 1}
    assert truths_of(PROBLEM, r"\boxed{1/2}") == {"correctness": 1}
    lab = Item("lab-en/1", "mqm", "x", "the cat sees the dog", "Lab", "English", oracle=True)
    assert truths_of(lab, "the cat sees the dog") == {"mqm": 0}


def test_a_noise_judge_knows_nothing_of_the_text():
    said = {"mqm": [errors(2), "no error"], "coverage": ["[a, b]"], "correctness": ["[[no]]"]}
    pool = {task: [read(task, reply) for reply in replies] for task, replies in said.items()}
    judge = NoiseJudge(pool, seed=1)
    items = [Item(f"x/{n}", "mqm", "", "") for n in range(40)]

    def said(asked, text, step=0):
        states = [State(item, "noise", step, Text(text, "ok")) for item in asked]
        return [one.said for one in judge.rate(states)]

    def scores(*of):
        return [one.score for one in said(items, *of)]

    assert scores("a perfect text") == scores("an awful thing") != scores("a", 1)
    assert set(scores("a")) == {0.0, -10.0}
    # The words that it calls wrong are the text's; those that are missing were asked for.
    named = [one.reply for one in said(items, "an awful thing")]
    assert set(re.findall("'(.*)' is", "\n".join(named))) == {"an", "awful", "thing"}
    words, verdict = said((CONCEPTS, PROBLEM), "t")
    assert words.reply in ("[dog, frisbee]", "[frisbee, dog]")
    assert verdict.standing == -1
    judge = NoiseJudge({}, 1)
    assert said([TRANSLATION], "t")[0].status == "unparsable"


# By item what is said in writing, judging (a system prompt first) and revising.
AUTHORED = {
    TRANSLATION: "Yoruba to English. |Yoruba: {0} English:|find errors"
    "|shots of errors S {0} T a text E:"
    "|shots of errors S {0} T a text F said\n better Yoruba-to-English:",
    CONCEPTS: "use the words|words {1}|find words|shots of words C {1} T a text F:"
    "|shots of words C {1} T a text lacks said better:",
    PROBLEM: r"end with \boxed|a shot P {0} S:|find faults|Q {0} A a text F:"
    "|Q {0} A a text F said better:",
}


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("item", AUTHORED, ids=lambda item: item.task)
def test_prompts_hold_what_is_asked_and_the_authors_are_those_of_their_programs(item):
    (message,) = PLAIN.ask("revise", item, "the text", "the feedback").messages
    texts = [message[1].index(text) for text in (item.request, "the text", "the feedback")]
    assert texts == sorted(texts)
    assert item.language in message[1]
    asked = [AUTHORS.ask("write", item), AUTHORS.ask("feedback", item, "a text")]
    asked.append(AUTHORS.ask("revise", item, "a text", "said"))
    said = "|".join(text for prompt in asked for _, text in prompt.messages)
    assert said == AUTHORED[item].format(item.request, list(item.concepts))
