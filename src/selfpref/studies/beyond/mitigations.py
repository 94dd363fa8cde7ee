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

On the pairs with responses of j that the human decides and for which every rule has a score (a tie
of the rule counts half, so that all rules are measured on the same pairs):

    eo         the rule's equal-opportunity bias towards j
    size       |eo|; of `others alone` the mean of |eo_k|
    agreement  P(the rule's decision is the human's)

A panel differs from a judge in two things: it averages, and j has less of a say. Both are told
apart by rules that differ in one of them alone (`EFFECTS`), by one bootstrap of prompts for all:

    own vote       a rule minus the same rule without j
    averaging      a panel without j minus `others alone`: j votes in neither

They add up to a panel minus `others alone`. Averaging takes noise away, and EO grows in
size with less noise where responses differ in quality: a panel's EO may not be compared with single
judges'. `mean of judges` is the mean over the judges j whose EO exists. An ensemble is one rule for
all responders: of each pair one response wins, so its signed biases towards all of them cancel
whatever it prefers. Their mean says something of the own vote, which is another judge's each time;
of rules and of averaging read the mean size (not 0 for mere noise). Lower bias by itself is no
cure: a rule that ignores the responses has none. Bias and agreement are to be read together.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from selfpref.statistics import bias
from selfpref.statistics.bias import PAIR
from selfpref.statistics.bootstrap import Floats, ratio
from selfpref.statistics.judged import Judged

# The mean over judges; among rules, what the judges give that did not write the responses, each
# alone; and what makes one rule differ from another.
MEAN, OTHERS = "mean of judges", "others alone"
OWN_VOTE, AVERAGING = "own vote", "averaging"
WITHOUT = {rule: f"{rule} without the judge" for rule in ("ensemble", "perplexity-weighted")}
RULES = ("single", *(rule for pair in WITHOUT.items() for rule in pair))
MEASURES = ("eo", "size", "agreement")
# What changes, from the second rule to the first.
EFFECTS = (
    (OWN_VOTE, "single", OTHERS),
    *((OWN_VOTE, rule, without) for rule, without in WITHOUT.items()),
    *((AVERAGING, without, OTHERS) for without in WITHOUT.values()),
)
EFFECT = ["effect", "rule", "against"]
COUNTS = ["n", "n_human_own", "n_human_other", "dropped"]
RULED = ["dataset", "judge", "measure", "rule", "value", "lo", "hi", *COUNTS]
CHANGES = {"value": "change", "lo": "change_lo", "hi": "change_hi"}
CHANGED = ["dataset", "judge", "measure", *EFFECT, *CHANGES.values(), *COUNTS]
# With one judge there is no ensemble, with two nobody is left out of it.
FEWEST = 3
# Pairs with the responses of one judge or of several: their cells `[pairs, judges, rules + others,
# 4]`, prompts, and the numbers `COUNTS`.
Block = tuple[Floats, pd.Series, pd.Series]


def text_perplexities(perplexities: pd.DataFrame) -> pd.DataFrame:
    """Nats a token of each text, given the prompt, to each judge: `[texts, judges]`."""
    values = bias.response_perplexity(perplexities)
    texts = ["item_id", "responder"]
    return values[values["conditional"]].pivot(index=texts, columns="judge", values="value")


def weights(scores: pd.DataFrame, given: pd.DataFrame) -> pd.DataFrame:
    """W of every pair and judge, `[pairs, judges]`; NaN where a perplexity is missing.

    Args:
        scores: Of the response that sorts first, `[pairs, judges]`; its columns are the panel.
        given: As `text_perplexities` returns them.
    """
    given = given.reindex(columns=scores.columns)
    relative = given.sub(given.mean(axis=1, skipna=False), axis=0)
    texts = (scores.index.droplevel(other) for other in ("second", "first"))
    one, two = (relative.reindex(text).set_axis(scores.index) for text in texts)
    return np.exp(np.minimum(one, two))


def rule_scores(scores: pd.DataFrame, given: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Each rule's score of the response that sorts first, `[pairs, rules]`.

    A rule without all the scores it needs has none.

    Args:
        scores: As for `weights`.
        given: As `text_perplexities` returns them.
        judge: Whose responses are looked at.
    """
    others = scores.drop(columns=judge)

    def mean(by: pd.DataFrame) -> pd.Series:
        given = by * scores[[*by]]
        return given.sum(axis=1, skipna=False) / by.sum(axis=1, skipna=False)

    rules = {
        "single": scores[judge],
        "ensemble": scores.mean(axis=1, skipna=False),
        "ensemble without the judge": others.mean(axis=1, skipna=False),
        "perplexity-weighted": mean(weights(scores, given)),
        "perplexity-weighted without the judge": mean(weights(others, given)),
    }
    return pd.DataFrame(rules)


def measured(cells: Floats, rules: int) -> Floats:
    """`MEASURES` of each rule, and of the other judges alone.

    Args:
        cells: `[..., rules + others, 4]`: the rules' cells, then those of each other judge.
        rules: How many rules.

    Returns:
        `[..., measures, rules + 1]`, the last the mean of the others.
    """
    eo = bias.equal_opportunity(cells)
    agreement = ratio(bias.some_of(cells, "tp", "tn"))
    values = np.stack([eo, np.abs(eo), agreement], axis=-2)
    others = values[..., rules:].mean(axis=-1, keepdims=True)
    return np.concatenate([values[..., :rules], others], axis=-1)


def _block(data: Judged, judge: str, scores: pd.DataFrame, rules: pd.DataFrame) -> Block:
    """The pairs with responses of one judge."""
    labels = data.pairs.drop_duplicates(PAIR).set_index(PAIR).loc[scores.index]
    candidates = rules.join(scores.drop(columns=judge)).to_numpy()
    decisions = bias.decide(candidates, data.settings.threshold)
    said = np.column_stack([labels["human"], decisions])
    turned = labels.index.get_level_values("second") == judge
    said[turned] = 1 - said[turned]
    decided = np.isin(said[:, 0], (0, 1))
    complete = decided & ~np.isnan(said).any(axis=1)
    cells = bias.crossed(said[complete, :1], said[complete, 1:])
    own, other = bias.human_sides(cells[:, 0].sum(axis=0))
    counts = [len(cells), own, other, decided.sum() - len(cells)]
    return cells[:, None], labels["cluster"][complete], pd.Series(counts, COUNTS, dtype=int)


def _together(blocks: Sequence[Block]) -> Block:
    """All judges' pairs, each in its judge's place: they are resampled by prompt."""
    cells, clusters, counts = zip(*blocks, strict=True)
    places = np.eye(len(blocks))[:, :, None, None]
    placed = [of * place for of, place in zip(cells, places, strict=True)]
    return np.concatenate(placed), pd.concat(clusters), sum(counts)


def by_rule(data: Judged) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Every rule for every judge with responses of its own, and their mean.

    Returns:
        The columns `RULED`, and the columns `CHANGED`; no rows with fewer than three judges. Rules
        with perplexities only where these are known.
    """
    scores = data.pairs.pivot(index=PAIR, columns="judge", values="score").sort_index()
    given = text_perplexities(data.tables["perplexities"])
    known = weights(scores, given).notna().any(axis=None)
    rules = [rule for rule in RULES if known or not rule.startswith("perplexity")]
    names = [*rules, OTHERS]
    effects = [effect for effect in EFFECTS if {*effect[1:]} <= {*names}]
    first, second = ([names.index(effect[side]) for effect in effects] for side in (1, 2))
    keys = [*(("", name, "") for name in names), *effects]
    told = pd.DataFrame(
        [(measure, *key) for measure in MEASURES for key in keys], columns=["measure", *EFFECT]
    )

    def statistics(totals: Floats) -> Floats:
        # [batch, judges, rules + others, 4] to means over judges.
        values = measured(totals, len(rules)).mean(axis=1)
        changes = values[..., first] - values[..., second]
        return np.concatenate([values, changes], axis=-1).reshape(len(totals), -1)

    blocks = {}
    for judge in data.judges if scores.shape[1] >= FEWEST else ():
        held = scores[[judge in keys[1:] for keys in scores.index]]
        block = _block(data, judge, held, rule_scores(held, given, judge)[rules])
        if len(block[0]):
            blocks[judge] = block
    # Where the human chose on both sides, an EO exists.
    whole = [block for block in blocks.values() if block[2][COUNTS[1:3]].all()]
    if len(whole) > 1:
        blocks[MEAN] = _together(whole)
    made = [pd.DataFrame(columns=[*dict.fromkeys((*RULED, *EFFECT))])]
    for judge, (cells, clusters, counts) in blocks.items():
        found = data.bootstrap.estimates(cells, clusters, statistics, "mitigations", judge)
        rows = told.join(pd.DataFrame(found)[["value", "lo", "hi"]])
        made.append(rows.assign(dataset=data.name, judge=judge, **counts))
    table = pd.concat(made[1:] or made, ignore_index=True)
    ruled = table["effect"].eq("")
    # Signed biases towards all judges tell of nothing but the own vote.
    firm = table["judge"].ne(MEAN) | table["measure"].ne("eo") | table["effect"].eq(OWN_VOTE)
    return table.loc[ruled & firm, RULED], table[~ruled & firm].rename(columns=CHANGES)[CHANGED]
