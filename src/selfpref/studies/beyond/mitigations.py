"""What a judge's own vote does to a panel of judges, and what the panel does without it.

Wataoka et al. (Sec. 6) suggest to ask several models, and to let a model count less on a sample of
low perplexity to it. For a pair (A, B), the judges J that read it, and their scores s_k of A (Eq.
3), each rule gives a score, which decides as a judge's does. Where the responses of judge j are
looked at:

- `single`: s_j.
- `ensemble`: the mean of s_k over all k in J, j among them.
- `perplexity-weighted`: the weighted mean with

      w_k = min over r in {A, B} of  ppl_k(r) / geometric mean over m in J of ppl_m(r),

  ppl_k(r) = exp(nats a token of r, given the prompt, to k). A judge to whom one of the two texts is
  more probable than to the panel weighs less, in proportion; the paper names no formula.
- `ensemble without the judge`, `perplexity-weighted without the judge`: the same, the panel being J
  without j. Without j a single judge is one of the others: `others alone` is the mean over k != j
  of what s_k alone gives.
- `leave-self-out`: the mean over the judges of J that wrote neither response.

On the pairs with responses of j that the human decides and for which every rule has a score (a tie
of the rule counts half, so that all rules are measured on the same pairs):

    eo         the rule's equal-opportunity bias towards j
    size       |eo|; of `others alone` the mean of |eo_k|
    agreement  P(the rule's decision is the human's)

A panel differs from a judge in two things: it averages, and j has less of a say. Both are told
apart by rules that differ in one of them alone (`EFFECTS`), by one bootstrap of prompts for all:

    own vote       a rule minus the same rule without j
    averaging      a panel without j minus `others alone`: j votes in neither
    other writer   a panel without j minus `leave-self-out`: the vote of the other response's writer

The first two add up to a panel minus `others alone`. Averaging takes noise away, and EO grows in
size with less noise where responses differ in quality: a panel's EO may not be compared with single
judges'. `mean of judges` is the mean over the judges j whose EO exists. An ensemble is one rule for
all responders: of each pair one response wins, so its signed biases towards all of them cancel
whatever it prefers. Their mean says something of the own vote, which is another judge's each time;
of rules and of averaging read the mean size (not 0 for mere noise). Lower bias by itself is no
cure: a rule that ignores the responses has none. Bias and agreement are to be read together.
"""

from itertools import product

import numpy as np
import pandas as pd

from selfpref.statistics.bias import (
    PAIR,
    cell_weights,
    decide,
    equal_opportunity,
    response_perplexity,
)
from selfpref.statistics.bootstrap import Floats, Interval
from selfpref.statistics.judged import Judged

# The mean over judges; among rules, what the judges give that did not write the responses, each
# alone; and what makes one rule differ from another.
MEAN, OTHERS = "mean of judges", "others alone"
OWN_VOTE, AVERAGING, OTHER_WRITER = "own vote", "averaging", "other writer"
RULES = (
    *("single", "ensemble", "ensemble without the judge"),
    *("perplexity-weighted", "perplexity-weighted without the judge", "leave-self-out"),
)
MEASURES = ("eo", "size", "agreement")
# What changes, from the second rule to the first.
EFFECTS = (
    (OWN_VOTE, "single", OTHERS),
    (OWN_VOTE, "ensemble", "ensemble without the judge"),
    (OWN_VOTE, "perplexity-weighted", "perplexity-weighted without the judge"),
    (AVERAGING, "ensemble without the judge", OTHERS),
    (AVERAGING, "perplexity-weighted without the judge", OTHERS),
    (OTHER_WRITER, "ensemble without the judge", "leave-self-out"),
)
EFFECT = ("effect", "rule", "against")
COUNTS = ["n", "n_human_own", "n_human_other", "dropped"]
RULED = ["dataset", "judge", "measure", "rule", "value", "lo", "hi", *COUNTS]
CHANGES = {"value": "change", "lo": "change_lo", "hi": "change_hi"}
CHANGED = ["dataset", "judge", "measure", *EFFECT, *CHANGES.values(), *COUNTS]
# With one judge there is no ensemble, with two nobody is left out of it.
FEWEST = 3


def panel_scores(pairs: pd.DataFrame) -> pd.DataFrame:
    """Scores of the response that sorts first, `[pairs, judges]`."""
    return pairs.pivot(index=PAIR, columns="judge", values="score").sort_index()


def text_perplexities(perplexities: pd.DataFrame) -> pd.DataFrame:
    """Nats a token of each text, given the prompt, to each judge: `[texts, judges]`."""
    values = response_perplexity(perplexities, "log-perplexity")
    return values[values["conditional"]].pivot(
        index=["item_id", "responder"], columns="judge", values="value"
    )


def weights(scores: pd.DataFrame, given: pd.DataFrame) -> pd.DataFrame:
    """W of every pair and judge, `[pairs, judges]`; NaN where a perplexity is missing.

    Args:
        scores: As `panel_scores` returns them; its columns are the panel.
        given: As `text_perplexities` returns them.
    """
    given = given.reindex(columns=scores.columns)
    relative = given.sub(given.mean(axis=1, skipna=False), axis=0)
    keys = scores.index.to_frame(index=False)
    one, two = (
        relative.reindex(pd.MultiIndex.from_frame(keys[["item_id", side]])).to_numpy()
        for side in ("first", "second")
    )
    return pd.DataFrame(np.exp(np.minimum(one, two)), index=scores.index, columns=scores.columns)


def rule_scores(scores: pd.DataFrame, given: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Each rule's score of the response that sorts first, `[pairs, rules]`.

    A rule without all the scores it needs has none.

    Args:
        scores: As `panel_scores` returns them.
        given: As `text_perplexities` returns them.
        judge: Whose responses are looked at.
    """
    values = scores.to_numpy(dtype=float)
    wrote = np.stack(
        [scores.index.get_level_values(side).to_numpy() for side in ("first", "second")]
    )
    outside = ~np.stack([(wrote == name).any(axis=0) for name in scores], axis=1)
    others = scores.drop(columns=judge)

    def mean(by: Floats) -> Floats:
        # A judge of weight 0 is not asked: its missing score does not matter.
        kept = np.where(by == 0, 0.0, values)
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = (by * kept).sum(axis=1) / by.sum(axis=1)
        return result

    def weighted(panel: pd.DataFrame) -> Floats:
        by = weights(panel, given)
        return mean(by.reindex(columns=scores.columns, fill_value=0.0).to_numpy(dtype=float))

    rules = {
        "single": scores[judge].to_numpy(dtype=float),
        "ensemble": mean(np.ones_like(values)),
        "ensemble without the judge": others.to_numpy(dtype=float).mean(axis=1),
        "perplexity-weighted": weighted(scores),
        "perplexity-weighted without the judge": weighted(others),
        "leave-self-out": mean(outside.astype(float)),
    }
    return pd.DataFrame(rules, index=scores.index)


def measured(cells: Floats, rules: int) -> Floats:
    """`MEASURES` of each rule, and of the other judges alone.

    Args:
        cells: `[..., rules + others, 4]`: the rules' cells, then those of each other judge.
        rules: How many rules.

    Returns:
        `[..., measures, rules + 1]`, the last the mean of the others.
    """
    bias = equal_opportunity(cells)
    with np.errstate(invalid="ignore", divide="ignore"):
        agreement = (cells[..., 0] + cells[..., 3]) / cells.sum(axis=-1)
    values = np.stack([bias, np.abs(bias), agreement], axis=-2)
    others = values[..., rules:].mean(axis=-1, keepdims=True)
    found: Floats = np.concatenate([values[..., :rules], others], axis=-1)
    return found


def _with_changes(values: Floats, names: list[str]) -> Floats:
    """`[..., measures, rules]` -> these, then the effects `[..., measures, effects]`, flat."""
    changes = [
        values[..., names.index(rule)] - values[..., names.index(against)]
        for _, rule, against in _effects(names)
    ]
    both = np.concatenate([values, np.stack(changes, axis=-1)], axis=-1)
    return both.reshape(*both.shape[:-2], -1)


def _effects(names: list[str]) -> list[tuple[str, str, str]]:
    """The effects between the rules that there are."""
    return [effect for effect in EFFECTS if {*effect[1:]} <= {*names}]


def _cells(
    data: Judged, judge: str, scores: pd.DataFrame, by: pd.DataFrame
) -> tuple[Floats, pd.Series, dict[str, int]]:
    """Cells of each rule and other judge on the judge's pairs.

    Returns:
        `[pairs, rules + others, 4]`, the prompt of each pair, and how many pairs there are, of them
        on each side of the human, and dropped for want of a score though the human decides them.
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
    own, other = (int((complete & (human == vote)).sum()) for vote in (1.0, 0.0))
    lost = int(np.isin(human, (0.0, 1.0)).sum()) - own - other
    counts = dict(zip(COUNTS, (own + other, own, other, lost), strict=True))
    return stacked[complete], labels["cluster"][complete], counts


def _rows(
    data: Judged, judge: str, names: list[str], found: list[Interval], counts: dict[str, int]
) -> list[dict[str, object]]:
    """The rows of one judge: by measure those of the rules, then those of the effects."""
    effects = [dict(zip(EFFECT, effect, strict=True)) for effect in _effects(names)]
    places = [*({"rule": name} for name in names), *effects]
    held: dict[str, object] = {"dataset": data.name, "judge": judge, **counts}
    return [
        held | {"measure": measure} | place | one.columns()
        for (measure, place), one in zip(product(MEASURES, places), found, strict=True)
    ]


def by_rule(data: Judged) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every rule for every judge with responses of its own, and their mean.

    Returns:
        The columns `RULED`, and the columns `CHANGED`; no rows with fewer than three judges. Rules
        with perplexities only where these are known.
    """
    scores, given = panel_scores(data.pairs), text_perplexities(data.tables["perplexities"])
    known = weights(scores, given).notna().any(axis=None)
    rules = [rule for rule in RULES if known or not rule.startswith("perplexity")]
    names, blocks = [*rules, OTHERS], []
    rows: list[dict[str, object]] = []
    for judge in data.judges if scores.shape[1] >= FEWEST else ():
        held = scores[[judge in keys[1:] for keys in scores.index]]
        by = rule_scores(held, given, judge)[rules]
        cells, clusters, counts = _cells(data, judge, held, by)
        if not len(cells):
            continue
        found = data.bootstrap.estimates(
            cells,
            clusters,
            lambda totals: _with_changes(measured(totals, len(rules)), names),
            *("mitigations", judge),
        )
        rows += _rows(data, judge, names, found, counts)
        if not np.isnan(found[0].value):
            blocks.append((cells, clusters, counts))
    if len(blocks) > 1:
        rows += _mean(data, names, blocks)
    table = pd.DataFrame(rows, columns=[*dict.fromkeys((*RULED, *EFFECT))])
    ruled = table["effect"].isna()
    # Signed biases towards all judges tell of nothing but the own vote.
    told = table["judge"].ne(MEAN) | table["measure"].ne("eo") | table["effect"].eq(OWN_VOTE)
    changes = table[~ruled & told].rename(columns=CHANGES)
    return table.loc[ruled & told, RULED], changes[CHANGED]


def _mean(
    data: Judged, names: list[str], blocks: list[tuple[Floats, pd.Series, dict[str, int]]]
) -> list[dict[str, object]]:
    """The means over judges, all judges' pairs resampled by prompt."""
    stacked = np.concatenate(
        [
            np.stack([cells * (place == number) for place in range(len(blocks))], axis=1)
            for number, (cells, *_) in enumerate(blocks)
        ]
    )
    clusters = pd.concat([clusters for _, clusters, _ in blocks])

    def average(totals: Floats) -> Floats:
        # [..., judges, measures, rules]
        return _with_changes(measured(totals, len(names) - 1).mean(axis=-3), names)

    found = data.bootstrap.estimates(stacked, clusters, average, "mitigations", MEAN)
    counts = pd.DataFrame([counts for *_, counts in blocks]).sum().to_dict()
    return _rows(data, MEAN, names, found, counts)
