"""The HTML card: one file, whose texts are texts."""

import re

import pytest
from test_measured import judgments

import selfpref
from selfpref.__main__ import main
from selfpref.card import measured
from selfpref.card.page import html

HOSTILE = "<script>alert('x')</script> & {{ 7 * 7 }} <img src=http://x>"


@pytest.fixture(autouse=True)
def _few_resamples(monkeypatch):
    monkeypatch.setattr(measured, "RESAMPLES", 200)


def test_the_page_says_what_the_text_says(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    frame = judgments(items=30, judges=("ann", "bob", "guest"))
    frame.to_csv(path, index=False)
    assert main(["measure", str(path), "--html", str(tmp_path / "card.html")]) == 0
    page = re.sub("</?strong>", "", (tmp_path / "card.html").read_text())
    for line in capsys.readouterr().out.splitlines():
        for part in re.split(r"\s{2,}|: ", line):
            if part and not set(part) <= {"="} and "wrote none" not in part:
                assert part.replace("'", "&#39;") in page


def test_hostile_names_are_text_and_nothing_is_fetched():
    page = html(selfpref.measure(judgments(items=12).replace("ann", HOSTILE)))
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; {{ 7 * 7 }}" in page
    assert "<script" not in page
    assert not re.findall(r"<(?:img|link|iframe)|(?:src|href)=[\"']|url\(", page)
    assert "default-src 'none'" in page
