"""A user's own prompts, true scores and perplexities: what they become, and what is refused."""

from pathlib import Path

import pytest
from conftest import entry, lines, refused

from selfpref import tables
from selfpref.formats import datasets as own
from selfpref.params import Dataset

pytestmark = pytest.mark.usefixtures("repository")
ENTRY = Dataset(reader="prompts", source="mine.jsonl")
SAID = [("user", "1?"), ("assistant", "1"), ("user", "2?"), ("assistant", "2"), ("user", "3?")]
DIALOGUE = [{"role": role, "content": text} for role, text in SAID]
# Beside the id 2.
WRONG = [
    *({}, {"id": "", "prompt": "x"}, {"id": 1, "prompt": "x"}),
    *({"prompt": " "}, {"prompt": "x", "promt": "x"}, {"prompt": "x", "messages": DIALOGUE}),
    *({"messages": DIALOGUE[:2]}, {"messages": DIALOGUE[1:]}),
    {"messages": [{"role": "system", "content": "x"}]},
]
SCORES = "item,responder,step,metric,score\n"
SCORES += "yor-en/1,gpt-4,0,bleurt-mqm,-5.5\nyor-en/1,gpt-4,1,bleurt-mqm,-2\n"
READ = "item,responder,reader,given_prompt,nats,tokens,bytes\nset/1,gpt-4,smollm2,true,20.5,10,42\n"
READ += "set/1,gpt-4,smollm2,false,30,10,42\nset/1,gpt-4,other,True,0,9,42\n"
READERS = {
    "scores": (own.scores, "xu", "truths"),
    "perplexities": (own.perplexities, "wataoka", "perplexities"),
}


def items(*records, entry=ENTRY):
    (path := Path("mine.jsonl")).write_text(lines(*records))
    return own.prompts("mine", entry, path)["items"]


def read(kind, text, judges=None):
    reader, study, table = READERS[kind]
    (path := Path("mine.csv")).write_text(text)
    return tables.validate(reader("mine", entry(study, kind, judges), path)[table], table, "mine")


def test_a_prompt_or_a_dialogue_is_an_item():
    prompt = {"id": 7, "prompt": "Why?", "category": "physics", "cluster": "", "messages": None}
    found = items(prompt, {"id": "sums", "messages": DIALOGUE, "cluster": "arithmetic"})
    assert found["item_id"].to_list() == ["mine/7", "mine/sums"]
    assert found["messages"].to_list() == [[{"role": "user", "content": "Why?"}], DIALOGUE]
    assert found["category"].fillna("").to_list() == ["physics", ""]
    assert list(found["cluster"]) == ["mine/7", "mine/arithmetic"]


def test_a_sample_is_drawn_by_id_and_grows():
    records = [{"id": number, "prompt": f"{number}?"} for number in range(20)]

    five, eight = (ENTRY.model_copy(update={"sample": size}) for size in (5, 8))
    some = {*items(*records, entry=five)["item_id"]}
    assert len(some) == 5
    assert some < {*items(*records[::-1], entry=eight)["item_id"]}


@pytest.mark.parametrize("record", WRONG)
def test_what_is_wrong_with_a_prompt_is_named(record):
    wanted = r"mine\.jsonl, line 2: give an `id` of its own, and either `prompt` or `messages`"
    with refused(match=wanted):
        items({"id": 1, "prompt": "a"}, {"id": 2} | record)
    with refused(match=r"mine\.jsonl: holds no prompt"):
        items()


def test_scores_become_truths_and_rows_perplexities():
    truths = read("scores", SCORES)[["item_id", "step", "score"]].values
    assert truths.tolist() == [["yor-en/1", 0, -5.5], ["yor-en/1", 1, -2.0]]
    columns = ["judge", "conditional", "sum_nll", "n_tokens", "n_bytes"]
    rows = read("perplexities", READ)[columns].values.tolist()
    smollm2 = [["smollm2", True, 20.5, 10, 42], ["smollm2", False, 30.0, 10, 42]]
    other = ["other", True, 0.0, 9, 42]
    assert sorted(rows) == sorted([other, *smollm2])
    assert read("perplexities", READ, ["other"])[columns].values.tolist() == [other]


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("scores", SCORES.replace("score", "value", 1), "line 2: no 'score'"),
        ("scores", SCORES.replace("-5.5", "nan"), "line 2: score 'nan' is no number"),
        ("scores", SCORES.replace("4,1,", "4,1.5,"), "line 3: step '1.5' is not a number from 0"),
        ("scores", SCORES.replace("4,1,", "4,-1,"), "line 3: step '-1' is not a number from 0"),
        ("scores", SCORES.replace("4,1,", "4,0,"), "line 3: the same item, responder, step"),
        ("perplexities", READ.replace("20.5", "-1"), "line 2: nats -1.0 is below 0"),
        ("perplexities", READ.replace("true", "perhaps"), "line 2: given_prompt 'perhaps' is"),
        ("perplexities", READ.replace("\n", ",note\n"), "line 2: unknown column 'note'"),
    ],
)
def test_what_is_wrong_with_a_row_is_named(kind, text, told):
    with refused(match=f"mine.csv, {told}"):
        read(kind, text)


def test_a_truth_has_no_judge_and_a_reader_that_read_nothing_is_named():
    with refused(match=r"datasets.mine.judges"):
        read("scores", SCORES, ["gpt-4"])
    with refused(match=r"datasets.mine.judges: 'nobody'"):
        read("perplexities", READ, ["nobody"])
