"""Which data sets a model responds to, judges and reads, and how much of them."""

from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from conftest import STAGED

from selfpref import paths, tables
from selfpref.models import Likelihood, Text
from selfpref.params import Params, load
from selfpref.studies.wataoka import stages

SETS = {"small": 4, "large": 9}


def write(name, part, rows):
    file = paths.table_dir("live", name, "wataoka") / f"{part}.parquet"
    tables.write(tables.fill(rows, name, study="wataoka"), name, file)


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """The profile with two data sets of two items a question; asks a model that notes its calls."""
    params = load(STAGED / "profiles/live.yaml")
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    for dataset, size in SETS.items():
        items = [f"{dataset}/{number}/{turn}" for number in range(size) for turn in (1, 2)]
        message = [{"role": "user", "content": "list 3 red things"}]
        rows = [{"item_id": item, "cluster": item[:-2], "messages": message} for item in items]
        write("items", dataset, rows)
        # Nobody answered the last question.
        answered = items if dataset == "small" else items[:-2]
        texts = [{"item_id": item, "responder": "gpt", "text": item} for item in answered]
        write("responses", dataset, texts)
    calls = []

    def answers(some):
        calls.extend(some)
        return [
            Likelihood(1.0, 1, "ok") if hasattr(call, "continuation") else Text("yes", "ok")
            for call in some
        ]

    @contextmanager
    def open_model(*_):
        yield SimpleNamespace(ask=answers, at_a_time=100, first=None)

    def run(task, **entry):
        told = params.model_dump()
        source = told["wataoka"]["datasets"]["vicuna-80"]
        told["wataoka"] |= {"datasets": dict.fromkeys(SETS, source), "label": {}}
        for other in ("respond", "judge", "perplexity"):
            told["wataoka"][other] = (
                {"smollm2": {"prompts": "chat", **entry}} if other == task else {}
            )
        made = getattr(stages, task)(Params(**told), "smollm2", open_model)
        return calls, made

    return run


def test_of_a_data_set_so_many_questions_are_read_each_with_all_its_turns(asked):
    _, made = asked("perplexity", questions={"large": 3}, without_prompt=["small"])
    rows = made["perplexities"]
    found = rows.groupby([rows["item_id"].str.partition("/")[0], "conditional"]).size()
    assert found.to_dict() == {("large", True): 6, ("small", False): 8, ("small", True): 8}
    large = rows.loc[rows["item_id"].str.startswith("large"), "item_id"]
    assert set(large.str.rpartition("/")[0].value_counts()) == {2}
