"""The authors' own prompts, out of programs that are read and never run."""

from functools import cache, partial

import pytest
from author_programs import programs  # noqa: F401
from conftest import REPOSITORY

from selfpref import paths
from selfpref.download.fetch import pinned
from selfpref.errors import SelfprefError
from selfpref.prompts import authors
from selfpref.prompts.authors import read, text
from selfpref.prompts.choices import CHOICE_PROMPTS
from selfpref.prompts.summaries import AUTHORS

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
    assert {name: len(texts) for name, texts in found.items()} == {
        "A": 1,
        "B": 1,
        "KINDS.x": 1,
        "f.t": 2,
        "f.m.role": 1,
        "f.m.content": 1,
    }
    known = cache(lambda study: {"program.py": (path, found)})
    monkeypatch.setattr(authors, "_programs", known)
    filled = partial(text, "study", "program.py")
    assert filled("B", values={"A": "{a}", "c[0]": "see"}) == "{a} b see"
    assert filled("f.t", values={"A": "", "i + 1": 2}) == "and2"
    assert [filled("KINDS.x"), filled("f.t", 1), filled("f.m.content")] == ["ex", "é", "hm"]
    with pytest.raises(SelfprefError, match=r"program.py: B: no value for 'c\[0\]'"):
        filled("B", values={"A": ""})
    path.write_text("def :")
    with pytest.raises(SelfprefError, match=r"program\.py: no Python"):
        read(path)


def test_a_program_without_the_text_is_not_the_pinned_one():
    with pytest.raises(SelfprefError, match=r"agents.py: no text 'f.x', number 0; is this"):
        text("livebench", "agents.py", "f.x")


def test_questions_about_two_summaries_are_the_authors():
    for task, asked in {
        "recognition": "detection",
        "preference": "comparison",
        "inferiority": "worse",
        "readability": "readability",
        "length": "length",
        "vowelcount": "vowel_count",
    }.items():
        system, user = said(AUTHORS.pair(task, "{text}", "one", "two"))
        assert user == f"{{text}} one two {asked}?"
        assert system == (
            "you comparison" if task in ("preference", "inferiority") else "you detection"
        )


def test_one_summary_is_asked_about_and_written_as_the_authors_did():
    assert said(AUTHORS.single("recognition", "text", "{one}")) == [
        "you recognition",
        "text {one} yours?",
    ]
    assert said(AUTHORS.single("quality", "text", "one")) == ["you scoring", "text one grade"]
    assert said(AUTHORS.forms["xsum"]("text")) == ["one line", "text\n\nsum up"]
    assert said(AUTHORS.forms["cnn-dailymail"]("text")) == ["lines", "text\n\nsum up"]


def test_contests_have_numbers_and_no_tie():
    prompts = CHOICE_PROMPTS["authors"]
    assert said(prompts.respond("{why}?")) == ["be kind", "{why}?"]
    (text,) = said(prompts.prefer("why?", ["a", "{b}", "c"]))
    assert text == "choose by one. two. Q why? R1 a R2 {b} R3 c"
    assert (prompts.letters[:3], prompts.tie, prompts.marker) == (("1", "2", "3"), (), "")
    (text,) = said(prompts.rubric("why?", "so"))
    assert " ".join(text.split()) == "score by one. two. Q why? R so"


@pytest.mark.parametrize(
    ("reply", "total", "marks"),
    [
        ("**Overall Score:** 9/11. Clear and short.", 9, None),
        ("Overall Score: 1+1+0+1+1+1+1+1+1+1+1 = 10", 10, [1, 1, 0, *[1] * 8]),
        ("A fine answer.", None, None),
    ],
)
def test_of_the_rubric_the_total_counts_that_is_stated(reply, total, marks):
    assert CHOICE_PROMPTS["authors"].marks(reply) == (total, marks)


def test_the_authors_programs_are_pinned_and_not_stored(monkeypatch):
    monkeypatch.undo()
    for study in ("panickssery", "livebench", "xu"):
        files = pinned(paths.author_prompts_file(study))
        assert files
        for file in files:
            released = (REPOSITORY / f"src/selfpref/studies/{study}/read/{study}.csv").read_text()
            # The same commit as the release's own files.
            assert f"{file.repository},{file.commit}," in released
