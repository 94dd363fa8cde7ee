"""How the studies count: which rows enter, what is compared, and how intervals are drawn."""

from typing import Annotated, Literal

from pydantic import Field

from selfpref.params.section import Section


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
