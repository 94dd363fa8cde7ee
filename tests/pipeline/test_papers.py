"""The papers' own settings end to end, on a few items: every stage of every entry, and the numbers.

Sets of the real schemas, a scripted endpoint in the place of every host, and untrained weights of a
few thousand parameters in the place of all others; the authors' programs are the tests' own.
"""

from functools import cache

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

import datasets
import llm_sp_release
import pandas as pd
from author_programs import programs  # noqa: F401
from clones import weights
from conftest import REPOSITORY, STAGED, lines, pin
from dialogues import PROMPTS_FILE, arena
from ruamel.yaml import YAML
from scripted import Scripted, by_rule, completion, position
from study_frames import repository, run

from selfpref import paths
from selfpref.lab.tokenizer import Lexicon
from selfpref.params import TASKS, Params
from selfpref.prompts import downloaded
from selfpref.studies import registry
from selfpref.studies.panickssery import stages
from selfpref.tables.parts import FILLED, part

yaml = YAML(typ="safe")
LEXICON = Lexicon(
    roles=("system", "user", "assistant"),
    verdict=("[[", "]]", "A", "B", "C", "1", "2", "3", "4", "5", "Yes", "yes", "No", "no"),
    words=("rain", "in", "town", "again", "question", "minor"),
)
# Of the authors' keys that grow with the data: what is few enough here.
FEW = {"articles": 5, "train": 2, "first": 2, "steps": 2, "end": 3, "max_tokens": 8}
FEW |= {"feedback_tokens": 8, "batch": 8, "resamples": 100}
BEST, ROUNDS = [1, 2], [2, 3]


class Says:
    """A host: verdicts, labels and marks where they are asked for, and words elsewhere."""

    def __call__(self, body):
        asked = body["messages"][-1]["content"]
        if "choose by" in asked:
            return completion(body, [position(str(1 + len(asked) % 3), {})])
        if "score by" in asked:
            return completion(body, [position(f"Overall Score: {len(asked) % 12}", {})])
        if not body.get("logprobs"):
            fault = "'rain' is a minor style error" * (len(asked) % 2)
            return completion(body, [position(f"rain {len(asked) % 7} {fault}", {})])
        labels = dict.fromkeys(("1", "2", "3", "Yes", "No"), 0.2)
        return completion(body, [position("1", labels)]) if "rain" in asked else by_rule(body)


def hub(repository, configuration=None, **_):
    """A few rows of a set of the Hub."""
    numbers, kind = range(6), repository.rpartition("/")[2]
    if kind == "chatbot_arena_conversations":
        return datasets.Dataset.from_list([*arena(8)])
    if kind in ("xsum", "cnn_dailymail"):
        text, summary = ("document", "summary") if kind == "xsum" else ("article", "highlights")
        whole = "There was rain in town"
        made = [{"id": str(n), text: f"{whole} {n}.", summary: f"Rain {n}."} for n in numbers]
    elif kind == "flores_plus":
        made = [{"id": n, "text": f"{configuration} rain {n}"} for n in numbers]
    elif kind == "hendrycks_math":
        made = [{"problem": f"Is {n} rain?", "solution": rf"\boxed{{{n}}}"} for n in numbers]
    else:
        common = {"category": kind, "task": "AMPS_Hard", "ground_truth": "1"}
        made = [common | {"question_id": str(n), "turns": [f"rain {n}?"]} for n in numbers]
    return datasets.Dataset.from_list(made)


def reduced(value):
    """The same with little to do; what is listed, named or chosen stays."""
    if isinstance(value, list):
        return [*map(reduced, value)]
    if not isinstance(value, dict):
        return value
    found = {key: FEW.get(key, reduced(one)) for key, one in value.items()}
    if "variant" in found:
        found["articles"] = 2
    return found | {"best_of": BEST if "best_of" in found else []} if "arms" in found else found


def profile(study, url):
    """A paper's profile with these hosts and weights, on a few items."""
    params = reduced(yaml.load((STAGED / f"profiles/paper-{study}.yaml").read_text()))
    for key, entry in params["models"].items():
        if entry["engine"] == "openai":
            entry |= {"base_url": url, "key": "PAPER_KEY"}
            continue
        own = {name: entry[name] for name in ("system", "responder") if name in entry}
        params["models"][key] = own | {"engine": "transformers", "model": "tiny", "threads": 1}
    for entry in params[study]["datasets"].values():
        if entry["reader"] in ("llm-sp", "commongen-hard"):
            entry["source"] = f"{entry['reader']}.csv"
    for entry in params[study].get("refine", {}).values():
        if "rounds" in entry:
            entry["rounds"] = ROUNDS
    return Params.model_validate(params)


@pytest.fixture
def place(tmp_path, monkeypatch, programs):  # noqa: F811
    """A repository with the sets; the hosts."""
    monkeypatch.chdir(repository(tmp_path))
    monkeypatch.setenv("SELFPREF_STORE", str(tmp_path / "store.sqlite"))
    monkeypatch.setenv("PAPER_KEY", "k")
    monkeypatch.setattr(datasets, "load_dataset", hub)
    # Another process would have the authors' own programs and the real Hub.
    monkeypatch.setattr(stages, "each", lambda call, rows: [call(*row) for row in rows])
    concepts = {"srcs/commongen_hard.jsonl": lines(*[{"concepts": ["rain", "town"]}] * 4)}
    releases = {"judge-prompts": PROMPTS_FILE, "llm-sp": llm_sp_release.files()}
    for name, files in (releases | {"commongen-hard": concepts}).items():
        pin(tmp_path / "mirror", f"owner/{name}", files, tmp_path / f"{name}.csv")
    monkeypatch.setattr(paths, "judge_prompts_file", lambda: tmp_path / "judge-prompts.csv")
    monkeypatch.setattr(downloaded, "_judge_prompts", cache(downloaded._judge_prompts.__wrapped__))
    (tmp_path / "src").symlink_to(REPOSITORY / "src")
    weights(tmp_path / "tiny", 512, width=32, layers=2, heads=2, lexicon=LEXICON)
    with Scripted(Says()) as server:
        yield server


@pytest.mark.parametrize("study", TASKS)
def test_a_papers_profile_runs_from_its_sets_to_its_numbers(study, place):
    params = profile(study, place.url)
    name, section, tables = params.profile, params.study(study), registry.STUDIES[study]
    for dataset in section.datasets:
        tables.write(name, dataset, **registry.read(params, study, dataset))
    for task in TASKS[study]:
        entries = getattr(section, task)
        assert entries or task == "respond"
        for key in entries:
            # What is tuned is asked next.
            for stage in (task, "recognise-tuned") if task == "finetune" else (task,):
                tables.write(name, part(task, key), **registry.make(params, study, stage, key))
    for folder, task, key, file in tables.entries(params):
        # A host's tuned evaluators are asked once their files were sent to it.
        if task not in ("datasets", "finetune") and folder in FILLED:
            assert len(pd.read_parquet(file)), (folder, key)
    frames = run(f"{study}_metrics", params)["frames"]
    if study == "wataoka":
        bias = frames["fig1b_bias"].set_index(["dataset", "judge"])
        assert bias.loc[("arena-hub", "gpt-4"), "n"] > 0
    elif study == "panickssery":
        names = section.finetune["llama-2-7b"].evaluators
        tuned = {f"llama-2-7b-{one}" for one in names}
        assert {*frames["pairwise"]["evaluator"]} == tuned | {*section.recognise}
        assert len([*paths.finetuned_dir(name, "gpt-41-mini").iterdir()]) == len(names) == 16
