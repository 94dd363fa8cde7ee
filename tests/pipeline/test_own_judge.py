"""A user's new judge from nothing to its card, with the lines of docs/judges.md; a model fails."""

import json
import random
import re
import socket

import pandas as pd
import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from clones import cloned, yaml
from conftest import REPOSITORY, lines
from scripted import Scripted, by_rule, completion, position

from selfpref.lab.model import build_model, save_checkpoint

PROMPTS = 12
PAIRS = 2 * PROMPTS
# The first lines that the page shows are the profile's; the others are one more each.
NEW, VOTES = (
    yaml.load(block)
    for block in re.findall(
        r"```yaml\n(.*?)```",
        (REPOSITORY / "docs/judges.md").read_text().split("## From nothing")[1].split("\n## ")[0],
        re.DOTALL,
    )[:2]
)


def answered(body):
    """Verdicts by rule; responses of words that prompt and model decide."""
    if body.get("logprobs"):
        return by_rule(body)
    draw = random.Random(json.dumps(body))
    words = draw.choices(["river", "lamp", "clock", "sky", "sure"], k=draw.randint(2, 9))
    return completion(body, [position(f"{word} ", {}) for word in words])


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """A clone with the user's prompts, a model of the user's own and weights of another."""
    with cloned(tmp_path_factory.mktemp("own"), {}) as made:
        asked = [{"id": n, "prompt": f"question {n}?"} for n in range(PROMPTS)]
        (made.folder / "prompts.jsonl").write_text(lines(*asked))
        model = made.folder / "models/mine"
        save_checkpoint(build_model(3), model)
        config = json.loads((model / "config.json").read_text())
        (model / "config.json").write_text(json.dumps(config | {"max_position_embeddings": 1024}))
        assert made.call("selfpref", "use", "live").returncode == 0
        yield made


@pytest.fixture(scope="module")
def reproduced(clone):
    """The clone after what `make repro` runs; its status and messages; the server."""
    with socket.socket() as closed, Scripted(answer=answered) as server:
        closed.bind(("127.0.0.1", 0))

        def ours(params):
            section = params["wataoka"]
            params["models"] = NEW["models"]
            section.update(NEW["wataoka"])
            # The weights and the address are the test's.
            params["models"]["mine"] = {"engine": "transformers", "model": "models/mine"}
            params["models"]["yours"]["base_url"] = server.url
            section["judge"]["mine"]["min_mass"] = 0.0
            params["models"]["gone"] = {
                "engine": "openai",
                "model": "gone",
                "base_url": f"http://127.0.0.1:{closed.getsockname()[1]}/v1",
                "retries": 0,
            }
            section["judge"]["gone"] = {"prompts": "chat", "min_mass": 0.5}
            params["bootstrap"].update(resamples=200)

        clone.edit(ours)
        printed = clone.call("make", "-n", "repro", "PROFILE=live").stdout.splitlines()
        (command,) = [line for line in printed if "dvc repro" in line]
        yield clone, clone.call("sh", "-c", command), server


def test_it_is_twelve_lines():
    block = (REPOSITORY / "docs/judges.md").read_text().split("## From nothing")[1]
    assert len(block.split("```yaml\n")[1].split("```")[0].splitlines()) == 12


def test_a_model_that_fails_stops_no_other_and_is_told(reproduced):
    clone, done, _ = reproduced
    assert done.returncode == 1
    assert "stages failed (above); the chapters name what is missing" in done.stderr
    assert clone.stale() == {"wataoka-judge@gone"}


def test_what_is_missing_is_named_in_table_and_chapter(reproduced):
    clone, *_ = reproduced
    asked = clone.table("data/live/metrics/wataoka/asked.parquet").set_index(["judge", "status"])
    assert asked.loc[("gone", "no table"), "table"] == "verdicts"
    page = (clone.folder / "report/live/wataoka.html").read_text()
    assert "Not there, since its stage failed: verdicts of gone." in page


def test_a_judge_reads_its_own_pairs(reproduced):
    clone, *_ = reproduced
    for judge in ("mine", "yours"):
        verdicts = clone.table(f"data/live/wataoka/verdicts/{judge}.parquet")
        assert len(verdicts) == 2 * PROMPTS
        assert verdicts["status"].eq("ok").all()
    scores = clone.table("data/live/wataoka/perplexities/mine.parquet")
    assert len(scores) >= 2 * PROMPTS


def test_its_card_has_what_needs_no_vote(reproduced):
    clone, *_ = reproduced
    page = (clone.folder / "report/live/judges.md").read_text()
    assert "- **mine** No answer, in wataoka: no set of pairs of its own responses" in page
    assert "- **gone** Nothing is known of it. Asked in wataoka: no table." in page
    assert ">demographic parity, which needs no votes (0)</th>" in page
    beyond = clone.table("figures/live/beyond/beyond.csv").set_index(["judge", "gold", "statistic"])
    for statistic in ("demographic_parity", "paired_excess"):
        assert beyond.loc[("mine", "none", statistic), "n"] > 0
    assert beyond.loc[("mine", "human"), "n"].eq(0).all()


def test_votes_are_one_more_line_and_nothing_is_asked_again(reproduced):
    clone, _, server = reproduced
    rows = [f"{n},mine,yours,{'ab'[n % 2]}" for n in range(PROMPTS)]
    (clone.folder / "votes.csv").write_text(
        "\n".join(["item,responder_a,responder_b,label", *rows])
    )
    before = len(server.bodies)

    def voted(params):
        params["wataoka"].update(VOTES["wataoka"])
        for entries in (params["models"], params["wataoka"]["judge"]):
            del entries["gone"]

    clone.edit(voted)
    done = clone.repro("metrics@wataoka-live")
    assert done.returncode == 0, done.stderr + done.stdout
    assert len(server.bodies) == before
    bias = clone.table("data/live/metrics/wataoka/fig1b_bias.parquet").set_index("judge")
    assert bias.loc["yours", "n"] + bias.loc["yours", "n_dropped"] == PROMPTS
    assert pd.notna(bias.loc["yours", "dp"])
