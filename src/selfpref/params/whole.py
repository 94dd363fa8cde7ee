"""The whole of params.yaml, and what its parts have to agree on."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from selfpref.params.data import Articles, Dataset, Dialogues, Questions, Requests
from selfpref.params.laboratory import Lab
from selfpref.params.models import Model, Transformers, hosted
from selfpref.params.section import Section, Slug, Study
from selfpref.params.settings import Bootstrap, Livebench, Panickssery, Wataoka, Xu
from selfpref.params.uses import (
    Assess,
    Compete,
    Contest,
    Finetune,
    Judge,
    Perplexity,
    Recognise,
    Refine,
    Respond,
    Summarise,
    TieBreaker,
)

# The mappings whose keys are models, and those of them that come to verdicts.
JUDGING = ("judge", "assess", "tie_breakers", "recognise")
MODEL_SECTIONS = ("respond", "perplexity", "compete", "refine", "summarise", *JUDGING)


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
            for section in JUDGING:
                judge = getattr(self, section).get(name)
                if judge and entry.reasoning and judge.score_mode == "logprobs":
                    raise ValueError(
                        f"{section}.{name}: a reasoning model gives no probabilities; set "
                        "`score_mode: sampled`"
                    )
