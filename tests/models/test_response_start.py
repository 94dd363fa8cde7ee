"""Where a response begins: at the content of the assistant's turn, as chat templates write it."""

from functools import partial

import pytest

pytest.importorskip("torch", reason="the extra `models` is not installed")

from small_models import CHATML, INST, byte_level, sentencepiece

from selfpref.models import Prompt
from selfpref.models.local.encoding import Encoder, response_start
from selfpref.models.local.loading import template as chosen
from selfpref.params.models import FORMATS as NAMED

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


@pytest.mark.parametrize("name", FORMATS)
def test_what_the_template_writes_before_a_content_is_the_prompts(tmp_path, name):
    make, template, before, text = FORMATS[name]
    encoder = Encoder(make(), chosen(template, tmp_path) if template in NAMED else template)
    ((context, own),) = encoder.pairs([Prompt((("user", "list 3 things"),))], ["the lamp"])
    assert encoder.decode(context).endswith(before)
    assert encoder.decode(own) == text
    # A prefill stands where the response does.
    assert encoder.encode(Prompt((("user", "list 3 things"),), "the lamp")) == [*context, *own]


@pytest.mark.parametrize(
    ("context", "whole", "start"),
    [([1, 2], [1, 2, 3], 2), ([1, 9], [1, 2, 3], 1), ([1, 2], [1], 1), ([], [1], 0)],
)
def test_a_response_begins_at_the_first_token_that_differs(context, whole, start):
    assert response_start(context, whole) == start
