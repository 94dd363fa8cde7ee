"""Chat formats by name, against what the models' papers and cards show."""

import hashlib
import json

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from small_models import byte_level, sentencepiece

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.templates import templates
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


@pytest.fixture(scope="module")
def tokenizer():
    return byte_level()


@pytest.mark.parametrize(("name", "messages", "text"), EXPECTED)
def test_a_template_is_the_published_format(tokenizer, name, messages, text):
    found = tokenizer.apply_chat_template(
        [{"role": role, "content": content} for role, content in messages],
        chat_template=templates()[name].jinja,
        add_generation_prompt=True,
        tokenize=False,
    )
    assert found == text


def test_the_parameters_name_every_template():
    assert set(FORMATS) == set(templates())


PINNED = {
    "vicuna": "94e046c9cddc2926",
    "koala": "52c3c9f773502b3d",
    "oasst-pythia": "233a247a28f31387",
    "dolly-v2": "64873ff400d76c6d",
    "stablelm-tuned-alpha": "63bae8293b857f71",
    "llama-2": "33c07554f3569ccc",
    "llama-3": "1dd3de5decec1afe",
    "llama-3.1": "b5b885a87d87faa9",
    "plain": "c97fcc3bde3084ab",
}


def test_templates_are_those_of_the_stores_keys():
    for name, template in templates().items():
        text = json.dumps([template.jinja, list(template.control), list(template.stops)])
        assert hashlib.sha256(text.encode()).hexdigest().startswith(PINNED[name])


@pytest.mark.parametrize("name", sorted(templates()))
def test_a_template_takes_no_other_role_and_no_late_system_message(name):
    template = templates()[name]
    encoder = Encoder(byte_level(special=(*template.control, "<|end|>")), template)
    for messages in ((("tool", "x"),), (*HI, ("system", "x"))):
        with pytest.raises(SelfprefError, match="the chat template refuses messages of"):
            encoder.text(Prompt(tuple(messages)))


@pytest.mark.parametrize("name", sorted(set(templates()) - {"plain"}))
def test_a_format_of_another_model_is_refused(name):
    control = templates()[name].control
    tokenizer = byte_level(special=("<|other|>", *control[1:]))
    with pytest.raises(SelfprefError, match="is no special token of this tokenizer"):
        Encoder(tokenizer, templates()[name])


def test_the_bos_is_the_tokenizers_and_stands_once():
    tokenizer = sentencepiece("bpe")
    for name in ("vicuna", "koala", "llama-2"):
        ids = Encoder(tokenizer, templates()[name]).encode(Prompt((("user", "hello"),)))
        assert [n for n, token in enumerate(ids) if token == tokenizer.bos_token_id] == [0]


def test_an_answer_ends_where_its_format_says():
    control = ("<|SYSTEM|>", "<|USER|>", "<|ASSISTANT|>", "<|endoftext|>")
    tokenizer = byte_level(special=control)
    encoder = Encoder(tokenizer, templates()["stablelm-tuned-alpha"])
    assert encoder.stops == set(tokenizer.convert_tokens_to_ids(list(control)))
