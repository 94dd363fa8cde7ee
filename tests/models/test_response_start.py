"""Where a response begins: one place for local weights, a server and lm-evaluation-harness."""

from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_choose, to_score  # noqa: E402
from scripted import ByModel, Scripted  # noqa: E402
from small_models import CHATML, INST, byte_level, load, save, sentencepiece  # noqa: E402

from selfpref.models import Prompt, response_start  # noqa: E402
from selfpref.models.calls import Model  # noqa: E402
from selfpref.models.local.templates import chosen  # noqa: E402
from selfpref.models.served import HostedModel  # noqa: E402
from selfpref.models.served.live import send  # noqa: E402
from selfpref.params import Hosted  # noqa: E402
from selfpref.params.models import FORMATS as NAMED  # noqa: E402
from selfpref.store import Store  # noqa: E402

# The template's own words between a question and its answer; asked for, some end before the last.
SPACED = (
    "{% for message in messages %}{% if message['role'] == 'user' %}"
    "USER: {{ message['content'] }}\n"
    "{% else %}ASSISTANT: {{ message['content'] }}{{ eos_token }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT: {% endif %}"
)
TRIMMED = CHATML.replace("message['content']", "message['content'] | trim")
THINKING = CHATML.replace(
    "+ message['content']",
    "+ ('<think>\n\n</think>\n\n' if message['role'] == 'assistant' else '') + message['content']",
)
BOS = "{{ bos_token }}"
# Tokenizer, template, and what stands between the question and the response `the lamp`: as the
# prompt's, and as the response's.
FORMATS = {
    "chatml": (byte_level, CHATML, "assistant\n", "the lamp"),
    "chatml, trimmed": (byte_level, TRIMMED, "assistant\n", "the lamp"),
    "chatml, thinking": (byte_level, THINKING, "</think>\n\n", "the lamp"),
    "dolly-v2": (byte_level, "dolly-v2", "### Response:\n", "the lamp"),
    "llama-3": (byte_level, "llama-3", "<|end_header_id|>\n\n", "the lamp"),
    "vicuna": (byte_level, "vicuna", "ASSISTANT:", " the lamp"),
    "koala, sentencepiece": (lambda: sentencepiece("bpe"), "koala", "GPT:", "the lamp"),
    "spaced, sentencepiece": (lambda: sentencepiece("bpe"), SPACED, "ASSISTANT:", "the lamp"),
    "inst, unigram": (sentencepiece, INST, "INST]", "the lamp"),
    "llama-2, sentencepiece": (lambda: sentencepiece("bpe"), "llama-2", "[/INST]", "the lamp"),
}
TEXTS = ["the lamp", "a red house\n\n", "\nhello", "  A", "naïve 日本 🙂", "[[A]]", "3! 1 + 2", ""]
PROMPTS = [Prompt((("user", f"list {n} things"),)) for n in range(len(TEXTS))]


@pytest.fixture(params=FORMATS)
def model(request, tmp_path):
    make, template, *_ = FORMATS[request.param]
    tokenizer = make()
    named = template in NAMED
    tokenizer.chat_template = chosen(template, tmp_path).jinja if named else template
    if "sentencepiece" in request.param or "unigram" in request.param:
        # A server adds no BOS to a template's text.
        tokenizer.chat_template = BOS + tokenizer.chat_template.replace("<s>", "")
    save(tmp_path / "m", tokenizer)
    return request.param, load(tmp_path / "m"), tmp_path / "m"


def rendered(tokenizer, prompt, answer):
    """The template's text of a prompt and its answer."""
    return tokenizer.apply_chat_template(
        [
            {"role": role, "content": content}
            for role, content in (*prompt.messages, ("assistant", answer))
        ],
        tokenize=False,
    )


def harness(tokenizer, context, text):
    """The same whole, and where the harness divides it: before the whitespace, whatever it is."""

    def encode(given):
        return tokenizer(given, add_special_tokens=False)["input_ids"]

    return encode(context + text), len(encode(context.rstrip()))


def test_one_model_has_one_perplexity(model):
    """Local, served, and by the harness, whose count of the prompt's line break is taken off."""
    name, here, folder = model
    texts = TEXTS
    if name.startswith("llama-2"):
        # `transformers` takes the space after this format's content for the content's own.
        texts = [text.rstrip() for text in TEXTS]
    local = here.answer(to_score(PROMPTS, texts))
    with Scripted(ByModel(folder)) as server, Store(folder.parent / "store.sqlite") as store:
        entry = Hosted(engine="openai", model="m", base_url=server.url, server="vllm", retries=0)
        served = HostedModel("m", entry, partial(send, "m", entry))
        there = Model(served, store, offline=False, title="").ask(to_score(PROMPTS, texts))
    divided = here.pairs(PROMPTS, texts)
    for prompt, text, one, two, (context, response) in zip(
        PROMPTS, texts, local, there, divided, strict=True
    ):
        assert (one.n_tokens, one.status) == (two.n_tokens, "ok") == (len(response), two.status)
        assert one.sum_nll == pytest.approx(two.sum_nll, abs=1e-4)
        before = rendered(here.tokenizer, prompt, "CONTENT").partition("CONTENT")[0]
        trims = "\nCONTENT\n" not in rendered(here.tokenizer, prompt, "\nCONTENT\n")
        whole, start = harness(here.tokenizer, before, text.strip() if trims else text)
        assert context + response == whole
        # What the harness has more is whitespace that has tokens of its own in the prompt.
        assert len(context) >= start
        assert not here.tokenizer.decode(whole[start : len(context)]).strip()
        with torch.no_grad():
            p = here.model(torch.tensor([whole])).logits[0].double().log_softmax(-1)
        nll = [-float(p[at - 1, whole[at]]) for at in range(start, len(whole))]
        assert one.sum_nll == pytest.approx(sum(nll[len(context) - start :]), abs=1e-4)


def test_a_response_begins_at_the_content_of_the_assistants_turn(model):
    name, here, _ = model
    _, _, before, text = FORMATS[name]
    ((context, response),) = here.pairs(PROMPTS[:1], ["the lamp"])
    assert here.tokenizer.decode(context).endswith(before)
    assert here.tokenizer.decode(response) == text


def test_a_prefill_stands_where_the_response_does(model):
    _, here, folder = model
    ids = here.tokenizer.convert_tokens_to_ids(["A", "B"])
    prefilled = [Prompt(prompt.messages, "[[") for prompt in PROMPTS]
    for prompt, found in zip(prefilled, here.answer(to_choose(prefilled, "AB")), strict=True):
        context = ByModel(folder).encode(
            {
                "messages": [
                    *({"role": role, "content": said} for role, said in prompt.messages),
                    {"role": "assistant", "content": "[["},
                ],
                "add_generation_prompt": False,
                "continue_final_message": True,
            }
        )
        assert here.encode(prompt) == context
        with torch.no_grad():
            p = here.model(torch.tensor([context])).logits[0, -1].softmax(-1)
        assert all(
            share >= float(p[token]) - 1e-6
            for share, token in zip(found.probabilities, ids, strict=True)
        )


@pytest.mark.parametrize(
    ("context", "whole", "start"),
    [
        ([1, 2, 3], [1, 2, 3, 4], 3),
        # The last token of the prompt has joined the first of the response.
        ([1, 2, 3], [1, 2, 9, 4], 2),
        ([1, 2], [1, 2], 2),
        ([], [4], 0),
        ([1], [4], 0),
    ],
)
def test_what_the_prompt_shares_with_the_response_is_the_responses(context, whole, start):
    assert response_start(context, whole) == start
