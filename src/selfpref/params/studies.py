"""The sections of the studies, and the whole of params.yaml with what its parts have to agree on.

A study's section has its data, who does what in it, and its settings: which rows enter, and what is
compared with what. First stands what a model may be asked to do: respond, judge, tell perplexities,
refine, recognise.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from selfpref.params.data import (
    Aliases,
    Articles,
    Names,
    Natural,
    Positive,
    Prompts,
    RepositoryPath,
    Requests,
    Section,
    Several,
    Share,
    Slug,
    Slugs,
    Texts,
)
from selfpref.params.models import Lab, Model, Transformers, members

# The testbed's, the study's own, or this project's.
Wording = Literal["lab", "authors", "plain"]
Heat = Annotated[float, Field(ge=0)]
Ties = Literal["drop", "half"]
# What is wrong with a draw of several.
GREEDY = "temperature is 0, so all samples are one; set it above 0"
Study = Literal["wataoka", "livebench", "panickssery", "xu"]
# Every study, and its tasks whose entries are models.
TASKS: dict[Study, tuple[str, ...]] = {
    "wataoka": ("respond", "judge", "perplexity"),
    "livebench": ("respond", "judge", "tie_break"),
    "panickssery": ("respond", "finetune", "recognise"),
    "xu": ("refine",),
}


class Writing(Section):
    """How a model writes: limit in tokens, temperature (0: greedy)."""

    max_tokens: Positive
    temperature: Heat


class Writer(Writing):
    """How a model responds in contests, or writes summaries; `prompts`: layout of the prompts."""

    prompts: Wording


class Respond(Writing):
    """How a model responds.

    Attributes:
        prompts: Layout of the prompts.
        datasets: To whose prompts, keys of `wataoka.datasets`. Left out: all.
    """

    prompts: Literal["lab", "chat"]
    datasets: Slugs | None = None


class Label(Section):
    """Who votes on the pairs of responses to one data set: people, a key, the testbed's annotator.

    Attributes:
        source: A user's file of votes; the testbed's folder in `src`; what pins LLM-SP.
        by: People's `votes`; or the `key` of LLM-SP's multiple choice, for what is written here.
        aliases: A file of votes: other names of responders.
        pairs: The testbed: pairs of responses that are labelled, and that every judge reads.
        noise: The testbed: the annotator's noise, in units of quality (0..1).
    """

    source: RepositoryPath
    by: Literal["votes", "key"] = "votes"
    aliases: Aliases = {}
    pairs: Positive | None = None
    noise: float | None = Field(None, gt=0)


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

    min_mass: Share
    score_mode: Literal["logprobs", "sampled", "text"] = "logprobs"
    samples: Several | None = None
    max_tokens: Positive = 1024
    temperature: Heat = 0.0

    def _misfits(self) -> Iterator[str]:
        if (self.score_mode == "sampled") != (self.samples is not None):
            yield "samples goes with `score_mode: sampled`, and only with it"
        if self.samples and not self.temperature:
            yield GREEDY


class Reading(Section):
    """Whose texts a model reads.

    Attributes:
        datasets: Keys of `wataoka.datasets`. Left out: all.
        questions: Of a data set so many questions (clusters of items), drawn by their names, whose
            responses are read or pairs judged. A data set left out: all.
    """

    datasets: Slugs | None = None
    questions: dict[Slug, Positive] = {}


class Judge(Verdicts, Reading):
    """How a model judges pairs.

    Attributes:
        prompts: Layout of the prompts.
        pairs: `labelled` ones whose texts are there, and of a data set without votes all; those
            with its `own` response, which are what its bias needs; `all` pairs of responses to an
            item; or a number: so many labelled pairs of others' responses, drawn by their names,
            and as many of its own.
    """

    prompts: Literal["lab", "chat", "pair-v2"]
    pairs: Literal["labelled", "own", "all"] | Positive = "labelled"


class Perplexity(Reading):
    """How a model scores.

    Attributes:
        prompts: Layout of the prompts.
        without_prompt: Data sets whose responses are read without their prompts too. Left out: all.
    """

    prompts: Literal["lab", "chat"]
    without_prompt: list[Slug] | None = None


class TieBreaker(Verdicts):
    """How a tie-breaker judges in contests; `prompts`: layout of the prompts."""

    prompts: Wording


class Assess(TieBreaker):
    """How a model judges in contests.

    Attributes:
        orders: In which the responses are read: one `seeded` order, or its `cyclic` rotations.
        tries: How often, at most, the marks of one response are asked for; the same answer comes
            again at a temperature of 0.
    """

    orders: Literal["seeded", "cyclic"]
    tries: int = Field(1, ge=1, le=10)


class Contest(Section):
    """One category of items: who responds, who judges, and what runs.

    Attributes:
        responders: Two or more models of `respond`, or responders that a data set has.
        judges: Models of `judge`.
        tie_breaker: A model of `tie_break`; left out: items without a majority stay undecided.
        start: The first item, from 0.
        end: The item after the last one; left out: all.
        respond: Whether the category's items are answered.
        score: Whether the judges mark the responses.
        prefer: Whether the judges choose among them.
    """

    responders: list[str] = Field(min_length=2)
    judges: Names
    tie_breaker: str | None = None
    start: Natural = 0
    end: Positive | None = None
    respond: bool = True
    score: bool = True
    prefer: bool = True


class Refine(Writer):
    """How a model refines its own texts (Xu et al.).

    Attributes:
        prompts: Layout of the prompts; `lab` for the testbed's own models.
        tasks: Which requests it gets: translation (`mqm`), constrained generation (`coverage`),
            mathematics (`correctness`).
        external: Another model, a key of `models`: it judges in the arm `external`, and reads every
            kept text afresh. Its own key: nobody.
        arms: Beside the paper's rule; see `selfpref.studies.xu.stages`.
        steps: How often each text is refined.
        best_of: For each k, the best of k first texts by its own feedback.
        rounds: Mathematics: how many samples vote in each round of self-consistency.
        max_tokens: Limit of a text.
        feedback_tokens: Limit of a feedback.
        temperature: Of both; 0 is greedy.
    """

    tasks: list[Literal["mqm", "coverage", "correctness"]] = Field(min_length=1)
    external: Slug
    arms: list[Literal["accept-all", "accept-random", "external", "noise"]] = []
    steps: int = Field(ge=1, le=100)
    best_of: list[Positive] = []
    rounds: list[Positive] = []
    feedback_tokens: Positive

    def _misfits(self) -> Iterator[str]:
        if (self.best_of or self.rounds) and not self.temperature:
            yield GREEDY


class Tuning(Section):
    """One fine-tuned evaluator.

    Attributes:
        on: The data set whose first articles it is tuned on, a key of `panickssery.datasets`.
        variant: What is learned: to recognise its own summaries, or a control.
        articles: How many articles; each gives two examples for every other source.
        replay: Share of the examples that are the base's own answers to the other questions.
    """

    on: Slug
    variant: Literal[
        "self-recognition", "always-1", "random", "readability", "length", "vowelcount"
    ]
    articles: Positive
    replay: float = Field(0.0, ge=0, lt=1)


class Recognise(Verdicts):
    """How a model is asked about summaries.

    Attributes:
        prompts: Layout of the prompts.
        score_mode: Confidences are made of probabilities, which `text` has none of.
        own: Whose summaries are its own, a model of `panickssery.respond`; left out: its own.
        tuned: What it was tuned on elsewhere, such as at a host that took the exported examples;
            left out: nothing.
    """

    prompts: Wording
    score_mode: Literal["logprobs", "sampled"] = "logprobs"
    own: Slug | None = None
    tuned: Tuning | None = None


class Training(Section):
    """How a model is tuned.

    Attributes:
        method: `full`: all weights. `lora`: low-rank matrices, merged at the end. `export`: the
            examples are written as chat JSONL for hosted fine-tuning, and nothing is tuned.
        rate: Peak learning rate; it rises over a tenth of the steps and then stays.
        epochs: How often each example is read.
        batch: Examples a step.
        rank: Rank of LoRA's matrices.
        alpha: LoRA's scale is alpha / rank.
    """

    method: Literal["full", "lora", "export"]
    rate: float = Field(5e-5, gt=0)
    epochs: Positive = 1
    batch: Positive = 16
    rank: Positive = 16
    alpha: Positive = 32


class Finetune(Training):
    """Evaluators tuned from one model, and how they are asked.

    Attributes:
        model: The base, a key of `models`; its summaries are the evaluators' own.
        prompts: Layout of the prompts, in training and after it.
        min_mass: Least mass of the labels of an answer.
        evaluators: By name; an evaluator is called `<entry>-<name>`.
    """

    model: Slug
    prompts: Wording
    min_mass: Share
    evaluators: dict[Slug, Tuning] = Field(min_length=1)


class Bootstrap(Section):
    """Cluster bootstrap: number of resamples, coverage, and how bounds are taken."""

    resamples: int = Field(ge=100, le=1_000_000)
    level: float = Field(gt=0, lt=1)
    method: Literal["percentile"]


class Wataoka(Section):
    """The study of Wataoka et al.: pairs of responses.

    Attributes:
        datasets: Releases, files of judgments, dialogues with votes, a user's prompts, or prompts
            of the testbed.
        respond: Who writes a response to every item.
        label: Data sets whose pairs of responses are voted on here: in a user's file of votes, or
            by the testbed's annotator.
        judge: Who judges pairs, in both orders.
        perplexity: Whose perplexity of each response is computed.
        threshold: A judge decides for a response when its score (Eq. 3, mean of both orders) is
            above `threshold` and for the other when it is below 1 - `threshold`; between: a tie.
        human_ties: `drop` them, or count each as `half` a vote for either response.
        judge_ties: The same for the judge's ties.
        judge_tie: What a judge's tie is: an `exact` one half alone (no winner within `threshold`);
            also where the label for a tie is at least as probable as either response in the mean
            of both orders (`label-c`); or also where the two `orders-disagree`.
        panel: Judges whose majority labels the pairs on which nobody voted; see
            `selfpref.statistics.judged`. Empty: such pairs have no label.
        turns: `all` turns of a dialogue, or only the `first` or the `second`.
        bins: Number of bins of the difference in perplexity (Figs. 3, 4, 6).
        binning: Bins of equal `width` or of equal `count`.
        scale: `log-perplexity` (nats a token) or `perplexity`, its exponential.
    """

    datasets: dict[Slug, Prompts]
    respond: dict[Slug, Respond]
    label: dict[Slug, Label]
    judge: dict[Slug, Judge]
    perplexity: dict[Slug, Perplexity]
    threshold: float = Field(ge=0.5, lt=1)
    human_ties: Ties
    judge_ties: Ties
    judge_tie: Literal["exact", "label-c", "orders-disagree"]
    panel: list[str]
    turns: Literal["all", "first", "second"]
    bins: int = Field(ge=2, le=100)
    binning: Literal["width", "count"]
    scale: Literal["log-perplexity", "perplexity"]

    def settings(self) -> dict[str, Any]:
        """How the study counts: all but the mappings of entries."""
        return {name: value for name, value in self if not isinstance(value, dict)}

    def by_key(self, dataset: str) -> bool:
        """Whether a key labels what is written here to one of a release's data sets."""
        return any(
            use.by == "key" and dataset.startswith(f"{name}-") for name, use in self.label.items()
        )


class Livebench(Section):
    """The LiveBench study: choices among the responses of several models.

    Attributes:
        datasets: The release, LiveBench's questions, or prompts of the testbed.
        categories: By category of items, who responds, who judges and what runs.
        respond: How each model responds.
        judge: How each judge marks responses and chooses among them.
        tie_break: How each tie-breaker chooses.
        margin: Two objective scores (0..1) within this are equal: neutral self-preference.
        few: Cells with fewer rows than this are drawn hollow.
    """

    datasets: dict[Slug, Prompts]
    categories: dict[str, Contest]
    respond: dict[Slug, Writer]
    judge: dict[Slug, Assess]
    tie_break: dict[Slug, TieBreaker]
    margin: float = Field(ge=0, lt=1)
    few: Natural


class Panickssery(Section):
    """The study of Panickssery et al.: summaries.

    Attributes:
        datasets: The release, or articles of which the first `train` are for tuning.
        respond: Who summarises every article.
        finetune: Evaluators tuned from a model.
        recognise: Who is asked about its own and others' summaries.
        min_mass: Below this mass of both labels an answer counts as none; 0 keeps every answer
            with any mass.
        unusable: Share of answers without number or mass above which an evaluator is marked as
            degenerate.
    """

    datasets: dict[Slug, Texts]
    respond: dict[Slug, Writer]
    finetune: dict[Slug, Finetune]
    recognise: dict[Slug, Recognise]
    min_mass: Share
    unusable: float = Field(gt=0, le=1)

    @property
    def articles(self) -> dict[str, Articles]:
        """The data sets whose articles are summarised here."""
        return {name: one for name, one in self.datasets.items() if isinstance(one, Articles)}


class Xu(Section):
    """The study of Xu et al.: self-refinement.

    Attributes:
        datasets: The release, or requests: what is to be written and refined.
        refine: Who refines its own texts.
        truth: The metric of `truths` on the scale of judges' scores, -25..0, as its name ends in
            `mqm`: `bleurt-mqm` of the release, `chrf-mqm` of what is translated here, `mqm` of the
            testbed.
        matcher: How concepts are looked for: as words (`surface`), or as lemmas too (`lemma`).
        gamma: The centre of distance skewness; the paper's is 0.
        sizes: Models that differ in size alone, ascending; empty: no comparison of sizes.
    """

    datasets: dict[Slug, Requests]
    refine: dict[Slug, Refine]
    truth: str = Field(pattern="mqm$")
    matcher: Literal["surface", "lemma"]
    gamma: float
    sizes: list[str]

    @property
    def requests(self) -> dict[str, Requests]:
        """The data sets whose requests are answered and refined here."""
        return {
            name: one for name, one in self.datasets.items() if one.reader not in ("xu", "scores")
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

    def _misfits(self) -> Iterator[str]:
        """Every name stands for one thing that is there, and each model can do what is asked."""
        yield from (
            f"{place}: {name!r} is not in `{where}`; add or correct it"
            for place, names, there, where in self._named()
            for name in names
            if name not in there
        )
        every = self.every_model()
        for key, entry in self.models.items():
            if any(model != every[name] for name, model in members(key, entry).items()):
                yield f"models.{key}: another entry names a model of its and differs; change one"
        for study, task, entries in self.tasks():
            called = [] if task == "finetune" else self._responders(entries)
            if twice := [name for name in called if called.count(name) > 1]:
                yield f"{study}.{task}: two are called {twice[0]!r}; change one name"
        for key, label in self.wataoka.label.items():
            lab = self.wataoka.datasets[key].reader == "lab"
            if {label.pairs is not None, label.noise is not None} != {lab}:
                yield f"wataoka.label.{key}: pairs and noise: both for `reader: lab`, and only it"
        for key, use in self.xu.refine.items():
            others = self.names(use.external)
            if "external" in use.arms and len(others) == 1 and others[0] in self.names(key):
                yield f"xu.refine.{key}.external: name another model, or drop the arm `external`"
        for key, tuned in self.panickssery.finetune.items():
            place, local = f"panickssery.finetune.{key}", self.models[tuned.model]
            if tuned.method != "export" and not isinstance(local, Transformers):
                yield f"{place}: only `engine: transformers` is tuned here; set `method: export`"
            for name, one in tuned.evaluators.items():
                if one.articles > (most := self.panickssery.articles[one.on].train):
                    told = f"more than the {most} of panickssery.datasets.{one.on}.train"
                    yield f"{place}.evaluators.{name}.articles: {told}"

    def _named(self) -> Iterator[tuple[str, Iterable[str], Collection[str], str]]:
        """By place the names that stand there, and all that may, with where those stand."""
        sets = self.wataoka.datasets, "wataoka.datasets"
        for study, task, entries in self.tasks():
            for key, use in entries.items():
                place, asked = f"{study}.{task}.{key}", getattr(use, "model", key)
                yield place, [asked, getattr(use, "external", asked)], self.models, "models"
                for field in ("datasets", "questions", "without_prompt"):
                    yield f"{place}.{field}", getattr(use, field, None) or (), *sets
        yield "wataoka.label", self.wataoka.label, *sets
        listed = [getattr(one, "judges", ()) for one in self.wataoka.datasets.values()]
        # A set without a list has more judges than are known here.
        if None not in listed:
            there = {*self._responders(self.wataoka.judge)}.union(*listed)
            yield "wataoka.panel", self.wataoka.panel, there, "wataoka.judge"
        for category, contest in self.livebench.categories.items():
            place, known = f"livebench.categories.{category}", self._of(self.livebench.tie_break)
            yield place, contest.judges, self._of(self.livebench.judge), "livebench.judge"
            yield place, filter(None, [contest.tie_breaker]), known, "livebench.tie_break"
        summaries = self.panickssery
        writers = self._of(summaries.respond), "panickssery.respond"
        for key, use in summaries.recognise.items():
            own = [use.own] if use.own else self.names(key)
            yield f"panickssery.recognise.{key}.own", own, *writers
        for key, use in summaries.finetune.items():
            place, on = f"panickssery.finetune.{key}", [one.on for one in use.evaluators.values()]
            yield f"{place}.model", self.names(use.model), *writers
            yield place, on, summaries.articles, "panickssery.datasets"

    def study(self, name: str) -> Any:
        """The section of a study."""
        return getattr(self, name)

    def tasks(self) -> list[tuple[str, str, dict[str, Any]]]:
        """Every task of every study, with its entries."""
        return [
            (study, task, getattr(self.study(study), task))
            for study, tasks in TASKS.items()
            for task in tasks
        ]

    def every_model(self) -> dict[str, Model]:
        """All models by name: of an entry for several, each of them; entries may share some."""
        entries = self.models.items()
        return {name: one for entry in entries for name, one in members(*entry).items()}

    def names(self, key: str) -> list[str]:
        """The models that an entry of `models` stands for."""
        return list(members(key, self.models[key]))

    def _of(self, keys: Iterable[str]) -> list[str]:
        """The models of a task."""
        return [name for key in keys for name in self.names(key)]

    def _responders(self, keys: Iterable[str]) -> list[str]:
        """Whose responses are their own, of a task's models."""
        known = self.every_model()
        return [known[name].responder or name for name in self._of(keys)]

    def tuned_from(self, key: str, entry: Finetune) -> dict[str, str]:
        """What the evaluators of an entry of `finetune` are named after, and their bases."""
        names = self.names(entry.model)
        return dict(zip([key] if names == [entry.model] else names, names, strict=True))
