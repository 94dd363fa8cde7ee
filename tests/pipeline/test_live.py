"""The paper's profile end to end: small sets of the real schema, a served judge and a local one."""

import itertools
import json
import random
import secrets
from typing import Any

import pandas as pd
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from clones import cloned
from conftest import STAGED, lines, reference_files
from scripted import Scripted

from selfpref.lab.model import build_model, save_checkpoint
from selfpref.params import load

NAMES = ("gpt-4", "gpt-3.5-turbo", "vicuna-13b")
DIALOGUES = 24
KEY = f"sk-{secrets.token_hex(12)}"
# The local judge knows these.
WORDS = ("river", "lamp", "clock", "cherry", "sky", "maybe", "sure")
FIGURES = (
    *("fig1b_bias", "fig2_confusion", "table2_demographic_parity", "bias_by_opponent", "position"),
    *("fig3_perplexity_vs_human", "fig4_perplexity_own_vs_other", "fig5_log_perplexity"),
)


def said(model, number, turns):
    draw = random.Random(f"{model}/{number}")
    answer = " ".join(draw.choices(WORDS, k=5))
    texts = [
        (f"question {number}.{turn}?", f"{model} says {turn} {answer}") for turn in range(turns)
    ]
    return [
        {"content": text, "role": role}
        for pair in texts
        for role, text in zip(("user", "assistant"), pair, strict=True)
    ]


def arena():
    draw = random.Random(0)
    pairs = itertools.cycle(itertools.combinations(NAMES, 2))
    for number in range(DIALOGUES):
        (a, b), turns = next(pairs), 2 if number % 4 == 0 else 1
        yield {
            "question_id": f"{number:032x}",
            "model_a": a,
            "model_b": b,
            "winner": draw.choice(["model_a", "model_b", "model_b", "tie (bothbad)"]),
            "judge": f"arena_user_{number}",
            "conversation_a": said(a, number, turns),
            "conversation_b": said(b, number, turns),
            "turn": turns,
            "anony": True,
            "language": "English",
            "tstamp": 0.0,
            "openai_moderation": {"flagged": False},
            "toxic_chat_tag": {"roberta-large": {"flagged": False}, "t5-large": {"flagged": False}},
        }


def votes():
    for question, turn in itertools.product((81, 82, 83), (1, 2)):
        yield {
            "question_id": question,
            "model_a": "gpt-4",
            "model_b": "gpt-3.5-turbo",
            "winner": "model_a" if question % 2 else "model_b",
            "judge": "expert_0",
            "conversation_a": said("gpt-4", question, 2),
            "conversation_b": said("gpt-3.5-turbo", question, 2),
            "turn": turn,
        }


def judge_prompts():
    return [
        {"name": name, "system_prompt": name, "prompt_template": template}
        for name, template in {
            "pair-v2": "{question} {answer_a} {answer_b}",
            "pair-v2-multi-turn": "{question_1} {answer_a_1} {question_2} {answer_a_2} / "
            "{question_1} {answer_b_1} {question_2} {answer_b_2}",
            "pair-math-v1": "{question} {ref_answer_1} {answer_a} {answer_b}",
            "pair-math-v1-multi-turn": "{ref_answer_1} {ref_answer_2} / {question_1} {answer_a_1} "
            "{question_2} {answer_a_2} / {question_1} {answer_b_1} {question_2} {answer_b_2}",
        }.items()
    ]


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone of the repository with sets and prompts of its own, and a local model."""
    top = tmp_path_factory.mktemp("live")
    prompts = {"fastchat/llm_judge/data/judge_prompts.jsonl": lines(*judge_prompts())}
    references = reference_files(dict.fromkeys((81, 82), "writing") | {83: "math"})
    with cloned(top, {"judge-prompts": prompts, "mt-bench-references": references}) as made:
        for name, split, rows in (
            ("chatbot-arena", "train", arena()),
            ("mt-bench-hub", "human", votes()),
        ):
            data = top / "hub" / name / "data"
            data.mkdir(parents=True)
            pd.DataFrame(list(rows)).to_parquet(data / f"{split}-00000-of-00001-00.parquet")
            pinned = made.folder / f"src/selfpref/studies/wataoka/read/{name}.csv"
            pinned.write_text(f"repository,revision,split\n{data.parent},0,{split}\n")
        model = made.folder / "models/vicuna"
        save_checkpoint(build_model(3), model)
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 1024}))
        made.environment |= {"OPENAI_API_KEY": KEY, "HF_HOME": str(top / "hf")}
        yield made


@pytest.fixture(scope="module")
def reproduced(clone):
    """The clone after `dvc repro` of the profile `paper`; and the server."""
    assert clone.call("selfpref", "use", "paper").returncode == 0
    with Scripted() as server:

        def small(params):
            # One line a judge: where its endpoint is, or where its weights are.
            for name in ("gpt-4", "gpt-35-turbo"):
                params["models"][name]["base_url"] = server.url
            params["models"]["vicuna-13b"] = {
                "engine": "transformers",
                "model": "models/vicuna",
                "threads": 1,
            }
            section = params["wataoka"]
            section["judge"]["vicuna-13b"] = {"prompts": "chat", "min_mass": 0.0}
            for entries in (params["models"], section["judge"], section["perplexity"]):
                for name in set(entries) - {"gpt-4", "gpt-35-turbo", "vicuna-13b"}:
                    del entries[name]
            params["bootstrap"].update(resamples=200)

        clone.edit(small)
        done = clone.repro()
        assert done.returncode == 0, done.stderr + done.stdout
        yield clone, server


def test_every_figure_of_the_paper_is_there(reproduced):
    clone, _ = reproduced
    assert clone.lacks("figures/paper/wataoka", FIGURES, ("svg", "csv")) == []
    assert clone.stale() == set()


def test_a_judge_finds_its_own_responses_by_their_name_in_the_set(reproduced):
    clone, _ = reproduced
    bias = pd.read_csv(clone.folder / "figures/paper/wataoka/fig1b_bias.csv")
    found = bias.groupby("dataset")["judge"].agg(set)
    assert found["arena-hub"] == set(NAMES)
    assert found["mt-bench-hub"] == {"gpt-4", "gpt-3.5-turbo"}


def test_every_pair_is_judged_twice_and_no_response_is_made_anew(reproduced):
    clone, server = reproduced
    pairs = DIALOGUES + 3 * 2
    for judge in ("gpt-4", "gpt-35-turbo", "vicuna-13b"):
        table = clone.folder / f"data/paper/wataoka/verdicts/{judge}.parquet"
        verdicts = pd.read_parquet(table)
        assert len(verdicts) == 2 * pairs
        assert set(verdicts["status"]) == {"ok"}
        assert verdicts["probabilities"].notna().all()
    # Two served judges; equal prompts are one call.
    assert {body["model"] for body in server.bodies} == {"gpt-4-0613", "gpt-3.5-turbo-0125"}
    assert len(server.bodies) <= 2 * 2 * pairs
    assert {body["temperature"] for body in server.bodies} == {0.7}
    assert all(body["logprobs"] for body in server.bodies)


def test_dialogues_of_two_turns_take_the_multi_turn_prompt(reproduced):
    _, server = reproduced
    prompts = {body["messages"][0]["content"] for body in server.bodies}
    assert {"pair-v2", "pair-v2-multi-turn"} < prompts
    asked = [body["messages"][1]["content"] for body in server.bodies]
    (first, *_) = [text for text in asked if text.startswith("question 0.0? gpt-4 says 0 ")]
    assert " question 0.1? gpt-4 says 1 " in first.partition(" / ")[0]
    assert "gpt-4 says" not in first.partition(" / ")[2]


def test_mathematics_of_mt_bench_is_judged_with_its_reference_answers(reproduced):
    _, server = reproduced
    asked = {
        body["messages"][1]["content"]: body["messages"][0]["content"]
        for body in server.bodies
        if "reference" in body["messages"][1]["content"]
    }
    assert set(asked.values()) == {"pair-math-v1", "pair-math-v1-multi-turn"}
    assert all("question 83.0?" in text for text in asked)
    assert sum(text.startswith("reference 83.1 reference 83.2 / ") for text in asked) == 2


def test_perplexity_is_given_the_dialogue_so_far(reproduced):
    clone, _ = reproduced
    scores = pd.read_parquet(clone.folder / "data/paper/wataoka/perplexities/vicuna-13b.parquet")
    turns = DIALOGUES + DIALOGUES // 4
    # Two responses a turn in the Arena, both turns of three questions in MT-Bench, both ways.
    assert len(scores) == 2 * (2 * turns + 2 * 6)
    assert set(scores["status"]) == {"ok"}


def test_the_key_is_in_no_file(reproduced):
    clone, _ = reproduced
    assert clone.holds(KEY) == []


def test_an_executed_copy_tells_what_was_declared_and_no_address_of_a_server(reproduced):
    clone, server = reproduced
    shown = (clone.folder / "report/paper/wataoka-judge-gpt-4.ipynb").read_text()
    (cell,) = [
        "".join(cell["source"])
        for cell in json.loads(shown)["cells"]
        if "injected-parameters" in cell["metadata"].get("tags", [])
    ]
    names: dict[str, Any] = {}
    exec(cell, names)
    assert names["entry"] == "gpt-4"
    wanted = {"prompts": "pair-v2", "min_mass": 0.5, "max_tokens": 1024}
    assert wanted.items() <= names["section"]["wataoka"]["judge"]["gpt-4"].items()
    address = server.url.partition("//")[2].partition("/")[0]
    for path in (clone.folder / "report/paper").rglob("*"):
        if path.is_file():
            assert address.encode() not in path.read_bytes(), path


PAPER = {
    *("gpt-4", "gpt-3.5-turbo", "vicuna-13b", "vicuna-7b", "koala-13b", "oasst-pythia-12b"),
    *("dolly-v2-12b", "stablelm-tuned-alpha-7b"),
}


def test_the_file_in_git_names_the_papers_judges_as_the_arena_does():
    params = load(STAGED / "profiles/paper.yaml")
    judge = params.wataoka.judge
    names = {params.models[key].responder or key for key in judge}
    assert names - PAPER == {"llama-2", "llama-3", "llama-31"}
    assert names >= PAPER
    # Explanation first, at the paper's temperature.
    assert {use.prompts for use in judge.values()} == {"pair-v2"}
    assert {use.temperature for use in judge.values()} == {0.7}
    # OpenAI's models give no likelihoods of a given text.
    assert set(judge) - set(params.wataoka.perplexity) == {"gpt-4", "gpt-35-turbo"}
