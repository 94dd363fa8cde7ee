"""Prompts as data: one YAML file a family, and in it for each prompt its messages by role.

    judge:
      system: You compare two answers.
      user: |-
        Question: {{ question }}
        ...
      prefill: "[["

Messages are Jinja templates and stand in the order of the file. Values are put in as they are:
nothing in them is a template.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from jinja2 import Environment, StrictUndefined, Template
from ruamel.yaml import YAML

from selfpref.models import Prompt


class Texts:
    """The prompts of one file.

    Args:
        path: The YAML file; it is read when the first prompt is made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._jinja = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)

    @cached_property
    def _parts(self) -> Mapping[str, Mapping[str, Template]]:
        found: Mapping[str, Mapping[str, str]] = YAML(typ="safe").load(self._path)
        # Compiled once: Jinja keeps no template that it was given as a string.
        return {
            name: {role: self._jinja.from_string(text) for role, text in parts.items()}
            for name, parts in found.items()
        }

    def prompt(self, name: str, **values: object) -> Prompt:
        """One of the prompts.

        Args:
            name: Which.
            values: What its templates name.
        """
        parts = {role: template.render(values) for role, template in self._parts[name].items()}
        prefill = parts.pop("prefill", "")
        return Prompt(tuple(parts.items()), prefill)
