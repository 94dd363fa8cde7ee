"""Bias and distance skewness of many cells at once, with intervals from the same resamples.

A cell is a step of one responder's texts in one language, under one scoring. Over its sentences

    bias = mean(said - truth)                       Xu et al. (arXiv 2402.11436), Eq. 1

is positive where the judge over-rates, and D (Eq. 2) is the distance skewness of these gaps, in
0..1 (`selfpref.studies.xu.skewness`).

Sentences are resampled, each with everything that depends on it: all steps of one sentence, and the
same sentence in every language, are drawn together, so that a change between steps and a mean over
languages have paired intervals. The mean over languages is that of the languages' statistics, not
the statistic of all rows in one pool.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pandas as pd

from selfpref.statistics.bootstrap import ClusterBootstrap, bounded
from selfpref.statistics.scores import Floats
from selfpref.statistics.threads import at_once
from selfpref.studies.xu.rows import CONVENTIONS, Convention, Settings, under_scorings
from selfpref.studies.xu.skewness import (
    distance_skewness,
    null_band,
    resampled_skewness,
    sign_flips,
)

AVERAGE = "average"
KEY = ["convention", "language", "step"]
# What is told of a cell, and what its change since step 0 is called.
CHANGES = {
    "self_mean": "self_change",
    "truth_mean": "truth_change",
    "bias": "bias_change",
    "dskew": "dskew_change",
}
LEVELS = tuple(CHANGES)
COUNTS = ["n", "unusable", "n_both"]
SUMMARY = [*KEY, *COUNTS, *bounded(*LEVELS, *CHANGES.values())]
NULLS = [*KEY, "n", "dskew", "p", "flip_upper", "band_mean", "band_upper", "repeated"]
# Of a cell: all its sentences; those that count at step 0 too; these sentences at step 0.
PARTS = ("level", "after", "before")


def named_intervals(
    bootstrap: ClusterBootstrap,
    clusters: int,
    statistics: Callable[[Floats], Mapping[str, Floats]],
    *names: str,
) -> pd.DataFrame:
    """Several statistics of many cells, from the same resamples, by name.

    Args:
        bootstrap: The intervals.
        clusters: How many are resampled.
        statistics: From how often each cluster counts, `[clusters, batch]`, to each statistic's
            values, `[cells, batch]`.
        names: Of the random stream.

    Returns:
        A row a cell; each statistic with its bounds, `_lo` and `_hi`.
    """
    shapes = {name: len(of) for name, of in statistics(np.ones((clusters, 1))).items()}

    def stacked(weights: Floats) -> Floats:
        found: Floats = np.concatenate([*statistics(np.ascontiguousarray(weights.T)).values()])
        return found.T

    made = iter(bootstrap.of_weights(clusters, stacked, *names))
    return pd.concat(
        [
            pd.DataFrame([next(made).columns(name) for _ in range(cells)], columns=bounded(name))
            for name, cells in shapes.items()
        ],
        axis=1,
    )


def wide(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What is said and what is true, `[cells, slots]`; in a cell a cluster has a slot a row."""
    rows = rows.sort_values([*KEY, "cluster", "item_id"], kind="stable")
    slots = rows.assign(slot=rows.groupby([*KEY, "cluster"]).cumcount())
    table = slots.pivot(index=KEY, columns=["cluster", "slot"], values=["said", "truth"])
    return table["said"], table["truth"]


def statistics_of(
    said: pd.DataFrame, truth: pd.DataFrame, gamma: float, weights: Floats
) -> dict[str, Floats]:
    """`LEVELS` of every cell.

    Args:
        said: As `wide` returns it; NaN where missing.
        truth: Alike.
        gamma: The centre of D.
        weights: How often each slot counts, `[slots, batch]`.

    Returns:
        By name `[cells, batch]`; NaN where a cell has nothing. The two means are over what enters
        the bias; in a cell without any truth, over all scores.
    """
    gaps = said - truth
    paired = gaps.notna()
    alone = ~paired.any(axis=1).to_numpy()[:, None]
    return {
        "self_mean": _mean(said, paired | (said.notna() & alone), weights),
        "truth_mean": _mean(truth, paired | (truth.notna() & alone), weights),
        "bias": _mean(gaps, paired, weights),
        "dskew": _skewness(gaps, gamma, weights),
    }


def _mean(values: pd.DataFrame, held: pd.DataFrame, weights: Floats) -> Floats:
    sums = values.where(held, 0.0).to_numpy() @ weights
    counts = held.to_numpy(dtype=float) @ weights
    mean: Floats = np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0)
    return mean


def _skewness(gaps: pd.DataFrame, gamma: float, weights: Floats) -> Floats:
    """D of each cell; chains converge, and cells with the same gaps are computed once."""
    known: dict[bytes, Floats] = {}
    for row in gaps.to_numpy():
        if row.tobytes() not in known:
            held = ~np.isnan(row)
            known[row.tobytes()] = resampled_skewness(row[held], gamma, weights[held])
    return np.stack([known[row.tobytes()] for row in gaps.to_numpy()])


def summary(
    rows: pd.DataFrame, settings: Settings, *names: str, averaged: bool = False
) -> pd.DataFrame:
    """Bias, skewness and means by language and step, each with its change since step 0.

    A change rests on the sentences that count at both steps.

    Args:
        rows: With `convention, language, step, cluster, item_id, said, truth, status`: one
            responder.
        settings: Gamma and intervals.
        names: Of the random stream.
        averaged: Whether to add the mean over languages, at the steps that all of them reach.

    Returns:
        The columns `SUMMARY`: scores held against a truth (`n`), replies that say nothing
        (`unusable`), sentences behind the change (`n_both`); each of `LEVELS` and of their changes
        with its bounds, NaN where there is no step 0.
    """
    said, truth = wide(rows)
    steps, gaps = said.index.get_level_values("step"), said - truth
    begin = [_at_step_0(said), _at_step_0(truth)]
    both = gaps.notna() & (begin[0] - begin[1]).notna()
    both[steps == 0] = False
    said_of, truth_of = (
        pd.concat({"level": one, "after": one.where(both), "before": start.where(both)})
        for one, start in zip((said, truth), begin, strict=True)
    )
    unusable = rows["status"].ne("ok").groupby([rows[name] for name in KEY]).sum()
    cells = pd.DataFrame(
        {"n": gaps.notna().sum(axis=1), "unusable": unusable, "n_both": both.sum(axis=1)}
    ).reset_index()
    languages = cells["language"].nunique()
    reached = [
        part.index
        for _, part in cells.groupby(["convention", "step"])
        if averaged and len(part) == languages > 1
    ]
    clusters = said.columns.get_level_values("cluster")
    part_of, owner = said_of.index.get_level_values(0), pd.factorize(clusters, sort=True)[0]

    def statistics(weights: Floats) -> dict[str, Floats]:
        found: dict[str, Floats] = {}
        made = statistics_of(said_of, truth_of, settings.gamma, weights[owner])
        for name, values in made.items():
            level, after, before = (values[part_of == part] for part in PARTS)
            found |= {name: level, CHANGES[name]: after - before}
        # A mean over languages needs every one of them: NaN stays NaN.
        return {
            name: np.concatenate([of, *(of[at].mean(axis=0)[None] for at in reached)])
            for name, of in found.items()
        }

    means = [
        {
            **cells.loc[at[0], ["convention", "step"]],
            "language": AVERAGE,
            **cells.loc[at, COUNTS].sum(),
        }
        for at in reached
    ]
    whole = pd.concat([cells, pd.DataFrame(means)], ignore_index=True)
    bounds = named_intervals(settings.intervals, clusters.nunique(), statistics, *names)
    # A mean that lacks a language rests on nothing.
    return whole.join(bounds).assign(n=whole["n"].where(bounds["bias"].notna(), 0))[SUMMARY]


def _at_step_0(values: pd.DataFrame) -> pd.DataFrame:
    """For every cell the values of its language's texts before refinement."""
    first = values[values.index.get_level_values("step") == 0].droplevel("step")
    return first.reindex(values.index.droplevel("step")).set_axis(values.index)


def nulls(rows: pd.DataFrame, settings: Settings, *names: str) -> pd.DataFrame:
    """Whether D is more than chance would give: two nulls.

    Args:
        rows: As for `summary`.
        settings: Gamma, the number of random signs, and the level of the bands.
        names: Of the random stream.

    Returns:
        The columns `NULLS`: D, `p` and `flip_upper` (signs drawn at random), `band_mean` and
        `band_upper` (as many normal values), and `repeated`: whether an earlier step of the
        language has the same values, since texts and feedback have stayed.
    """
    said, truth = wide(rows)
    level, result = settings.bootstrap.level, []
    for _, cells in (said - truth).groupby(level="convention", sort=False):
        rng = settings.intervals.rng(*names, "flips")
        found: dict[bytes, dict[str, float]] = {}
        met: set[tuple[object, bytes]] = set()
        for (convention, language, step), row in zip(cells.index, cells.to_numpy(), strict=True):
            values = row[~np.isnan(row)]
            known = values.tobytes()
            if known not in found:
                flips = sign_flips(values, settings.gamma, settings.flips, level, rng)
                band = null_band(len(values), level) if len(values) else (np.nan, np.nan)
                found[known] = {
                    "dskew": float(distance_skewness(values, settings.gamma)),
                    **{"p": flips.p, "flip_upper": flips.upper},
                    **{"band_mean": band[0], "band_upper": band[1]},
                }
            cell = {"convention": convention, "language": language, "step": step, "n": len(values)}
            result.append(cell | found[known] | {"repeated": (language, known) in met})
            met.add((language, known))
    return pd.DataFrame(result, columns=NULLS)


def by_group(
    table: Callable[..., pd.DataFrame],
    rows: pd.DataFrame,
    settings: Settings,
    *names: str,
    by: Mapping[str, str],
    columns: Sequence[str] = SUMMARY,
    conventions: Sequence[Convention] = CONVENTIONS,
) -> pd.DataFrame:
    """A table of every group of rows, under every scoring.

    Args:
        table: `summary` or `nulls`.
        rows: As `rated` returns them.
        settings: Handed on.
        names: Of the random stream, before those of the group; scorings share a stream, and
            with it their resamples.
        by: What makes a group: columns, and what they are called in the table.
        columns: The table's.
        conventions: Which.

    Returns:
        The table's columns and those of the group; one scoring after the other.
    """
    read = under_scorings(rows, conventions)
    groups = [(values, part) for values, part in read.groupby([*by])]
    calls = ((part, settings, *names, *map(str, values)) for values, part in groups)
    found = [
        made.assign(**dict(zip(by.values(), values, strict=True)))
        for made, (values, _) in zip(at_once(table, calls), groups, strict=True)
    ]
    if not found:
        return pd.DataFrame(columns=[*columns, *by.values()])
    whole = pd.concat(found, ignore_index=True)
    rank = whole["convention"].map([*conventions].index)
    return whole.iloc[np.argsort(rank, kind="stable")].reset_index(drop=True)
