"""A judge's taste for its own texts where judges and people read one latent quality.

Each pair i of texts A and B has a difference of quality that nobody sees, and that all readers see
through their own noise: every judge in every order, and every person who voted. With r the effect
of a responder and u what is particular to the pair,

    q_i = r_A - r_B + u_i,      u_i ~ N(0, 1)

reader m answers B, a tie or A by an ordered logit, F the logistic function,

    P(A) = F(x - t_m),   P(B) = F(-x - t_m),   P(tie) the rest,
    x = lambda_m q_i + pi_m place + b_m own

with a scale lambda, a tie width t >= 0 and, for judges, a pull pi of the first place (place = 1
where A was read first, -1 where B was, 0 where nobody knows) and the *own term* b (own = 1 where A
is the judge's own text, -1 where B is). Unlike in `selfpref.statistics.scaled`, quality is of each
pair of texts and not of the responder alone, people are readers among others whose single votes may
be as noisy as they are, and no score is bounded away from a straight line.

u is integrated out on a grid; the likelihood is maximised by BFGS. With H its second derivatives
and s_g the first ones of cluster g, the errors of the G clusters are robust (Huber 1967),

    V = G / (G - 1) H^-1 (sum_g s_g s_g') H^-1

A *placebo* is the same term for one judge and another responder's texts, beside all own terms, by
one Newton step from the fit in which it is 0; the judge's own term less it is of the same step.

An `effect` E is what the term adds to the probability that the judge chooses this text, a tie being
half, in the mean over its verdicts, given all that was read. With d its slope by all parameters its
interval is E -+ t(G - 1) sqrt(d' V d) (delta method).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit

from selfpref.statistics.bias import PAIR, decide, names_of, oriented_votes, verdict_scores
from selfpref.statistics.bootstrap import MISSING, SPANNED, Floats, Whole, student
from selfpref.statistics.choices import HUMAN, NOT_TOLD, key_of, told
from selfpref.statistics.judged import Judged, Row
from selfpref.statistics.scaled import Coefficient, Terms, compared

LATENT, STATISTIC = "latent quality", "latent_quality"
# Of u, in standard deviations; a step is narrow beside what a dozen readings leave of it.
GRID = np.linspace(-5, 5, 41)
WEIGHTS = -(GRID**2) / 2 - np.log(np.exp(-(GRID**2) / 2).sum())
# By whether A was read first: it was, B was, nobody knows.
PLACES = np.array([1.0, -1.0, 0.0])
# Answers B, tie, A.
ANSWERS = 3
# A tie width starts here, in logits. Second derivatives are differences at this step.
WIDTH, STEP = 0.5, 1e-4
# Beyond so many pairs, or judges times responders, the fit takes minutes.
MOST_PAIRS, MOST_CELLS = 20_000, 150
# All parameters, the places of those that are fitted, and what each cluster adds to these.
Moved = tuple[Floats, Whole, Floats]
UNVOTED, ONE_CLUSTER = "nobody voted", "all pairs are of one prompt"
TOO_MANY = f"more than {MOST_PAIRS} pairs, or {MOST_CELLS} judges times responders"


@dataclass(frozen=True)
class Readings:
    """What was answered about each pair, as counts.

    Attributes:
        judges: Their names; people are the reader after the last.
        responders: Their names.
        texts: Of each *kind* of pair the places of A's and B's responder, `[kinds, 2]`.
        kind: Of each pair, `[pairs]`.
        cluster: Of each pair, `[pairs]`.
        counts: Answers of each reader and place, `[pairs, judges + 1, places, answers]`.
    """

    judges: list[str]
    responders: list[str]
    texts: Whole
    kind: Whole
    cluster: Whole
    counts: Floats

    @classmethod
    def of(cls, data: Judged) -> "Readings":
        """All verdicts and votes on the pairs of a data set that its judges read."""
        single = verdict_scores(data.tables["verdicts"])
        verdicts = single.assign(
            reader=single["judge"],
            place=single["presented"].map({"first": 0, "second": 1}).fillna(2),
            vote=decide(single["score"].to_numpy(float), data.settings.threshold),
        )
        people = oriented_votes(data.tables["labels"]).assign(reader="", place=2)
        known = data.pairs.drop_duplicates(PAIR)[[*PAIR, "cluster"]]
        rows = pd.concat([verdicts, people]).dropna(subset="vote").merge(known, on=PAIR)
        judges, responders = names_of(single["judge"]), names_of(rows["first"], rows["second"])
        pairs, places = rows.drop_duplicates(PAIR), pd.Index(responders)
        sides = np.stack([places.get_indexer(pairs[side]) for side in PAIR[1:]], axis=-1)
        texts, kind = np.unique(sides, axis=0, return_inverse=True)
        reader = pd.Index([*judges, ""]).get_indexer(rows["reader"])
        place, answer = rows["place"].astype(int), (2 * rows["vote"]).astype(int)
        counts = np.zeros((len(pairs), len(judges) + 1, len(PLACES), ANSWERS))
        np.add.at(counts, (rows.groupby(PAIR, sort=False).ngroup(), reader, place, answer), 1.0)
        return cls(
            judges, responders, texts, kind.ravel(), pd.factorize(pairs["cluster"])[0], counts
        )

    @cached_property
    def sides(self) -> Floats:
        """1 where A is of a responder, -1 where B is: `[kinds, responders]`."""
        one, two = np.eye(len(self.responders))[self.texts.T]
        found: Floats = one - two
        return found

    @property
    def reason(self) -> str:
        """Why there is no fit, or nothing."""
        if not self.counts[:, -1].any():
            return UNVOTED
        if len(self.kind) > MOST_PAIRS or self.sizes[-1] > MOST_CELLS:
            return TOO_MANY
        return "" if self.cluster.any() else ONE_CLUSTER

    def of_text(self, responder: int) -> Whole:
        """The pairs that hold a text of a responder."""
        return np.flatnonzero((self.texts == responder).any(axis=1)[self.kind])

    @cached_property
    def free(self) -> npt.NDArray[np.bool_]:
        """Which parameters are fitted: those that some answer speaks of, of all terms the own."""
        j, r = len(self.judges), len(self.responders)
        answered = self.counts.sum(axis=0)
        placed = np.abs(PLACES) @ answered[:j].sum(axis=-1).T > 0
        own = np.array([[judge == name for name in self.responders] for judge in self.judges])
        ties, some = answered[..., 1].sum(axis=1) > 0, answered.sum(axis=(1, 2)) > 0
        return np.concatenate([np.ones(r - 1, dtype=bool), some, placed, ties, own.ravel()])

    @property
    def sizes(self) -> list[int]:
        """How many there are of the parameters r, lambda, pi, log t and b."""
        j, r = len(self.judges), len(self.responders)
        return [r - 1, j + 1, j, j + 1, j * r]

    def split(self, theta: Floats) -> list[Floats]:
        """The parameters r, lambda, pi, log t and b `[judges, responders]` of a vector of all."""
        *parts, terms = np.split(theta, np.cumsum(self.sizes[:-1]))
        return [*parts, terms.reshape(-1, len(self.responders))]

    def probabilities(self, theta: Floats) -> Floats:
        """P of each answer, and its derivatives by x and by log t, relative to P.

        Returns:
            `[3, kinds, readers, places, answers, grid]`.
        """
        r, scale, pull, log_width, terms = self.split(theta)
        x = scale[:, None, None] * self.quality(r)[:, None, None]
        x = x + np.pad(pull, (0, 1))[:, None, None] * PLACES[:, None]
        x = x + np.pad(self.sides @ terms.T, ((0, 0), (0, 1)))[..., None, None]
        tied = self.counts[:, :, :, 1].sum(axis=(0, 2)) > 0
        # Of ties alone the greatest likelihood has no end.
        width = np.where(tied, np.exp(np.minimum(log_width, 100.0)), 0.0)[:, None, None]
        a, b = expit(x - width), expit(-x - width)
        da, db = a * (1 - a), b * (1 - b)
        p = np.maximum(np.stack([b, 1 - a - b, a], axis=-2), np.finfo(float).tiny)
        by_x = np.stack([-db, db - da, da], axis=-2)
        by_width = np.stack([-db, da + db, -da], axis=-2) * width[..., None]
        return np.stack([p, by_x / p, by_width / p])

    def quality(self, r: Floats) -> Floats:
        """What q can be, from the effects of all responders but the first: `[kinds, grid]`."""
        return (self.sides[:, 1:] @ r)[:, None] + GRID

    def posterior(self, log_p: Floats) -> tuple[Floats, Floats]:
        """The log-likelihood of each pair, `[pairs]`; the weights of its grid, `[pairs, grid]`."""
        joint = np.empty((len(self.kind), len(GRID)))
        for kind, table in enumerate(log_p):
            mine = self.kind == kind
            joint[mine] = self.counts[mine].reshape(mine.sum(), -1) @ table.reshape(-1, len(GRID))
        joint += WEIGHTS
        most = joint.max(axis=1, keepdims=True)
        shares = np.exp(joint - most)
        total = shares.sum(axis=1, keepdims=True)
        return (np.log(total) + most)[:, 0], shares / total

    def expected(self, weights: Floats, pairs: Whole) -> Floats:
        """Answers by point of the grid, of some pairs: shaped as the probabilities."""
        found = np.zeros((len(self.texts), *self.counts.shape[1:], len(GRID)))
        for kind in np.unique(self.kind[pairs]):
            mine = pairs[self.kind[pairs] == kind]
            counts = self.counts[mine].reshape(len(mine), -1)
            found[kind] = (counts.T @ weights[mine]).reshape(found[kind].shape)
        return found

    def slope(self, theta: Floats, answers: Floats, by_x: Floats, by_width: Floats) -> Floats:
        """The derivative of the log-likelihood by every parameter, from expected answers."""
        r, scale, *_ = self.split(theta)
        along = (answers * by_x).sum(axis=3)
        by_kind = along.sum(axis=(2, 3))
        parts = [
            (by_kind @ scale) @ self.sides[:, 1:],
            np.einsum("dmpk,dk->m", along, self.quality(r)),
            np.einsum("dmpk,p->m", along, PLACES)[:-1],
            (answers * by_width).sum(axis=(0, 2, 3, 4)),
            (by_kind[:, :-1].T @ self.sides).ravel(),
        ]
        return np.concatenate(parts)

    def value_and_slopes(self, theta: Floats, groups: Iterable[Whole]) -> tuple[float, Floats]:
        """The log-likelihood, and its derivatives: `[groups of pairs, parameters]`."""
        p, *derivatives = self.probabilities(theta)
        total, weights = self.posterior(np.log(p))
        answers = [self.expected(weights, pairs) for pairs in groups]
        slopes = [self.slope(theta, one, *derivatives) for one in answers]
        return float(total.sum()), np.array(slopes)


@dataclass(frozen=True)
class Fitted:
    """The parameters at the maximum, with what errors and placebos need.

    Attributes:
        readings: Of what.
        theta: All parameters.
        hessian: Second derivatives of the log-likelihood by all parameters.
        scores: First ones of each cluster, `[clusters, parameters]`.
    """

    readings: Readings
    theta: Floats
    hessian: Floats
    scores: Floats

    def place(self, judge: int, responder: int) -> int:
        """Where the term of a judge for a responder's texts stands among the parameters."""
        return sum(self.readings.sizes[:-1]) + judge * len(self.readings.responders) + responder

    def beside(self, place: int) -> Moved | None:
        """The parameters with one more, of a placebo, by one step from where it is 0.

        Returns:
            All of them, the places of those that are fitted, and what each cluster adds to these,
            `[clusters, fitted]`; None where it is not told.
        """
        free = np.union1d(np.flatnonzero(self.readings.free), [place])
        square = -self.hessian[np.ix_(free, free)]
        spread = np.sqrt(np.maximum(np.diag(square), 0.0))
        if not spread.all() or np.linalg.cond(square / np.outer(spread, spread)) > 1 / SPANNED:
            return None
        moved, added = self.theta.copy(), self.scores[:, free] @ np.linalg.inv(square)
        moved[free] += added.sum(axis=0)
        clusters = len(added)
        return moved, free, np.sqrt(clusters / (clusters - 1)) * added

    def effect(self, judge: int, responder: int, moved: Moved) -> Coefficient:
        """What a judge's term for a responder's texts adds to the probability of choosing them.

        Args:
            judge: Its place.
            responder: Its place.
            moved: As `beside` returns it.
        """
        of, (theta, free, parts) = self.readings, moved
        _, weights = of.posterior(np.log(of.probabilities(self.theta)[0]))
        answers = of.expected(weights, of.of_text(responder))[:, judge].sum(axis=2)
        first = of.sides[:, responder, None, None] > 0
        without = np.arange(len(theta)) != self.place(judge, responder)

        def chosen(theta: Floats) -> float:
            p = of.probabilities(theta)[0][:, judge]
            score = p[:, :, 2] + p[:, :, 1] / 2
            return float((answers * np.where(first, score, 1 - score)).sum() / answers.sum())

        def added(theta: Floats) -> float:
            return chosen(theta) - chosen(theta * without)

        steps = STEP * np.eye(len(theta))[free]
        slope = np.array([added(theta + one) - added(theta - one) for one in steps]) / (2 * STEP)
        return added(theta), parts @ slope

    def effects(self, judge: int, responder: int) -> tuple[Coefficient, Coefficient | None] | None:
        """The effect of a term, and of the judge's own one less it, with both in the model.

        Returns:
            The second is None where the term is the own one, or there is none; None where the
            answers do not tell the term.
        """
        of, own = self.readings, None
        if not (moved := self.beside(self.place(judge, responder))):
            return None
        one = self.effect(judge, responder, moved)
        if of.judges[judge] in {*of.responders} - {of.responders[responder]}:
            itself = self.effect(judge, of.responders.index(of.judges[judge]), moved)
            own = itself[0] - one[0], itself[1] - one[1]
        return one, own


def fit(readings: Readings) -> Fitted | None:
    """The most likely parameters; None where the search does not settle."""
    free, every = readings.free, np.arange(len(readings.kind))
    theta = np.repeat([0.0, 1.0, 0.0, np.log(WIDTH), 0.0], readings.sizes)

    def full(values: Floats) -> Floats:
        made = theta.copy()
        made[free] = values
        return made

    def minus(values: Floats) -> tuple[float, Floats]:
        value, (slope,) = readings.value_and_slopes(full(values), [every])
        return -value / len(every), -slope[free] / len(every)

    found = minimize(minus, theta[free], jac=True, method="BFGS", options={"gtol": 1e-6})
    if np.abs(found.jac).max() > 1e-4:
        return None

    def slope(theta: Floats) -> Floats:
        return np.ravel(readings.value_and_slopes(theta, [every])[1])

    theta, steps = full(found.x), STEP * np.eye(len(theta))
    hessian = np.array([slope(theta + one) - slope(theta - one) for one in steps]) / (2 * STEP)
    clusters = pd.Series(every).groupby(readings.cluster).indices.values()
    _, scores = readings.value_and_slopes(theta, clusters)
    return Fitted(readings, theta, (hessian + hessian.T) / 2, scores)


def of_pairs(data: Judged) -> tuple[list[Row], pd.DataFrame]:
    """Own terms and placebos of one data set that judges read and people voted on.

    Args:
        data: The data set.

    Returns:
        The rows `latent_quality`, of judges with own texts; and the columns `PLACEBO`, without the
        terms that the answers do not tell.
    """
    readings, level = Readings.of(data), data.settings.bootstrap.level
    fitted = None if readings.reason else fit(readings)
    read = readings.counts[:, :-1].sum(axis=(2, 3)) > 0
    rows, found = [], Terms()
    places = product(enumerate(readings.judges), enumerate(readings.responders))
    for (reader, judge), (text, responder) in places:
        n = int(read[readings.of_text(text), reader].sum())
        if terms := fitted.effects(reader, text) if fitted and n else None:
            found[LATENT, judge, responder] = *terms, n
        if judge == responder:
            row = key_of(data.name, HUMAN, judge=judge, statistic=STATISTIC)
            own = student(*terms[0], level) if terms else MISSING
            rows.append(told(row, own, n, n, readings.reason or NOT_TOLD))
    return rows, compared(data, found)
