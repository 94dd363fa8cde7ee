"""The whole of params.yaml, and what its parts have to agree on."""

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import Any, Literal

from pydantic import model_validator

from selfpref.params.data import Dataset
from selfpref.params.laboratory import Lab
from selfpref.params.models import Model, Transformers, members
from selfpref.params.section import Natural, Section, Slug, Study
from selfpref.params.studies import Bootstrap, Livebench, Panickssery, StudyParams, Wataoka, Xu
from selfpref.params.uses import Finetune

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
        profile: The name of its file in `profiles/` while another one is active.
        seed: Of sampling and resampling.
        offline: Whether model calls are replayed, and one that is missing is an error.
        studies: Which are computed and drawn.
        figures: What is written beside CSV: pictures (svg, which is always there, and pdf) and
            tables (tex).
    """

    profile: Slug
    seed: Natural
    offline: bool
    studies: list[Study]
    lab: Lab
    models: dict[Slug, Model]
    bootstrap: Bootstrap
    figures: list[Literal["svg", "pdf", "tex"]]
    wataoka: Wataoka
    livebench: Livebench
    panickssery: Panickssery
    xu: Xu

    @model_validator(mode="after")
    def _parts_agree(self) -> "Params":
        """Every name stands for one thing that is there, and each model can do what is asked."""
        for place, names, there, where in self._named():
            if unknown := [name for name in names if name not in there]:
                raise ValueError(f"{place}: {unknown[0]!r} is not in `{where}`; add or correct it")
        for place, called in self._told_apart():
            if twice := [name for name in called if called.count(name) > 1]:
                raise ValueError(f"{place}: two are called {min(twice)!r}; change one name")
        for place, wrong in self._misfits():
            raise ValueError(f"{place}: {wrong}")
        return self

    def _named(self) -> Iterator[tuple[str, Iterable[str], Collection[str], str]]:
        """By place the names that stand there, and all that may, with where those stand."""
        sets = self.wataoka.datasets, "wataoka.datasets"
        for study, task, uses in self.tasks():
            for key, use in uses.items():
                place, asked = f"{study}.{task}.{key}", getattr(use, "model", key)
                yield place, [asked, getattr(use, "external", asked)], self.models, "models"
                for field in ("datasets", "questions", "without_prompt"):
                    yield f"{place}.{field}", getattr(use, field, None) or (), *sets
        yield "wataoka.label", self.wataoka.label, *sets
        listed = [one.judges for one in sets[0].values() if isinstance(one, Dataset)]
        # A set without a list has more judges than are known here.
        if all(listed):
            judges = {*self._responders(self.wataoka.judge), *chain(*filter(None, listed))}
            yield "wataoka.panel", self.wataoka.panel, judges, "wataoka.judge"
        contests, summaries = self.livebench, self.panickssery
        for category, contest in contests.categories.items():
            place, breaker = f"livebench.categories.{category}", contest.tie_breaker
            yield place, contest.judges, self._of(contests.judge), "livebench.judge"
            yield place, [breaker] if breaker else [], self._of(contests.tie_break), "tie_break"
        writers = self._of(summaries.respond), "panickssery.respond"
        for key, recognised in summaries.recognise.items():
            own = [recognised.own] if recognised.own else self.names(key)
            yield f"panickssery.recognise.{key}.own", own, *writers
        for key, tuned in summaries.finetune.items():
            place, on = f"panickssery.finetune.{key}", [one.on for one in tuned.evaluators.values()]
            yield f"{place}.model", self.names(tuned.model), *writers
            yield place, on, summaries.articles, "panickssery.datasets"

    def _told_apart(self) -> Iterator[tuple[str, list[str]]]:
        """By place the names of responders and evaluators, which stand for one each."""
        for study, task, uses in self.tasks():
            if task != "finetune":
                yield f"{study}.{task}", self._responders(uses)
        evaluators = self._of(self.panickssery.recognise)
        for key, use in self.panickssery.finetune.items():
            for name in self.tuned_from(key, use):
                evaluators += [f"{name}-{evaluator}" for evaluator in use.evaluators]
        yield "panickssery.finetune", evaluators

    def _misfits(self) -> Iterator[tuple[str, str]]:
        """By place what does not go together, with the remedy."""
        every = self.every_model()
        for key, entry in self.models.items():
            if any(model != every[name] for name, model in members(key, entry).items()):
                yield f"models.{key}", "another entry names a model of its and differs; change one"
        for key, label in self.wataoka.label.items():
            lab = self.wataoka.datasets[key].reader == "lab"
            if {label.pairs is not None, label.noise is not None} != {lab}:
                yield f"wataoka.label.{key}", "pairs and noise: both for `reader: lab`, and only it"
        for key, use in self.xu.refine.items():
            others = self.names(use.external)
            if "external" in use.arms and len(others) == 1 and others[0] in self.names(key):
                yield f"xu.refine.{key}.external", "name another model, or drop the arm `external`"
        for key, tuned in self.panickssery.finetune.items():
            place = f"panickssery.finetune.{key}"
            if tuned.method != "export" and not isinstance(self.models[tuned.model], Transformers):
                yield place, "`engine: transformers` is tuned here, others by `method: export`"
            for name, tuning in tuned.evaluators.items():
                if tuning.articles > (most := self.panickssery.articles[tuning.on].train):
                    wrong = f"more than the {most} of panickssery.datasets.{tuning.on}.train"
                    yield f"{place}.evaluators.{name}.articles", f"{wrong}; the others are judged"

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

    def every_model(self) -> dict[str, Model]:
        """All models by name: of an entry for several, each of them; entries may share some."""
        return dict(chain(*(members(*entry).items() for entry in self.models.items())))

    def names(self, key: str) -> list[str]:
        """The models that an entry of `models` stands for."""
        return list(members(key, self.models[key]))

    def _of(self, uses: Iterable[str]) -> list[str]:
        """The models of a task."""
        return [name for key in uses for name in self.names(key)]

    def _responders(self, uses: Iterable[str]) -> list[str]:
        """Whose responses are their own, of a task's models."""
        known = self.every_model()
        return [known[name].responder or name for name in self._of(uses)]

    def tuned_from(self, key: str, entry: Finetune) -> dict[str, str]:
        """What the evaluators of an entry of `finetune` are named after, and their bases."""
        names = self.names(entry.model)
        return dict(zip([key] if names == [entry.model] else names, names, strict=True))
