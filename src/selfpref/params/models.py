"""Models: the section `models`, one entry a model with the engine that runs it; and `lab`."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, JsonValue

from selfpref.params.data import Name, Natural, Positive, RepositoryPath, Section, Slugs

OPENAI = "https://api.openai.com/v1"
# Chat formats by name: of models that were published without one, and `plain` for base models.
FORMATS = (
    *("vicuna", "koala", "oasst-pythia", "dolly-v2", "stablelm-tuned-alpha"),
    *("llama-2", "llama-3", "llama-3.1", "plain"),
)
# What looks like a secret in what an endpoint says.
SECRET = re.compile(r"\b(sk|key|gsk|xai|hf)[-_][\w*.-]{6,}|Bearer\s+\S+", re.IGNORECASE)
# Fields of a request that other keys say, and names of secrets.
NOT_EXTRA = re.compile(
    r"model|messages|max(_completion)?_tokens|temperature|seed|(top_)?logprobs|reasoning_effort|n"
    r"|stream\w*|.*(secret|password|api[-_]?key|authorization|credential).*|([a-z]+[-_])?token",
    re.IGNORECASE,
)
# A system message as it is, or its text in front of the first user message.
System = Literal["keep", "fold"]


class Named(Section):
    """What every entry of `models` may say.

    Attributes:
        responder: Whose responses are its own, as the data sets name them (`gpt-3.5-turbo` is no
            slug). Left out: the entry's key.
    """

    responder: Name | None = None


class Transformers(Named):
    """A model on this machine's own weights.

    Attributes:
        engine: `transformers`: local weights.
        model: The model's folder in the repository; `{dataset}` in it stands for the data set that
            it reads. With `revision`: an id of the Hugging Face Hub, such as `org/name`. Left out
            where `gguf` says what the model is.
        gguf: A GGUF file, which is dequantised as it is loaded: `<package>:<file>` of an
            installed package, or a path in the repository.
        sha256: Of the GGUF file.
        names: Several models of one kind, `{name}` in the folder: wherever the entry's key stands,
            each of them is meant, and one stage runs them, as many at a time as there are
            processors. Left out: one model, named by the key.
        revision: The commit of a model of the Hub.
        template: The chat format of a model that was published without one: by name, or a Jinja
            file in the repository, which is rendered in a sandbox. `plain`, for base models: no
            roles, a paragraph a message.
        dtype: Of weights and activations; probabilities are fp32 in any case.
        device_map: `cpu`, `cuda`, `cuda:1`, ..., or `auto`: over all GPUs.
        attention: As `transformers` names it.
        batch_tokens: Tokens in one forward pass. Left out: 2048; on GPUs 8192.
        system: `keep` the system message of a prompt as it is; or `fold` its text into the first
            user message, in front, for models that refuse a system turn.
        threads: CPU threads; left out: torch's own choice.
        processes: So many hold the model and share its calls; beside each other they are faster
            than threads. On a CPU alone.
    """

    engine: Literal["transformers"]
    model: RepositoryPath = ""
    gguf: str | None = Field(None, pattern=r"^(\w+:)?\w+(([/.]|-+)\w+)*$")
    sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    names: Slugs | None = None
    revision: str | None = Field(None, pattern="^[0-9a-f]{40}$")
    template: RepositoryPath | None = None
    dtype: Literal["float32", "bfloat16", "float16"] = "float32"
    device_map: str = Field("cpu", pattern="^(cpu|cuda(:[0-9]+)?|auto)$")
    attention: Literal["sdpa", "eager", "flash_attention_2", "flash_attention_3"] = "sdpa"
    batch_tokens: Positive | None = None
    system: System = "keep"
    threads: Positive | None = None
    processes: Positive = 1

    def _misfits(self) -> Iterator[str]:
        pinned = {bool(self.gguf), not self.model, bool(self.sha256)}
        if len(pinned) > 1 or (self.gguf and self.revision):
            yield "give `model` (of the Hub: its `revision`), or `gguf` and its `sha256`"
        if bool(self.names) != ("{name}" in self.model) or (self.names and self.responder):
            yield "names goes with `{name}` in `model`, and without `responder`"
        if self.processes > 1 and (self.names or self.device_map != "cpu"):
            yield "processes: for one model on a CPU; remove the key"
        if self.template not in (None, *FORMATS) and not str(self.template).endswith(".jinja"):
            yield f"template: give one of {', '.join(FORMATS)}, or a .jinja file"


class Hosted(Named):
    """A model behind the OpenAI chat API.

    Attributes:
        engine: `openai`: anything that speaks its chat completions.
        model: The id by which the endpoint knows it.
        base_url: The endpoint's address with its `/v1`, without a slash at its end or a secret.
        system: As for `Transformers`.
        key: The environment variable that holds the key; left out: the endpoint wants none.
        server: What serves it: it decides how a verdict after `[[` is asked for.
        top_logprobs: Tokens listed at each position; endpoints differ in how many they allow.
        limit: The field that limits a reply: newer models take `max_completion_tokens` alone.
        reasoning: Effort of a reasoning model, which takes no temperature and gives no
            probabilities; with `none` it does not reason, and takes and gives both. Left out: any
            other model.
        reasoning_tokens: Added to the limit of every reply of a model that reasons: what it reasons
            counts in its limit.
        extra: Fields of a request that only this endpoint has, such as `top_k`; part of a call's
            key.
        concurrency: Requests under way at once.
        timeout: Seconds without a sign of life after which a request is tried again.
        retries: How often, at most, for each call.
        max_calls: Where its stages together may ask more calls, none of them starts; `selfpref
            check` tells how many that is. Left out: no limit.
    """

    engine: Literal["openai"]
    model: Name
    base_url: str = Field(OPENAI, pattern=r"^https?://[^@?\s]*[^@?\s/]$")
    key: str | None = Field(None, pattern="^[A-Z_][A-Z0-9_]*$")
    server: Literal["openai", "vllm", "llama.cpp"] = "openai"
    system: System = "keep"
    top_logprobs: int = Field(20, ge=1, le=20)
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    reasoning: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = None
    reasoning_tokens: Positive = 4096
    extra: dict[str, JsonValue] = {}
    concurrency: int = Field(16, ge=1, le=1024)
    timeout: float = Field(120.0, gt=0)
    retries: int = Field(6, ge=0, le=20)
    max_calls: Positive | None = None

    def _misfits(self) -> Iterator[str]:
        if self.base_url == OPENAI and self.key is None:
            yield "key is missing; add `key: OPENAI_API_KEY`"
        text = json.dumps(self.extra)
        names = re.findall(r'"([^"]*)":', text)
        if SECRET.search(text) or any(map(NOT_EXTRA.fullmatch, names)):
            yield "extra: a field that another key says, or a secret; remove it"

    @property
    def reasons(self) -> bool:
        """Whether it reasons before it replies."""
        return self.reasoning not in (None, "none")


class Ray(Named):
    """The same model in many workers: a Ray Data actor pool.

    Attributes:
        engine: `ray`.
        inner: The entry of the local model that every worker opens.
        address: `local`: this machine; `auto`: the cluster that this machine is a node of.
        workers: How many.
        gpus: GPUs of each worker; a fraction shares one.
    """

    engine: Literal["ray"]
    inner: Transformers
    address: Literal["local", "auto"] = "local"
    workers: Positive
    gpus: float = Field(0, ge=0)


# One model and the engine that runs it; `engine` says which.
Model = Annotated[Transformers | Hosted | Ray, Field(discriminator="engine")]


def members(key: str, entry: Model) -> dict[str, Model]:
    """The models that an entry stands for: its `names`, or one under its key."""
    if not isinstance(entry, Transformers) or entry.names is None:
        return {key: entry}
    return {
        name: entry.model_copy(update={"names": None, "model": entry.model.replace("{name}", name)})
        for name in entry.names
    }


class LabDialogues(Section):
    """Models that respond to prompts and judge pairs; from the same base, those of contests.

    Attributes:
        families: Models that write and judge.
        onlookers: Judges that write nothing.
        base_steps: Optimiser steps of the base model.
        tune_steps: Optimiser steps of each family and onlooker.
        contest_steps: Optimiser steps of each model of the contests (the LiveBench study).
    """

    families: int = Field(ge=2, le=8)
    onlookers: Natural
    base_steps: Positive
    tune_steps: Positive
    contest_steps: Positive


class LabSummaries(Section):
    """Models that write and judge summaries (Panickssery et al.).

    Attributes:
        base_steps: Optimiser steps of the base.
        tune_steps: Optimiser steps of each source.
    """

    base_steps: Positive
    tune_steps: Positive


class LabRefinement(Section):
    """Models that refine their own texts (Xu et al.).

    Attributes:
        translator_steps: Optimiser steps of each translator's base.
        tune_steps: Optimiser steps of each translator.
        solver_steps: Optimiser steps of the model of the other two tasks.
    """

    translator_steps: Positive
    tune_steps: Positive
    solver_steps: Positive


class Lab(Section):
    """The testbed.

    Attributes:
        seeds: One set of models each, in `data/<profile>/models/seed-<n>`; empty in profiles
            without a testbed.
        dialogues: The models of two studies; left out: none.
        summaries: Those of Panickssery et al.; left out: none.
        refinement: Those of Xu et al.; left out: none.
    """

    seeds: list[Natural]
    dialogues: LabDialogues | None = None
    summaries: LabSummaries | None = None
    refinement: LabRefinement | None = None
