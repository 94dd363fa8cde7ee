"""The parameters: what params.yaml may hold, and what a stage may read of it.

Every section is a pydantic model that refuses unknown keys. `load` validates a whole file;
`stage_params` hands a stage the part that dvc.yaml declares for it, and nothing else, so that a
parameter which DVC does not track cannot change a result.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.functional_validators import AfterValidator
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError

from selfpref.errors import SelfprefError
from selfpref.paths import PARAMS

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
        reader: The release's reader, or `pairs` for a user's own JSONL or CSV file.
        source: A release's list of pinned files, or the user's file.
        judges: The judges to read; the others of the source are left out. Left out: all.
    """

    study: Study
    reader: Literal["mt-bench", "vicuna80", "xu", "pairs"]
    source: RepositoryPath
    judges: Annotated[list[str], Field(min_length=1)] | None = None


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
        processes: Families trained at a time.
    """

    seeds: list[Annotated[int, Field(ge=0)]] = []
    prompts: Annotated[int, Field(ge=1)] = 400
    pairs: Annotated[int, Field(ge=1)] = 1500
    noise: Annotated[float, Field(gt=0)] = 0.15
    families: Annotated[int, Field(ge=2, le=8)] = 8
    onlookers: Annotated[int, Field(ge=0)] = 2
    base_steps: Annotated[int, Field(ge=1)] = 3000
    tune_steps: Annotated[int, Field(ge=1)] = 400
    processes: Annotated[int, Field(ge=1)] = 2

    def training(self) -> dict[str, int]:
        """The arguments of `LabConfig` but the seed."""
        return {
            "n_families": self.families,
            "n_onlookers": self.onlookers,
            "base_steps": self.base_steps,
            "tune_steps": self.tune_steps,
            "processes": self.processes,
        }


class Transformers(Section):
    """A model on this machine's own weights.

    Attributes:
        engine: `transformers`: local weights.
        model: The model's folder; `{dataset}` in it stands for the data set that it reads.
        threads: CPU threads; left out: torch's own choice.
    """

    engine: Literal["transformers"]
    model: RepositoryPath
    threads: Annotated[int, Field(ge=1)] | None = None


# One model and the engine that runs it; `engine` says which.
Model = Transformers


class Respond(Section):
    """How a model responds: layout of the prompts, limit in tokens, temperature (0: greedy)."""

    prompts: Literal["lab"]
    max_tokens: Annotated[int, Field(ge=1)]
    temperature: Annotated[float, Field(ge=0)]


class Judge(Section):
    """How a model judges: layout of the prompts, and the least mass of a verdict's labels."""

    prompts: Literal["lab"]
    min_mass: Annotated[float, Field(ge=0, le=1)]


class Perplexity(Section):
    """How a model scores: layout of the prompts."""

    prompts: Literal["lab"]


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

    profile: Literal["lab", "recorded"]
    seed: Annotated[int, Field(ge=0)]
    offline: bool
    studies: dict[Study, list[str]]
    datasets: dict[Slug, Dataset]
    lab: Lab
    models: dict[Slug, Model]
    respond: dict[Slug, Respond]
    judge: dict[Slug, Judge]
    perplexity: dict[Slug, Perplexity]
    bootstrap: Bootstrap
    wataoka: Wataoka
    xu: Xu

    @model_validator(mode="after")
    def _names_agree(self) -> "Params":
        """Every model that a stage names is there, and something fills the tables."""
        for section in ("respond", "judge", "perplexity"):
            for name in getattr(self, section):
                if name not in self.models:
                    raise ValueError(f"{section}.{name} is no key of `models`; add it there")
        for study, profiles in self.studies.items():
            if profiles not in ([], [self.profile]):
                raise ValueError(
                    f"studies.{study} is [{self.profile}], or [] to leave the study out"
                )
        if self.profile == "recorded" and not self.datasets:
            raise ValueError("datasets is empty; the recorded profile needs at least one")
        if self.profile == "lab" and not (self.lab.seeds and self.respond and self.judge):
            raise ValueError("the lab profile needs lab.seeds, and models under respond and judge")
        return self


def _remedy(error: Mapping[str, Any]) -> str:
    match error["type"]:
        case "extra_forbidden":
            return "unknown key; remove it or correct its spelling"
        case "missing":
            return "missing; add it (the README lists every key)"
        case "value_error" if not error["loc"]:
            return str(error["msg"].removeprefix("Value error, "))
    wanted = error["msg"].removeprefix("Value error, ")
    return f"is empty; {wanted}" if error["input"] is None else f"{wanted}, not {error['input']!r}"


def _explain(failure: ValidationError, source: str, prefix: tuple[str, ...] = ()) -> SelfprefError:
    # A misspelt key is both unknown and missing; the first of these is what the user can see.
    errors = sorted(failure.errors(), key=lambda error: error["type"] != "extra_forbidden")
    loc = [str(part) for part in (*prefix, *errors[0]["loc"]) if part != "[key]"]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    key = f"{'.'.join(loc)}: " if loc else ""
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
