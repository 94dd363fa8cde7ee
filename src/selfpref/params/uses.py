"""What a model is asked to do: respond, judge, tell perplexities, refine, recognise."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from selfpref.params.data import (
    Aliases,
    Names,
    Natural,
    Positive,
    RepositoryPath,
    Section,
    Share,
    Slug,
    Slugs,
)

# The testbed's, the study's own, or this project's.
Wording = Literal["lab", "authors", "plain"]
Heat = Annotated[float, Field(ge=0)]


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
    samples: int | None = Field(None, ge=2)
    max_tokens: Positive = 1024
    temperature: Heat = 0.0

    @model_validator(mode="after")
    def _samples_agree(self) -> "Verdicts":
        if (self.score_mode == "sampled") != (self.samples is not None):
            raise ValueError("samples goes with `score_mode: sampled`, and only with it")
        if self.samples and not self.temperature:
            raise ValueError("temperature is 0, so all samples are one; set it above 0")
        return self


class Judge(Verdicts):
    """How a model judges pairs.

    Attributes:
        prompts: Layout of the prompts.
        pairs: `labelled` ones whose texts are there, and of a data set without votes all; those
            with its `own` response, which are what its bias needs; `all` pairs of responses to an
            item; or a number: so many labelled pairs of others' responses, drawn by their names,
            and as many of its own.
        datasets: Whose pairs, keys of `wataoka.datasets`. Left out: all.
        questions: Of a data set so many questions, drawn as for `Perplexity`, whose pairs are
            judged. A data set left out: all.
    """

    prompts: Literal["lab", "chat", "pair-v2"]
    pairs: Literal["labelled", "own", "all"] | Positive = "labelled"
    datasets: Slugs | None = None
    questions: dict[Slug, Positive] = {}


class Perplexity(Section):
    """How a model scores.

    Attributes:
        prompts: Layout of the prompts.
        datasets: Whose responses, keys of `wataoka.datasets`. Left out: all.
        questions: Of a data set so many questions (clusters of items), drawn by their names, whose
            responses are read. A data set left out: all.
        without_prompt: Data sets whose responses are read without their prompts too. Left out: all.
    """

    prompts: Literal["lab", "chat"]
    datasets: Slugs | None = None
    questions: dict[Slug, Positive] = {}
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


class Refine(Section):
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

    prompts: Wording
    tasks: list[Literal["mqm", "coverage", "correctness"]] = Field(min_length=1)
    external: Slug
    arms: list[Literal["accept-all", "accept-random", "external", "noise"]] = []
    steps: int = Field(ge=1, le=100)
    best_of: list[Positive] = []
    rounds: list[Positive] = []
    max_tokens: Positive
    feedback_tokens: Positive
    temperature: Heat

    @model_validator(mode="after")
    def _draws_differ(self) -> "Refine":
        if (self.best_of or self.rounds) and not self.temperature:
            raise ValueError("temperature is 0, so all samples are one; set it above 0")
        return self


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
