"""What every part of params.yaml is: a model that refuses unknown keys; kinds of values."""

from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from selfpref.errors import SelfprefError


def inside(path: str) -> str:
    """A path that does not leave the repository."""
    if path.startswith("/") or ".." in Path(path).parts:
        raise ValueError("give a path inside the repository, relative to its root")
    return path


# Keys are parts of DVC's addresses, where a dot or a slash means something else.
Slug = Annotated[str, Field(pattern="^[a-z0-9]+(-[a-z0-9]+)*$")]
RepositoryPath = Annotated[str, AfterValidator(inside)]
Name = Annotated[str, Field(min_length=1)]
# Other names of judges and responders: as a file has them, and as they are to be called.
Aliases = dict[Name, Name]
Natural = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """A part of params.yaml: unknown keys refused, values not converted, fixed once read."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def __getattr__(self, name: str) -> Any:
        """Reached only for what is not there: a stage has no more than it declares."""
        if name in type(self).model_fields:
            raise SelfprefError(f"dvc.yaml: the stage reads {name!r}; list it under its params")
        raise AttributeError(name)
