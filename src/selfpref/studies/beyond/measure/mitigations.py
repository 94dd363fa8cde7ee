"""What three mitigations do to a judge's bias and to its agreement with the human.

Wataoka et al. (Sec. 6) suggest to ask several models, and to let a model count less on a sample of
low perplexity to it. For a pair (A, B), the judges J that read it, and their scores s_j of A (Eq.
3), each rule gives a score, which decides as a judge's does:

- `single`: s_j, the judge whose responses are looked at; what the others are compared with.
- `ensemble`: the mean of s_k over all k in J, j among them.
- `perplexity-weighted`: the weighted mean with

      w_k = min over r in {A, B} of  ppl_k(r) / geometric mean over m in J of ppl_m(r),

  ppl_k(r) = exp(nats a token of r, given the prompt, to k). A judge to whom one of the two texts is
  more probable than to the panel weighs less, in proportion; the paper names no formula.
- `leave-self-out`: the mean over the judges of J that wrote neither response.

On the pairs with responses of j that the human decides and for which every rule has a score (a tie
of the rule counts half, so that all rules are measured on the same pairs):

    eo         the rule's equal-opportunity bias towards j
    excess     eo - mean over k != j of EO_k towards j, each judge alone
    agreement  P(the rule's decision is the human's)

and each minus that of `single`, by one bootstrap of prompts for all. `mean of judges` is the mean
of agreement and of the *size* of eo and excess over the judges j whose EO exists. Signed biases may
not be averaged: an ensemble is one rule for all responders, and since one response of each pair
wins, its biases towards all of them cancel whatever it prefers. (A mean of sizes is not 0 for mere
noise.) Lower bias by itself is no cure: a rule that ignores the responses has none. Bias and
agreement are to be read together.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bias import cell_weights, equal_opportunity
from selfpref.statistics.bootstrap import Interval
from selfpref.statistics.scores import PAIR, Floats, decide, response_perplexity
from selfpref.studies.beyond import MEAN
from selfpref.studies.wataoka.measure.judged import Judged

RULES = ("single", "ensemble", "perplexity-weighted", "leave-self-out")
MEASURES = ("eo", "excess", "agreement")
# With one judge there is no ensemble, with two nobody is left out of it.
FEWEST = 3


def panel_scores(pairs: pd.DataFrame) -> pd.DataFrame:
    """Scores of the response that sorts first, `[pairs, judges]`."""
    return pairs.pivot(index=PAIR, columns="judge", values="score").sort_index()


def weights(scores: pd.DataFrame, perplexities: pd.DataFrame) -> pd.DataFrame:
    """W of every pair and judge, `[pairs, judges]`; NaN where a perplexity is missing.

    Args:
        scores: As `panel_scores` returns them.
        perplexities: The perplexities table.
    """
    values = response_perplexity(perplexities, "log-perplexity")
    given = values[values["conditional"]].pivot(
        index=["item_id", "responder"], columns="judge", values="value"
    )
    given = given.reindex(columns=scores.columns)
    relative = given.sub(given.mean(axis=1, skipna=False), axis=0)
    keys = scores.index.to_frame(index=False)
    one, two = (
        relative.reindex(pd.MultiIndex.from_frame(keys[["item_id", side]])).to_numpy()
        for side in ("first", "second")
    )
    return pd.DataFrame(np.exp(np.minimum(one, two)), index=scores.index, columns=scores.columns)


def rule_scores(scores: pd.DataFrame, weight: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Each rule's score of the response that sorts first, `[pairs, rules]`.

    A rule without all the scores it needs has none.

    Args:
        scores: As `panel_scores` returns them.
        weight: As `weights` returns them.
        judge: The single judge.
    """
    wrote = np.stack(
        [scores.index.get_level_values(side).to_numpy() for side in ("first", "second")]
    )
    outside = ~np.stack([(wrote == name).any(axis=0) for name in scores], axis=1)
    values = scores.to_numpy(dtype=float)

    def mean(by: Floats) -> Floats:
        # A judge of weight 0 is not asked: its missing score does not matter.
        kept = np.where(by == 0, 0.0, values)
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = (by * kept).sum(axis=1) / by.sum(axis=1)
        return result

    rules = {
        "single": scores[judge].to_numpy(dtype=float),
        "ensemble": mean(np.ones_like(values)),
        "perplexity-weighted": mean(weight.to_numpy(dtype=float)),
        "leave-self-out": mean(outside.astype(float)),
    }
    return pd.DataFrame(rules, index=scores.index)


def measured(cells: Floats, rules: int) -> Floats:
    """`MEASURES` of each rule.

    Args:
        cells: `[..., rules + others, 4]`: the rules' cells, then those of each other judge.
        rules: How many rules.

    Returns:
        `[..., measures, rules]`.
    """
    bias = equal_opportunity(cells)
    eo, others = bias[..., :rules], bias[..., rules:]
    totals = cells[..., :rules, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = (totals[..., 0] + totals[..., 3]) / totals.sum(axis=-1)
        reference = others.mean(axis=-1, keepdims=True)
    values: Floats = np.stack([eo, eo - reference, agreement], axis=-2)
    return values


def _with_changes(values: Floats) -> Floats:
    """`[..., measures, rules]` -> the values, then each minus that of the first rule, flat."""
    both = np.stack([values, values - values[..., :1]], axis=-3)
    return both.reshape(*both.shape[:-3], -1)


def _cells(
    data: Judged, judge: str, scores: pd.DataFrame, by: pd.DataFrame
) -> tuple[Floats, pd.Series, int]:
    """Cells of each rule and other judge on the judge's pairs.

    Returns:
        `[pairs, rules + others, 4]`, the prompt of each pair, and how many pairs that the human
        decides lack a score.
    """
    side = np.where(scores.index.get_level_values("second") == judge, -1.0, 1.0)
    alone = scores.drop(columns=judge)
    candidates = pd.concat([by, alone], axis=1).to_numpy(dtype=float)
    decisions = 0.5 + side[:, None] * (decide(candidates, data.settings.threshold) - 0.5)
    labels = data.pairs.drop_duplicates(PAIR).set_index(PAIR).loc[scores.index]
    human = 0.5 + side * (labels["human"].to_numpy(dtype=float) - 0.5)
    stacked = np.stack(
        [
            cell_weights(pd.DataFrame({"human": human, "decision": one}), "drop", "half")
            for one in decisions.T
        ],
        axis=1,
    )
    complete = (stacked.sum(axis=2) > 0).all(axis=1)
    lost = int((np.isin(human, (0.0, 1.0)) & ~complete).sum())
    return stacked[complete], labels["cluster"][complete], lost


def _table(
    data: Judged, judge: str, rules: list[str], found: list[Interval], n: int, lost: int
) -> list[dict[str, object]]:
    half = len(MEASURES) * len(rules)
    names = [(measure, rule) for measure in MEASURES for rule in rules]
    place: dict[str, object] = {"dataset": data.name, "judge": judge}
    return [
        place
        | {"rule": rule, "measure": measure}
        | whole.columns()
        | change.columns("change")
        | {"n": n, "dropped": lost}
        for (measure, rule), whole, change in zip(names, found[:half], found[half:], strict=True)
    ]


def by_rule(data: Judged) -> pd.DataFrame:
    """Every rule for every judge with responses of its own, and their mean.

    Returns:
        `dataset, judge, rule, measure, value, lo, hi, change, change_lo, change_hi, n, dropped`; no
        rows with fewer than three judges. `perplexity-weighted` only where perplexities are known.
    """
    scores = panel_scores(data.pairs)
    if scores.shape[1] < FEWEST:
        return pd.DataFrame()
    weight = weights(scores, data.tables["perplexities"])
    known = weight.notna().any(axis=None)
    rules = [rule for rule in RULES if rule != "perplexity-weighted" or known]
    rows, blocks, lost_in_all = [], [], 0
    for judge in data.judges:
        held = scores[[judge in names[1:] for names in scores.index]]
        by = rule_scores(held, weight.loc[held.index], judge)[rules]
        cells, clusters, lost = _cells(data, judge, held, by)
        if not len(cells):
            continue
        found = data.bootstrap.estimates(
            cells,
            clusters,
            lambda totals: _with_changes(measured(totals, len(rules))),
            *("mitigations", judge),
        )
        rows += _table(data, judge, rules, found, len(cells), lost)
        if not np.isnan(found[0].value):
            blocks.append((cells, clusters))
            lost_in_all += lost
    if len(blocks) > 1:
        rows += _mean(data, rules, blocks, lost_in_all)
    return pd.DataFrame(rows)


def _mean(
    data: Judged, rules: list[str], blocks: list[tuple[Floats, pd.Series]], lost: int
) -> list[dict[str, object]]:
    """Mean agreement and mean size of the biases, all judges' pairs resampled by prompt."""
    stacked = np.concatenate(
        [
            np.stack([cells * (place == number) for place in range(len(blocks))], axis=1)
            for number, (cells, _) in enumerate(blocks)
        ]
    )
    clusters = pd.concat([clusters for _, clusters in blocks])

    def average(totals: Floats) -> Floats:
        # [..., judges, measures, rules]; agreement is a size as it is.
        return _with_changes(np.abs(measured(totals, len(rules))).mean(axis=-3))

    found = data.bootstrap.estimates(stacked, clusters, average, "mitigations", MEAN)
    return _table(data, MEAN, rules, found, len(stacked), lost)
