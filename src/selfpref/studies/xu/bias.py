"""The long frame of rated texts, and bias and distance skewness of its cells, with intervals.

All measures read one long frame, a row a rating: a text (`item_id, responder, step`, with
`language` and what is resampled, `cluster`), what a judge gives it (`score`) and what is true of it
(`truth`, one metric of the truths table). Each measure stands under two *scorings* (`convention`):

- `released`: the score by the source's own rule (`stored`), to which whatever it does not find in
  the feedback is perfect; a source without such a rule has the score itself;
- `corrected`: only feedback that says something, and no truth where the step is mismatched
  (`contaminated`, see below), so that nothing is compared with the score of another text.

A *cell* is a step of one responder's texts in one language, under one scoring. Over its sentences

    bias = mean(score - truth)                      Xu et al. (arXiv 2402.11436), Eq. 1

is positive where the judge over-rates, and D (Eq. 2) is the distance skewness of these gaps, in
0..1.

Sentences are resampled, each with everything that depends on it: all steps of one sentence, and the
same sentence in every language, are drawn together, so that a change between steps and a mean over
languages have paired intervals. The mean over languages is that of the languages' statistics, not
the statistic of all rows in one pool.

**Distance skewness** (Eq. 2), in O(n log n). For
x_1..x_n and a centre gamma, with y = x - gamma and all n^2 ordered pairs, i = j included:

    D = 1 - sum |y_i - y_j| / sum |y_i + y_j|

D is 0 if the y lie symmetrically about 0, and 1 if they are one constant other than 0; all of them
0 counts as symmetric. It does not change with the scale of y, and it has no sign: under-rating
raises it as over-rating does. In small samples it lies above 0 even for symmetric x, so that it is
to be read against the null band for its n.

Both sums follow from sorted values: of the y and -y together, every |y_i - y_j| and |y_i + y_j| is
there twice.

**What must hold along a chain, and where a source breaks it.** A chain is one responder's texts of
one item, step by step. Each step refines the one before it, and is kept only if the responder, as
its own judge, scores it higher; else text and feedback stay:

- the own score never falls;
- where the text stays, its true score stays;
- a text holds a translation, not the model's words about one (*boilerplate*).

A *cell* is one step of one responder in one language. It is mismatched (`contaminated`) if its
texts are not what was scored: boilerplate in a tenth of them or more (a parser that failed), or a
true score that moved, at this step or an earlier one, although its text had not (scores of another
run).
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.params import Params
from selfpref.params.studies import Xu
from selfpref.statistics.bootstrap import ClusterBootstrap, Floats, at_once, bounded, divided
from selfpref.studies.xu import STUDY
from selfpref.studies.xu.feedback import FLOOR
from selfpref.studies.xu.items import BEST, PARAPHRASE, addressed, under_conditions

Convention = Literal["released", "corrected"]
CONVENTIONS: tuple[Convention, ...] = ("released", "corrected")
TEXT = ["item_id", "responder", "step"]
AVERAGE = "average"
KEY = ["convention", "language", "step"]
MODELS = ["condition", "model"]
# Of a cell the means of score, truth and gap, then D; and what their changes are called.
LEVELS = ("self_mean", "truth_mean", "bias", "dskew")
CHANGES = ("self_change", "truth_change", "bias_change", "dskew_change")
CELL = ["condition", "language", "model", "step"]
# Cells with at least this share of boilerplate are mismatched.
BOILERPLATE = 0.1
# Two runs of a metric on one text differ by rounding only.
ROUNDING = 1e-6

_BOILERPLATE = (
    r"^\W*(?:sure|certainly|of course|okay|here(?:'s|’s| is| are))\b"
    r"|\b(?:here(?:'s|’s| is)|improved)\b.{0,60}\b(?:translation|sentence)\b.{0,20}:"
)


class Settings(NamedTuple):
    """What scores are compared with, and how intervals are made.

    Attributes:
        use: The truth, how concepts are looked for, gamma and sizes.
        bootstrap: The intervals.
    """

    use: Xu
    bootstrap: ClusterBootstrap

    def metric(self, task: str) -> str:
        """The truth that the ratings of a task are compared with."""
        known = {"mqm": self.use.truth, "coverage": f"coverage-{self.use.matcher}"}
        return known.get(task, task)

    @property
    def intervals(self) -> ClusterBootstrap:
        """The intervals of this study, with streams of their own."""
        return self.bootstrap.within(STUDY.name)


def settings(params: Params) -> Settings:
    """What self-scores are compared with, and how intervals are made, as the parameters say."""
    bootstrap = ClusterBootstrap(**params.bootstrap.model_dump(), seed=params.seed)
    return Settings(params.xu, bootstrap)


def load(params: Params) -> dict[str, pd.DataFrame]:
    """The study's tables of all languages and models, and the items under every condition."""
    whole = STUDY.whole(params.profile, STUDY.filled)
    whole["items"] = under_conditions(whole["items"], whole["ratings"]["item_id"])
    return whole


def rated(tables: Mapping[str, pd.DataFrame], settings: Settings) -> pd.DataFrame:
    """Every rating with the text it judges, its truth, and its address.

    Args:
        tables: items, responses, ratings and truths.
        settings: Which truth.

    Returns:
        The ratings' columns with `condition, language, model` (the responder), `cluster, source,
        text, truth, own` (whether this reading drove the refinement: the writer's own, or in an arm
        that the condition names, that arm's judge's) and `contaminated`. The truth is that of the
        text, so it is NaN for candidates.

    Raises:
        SelfprefError: The truth of translations is on another scale than their scores.
    """
    sources = tables["items"]["messages"].map(lambda turns: turns[-1]["content"])
    asked = tables["items"][["item_id", "cluster"]].assign(source=sources)
    truths = tables["truths"]
    place = [*TEXT, "sample"]
    rows = tables["ratings"].merge(asked, on="item_id")
    rows = rows.merge(tables["responses"][[*place, "text"]], on=place, how="left")
    rows = rows.join(addressed(rows["item_id"])).assign(model=rows["responder"])
    rows["truth"] = truth_of(rows, truths, rows["task"].map(settings.metric))
    known = rows.loc[rows["task"].eq("mqm"), "truth"].dropna()
    if not known.between(FLOOR, 0).all():
        raise SelfprefError(
            f"params.yaml: xu.truth: {settings.use.truth} goes from {known.min():g} to "
            f"{known.max():g}, judges score translations from {FLOOR:g} to 0; give a metric on "
            "that scale"
        )
    plain = rows["variant"].eq("plain") & rows["judge"].eq(rows["responder"])
    rows["own"] = (plain | rows["variant"].eq(rows["condition"])) & rows["repeat"].eq(0)
    rows = rows.merge(integrity(rows, truths)[[*CELL, "contaminated"]], on=CELL, how="left")
    return rows.assign(contaminated=rows["contaminated"].eq(True))


def truth_of(rows: pd.DataFrame, truths: pd.DataFrame, metric: str | pd.Series) -> pd.Series:
    """A metric of the truths table for each row's text; NaN where it was not computed."""
    key = [*TEXT, "metric"]
    known = truths.set_index(key)["score"].astype(float)
    return rows[TEXT].assign(metric=metric).join(known, on=key)["score"]


def integrity(rows: pd.DataFrame, truths: pd.DataFrame) -> pd.DataFrame:
    """What the checks of a chain find in each of its steps (`cells`).

    Args:
        rows: As `rated` returns them.
        truths: The truths table; unrounded BLEURT, where there is one, tells texts apart better
            than its map to plateaus.
    """
    own = read_as(chained(rows), "released")
    return cells(own.assign(truth=truth_of(own, truths, "bleurt").fillna(own["truth"])))


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """What the checks find in each cell, and whether it is mismatched.

    Args:
        rows: One row an item, responder and step, with `condition, language`: `text, status,
            score` (the own score) and `truth`, NaN where missing.

    Returns:
        The cell, `n`, and how many rows have: `boilerplate` (the text opens with, or announces, a
        translation in the model's own words), `unusable` feedback; and since the step before
        `text_changed`, `self_decreased` and `truth_without_text` (the truth alone changed), none of
        which is at a step whose predecessor is not there; `contaminated`.
    """
    rows = rows.sort_values(["item_id", "responder", "step"], ignore_index=True)
    chain = rows.groupby(["item_id", "responder"], sort=False)
    before = chain[["step", "text", "score", "truth"]].shift()
    linked = before["step"].eq(rows["step"] - 1)
    # A source that kept scores only says nothing about changes of the text.
    known = linked & rows["text"].notna() & before["text"].notna()
    changed = known & rows["text"].ne(before["text"])
    moved = (rows["truth"] - before["truth"]).abs().gt(ROUNDING)
    found = {
        "n": rows["item_id"].notna(),
        "boilerplate": rows["text"].fillna("").str.contains(_BOILERPLATE, flags=re.IGNORECASE),
        "unusable": rows["status"].ne("ok"),
        "text_changed": changed,
        "self_decreased": linked & rows["score"].lt(before["score"]),
        "truth_without_text": known & ~changed & moved,
    }
    counts = pd.DataFrame(found).groupby([rows[name] for name in CELL]).sum().astype("int64")
    other_run = counts["truth_without_text"].groupby(CELL[:3]).cumsum() > 0
    spoilt = counts["boilerplate"] >= BOILERPLATE * counts["n"]
    return counts.assign(contaminated=other_run | spoilt).reset_index()


def chained(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of refinement: own ratings of texts that follow each other step by step."""
    return rows[rows["own"] & ~rows["condition"].str.startswith((BEST, PARAPHRASE))]


def paper_chains(rows: pd.DataFrame, task: str) -> pd.DataFrame:
    """The rows of refinement of a task by the paper's own rule: no other condition."""
    own = chained(rows)
    return own[own["condition"].eq("") & own["task"].eq(task)]


def read_as(rows: pd.DataFrame, convention: Convention) -> pd.DataFrame:
    """The rows under one scoring, named by `convention`: its `score`, `truth`, and their `gap`.

    Args:
        rows: As `rated` returns them.
        convention: `released` or `corrected`.
    """
    truth = rows["truth"]
    score = rows["stored"].fillna(rows["score"])
    if convention == "corrected":
        score = rows["score"].where(rows["status"].eq("ok"))
        truth = truth.mask(rows["contaminated"])
    return rows.assign(convention=convention, score=score, truth=truth, gap=score - truth)


def counted(rows: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The rows with score and truth alone where they count.

    They count where both are there; in a cell without any truth, all scores do.

    Args:
        rows: Under one scoring or several.
        by: What makes a cell.
    """
    both = rows["gap"].notna()
    alone = ~both.groupby([rows[name] for name in by]).transform("any")
    return rows.assign(**rows[["score", "truth"]].where(both | alone))


def distance_skewness(values: Floats, gamma: float = 0.0, weights: Floats | None = None) -> Floats:
    """Eq. 2 of one sample and its resamples, or of many samples.

    Terms of the sums are never negative: what is drawn alone leaves exact zeros.

    Args:
        values: `[n]`, finite; without weights also `[n, samples]`.
        gamma: The centre about which symmetry is asked for.
        weights: How often each value counts, `[n, batch]`; left out: once.

    Returns:
        `[batch]` or `[samples]`, in 0..1; NaN where nothing counts.
    """
    y = (values if values.ndim > 1 else values[:, None]) - gamma
    # The one that lies farthest off at -1 or 1.
    scale = np.abs(y).max(axis=0, initial=0.0)
    y = y / np.where(scale > 0, scale, 1.0)
    often = np.ones((len(y), 1)) if weights is None else weights
    apart = _differences(y, often)
    across = _differences(np.concatenate([y, -y]), np.concatenate([often, often])) / 2 - apart
    # All of them 0 is symmetric.
    share = np.divide(apart, across, out=np.ones_like(apart), where=across > 0)
    return np.where(often.sum(axis=0) > 0, np.clip(1 - share, 0.0, 1.0), np.nan)


def _differences(values: Floats, weights: Floats) -> Floats:
    """Sum of w_i w_j |v_i - v_j| over all pairs i < j of values v with weights w.

    With sorted values, of which the first k count W_k and all count N, it is the sum over k of
    (v_k+1 - v_k) W_k (N - W_k).
    """
    order = np.argsort(values, axis=0)
    steps = np.diff(np.take_along_axis(values, order, axis=0), axis=0)
    # Equal weights, of many samples, have no order.
    below = weights[order[:, 0]].cumsum(axis=0)[:-1]
    total: Floats = np.einsum("ns,ns,ns->s", steps, below, weights.sum(axis=0) - below)
    return total


def null_band(n: int, level: float = 0.95) -> tuple[float, float]:
    """Mean and `level` quantile of D for n values drawn from N(0, 1), over 2,000 samples.

    Args:
        n: Number of values, at least 1.
        level: 0..1.

    Returns:
        Mean and upper end, in 0..1.
    """
    rng = np.random.default_rng([0, n])
    null = distance_skewness(rng.standard_normal((2000, n)).T)
    return float(null.mean()), float(np.quantile(null, level))


def over_cells(
    cells: pd.DataFrame,
    rows: pd.DataFrame,
    statistics: Callable[[Floats], Floats],
    settings: Settings,
    *names: str,
    columns: Sequence[str] = (*LEVELS, *CHANGES),
) -> pd.DataFrame:
    """Statistics of cells, and their means over languages, all from the same resamples.

    Args:
        cells: `KEY` and counts, numbered from 0.
        rows: All whose clusters are resampled. A column `languages` asks for the mean over them,
            at the steps that so many reach; of one there is none.
        statistics: From how often each cluster counts, `[clusters, batch]`, to those of the cells,
            `[statistics, cells, batch]`.
        settings: The intervals.
        names: Of the random stream.
        columns: What the statistics are called.

    Returns:
        The cells, below them a row (the counts are sums) for each step that all languages reach;
        each statistic with its bounds. A mean needs every language: NaN stays NaN.
    """
    place = ["convention", "step"]
    counts = [*cells.columns.difference(KEY)]
    size = cells.groupby(place)["language"].transform("size")
    languages = rows["languages"].iloc[0] if "languages" in rows else 0
    steps = cells[size.eq(languages) & (languages > 1)].groupby(place)
    whole = [*steps.groups.values()]

    def stacked(weights: Floats) -> Floats:
        found = statistics(np.ascontiguousarray(weights.T))
        means = (found[:, at].mean(axis=1, keepdims=True) for at in whole)
        return np.concatenate([found, *means], axis=1).reshape(-1, len(weights)).T

    made = settings.intervals.of_sums(np.eye(rows["cluster"].nunique()), stacked, *names)
    parts = np.split(np.array([one[:3] for one in made]), len(columns))
    means = steps[counts].sum().reset_index().assign(language=AVERAGE)
    bounds = pd.DataFrame(np.hstack(parts), columns=bounded(*columns))
    return pd.concat([cells, means], ignore_index=True).join(bounds)


def summary(rows: pd.DataFrame, settings: Settings, *names: str) -> pd.DataFrame:
    """Bias, skewness and means by language and step, each with its change since step 0.

    A change rests on the sentences that count at both steps.

    Args:
        rows: One responder under one scoring (`read_as`); `languages` as for `over_cells`.
        settings: Gamma and intervals.
        names: Of the random stream.

    Returns:
        `convention, language, step`; scores held against a truth (`n`), replies that say
        nothing (`unusable`), sentences behind the change (`n_both`); each of `LEVELS` and its
        change.
    """
    # In a cell a cluster has a slot a row.
    rows = counted(rows, KEY).sort_values([*KEY, "cluster", "item_id"], kind="stable")
    slots = rows.assign(slot=rows.groupby([*KEY, "cluster"]).cumcount())
    wide = slots.pivot(index=KEY, columns=["cluster", "slot"], values=["score", "truth", "gap"])
    # Beside each later step its language's step 0, where both count.
    steps = wide.index.get_level_values("step")
    first = wide[steps == 0].droplevel("step")
    first = first.reindex(wide.index.droplevel("step"))
    shape = len(wide), 3, -1
    held, start = (one.to_numpy(dtype=float).reshape(shape) for one in (wide, first))
    both = (steps > 0)[:, None] & ~np.isnan(held[:, 2] - start[:, 2])
    pairs = [np.where(both[:, None], one, np.nan) for one in (held, start)]
    values = np.stack([held, *pairs])
    known = ~np.isnan(values)
    # Chains converge, and where nothing is missing a change is between two levels.
    gaps = np.where(known, values, np.inf)[:, :, 2].reshape(3 * len(wide), -1)
    samples, place = np.unique(gaps, axis=0, return_inverse=True)
    counts = {
        "n": wide["gap"].notna().sum(axis=1),
        "unusable": rows["status"].ne("ok").groupby([rows[name] for name in KEY]).sum(),
        "n_both": both.sum(axis=1),
    }
    owner, _ = pd.factorize(wide["gap"].columns.get_level_values("cluster"), sort=True)

    def statistics(weights: Floats) -> Floats:
        often = weights[owner]
        means = divided(np.where(known, values, 0.0) @ often, known.astype(float) @ often)
        skewness = [
            distance_skewness(one[there], settings.use.gamma, often[there])
            for one, there in zip(samples, np.isfinite(samples), strict=True)
        ]
        each = np.array(skewness)[place].reshape(3, len(wide), 1, -1)
        level, after, before = np.concatenate([means, each], axis=2)
        return np.concatenate([level, after - before], axis=1).swapaxes(0, 1)

    cells = pd.DataFrame(counts).reset_index()
    found = over_cells(cells, rows, statistics, settings, *names)
    # A mean that lacks a language rests on nothing.
    return found.assign(n=found["n"].where(found["bias"].notna(), 0))


def by_group(
    table: Callable[..., pd.DataFrame],
    rows: pd.DataFrame,
    settings: Settings,
    *names: str,
    by: Sequence[str] = ("model",),
    conventions: Sequence[Convention] = CONVENTIONS,
) -> pd.DataFrame:
    """A table of every group of rows under each scoring.

    Args:
        table: `summary`, or a function of the same arguments; an empty one is left out.
        rows: As `rated` returns them.
        settings: Handed on.
        names: Of the random stream, before those of the group; scorings share their resamples.
        by: What makes a group.
        conventions: Which scorings, in this order.

    Returns:
        The table's columns and those of the group; of no group, those of `summary`.
    """

    def of_group(part: pd.DataFrame, *group: str) -> pd.DataFrame:
        found = table(part, settings, *names, *map(str, group))
        return found.assign(**dict(zip(by, group, strict=True)))

    groups = [
        (part, *group) for name in conventions for group, part in read_as(rows, name).groupby([*by])
    ]
    found = [made for made in at_once(of_group, groups) if len(made)]
    columns = [*KEY, "n", "unusable", "n_both", *bounded(*LEVELS, *CHANGES)]
    none = pd.DataFrame(columns=columns).assign(**dict.fromkeys(by))
    return pd.concat(found or [none], ignore_index=True)


def curves(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """Bias and D of every condition, model, language and step of translation.

    Args:
        rows: As `rated` returns them.
        settings: Gamma and intervals.

    Returns:
        `condition` (empty: the paper's rule), `model`, and the columns of `summary`; the mean over
        languages, `average`, where a model has all languages of its condition.
    """
    own = chained(rows).query("task == 'mqm'")
    own = own.assign(languages=own.groupby("condition")["language"].transform("nunique"))
    table = by_group(summary, own, settings, "translation", by=MODELS)
    return table.sort_values([*CELL, "convention"], ignore_index=True)


def translation(table: pd.DataFrame) -> pd.DataFrame:
    """The paper's figure: refinement by its own rule.

    Args:
        table: As `curves` returns it.
    """
    return table.query("condition == ''").drop(columns="condition").reset_index(drop=True)
