"""Where a response begins: one place for local weights, a server and lm-evaluation-harness."""

from functools import partial

import pytest

torch = pytest.importorskip("torch", reason="the extra `models` is not installed")

from asking import to_score  # noqa: E402
from scripted import ByModel, Scripted  # noqa: E402
from small_models import CHATML, INST, byte_level, load, save, sentencepiece  # noqa: E402

from selfpref.models import Prompt  # noqa: E402
from selfpref.models.calls import Model  # noqa: E402
from selfpref.models.local.loading import template as chosen  # noqa: E402
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
LLAMA = partial(sentencepiece, "bpe")
# Tokenizer, template, and what stands between the question and the response `the lamp`: as the
# prompt's, and as the response's.
FORMATS = {
    "trimmed": (byte_level, TRIMMED, "assistant\n", "the lamp"),
    "thinking": (byte_level, THINKING, "</think>\n\n", "the lamp"),
    "dolly-v2": (byte_level, "dolly-v2", "### Response:\n", "the lamp"),
    "vicuna": (byte_level, "vicuna", "ASSISTANT:", " the lamp"),
    "spaced": (LLAMA, SPACED, "ASSISTANT:", "the lamp"),
    "inst": (sentencepiece, INST, "INST]", "the lamp"),
    "llama-2": (LLAMA, "llama-2", "[/INST]", "the lamp"),
}
TEXTS = ["the lamp", "a red house\n\n", "\nhello", "  A", "naïve 日本 🙂", "[[A]]", "", "a house"]
# The last text stands alone.
PROMPTS = [*(Prompt((("user", f"list {n} things"),)) for n in range(7)), Prompt(())]


@pytest.mark.parametrize("name", FORMATS)
def test_one_model_has_one_perplexity_here_and_behind_an_endpoint(tmp_path, name):
    make, template, before, text = FORMATS[name]
    tokenizer = make()
    tokenizer.chat_template = chosen(template, tmp_path) if template in NAMED else template
    if make is not byte_level:
        # A server adds no BOS to a template's text.
        tokenizer.chat_template = "{{ bos_token }}" + tokenizer.chat_template.replace("<s>", "")
    here = load(save(tmp_path / "m", tokenizer))
    context, own = (here.tokenizer.decode(ids) for ids in here.pairs(PROMPTS[:1], TEXTS[:1])[0])
    assert (context[-len(before) :], own) == (before, text)
    # `transformers` takes the space after llama-2's content for the content's own.
    texts = [text.rstrip() if name == "llama-2" else text for text in TEXTS]
    scored, pairs = to_score(PROMPTS, texts), here.pairs(PROMPTS, texts)
    said = [("user", "list 3 things"), ("assistant", "[[")]
    messages = [{"role": role, "content": content} for role, content in said]
    body = {"add_generation_prompt": False, "continue_final_message": True, "messages": messages}
    told, model = [], ByModel(tmp_path / "m")
    model.tokenize = lambda body: told.append(body) or ByModel.tokenize(model, body)
    with Scripted(model) as server, Store(tmp_path / "store.sqlite") as store:
        extra = {"chat_template_kwargs": {"enable_thinking": False}}
        how = {"engine": "openai", "server": "vllm", "retries": 0, "extra": extra}
        entry = Hosted(model="m", base_url=server.url, **how)
        served = HostedModel("m", entry, partial(send, "m", entry))
        there = Model(served, store, offline=False, title="").ask(scored)
        for one, two, pair in zip(here.answer(scored), there, pairs, strict=True):
            assert (one.n_tokens, one.status) == (two.n_tokens, two.status) == (len(pair[1]), "ok")
            assert one.sum_nll == pytest.approx(two.sum_nll, abs=1e-4)
    # What the template is told is told where a text is encoded.
    assert {"messages" in body: extra.items() <= body.items() for body in told} == {
        True: True,
        False: False,
    }
    # A prefill stands where the response does.
    assert here.encode(Prompt(tuple(said[:1]), "[[")) == model.encode(body)
