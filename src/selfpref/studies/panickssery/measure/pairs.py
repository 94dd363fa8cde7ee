"""One row a pair and question: the judge's confidence in its own text, in two conventions.

With P("1") and P("2") a judge's probabilities of the labels of the text read first and second, and
its own text first in the *forward* order (Panickssery et al., Sec. 2):

    corrected = ½ [ P_f("1") / (P_f("1") + P_f("2")) + P_b("2") / (P_b("1") + P_b("2")) ]

0..1; ½ is no confidence either way, and what an answer that follows the position alone gives.
Asked which text is *worse*, the confidence is that its own is not.

- `corrected` needs a usable answer in every order that was asked. Where a source holds no
  probabilities of both orders (recognition by GPT), it is the source's own score; where an article
  was tuned on, it is missing.
- `released` is the source's own score, whatever it is and of whichever article.

Whose text is the judge's own: that under its own name where the pair holds it (new summaries of a
fine-tuned model), else its family's. "Evaluator" is the paper's word for a judge and stays in
columns.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.statistics.scores import Floats
from selfpref.tables.schemas import TIE

CONVENTIONS = ("released", "corrected")
TASKS = ("recognition", "preference")
KEY = ["dataset", "evaluator", "other", "task", "variant"]
# How the choices of both orders agree: on a text, on a position, or not at all.
ORDERINGS = ("own", "other", "first", "second", "tied")
AMBIGUOUS = ("first", "second")
_OWN, _OTHER, _TIED, _NOBODY = 1, 0, 2, -1
# What an answer gives, with what stands for none.
MISSING = {"confidence": np.nan, "undivided": np.nan, "first": np.nan, "choice": _NOBODY}
_PAIR = ["item_id", "evaluator", "own", "other", "task", "variant", "repeat"]
ANSWERS = ["dataset", "evaluator", "other", "item_id", "repeat", "own_first", "p_1", "p_2"]
Bools = npt.NDArray[np.bool_]


def _with_own_text(verdicts: pd.DataFrame, evaluators: pd.DataFrame) -> pd.DataFrame:
    """The verdicts on pairs with an own text of the judge: `own`, `other`, `own_first`."""
    family = evaluators.set_index("evaluator")["family"]
    number, found = pd.factorize(verdicts["candidates"].map(tuple))
    pairs = np.array([p if len(p) == 2 else (None, None) for p in found], dtype=object)
    first, second = pairs.reshape(-1, 2)[number].T
    judge = verdicts["judge"].to_numpy(dtype=object)
    its = verdicts["judge"].map(family).to_numpy(dtype=object)
    own = np.where((first == judge) | (second == judge), judge, its)
    rows = verdicts.rename(columns={"judge": "evaluator"}).assign(
        own=own, other=np.where(first == own, second, first), own_first=first == own
    )
    return rows[(first == own) | (second == own)]


def _probabilities(rows: pd.DataFrame) -> Floats:
    """The probabilities of both labels, in presented order, `[rows, 2]`; NaN where unknown."""
    known = rows["probabilities"].notna().to_numpy()
    pair = np.full((len(rows), 2), np.nan)
    if known.any():
        pair[known] = np.array(rows["probabilities"][known].tolist(), dtype=float)
    return pair


def _answers(verdicts: pd.DataFrame, evaluators: pd.DataFrame, min_mass: float) -> pd.DataFrame:
    """One row an answer, turned to the judge's own text and to the question which is better."""
    rows = _with_own_text(verdicts[verdicts["judge"].isin(evaluators["evaluator"])], evaluators)
    weak = rows["status"].eq("ok") & rows["mass"].lt(min_mass)
    status = rows["status"].mask(weak, "low-mass")
    pair = _probabilities(rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        first = pd.Series(pair[:, 0] / pair.sum(axis=1), index=rows.index).where(status.eq("ok"))
    own = first.where(rows["own_first"], 1 - first)
    worse = rows["task"].eq("inferiority")
    named = np.select(
        [rows["choice"].eq(rows[name]) for name in ("own", "other")], [_OWN, _OTHER], _NOBODY
    )
    named = np.where(worse & (named != _NOBODY), 1 - named, named)
    choice = np.where(rows["choice"].eq(TIE), _TIED, named)
    return rows.assign(
        status=status,
        first=first,
        confidence=own.where(~worse, 1 - own),
        undivided=np.where(rows["own_first"], pair[:, 0], pair[:, 1]),
        choice=np.where(status.eq("ok"), choice, _NOBODY),
    )


def _ordering(forward: Floats, backward: Floats) -> pd.Categorical:
    """How both choices agree; missing where either is."""
    agreed = [
        (forward == _OWN) & (backward == _OWN),
        (forward == _OTHER) & (backward == _OTHER),
        (forward == _OWN) & (backward == _OTHER),
        (forward == _OTHER) & (backward == _OWN),
        (forward != _NOBODY) & (backward != _NOBODY),
    ]
    return pd.Categorical.from_codes(np.select(agreed, range(5), -1), categories=list(ORDERINGS))


def _paired(answers: pd.DataFrame) -> pd.DataFrame:
    """One row a pair: the answers of its orders side by side."""
    codes = [pd.factorize(answers[name], sort=True) for name in _PAIR]
    shape = [max(len(names), 1) for _, names in codes]
    pair, found = pd.factorize(np.ravel_multi_index([code for code, _ in codes], shape))
    own_first, known = (answers[name].to_numpy() for name in ("own_first", "order_known"))
    orders = {"forward": known & own_first, "backward": known & ~own_first}

    def placed(name: str, here: Bools, missing: float) -> Floats:
        values = np.full(len(found), missing)
        values[pair[here]] = answers[name].to_numpy(dtype=float)[here]
        return values

    by_order = {
        name: [placed(name, here, missing) for here in orders.values()]
        for name, missing in MISSING.items()
    }
    forward, backward = by_order["choice"]
    mass = [placed("mass", here, np.nan) for here in orders.values()]
    stored = placed("stored", np.ones(len(answers), dtype=bool), np.nan)
    status = np.full(len(found), "ok", dtype=object)
    lost = answers["status"].ne("ok").to_numpy()
    status[pair[lost]] = answers["status"].to_numpy()[lost]
    both = sum(by_order["confidence"]) / 2
    # Half a pair is another quantity, unless the source vouches for the whole.
    status[(status == "ok") & np.isnan(both) & np.isnan(stored)] = "missing order"
    places = zip(_PAIR, codes, np.unravel_index(found, shape), strict=True)
    columns = {
        name: pd.Categorical.from_codes(numbers, categories=list(names))
        for name, (_, names), numbers in places
    }
    return pd.DataFrame(columns | {"repeat": columns["repeat"].astype(int)}).assign(
        forward=by_order["confidence"][0],
        backward=by_order["confidence"][1],
        undivided=sum(by_order["undivided"]) / 2,
        position=sum(by_order["first"]) / 2,
        mass=np.fmin(*mass),
        ordering=_ordering(forward, backward),
        ordering_released=_ordering(
            np.where(forward == _TIED, _OWN, forward), np.where(backward == _TIED, _OTHER, backward)
        ),
        orders=sum(np.bincount(pair[here], minlength=len(found)) for here in orders.values()),
        status=pd.Categorical(status),
        released=stored,
        corrected=np.where(status == "ok", np.where(np.isnan(both), stored, both), np.nan),
    )


def article_index(items: pd.DataFrame) -> "pd.Series[float]":
    """The place of each article in its data set, from the metadata; NaN where it has none."""
    index: pd.Series[float] = (
        items["metadata"].str.extract(r'"index": (\d+)', expand=False).astype(float)
    )
    return index


def _with_articles(
    pairs: pd.DataFrame, items: pd.DataFrame, evaluators: pd.DataFrame
) -> pd.DataFrame:
    """The pairs with data set, cluster and whether the article was held out of the tuning."""
    ids = pairs["item_id"].cat.categories
    known = items.set_index("item_id").reindex(ids)
    index = article_index(known)
    code = pairs["item_id"].cat.codes.to_numpy()
    start = pairs["evaluator"].map(evaluators.set_index("evaluator")["held_out_from"]).astype(int)
    datasets = pd.Categorical(ids.str.replace(r"/.*", "", regex=True))
    clusters = pd.Categorical(known["cluster"])
    return pairs.assign(
        dataset=pd.Categorical.from_codes(datasets.codes[code], dtype=datasets.dtype),
        cluster=pd.Categorical.from_codes(clusters.codes[code], dtype=clusters.dtype),
        held_out=(start.to_numpy() == 0) | (index.to_numpy()[code] >= start.to_numpy()),
    )


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
    pairs = _with_articles(_paired(_answers(verdicts, evaluators, min_mass)), items, evaluators)
    order = [*KEY, "item_id", "repeat"]
    found = pairs.assign(corrected=pairs["corrected"].where(pairs["held_out"]))
    rest = [name for name in found if name not in order]
    return found[[*order, *rest]].sort_values(order, kind="stable").reset_index(drop=True)


def answers(verdicts: pd.DataFrame, evaluators: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """The single answers from which the corrected recognition of pairs is computed.

    Args:
        verdicts: The verdicts table.
        evaluators: As for `confidences`.
        pairs: As `confidences` returns them.

    Returns:
        The columns of `ANSWERS`, two rows a pair: whether the judge's own text was read first, and
        the probabilities of the answers "1" and "2". Only of pairs with the probabilities of both
        orders and a corrected confidence.
    """
    asked = verdicts["task"].eq("recognition") & verdicts["variant"].eq("plain")
    known = asked & verdicts["probabilities"].notna()
    rows = _with_own_text(
        verdicts[known & verdicts["judge"].isin(evaluators["evaluator"])], evaluators
    )
    p_1, p_2 = _probabilities(rows).T
    both = pairs["corrected"].notna() & (pairs["forward"] + pairs["backward"]).notna()
    wanted = plain(pairs[both & pairs["task"].eq("recognition")])
    key = ["evaluator", "other", "item_id", "repeat"]
    wanted = wanted[["dataset", *key]].astype(dict.fromkeys(["dataset", *key[:3]], "str"))
    found = rows.assign(p_1=p_1, p_2=p_2).merge(wanted, on=key)[ANSWERS]
    return found.sort_values([*ANSWERS[:5], "own_first"], ignore_index=True)


def plain(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs of recognition and preference in their plain wording."""
    return pairs[pairs["task"].isin(TASKS) & pairs["variant"].eq("plain")]


def by_convention(pairs: pd.DataFrame) -> pd.DataFrame:
    """A row a pair and convention that gives it a value: `convention`, `value`, `ambiguous`."""
    parts = []
    for name, ordering in zip(CONVENTIONS, ("ordering_released", "ordering"), strict=True):
        rows = pairs[pairs[name].notna()]
        unclear = rows[ordering].isin(AMBIGUOUS).astype(float).where(rows[ordering].notna())
        parts.append(rows.assign(convention=name, value=rows[name], ambiguous=unclear))
    return pd.concat(parts, ignore_index=True)


def pooled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, and all of them again against the other source `all`."""
    return pd.concat([rows, rows.assign(other="all")], ignore_index=True)
