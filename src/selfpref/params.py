"""The parameters: what params.yaml may hold, and what a stage may read of it.

Every section is a pydantic model that refuses unknown keys. `load` validates a whole file;
`stage_params` hands a stage the part that dvc.yaml declares for it, and nothing else, so that a
parameter which DVC does not track cannot change a result.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.functional_validators import AfterValidator
from pydantic_core import PydanticCustomError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from selfpref.errors import SelfprefError
from selfpref.paths import PARAMS

OPENAI = "https://api.openai.com/v1"
# The type of errors that do not repeat the value, which may be a secret.
CONCEALED = "concealed"
# The mappings whose keys are models.
MODEL_SECTIONS = (
    *("respond", "judge", "perplexity"),
    *("compete", "assess", "tie_breakers"),
    "refine",
    *("summarise", "recognise"),
)
SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def _slug(key: str) -> str:
    if not SLUG.fullmatch(key):
        raise ValueError(
            "keys are slugs of a-z, 0-9 and single hyphens (a dot or slash breaks DVC)"
        )
    return key


def _inside(path: str) -> str:
    if path.startswith("/") or ".." in Path(path).parts:
        raise ValueError("give a path inside the repository, relative to its root")
    return path


Slug = Annotated[str, AfterValidator(_slug)]
RepositoryPath = Annotated[str, AfterValidator(_inside)]
Study = Literal["wataoka", "panickssery", "xu", "livebench"]


class Section(BaseModel):
    """A part of params.yaml: unknown keys refused, values not converted, fixed once read."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Dataset(Section):
    """One source of recorded judgments.

    Attributes:
        study: The study whose tables it fills.
        reader: The release's reader; `pairs` for a user's own JSONL or CSV file of judgments,
            `scores` for one of true scores.
        source: A release's list of pinned files, or the user's file.
        judges: The judges to read; the others of the source are left out. Left out: all.
    """

    study: Study
    reader: Literal["mt-bench", "vicuna80", "pairs", "livebench", "panickssery", "xu", "scores"]
    source: RepositoryPath
    judges: Annotated[list[str], Field(min_length=1)] | None = None


class Dialogues(Section):
    """Dialogues of two models with people's votes, from the Hugging Face Hub.

    Attributes:
        study: The study whose tables they fill.
        reader: Chatbot Arena's 33,000 dialogues, or MT-Bench's votes with the texts.
        source: The file that pins repository, revision and split.
        turns: `all` votes, those on `single`-turn dialogues (MT-Bench: on the first turn), or those
            on `multi`-turn ones (the second).
        ties: `drop` them to save their judgments; `wataoka.human_ties` says how they count.
        sample: So many dialogues (MT-Bench: questions), drawn by their ids. Left out: all.
        languages: As the set names them, such as `English`. Left out: all. Chatbot Arena only.
        moderation: Classifiers of the set; a dialogue that one of them flags is left out. Chatbot
            Arena only.
    """

    study: Study
    reader: Literal["chatbot-arena", "mt-bench-hub"]
    source: RepositoryPath
    turns: Literal["all", "single", "multi"] = "all"
    ties: Literal["keep", "drop"] = "keep"
    sample: Annotated[int, Field(ge=1)] | None = None
    languages: Annotated[list[str], Field(min_length=1)] | None = None
    moderation: list[Literal["openai", "roberta-large", "t5-large"]] = []

    @model_validator(mode="after")
    def _is_there(self) -> "Dialogues":
        if self.reader == "mt-bench-hub" and (self.languages or self.moderation):
            raise ValueError("MT-Bench has neither languages nor moderation; remove them")
        return self


class Questions(Section):
    """One category of LiveBench's questions, from the Hugging Face Hub.

    Attributes:
        study: The study whose items they are.
        reader: LiveBench's questions with their answer keys.
        source: The file that pins repository, revision and split.
        sample: So many questions, drawn by their ids. Left out: all.
    """

    study: Literal["livebench"]
    reader: Literal["livebench-hub"]
    source: RepositoryPath
    sample: Annotated[int, Field(ge=1)] | None = None


class Refiners(Section):
    """The laboratory's models that refine their own texts (Xu et al.).

    Attributes:
        seeds: The seed of the models, in a folder `seed-<n>`; empty in profiles without them.
        translator_steps: Optimiser steps of each translator's base.
        tune_steps: Optimiser steps of each translator.
        solver_steps: Optimiser steps of the model of the other two tasks.
    """

    seeds: Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=1)] = []
    translator_steps: Annotated[int, Field(ge=1)] = 1200
    tune_steps: Annotated[int, Field(ge=1)] = 400
    solver_steps: Annotated[int, Field(ge=1)] = 2000

    def training(self) -> dict[str, int]:
        """The arguments of `RefinersConfig` but the seed and the processes."""
        return self.model_dump(exclude={"seeds"})


class Summarisers(Section):
    """The laboratory's models that write and judge summaries (Panickssery et al.).

    Attributes:
        seeds: One set of models each, in a folder `seed-<n>`; empty in profiles without one.
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each source.
    """

    seeds: list[Annotated[int, Field(ge=0)]] = []
    base_steps: Annotated[int, Field(ge=1)] = 1600
    tune_steps: Annotated[int, Field(ge=1)] = 150


class Lab(Section):
    """The laboratory: how large its world is, and how long its models train.

    Attributes:
        seeds: One laboratory each, a data set `seed-<n>`; empty in profiles without one.
        prompts: Prompts a seed.
        pairs: Pairs of responses a seed that the annotator labels and every judge reads.
        noise: The annotator's noise, in units of quality (0..1).
        families: Models that write and judge.
        onlookers: Judges that write nothing.
        base_steps: Optimiser steps of the base model.
        tune_steps: Optimiser steps of each family.
        contests: The seeds that hold a contest (the LiveBench study), some of `seeds`.
        contest_prompts: Prompts of a contest, over its six categories.
        contest_steps: Optimiser steps of each contestant.
        processes: Families trained at a time.
        refiners: The models of the Xu study.
        summarisers: The models of the Panickssery study.
    """

    seeds: list[Annotated[int, Field(ge=0)]] = []
    prompts: Annotated[int, Field(ge=1)] = 400
    pairs: Annotated[int, Field(ge=1)] = 1500
    noise: Annotated[float, Field(gt=0)] = 0.15
    families: Annotated[int, Field(ge=2, le=8)] = 8
    onlookers: Annotated[int, Field(ge=0)] = 2
    base_steps: Annotated[int, Field(ge=1)] = 3000
    tune_steps: Annotated[int, Field(ge=1)] = 400
    contests: list[Annotated[int, Field(ge=0)]] = []
    contest_prompts: Annotated[int, Field(ge=6)] = 120
    contest_steps: Annotated[int, Field(ge=1)] = 400
    processes: Annotated[int, Field(ge=1)] = 2
    refiners: Refiners = Refiners()
    summarisers: Summarisers = Summarisers()

    def training(self) -> dict[str, int]:
        """The arguments of `LabConfig` but the seed."""
        return {
            "n_families": self.families,
            "n_onlookers": self.onlookers,
            "base_steps": self.base_steps,
            "tune_steps": self.tune_steps,
            "processes": self.processes,
        }


class Named(Section):
    """What every entry of `models` may say.

    Attributes:
        responder: Whose responses are its own, as the data sets name them (`gpt-3.5-turbo` is no
            slug). Left out: the entry's key.
    """

    responder: Annotated[str, Field(min_length=1)] | None = None


class Transformers(Named):
    """A model on this machine's own weights.

    Attributes:
        engine: `transformers`: local weights.
        model: The model's folder in the repository; `{dataset}` in it stands for the data set that
            it reads. With `revision`: an id of the Hugging Face Hub, such as `org/name`.
        revision: The commit of a model of the Hub.
        template: The chat format of a model that was published without one, by name.
        dtype: Of weights and activations; probabilities are fp32 in any case.
        device_map: `cpu`, `cuda`, `cuda:1`, ..., or `auto`: over all GPUs.
        attention: `sdpa` computes shared prefixes once; the others run on padded rows.
        batch_tokens: Tokens in one forward pass.
        threads: CPU threads; left out: torch's own choice.
    """

    engine: Literal["transformers"]
    model: RepositoryPath
    revision: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = None
    template: (
        Literal[
            "vicuna",
            "koala",
            "oasst-pythia",
            "dolly-v2",
            "stablelm-tuned-alpha",
            "llama-2",
            "llama-3",
            "llama-3.1",
        ]
        | None
    ) = None
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    device_map: Annotated[str, Field(pattern="^(cpu|cuda(:[0-9]+)?|auto)$")] = "cpu"
    attention: Literal["sdpa", "eager", "flash_attention_2", "flash_attention_3"] = "sdpa"
    batch_tokens: Annotated[int, Field(ge=1)] = 2048
    threads: Annotated[int, Field(ge=1)] | None = None


def _address(url: str) -> str:
    found = urlsplit(url)
    if found.scheme not in ("http", "https") or not found.hostname:
        raise ValueError("give an http or https address such as http://127.0.0.1:8000/v1")
    if found.username or found.password or found.query:
        raise PydanticCustomError(CONCEALED, "an address holds no secrets; see `key`")
    return url.rstrip("/")


def _variable(name: str) -> str:
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        raise PydanticCustomError(
            CONCEALED, "give the name of an environment variable, never the key"
        )
    return name


class Price(Section):
    """USD a million tokens of the prompt (`input`) and of the reply (`output`)."""

    input: Annotated[float, Field(ge=0)]
    output: Annotated[float, Field(ge=0)]


class Hosted(Named):
    """A model behind the OpenAI chat API.

    Attributes:
        engine: `openai`: anything that speaks its chat completions.
        model: The id by which the endpoint knows it.
        base_url: The endpoint's address, with its `/v1`.
        key: The environment variable that holds the key; left out: the endpoint wants none.
        server: What serves it: it decides how a verdict after `[[` is asked for, and `vllm` alone
            gives perplexities.
        top_logprobs: Tokens listed at each position; endpoints differ in how many they allow.
        reasoning: Effort of a reasoning model, which takes no temperature and gives no
            probabilities; left out: any other model.
        concurrency: Requests under way at once.
        requests_per_minute: The endpoint's limit, if it has one.
        tokens_per_minute: The same in tokens, counted as `selfpref estimate` counts them.
        timeout: Seconds without a sign of life after which a request is tried again.
        retries: How often, at most, for each call.
        price: For `selfpref estimate` and `budget`.
        budget: USD; a stage of this model that may cost more does not start.
        batch: Send calls as batches, at half the price and within a day.
    """

    engine: Literal["openai"]
    model: Annotated[str, Field(min_length=1)]
    base_url: Annotated[str, AfterValidator(_address)] = OPENAI
    key: Annotated[str, AfterValidator(_variable)] | None = None
    server: Literal["openai", "vllm", "llama.cpp"] = "openai"
    top_logprobs: Annotated[int, Field(ge=1, le=20)] = 20
    reasoning: Literal["minimal", "low", "medium", "high"] | None = None
    concurrency: Annotated[int, Field(ge=1, le=1024)] = 16
    requests_per_minute: Annotated[int, Field(ge=1)] | None = None
    tokens_per_minute: Annotated[int, Field(ge=1)] | None = None
    timeout: Annotated[float, Field(gt=0)] = 120.0
    retries: Annotated[int, Field(ge=0, le=20)] = 6
    price: Price | None = None
    budget: Annotated[float, Field(ge=0)] | None = None
    batch: bool = False

    @model_validator(mode="after")
    def _settings_agree(self) -> "Hosted":
        if self.base_url == OPENAI and self.key is None:
            raise ValueError("key is missing; add `key: OPENAI_API_KEY`")
        if self.budget is not None and self.price is None:
            raise ValueError("budget needs a price; add `price: {input: ..., output: ...}`")
        return self


def _cluster(address: str) -> str:
    if address not in ("local", "auto") and not address.startswith("ray://"):
        raise ValueError("give local, auto, or ray://<host>:<port>")
    return address


class Ray(Named):
    """The same model in many workers: a Ray Data actor pool.

    Attributes:
        engine: `ray`.
        inner: The engine that every worker opens; its keys stand beside these.
        address: `local`: this machine; `auto`: the cluster that this machine is a node of; or the
            `ray://` address of one.
        workers: How many.
        gpus: GPUs of each worker; a fraction shares one.
    """

    engine: Literal["ray"]
    inner: Annotated[Transformers | Hosted, Field(discriminator="engine")]
    address: Annotated[str, AfterValidator(_cluster)] = "local"
    workers: Annotated[int, Field(ge=1)]
    gpus: Annotated[float, Field(ge=0)] = 0

    @model_validator(mode="before")
    @classmethod
    def _apart(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Gather the inner engine's keys under `inner`."""
        if "inner" not in values:
            return values
        own = {key: value for key, value in values.items() if key in cls.model_fields}
        rest = {key: value for key, value in values.items() if key not in cls.model_fields}
        return own | {"inner": {"engine": values["inner"], **rest}}

    @model_validator(mode="after")
    def _batches_need_no_workers(self) -> "Ray":
        if isinstance(self.inner, Hosted) and self.inner.batch:
            raise ValueError("batch: batches need no workers; take `engine: openai`")
        return self


# One model and the engine that runs it; `engine` says which.
Model = Annotated[Transformers | Hosted | Ray, Field(discriminator="engine")]


def hosted(entry: Model) -> Hosted | None:
    """The served model that an entry asks, by itself or from workers of Ray."""
    asked = entry.inner if isinstance(entry, Ray) else entry
    return asked if isinstance(asked, Hosted) else None


class Respond(Section):
    """How a model responds: layout of the prompts, limit in tokens, temperature (0: greedy)."""

    prompts: Literal["lab"]
    max_tokens: Annotated[int, Field(ge=1)]
    temperature: Annotated[float, Field(ge=0)]


class Verdicts(Section):
    """How a model comes to its verdicts.

    Attributes:
        min_mass: Below this mass of its labels a verdict counts as missing.
        score_mode: Where a verdict's probabilities come from: the endpoint's or model's own
            (`logprobs`), the frequencies of repeated verdicts (`sampled`), or nowhere: one verdict
            is read from the text, and has none (`text`).
        samples: Repeats of each verdict; with `sampled` alone.
        max_tokens: Limit of a verdict in words, explanation included.
        temperature: Of a verdict in words; 0 is greedy.
    """

    min_mass: Annotated[float, Field(ge=0, le=1)]
    score_mode: Literal["logprobs", "sampled", "text"] = "logprobs"
    samples: Annotated[int, Field(ge=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] = 2048
    temperature: Annotated[float, Field(ge=0)] = 0.0

    @model_validator(mode="after")
    def _samples_agree(self) -> "Verdicts":
        if (self.score_mode == "sampled") != (self.samples is not None):
            raise ValueError("samples goes with `score_mode: sampled`, and only with it")
        if self.score_mode == "sampled" and not self.temperature:
            raise ValueError("temperature is 0, so all samples are one; set it above 0")
        return self


class Judge(Verdicts):
    """How a model judges pairs; `prompts`: layout of the prompts."""

    prompts: Literal["lab", "chat", "pair-v2"]


class Perplexity(Section):
    """How a model scores: layout of the prompts."""

    prompts: Literal["lab", "chat"]


class Compete(Section):
    """How a model responds in contests: prompts, limit in tokens, temperature (0: greedy)."""

    prompts: Literal["lab", "plain"]
    max_tokens: Annotated[int, Field(ge=1)]
    temperature: Annotated[float, Field(ge=0)]


class TieBreaker(Verdicts):
    """How a tie-breaker judges in contests; `prompts`: layout of the prompts."""

    prompts: Literal["lab", "plain"]


class Assess(TieBreaker):
    """How a model judges in contests.

    Attributes:
        orders: In which the responses are read: one `seeded` order, or its `cyclic` rotations.
        tries: How often, at most, the marks of one response are asked for; the same answer comes
            again at a temperature of 0.
    """

    orders: Literal["seeded", "cyclic"]
    tries: Annotated[int, Field(ge=1, le=10)] = 1


class Contest(Section):
    """One category of items: who responds, who judges, and what runs.

    Attributes:
        responders: Two or more keys of `compete`, or names of responders that a data set has.
        judges: Keys of `assess`.
        tie_breaker: A key of `tie_breakers`; left out: items without a majority stay undecided.
        start: The first item, from 0.
        end: The item after the last one; left out: all.
        respond: Whether the category's items are answered.
        score: Whether the judges mark the responses.
        prefer: Whether the judges choose among them.
    """

    responders: Annotated[list[str], Field(min_length=2)]
    judges: Annotated[list[str], Field(min_length=1)]
    tie_breaker: str | None = None
    start: Annotated[int, Field(ge=0)] = 0
    end: Annotated[int, Field(ge=1)] | None = None
    respond: bool = True
    score: bool = True
    prefer: bool = True


class LabRequests(Section):
    """Requests of the refinement laboratory: how many of each task.

    Attributes:
        reader: `lab`.
        seed: Of the draw.
        translations: Sentences of the invented language.
        concepts: Lists of words to use.
        sums: Sums.
    """

    reader: Literal["lab"]
    seed: Annotated[int, Field(ge=0)] = 0
    translations: Annotated[int, Field(ge=1)]
    concepts: Annotated[int, Field(ge=1)]
    sums: Annotated[int, Field(ge=1)]


class Sentences(Section):
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

    reader: Literal["flores"]
    source: RepositoryPath
    code: Annotated[str, Field(pattern="^[a-z]{3}_[A-Z][a-z]{3}$")]
    language: Annotated[str, Field(min_length=1)]
    target_code: Annotated[str, Field(pattern="^[a-z]{3}_[A-Z][a-z]{3}$")] = "eng_Latn"
    target: Annotated[str, Field(min_length=1)] = "English"
    first: Annotated[int, Field(ge=1)] | None = None


class Problems(Section):
    """Concepts to use in a text (CommonGen-Hard), or mathematics (MATH).

    Attributes:
        reader: The set.
        source: The file that pins it.
        first: So many, from the first. Left out: all.
    """

    reader: Literal["commongen-hard", "math"]
    source: RepositoryPath
    first: Annotated[int, Field(ge=1)] | None = None


Requests = Annotated[LabRequests | Sentences | Problems, Field(discriminator="reader")]


class Refine(Section):
    """How a model refines its own texts (Xu et al.).

    Attributes:
        prompts: Layout of the prompts; `lab` for the laboratory's own models.
        tasks: Which requests it gets: translation (`mqm`), constrained generation (`coverage`),
            mathematics (`correctness`).
        external: Another model, a key of `models`: it judges in the arm `external`, reads every
            kept text afresh, and tells its perplexity where its engine can. Its own key: nobody.
        arms: Beside the paper's rule; see `selfpref.refine`.
        steps: How often each text is refined.
        best_of: For each k, the best of k first texts by its own feedback.
        rounds: Mathematics: how many samples vote in each round of self-consistency.
        max_tokens: Limit of a text.
        feedback_tokens: Limit of a feedback.
        temperature: Of both; 0 is greedy.
    """

    prompts: Literal["lab", "plain"]
    tasks: Annotated[list[Literal["mqm", "coverage", "correctness"]], Field(min_length=1)]
    external: Slug
    arms: list[Literal["accept-all", "accept-random", "external", "noise"]] = []
    steps: Annotated[int, Field(ge=1, le=100)]
    best_of: list[Annotated[int, Field(ge=1)]] = []
    rounds: list[Annotated[int, Field(ge=1)]] = []
    max_tokens: Annotated[int, Field(ge=1)]
    feedback_tokens: Annotated[int, Field(ge=1)]
    temperature: Annotated[float, Field(ge=0)]

    @model_validator(mode="after")
    def _draws_differ(self) -> "Refine":
        if (self.best_of or self.rounds) and not self.temperature:
            raise ValueError("temperature is 0, so all samples are one; set it above 0")
        if self.rounds and "correctness" not in self.tasks:
            raise ValueError("rounds: only mathematics votes; add `correctness` to tasks")
        return self


class Articles(Section):
    """Articles to be summarised, with a person's summaries: one data set.

    Attributes:
        reader: The laboratory's articles (their kind is the entry's key), XSum, or CNN/DailyMail.
        source: The file that pins repository, revision and split; none for the laboratory.
        seed: Of the laboratory's articles.
        articles: How many.
        train: The first of them, on which evaluators may be tuned; the others are judged.
    """

    reader: Literal["lab", "xsum", "cnn-dailymail"]
    source: RepositoryPath | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    articles: Annotated[int, Field(ge=2)]
    train: Annotated[int, Field(ge=0)]

    @model_validator(mode="after")
    def _whole(self) -> "Articles":
        if (self.reader == "lab") != (self.source is None):
            raise ValueError("source names the file that pins a set of the Hub; the lab has none")
        if self.train >= self.articles:
            raise ValueError(
                f"train: no article is left to be judged; set it below {self.articles}"
            )
        return self


class Summarise(Section):
    """How a model writes summaries: layout, limit in tokens, temperature (0: greedy)."""

    prompts: Literal["lab", "plain"]
    max_tokens: Annotated[int, Field(ge=1)]
    temperature: Annotated[float, Field(ge=0)]


class Tuning(Section):
    """One fine-tuned evaluator.

    Attributes:
        on: The data set whose first articles it is tuned on, a key of `articles`.
        variant: What is learned: to recognise its own summaries, or a control.
        articles: How many articles; each gives two examples for every other source.
        replay: Share of the examples that are the base's own answers to the other questions.
    """

    on: Slug
    variant: Literal[
        "self-recognition", "always-1", "random", "readability", "length", "vowelcount"
    ]
    articles: Annotated[int, Field(ge=1)]
    replay: Annotated[float, Field(ge=0, lt=1)] = 0.0


class Recognise(Section):
    """How a model is asked about summaries.

    Attributes:
        prompts: Layout of the prompts.
        min_mass: Least mass of the labels of an answer.
        own: Whose summaries are its own, a key of `summarise`; left out: the entry's key.
        tuned: What it was tuned on elsewhere, such as at a host that took the exported examples;
            left out: nothing.
    """

    prompts: Literal["lab", "plain"]
    min_mass: Annotated[float, Field(ge=0, le=1)]
    own: Slug | None = None
    tuned: Tuning | None = None


class Finetune(Section):
    """Evaluators tuned from one model, and how they are asked.

    Attributes:
        model: The base, a key of `models`; its summaries are the evaluators' own.
        prompts: Layout of the prompts, in training and after it.
        min_mass: Least mass of the labels of an answer.
        method: `full`: all weights. `lora`: low-rank matrices, merged at the end. `export`: the
            examples are written as chat JSONL for hosted fine-tuning, and nothing is tuned.
        rate: Peak learning rate.
        epochs: How often each example is read.
        batch: Examples a step.
        rank: Rank of LoRA's matrices.
        alpha: LoRA's scale is alpha / rank.
        evaluators: By name; an evaluator is called `<entry>-<name>`.
    """

    model: Slug
    prompts: Literal["lab", "plain"]
    min_mass: Annotated[float, Field(ge=0, le=1)]
    method: Literal["full", "lora", "export"]
    rate: Annotated[float, Field(gt=0)] = 5e-5
    epochs: Annotated[int, Field(ge=1)] = 1
    batch: Annotated[int, Field(ge=1)] = 16
    rank: Annotated[int, Field(ge=1)] = 16
    alpha: Annotated[int, Field(ge=1)] = 32
    evaluators: Annotated[dict[Slug, Tuning], Field(min_length=1)]


class Bootstrap(Section):
    """Cluster bootstrap: number of resamples, coverage, and kind of interval."""

    resamples: Annotated[int, Field(ge=100, le=1_000_000)]
    level: Annotated[float, Field(gt=0, lt=1)]
    method: Literal["percentile", "bca"]


class Wataoka(Section):
    """Which rows enter the bias of Wataoka et al., and how they count.

    Attributes:
        threshold: A judge decides for a response when its score (Eq. 3, mean of both orders) is
            above `threshold` and for the other when it is below 1 - `threshold`; between: a tie.
        human_ties: `drop` them, or count each as `half` a vote for either response.
        judge_ties: The same for the judge's ties.
        turns: `all` turns of a dialogue, or only the `first` or the `second`.
        bins: Number of bins of the difference in perplexity (Figs. 3, 4, 6).
        binning: Bins of equal `width` or of equal `count`.
        scale: `log-perplexity` (nats a token) or `perplexity`, its exponential.
    """

    threshold: Annotated[float, Field(ge=0.5, lt=1)]
    human_ties: Literal["drop", "half"]
    judge_ties: Literal["drop", "half"]
    turns: Literal["all", "first", "second"]
    bins: Annotated[int, Field(ge=2, le=100)]
    binning: Literal["width", "count"]
    scale: Literal["log-perplexity", "perplexity"]


class Livebench(Section):
    """How the LiveBench study compares and draws.

    Attributes:
        margin: Two objective scores (0..1) within this are equal: neutral self-preference.
        few: Cells with fewer rows than this are drawn hollow.
    """

    margin: Annotated[float, Field(ge=0, lt=1)]
    few: Annotated[int, Field(ge=0)]


class Panickssery(Section):
    """Which answers enter the study of Panickssery et al.

    Attributes:
        min_mass: Below this mass of both labels an answer counts as none; 0 keeps every answer
            with any mass.
        unusable: Share of answers without number or mass above which an evaluator is marked as
            degenerate.
    """

    min_mass: Annotated[float, Field(ge=0, le=1)]
    unusable: Annotated[float, Field(gt=0, le=1)]


class Xu(Section):
    """What the self-scores of Xu et al. are compared with.

    Attributes:
        truth: The metric of `truths` on the scale of MQM (recorded: `bleurt-mqm`).
        matcher: How concepts are looked for: as words (`surface`), or as lemmas too (`lemma`).
        gamma: The centre of distance skewness; the paper's is 0.
        flips: Random signs drawn for the null of each distance skewness.
        sizes: Models that differ in size alone, ascending; empty: no comparison of sizes.
    """

    truth: Annotated[str, Field(min_length=1)]
    matcher: Literal["surface", "lemma"]
    gamma: float
    flips: Annotated[int, Field(ge=100, le=1_000_000)]
    sizes: list[str]


class Params(Section):
    """The whole of params.yaml."""

    profile: Literal["lab", "recorded", "live"]
    seed: Annotated[int, Field(ge=0)]
    offline: bool
    studies: dict[Study | Literal["beyond"], list[str]]
    datasets: dict[Slug, Annotated[Dataset | Dialogues | Questions, Field(discriminator="reader")]]
    lab: Lab
    models: dict[Slug, Model]
    respond: dict[Slug, Respond]
    judge: dict[Slug, Judge]
    perplexity: dict[Slug, Perplexity]
    compete: dict[Slug, Compete]
    assess: dict[Slug, Assess]
    tie_breakers: dict[Slug, TieBreaker]
    contests: dict[str, Contest]
    requests: dict[Slug, Requests]
    refine: dict[Slug, Refine]
    articles: dict[Slug, Articles]
    summarise: dict[Slug, Summarise]
    recognise: dict[Slug, Recognise]
    finetune: dict[Slug, Finetune]
    bootstrap: Bootstrap
    wataoka: Wataoka
    livebench: Livebench
    panickssery: Panickssery
    xu: Xu

    @model_validator(mode="after")
    def _names_agree(self) -> "Params":
        """Every model that a stage names is there, and something fills the tables."""
        for section in MODEL_SECTIONS:
            for name in getattr(self, section):
                if name not in self.models:
                    raise ValueError(f"{section}.{name} is no key of `models`; add it there")
            names = [self.models[name].responder or name for name in getattr(self, section)]
            if twice := sorted({name for name in names if names.count(name) > 1}):
                raise ValueError(f"{section}: two models are {twice[0]!r}; change one `responder`")
        self._endpoints_can()
        if "chatbot-arena" in self.datasets:
            raise ValueError(
                "datasets.chatbot-arena: the name of the paper's printed values; change it"
            )
        self._refinement_agrees()
        for study, profiles in self.studies.items():
            if profiles not in ([], [self.profile]):
                raise ValueError(
                    f"studies.{study} is [{self.profile}], or [] to leave the study out"
                )
        if [study for study, profiles in self.studies.items() if profiles] == ["beyond"]:
            raise ValueError("studies.beyond reads the other studies; switch one on, or set []")
        if self.profile != "lab" and not (self.datasets or self.requests or self.articles):
            raise ValueError(f"datasets is empty; the {self.profile} profile needs at least one")
        if self.profile == "live" and self.respond:
            raise ValueError("respond: the live profile's responses come with its data sets")
        if self.profile == "lab" and not (self.lab.seeds and self.respond and self.judge):
            raise ValueError("the lab profile needs lab.seeds, and models under respond and judge")
        self._contests_agree()
        self._summaries_agree()
        return self

    def _contests_agree(self) -> None:
        """Everyone who takes part in a contest is there."""
        for category, entry in self.contests.items():
            for name in entry.judges:
                if name not in self.assess:
                    raise ValueError(f"contests.{category}: {name!r} is no key of `assess`")
            if entry.tie_breaker and entry.tie_breaker not in self.tie_breakers:
                raise ValueError(
                    f"contests.{category}: {entry.tie_breaker!r} is no key of `tie_breakers`"
                )
        if missing := sorted(set(self.lab.contests) - set(self.lab.seeds)):
            raise ValueError(f"lab.contests: {missing[0]} is not among lab.seeds; add it there")

    def _refinement_agrees(self) -> None:
        """Every model that refines has requests in its layout, and an external judge."""
        if self.refine and not self.requests:
            raise ValueError("requests is empty; refine needs something to be refined")
        for key, use in self.refine.items():
            if use.external not in self.models:
                raise ValueError(f"refine.{key}.external: {use.external!r} is no key of `models`")
            if use.external == key and "external" in use.arms:
                raise ValueError(f"refine.{key}.external: name another model, or drop the arm")
            for name, entry in self.requests.items():
                if (use.prompts == "lab") != (entry.reader == "lab"):
                    raise ValueError(
                        f"refine.{key}.prompts: {use.prompts!r} does not fit requests.{name}; "
                        "`lab` is for the laboratory's requests and models, `plain` for all others"
                    )

    def _summaries_agree(self) -> None:
        """Whoever writes or judges summaries has articles, and prompts that fit them."""
        for section in ("summarise", "recognise", "finetune"):
            for name, use in getattr(self, section).items():
                if not self.articles:
                    raise ValueError(f"articles is empty; {section}.{name} needs a data set")
                for dataset, entry in self.articles.items():
                    if (use.prompts == "lab") != (entry.reader == "lab"):
                        raise ValueError(
                            f"{section}.{name}.prompts: {use.prompts!r} does not fit the articles "
                            f"of {dataset!r}; `lab` is for the laboratory's, `plain` for all others"
                        )
        for name, asked in self.recognise.items():
            if (asked.own or name) not in self.summarise:
                raise ValueError(
                    f"recognise.{name}: {asked.own or name!r} is no key of `summarise`; add it "
                    "there, or say in `own` whose summaries are its own"
                )
        for key, tuned in self.finetune.items():
            self._can_be_tuned(key, tuned)
        names = list(self.recognise)
        names += [
            f"{key}-{name}" for key, entry in self.finetune.items() for name in entry.evaluators
        ]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"two evaluators are called {twice[0]!r}; change one name")

    def _can_be_tuned(self, key: str, entry: Finetune) -> None:
        """There is a base with summaries of its own, and there are articles to tune on."""
        if entry.model not in self.models or entry.model not in self.summarise:
            raise ValueError(
                f"finetune.{key}.model: {entry.model!r} is no key of `models` and `summarise`"
            )
        if entry.method != "export" and not isinstance(self.models[entry.model], Transformers):
            raise ValueError(
                f"finetune.{key}: only `engine: transformers` can be tuned here; set `method: "
                "export` for hosted fine-tuning"
            )
        for name, tuning in entry.evaluators.items():
            place = f"finetune.{key}.evaluators.{name}"
            if tuning.on not in self.articles:
                raise ValueError(f"{place}.on: {tuning.on!r} is no key of `articles`")
            if tuning.articles > self.articles[tuning.on].train:
                raise ValueError(
                    f"{place}.articles: more than the {self.articles[tuning.on].train} of "
                    f"articles.{tuning.on}.train; the others are judged"
                )

    def _endpoints_can(self) -> None:
        """No model is asked for what its endpoint does not give."""
        for name, model in self.models.items():
            if (entry := hosted(model)) is None:
                continue
            if name in self.perplexity and entry.server != "vllm":
                raise ValueError(
                    f"perplexity.{name}: only `server: vllm` gives likelihoods of a given text"
                )
            if name in self.perplexity and entry.batch:
                raise ValueError(f"perplexity.{name}: batches give no likelihoods of a given text")
            if name in self.recognise and entry.reasoning:
                raise ValueError(f"recognise.{name}: a reasoning model gives no probabilities")
            for section in ("judge", "assess", "tie_breakers"):
                judge = getattr(self, section).get(name)
                if judge and entry.reasoning and judge.score_mode == "logprobs":
                    raise ValueError(
                        f"{section}.{name}: a reasoning model gives no probabilities; set "
                        "`score_mode: sampled` or `text`"
                    )


def _place(loc: Sequence[str]) -> list[str]:
    """An error's place as the file has it: without the kinds of entries, which pydantic adds."""
    place = [part for part in loc if part != "[key]"]
    kinds = (["models"], ["datasets"], ["requests"])
    if place[:1] in kinds and place[2:] not in (["engine"], ["reader"]):
        del place[2:3]
    if place[2:3] == ["inner"] and len(place) > 3:
        # The keys of Ray's inner engine stand beside its own, and `inner` names the engine.
        place[2:] = [part for part in place[3:] if part not in ("transformers", "openai")]
        place = [part if part != "engine" else "inner" for part in place]
    return place


def _remedy(error: Mapping[str, Any]) -> str:
    wanted = str(error["msg"].removeprefix("Value error, "))
    match error["type"]:
        case "extra_forbidden":
            return "unknown key; remove it or correct its spelling"
        case "missing" | "union_tag_not_found":
            return "missing; add it (the README lists every key)"
        case "union_tag_invalid":
            found = error["input"][_kind(error)]
            wanted = f"one of {error['ctx']['expected_tags']}"
            return f"is empty; {wanted}" if found is None else f"{wanted}, not {found!r}"
    # A section as a whole, and what may be a secret, is not repeated.
    if isinstance(error["input"], dict) or error["type"] == CONCEALED:
        return wanted
    return f"is empty; {wanted}" if error["input"] is None else f"{wanted}, not {error['input']!r}"


def _kind(error: Mapping[str, Any]) -> str:
    """The key that says of which kind an entry is: `engine` or `reader`."""
    return str(error["ctx"]["discriminator"]).strip("'")


def _explain(failure: ValidationError, source: str, prefix: tuple[str, ...] = ()) -> SelfprefError:
    # A misspelt key is both unknown and missing; the first of these is what the user can see.
    errors = sorted(failure.errors(), key=lambda error: error["type"] != "extra_forbidden")
    loc = [str(part) for part in (*prefix, *errors[0]["loc"])]
    if errors[0]["type"].startswith("union_tag"):
        loc.append(_kind(errors[0]))
    place = _place(loc)
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    key = f"{'.'.join(place)}: " if place else ""
    return SelfprefError(f"{source}: {key}{_remedy(errors[0])}{more}")


def load(path: Path) -> Params:
    """Read and validate a whole params file.

    Raises:
        SelfprefError: Not YAML, an unknown key, a wrong type or value; names file and key.
    """
    try:
        values = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    except (OSError, MarkedYAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path.name}, line {mark.line + 1}" if mark else path.name
        reason = getattr(error, "problem", None) or error
        raise SelfprefError(f"{where}: not readable as YAML: {reason}") from error
    if not isinstance(values, dict):
        raise SelfprefError(f"{path.name}: expected a mapping with the keys of the README")
    try:
        return Params.model_validate(values)
    except ValidationError as error:
        raise _explain(error, path.name) from error


class StageParams:
    """The parameters that dvc.yaml declares for one stage, validated, as attributes."""

    def __init__(self, stage: str, sections: Mapping[str, Any]) -> None:
        self._stage = stage
        for name, value in sections.items():
            if name not in Params.model_fields:
                raise SelfprefError(f"{PARAMS}: {name}: unknown key; remove it or correct it")
            kind: Any = Params.model_fields[name].annotation
            try:
                parsed = TypeAdapter(kind).validate_python(value)
            except ValidationError as error:
                raise _explain(error, PARAMS, (name,)) from error
            setattr(self, name, parsed)

    def __getattr__(self, name: str) -> Any:
        """Reached only for what was not declared."""
        raise SelfprefError(f"dvc.yaml: stage {self._stage} reads {name!r}: list it under params")


def stage_params(stage: str) -> StageParams:
    """The declared parameters of a stage, as DVC sees them.

    Args:
        stage: A stage's address, such as `archive@mt-bench`.

    Raises:
        SelfprefError: A value is invalid; or, on access, it is not declared in dvc.yaml.
    """
    # Half a second that the command line need not pay.
    import dvc.api  # noqa: PLC0415

    return StageParams(stage, dvc.api.params_show(stages=stage))
