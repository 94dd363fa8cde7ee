"""How many pairs, and prompts, a bias takes to be seen.

For a statistic g of sums of rows x_i (`selfpref.statistics.bias`), the influence of row i of n is

    u_i = n dg/dT x_i,      T = sum x_i           (mean 0 where g is a ratio or a sum of ratios)

so that Var(g) is near deff Var(u) / n. Rows of one prompt go together: with m_g rows in prompt g,

    rho  = (MSB - MSW) / (MSB + (m_0 - 1) MSW)    intraclass correlation of u (one-way ANOVA;
                                                  below 0 it counts as 0)
    deff = 1 + (m' - 1) rho,                      m' = sum m_g^2 / sum m_g         (Kish 1965)

and a two-sided test at alpha sees a bias b with the given power from

    pairs = (z_{1 - alpha/2} + z_power)^2 Var(u) deff / b^2,       prompts = pairs / mean m_g

`detectable` turns it round: the bias seen at the data's own n. The plan holds for more data *of the
same kind*: same judge, same responses, as many pairs a prompt, as rare a human vote against.
"""

from collections.abc import Mapping
from functools import partial
from math import ceil

import numpy as np
import pandas as pd
from scipy.special import ndtri

from selfpref.statistics import bias
from selfpref.statistics.bootstrap import Floats, Statistic
from selfpref.statistics.choices import EO, PARITY, SIDES, Judgments, Row, chance, on_sides, parity

BIASES = (0.05, 0.1, 0.2)
# z_{1 - alpha/2}, and (z_{1 - alpha/2} + z_power)^2, at alpha 0.05 and power 0.8.
HALF = float(ndtri(1 - 0.05 / 2))
FACTOR = (HALF + float(ndtri(0.8))) ** 2
NEEDED = [
    *("study", "dataset", "judge", "gold", "statistic", "bias", "pairs", "prompts"),
    *("n", *SIDES, "n_prompts", "sd", "correlation", "effect", "detectable"),
]
# Relative step of the derivative; cells are counts.
STEP = 1e-4


def influence(rows: Floats, statistic: Statistic) -> Floats:
    """U of each row.

    Args:
        rows: What each row adds to the sums, `[rows, ...]`.
        statistic: From sums `[batch, ...]` to values `[batch]`.

    Returns:
        `[rows]`; NaN where the statistic does not exist.
    """
    flat = rows.reshape(len(rows), -1)
    total = flat.sum(axis=0)
    steps = np.eye(len(total)) * STEP * len(rows)
    ends = [total + sign * steps for sign in (1, -1)]
    up, down = (statistic(end.reshape(-1, *rows.shape[1:])) for end in ends)
    values: Floats = flat @ (up - down) / (2 * STEP)
    return values - values.mean()


def intraclass(values: Floats, clusters: pd.Series) -> float:
    """Rho of one-way analysis of variance, at least 0; 0 where no cluster has two rows."""
    codes, names = pd.factorize(clusters)
    sizes, n, groups = np.bincount(codes), len(values), len(names)
    if groups < 2 or n == groups:
        return 0.0
    means = np.bincount(codes, weights=values) / sizes
    between = float((sizes * (means - values.mean()) ** 2).sum() / (groups - 1))
    within = float(((values - means[codes]) ** 2).sum() / (n - groups))
    usual = (n - (sizes**2).sum() / n) / (groups - 1)
    spread = between + (usual - 1) * within
    return max(0.0, (between - within) / spread) if spread > 0 else 0.0


def plan(rows: Floats, clusters: pd.Series, statistic: Statistic) -> dict[str, float]:
    """The noise of a statistic, and the bias that the data's own n sees.

    Args:
        rows: What each row adds to the sums, `[rows, ...]`.
        clusters: The prompt of each row.
        statistic: From sums `[batch, ...]` to values `[batch]`.

    Returns:
        `n` rows, `n_prompts` clusters, `sd` of u, `correlation` (intraclass, 0..1), `effect` (of
        the design, at least 1) and `detectable`; nothing where the statistic does not exist or does
        not vary.
    """
    values = influence(rows, statistic) if len(rows) > 1 else np.zeros(2)
    variance = float(np.var(values, ddof=1))
    if not variance > 0:
        return {}
    sizes, correlation = clusters.value_counts().to_numpy(), intraclass(values, clusters)
    effect = 1 + (float((sizes**2).sum() / sizes.sum()) - 1) * correlation
    found = {"n": len(rows), "n_prompts": len(sizes), "correlation": correlation}
    seen = (FACTOR * variance * effect / len(rows)) ** 0.5
    return {**found, "sd": variance**0.5, "effect": effect, "detectable": seen}


def pairs_for(wanted: float, noise: Mapping[str, float]) -> float:
    """Rows that a two-sided test at 0.05 needs to see a bias with a power of 0.8.

    Args:
        wanted: The bias.
        noise: As `plan` returns it.
    """
    return noise["n"] * (noise["detectable"] / wanted) ** 2


def needed(data: Judgments) -> pd.DataFrame:
    """Pairs and prompts that each judge's statistics need, on its own decided rows.

    Returns:
        The columns `NEEDED`: sd is that of u, and EO and excess have the pairs of both human
        sides. A statistic without variance in the sample has no rows: nothing can be planned from
        it.
    """
    found: list[Row] = []
    for judge in data.judges:
        own, stacked = data.own(judge), data.stacked(judge, "own")
        mine = data.cells(own)[:, None], own["cluster"]
        by_chance = chance(own, mine[0].sum(axis=(1, 2)) > 0)
        for statistic, (cells, prompts), formula in (
            (EO, mine, bias.equal_opportunity),
            (PARITY, mine, partial(parity, chance=by_chance)),
            ("excess", stacked, bias.excess),
        ):
            decided = cells[:, 0].sum(axis=1) > 0
            noise = plan(cells[decided], prompts[decided], partial(_first, formula))
            row = data.row(judge, statistic) | noise
            row |= {} if statistic == PARITY else on_sides(cells)
            for wanted in BIASES if noise else ():
                pairs = pairs_for(wanted, noise)
                counts = {
                    "pairs": ceil(pairs),
                    "prompts": ceil(pairs / noise["n"] * noise["n_prompts"]),
                }
                found.append(row | counts | {"bias": wanted})
    return pd.DataFrame(found, columns=NEEDED)


def _first(formula: Statistic, totals: Floats) -> Floats:
    """A statistic of the first judge, from totals `[batch, judges, 4]`."""
    return formula(totals)[..., 0]
