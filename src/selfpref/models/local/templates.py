"""Chat formats of models that were published without one: by name, or a user's Jinja file.

Each of `templates/` is the format that its model was tuned on, with the markers and separators of
FastChat's `conversation.py` at 0e6d3e4 (Apache-2.0) or, for Llama, of Meta's model cards. A system
message takes the place of the format's own opening, as in FastChat; where the published opening is
one line it is the default. StableLM's is a prompt of several lines and is left to the caller.

`transformers` renders every template in jinja's immutable sandbox. The engine adds the one BOS
where the tokenizer would and the template did not.
"""

from dataclasses import dataclass
from pathlib import Path

from selfpref.errors import SelfprefError
from selfpref.params.models import FORMATS

LLAMA_3 = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")
STABLELM = ("<|SYSTEM|>", "<|USER|>", "<|ASSISTANT|>", "<|endoftext|>")
# Special tokens without which a named format means nothing.
CONTROL = {
    "vicuna": ("</s>",),
    "koala": ("</s>",),
    "oasst-pythia": ("<|prompter|>", "<|assistant|>", "<|endoftext|>"),
    "dolly-v2": ("### End",),
    "stablelm-tuned-alpha": STABLELM,
    "llama-2": ("<s>", "</s>"),
    "llama-3": (*LLAMA_3, "<|end_of_text|>"),
    "llama-3.1": (*LLAMA_3, "<|end_of_text|>"),
}
# Those that end an answer beside the one that a format writes after it.
ENDS = {
    "dolly-v2": ("<|endoftext|>",),
    "stablelm-tuned-alpha": (*STABLELM, "<|padding|>"),
    "llama-3": ("<|end_of_text|>",),
    "llama-3.1": ("<|eom_id|>", "<|end_of_text|>"),
}


@dataclass(frozen=True)
class Template:
    """One chat format.

    Attributes:
        name: As an entry says it: a format's name, or a file in the repository.
        jinja: From `messages` and `add_generation_prompt` to text.
        control: Special tokens without which it means nothing.
        ends: Those that end an answer beside the one that it writes after it.
    """

    name: str
    jinja: str
    control: tuple[str, ...]
    ends: tuple[str, ...]


def chosen(template: str | None, root: Path) -> Template | None:
    """The format that an entry of `models` says by `template`.

    Args:
        template: A name, or a file in the repository; None: that of the model's own tokenizer.
        root: The repository.

    Raises:
        SelfprefError: There is no such file.
    """
    if template is None:
        return None
    named = Path(__file__).with_name("templates") / f"{template}.jinja"
    file = named if template in FORMATS else root / template
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SelfprefError(f"{template}: not readable ({error}); correct `template`") from error
    return Template(template, text, CONTROL.get(template, ()), ENDS.get(template, ()))
