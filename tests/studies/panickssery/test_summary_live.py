"""The example of profiles/paper.yaml: news, local weights by LoRA, an API and what it tuned."""

import io
import json
import re
import shutil

import pandas as pd
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from conftest import REPOSITORY, STAGED
from notebook_cells import run
from panickssery_frames import PARAMS
from ruamel.yaml import YAML
from scripted import Scripted, completion, position

from selfpref import paths
from selfpref.lab.model import build_model, save_checkpoint
from selfpref.lab.tokenizer import Lexicon
from selfpref.params import load
from selfpref.studies import registry
from selfpref.studies.panickssery import STUDY
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


def example(url):
    """profiles/paper.yaml with its own example of summaries, small."""
    text = (STAGED / "profiles/paper.yaml").read_text()
    section = text.index("# Summaries: ")
    start, stop = text.index("#   datasets:\n", section), text.index("# `lora` tunes")
    added = yaml.load(re.sub(r"^# {3}", "", text[start:stop], flags=re.MULTILINE))
    params = yaml.load(text)
    served = {"engine": "openai", "model": "m", "base_url": url}
    params["models"] |= {
        "mine": {"engine": "transformers", "model": "models/mine", "threads": 1},
        **dict.fromkeys(("hosted", "hosted-tuned"), served),
    }
    for entry in added["datasets"].values():
        entry |= {"articles": 5, "train": 2}
    # The authors' prompts are downloaded; tests/prompts/test_authors.py has them.
    for task in ("respond", "finetune", "recognise"):
        for entry in added[task].values():
            entry["prompts"] = "plain"
    added["recognise"]["mine"]["min_mass"] = added["finetune"]["mine"]["min_mass"] = 0.0
    added["recognise"]["hosted-tuned"]["tuned"]["articles"] = 2
    for entry in added["finetune"].values():
        entry["evaluators"]["xsum-500"]["articles"] = 2
    params["studies"] = ["panickssery"]
    # Nobody else takes part.
    params["wataoka"] |= {"judge": {}, "perplexity": {}}
    params["panickssery"] |= added
    params["bootstrap"]["resamples"] = 100
    written = io.StringIO()
    yaml.dump(params, written)
    return written.getvalue()


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """Every stage of the example, one after another; the parameters."""
    root = tmp_path_factory.mktemp("live")
    (root / "dvc.yaml").touch()
    shutil.copytree(REPOSITORY / "data/published", root / "data/published")
    for reader, columns in (
        ("xsum", ["document", "summary", "id"]),
        ("cnn-dailymail", ["article", "highlights", "id"]),
    ):
        data = root / "hub" / reader
        data.mkdir(parents=True)
        rows = [(f"Rain fell in town {n}.", f"Rain in town {n}.", f"id{n}") for n in range(6)]
        pd.DataFrame(rows, columns=columns).to_parquet(data / "train-00000-of-00001.parquet")
        pinned = root / f"src/selfpref/studies/panickssery/read/{reader}.csv"
        pinned.parent.mkdir(parents=True, exist_ok=True)
        pinned.write_text(f"repository,revision,split\n{data},0,train\n")
    model = root / "models/mine"
    save_checkpoint(build_model(3, width=32, layers=2, heads=2, lexicon=LEXICON), model, LEXICON)
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 512}))
    with pytest.MonkeyPatch.context() as patch, Scripted(said) as server:
        patch.chdir(root)
        patch.setenv("SELFPREF_CACHE", str(root / "cache"))
        (root / "params.yaml").write_text(example(server.url))
        params = load(root / "params.yaml")
        study = params.panickssery
        for dataset in study.datasets:
            STUDY.write("paper", dataset, **registry.read(params, "panickssery", dataset))
        for task, keys in (
            ("respond", study.respond),
            ("finetune", study.finetune),
            ("recognise-tuned", study.finetune),
            ("recognise", study.recognise),
        ):
            for key in keys:
                made = registry.make(params, "panickssery", task, key)
                of = "finetune" if task == "recognise-tuned" else task
                registry.write("paper", "panickssery", part(of, key), made)
        yield params


def read(live, name):
    return STUDY.read("paper", name)


def test_summaries_of_news_are_cleaned(live):
    texts = read(live, "responses")
    hosted = texts[texts["responder"].eq("hosted")].set_index("item_id")["text"]
    assert hosted["xsum/id0"] == "Rain again."
    assert len(texts[texts["responder"].eq("human")]) == 2 * 5


def test_a_served_evaluator_is_read_from_the_tokens_listed(live):
    verdicts = read(live, "verdicts")
    of = verdicts[verdicts["judge"].eq("hosted")]
    assert {tuple(pair) for pair in of["probabilities"]} == {(0.4, 0.2)}
    assert set(of["status"]) == {"ok"}
    ratings = read(live, "ratings").query("judge == 'hosted'").groupby("task").first()
    assert ratings.loc["quality", "score"] == pytest.approx((0.4 + 2 * 0.2 + 3 * 0.1) / 0.7)
    # Yes, " yes" and No hold less than min_mass: no answer, and counted.
    assert list(ratings.loc["recognition", "distribution"]) == pytest.approx([0.15, 0.05])
    assert ratings.loc["recognition", "status"] == "low-mass"
    assert pd.isna(ratings.loc["recognition", "score"])


def test_local_weights_are_tuned_by_lora_and_a_hosts_examples_are_exported(live):
    mine, hosted = (paths.finetuned_dir("paper", name) for name in ("mine", "hosted"))
    assert (mine / "mine-xsum-500/model.safetensors").is_file()
    assert {path.name for path in hosted.iterdir()} == {"hosted-xsum-500.jsonl"}
    # Two articles beside two other sources in both orders; half as much again is replayed.
    assert len((hosted / "hosted-xsum-500.jsonl").read_text().splitlines()) == 8
    assert len((mine / "mine-xsum-500.jsonl").read_text().splitlines()) == 16


def test_the_study_describes_every_evaluator_and_compares_tuned_with_base(live):
    changes = {"profile": "paper", "seed": 1, "bootstrap": PARAMS.bootstrap}
    frames = run("panickssery_metrics", live.model_copy(update=changes))["frames"]
    who = frames["evaluators"].set_index("evaluator")
    assert who.loc["hosted-tuned", ["family", "variant", "held_out_from"]].tolist() == [
        *("hosted", "self-recognition", 2)
    ]
    assert who.loc["mine-xsum-500", "variant"] == "self-recognition-replay"
    assert set(frames["pairwise"]["evaluator"]) == {
        *("mine", "mine-xsum-500", "hosted", "hosted-tuned")
    }
    assert {"mine-xsum-500", "hosted-tuned"} == set(frames["deltas"]["evaluator"])
