"""Chat templates of models that were published without one, by name.

Each is the format that its model was tuned on, with the markers and separators of FastChat's
`conversation.py` at 0e6d3e4 (Apache-2.0) or, for Llama, of Meta's model cards. A system message
takes the place of the format's own opening, as in FastChat; where the published opening is one
line it is the default. StableLM's is a prompt of several lines and is left to the caller.

The engine adds the one BOS where the tokenizer would and the template did not.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Template:
    """One chat format.

    Attributes:
        jinja: From `messages` and `add_generation_prompt` to text.
        control: Special tokens without which the format means nothing.
        stops: Special tokens that end an answer.
    """

    jinja: str
    control: tuple[str, ...]
    stops: tuple[str, ...]


def _format(
    *, opening: str, user: str, assistant: str, prompt: str, default: str = "", trim: bool = False
) -> str:
    """A template whose turns are fixed strings around `{}`, the content."""
    content = "message['content'] | trim" if trim else "message['content']"

    def turn(text: str) -> str:
        before, after = text.split("{}")
        return f"{before}{{{{ {content} }}}}{after}"

    absent = f"{{% else %}}{default}" if default else ""
    return (
        "{% for message in messages %}"
        "{% if message['role'] == 'system' and not loop.first %}"
        "{{ raise_exception('a system message comes first') }}{% endif %}"
        f"{{% if loop.first %}}{{% if message['role'] == 'system' %}}{turn(opening)}"
        f"{absent}{{% endif %}}{{% endif %}}"
        f"{{% if message['role'] == 'user' %}}{turn(user)}"
        f"{{% elif message['role'] == 'assistant' %}}{turn(assistant)}"
        "{% elif message['role'] != 'system' %}"
        "{{ raise_exception('a role is system, user or assistant') }}"
        "{% endif %}{% endfor %}"
        f"{{% if add_generation_prompt %}}{prompt}{{% endif %}}"
    )


# jinja takes one newline off the end of a template; `{{ '\n' }}` stays.
_BREAK = "{{ '\\n' }}"


def _header(role: str) -> str:
    return f"<|start_header_id|>{role}<|end_header_id|>{_BREAK * 2}"


_LLAMA_3 = {
    "user": f"{_header('user')}{{}}<|eot_id|>",
    "assistant": f"{_header('assistant')}{{}}<|eot_id|>",
    "prompt": _header("assistant"),
}
_DATES = f"Cutting Knowledge Date: December 2023{_BREAK}Today Date: 26 Jul 2024{_BREAK * 2}"
_LLAMA_3_CONTROL = (
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|end_of_text|>",
)
_STABLELM = ("<|SYSTEM|>", "<|USER|>", "<|ASSISTANT|>")

TEMPLATES = {
    "vicuna": Template(
        _format(
            opening="{} ",
            default="A chat between a curious user and an artificial intelligence assistant. "
            "The assistant gives helpful, detailed, and polite answers to the user's questions. ",
            user="USER: {} ",
            assistant="ASSISTANT: {}</s>",
            prompt="ASSISTANT:",
        ),
        control=("</s>",),
        stops=("</s>",),
    ),
    "koala": Template(
        _format(
            opening="{} ",
            default="BEGINNING OF CONVERSATION: ",
            user="USER: {} ",
            assistant="GPT: {}</s>",
            prompt="GPT:",
        ),
        control=("</s>",),
        stops=("</s>",),
    ),
    "oasst-pythia": Template(
        _format(
            opening="{}",
            user="<|prompter|>{}<|endoftext|>",
            assistant="<|assistant|>{}<|endoftext|>",
            prompt="<|assistant|>",
        ),
        control=("<|prompter|>", "<|assistant|>", "<|endoftext|>"),
        stops=("<|endoftext|>",),
    ),
    "dolly-v2": Template(
        _format(
            opening=f"{{}}{_BREAK * 2}",
            default="Below is an instruction that describes a task. "
            f"Write a response that appropriately completes the request.{_BREAK * 2}",
            user=f"### Instruction:{_BREAK}{{}}{_BREAK * 2}",
            assistant=f"### Response:{_BREAK}{{}}### End{_BREAK * 2}",
            prompt=f"### Response:{_BREAK}",
        ),
        control=("### End",),
        stops=("### End", "<|endoftext|>"),
    ),
    "stablelm-tuned-alpha": Template(
        _format(
            opening="<|SYSTEM|>{}",
            user="<|USER|>{}",
            assistant="<|ASSISTANT|>{}",
            prompt="<|ASSISTANT|>",
        ),
        control=(*_STABLELM, "<|endoftext|>"),
        stops=(*_STABLELM, "<|endoftext|>", "<|padding|>"),
    ),
    "llama-2": Template(
        # A system message stands inside the first user turn.
        "{% for message in messages %}"
        "{% if message['role'] == 'system' and loop.first %}"
        f"<s>[INST] <<SYS>>{_BREAK}{{{{ message['content'] | trim }}}}{_BREAK}<</SYS>>{_BREAK * 2}"
        "{% elif message['role'] == 'user' %}"
        "{% if loop.index0 != 1 or messages[0]['role'] != 'system' %}<s>[INST] {% endif %}"
        "{{ message['content'] | trim }} [/INST]"
        "{% elif message['role'] == 'assistant' %} {{ message['content'] | trim }} </s>"
        "{% else %}{{ raise_exception('a role is system (first), user or assistant') }}"
        "{% endif %}{% endfor %}",
        control=("<s>", "</s>"),
        stops=("</s>",),
    ),
    "llama-3": Template(
        "<|begin_of_text|>"
        + _format(opening=f"{_header('system')}{{}}<|eot_id|>", trim=True, **_LLAMA_3),
        control=_LLAMA_3_CONTROL,
        stops=("<|eot_id|>", "<|end_of_text|>"),
    ),
    "llama-3.1": Template(
        "<|begin_of_text|>"
        + _format(
            opening=f"{_header('system')}{_DATES}{{}}<|eot_id|>",
            default=f"{_header('system')}{_DATES}<|eot_id|>",
            trim=True,
            **_LLAMA_3,
        ),
        control=_LLAMA_3_CONTROL,
        stops=("<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"),
    ),
}
