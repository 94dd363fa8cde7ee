"""Where a study's items come from: releases, sets of the Hugging Face Hub, the testbed."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from selfpref.params.section import Aliases, RepositoryPath, Section, Study

# Files of judgments, whosever they are: they may call a model by several names.
JUDGMENTS = ("pairs", "fastchat", "arena", "alpaca-eval", "reviews")


class Source(Section):
    """Where items come from.

    Attributes:
        study: The study whose tables it fills; left out, the one in whose section it stands.
        reader: What reads it.
        source: What is read: a list of pinned files, a user's file, the testbed's folder.
    """

    study: Study
    reader: str
    source: RepositoryPath


class Dataset(Source):
    """One source of recorded judgments: a release, or a user's own file.

    Attributes:
        reader: The release's reader; `pairs` for a user's own JSONL or CSV file of judgments,
            `scores` for one of true scores, `perplexities` for one of perplexities.
        source: A release's list of pinned files, or the user's file.
        judges: The judges to read; the others of the source are left out. Left out: all.
        aliases: Other names of judges and responders, for a file of judgments; `judges` has the new
            ones, as have all tables.
        sample: Of LLM-SP: so many questions of each set, drawn by their ids. Left out: all.
    """

    judges: Annotated[list[str], Field(min_length=1)] | None = None
    aliases: Aliases = {}
    sample: Annotated[int, Field(ge=1)] | None = None

    @model_validator(mode="after")
    def _may_have_aliases(self) -> "Dataset":
        if self.aliases and self.reader not in JUDGMENTS:
            raise ValueError(f"aliases: only for files of judgments ({', '.join(JUDGMENTS)})")
        if self.sample and self.reader != "llm-sp":
            raise ValueError("sample: only for `reader: llm-sp`; remove it")
        return self


class WataokaData(Dataset):
    """Verdicts on pairs of responses, or true scores or perplexities of responses."""

    study: Literal["wataoka"] = "wataoka"
    reader: Literal[
        "mt-bench",
        "vicuna80",
        "elobench",
        "llm-sp",
        "pairs",
        "scores",
        "perplexities",
        "fastchat",
        "arena",
        "alpaca-eval",
        "reviews",
    ]


class LivebenchData(Dataset):
    """Verdicts on all responses to an item, or true scores of them."""

    study: Literal["livebench"] = "livebench"
    reader: Literal["livebench", "scores"]


class PanicksseryData(Dataset):
    """Answers about summaries, or true scores of them."""

    study: Literal["panickssery"] = "panickssery"
    reader: Literal["panickssery", "scores"]


class XuData(Dataset):
    """Refined texts and what judges said of them, or true scores of them."""

    study: Literal["xu"] = "xu"
    reader: Literal["xu", "scores"]


class Dialogues(Source):
    """Dialogues of two models with people's votes, from the Hugging Face Hub.

    Attributes:
        reader: Chatbot Arena's 33,000 dialogues, or MT-Bench's votes with the texts.
        source: The file that pins repository, revision and split.
        sample: So many dialogues (MT-Bench: questions), drawn by their ids. Left out: all.
        judges: Models of the set; a vote that is on none of their responses is left out, and
            `sample` is shared out evenly among them. Left out: all.
        languages: As the set names them, such as `English`. Left out: all. Chatbot Arena only.
    """

    study: Literal["wataoka"] = "wataoka"
    reader: Literal["chatbot-arena", "mt-bench-hub"]
    sample: Annotated[int, Field(ge=1)] | None = None
    judges: Annotated[list[str], Field(min_length=1)] | None = None
    languages: Annotated[list[str], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def _is_there(self) -> "Dialogues":
        if self.reader == "mt-bench-hub" and self.languages:
            raise ValueError("MT-Bench names no languages; remove them")
        return self


class Prompts(Source):
    """A user's own prompts, to which models respond.

    Attributes:
        reader: `prompts`: a JSONL file, a prompt or a dialogue a line.
        source: The file.
        sample: So many prompts, drawn by their ids. Left out: all.
    """

    study: Literal["wataoka"] = "wataoka"
    reader: Literal["prompts"]
    sample: Annotated[int, Field(ge=1)] | None = None


class Questions(Source):
    """One category of LiveBench's questions, from the Hugging Face Hub.

    Attributes:
        reader: LiveBench's questions with their answer keys.
        source: The file that pins repository, revision and split.
        sample: So many questions, drawn by their ids. Left out: all.
    """

    study: Literal["livebench"] = "livebench"
    reader: Literal["livebench-hub"]
    sample: Annotated[int, Field(ge=1)] | None = None


class LabPrompts(Source):
    """Prompts of the testbed, to which its models respond.

    Attributes:
        reader: `lab`.
        source: The testbed's folder in `src`.
        seed: Of the draw.
        prompts: How many.
    """

    study: Literal["wataoka"] = "wataoka"
    reader: Literal["lab"]
    seed: Annotated[int, Field(ge=0)]
    prompts: Annotated[int, Field(ge=1)]


class LabContest(Source):
    """Prompts of the testbed's contests, over six categories; attributes as for `LabPrompts`."""

    study: Literal["livebench"] = "livebench"
    reader: Literal["lab"]
    seed: Annotated[int, Field(ge=0)]
    prompts: Annotated[int, Field(ge=6)]


class LabRequests(Source):
    """Requests of the testbed's refinement: how many of each task.

    Attributes:
        reader: `lab`.
        source: The testbed's folder in `src`.
        seed: Of the draw.
        translations: Sentences of the invented language.
        concepts: Lists of words to use.
        sums: Sums.
    """

    study: Literal["xu"] = "xu"
    reader: Literal["lab"]
    seed: Annotated[int, Field(ge=0)]
    translations: Annotated[int, Field(ge=1)]
    concepts: Annotated[int, Field(ge=1)]
    sums: Annotated[int, Field(ge=1)]


class Sentences(Source):
    """Sentences of FLORES to translate.

    Attributes:
        reader: `flores`.
        source: The file that pins repository, revision and split.
        code: The source language in the set, such as `yor_Latn`.
        language: The same in words, for the prompts.
        target_code: The language to translate into.
        target: The same in words.
        first: So many sentences, from the first. Left out: all.
    """

    study: Literal["xu"] = "xu"
    reader: Literal["flores"]
    code: Annotated[str, Field(pattern="^[a-z]{3}_[A-Z][a-z]{3}$")]
    language: Annotated[str, Field(min_length=1)]
    target_code: Annotated[str, Field(pattern="^[a-z]{3}_[A-Z][a-z]{3}$")] = "eng_Latn"
    target: Annotated[str, Field(min_length=1)] = "English"
    first: Annotated[int, Field(ge=1)] | None = None


class Problems(Source):
    """Concepts to use in a text (CommonGen-Hard), mathematics (MATH), or a user's own requests.

    Attributes:
        reader: The set; `requests` for a user's own JSONL file.
        source: The file that pins it, or the user's file.
        first: So many, from the first. Left out: all.
    """

    study: Literal["xu"] = "xu"
    reader: Literal["commongen-hard", "math", "requests"]
    first: Annotated[int, Field(ge=1)] | None = None


class Articles(Source):
    """Articles to be summarised, with a person's summaries: one data set.

    Attributes:
        reader: The testbed's articles (their kind is the entry's key), XSum, CNN/DailyMail, or
            `articles`: a user's own file, with whatever summaries it holds.
        source: The file that pins repository, revision and split; the testbed's folder in `src`; a
            user's JSONL file.
        form: Which summary of a user's articles is asked for: one sentence as of XSum, or
            highlights as of CNN/DailyMail. Left out: one sentence.
        seed: Of the testbed's articles.
        articles: How many.
        train: The first of them, on which evaluators may be tuned; the others are judged.
    """

    study: Literal["panickssery"] = "panickssery"
    reader: Literal["lab", "xsum", "cnn-dailymail", "articles"]
    form: Literal["xsum", "cnn-dailymail"] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    articles: Annotated[int, Field(ge=2)]
    train: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _whole(self) -> "Articles":
        if self.train >= self.articles:
            raise ValueError(
                f"train: no article is left to be judged; set it below {self.articles}"
            )
        if self.form is not None and self.reader != "articles":
            raise ValueError("form: only of a user's own articles; remove it")
        return self

    @property
    def kind(self) -> str:
        """Which kind of summary is asked for."""
        return self.form or "xsum" if self.reader == "articles" else self.reader


Requests = LabRequests | Sentences | Problems
