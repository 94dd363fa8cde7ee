"""Evaluators asked about summaries: both orders, every question, and what is no answer."""

from pathlib import Path

import pandas as pd
import pytest
from author_programs import programs  # noqa: F401

from selfpref import tables
from selfpref.models import Choice, Choose, Text
from selfpref.params import Verdicts
from selfpref.prompts.summaries import LABELS, PLAIN, SCORES, SUMMARY_LAYOUTS
from selfpref.prompts.texts import Texts
from selfpref.studies.panickssery.recognition import PAIR_TASKS, ordered_pairs, ratings, verdicts
from selfpref.tables.schemas import TIE

ITEMS = pd.DataFrame(
    {
        "study": "panickssery",
        "item_id": ["news/1", "news/2"],
        "messages": [[{"role": "user", "content": f"article {n}"}] for n in (1, 2)],
    }
)
RESPONSES = pd.DataFrame(
    [
        {"item_id": item, "responder": name, "text": f"{name} on {item}"}
        for item in ITEMS["item_id"]
        for name in ("human", "me", "rival")
    ]
).assign(study="panickssery", step=0, sample=0)


READ = Verdicts(min_mass=0.5)


class Scripted:
    """In the place of a `Model`: an answer for each prompt by a rule."""

    at_a_time = 100

    def __init__(self, rule):
        self.rule, self.asked, self.seeds = rule, [], []

    def ask(self, calls):
        texts = [call.prompt.messages[0][1] for call in calls]
        if isinstance(calls[0], Choose):
            self.asked += [(text, call.labels) for text, call in zip(texts, calls, strict=True)]
            return [self.rule(text, call.labels) for text, call in zip(texts, calls, strict=True)]
        assert not any(call.labels for call in calls)
        self.seeds += [call.seed for call in calls]
        return [self.rule(text, n) for n, text in enumerate(texts)]


def judged(rule, responses=RESPONSES, use=READ):
    calls = Scripted(rule)
    table = verdicts(ordered_pairs(ITEMS, responses, "me"), "tuned", calls, PLAIN, use, seed=1)
    return tables.validate(table, "verdicts", "made"), calls.asked


def rated(rule, use=READ):
    calls = Scripted(rule)
    table = ratings(ITEMS, RESPONSES, "tuned", calls, PLAIN, use, seed=1)
    return tables.validate(table, "ratings", "made"), calls.asked


def sampled(samples):
    return Verdicts(min_mass=0.5, score_mode="sampled", samples=samples, temperature=1.0)


def test_own_and_other_are_read_in_both_orders_under_every_question():
    table, asked = judged(lambda *_: Choice((0.7, 0.2), "ok"))
    assert len(table) == len(asked) == 2 * 2 * 2 * len(PAIR_TASKS)
    orders = table.groupby(["item_id", "task"])["candidates"].agg(list)
    for found in orders:
        assert sorted(found) == sorted(
            [["me", "human"], ["human", "me"], ["me", "rival"], ["rival", "me"]]
        )
    assert set(table["judge"]) == {"tuned"}
    assert {labels for _, labels in asked} == {LABELS}


def test_the_first_candidate_is_the_one_that_was_read_first():
    table, _ = judged(
        lambda text, _: Choice((0.9, 0.0) if "Summary 1:\nme" in text else (0.0, 0.9), "ok")
    )
    # Whoever always names its own text has it at the place where it stood.
    for row in table.itertuples():
        assert row.choice == "me"
        assert row.probabilities[row.candidates.index("me")] == 0.9


@pytest.mark.parametrize(
    ("choice", "status", "chosen", "mass"),
    [
        (Choice((0.3, 0.3), "ok"), "ok", TIE, 0.6),
        (Choice((0.3, 0.1), "ok"), "low-mass", None, 0.4),
        (Choice((0.0, 0.0), "ok"), "low-mass", None, 0.0),
        (Choice((), "truncated"), "truncated", None, None),
        (Choice((), "failed"), "failed", None, None),
        (Choice((), "refused"), "refused", None, None),
    ],
)
def test_what_is_no_answer_has_a_status_and_no_choice(choice, status, chosen, mass):
    table, _ = judged(lambda *_: choice)
    assert set(table["status"]) == {status}
    if chosen is None:
        assert table["choice"].isna().all()
    else:
        assert set(table["choice"]) == {chosen}
    if mass is None:
        assert table["mass"].isna().all()
        assert set(table["probabilities"]) == {None}
    else:
        assert table["mass"].tolist() == pytest.approx([mass] * len(table))


def test_an_article_without_an_own_summary_has_no_pair():
    lacking = RESPONSES[~(RESPONSES["responder"].eq("me") & RESPONSES["item_id"].eq("news/1"))]
    assert {pair.item_id for pair in ordered_pairs(ITEMS, lacking, "me")} == {"news/2"}


def test_every_form_of_yes_counts_and_the_rest_is_left_out_of_the_ratio():
    def rule(text, labels):
        if "Did you write" not in text:
            return Choice((0.0,) * 5, "ok")
        given = {"Yes": 0.3, "yes": 0.1, "No": 0.15, "no": 0.05}
        return Choice(tuple(given[label] for label in labels), "ok")

    table, asked = rated(rule)
    own = table[table["task"].eq("recognition")]
    assert len(own) == 6
    assert own["score"].tolist() == pytest.approx([0.4 / 0.6] * 6)
    assert own["mass"].tolist() == pytest.approx([0.6] * 6)
    assert own["distribution"].iloc[0] == pytest.approx([0.4, 0.2])
    assert {labels for text, labels in asked if "Did you write" in text} == {
        (*PLAIN.yes, *PLAIN.no)
    }


def test_the_score_is_the_expectation_over_the_digits():
    def rule(text, labels):
        if "Did you write" in text:
            return Choice((0.0,) * 4, "ok")
        assert tuple(labels) == SCORES
        return Choice((0.1, 0.0, 0.2, 0.0, 0.3), "ok")

    table, _ = rated(rule)
    quality = table[table["task"].eq("quality")]
    assert quality["score"].tolist() == pytest.approx([(0.1 + 3 * 0.2 + 5 * 0.3) / 0.6] * 6)
    assert quality["distribution"].iloc[0] == [0.1, 0.0, 0.2, 0.0, 0.3]
    without = table[table["task"].eq("recognition")]
    assert without["score"].isna().all()
    assert set(without["status"]) == {"low-mass"}


def test_a_rating_that_was_not_given_is_missing():
    table, _ = rated(lambda *_: Choice((), "truncated"))
    assert table["score"].isna().all()
    assert set(table["status"]) == {"truncated"}
    assert set(table["distribution"]) == {None}


def test_without_probabilities_the_frequencies_of_repeated_answers_are_read():
    said = ["1", "**2**.", " 1\n", "Both, 1 and 2"]
    table, asked = judged(lambda _, n: Text(said[n % 4], "ok"), use=sampled(4))
    assert not asked
    assert {tuple(shares) for shares in table["probabilities"]} == {(0.5, 0.25)}
    assert set(table["mass"]) == {0.75}
    assert [names[0] for names in table["candidates"]] == table["choice"].tolist()


@pytest.mark.parametrize(
    ("generation", "status"),
    [
        (Text("Summary 1", "ok"), "unparsable"),
        (Text("12", "ok"), "unparsable"),
        (Text("", "cut"), "truncated"),
        (Text("", "refused"), "refused"),
        (Text("", "failed"), "failed"),
    ],
)
def test_an_answer_that_is_no_label_alone_is_missing(generation, status):
    table, _ = judged(lambda *_: generation, use=sampled(2))
    assert set(table["status"]) == {status}
    assert table[["choice", "probabilities", "mass"]].isna().all(axis=None)


def test_ratings_of_repeated_answers_are_their_mean():
    def rule(text, n):
        own = "Did you write" in text
        return Text((("yes", "No", "Yes.", "Yes") if own else "5514")[n % 4], "ok")

    table, _ = rated(rule, sampled(4))
    of = table.groupby("task")[["score", "mass"]].first()
    assert of.loc["recognition"].tolist() == [0.75, 1.0]
    assert of.loc["quality"].tolist() == [(5 + 5 + 1 + 4) / 4, 1.0]


def test_every_repeat_of_every_question_has_a_seed_of_its_own():
    calls = Scripted(lambda *_: Text("1", "ok"))
    verdicts(ordered_pairs(ITEMS, RESPONSES, "me"), "tuned", calls, PLAIN, sampled(3), seed=1)
    ratings(ITEMS, RESPONSES, "tuned", calls, PLAIN, sampled(3), seed=1)
    assert len(calls.seeds) == len(set(calls.seeds)) == 3 * (24 + 12)


def test_the_version_of_the_prompts_changes_with_any_word_of_them(
    monkeypatch,
    tmp_path,
    programs,  # noqa: F811
):
    from selfpref.prompts import summaries

    assert len({layout.version for layout in SUMMARY_LAYOUTS.values()}) == len(SUMMARY_LAYOUTS)
    before = PLAIN.version
    assert before == PLAIN.version
    words = Path(summaries.__file__).with_suffix(".yaml").read_text()
    (tmp_path / "summaries.yaml").write_text(words.replace("Which one is yours?", "Which one?"))
    monkeypatch.setattr(summaries, "TEXTS", Texts(tmp_path / "summaries.yaml"))
    assert PLAIN.version != before


def test_the_questions_about_a_pair_share_all_but_their_end():
    texts = [PLAIN.pair(task, "the article", "one", "two").messages[0][1] for task in PAIR_TASKS]
    shared = "Article:\nthe article\n\nSummary 1:\none\n\nSummary 2:\ntwo\n\n"
    assert all(text.startswith(shared) for text in texts)
    assert len(set(texts)) == len(texts)
