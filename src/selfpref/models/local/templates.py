"""Chat formats of models that were published without one: by name, or a user's Jinja file.

`transformers` renders every template in jinja's immutable sandbox. The engine adds the one BOS
where the tokenizer would and the template did not.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ruamel.yaml import YAML

from selfpref.errors import SelfprefError

# jinja takes one newline off the end of a template; written out, it stays.
BREAK = "{{ '\\n' }}"


@dataclass(frozen=True)
class Template:
    """One chat format.

    Attributes:
        jinja: From `messages` and `add_generation_prompt` to text.
        control: Special tokens without which the format means nothing.
        stops: Special tokens that end an answer. None: the one that it writes after an answer.
        file: Where it stands; empty: here.
    """

    jinja: str
    control: tuple[str, ...] = ()
    stops: tuple[str, ...] | None = None
    file: str = ""


@cache
def templates() -> dict[str, Template]:
    """Every format by name."""
    found = YAML(typ="safe").load(Path(__file__).with_name("templates.yaml"))
    return {
        name: Template(
            entry.get("jinja") or _jinja(entry["turns"], entry.get("begin", ""), "trim" in entry),
            tuple(entry["control"]),
            tuple(entry["stops"]),
        )
        for name, entry in found.items()
    }


def chosen(template: str | None, root: Path) -> Template | None:
    """The format that an entry of `models` says by `template`.

    Args:
        template: A name, or a file in the repository; None: that of the model's own tokenizer.
        root: The repository.

    Raises:
        SelfprefError: There is no such file.
    """
    if template is None or template in templates():
        return templates()[template] if template else None
    try:
        return Template((root / template).read_text(encoding="utf-8"), file=template)
    except (OSError, UnicodeDecodeError) as error:
        raise SelfprefError(f"{template}: not readable ({error}); correct `template`") from error


def _jinja(turns: Mapping[str, str], begin: str, trim: bool) -> str:
    """A template whose turns are fixed strings around `{}`, the content."""
    content = "message['content'] | trim" if trim else "message['content']"

    def turn(name: str) -> str:
        before, _, after = turns[name].replace("\n", BREAK).partition("{}")
        return f"{before}{{{{ {content} }}}}{after}" if "{}" in turns[name] else before

    absent = f"{{% else %}}{turn('default')}" if "default" in turns else ""
    return (
        f"{begin}{{% for message in messages %}}"
        "{% if message['role'] == 'system' and not loop.first %}"
        "{{ raise_exception('a system message comes first') }}{% endif %}"
        f"{{% if loop.first %}}{{% if message['role'] == 'system' %}}{turn('opening')}"
        f"{absent}{{% endif %}}{{% endif %}}"
        f"{{% if message['role'] == 'user' %}}{turn('user')}"
        f"{{% elif message['role'] == 'assistant' %}}{turn('assistant')}"
        "{% elif message['role'] != 'system' %}"
        "{{ raise_exception('a role is system, user or assistant') }}"
        "{% endif %}{% endfor %}"
        f"{{% if add_generation_prompt %}}{turn('prompt')}{{% endif %}}"
    )
