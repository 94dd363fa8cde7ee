"""What every part of params.yaml is, with kinds of values; and where a study's items come from.

Items come from releases, sets of the Hugging Face Hub, users' files, or the testbed.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

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
Several = Annotated[int, Field(ge=2)]
Share = Annotated[float, Field(ge=0, le=1)]
Names = Annotated[list[str], Field(min_length=1)]
Slugs = Annotated[list[Slug], Field(min_length=1)]
# A language and its script, as FLORES has them.
Code = Annotated[str, Field(pattern="^[a-z]{3}_[A-Z][a-z]{3}$")]


class Section(BaseModel):
    """A part of params.yaml: unknown keys refused, values not converted, fixed once read."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="after")
    def _keys_agree(self) -> Self:
        for told in self._misfits():
            raise ValueError(told)
        return self

    def _misfits(self) -> Iterator[str]:
        """What does not go together, the key or place first; the first of them is told."""
        yield from ()

    def __getattr__(self, name: str) -> Any:
        """Reached only for what is not there: a stage has no more than it declares."""
        if name in type(self).model_fields:
            raise SelfprefError(f"dvc.yaml: the stage reads {name!r}; list it under its params")
        raise AttributeError(name)


Release = Literal["mt-bench", "vicuna80", "elobench", "llm-sp", "livebench", "panickssery", "xu"]
# Files of judgments, whosever they are: they may call a model by several names.
Judgments = Literal["pairs", "fastchat", "arena", "alpaca-eval", "reviews"]
Hub = Literal["livebench-hub", "chatbot-arena", "mt-bench-hub"]
Problems = Literal["commongen-hard", "math", "requests"]
JUDGMENTS: tuple[str, ...] = get_args(Judgments)
# Keys that mean something to some readers alone.
TAKEN_BY: dict[str, tuple[str, ...]] = {
    "aliases": JUDGMENTS,
    "sample": ("llm-sp", "prompts", *get_args(Hub)),
    "languages": ("chatbot-arena",),
    "first": (*get_args(Problems), "flores"),
    "form": ("articles",),
}


class Source(Section):
    """Where items come from.

    Attributes:
        study: The study whose tables it fills: the one in whose section it stands.
        reader: What reads it (`selfpref.studies.registry`).
        source: What is read: a list of pinned files, a user's file, the testbed's folder.
    """

    study: str = Field(default="wataoka", exclude=True)
    reader: str
    source: RepositoryPath

    def _misfits(self) -> Iterator[str]:
        for key, readers in TAKEN_BY.items():
            if getattr(self, key, None) and self.reader not in readers:
                yield f"{key}: only for `reader: {' or '.join(readers)}`; remove it"


class Dataset(Source):
    """A release, a set of the Hub, or a user's own file.

    Attributes:
        reader: The release's or the set's; for a user's own JSONL or CSV file `pairs` or another
            format of judgments, `scores` (true ones), `perplexities`, `prompts` (models respond to
            them) or `requests` (models refine what they write).
        judges: The judges to read; the others of the source are left out. Of dialogues: a vote that
            is on none of their responses is left out, and `sample` is shared out evenly among
            them. Left out: all.
        aliases: Other names of judges and responders, for a file of judgments; `judges` has the new
            ones, as have all tables.
        sample: So many dialogues, questions or prompts, drawn by their ids. Left out: all.
        first: So many problems or requests, from the first. Left out: all.
        languages: As Chatbot Arena names them, such as `English`. Left out: all.
    """

    reader: Literal[Release, Judgments, Hub, Problems, "prompts", "scores", "perplexities"]
    judges: Names | None = None
    aliases: Aliases = {}
    sample: Positive | None = None
    first: Positive | None = None
    languages: Names | None = None


class LabPrompts(Source):
    """Prompts of the testbed, or of its contests (over six categories).

    Attributes:
        reader: `lab`.
        source: The testbed's folder in `src`.
        seed: Of the draw.
        prompts: How many.
    """

    reader: Literal["lab"]
    seed: Natural
    prompts: Positive


class LabRequests(Source):
    """Requests of the testbed's refinement: how many of each task; else as `LabPrompts`.

    Attributes:
        translations: Sentences of the invented language.
        concepts: Lists of words to use.
        sums: Sums.
    """

    reader: Literal["lab"]
    seed: Natural
    translations: Positive
    concepts: Positive
    sums: Positive


class Sentences(Source):
    """Sentences of FLORES to translate.

    Attributes:
        reader: `flores`.
        code: The source language in the set, such as `yor_Latn`.
        language: The same in words, for the prompts.
        target_code: The language to translate into.
        target: The same in words.
        first: So many sentences, from the first. Left out: all.
    """

    reader: Literal["flores"]
    code: Code
    language: Name
    target_code: Code = "eng_Latn"
    target: Name = "English"
    first: Positive | None = None


class Articles(Source):
    """Articles to be summarised, with a person's summaries: one data set.

    Attributes:
        reader: The testbed's articles (their kind is the entry's key), XSum, CNN/DailyMail, or
            `articles`: a user's own file, with whatever summaries it holds.
        form: Which summary of a user's articles is asked for: one sentence as of XSum, or
            highlights as of CNN/DailyMail. Left out: one sentence.
        seed: Of the testbed's articles.
        articles: How many.
        train: The first of them, on which evaluators may be tuned; the others are judged.
    """

    reader: Literal["lab", "xsum", "cnn-dailymail", "articles"]
    form: Literal["xsum", "cnn-dailymail"] | None = None
    seed: Natural = 0
    articles: Several
    train: Natural

    def _misfits(self) -> Iterator[str]:
        yield from super()._misfits()
        if self.train >= self.articles:
            yield f"train: nothing is left to be judged; set it below {self.articles}"

    @property
    def kind(self) -> str:
        """Which kind of summary is asked for."""
        return self.form or "xsum" if self.reader == "articles" else self.reader


# What a study's items come from, by its reader.
Prompts = Annotated[Dataset | LabPrompts, Field(discriminator="reader")]
Texts = Annotated[Dataset | Articles, Field(discriminator="reader")]
Requests = Annotated[LabRequests | Sentences | Dataset, Field(discriminator="reader")]
