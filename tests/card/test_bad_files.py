"""What is said of files that are none: file, line, field and remedy, in one line or two."""

import json

import pytest
from conftest import lines

from selfpref.__main__ import main

PAIR = {"item": 1, "responder_a": "gpt-4", "responder_b": "x", "label": "a"}
PAIR |= {"judge": "gpt-4", "order": "ab", "verdict": "a"}
VOTE = {"item": "other", "responder_a": "gpt-4", "responder_b": "x", "label": "a"}


def of(**changed):
    return lines(PAIR, PAIR | {"item": 2} | changed)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        (
            "f.jsonl",
            of(judge="modèle").replace("\\u00e8", "è").encode("latin-1"),
            "f.jsonl, line 2: not UTF-8; save the file as UTF-8",
        ),
        (
            "f.csv",
            "item,responder_a\n1,x\n2,modèle\n".encode("latin-1"),
            "f.csv, line 3: not UTF-8; save the file as UTF-8",
        ),
        (
            "f.json",
            "[" + ",\n".join(of().splitlines()),
            "f.json, line 2: not JSON (Expecting ',' delimiter, column 119); is the file cut off?",
        ),
        (
            "f.jsonl",
            "[" * 100_000,
            "f.jsonl, line 1: not JSON (maximum recursion depth exceeded while decoding a JSON "
            "array from a unicode string); is the file cut off?",
        ),
        (
            "f.jsonl",
            of() + "[1, 2]\n",
            "f.jsonl, line 3: not a JSON object; give one a line, or a list as .json",
        ),
        (
            "f.txt",
            "item,judge\n1,me\n",
            "f.txt, line 1: not JSON (Expecting value, column 1); a table's name ends in .csv or "
            ".tsv",
        ),
        ("f.jsonl", "", "f.jsonl: no record; is the file empty?"),
        ("f.csv", "item,judge\n", "f.csv: no record; is the file empty?"),
        (
            "f.csv",
            "item;judge;label\n1;me;a\n",
            "f.csv, line 1: cells parted by semicolons; part them by commas",
        ),
        (
            "f.jsonl",
            of(judge={"name": "gpt-4"}),
            "f.jsonl, line 2: judge {'name': 'gpt-4'}; give a text or a number",
        ),
        (
            "f.jsonl",
            lines({"model": "x", "vote": 3}),
            "f.jsonl: of no known format; it has the fields 'model', 'vote'\n"
            "looked for pairs: item, responder_a, responder_b, judge; fastchat: question_id, "
            "model_1, model_2, g1_winner, g2_winner, judge; arena: question_id or id, model_a, "
            "model_b, winner or winner_tie; arena-hard: uid or question_id, model, judge, games; "
            "alpaca-eval: instruction, generator_1, generator_2, annotator, preference; "
            "reviews: question_id or message_id, score; marks: item, judge, responder, score, key "
            "(other names: --columns item=NAME)",
        ),
        (
            "f.jsonl",
            of(item=1),
            "f.jsonl, line 2: the same item, pair, judge and order as f.jsonl, line 1; "
            "remove one, or number them in a column `repeat`",
        ),
        (
            "ratings-z/x-vs-y-z-reviewer.jsonl",
            lines({"question_id": 1, "score": "good"}),
            "ratings-z/x-vs-y-z-reviewer.jsonl, line 1: score 'good'; give 1, 2, 3, two scores, -1 "
            "or null; a score of a single text compares nothing",
        ),
        (
            "f.jsonl",
            of(),
            "votes.jsonl, line 1: item 'other', and no other of the votes, is among the judgments, "
            "which have '1'; give both the same ids",
        ),
    ],
)
def test_a_bad_file_is_told_where_and_what_to_do(tmp_path, capsys, name, content, told):
    votes, path = tmp_path / "votes.jsonl", tmp_path / name
    votes.write_text(json.dumps(VOTE))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    more = ["--votes", str(votes)] if told.startswith("votes") else []
    assert main(["measure", str(path), *more]) == 1
    assert capsys.readouterr().err.replace(f"{tmp_path}/", "") == f"error: {told}\n"


def test_names_that_nearly_match_are_suggested_before_any_number(tmp_path, capsys):
    path = tmp_path / "f.jsonl"
    path.write_text(of(judge="GPT4").replace('"judge": "gpt-4"', '"judge": "GPT4"'))
    assert main(["measure", str(path)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == (
        "cannot tell, because no judge wrote a response that it judged; if two names are one's: "
        "--alias GPT4=gpt-4"
    )
    assert printed[2:4] == [
        "judges with own responses: none",
        "judges without own responses: GPT4 (nearest name: gpt-4; join them with --alias)",
    ]
    assert main(["measure", str(path), "--alias", "x"]) == 1
    told = capsys.readouterr().err
    assert told.startswith("error: --alias x")
    assert told.count("\n") == 1
