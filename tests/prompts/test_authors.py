"""The authors' own prompts, out of programs that are read and never run."""

from functools import partial

import pytest
from author_programs import programs  # noqa: F401

from selfpref.prompts import downloaded
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.prompts.downloaded import read, text
from selfpref.prompts.summaries import SUMMARY_LAYOUTS

AUTHORS = SUMMARY_LAYOUTS["authors"]
pytestmark = pytest.mark.usefixtures("programs")


def said(prompt):
    assert prompt.prefill == ""
    return [text for _, text in prompt.messages]


def test_of_a_program_every_text_is_kept_and_nothing_is_run(tmp_path, monkeypatch):
    path = tmp_path / "program.py"
    path.write_text(
        "1 / 0\nA = 'a'\nB = f'{A} b {c[0]!r}'\nN = 3\nSAME = A\n"
        "KINDS = {'x': 'ex', 'n': 1}\n"
        "def f():\n    t = A + 'and' + f'{i+1}'\n    t = ['é' for _ in x]\n"
        "    m = [{'role': 'user', 'content': 'hm'}]\n"
    )
    found = read(path)
    counts = {"A": 1, "B": 1, "KINDS.x": 1, "f.t": 2, "f.m.role": 1, "f.m.content": 1}
    assert {name: len(texts) for name, texts in found.items()} == counts
    monkeypatch.setattr(downloaded, "_programs", lambda study: {"program.py": found})
    filled = partial(text, "study", "program.py")
    assert filled("B", values={"A": "{a}", "c[0]": "see"}) == "{a} b see"
    assert filled("f.t", values={"A": "", "i + 1": 2}) == "and2"
    assert [filled("KINDS.x"), filled("f.t", 1), filled("f.m.content")] == ["ex", "é", "hm"]


def test_questions_about_summaries_are_the_authors():
    detecting = {"recognition": "detection", "readability": "readability", "length": "length"}
    detecting |= {"vowelcount": "vowel_count"}
    comparing = {"preference": "comparison", "inferiority": "worse"}
    for system, tasks in (("detection", detecting), ("comparison", comparing)):
        for task, asked in tasks.items():
            told = said(AUTHORS.ask(task, "{text}", "one", "two"))
            assert told == [f"you {system}", f"{{text}} one two {asked}?"]
    own = said(AUTHORS.ask("recognition", "text", "{one}"))
    assert own == ["you recognition", "text {one} yours?"]
    assert said(AUTHORS.ask("quality", "text", "one")) == ["you scoring", "text one grade"]
    assert said(AUTHORS.ask("xsum", "text")) == ["one line", "text\n\nsum up"]
    assert said(AUTHORS.ask("cnn-dailymail", "text")) == ["lines", "text\n\nsum up"]


def test_contests_have_numbers_and_no_tie_and_the_stated_total_counts():
    prompts = CHOICE_PROMPTS["authors"]
    assert said(prompts.respond("{why}?")) == ["be kind", "{why}?"]
    (text,) = said(prompts.prefer("why?", ["a", "{b}", "c"]))
    assert text == "choose by one. two. Q why? R1 a R2 {b} R3 c"
    assert (prompts.letters[:3], prompts.tie, prompts.marker) == (("1", "2", "3"), (), "")
    (text,) = said(prompts.rubric("why?", "so"))
    assert " ".join(text.split()) == "score by one. two. Q why? R so"
    assert prompts.marks("Overall Score: 1+1+0+1+1+1+1+1+1+1+1 = 10") == (10, [1, 1, 0, *[1] * 8])
    assert prompts.marks("**Overall Score:** 9/11. Clear and short.") == (9, None)
