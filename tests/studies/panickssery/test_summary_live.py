"""Summaries of news as in profiles/paper-panickssery.yaml: LoRA, an API and what it tuned."""

import json
from pathlib import Path

import pandas as pd
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

import datasets
from conftest import STAGED
from panickssery_frames import PARAMS
from ruamel.yaml import YAML
from scripted import Scripted, completion, position
from study_frames import repository, run

from selfpref import paths
from selfpref.lab.model import build_model, save_checkpoint
from selfpref.lab.tokenizer import Lexicon
from selfpref.params import Params
from selfpref.studies import registry
from selfpref.studies.panickssery import STUDY
from selfpref.studies.panickssery.read import articles
from selfpref.tables.parts import part

yaml = YAML()
# What the local model can say, labels among it.
LEXICON = Lexicon(
    roles=("user", "assistant"),
    verdict=("1", "2", "3", "4", "5", "Yes", "yes", "No", "no"),
    words=("rain", "in", "town", "again"),
)
TOKENS = {"1": 0.4, "2": 0.2, "3": 0.1, "Yes": 0.1, " yes": 0.05, "No": 0.05}


def said(body):
    """A summary where one is asked for, else the same list of tokens for every question."""
    if body["messages"][-1]["content"].startswith("Sum up"):
        return completion(body, [position("“Rain again.”", {})])
    return completion(body, [position("1", TOKENS)], "length")


TUNED = {"on": "xsum", "variant": "self-recognition", "articles": 2}


def example(url):
    """profiles/paper-panickssery.yaml, small, with one evaluator each and what a host tuned."""
    params = yaml.load((STAGED / "profiles/paper-panickssery.yaml").read_text())
    served = {"engine": "openai", "model": "m", "base_url": url}
    mine = {"engine": "transformers", "model": "models/mine", "threads": 1}
    params["models"] = {"mine": mine, "hosted": served, "hosted-tuned": served}
    section = params["panickssery"]
    for entry in section["datasets"].values():
        entry |= {"articles": 5, "train": 2}
    # The authors' prompts are downloaded; tests/prompts/test_authors.py has them.
    asked, wording = section["recognise"]["gpt-41"], {"prompts": "plain"}
    both = {"mine": "llama-2-7b", "hosted": "gpt-41-mini"}
    section["respond"] = {key: section["respond"][name] | wording for key, name in both.items()}
    section["recognise"] = {
        "mine": asked | wording,
        "hosted": asked | wording | {"min_mass": 0.5},
        "hosted-tuned": asked | wording | {"min_mass": 0.5, "own": "hosted", "tuned": TUNED},
    }
    section["finetune"] = {
        key: section["finetune"][name] | wording | {"model": key, "evaluators": {"xsum-500": TUNED}}
        for key, name in both.items()
    }
    replayed = {"method": "lora", "evaluators": {"xsum-500": TUNED | {"replay": 0.5}}}
    section["finetune"]["mine"] |= replayed
    return Params.model_validate(params)


@pytest.fixture
def live(tmp_path, monkeypatch):
    """Every stage of the example, one after another; the parameters."""
    monkeypatch.chdir(repository(tmp_path))
    monkeypatch.setenv("SELFPREF_CACHE", str(tmp_path / "cache"))

    def news(source, columns):
        texts = [(f"Rain fell in town {n}.", f"Rain in town {n}.", f"id{n}") for n in range(6)]
        rows = [dict(zip(columns, row, strict=True)) for row in texts]
        return datasets.Dataset.from_list(rows)

    monkeypatch.setattr(articles, "open_set", news)
    model = Path("models/mine")
    save_checkpoint(build_model(3, width=32, layers=2, heads=2, lexicon=LEXICON), model, LEXICON)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 512}))
    with Scripted(said) as server:
        params = example(server.url)
        study = params.panickssery
        for dataset in study.datasets:
            STUDY.write(params.profile, dataset, **registry.read(params, "panickssery", dataset))
        for task in ("respond", "finetune", "recognise-tuned", "recognise"):
            of = "finetune" if task == "recognise-tuned" else task
            for key in getattr(study, of):
                made = registry.make(params, "panickssery", task, key)
                registry.STUDIES["panickssery"].write(params.profile, part(of, key), **made)
        yield params


def test_the_example_from_articles_to_measures(live):
    texts, verdicts, ratings = (
        STUDY.read("paper-panickssery", name) for name in ("responses", "verdicts", "ratings")
    )
    # Summaries of news are cleaned.
    hosted = texts[texts["responder"].eq("hosted")].set_index("item_id")["text"]
    assert hosted["xsum/id0"] == "Rain again."
    assert len(texts[texts["responder"].eq("human")]) == 2 * 5

    # A served judge is read from the tokens listed, on the articles that are not for tuning.
    of = verdicts[verdicts["judge"].eq("hosted")]
    assert {tuple(pair) for pair in of["probabilities"]} == {(0.4, 0.2)}
    assert set(of["status"]) == {"ok"}
    # Two sets of three articles, two others in two orders, three questions.
    assert len(of) == 2 * 3 * 2 * 2 * 3
    found = ratings.query("judge == 'hosted'").groupby("task").first()
    assert found.loc["quality", "score"] == pytest.approx((0.4 + 2 * 0.2 + 3 * 0.1) / 0.7)
    # Yes, " yes" and No hold less than min_mass: no answer, and counted.
    assert list(found.loc["recognition", "distribution"]) == pytest.approx([0.15, 0.05])
    assert found.loc["recognition", "status"] == "low-mass"
    assert pd.isna(found.loc["recognition", "score"])

    # Local weights are tuned by LoRA; of a host the examples are exported.
    mine, hosted = (paths.finetuned_dir("paper-panickssery", name) for name in ("mine", "hosted"))
    assert (mine / "mine-xsum-500/model.safetensors").is_file()
    assert {path.name for path in hosted.iterdir()} == {"hosted-xsum-500.jsonl"}
    # Two articles beside two other sources in both orders; half as much again is replayed.
    assert len((hosted / "hosted-xsum-500.jsonl").read_text().splitlines()) == 8
    assert len((mine / "mine-xsum-500.jsonl").read_text().splitlines()) == 16

    changes = {"seed": 1, "bootstrap": PARAMS.bootstrap}
    frames = run("panickssery_metrics", live.model_copy(update=changes))["frames"]
    who = frames["evaluators"].set_index("evaluator")
    told = who.loc["hosted-tuned", ["family", "variant", "held_out_from", "examples"]].tolist()
    assert told == ["hosted", "self-recognition", 2, 8]
    assert who.loc["mine-xsum-500", "variant"] == "self-recognition-replay"
    judges = {"mine", "mine-xsum-500", "hosted", "hosted-tuned"}
    assert set(frames["pairwise"]["evaluator"]) == judges
    assert set(frames["deltas"]["evaluator"]) == {"mine-xsum-500", "hosted-tuned"}
