"""The regression with a scale for each judge, and a placebo for every own text.

Judges differ in noise: one whose verdict changes with the order of the responses gives scores
nearer to 1/2. Where all judges share one effect of each responder
(`selfpref.statistics.choices`), a judge with less noise than the others seems to favour
whatever is good, its own texts among it. So each judge has a scale, lambda_j, for the effects of
the responders:

    s - 1/2 = lambda_j (r_A - r_B) + c_j (h - 1/2) + b_j own + e

own = 1 where A is the judge's own text, -1 where B is, else 0. lambda and r are told from each
other up to a factor: the mean of lambda is 1 here, and r is 0 for the responder that sorts first.
b_j depends on neither choice; it is the row `regression_scaled`. The fit is by least squares, r and
lambda by turns, each in closed form, with c_j and b_j solved for throughout. It needs the rows only
as sums of products by prompt and judge, so that its bootstrap, of prompts, is one matrix product.

A *placebo* is the same term for one judge and any responder, alone in a model without own texts:

    own = 1 where the judge is j and A is of r, -1 where B is, else 0

with one scale for all judges and with a scale for each. Where r is not j there is no own text, and
b shows what a model takes for self-preference without any. With X the derivatives of a model at its
solution, e its residuals, G prompts and N rows, the interval of a placebo is b -+ t(G - 1) se from

    var = c (X'X)^- sum_g (X_g'e_g)(X_g'e_g)' (X'X)^-,    c = G / (G - 1) * (N - 1) / (N - rank X)

as in `selfpref.statistics.bootstrap`. A judge's own term less a placebo is their difference
in a model that has both, by one step of Gauss and Newton from the placebo's. All of these need
several judges of the same responses.

The squares may have no least: where judges disagree about a responder that is a judge too, its r
can grow without end, its own scale staying as it is and b making up for it. Then the fit does not
settle, and no coefficient of the model is given; nor where it does not in more resamples than the
interval leaves out.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
import pandas as pd

from selfpref.statistics.bias import between, names_of, pairs_with
from selfpref.statistics.bootstrap import (
    MISSING,
    SPANNED,
    ClusterBootstrap,
    Floats,
    Interval,
    Whole,
    apart,
    bounded,
    divided,
    intervals,
    parts_of,
    solved,
    student,
)
from selfpref.statistics.choices import NOT_TOLD, key_of, told
from selfpref.statistics.judged import PLACE, Judged, Row, place_of

ONE, EACH = "one scale", "a scale for each judge"
SCALED = "regression_scaled"
SCALES = ["dataset", "gold", "judge", *bounded("scale"), "n"]
PLACEBO = [*PLACE, "model", *bounded("effect", "own_less"), "n"]
PERMUTED = ["dataset", "model", "judges", "own", "others", "p", "assignments"]
# So many assignments are taken one by one; means this near are equal.
MOST, ROUNDING = 20_000, 1e-12
# The fit takes at most so many rounds of so many turns for r and lambda, and ends where a turn
# moves no lambda, of mean 1, by more than this.
ROUNDS, TURNS, SETTLED = 100, 3, 1e-6
# A term, or a difference of two, and what each cluster adds to it.
Coefficient = tuple[float, Floats]
# By model, judge and responder: a term, the judge's own less it in one model, and pairs.
Terms = dict[tuple[str, str, str], tuple[Coefficient, Coefficient | None, int]]
# A placebo; and, of a placebo and the own term, the second less the first.
CONTRASTS = np.ones(1), np.array([-1.0, 1.0])


@dataclass(frozen=True)
class Products:
    """The scored pairs with a gold label, and their sums of products by prompt and judge.

    The columns of a pair are, for each responder, 1 where A is of it and -1 where B is; h - 1/2;
    s - 1/2.

    Attributes:
        judges: Their names.
        responders: Their names.
        judge: Of each pair its judge's place, `[rows]`.
        prompt: Of each pair its prompt's number, `[rows]`.
        columns: Of each pair, `[rows, columns]`.
    """

    judges: list[str]
    responders: list[str]
    judge: Whole
    prompt: Whole
    columns: Floats

    @classmethod
    def of(cls, pairs: pd.DataFrame) -> "Products":
        """Of the pairs that have a score and a gold label.

        Args:
            pairs: As `selfpref.statistics.bias.judged_pairs` returns them.
        """
        pairs = pairs.dropna(subset=["score", "human"])
        judges, texts = names_of(pairs["judge"]), between(pairs)
        columns = np.hstack([texts, pairs[["human", "score"]].to_numpy(float) - 0.5])
        judge = pd.Index(judges).get_indexer(pairs["judge"])
        return cls(judges, [*texts], judge, pd.factorize(pairs["cluster"])[0], columns)

    @cached_property
    def sums(self) -> Floats:
        """Products by prompt and judge, `[prompts, judges, columns, columns]`."""
        size = self.columns.shape[1]
        found = np.zeros((self.prompt.max(initial=-1) + 1, len(self.judges), size, size))
        rows = pd.DataFrame({"prompt": self.prompt, "judge": self.judge})
        for place, numbers in rows.groupby(["prompt", "judge"]).indices.items():
            of = self.columns[numbers]
            found[place] = of.T @ of
        return found

    @cached_property
    def total(self) -> Floats:
        """Over all prompts, `[judges, columns, columns]`."""
        found: Floats = self.sums.sum(axis=0)
        return found

    @cached_property
    def pairs(self) -> Whole:
        """How many pairs of each responder each judge scored, `[judges, responders]`."""
        return np.diagonal(self.total, axis1=1, axis2=2)[:, :-2].astype(np.int64)

    @cached_property
    def own(self) -> Floats:
        """The own text of each judge as a combination of columns, `[judges, columns]`."""
        names = [*self.responders, None, None]
        return np.array([[float(judge == name) for name in names] for judge in self.judges])

    @cached_property
    def free(self) -> Floats:
        """`total` with the gold label taken out of every column."""
        return _without(self.total, np.eye(self.total.shape[-1])[-2])

    def along(self, weights: Floats) -> Floats:
        """A combination of columns without the gold label, `[judges, columns]`, as `[rows]`."""
        shares = divided(self.total[:, -2], self.total[:, -2, -2, None], 0.0)
        left = self.columns - self.columns[:, -2, None] * shares[self.judge]
        found: Floats = (left * weights[self.judge]).sum(axis=1)
        return found


def _without(products: Floats, column: Floats) -> Floats:
    """Products of columns with one column taken out of all of them.

    Args:
        products: `[..., columns, columns]`.
        column: A combination of columns, `[..., columns]` or the same one for all; 0 takes nothing
            out.
    """
    column = np.broadcast_to(column, products.shape[:-1])
    with_all = np.einsum("...ab,...b->...a", products, column)
    share = divided(with_all, np.vecdot(with_all, column)[..., None], 0.0)
    left: Floats = products - with_all[..., :, None] * share[..., None, :]
    return left


def _by_turns(products: Floats, start: Floats) -> tuple[Floats, Floats]:
    """Scales of the judges, and effects of the responders.

    Args:
        products: `[batch, judges, columns, columns]`, gold label and own texts taken out.
        start: Scales to start with, `[judges]`.

    Returns:
        `[batch, judges]`, of mean 1; `[batch, responders]`, the first 0. NaN where there is no
        least of squares.
    """
    every, with_score = products[..., 1:-2, 1:-2], products[..., 1:-2, -1]
    scales = np.tile(start, (len(every), 1))
    effects, todo = np.zeros(with_score[:, 0].shape), np.arange(len(every))
    for _ in range(ROUNDS):
        left, right, scale = every[todo], with_score[todo], scales[todo]
        for _ in range(TURNS):
            before = scale
            found = solved(
                np.einsum("bj,bjkl->bkl", scale**2, left), np.einsum("bj,bjk->bk", scale, right)
            )
            size = np.einsum("bk,bjkl,bl->bj", found, left, found)
            towards = np.vecdot(right, found[:, None])
            scale = np.divide(towards, size, out=scale.copy(), where=size > 0)
            # Scales that sum to 0, as of judges that always disagree, have no mean of 1: no fit.
            mean = scale.mean(axis=1, keepdims=True)
            scale = np.divide(scale, mean, out=np.full_like(scale, np.nan), where=mean != 0)
        effects[todo], scales[todo] = found, scale
        todo = todo[np.abs(scale - before).max(axis=1) > SETTLED]
        if not len(todo):
            break
    scales[todo] = effects[todo] = np.nan
    return scales, np.pad(effects, ((0, 0), (1, 0)))


def fitted(products: Floats, terms: Floats, start: Floats) -> tuple[Floats, Floats, Floats]:
    """The model with a scale for each judge.

    Args:
        products: `[batch, judges, columns, columns]`.
        terms: The term b of each judge as a combination of columns, `[judges, columns]`; 0: none.
        start: Scales to start with, `[judges]`.

    Returns:
        The scales `[batch, judges]`; lambda r as a combination of columns, `[batch, judges,
        columns]`; b `[batch, judges]`, NaN for a judge without term. NaN where responders cannot be
        told from terms.
    """
    terms = np.broadcast_to(terms, products.shape[:-1])
    free = _without(products, np.eye(terms.shape[-1])[-2])
    scale, effects = _by_turns(_without(free, terms), start)
    judged = scale[..., None] * np.pad(effects, ((0, 0), (0, 2)))[:, None, :]
    with_term = np.einsum("bjkl,bjl->bjk", free, terms)
    left = with_term[..., -1] - np.vecdot(with_term, judged)
    return scale, judged, divided(left, np.vecdot(with_term, terms))


def _normal(products: Products, design: Floats) -> tuple[Floats, Floats]:
    """Products of a model's derivatives, the gold label taken out, and their inverse.

    Returns:
        Each `[parameters, parameters]`.
    """
    square = np.einsum("jka,jkl,jlb->ab", design, products.free, design, optimize=True)
    return square, np.linalg.pinv(square, rtol=SPANNED, hermitian=True)


def _coefficient(
    products: Products, terms: Floats, slopes: Floats, fit: Floats, value: float, contrast: Floats
) -> Coefficient | None:
    """A contrast of the coefficients of terms, by one step of Gauss and Newton from a fit.

    Args:
        products: The sums.
        terms: As combinations of columns, `[judges, columns, terms]`; the first of them, as many as
            the contrast has, are in the model.
        slopes: The other derivatives of the model, `[judges, columns, parameters]`.
        fit: The model so far as a combination of columns, `[judges, columns]`.
        value: The first term's coefficient so far; that of another is 0.
        contrast: `[terms]` or fewer.

    Returns:
        It, and what each prompt adds to it; None where the other columns span one of the terms.
    """
    design = np.concatenate([slopes, terms[..., : len(contrast)]], axis=-1)
    along = np.pad(contrast, (slopes.shape[-1], 0))
    square, inverse = _normal(products, design)
    told, rank = apart(inverse, square)
    if not told[along != 0].all():
        return None
    left = np.eye(fit.shape[1])[-1] - fit
    step = inverse @ np.einsum("jka,jkl,jl->a", design, products.free, left, optimize=True)
    added = products.along(design @ (along @ inverse)) * products.along(left - design @ step)
    # Each judge has a slope for the gold label.
    rank += len(products.judges)
    return float(contrast[0] * value + along @ step), parts_of(added, products.prompt, rank)


def _slopes(products: Products, scale: Floats, judged: Floats | None = None) -> Floats:
    """Derivatives of a model of the responders.

    Args:
        products: The sums.
        scale: Of the judges.
        judged: Its lambda r, `[judges, columns]`; None where all judges have one scale.

    Returns:
        `[judges, columns, parameters]`: r of all responders but the first, then the lambdas.
    """
    effects = np.eye(products.total.shape[-1])[:, 1 : len(products.responders)]
    slopes = scale[:, None, None] * effects
    if judged is None:
        return slopes
    common = judged.sum(axis=0) / scale.sum()
    return np.concatenate([slopes, np.eye(len(scale))[:, None, :] * common[:, None]], axis=-1)


def own_texts(
    products: Products, bootstrap: ClusterBootstrap, *names: str
) -> tuple[dict[str, Interval], pd.DataFrame]:
    """B of each judge with own texts that the model can tell, and the scale of each judge.

    Args:
        products: The sums.
        bootstrap: The intervals.
        names: Of its stream.

    Returns:
        By judge; and `judge, scale, scale_lo, scale_hi, n`, n being the judge's pairs. Both empty
        where the model is not identified.
    """
    judges, own, none = products.judges, products.own, pd.DataFrame(columns=SCALES[2:])
    if not judges:
        return {}, none
    scale, judged, _ = (part[0] for part in fitted(products.total[None], own, np.ones(len(judges))))
    if np.isnan(judged).any():
        return {}, none
    terms = np.eye(len(own))[:, None, :] * own[:, :, None]
    design = np.concatenate([_slopes(products, scale, judged), terms], axis=-1)
    square, inverse = _normal(products, design)
    is_told, _ = apart(inverse, square)
    known = np.flatnonzero(own.any(axis=1) & is_told[-len(own) :])

    def statistics(totals: Floats) -> Floats:
        drawn, _, coefficients = fitted(totals, own, scale)
        return np.concatenate([coefficients[:, known], drawn], axis=-1)

    found = bootstrap.of_sums(products.sums, statistics, *names)
    if found[-1].undefined > 1 - bootstrap.level:
        return {}, none
    effects = {judges[place]: one for place, one in zip(known, found, strict=False)}
    scales = pd.DataFrame([one.columns("scale") for one in found[len(known) :]])
    return effects, scales.assign(judge=judges, n=products.pairs.sum(axis=1) // 2)


def of_pairs(data: Judged, pairs: pd.DataFrame, gold: str) -> tuple[list[Row], pd.DataFrame]:
    """What the model says of one data set of pairs under one gold label.

    Args:
        data: The data set.
        pairs: Its pairs, `human` being the gold label.
        gold: Where the gold label comes from.

    Returns:
        The rows `regression_scaled`, and the columns `SCALES`.
    """
    effects, scales = own_texts(Products.of(pairs), data.bootstrap, SCALED, gold)
    labelled, rows = pairs.dropna(subset="human"), []
    for judge in data.judges:
        own = pairs_with(labelled.query("judge == @judge"), judge)["score"]
        row = key_of(data.name, gold, judge=judge, statistic=SCALED)
        rows.append(told(row, effects.get(judge, MISSING), own.count(), len(own), NOT_TOLD))
    return rows, scales.assign(dataset=data.name, gold=gold)[SCALES]


def compared(data: Judged, found: Terms) -> pd.DataFrame:
    """The terms of judges towards responders, and the judge's own one less each.

    Args:
        data: The data set.
        found: By model, judge and responder.

    Returns:
        The columns `PLACEBO`; `own_less` is NaN of the own term, and where that is not told.
    """
    rows, level = [], data.settings.bootstrap.level
    for (model, judge, responder), (*terms, n) in found.items():
        both = [student(*one, level) if one else MISSING for one in terms]
        row = place_of(data.name, judge, responder) | {"model": model, "n": n}
        rows.append(row | intervals(["effect", "own_less"], both))
    return pd.DataFrame(rows, columns=PLACEBO)


def placebos(data: Judged) -> pd.DataFrame:
    """The term of each judge and responder, alone in a model without own texts.

    Args:
        data: The data set; the human's votes are the gold label.

    Returns:
        The columns `PLACEBO`: `own` says whether the responder is the judge,
        `model` is `ONE` or `EACH`, `own_less` is the judge's own term minus this one in a model of
        both, n counts the judge's pairs with a text of the responder. Without the terms that a
        model cannot tell from the responders.
    """
    products, found = Products.of(data.pairs), Terms()
    alike = np.ones(len(products.judges))
    for place, column in np.argwhere(products.pairs).tolist():
        term = np.zeros_like(products.own)
        term[place, column] = 1.0
        scale, judged, b = (part[0] for part in fitted(products.total[None], term, alike))
        models = {ONE: (_slopes(products, alike), 0 * term, 0.0)}
        if not np.isnan(judged).any():
            value = float(b[place])
            models[EACH] = _slopes(products, scale, judged), judged + value * term, value
        who = products.judges[place], products.responders[column]
        own = products.own * (np.arange(len(term)) == place)[:, None]
        terms = np.stack([term, own], axis=-1)
        for model, of in models.items():
            one, less = (_coefficient(products, terms, *of, contrast) for contrast in CONTRASTS)
            if one:
                found[model, *who] = one, less, int(products.pairs[place, column])
    return compared(data, found)


def permuted(placebo: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Are own texts' coefficients, signs kept, above what other texts give the same judges?

    If a judge's own text is to it as any other, each way to give every judge with own texts a
    responder of its own is as likely as the true one. p is the share of these *assignments* whose
    mean coefficient is no smaller than that of the own texts (one-sided; the true one counts).

    Args:
        placebo: As `placebos` returns it, of any number of data sets.
        rng: Draws assignments where there are more than `MOST`.

    Returns:
        `dataset, model, judges` (with own texts), `own` and `others` (mean coefficients), `p`
        (0..1) and `assignments`; without data sets of a single judge with own texts.
    """
    rows = []
    for (dataset, model), part in placebo.groupby(["dataset", "model"]):
        cells = part.pivot(index="judge", columns="responder", values="effect")
        is_own = part["own"].astype(bool)
        own, columns = part.loc[is_own, "judge"], np.arange(cells.shape[1])
        if (k := len(own)) < 2:
            continue
        if math.perm(len(columns), k) <= MOST:
            places = np.array(list(permutations(columns, k)))
        else:
            drawn = rng.permuted(np.tile(columns, (MOST, 1)), axis=1)[:, :k]
            places = np.vstack([cells.columns.get_indexer(own), drawn])
        means = cells.loc[own].to_numpy(float)[np.arange(k), places].mean(axis=1)
        means = means[~np.isnan(means)]
        others, itself = part["effect"].groupby(is_own).mean().reindex([False, True])
        p = float(np.mean(means >= itself - ROUNDING))
        rows.append((dataset, model, k, itself, others, p, len(means)))
    return pd.DataFrame(rows, columns=PERMUTED)
