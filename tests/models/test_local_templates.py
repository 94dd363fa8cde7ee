"""Chat formats by name, against what the models' papers and cards show."""

import hashlib
from itertools import product

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from conftest import REPOSITORY
from small_models import byte_level, sentencepiece

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.templates import CONTROL, ENDS, chosen
from selfpref.params.models import FORMATS

HI = [("user", "Hi")]
TOLD = [("system", "Be brief."), *HI]
AGAIN = [*HI, ("assistant", "Hello"), ("user", "Bye")]
DATES = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n"
VICUNA = (
    "A chat between a curious user and an artificial intelligence assistant. "
    "The assistant gives helpful, detailed, and polite answers to the user's questions."
)
BELOW = (
    "Below is an instruction that describes a task. "
    "Write a response that appropriately completes the request."
)
HEAD = "<|start_header_id|>{}<|end_header_id|>\n\n"
USER, ANSWER, SYSTEM = (HEAD.format(role) for role in ("user", "assistant", "system"))
BEGIN = "<|begin_of_text|>"
EXPECTED = [
    ("vicuna", HI, f"{VICUNA} USER: Hi ASSISTANT:"),
    ("vicuna", TOLD, "Be brief. USER: Hi ASSISTANT:"),
    ("vicuna", AGAIN, f"{VICUNA} USER: Hi ASSISTANT: Hello</s>USER: Bye ASSISTANT:"),
    ("koala", HI, "BEGINNING OF CONVERSATION: USER: Hi GPT:"),
    ("koala", AGAIN, "BEGINNING OF CONVERSATION: USER: Hi GPT: Hello</s>USER: Bye GPT:"),
    ("oasst-pythia", HI, "<|prompter|>Hi<|endoftext|><|assistant|>"),
    (
        "oasst-pythia",
        AGAIN,
        "<|prompter|>Hi<|endoftext|><|assistant|>Hello<|endoftext|>"
        "<|prompter|>Bye<|endoftext|><|assistant|>",
    ),
    ("dolly-v2", HI, f"{BELOW}\n\n### Instruction:\nHi\n\n### Response:\n"),
    ("dolly-v2", TOLD, "Be brief.\n\n### Instruction:\nHi\n\n### Response:\n"),
    (
        "dolly-v2",
        AGAIN,
        f"{BELOW}\n\n### Instruction:\nHi\n\n### Response:\nHello### End\n\n"
        "### Instruction:\nBye\n\n### Response:\n",
    ),
    ("stablelm-tuned-alpha", HI, "<|USER|>Hi<|ASSISTANT|>"),
    ("stablelm-tuned-alpha", TOLD, "<|SYSTEM|>Be brief.<|USER|>Hi<|ASSISTANT|>"),
    ("stablelm-tuned-alpha", AGAIN, "<|USER|>Hi<|ASSISTANT|>Hello<|USER|>Bye<|ASSISTANT|>"),
    ("llama-2", HI, "<s>[INST] Hi [/INST]"),
    ("llama-2", TOLD, "<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST]"),
    ("llama-2", AGAIN, "<s>[INST] Hi [/INST] Hello </s><s>[INST] Bye [/INST]"),
    ("llama-3", HI, f"{BEGIN}{USER}Hi<|eot_id|>{ANSWER}"),
    ("llama-3", TOLD, f"{BEGIN}{SYSTEM}Be brief.<|eot_id|>{USER}Hi<|eot_id|>{ANSWER}"),
    ("llama-3.1", HI, f"{BEGIN}{SYSTEM}{DATES}<|eot_id|>{USER}Hi<|eot_id|>{ANSWER}"),
    ("llama-3.1", TOLD, f"{BEGIN}{SYSTEM}{DATES}Be brief.<|eot_id|>{USER}Hi<|eot_id|>{ANSWER}"),
    (
        "llama-3",
        AGAIN,
        f"{BEGIN}{USER}Hi<|eot_id|>{ANSWER}Hello<|eot_id|>{USER}Bye<|eot_id|>{ANSWER}",
    ),
    ("plain", HI, "Hi\n\n"),
    ("plain", TOLD, "Be brief.\n\nHi\n\n"),
    ("plain", AGAIN, "Hi\n\nHello\n\nBye\n\n"),
]


STOPS = {
    "vicuna": ["</s>"],
    "koala": ["</s>"],
    "oasst-pythia": ["<|endoftext|>"],
    "dolly-v2": ["### End", "<|endoftext|>"],
    "stablelm-tuned-alpha": [*CONTROL["stablelm-tuned-alpha"], "<|padding|>"],
    "llama-2": ["</s>"],
    "llama-3": ["<|eot_id|>", "<|end_of_text|>"],
    "llama-3.1": ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"],
}


def named(name):
    return chosen(name, REPOSITORY)


@pytest.fixture(scope="module")
def tokenizer():
    return byte_level()


@pytest.mark.parametrize(("name", "messages", "text"), EXPECTED)
def test_a_template_is_the_published_format(tokenizer, name, messages, text):
    found = tokenizer.apply_chat_template(
        [{"role": role, "content": content} for role, content in messages],
        chat_template=named(name).jinja,
        add_generation_prompt=True,
        tokenize=False,
    )
    assert found == text


# What each writes for every sequence of up to four roles.
RENDERED = {
    "vicuna": "c08b728de3850f06",
    "koala": "08a742b1bfebfa8a",
    "oasst-pythia": "616ee7ea16994e8f",
    "dolly-v2": "9d255777dcf1c3f7",
    "stablelm-tuned-alpha": "ddafd12304e91e24",
    "llama-2": "9033f916ba94e796",
    "llama-3": "11b509fec8156c4b",
    "llama-3.1": "cbe60f356d1ccf0c",
    "plain": "d07e2cda993484d8",
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_template_writes_the_same_bytes_whoever_speaks(tokenizer, name):
    texts = [
        tokenizer.apply_chat_template(
            [{"role": role, "content": f" {role}\n"} for role in (*first, *roles)],
            chat_template=named(name).jinja,
            add_generation_prompt=asked,
            tokenize=False,
        )
        for count in range(1, 4)
        for roles in product(("user", "assistant"), repeat=count)
        for first in ((), ("system",))
        for asked in (False, True)
    ]
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()
    assert digest.startswith(RENDERED[name])


def test_the_parameters_name_every_template():
    assert sorted(FORMATS) == sorted(
        path.stem for path in (REPOSITORY / "src/selfpref/models/local/templates").iterdir()
    )
    assert set(CONTROL) | set(ENDS) <= set(FORMATS)


@pytest.mark.parametrize("name", FORMATS)
def test_a_template_takes_no_other_role_and_no_late_system_message(name):
    template = named(name)
    encoder = Encoder(byte_level(special=(*template.control, "<|end|>")), template)
    for messages in ((("tool", "x"),), (*HI, ("system", "x"))):
        with pytest.raises(SelfprefError, match="the chat template refuses messages of"):
            encoder.text(Prompt(tuple(messages)))


@pytest.mark.parametrize("name", CONTROL)
def test_a_format_of_another_model_is_refused(name):
    control = CONTROL[name]
    tokenizer = byte_level(special=("<|other|>", *control[1:]))
    with pytest.raises(SelfprefError, match="is no special token of this tokenizer"):
        Encoder(tokenizer, named(name))


def test_the_bos_is_the_tokenizers_and_stands_once():
    tokenizer = sentencepiece("bpe")
    for name in ("vicuna", "koala", "llama-2"):
        ids = Encoder(tokenizer, named(name)).encode(Prompt((("user", "hello"),)))
        assert [n for n, token in enumerate(ids) if token == tokenizer.bos_token_id] == [0]


def test_an_answer_ends_where_its_format_says():
    for name, stops in STOPS.items():
        tokenizer = byte_level(special=tuple(dict.fromkeys([*CONTROL[name], *stops, "<|other|>"])))
        found = Encoder(tokenizer, named(name)).stops
        assert found == set(tokenizer.convert_tokens_to_ids(stops)), name
