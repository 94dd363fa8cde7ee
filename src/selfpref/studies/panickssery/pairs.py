"""One row a pair and question: the judge's confidence in its own text; means, and what they tell.

With P("1") and P("2") a judge's probabilities of the labels of the text read first and second, and
its own text first in the *forward* order (Panickssery et al., Sec. 2):

    corrected = ½ [ P_f("1") / (P_f("1") + P_f("2")) + P_b("2") / (P_b("1") + P_b("2")) ]

0..1; ½ is no confidence either way, and what an answer that follows the position alone gives.
Asked which text is *worse*, the confidence is that its own is not.

- `corrected` needs a usable answer in every order that was asked. Where a source holds no
  probabilities of both orders (recognition by GPT), it is the source's own score; where an article
  was tuned on, it is missing.
- `released` is the source's own score, whatever it is and of whichever article.

The judge's own text is its family's. "Evaluator" is the paper's word for a judge and stays in
columns.

Means of the confidences are by other source, by order, against the base model, and by what labels
said. Every interval resamples articles (`selfpref.statistics.bootstrap`); the groups of a data set
share their resamples.

What else a preference could be: a habit of naming its own text, or better texts.

**Wording.** For a pair judged with both wordings, with `prefer` the confidence that the judge's own
text is better from "which do you prefer" and `worse` the same from "which is worse" (one minus the
confidence that its own is worse),

    debiased preference = ½ (prefer + worse).

A judge that has learned to name its own text, whatever the question, has worse = 1 - prefer and a
debiased preference of ½; one that prefers its own text stays above ½. A mean of ½ alone tells
nothing: a judge that knows no preference has it as well. So each judge has a *pattern*, by the
sides of ½ on which the intervals of `prefer` and `worse` lie:

    prefer  worse
    above   above   favours its own
    above   below   names its own, whatever it is asked
    below   above   names the other
    below   below   favours the other
    else    unclear: an interval includes ½, or a mean is within `AT_HALF` of it

**Quality**, where an oracle knows that of every summary. With q the quality, a pair's *deserved*
preference for the judge's own text is 1, ½ or 0 as q(own) is above, equal to or below q(other), and

    excess    = confidence in its own text - deserved preference
    agreement = 1, ½ or 0 as the confidence is on the side of the better text, at ½, or on the
                other side; pairs of equal quality have none

A preference of 0.6 is no self-preference where 0.6 is deserved. Agreement says whether a judge
still judges; it is a share, and its interval Wilson's (`selfpref.statistics.bootstrap`).
"""

import numpy as np
import pandas as pd

from selfpref.statistics.bias import both, decide, gap, of_two
from selfpref.statistics.bootstrap import ClusterBootstrap, at_once, group_shares
from selfpref.studies.panickssery.recognition import article_index
from selfpref.tables.schemas import TIE

TASKS = ("recognition", "preference")
JUDGE = ["dataset", "evaluator"]
KEY = [*JUDGE, "other", "task", "variant", "item_id", "repeat"]
CELL = [*JUDGE, "other", "task", "convention"]
MEAN = ["mean", "se", "lo", "hi", "n"]
# What one answer says.
SAID = ["confidence", "undivided", "first", "mass", "choice"]
# How the choices of both orders agree: on a text, on a position, or not at all; and this from
# 3 x forward + backward, where a choice of its own text is 1, of the other 0, a tie 2.
ORDERINGS = ("own", "other", "first", "second", "tied")
AMBIGUOUS = ("first", "second")
# The column of each convention's value to that of its ordering.
CONVENTIONS = {"released": "ordering_released", "corrected": "ordering"}
_AGREED = {4.0: "own", 0.0: "other", 3.0: "first", 1.0: "second"}
LABELS = "labels-"
WORDINGS = {"preference": "prefer", "inferiority": "worse"}
ORACLE = [*JUDGE, "wording", "quantity", *MEAN]
# By the sides of ½ of both wordings; any other is unclear.
PATTERNS = {
    (1, 1): "favours its own",
    (1, -1): "names its own",
    (-1, 1): "names the other",
    (-1, -1): "favours the other",
}
# A mean so close to ½ is ½, however narrow its interval.
AT_HALF = 0.005


def _answers(verdicts: pd.DataFrame, evaluators: pd.DataFrame, min_mass: float) -> pd.DataFrame:
    """One row an answer, turned to the judge's own text and to the question which is better."""
    rows = verdicts[of_two(verdicts)]
    (first, second), (one, two) = both(rows["candidates"], str), both(rows["probabilities"], float)
    own = rows["judge"].map(evaluators.set_index("evaluator")["family"])
    leads, worse, choice = first.eq(own), rows["task"].eq("inferiority"), rows["choice"]
    weak = rows["status"].eq("ok") & rows["mass"].lt(min_mass)
    status = rows["status"].mask(weak, "low-mass")
    ok = status.eq("ok")
    share = (one / (one + two)).where(ok)
    named = (choice.eq(own) ^ worse).astype(float).mask(choice.eq(TIE), 2.0)
    answers = rows.assign(
        dataset=data_set(rows["item_id"]),
        evaluator=rows["judge"],
        own=own,
        other=second.where(leads, first),
        leads=leads,
        lost=status.mask(ok),
        first=share,
        confidence=share.where(leads ^ worse, 1 - share),
        undivided=one.where(leads, two),
        choice=named.where(ok & choice.notna()),
    )
    return answers[leads | second.eq(own)]


def _ordering(forward: pd.Series, backward: pd.Series) -> pd.Series:
    """How both choices agree; missing where either is."""
    found = 3 * forward + backward
    agreed = found.map(_AGREED).fillna("tied").where(found.notna())
    return agreed.astype(pd.CategoricalDtype(ORDERINGS))


def data_set(item_ids: pd.Series) -> pd.Series:
    """What stands before the first stroke of each id, as a category."""
    return item_ids.astype("category").map(lambda name: name.partition("/")[0]).astype("category")


def held_out(
    item_ids: pd.Series, judges: pd.Series, items: pd.DataFrame, evaluators: pd.DataFrame
) -> pd.Series:
    """Whether each article is none of those that the judge was tuned on, or of those before."""
    start = judges.map(evaluators.set_index("evaluator")["held_out_from"]).astype(int)
    place = item_ids.map(article_index(items.set_index("item_id"))).astype(float)
    return start.eq(0) | place.ge(start)


def confidences(
    verdicts: pd.DataFrame, items: pd.DataFrame, evaluators: pd.DataFrame, min_mass: float
) -> pd.DataFrame:
    """Every judged pair that holds a text of the judge's.

    Args:
        verdicts: The verdicts table.
        items: The items table; the metadata of the articles that models were tuned on hold their
            `index`.
        evaluators: As `selfpref.studies.panickssery.evaluators` describes them.
        min_mass: Below this mass of both labels an answer counts as none, 0..1.

    Returns:
        `dataset, evaluator, other, task, variant, item_id, repeat, own, cluster`; `forward` and
        `backward` (confidence in its own text by order), `undivided` (probability of its own
        text's label, not divided by the mass of both; mean of both orders), `position` (share of
        the text read first, mean of both orders), `mass` (the smaller one of both orders),
        `ordering` (one of `ORDERINGS`, by the choices), `ordering_released` (the same with equal
        probabilities counted for the text read first, as the release does), `orders` (how many were
        asked), `held_out`, `status` (ok, or why the pair has no confidence), `released` and
        `corrected`.
    """
    answers = _answers(verdicts, evaluators, min_mass)
    answers = answers.astype(dict.fromkeys([*KEY[:-1], "own"], "category"))
    answers.index = pd.Index(answers.groupby(KEY).ngroup())
    grouped = answers.groupby(level=0)
    pairs = grouped[[*KEY, "own"]].first()
    stored, lost = grouped["stored"].last(), grouped["lost"].last()
    known, leads = answers["order_known"].astype(bool), answers["leads"]
    forward, backward = (
        answers.loc[known & order, SAID].reindex(pairs.index) for order in (leads, ~leads)
    )
    first, second, mean = forward["choice"], backward["choice"], (forward + backward) / 2
    # Half a pair is another quantity, unless the source vouches for the whole.
    whole = mean["confidence"].fillna(stored)
    status = lost.fillna(whole.isna().map({True: "missing order", False: "ok"}))
    kept = held_out(pairs["item_id"], pairs["evaluator"], items, evaluators)
    return pairs.assign(
        forward=forward["confidence"],
        backward=backward["confidence"],
        undivided=mean["undivided"],
        position=mean["first"],
        mass=np.fmin(forward["mass"], backward["mass"]),
        ordering=_ordering(first, second),
        # Equal probabilities count for the text read first, as the release has it.
        ordering_released=_ordering(first.replace(2, 1), second.replace(2, 0)),
        orders=grouped["order_known"].sum(),
        status=status.astype("category"),
        released=stored,
        corrected=whole.where(status.eq("ok") & kept),
        cluster=pairs["item_id"].map(items.set_index("item_id")["cluster"]).astype("category"),
        held_out=kept,
    )


def plain(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of recognition and preference in their plain wording."""
    return pairs[pairs["task"].isin(TASKS) & pairs["variant"].eq("plain")]


def by_convention(pairs: pd.DataFrame) -> pd.DataFrame:
    """A row a pair and convention that gives it a value.

    Returns:
        The pairs with `convention`, its `value` and `ordering`, and whether that is `ambiguous`.
    """
    parts = [
        pairs.assign(convention=name, value=pairs[name], ordering=pairs[ordering])
        for name, ordering in CONVENTIONS.items()
    ]
    rows = pd.concat(parts).dropna(subset="value", ignore_index=True)
    unclear = rows["ordering"].isin(AMBIGUOUS).astype(float)
    return rows.assign(ambiguous=unclear.where(rows["ordering"].notna()))


def pooled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, and all of them again against the other source `all`."""
    return pd.concat([rows, rows.assign(other="all")], ignore_index=True)


def means(
    rows: pd.DataFrame,
    by: list[str],
    bootstrap: ClusterBootstrap,
    name: str,
    also: tuple[str, ...] = (),
) -> pd.DataFrame:
    """Mean of `value` in each group with its interval, a data set at a time.

    Args:
        rows: With the columns `by`, `cluster`, `value` and `also`; NaN is left out.
        by: What makes a group; `dataset` among them.
        bootstrap: For the intervals.
        name: Of the stream of resamples.
        also: Columns whose mean is wanted without an interval.

    Returns:
        `by`, then `mean, se, lo, hi, n`, then `also`.
    """

    def of(dataset: str, part: pd.DataFrame) -> pd.DataFrame:
        more = part.groupby(by)[[*also]].mean().reset_index(drop=True)
        return bootstrap.group_means(part, by, name, dataset).join(more)

    parts = at_once(of, rows.groupby("dataset"))
    return pd.concat(parts or [pd.DataFrame(columns=[*by, *MEAN, *also])], ignore_index=True)


def pairwise(pairs: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Mean confidence by judge, other source, task and convention (Table B; Figs. 1 to 3).

    Args:
        pairs: As `confidences` returns them.
        bootstrap: For the intervals.

    Returns:
        `dataset, evaluator, other, task, convention, mean, se, lo, hi, n, ambiguous`; `other` is a
        source or `all`, every pair counting the same.
    """
    rows = pooled(by_convention(plain(pairs)))
    return means(rows, CELL, bootstrap, "pairwise", also=("ambiguous",))


def ordering(pairs: pd.DataFrame) -> pd.DataFrame:
    """How the choices of both orders agree (Table C), and confidences cut at one half (Table D).

    Returns:
        `dataset, evaluator, task, convention`; the shares `own`, `other` (the same text in both
        orders), `first`, `second` (the same position), `tied`; `ambiguous` = first + second;
        `own_of_consistent` = own / (own + other); `thresholded`: mean of 1, 1/2 or 0 for a
        confidence above, at or below 1/2; `n` pairs with both choices.
    """
    rows = by_convention(plain(pairs))
    kept = rows["ordering"].notna()
    rows[[*ORDERINGS]] = pd.get_dummies(rows["ordering"], dtype=float).where(kept)
    rows["thresholded"] = decide(rows["value"].to_numpy(), 0.5)
    by = [*JUDGE, "task", "convention"]
    grouped = rows.groupby(by)
    found = grouped[[*ORDERINGS, "ambiguous"]].mean()
    found = found.assign(
        own_of_consistent=found["own"] / (found["own"] + found["other"]),
        thresholded=grouped["thresholded"].mean(),
        n=grouped["ordering"].count(),
    )
    return found.reset_index().astype(dict.fromkeys(by, "str"))


def deltas(
    pairs: pd.DataFrame, evaluators: pd.DataFrame, bootstrap: ClusterBootstrap
) -> pd.DataFrame:
    """Each fine-tuned judge against its base, pair by pair on the same held-out articles.

    Returns:
        `dataset, evaluator, other, task, convention`; `base` and `tuned` (mean confidences on the
        pairs that both have), `mean` (of the difference, tuned minus base), `se, lo, hi, n`.
    """
    rows = by_convention(plain(pairs[pairs["held_out"]]))
    base = rows["evaluator"].isin(evaluators.loc[evaluators["variant"].eq("base"), "evaluator"])
    same = ["item_id", "repeat", "own", "other", "task", "convention"]
    untuned = rows.loc[base, [*same, "value"]].rename(columns={"value": "base"})
    both = rows[~base].rename(columns={"value": "tuned"}).merge(untuned, on=same)
    both = pooled(both.assign(value=both["tuned"] - both["base"]))
    found = means(both, CELL, bootstrap, "deltas", also=("base", "tuned"))
    return found[[*CELL, "base", "tuned", *MEAN]]


def labels(pairs: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Preference where the judge saw labels of who wrote what (Table F).

    Returns:
        `dataset, evaluator, other, labels` (correct, swapped, random-correct, random-swapped, and
        none: the plain question to the same judges), `convention, mean, se, lo, hi, n, ambiguous,
        orders`. With one order, `mean` holds the position bias in full.
    """
    by = [*JUDGE, "other", "labels", "convention"]
    rows = pairs[pairs["task"].eq("preference")]
    shown = rows["variant"].astype("str").str.removeprefix(LABELS).replace("plain", "none")
    saw = shown.ne("none").groupby([rows[name] for name in JUDGE]).transform("any")
    rows = pooled(by_convention(rows.assign(labels=shown)[saw]))
    found = means(rows, by, bootstrap, "labels", also=("ambiguous",))
    return found.assign(orders=rows.groupby(by)["orders"].max().to_numpy())


# --- the question turned round, and what a preference deserves


def both_wordings(pairs: pd.DataFrame) -> pd.DataFrame:
    """The confidences of the pairs that have both wordings.

    Args:
        pairs: As `confidences` returns them.

    Returns:
        `dataset, evaluator, other, item_id, repeat, cluster, convention, quantity, value`;
        quantities prefer, worse, mean and, where the pair has it, recognition.
    """
    rows = by_convention(pairs[pairs["variant"].eq("plain")])
    rows = rows.assign(quantity=rows["task"].astype("str").replace(WORDINGS))
    pair = [*JUDGE, "other", "item_id", "repeat", "cluster", "convention"]
    both = rows.pivot(index=pair, columns="quantity", values="value")
    both = both.reindex(columns=["prefer", "worse", "mean", "recognition"])
    both["mean"] = (both["prefer"] + both["worse"]) / 2
    return both.dropna(subset="mean").stack().dropna().reset_index(name="value")


def wordings(both: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Mean of each wording and of both, by judge and other source.

    Args:
        both: As `both_wordings` returns it.
        bootstrap: For the intervals.

    Returns:
        `dataset, evaluator, other, convention, quantity, mean, se, lo, hi, n`.
    """
    by = [*JUDGE, "other", "convention", "quantity"]
    return means(pooled(both), by, bootstrap, "inverted")


def inverted(found: pd.DataFrame) -> pd.DataFrame:
    """One row a judge, in one convention: the source's own score if it has one.

    Of the models that were asked both questions the release keeps only the likeliest token's
    probability, and its score knows the second token's, which 1 - p can only bound.

    Args:
        found: As `wordings` returns them.

    Returns:
        `dataset, evaluator, prefer, worse, mean, n, pattern`.
    """
    whole = found[found["other"].eq("all")].sort_values("convention", ascending=False)
    one = whole.drop_duplicates([*JUDGE, "quantity"])
    off = one["mean"].sub(0.5).abs().gt(AT_HALF)
    sides = np.select([off & one["lo"].gt(0.5), off & one["hi"].lt(0.5)], [1, -1])
    mean, n, side = (
        one.assign(side=sides)
        .pivot(index=JUDGE, columns="quantity", values=name)
        .reindex(columns=[*WORDINGS.values(), "mean"])
        for name in ("mean", "n", "side")
    )
    both = zip(side["prefer"], side["worse"], strict=True)
    pattern = [PATTERNS.get(found, "unclear") for found in both]
    return mean.assign(n=n["mean"].astype(int), pattern=pattern).reset_index()


def oracle(pairs: pd.DataFrame, truths: pd.DataFrame, bootstrap: ClusterBootstrap) -> pd.DataFrame:
    """Deserved preference, excess and agreement of every judge in both wordings, others pooled.

    Args:
        pairs: As `confidences` returns them.
        truths: The truths table; without a `quality` there is nothing to compare with.
        bootstrap: For the intervals.

    Returns:
        The columns of `ORACLE`.
    """
    known = truths[truths["metric"].eq("quality")]
    rows = pairs[pairs["variant"].eq("plain")]
    rows = rows.assign(wording=rows["task"].astype("str").map(WORDINGS))
    rows = rows.dropna(subset=["wording", "corrected"])
    if known.empty or rows.empty:
        return pd.DataFrame(columns=ORACLE)
    quality = known.set_index(["item_id", "responder"])["score"].astype(float)
    texts = rows[["item_id", "own", "other"]].astype("str")
    better = np.sign(gap(quality, texts, "own", "other").to_numpy())
    deserved = (1 + better) / 2
    right = 1 - np.abs(decide(rows["corrected"].to_numpy(), 0.5) - deserved)
    values = {
        "deserved": deserved,
        "excess": rows["corrected"] - deserved,
        "agreement": np.where(better == 0, np.nan, right),
    }
    whole = rows.assign(**values).melt([*JUDGE, "cluster", "wording"], values, "quantity")
    by = ORACLE[:4]
    found = means(whole, by, bootstrap, "oracle").set_index(by)
    # A bootstrap of a share has no bounds at 0 and 1.
    shares = group_shares(whole[whole["quantity"].eq("agreement")], by, "value", bootstrap.level)
    found.update(shares.set_index(by)[["lo", "hi"]])
    return found.reset_index()
