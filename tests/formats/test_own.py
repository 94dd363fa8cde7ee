"""A user's own prompts, true scores and perplexities: what they become, and what is refused."""

import pytest
from conftest import entry, lines

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats import datasets as own
from selfpref.params import Dataset

ENTRY = Dataset(reader="prompts", source="mine.jsonl")
DIALOGUE = [
    {"role": "user", "content": "1 + 1?"},
    {"role": "assistant", "content": "2"},
    {"role": "user", "content": "And 1 more?"},
]
WRONG = [
    *({"prompt": "x"}, {"id": 2}, {"id": 2, "prompt": " "}, {"id": 2, "prompt": "x", "promt": "x"}),
    *({"id": 2, "messages": DIALOGUE[:2]}, {"id": 2, "messages": DIALOGUE[1:]}),
    {"id": 2, "messages": [{"role": "system", "content": "x"}]},
    {"id": 2, "prompt": "x", "messages": DIALOGUE},
]
SCORES = "item,responder,step,metric,score\n"
SCORES += "yor-en/1,gpt-4,0,bleurt-mqm,-5.5\nyor-en/1,gpt-4,1,bleurt-mqm,-2\n"
READ = "item,responder,reader,given_prompt,nats,tokens,bytes\nset/1,gpt-4,smollm2,true,20.5,10,42\n"
READ += "set/1,gpt-4,smollm2,false,30,10,42\nset/1,gpt-4,other,True,0,9,42\n"
READERS = {
    "scores": (own.scores, "xu", "truths"),
    "perplexities": (own.perplexities, "wataoka", "perplexities"),
}


def items(tmp_path, *records, entry=ENTRY):
    path = tmp_path / "mine.jsonl"
    path.write_text(lines(*records))
    return own.prompts("mine", entry, path)["items"]


def read(tmp_path, kind, text, judges=None):
    reader, study, table = READERS[kind]
    (path := tmp_path / "mine.csv").write_text(text)
    found = reader("mine", entry(study, kind, judges), path)[table]
    return tables.validate(found, table, "mine")


def test_a_prompt_or_a_dialogue_is_an_item(tmp_path):
    found = items(
        tmp_path,
        {"id": 7, "prompt": "Why is the sky blue?", "category": "physics"},
        {"id": "sums", "messages": DIALOGUE, "cluster": "arithmetic"},
    ).set_index("item_id")
    assert found.loc["mine/7", "messages"] == [{"role": "user", "content": "Why is the sky blue?"}]
    assert found.loc["mine/sums", "messages"] == DIALOGUE
    assert found["category"].fillna("").to_list() == ["physics", ""]
    assert list(found["cluster"]) == ["mine/7", "mine/arithmetic"]


def test_a_sample_is_drawn_by_id_and_grows(tmp_path):
    records = [{"id": number, "prompt": f"{number}?"} for number in range(20)]

    def some(size, rows):
        entry = ENTRY.model_copy(update={"sample": size})
        return set(items(tmp_path, *rows, entry=entry)["item_id"])

    assert len(some(5, records)) == 5
    assert some(5, records) < some(8, records[::-1])


@pytest.mark.parametrize("record", [{"id": 1, "prompt": "x"}, *WRONG])
def test_what_is_wrong_with_a_prompt_is_named(tmp_path, record):
    wanted = r"mine\.jsonl, line 2: give an `id` of its own, and either `prompt` or `messages`"
    with pytest.raises(SelfprefError, match=wanted):
        items(tmp_path, {"id": 1, "prompt": "a"}, record)
    with pytest.raises(SelfprefError, match=r"mine\.jsonl: holds no prompt"):
        items(tmp_path)


def test_scores_become_truths_and_rows_perplexities(tmp_path):
    truths = read(tmp_path, "scores", SCORES)[["item_id", "step", "score"]].values
    assert truths.tolist() == [["yor-en/1", 0, -5.5], ["yor-en/1", 1, -2.0]]
    columns = ["judge", "conditional", "sum_nll", "n_tokens", "n_bytes"]
    rows = read(tmp_path, "perplexities", READ)[columns].values.tolist()
    smollm2 = [["smollm2", True, 20.5, 10, 42], ["smollm2", False, 30.0, 10, 42]]
    other = ["other", True, 0.0, 9, 42]
    assert sorted(rows) == sorted([other, *smollm2])
    assert read(tmp_path, "perplexities", READ, ["other"])[columns].values.tolist() == [other]


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
def test_what_is_wrong_with_a_row_is_named(tmp_path, kind, text, told):
    with pytest.raises(SelfprefError, match=f"mine.csv, {told}"):
        read(tmp_path, kind, text)


def test_a_truth_has_no_judge_and_a_reader_that_read_nothing_is_named(tmp_path):
    with pytest.raises(SelfprefError, match=r"datasets.mine.judges"):
        read(tmp_path, "scores", SCORES, ["gpt-4"])
    with pytest.raises(SelfprefError, match=r"datasets.mine.judges: 'nobody'"):
        read(tmp_path, "perplexities", READ, ["nobody"])
