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

from jinja2 import Environment, StrictUndefined
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
    def _parts(self) -> Mapping[str, Mapping[str, str]]:
        found: Mapping[str, Mapping[str, str]] = YAML(typ="safe").load(self._path)
        return found

    def prompt(self, name: str, **values: object) -> Prompt:
        """One of the prompts.

        Args:
            name: Which.
            values: What its templates name.
        """
        # Jinja keeps templates that it has seen.
        parts = {
            role: self._jinja.from_string(text).render(values)
            for role, text in self._parts[name].items()
        }
        prefill = parts.pop("prefill", "")
        return Prompt(tuple(parts.items()), prefill)
