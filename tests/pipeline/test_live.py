"""The paper's sets and a user's own judge end to end, with the lines of docs/judges.md.

A served judge of small sets of the real schema, prompts without responses, two models of the
user's own (one served, one local), and a model that fails.
"""

import json
import random
import re

import pandas as pd
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from clones import cloned, ran, weights, yaml
from conftest import REPOSITORY, STAGED, lines, reference_files
from dialogues import DIALOGUES, PROMPTS_FILE, PROMPTS_OF_JUDGES, WORDS, arena, votes
from scripted import Scripted, by_rule, completion, position

PROMPTS = 12
# Two judged sets: dialogues of the Arena, and three questions of two turns.
PAIRS = DIALOGUES + 3 * 2
FIGURES = "wataoka fig1b_bias fig2_confusion table2_demographic_parity"
SETS = ("arena-hub", "mt-bench-hub")
DOCS = (REPOSITORY / "docs/judges.md").read_text().split("## From nothing")[1].split("\n## ")[0]
# The first lines that the page shows are the profile's; the others are one more each.
PAPER = yaml.load((STAGED / "profiles/paper-wataoka.yaml").read_text())
NEW, VOTES = (yaml.load(block) for block in re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL)[:2])


def answered(body):
    """Verdicts by rule; responses of words that prompt and model decide."""
    if body.get("logprobs"):
        return by_rule(body)
    draw = random.Random(json.dumps(body))
    words = draw.choices(WORDS, k=draw.randint(2, 9))
    return completion(body, [position(f"{word} ", {}) for word in words])


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory):
    """The clone after what `make repro` runs; what that said; the server."""
    top = tmp_path_factory.mktemp("live")
    references = reference_files({81: "writing", 82: "writing", 83: "math"})
    releases = {"judge-prompts": PROMPTS_FILE, "mt-bench-references": references}
    sets = (("chatbot-arena", "train", arena()), ("mt-bench-hub", "human", votes()))
    with cloned(top, releases) as clone, Scripted(answer=answered) as server:
        for name, split, rows in sets:
            data = top / "hub" / name / "data"
            data.mkdir(parents=True)
            pd.DataFrame(list(rows)).to_parquet(data / f"{split}-00000-of-00001-00.parquet")
            pinned = clone.folder / f"src/selfpref/studies/wataoka/read/{name}.csv"
            pinned.write_text(f"repository,revision,split\n{data.parent},0,{split}\n")
        asked = [{"id": n, "prompt": f"question {n}?"} for n in range(PROMPTS)]
        (clone.folder / "prompts.jsonl").write_text(lines(*asked))
        weights(clone.folder / "models/mine", 1024)
        clone.environment |= {"OPENAI_API_KEY": "sk-test", "HF_HOME": str(top / "hf")}
        assert clone.call("selfpref", "use", "live").returncode == 0

        def ours(params):
            section, models, sets = params["wataoka"], NEW["models"], PAPER["wataoka"]["datasets"]
            section.update(NEW["wataoka"])
            for entry in (*section["respond"].values(), *section["judge"].values()):
                entry["datasets"] = ["questions"]
            # The weights and the address are the test's.
            models["mine"] = {"engine": "transformers", "model": "models/mine"}
            models["yours"]["base_url"] = server.url
            section["judge"]["mine"]["min_mass"] = 0.0
            # Of the paper: one line, where its endpoint is.
            name = "gpt-35-turbo"
            models[name] = PAPER["models"][name] | {"base_url": server.url}
            section["judge"][name] = PAPER["wataoka"]["judge"][name] | {"datasets": [*SETS]}
            source = "src/selfpref/studies/wataoka/read/mt-bench-hub.csv"
            section["datasets"]["mt-bench-hub"] = {"reader": "mt-bench-hub", "source": source}
            section["datasets"]["arena-hub"] = sets["arena-hub"]
            nowhere = {"base_url": "http://127.0.0.1:9/v1", "retries": 0}
            models["gone"] = models["yours"] | nowhere
            section["judge"]["gone"] = {"prompts": "chat", "min_mass": 0.5}
            params["models"] = models
            params["bootstrap"].update(resamples=100)

        clone.edit(ours)
        printed = clone.call("make", "-n", "repro", "PROFILE=live").stdout.splitlines()
        (command,) = [line for line in printed if "dvc repro" in line]
        yield clone, clone.call("sh", "-c", command), server


def test_a_model_that_fails_stops_no_other_and_is_told_in_table_chapter_and_card(reproduced):
    clone, done, _ = reproduced
    assert len(DOCS.split("```yaml\n")[1].split("```")[0].splitlines()) == 13
    assert done.returncode == 1
    assert "stages failed (above); the chapters name what is missing" in done.stderr
    assert clone.stale() == {"wataoka-judge@gone"}
    page = (clone.folder / "report/live/wataoka.ipynb").read_text()
    assert "Not there, since its stage failed: verdicts of gone." in page
    page = (clone.folder / "report/live/judges.md").read_text()
    assert "| gone | [wataoka](wataoka.ipynb) | order not known | nothing is known of it: " in page


def test_a_judge_of_the_paper_finds_its_own_responses_and_is_asked_as_the_paper_asks(reproduced):
    clone, _, server = reproduced
    assert clone.lacks("live", FIGURES, "svg") + clone.lacks("live", FIGURES, "csv") == []
    bias = clone.table("figures/live/wataoka/fig1b_bias.csv")
    # By their name in the set.
    found = bias.groupby("dataset")["judge"].agg(set).to_dict()
    assert found == {name: {"gpt-3.5-turbo"} for name in SETS} | {"questions": {"mine", "yours"}}
    verdicts = clone.table("data/live/wataoka/verdicts/gpt-35-turbo.parquet")
    assert verdicts["status"].tolist() == ["ok"] * 2 * PAIRS
    assert verdicts["probabilities"].notna().all()
    # Equal prompts are one call.
    bodies = [body for body in server.bodies if body["model"] == "gpt-3.5-turbo-0125"]
    assert 0 < len(bodies) <= 2 * PAIRS
    assert {(body["temperature"], body["logprobs"]) for body in bodies} == {(0.7, True)}
    # Dialogues take the multi-turn prompt, mathematics that with reference answers.
    assert {body["messages"][0]["content"] for body in bodies} == set(PROMPTS_OF_JUDGES)


def test_a_judge_from_nothing_needs_no_vote_and_votes_ask_nothing_again(reproduced):
    clone, _, server = reproduced
    for judge in ("mine", "yours"):
        verdicts = clone.table(f"data/live/wataoka/verdicts/{judge}.parquet")
        assert verdicts["status"].tolist() == ["ok"] * 2 * PROMPTS
    # Votes are one more line.
    votes = ["item,responder_a,responder_b,label"]
    votes += [f"{n},mine,yours,{'ab'[n % 2]}" for n in range(PROMPTS)]
    (clone.folder / "votes.csv").write_text("\n".join(votes))
    before = len(server.bodies)

    def voted(params):
        params["wataoka"].update(VOTES["wataoka"])
        for entries in (params["models"], params["wataoka"]["judge"]):
            del entries["gone"]

    clone.edit(voted)
    done = ran(clone.repro("metrics@wataoka-live"))
    # Judges read the labels again, and find their answers.
    assert done >= {"wataoka-label@questions", "wataoka-judge@yours", "metrics@wataoka-live"}
    assert len(server.bodies) == before
    bias = clone.table("data/live/metrics/wataoka/fig1b_bias.parquet").set_index("judge")
    assert bias.loc["yours", "n"] + bias.loc["yours", "n_dropped"] == PROMPTS
    assert pd.notna(bias.loc["yours", "dp"])
