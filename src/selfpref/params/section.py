"""What every part of params.yaml is: a model that refuses unknown keys; kinds of keys."""

import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.functional_validators import AfterValidator

from selfpref.errors import SelfprefError

SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def _slug(key: str) -> str:
    if not SLUG.fullmatch(key):
        raise ValueError(
            "keys are slugs of a-z, 0-9 and single hyphens (a dot or slash breaks DVC)"
        )
    return key


def inside(path: str) -> str:
    """A path that does not leave the repository."""
    if path.startswith("/") or ".." in Path(path).parts:
        raise ValueError("give a path inside the repository, relative to its root")
    return path


def _with_svg(formats: list[str]) -> list[str]:
    if "svg" not in formats:
        raise ValueError("give a list with svg, which the chapters show")
    return formats


Slug = Annotated[str, AfterValidator(_slug)]
RepositoryPath = Annotated[str, AfterValidator(inside)]
Name = Annotated[str, Field(min_length=1)]
# Other names of judges and responders: as a file has them, and as they are to be called.
Aliases = dict[Name, Name]
Study = Literal["wataoka", "panickssery", "xu", "livebench"]
Formats = Annotated[list[Literal["svg", "pdf", "tex"]], AfterValidator(_with_svg)]


class Section(BaseModel):
    """A part of params.yaml: unknown keys refused, values not converted, fixed once read."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def __getattr__(self, name: str) -> Any:
        """Reached only for what is not there: a stage has no more than it declares."""
        if name in type(self).model_fields:
            raise SelfprefError(f"dvc.yaml: the stage reads {name!r}; list it under its params")
        raise AttributeError(name)
