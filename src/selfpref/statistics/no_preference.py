"""What a judge without self-preference would show, if it erred like the people who voted.

EO is not zero for a judge without self-preference where its responses are better than others'. Let
p be the probability that a vote on one pair is for the judge's own response. If the human's vote
and the judge's are two independent draws of the same p, whoever the judge is, then over pairs

    TP = E[p^2],  FN = FP = E[p (1 - p)],  TN = E[(1 - p)^2]

    EO_0 = E[p^2] / E[p] - E[(1 - p)^2] / E[1 - p] = D (2 m - 1) / (2 m (1 - m)),

with m = E[p] and D = 2 E[p (1 - p)], the share of pairs of votes that disagree. EO_0 is 0 where
people never disagree, or where both sides win equally often; it approaches 2 m - 1 where p is the
same for all pairs.

Two people's votes on one pair are two such draws, so EO_0 is the EO of *another person in the
judge's place*. From the votes v_1 .. v_k on one pair, the unbiased estimators of the three
moments are means over ordered pairs of distinct votes,

    p^2: v_s v_t,     p (1 - p): v_s (1 - v_t),     (1 - p)^2: (1 - v_s)(1 - v_t),     s != t,

and a pair with one vote tells nothing. Each pair weighs 1. A tied vote is dropped before counting,
or counts half, as the study's human ties do.

EO_0 is of *single* votes. The majority of k votes is less noisy than one: its cells with an
independent judge hold moments of p up to the (k + 1)-th, which k votes do not identify. So the
judge is set against single votes too: with the share of votes h for own on one pair and its
decision d, its cells are h d, h (1 - d), (1 - h) d and (1 - h)(1 - d), on the same pairs and votes.
The difference of the two EOs is what the judge shows beyond a person in its place. It need not be
self-preference: a judge that errs less than a person, or in its own way (by length, say), differs
from EO_0 as well, whoever wrote the responses.

How far that goes, a judge shows that has no self and never errs: one that always decides as most of
*all* people would. With p ~ Beta(a, b) over pairs, of mean m and correlation rho = 1 / (a + b + 1)
of two votes on a pair, and I the regularised incomplete beta function,

    EO_m = 1 - I_1/2(a + 1, b) - I_1/2(a, b + 1),      rho = 1 - E[p (1 - p)] / (m (1 - m)).

Where votes hardly agree, rho near 0, it always takes the better writer, and EO_m nears 1.
"""

import numpy as np
import pandas as pd
from scipy.special import betainc

from selfpref.statistics.bias import CELLS, Ties, crossed, equal_opportunity
from selfpref.statistics.bootstrap import Floats

# Of a correlation estimated from few votes.
LEAST_RHO = 1e-6


def vote_cells(votes: pd.DataFrame, by: list[str], ties: Ties) -> pd.DataFrame:
    """The cells of two different votes on the same pair, one taken as the human's, one the judge's.

    Args:
        votes: A row a vote, each of another person: the columns `by` and `vote`, 1 for the own
            response, 0 for the other, 1/2 for a tie.
        by: What tells pairs apart, such as `item_id` and `opponent`.
        ties: `drop` tied votes, or count them `half`.

    Returns:
        A row a pair with two votes or more: `by`, `votes` (how many), `share` (of votes for own),
        and the cells, which add to 1. Multiply them to weigh pairs otherwise than equally.
    """
    used = votes if ties == "half" else votes[votes["vote"].ne(0.5)]
    grouped = used.assign(square=used["vote"] ** 2).groupby(by)
    found = grouped.agg(votes=("vote", "size"), won=("vote", "sum"), square=("square", "sum"))
    found = found[found["votes"].gt(1)].reset_index()
    k, won, square = (found[name].to_numpy(dtype=float) for name in ("votes", "won", "square"))
    both = (won**2 - square) / (k * (k - 1))
    share = won / k
    cells = np.stack([both, share - both, share - both, 1 - 2 * share + both], axis=-1)
    return found[[*by, "votes"]].assign(share=share, **dict(zip(CELLS, cells.T, strict=True)))


def against_votes(pairs: pd.DataFrame) -> Floats:
    """Cells of another person and of the judge, against the same single votes.

    Args:
        pairs: As `vote_cells` returns them, with the judge's `decision` (1, 0, 1/2).

    Returns:
        `[pairs, 2, 4]`: another person, the judge.
    """
    judge = crossed(pairs["share"].to_numpy(dtype=float), pairs["decision"].to_numpy(dtype=float))
    return np.stack([pairs[CELLS].to_numpy(dtype=float), judge], axis=1)


def beyond_no_preference(totals: Floats) -> Floats:
    """EO_0, the judge's EO against single votes, and their difference.

    Args:
        totals: Sums of `against_votes`, `[..., 2, 4]`.

    Returns:
        `[..., 3]`.
    """
    bias = equal_opportunity(totals)
    return np.concatenate([bias, bias[..., 1:] - bias[..., :1]], axis=-1)


def beyond_majority(totals: Floats) -> Floats:
    """EO_0, the EO of a judge that decides as most of all people would, and their difference.

    Args:
        totals: Sums of the cells of another person, `[..., 4]`.

    Returns:
        `[..., 3]`.
    """
    share = totals / totals.sum(axis=-1, keepdims=True)
    mean, apart = share[..., 0] + share[..., 1], share[..., 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.clip(1 - apart / (mean * (1 - mean)), LEAST_RHO, 1 - LEAST_RHO)
        size = 1 / rho - 1
        a, b = mean * size, (1 - mean) * size
        follows = 1 - betainc(a + 1, b, 0.5) - betainc(a, b + 1, 0.5)
    person = equal_opportunity(totals)
    return np.stack([person, follows, follows - person], axis=-1)
