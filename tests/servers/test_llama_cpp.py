"""A real server beside our own numbers: llama.cpp on the same weights, over HTTP.

`make test-servers` installs it, once, and names its Python in $SELFPREF_SERVERS.
"""

import math
import os
from functools import partial

import pytest

if not os.environ.get("SELFPREF_SERVERS"):
    pytest.skip("make test-servers installs what this needs", allow_module_level=True)

import torch
from asking import to_choose, to_generate
from running import converted, serving
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

from selfpref.models import Choose, Prompt, Raw
from selfpref.models.served import HostedModel
from selfpref.models.served.live import send
from selfpref.params import Hosted

TOLERANCE = 1e-4
SPECIAL = ("<bos>", "<end>", "<system>", "<user>", "<assistant>")
TEMPLATE = (
    "{{ '<bos>' }}{% for message in messages %}"
    "{{ '<' + message['role'] + '>' + message['content'] + '<end>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<assistant>' }}{% endif %}"
)
TEXTS = [
    "The river ran past the mill, and nobody asked the miller what he thought of it.",
    "Which of the two answers is better? Say [[A]] or [[B]], and nothing else.",
    "Add 12 and 30, then take 7 away: what is left is 35, isn't it?",
]


def save(folder):
    """A random model of the testbed's size, with a byte-level BPE tokenizer."""
    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=list(SPECIAL),
        # No token is part of a character: the server lists a half with what completes it, and the
        # probabilities of the latter alone.
        initial_alphabet=[char for char in pre_tokenizers.ByteLevel.alphabet() if char.isascii()],
        show_progress=False,
    )
    backend.train_from_iterator(TEXTS * 3, trainer)
    backend.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token="<bos>", eos_token="<end>"
    )
    tokenizer.chat_template = TEMPLATE
    torch.manual_seed(5)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=168,
            num_hidden_layers=3,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=256,
            tie_word_embeddings=True,
            initializer_range=0.12,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("model")
    save(path)
    return path


@pytest.fixture(scope="module")
def address(folder):
    """The server's address, once it answers."""
    with serving(converted(folder, folder / "model.gguf")) as address:
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def served(address):
    entry = Hosted(engine="openai", model="random", base_url=address, concurrency=1)
    return HostedModel("random", entry, partial(send, "random", entry))


@pytest.fixture(scope="module")
def local(folder):
    """Log-probabilities of the next token after a chat and a beginning of the reply."""
    model, tokenizer = (
        kind.from_pretrained(folder) for kind in (AutoModelForCausalLM, AutoTokenizer)
    )

    # Parts of characters are spelt alike, so that no reply tells them apart.
    spelt = [tokenizer.decode([number]) for number in range(len(tokenizer))]
    ids = {token: number for number, token in enumerate(spelt) if spelt.count(token) == 1}

    def logprobs(content, reply=()):
        messages = [{"role": "user", "content": content}]
        text = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
        prompt = tokenizer(text, add_special_tokens=False)["input_ids"]
        whole = torch.tensor([prompt + [ids[token] for token in reply]])
        with torch.no_grad():
            row = model(whole).logits[0, -1].double().log_softmax(-1).tolist()
        return {token: row[number] for token, number in ids.items()}

    return logprobs


def replies(served, contents, **options):
    asked = [Prompt((("user", content),)) for content in contents]
    return dict(served.answer(to_generate(asked, seeds=[0] * len(asked), **options)))


def test_logprobs_agree_at_every_position_of_a_reply(served, local):
    options = {"max_tokens": 8, "temperature": 0, "labels": ["A"]}
    widest, compared = 0.0, 0
    for index, made in replies(served, TEXTS, **options).items():
        assert isinstance(made, Raw)
        reply = []
        for entry in made.reply["choices"][0]["logprobs"]["content"]:
            wanted = local(TEXTS[index], reply)
            for listed in (entry, *entry["top_logprobs"]):
                if listed["token"] in wanted:
                    widest = max(widest, abs(listed["logprob"] - wanted[listed["token"]]))
                    compared += 1
            if entry["token"] not in wanted:
                break
            reply.append(entry["token"])
    print(f"{compared} log-probabilities, largest difference {widest:.1e}")
    assert compared > 100
    assert widest <= TOLERANCE


def test_choices_agree(served, local):
    compared = 0
    for content in TEXTS:
        wanted = local(content)
        likely = sorted(wanted, key=wanted.__getitem__, reverse=True)
        # Labels of one form each: a second one need not be among the 20 that are listed.
        labels = [token for token in likely[:10] if token.isalnum() and f" {token}" not in wanted]
        assert labels
        ((_, made),) = served.answer(to_choose([Prompt((("user", content),))], labels))
        # The label is read at the first token that is spelt: a control token is passed over.
        if not made.reply["choices"][0]["logprobs"]["content"][0]["token"]:
            continue
        found = served.read(Choose(Prompt(()), tuple(labels)), made.reply)
        assert found.probabilities == pytest.approx(
            [math.exp(wanted[label]) for label in labels], rel=TOLERANCE
        )
        compared += 1
    assert compared > 1
