"""What served models will be asked, before they are; and stages above their budget."""

import pandas as pd
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from conftest import REPOSITORY
from ruamel.yaml import YAML
from scripted import Scripted, completion, position

from selfpref import paths, tables
from selfpref.__main__ import main
from selfpref.errors import SelfprefError
from selfpref.estimate import estimate, within_budget
from selfpref.params import TASKS, load
from selfpref.studies.wataoka import stages

yaml = YAML()
PAIRS = 10
RESPOND = {"prompts": "lab", "max_tokens": 7}


def write(name, rows, part):
    study = {"study": "wataoka"}
    frame = pd.DataFrame([study | row for row in rows])
    tables.write(frame, name, paths.table_dir("lab", name, "wataoka") / f"{part}.parquet")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """The testbed's tables, written by hand; one served judge and responder."""
    (tmp_path / "dvc.yaml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SELFPREF_STORE", str(tmp_path / "store.sqlite"))
    items = [f"seed-0/{n}" for n in range(PAIRS)]
    write(
        "items",
        [
            {
                "item_id": item,
                "category": None,
                "cluster": item,
                "messages": [{"role": "user", "content": "list 3 red things"}],
                "reference": None,
                "metadata": "{}",
            }
            for item in items
        ],
        "seed-0",
    )
    # A data set fills every table, with no rows where it has none.
    there = paths.table_dir("lab", "responses", "wataoka") / "seed-0.parquet"
    tables.write(tables.empty("responses"), "responses", there)
    for name, word in (("terse", "cherry"), ("formal", "sky")):
        write(
            "responses",
            [
                {"item_id": item, "responder": name, "step": 0, "sample": 0}
                | {"text": f"{word} {n}", "status": "ok"}
                for n, item in enumerate(items)
            ],
            name,
        )
    write(
        "labels",
        [
            {"item_id": item, "responder_a": "terse", "responder_b": "formal"}
            | {"annotator": "oracle", "repeat": 0, "label": "a"}
            for item in items
        ],
        "seed-0",
    )
    with Scripted() as server:
        params = yaml.load((REPOSITORY / "params.yaml").read_text())
        params["studies"] = ["wataoka"]
        # The labels are data here.
        params["wataoka"]["label"] = {}
        params["models"] = {
            name: {"engine": "transformers", "model": f"data/lab/models/{{dataset}}/{name}"}
            for name in ("terse", "formal")
        }
        for study, tasks in TASKS.items():
            for task in tasks:
                uses = list(params[study][task].values()) if study == "wataoka" else []
                params[study][task] = {name: use for use in uses for name in params["models"]}
        for study in ("livebench", "panickssery", "xu"):
            params[study]["datasets"] = {}
        params["livebench"]["categories"] = {}
        params["models"]["served"] = {
            "engine": "openai",
            "model": "m",
            "base_url": server.url,
            "server": "vllm",
            "price": {"input": 2.0, "output": 1e5},
        }
        params["wataoka"]["judge"]["served"] = {"prompts": "lab", "min_mass": 0.5}
        yield Repository(tmp_path / "params.yaml", params, server)


class Repository:
    def __init__(self, path, params, server):
        self.path, self.params, self.server = path, params, server
        self.wataoka = params["wataoka"]

    def load(self, **settings):
        self.params["models"]["served"].update(settings)
        with open(self.path, "w") as handle:
            yaml.dump(self.params, handle)
        return load(self.path)

    def row(self, stage="wataoka.judge"):
        table = estimate(self.load())
        (row,) = table[table["stage"].eq(stage)].to_dict("records")
        return row


def test_calls_tokens_and_price_are_told_and_nothing_is_sent(repository):
    row = repository.row()
    assert row["calls"] == 2 * PAIRS
    # One token a verdict, at 100,000 dollars a million.
    assert row["reply tokens"] == 2 * PAIRS
    assert row["USD"] == pytest.approx(2 * PAIRS * 0.1 + row["prompt tokens"] * 2e-6)
    assert 10 <= row["prompt tokens"] / row["calls"] <= 50
    assert not repository.server.received


def test_what_is_in_the_store_is_not_counted(repository):
    params = repository.load()
    made = stages.judge(params, "served")["verdicts"]
    assert made["status"].eq("ok").all()
    assert len(made) == 2 * PAIRS
    row = repository.row()
    assert (row["calls"], row["USD"]) == (0, 0)


def test_what_is_not_there_yet_is_not_known(repository):
    del repository.wataoka["judge"]["served"]
    repository.wataoka["respond"]["served"] = {
        "prompts": "lab",
        "max_tokens": 7,
        "temperature": 1.0,
    }
    repository.wataoka["judge"]["served"] = {"prompts": "lab", "min_mass": 0.5}
    row = repository.row("wataoka.respond")
    assert (row["calls"], row["reply tokens"]) == (PAIRS, 7 * PAIRS)
    row = repository.row("wataoka.judge")
    assert pd.isna(row["calls"])
    assert row["remark"].startswith("not known yet: data/lab/wataoka/responses/served.parquet")


def test_a_stage_above_its_budget_does_not_start(repository):
    params = repository.load(budget=1.5)
    with pytest.raises(
        SelfprefError, match=r"may cost \$2\.00 \(20 calls\), the budget is \$1\.50"
    ):
        within_budget(params, "wataoka", "judge", "served")
    assert repository.row()["remark"] == "above the budget"
    within_budget(repository.load(budget=2.5), "wataoka", "judge", "served")
    within_budget(params, "wataoka", "judge", "terse")
    assert not repository.server.received


def test_a_budget_counts_what_is_left_to_ask(repository):
    params = repository.load(budget=1.5)
    stages.judge(params, "served")
    within_budget(params, "wataoka", "judge", "served")


def test_the_command_prints_a_table(repository, capsys):
    repository.load()
    assert main(["estimate"]) == 0
    told = capsys.readouterr().out
    assert "served" in told
    assert "at most $2.00 in all" in told
    del repository.wataoka["judge"]["served"]
    repository.load()
    assert main(["estimate"]) == 0
    assert "no model of `engine: openai` is asked anything" in capsys.readouterr().out


def responded(params):
    made = stages.respond(params, "served")
    return made["responses"], made["dropped"]


def test_responses_that_never_came_have_no_row_and_are_counted(repository):
    repository.wataoka["respond"]["served"] = {
        "prompts": "lab",
        "max_tokens": 7,
        "temperature": 0.0,
    }
    repository.server.answer = lambda body: completion(body, [position("cherry", {})], "length")
    # Equal questions are one call, so that one refusal is all of them.
    repository.server.script = iter(["refusal"])
    made, dropped = responded(repository.load())
    assert made.empty
    assert dropped.loc["seed-0"].to_dict() == {
        "cut off": 0,
        "truncated": 0,
        "refused": PAIRS,
        "failed": 0,
    }
    repository.server.script = iter(["ok"])
    made, dropped = responded(repository.load())
    assert made["text"].eq("cherry").all()
    assert made["status"].eq("truncated").all()
    assert dropped.loc["seed-0", "cut off"] == PAIRS
