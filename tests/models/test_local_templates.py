"""Chat formats by name, against what the models' papers and cards show."""

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from conftest import REPOSITORY
from small_models import byte_level

from selfpref.errors import SelfprefError
from selfpref.models import Prompt
from selfpref.models.local.encoding import Encoder
from selfpref.models.local.loading import ENDS, chosen
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
TURNS = f"{USER}Hi<|eot_id|>{ANSWER}Hello<|eot_id|>{USER}Bye<|eot_id|>{ANSWER}"
ALPHA = (
    "# StableLM Tuned (Alpha version)\n- StableLM is a helpful and harmless open-source AI "
    "language model developed by StabilityAI.\n- StableLM is excited to be able to help the user, "
    "but will refuse to do anything that could be considered harmful to the user.\n- StableLM is "
    "more than just an information source, StableLM is also able to write poetry, short stories, "
    "and make jokes.\n- StableLM will refuse to participate in anything that could harm a human.\n"
)
BEGIN, TASK = "<|begin_of_text|>", "\n\n### Instruction:\nHi\n\n### Response:\n"
# What each writes for a system message with a question, and for three turns without one.
EXPECTED = {
    "vicuna": ["Be brief. USER: Hi ASSISTANT:",
               f"{VICUNA} USER: Hi ASSISTANT: Hello</s>USER: Bye ASSISTANT:"],
    "koala": ["Be brief. USER: Hi GPT:",
              "BEGINNING OF CONVERSATION: USER: Hi GPT: Hello</s>USER: Bye GPT:"],
    "oasst-pythia": ["Be brief.<|prompter|>Hi<|endoftext|><|assistant|>",
                     "<|prompter|>Hi<|endoftext|><|assistant|>Hello<|endoftext|>"
                     "<|prompter|>Bye<|endoftext|><|assistant|>"],
    "dolly-v2": [f"Be brief.{TASK}", f"{BELOW}{TASK}Hello### End{TASK.replace('Hi', 'Bye')}"],
    "stablelm-tuned-alpha": ["<|SYSTEM|>Be brief.<|USER|>Hi<|ASSISTANT|>",
                             f"<|SYSTEM|>{ALPHA}<|USER|>Hi<|ASSISTANT|>Hello"
                             "<|USER|>Bye<|ASSISTANT|>"],
    "llama-2": ["<s>[INST] <<SYS>>\nBe brief.\n<</SYS>>\n\nHi [/INST]",
                "<s>[INST] Hi [/INST] Hello </s><s>[INST] Bye [/INST]"],
    "llama-3": [f"{BEGIN}{SYSTEM}Be brief.<|eot_id|>{USER}Hi<|eot_id|>{ANSWER}", f"{BEGIN}{TURNS}"],
    "llama-3.1": [f"{BEGIN}{SYSTEM}{DATES}Be brief.<|eot_id|>{USER}Hi<|eot_id|>{ANSWER}",
                  f"{BEGIN}{SYSTEM}{DATES}<|eot_id|>{TURNS}"],
    "plain": ["Be brief.\n\nHi\n\n", "Hi\n\nHello\n\nBye\n\n"],
}  # fmt: skip
STOPS = {
    "vicuna": ["</s>"],
    "koala": ["</s>"],
    "oasst-pythia": ["<|endoftext|>"],
    "dolly-v2": ["### End", "<|endoftext|>"],
    "stablelm-tuned-alpha": ["<|SYSTEM|>", "<|USER|>", "<|ASSISTANT|>", "<|endoftext|>",
                             "<|padding|>"],
    "llama-2": ["</s>"],
    "llama-3": ["<|eot_id|>", "<|end_of_text|>"],
    "llama-3.1": ["<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"],
    "plain": [],
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_a_named_format_is_the_published_one(name):
    template = chosen(name, REPOSITORY)
    special = dict.fromkeys([*template.control, *STOPS[name], "<|other|>"])
    tokenizer = byte_level(special=tuple(special))
    encoder = Encoder(tokenizer, template)
    for messages, text in zip((TOLD, AGAIN), EXPECTED[name], strict=True):
        made = tokenizer.apply_chat_template(
            [{"role": role, "content": content} for role, content in messages],
            chat_template=template.jinja,
            add_generation_prompt=True,
            tokenize=False,
        )
        assert made == text
    assert encoder.stops == {*tokenizer.convert_tokens_to_ids(STOPS[name])}
    for messages in ([("tool", "x")], [*HI, ("system", "x")]):
        with pytest.raises(SelfprefError, match="the chat template refuses messages of"):
            encoder.text(Prompt(tuple(messages)))
    if template.control:
        with pytest.raises(SelfprefError, match="is no special token of this tokenizer"):
            Encoder(byte_level(special=("<|other|>", *template.control[1:])), template)


def test_the_parameters_name_every_template():
    files = (REPOSITORY / "src/selfpref/models/local/templates").iterdir()
    assert sorted(FORMATS) == sorted(path.stem for path in files)
    assert {*ENDS} <= {*FORMATS}
