"""The whole of params.yaml, and what its parts have to agree on."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from selfpref.params.data import Dataset
from selfpref.params.laboratory import Lab
from selfpref.params.models import Hosted, Model, Transformers, hosted, members
from selfpref.params.section import Formats, Section, Slug, Study
from selfpref.params.studies import Bootstrap, Livebench, Panickssery, StudyParams, Wataoka, Xu
from selfpref.params.uses import Finetune, Verdicts

# By study the tasks whose entries are models.
TASKS = {
    "wataoka": ("respond", "judge", "perplexity"),
    "livebench": ("respond", "judge", "tie_break"),
    "panickssery": ("respond", "finetune", "recognise"),
    "xu": ("refine",),
}


class Params(Section):
    """The whole of params.yaml.

    Attributes:
        figures: What is written beside CSV: pictures (svg, pdf) and tables (tex).
    """

    profile: Literal["lab", "demo", "recorded", "live", "paper", "panickssery", "xu", "livebench"]
    seed: Annotated[int, Field(ge=0)]
    offline: bool
    studies: list[Study]
    lab: Lab
    models: dict[Slug, Model]
    bootstrap: Bootstrap
    figures: Formats
    wataoka: Wataoka
    livebench: Livebench
    panickssery: Panickssery
    xu: Xu

    @model_validator(mode="after")
    def _names_agree(self) -> "Params":
        """Every model that a study names is there, and something fills the tables."""
        known: dict[str, tuple[str, Model]] = {}
        for key, entry in self.models.items():
            for name, model in members(key, entry).items():
                other, same = known.setdefault(name, (key, model))
                if same != model:
                    raise ValueError(
                        f"models: {other} and {key} both name {name!r} and differ; change one "
                        "name, or make them equal"
                    )
        for study, task, uses in self.tasks():
            for key, use in uses.items():
                self._is_there(f"{study}.{task}.{key}", key, use)
            own = [
                entry.responder or name
                for key in uses
                if key in self.models
                for name, entry in members(key, self.models[key]).items()
            ]
            if twice := sorted({name for name in own if own.count(name) > 1}):
                raise ValueError(
                    f"{study}.{task}: two models are {twice[0]!r}; change one `responder`"
                )
        if not any(self.study(name).datasets for name in TASKS):
            raise ValueError("no study has data; add an entry under `datasets` in one of them")
        if "chatbot-arena" in self.wataoka.datasets:
            raise ValueError(
                "wataoka.datasets.chatbot-arena: the name of the paper's printed values; change it"
            )
        for key, label in self.wataoka.label.items():
            place = f"wataoka.label.{key}"
            if key not in self.wataoka.datasets:
                raise ValueError(f"{place} is no key of `wataoka.datasets`; correct it")
            if (self.wataoka.datasets[key].reader == "lab") != (label.pairs is not None):
                raise ValueError(
                    f"{place}: `pairs` and `noise` are for data sets of the testbed (`reader: "
                    "lab`); the others take a file of votes as `source`"
                )
        self._named_data_is_there()
        self._panel_judges()
        self._contests_agree()
        self._refinement_agrees()
        self._summaries_agree()
        return self

    def study(self, name: str) -> StudyParams:
        """The section of a study."""
        found: StudyParams = getattr(self, name)
        return found

    def tasks(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Every task of every study, with its entries."""
        return [
            (study, task, getattr(self.study(study), task))
            for study, tasks in TASKS.items()
            for task in tasks
        ]

    def _is_there(self, place: str, key: str, use: Any) -> None:
        """The model of an entry exists, and can do what is asked of it."""
        model = use.model if isinstance(use, Finetune) else key
        if model not in self.models:
            where = f"{place}.model: {model!r}" if isinstance(use, Finetune) else place
            raise ValueError(f"{where} is no key of `models`; add it there")
        if (entry := hosted(self.models[model])) is not None:
            _can(place, entry, use)

    def _named_data_is_there(self) -> None:
        """Whoever writes, judges or reads some data sets names ones that are there."""
        for task in TASKS["wataoka"]:
            for key, use in getattr(self.wataoka, task).items():
                for name in use.datasets or []:
                    if name not in self.wataoka.datasets:
                        raise ValueError(
                            f"wataoka.{task}.{key}: {name!r} is no key of `wataoka.datasets`"
                        )

    def _panel_judges(self) -> None:
        """The members of the panel are judges, as far as the parameters tell."""
        judges, section = set(self.wataoka.panel), self.wataoka
        if len(judges) < len(section.panel):
            raise ValueError("wataoka.panel: a judge stands there twice; name each once")
        for key in section.judge:
            entries = members(key, self.models[key]).items()
            judges -= {entry.responder or name for name, entry in entries}
        for entry in section.datasets.values():
            if isinstance(entry, Dataset):
                # Without a list the set has more judges than are known here.
                judges = judges - {*entry.judges} if entry.judges else set()
        if judges:
            raise ValueError(f"wataoka.panel: {min(judges)!r} judges nothing here; correct it")

    def _contests_agree(self) -> None:
        """Everyone who takes part in a contest is there."""
        asked = {
            task: {name for key in uses for name in members(key, self.models[key])}
            for study, task, uses in self.tasks()
            if study == "livebench"
        }
        for category, entry in self.livebench.categories.items():
            named = [("judge", name) for name in entry.judges]
            named += [("tie_break", entry.tie_breaker)] if entry.tie_breaker else []
            for task, name in named:
                if name not in asked[task]:
                    raise ValueError(
                        f"livebench.categories.{category}: {name!r} is no model of "
                        f"`livebench.{task}`"
                    )

    def _refinement_agrees(self) -> None:
        """Every model that refines has requests in its layout, and an external judge."""
        for key, use in self.xu.refine.items():
            place = f"xu.refine.{key}"
            if not self.xu.requests:
                raise ValueError(f"xu.datasets: {place} needs requests to refine")
            if use.external not in self.models:
                raise ValueError(f"{place}.external: {use.external!r} is no key of `models`")
            others = self.names(use.external)
            if "external" in use.arms and any(others == [name] for name in self.names(key)):
                raise ValueError(f"{place}.external: name another model, or drop the arm")
            for name, entry in self.xu.requests.items():
                _fits(f"{place}.prompts", use.prompts, f"xu.datasets.{name}", entry.reader)

    def _summaries_agree(self) -> None:
        """Whoever writes or judges summaries has articles, and prompts that fit them."""
        section = self.panickssery
        for task in TASKS["panickssery"]:
            for key, use in getattr(section, task).items():
                if not section.articles:
                    raise ValueError(f"panickssery.datasets: {task}.{key} needs articles")
                for dataset, entry in section.articles.items():
                    place = f"panickssery.{task}.{key}.prompts"
                    _fits(place, use.prompts, f"panickssery.datasets.{dataset}", entry.reader)
        writers = {name for key in section.respond for name in self.names(key)}
        evaluators = []
        for key, asked in section.recognise.items():
            evaluators += self.names(key)
            for own in [asked.own] if asked.own else self.names(key):
                if own not in writers:
                    raise ValueError(
                        f"panickssery.recognise.{key}: {own!r} is no model of "
                        "`panickssery.respond`; add it there, or say in `own` whose summaries are "
                        "its own"
                    )
        for key, tuned in section.finetune.items():
            self._can_be_tuned(key, tuned, writers)
            for name in self.tuned_from(key, tuned):
                evaluators += [f"{name}-{evaluator}" for evaluator in tuned.evaluators]
        if twice := sorted({name for name in evaluators if evaluators.count(name) > 1}):
            raise ValueError(f"two evaluators are called {twice[0]!r}; change one name")

    def _can_be_tuned(self, key: str, entry: Finetune, writers: set[str]) -> None:
        """There is a base with summaries of its own, and there are articles to tune on."""
        place = f"panickssery.finetune.{key}"
        if missing := sorted({*self.names(entry.model)} - writers):
            raise ValueError(f"{place}.model: {missing[0]!r} is no model of `panickssery.respond`")
        if entry.method != "export" and not isinstance(self.models[entry.model], Transformers):
            raise ValueError(
                f"{place}: only `engine: transformers` can be tuned here; set `method: export` for "
                "hosted fine-tuning"
            )
        articles = self.panickssery.articles
        for name, tuning in entry.evaluators.items():
            if tuning.on not in articles:
                raise ValueError(
                    f"{place}.evaluators.{name}.on: {tuning.on!r} is no articles of "
                    "`panickssery.datasets`"
                )
            if tuning.articles > articles[tuning.on].train:
                raise ValueError(
                    f"{place}.evaluators.{name}.articles: more than the "
                    f"{articles[tuning.on].train} of panickssery.datasets.{tuning.on}.train; the "
                    "others are judged"
                )

    def every_model(self) -> dict[str, Model]:
        """All models by name: of an entry for several, each of them; entries may share some."""
        return {
            name: model
            for key, entry in self.models.items()
            for name, model in members(key, entry).items()
        }

    def names(self, key: str) -> list[str]:
        """The models that an entry of `models` stands for."""
        return list(members(key, self.models[key]))

    def tuned_from(self, key: str, entry: Finetune) -> dict[str, str]:
        """What the evaluators of an entry of `finetune` are named after, and their bases."""
        names = self.names(entry.model)
        if names == [entry.model]:
            return {key: entry.model}
        return dict(zip(names, names, strict=True))

    def missing_sources(self, root: Path) -> list[str]:
        """The data sets and files of votes that are not there, each as its key and path."""
        sources = {
            f"{study}.datasets.{key}": entry.source
            for study in TASKS
            for key, entry in self.study(study).datasets.items()
        }
        sources |= {
            f"wataoka.label.{key}": entry.source for key, entry in self.wataoka.label.items()
        }
        return [
            f"{key}.source: {source}"
            for key, source in sources.items()
            if not (root / source).exists()
        ]


def _fits(place: str, prompts: str, dataset: str, reader: str) -> None:
    """The testbed's models know its own prompts alone, and no others know them."""
    if (prompts == "lab") != (reader == "lab"):
        raise ValueError(
            f"{place}: {prompts!r} does not fit {dataset}; `lab` is for the testbed's models and "
            "data, `authors` and `plain` for all others"
        )


def _can(place: str, entry: Hosted, use: Any) -> None:
    """Refuse what an endpoint does not give."""
    if ".perplexity." in place and entry.server != "vllm":
        raise ValueError(f"{place}: only `server: vllm` gives likelihoods of a given text")
    if isinstance(use, Verdicts) and entry.reasons and use.score_mode == "logprobs":
        raise ValueError(
            f"{place}: a reasoning model gives no probabilities; set `score_mode: sampled`"
        )
