"""The whole of params.yaml, and what its parts have to agree on."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from selfpref.params.data import Dataset
from selfpref.params.laboratory import Lab
from selfpref.params.models import Hosted, Model, Transformers, hosted, members
from selfpref.params.section import Formats, Section, Slug, Study
from selfpref.params.studies import Bootstrap, Livebench, Panickssery, StudyParams, Wataoka, Xu
from selfpref.params.uses import Finetune, Refine, Verdicts

# By study the tasks whose entries are models.
TASKS = {
    "wataoka": ("respond", "judge", "perplexity"),
    "livebench": ("respond", "judge", "tie_break"),
    "panickssery": ("respond", "finetune", "recognise"),
    "xu": ("refine",),
}
# Where something is named, its name, what is there, and of which kind that is.
Named = tuple[str, str, Collection[str], str]


class Params(Section):
    """The whole of params.yaml.

    Attributes:
        figures: What is written beside CSV: pictures (svg, pdf) and tables (tex).
    """

    profile: Literal[
        "lab",
        "demo",
        "recorded",
        "live",
        "panickssery",
        "xu",
        "livebench",
        "paper-wataoka",
        "paper-panickssery",
        "paper-xu",
        "paper-livebench",
    ]
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
    def _parts_agree(self) -> "Params":
        """Every name stands for something, and each model can do what is asked of it."""
        self._names_differ()
        _refuse_unknown(self._names())
        for place, key, use in self._uses():
            model = use.model if isinstance(use, Finetune) else key
            if entry := hosted(self.models[model]):
                _can(place, entry, use)
        _refuse_unknown(self._names_of_evaluators())
        if not any(self.study(name).datasets for name in TASKS):
            raise ValueError("no study has data; add an entry under `datasets` in one of them")
        self._labels_agree()
        self._panel_judges()
        self._texts_fit()
        for key, use in self.xu.refine.items():
            others = self.names(use.external)
            if "external" in use.arms and any(others == [name] for name in self.names(key)):
                raise ValueError(
                    f"xu.refine.{key}.external: name another model, or drop the arm `external`"
                )
        for key, use in self.panickssery.finetune.items():
            self._can_be_tuned(f"panickssery.finetune.{key}", use)
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

    def _uses(self) -> Iterator[tuple[str, str, Any]]:
        """Every entry of every task, with its place and key."""
        for study, task, uses in self.tasks():
            yield from ((f"{study}.{task}.{key}", key, use) for key, use in uses.items())

    def _names_differ(self) -> None:
        """No name stands for two models, responders or evaluators."""
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
            if twice := _twice(self._responders(uses)):
                raise ValueError(
                    f"{study}.{task}: two models are {twice!r}; change one `responder`"
                )
        section = self.panickssery
        evaluators = self._of(section.recognise)
        for key, use in section.finetune.items():
            if use.model in self.models:
                for name in self.tuned_from(key, use):
                    evaluators += [f"{name}-{evaluator}" for evaluator in use.evaluators]
        if twice := _twice(evaluators):
            raise ValueError(f"panickssery: two evaluators are {twice!r}; change one name")

    def _names(self) -> Iterator[Named]:
        """Everything that an entry names."""
        models = self.models, "key of `models`"
        datasets = self.wataoka.datasets, "key of `wataoka.datasets`"
        for place, key, use in self._uses():
            tuned = isinstance(use, Finetune)
            yield (f"{place}.model", use.model, *models) if tuned else (place, key, *models)
            if isinstance(use, Refine):
                yield f"{place}.external", use.external, *models
            for name in getattr(use, "named", None) or getattr(use, "datasets", None) or []:
                yield place, name, *datasets
        for key in self.wataoka.label:
            yield f"wataoka.label.{key}", key, *datasets
        for category, contest in self.livebench.categories.items():
            place, section = f"livebench.categories.{category}", self.livebench
            for name in contest.judges:
                yield place, name, self._of(section.judge), "model of `livebench.judge`"
            if name := contest.tie_breaker:
                yield place, name, self._of(section.tie_break), "model of `livebench.tie_break`"

    def _names_of_evaluators(self) -> Iterator[Named]:
        """Of Panickssery et al.: whose summaries are an evaluator's own, and what tunes it."""
        summaries = self.panickssery
        writers = self._of(summaries.respond), "model of `panickssery.respond`"
        judged = writers[0], f"{writers[1]}, and `own` names none"
        for key, asked in summaries.recognise.items():
            for name in [asked.own] if asked.own else self.names(key):
                yield f"panickssery.recognise.{key}", name, *judged
        for key, tuned in summaries.finetune.items():
            place = f"panickssery.finetune.{key}"
            for name in self.names(tuned.model):
                yield f"{place}.model", name, *writers
            for name, tuning in tuned.evaluators.items():
                on = summaries.articles, "articles of `panickssery.datasets`"
                yield f"{place}.evaluators.{name}.on", tuning.on, *on

    def _labels_agree(self) -> None:
        for key, label in self.wataoka.label.items():
            if (self.wataoka.datasets[key].reader == "lab") != (label.pairs is not None):
                raise ValueError(
                    f"wataoka.label.{key}: `pairs` and `noise` are for data sets of the testbed "
                    "(`reader: lab`); the others take a file of votes as `source`"
                )
        if "chatbot-arena" in self.wataoka.datasets:
            raise ValueError(
                "wataoka.datasets.chatbot-arena: the name of the paper's printed values; change it"
            )

    def _panel_judges(self) -> None:
        """The members of the panel are judges, as far as the parameters tell."""
        section = self.wataoka
        if _twice(section.panel):
            raise ValueError("wataoka.panel: a judge stands there twice; name each once")
        judges = {*section.panel} - {*self._responders(section.judge)}
        for entry in section.datasets.values():
            if isinstance(entry, Dataset):
                # Without a list the set has more judges than are known here.
                judges = judges - {*entry.judges} if entry.judges else set()
        if judges:
            raise ValueError(f"wataoka.panel: {min(judges)!r} judges nothing here; correct it")

    def _texts_fit(self) -> None:
        """Who refines or summarises has texts; the testbed's prompts are for its models alone."""
        texts: dict[str, tuple[str, Mapping[str, Any]]] = {
            "panickssery": ("articles", self.panickssery.articles),
            "xu": ("requests", self.xu.requests),
        }
        for place, _, use in self._uses():
            study = place.partition(".")[0]
            kind, found = texts.get(study, ("", {}))
            if kind and not found:
                raise ValueError(f"{study}.datasets: {place} needs {kind}; add them")
            for name, entry in found.items():
                if (use.prompts == "lab") != (entry.reader == "lab"):
                    raise ValueError(
                        f"{place}.prompts: {use.prompts!r} does not fit {study}.datasets.{name}; "
                        "`lab` is for the testbed's models and data, `authors` and `plain` for all "
                        "others"
                    )

    def _can_be_tuned(self, place: str, use: Finetune) -> None:
        if use.method != "export" and not isinstance(self.models[use.model], Transformers):
            raise ValueError(
                f"{place}: only `engine: transformers` can be tuned here; set `method: export` for "
                "hosted fine-tuning"
            )
        for name, tuning in use.evaluators.items():
            if tuning.articles > (most := self.panickssery.articles[tuning.on].train):
                raise ValueError(
                    f"{place}.evaluators.{name}.articles: more than the {most} of "
                    f"panickssery.datasets.{tuning.on}.train; the others are judged"
                )

    def _of(self, uses: Mapping[str, Any]) -> list[str]:
        """The models of a task, as far as they are there."""
        return [name for key in uses if key in self.models for name in self.names(key)]

    def _responders(self, uses: Mapping[str, Any]) -> list[str]:
        """Whose responses are their own, of a task's models."""
        known = self.every_model()
        return [known[name].responder or name for name in self._of(uses)]

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
        entries: dict[str, Any] = {
            f"{study}.datasets.{key}": entry
            for study in TASKS
            for key, entry in self.study(study).datasets.items()
        }
        entries |= {f"wataoka.label.{key}": entry for key, entry in self.wataoka.label.items()}
        return [
            f"{key}.source: {entry.source}"
            for key, entry in entries.items()
            if not (root / entry.source).exists()
        ]


def _refuse_unknown(names: Iterator[Named]) -> None:
    for place, name, there, kind in names:
        if name not in there:
            told = place if place.endswith(f".{name}") else f"{place}: {name!r}"
            raise ValueError(f"{told} is no {kind}; add it there, or correct it")


def _twice(names: Sequence[str]) -> str | None:
    """The first name that stands there twice."""
    return min((name for name in names if names.count(name) > 1), default=None)


def _can(place: str, entry: Hosted, use: Any) -> None:
    """Refuse what an endpoint does not give."""
    if ".perplexity." in place and entry.server != "vllm":
        raise ValueError(f"{place}: only `server: vllm` gives likelihoods of a given text")
    if isinstance(use, Verdicts) and entry.reasons and use.score_mode == "logprobs":
        raise ValueError(
            f"{place}: a reasoning model gives no probabilities; set `score_mode: sampled`"
        )
