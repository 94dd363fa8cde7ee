"""How verdicts depend on perplexity, and whose texts are probable: Figs. 3 to 6, and controls.

For a pair (A, B), a reader's log-perplexities of both responses given the prompt, and lengths,

    x = lppl(A) - lppl(B)          lppl = sum of NLL / tokens, in nats   (or exp of it)
    y = 1, 0, 1/2: A wins, loses, ties (the judge's decision; the human's vote beside it)
    l = ln(1 + characters of A) - ln(1 + characters of B)

The paper's reader is the judge itself (`own`): it bins x and compares the share of wins of judge
and human in each bin. Which response is A is drawn from the content of the pair, so that no
responder always stands on one side. Only where pairs with the judge's own response are looked at
alone (Fig. 4) that response is A. Of most judges no perplexity can be had; x is then the mean over
the data set's readers that are not the judge (`outside`), a proxy: how predictable a text is, not
how predictable it is to the judge.

`slopes` has the linear probability model y = a + b x, and with quality controlled
y = a + b x + c q, where q is the difference in true quality (the oracle's where there is one, else
the human's vote). Both are functions of sums, so the cluster bootstrap is exact and vectorised.
`outside_reader` has, with y from -1/2 to 1/2, a_r an effect of each responder r, whoever judges,
and h the people's vote,

    y = b x                                    `raw`
    y = b x + (a_A - a_B)                      `responders`
    y = b x + (a_A - a_B) + c l                `length`
    y = b x + (a_A - a_B) + c l + d h          `vote`; of judges alone

by least squares with errors clustered by question (`selfpref.statistics.bootstrap`). There is no
intercept: whichever response is called A, all signs turn together, and b stays. Below 0 the less
predictable response loses. Where responders differ in predictability and in quality, a slope over
all pairs tells who wrote the better texts as much as it tells of perplexity; `responders` takes
that away. Either way it is an association: a text may be probable for reasons that also make it
good.
"""

from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref.seeds import seed_of
from selfpref.statistics import bias
from selfpref.statistics.bias import PAIR, between, gap
from selfpref.statistics.bootstrap import (
    Floats,
    bounded,
    fit,
    group_shares,
    intervals,
    means_and_difference,
    slope_of_sums,
)
from selfpref.statistics.judged import Binning, Judged
from selfpref.studies.wataoka.pairs import Sets, stacked

# Who prefers one of two texts, and the column of it.
WHO, HUMAN = {"judge": "decision", "human": "human"}, "human"
# What a column says of A and of B adds up to this.
BOTH = {"x": 0, "q": 0, "decision": 1, "human": 1}
OWN, OUTSIDE = "own", "outside"
PARTS = pd.CategoricalDtype(["all", "own", "other"])
BY = ["dataset", "judge", "pairs"]
RATES = [*BY, "who", "bin", "left", "right", "x", "n", *bounded("win_rate"), "n_dropped"]
SLOPES = [*BY, "who", *bounded("slope", "controlled"), "n", "n_dropped"]
VALUES = ("own", "other", "gap")
# Whose texts a judge's are held against: those that it reads, or its own as others read them.
VIEWS = {"judge": "judge", "text": "responder"}
TEXTS = ["dataset", "judge", "view", "conditional", *bounded(*VALUES), "n", "n_dropped"]
READERS = ["dataset", "who", "reader", "readers", "control"]
READERS += [*bounded("slope"), "spread", "n", "n_dropped"]


def read_by(data: Judged, who: str, reader: str) -> tuple[list[str], pd.Series]:
    """Mean log-perplexity of each text, given its prompt.

    Args:
        data: One data set.
        who: Who judges.
        reader: `own`, the judge itself, or `outside`, all readers but the judge.

    Returns:
        The readers, and nats a token by (item_id, responder).
    """
    scored = data.tables["perplexities"].query("conditional")
    scored = scored[scored["judge"].eq(who) == (reader == OWN)]
    values = bias.response_perplexity(scored)
    means = values.groupby(["item_id", "responder"])["value"].mean()
    return bias.names_of(values["judge"]), means


def turned(rows: pd.DataFrame, where: npt.ArrayLike) -> pd.DataFrame:
    """The same pairs, with A and B the other way round where the mask is true."""
    return rows.assign(
        **{name: rows[name].mask(where, total - rows[name]) for name, total in BOTH.items()}
    )


def entering(data: Judged, reader: str = OWN) -> pd.DataFrame:
    """The judged pairs that enter: with both perplexities, a decision and a vote.

    Ties enter as the settings say. Where people voted on none of the pairs, the judge stands alone.

    Args:
        data: One data set.
        reader: Whose perplexity, as in `read_by`.

    Returns:
        `dataset, judge, cluster`, `pairs`, the part (each pair as one of `all`, and as one with the
        judge's `own` response, which is A, or of the `other` ones), `x`, `decision` and `human`
        (1 where A wins), `q` (difference in true quality, else the human's vote as -1, 0, 1),
        `voted` (whether people voted on any of the judge's part) and `n_dropped` (how many of it do
        not enter).
    """
    pairs = data.pairs
    quality = data.truth("quality")
    x = [pd.Series(dtype=float)]
    logs = data.settings.scale == "log-perplexity"
    for judge, mine in pairs.groupby("judge"):
        _, values = read_by(data, str(judge), reader)
        x.append(gap(values if logs else np.exp(values), mine))
    rows = pairs[["judge", "cluster", *WHO.values()]].assign(
        dataset=data.name,
        x=pd.concat(x),
        q=2 * pairs["human"] - 1 if quality.empty else gap(quality, pairs),
    )
    own_is_b = pairs["second"].eq(pairs["judge"])
    own = own_is_b | pairs["first"].eq(pairs["judge"])
    odd = [seed_of(*key) % 2 == 1 for key in pairs[PAIR].to_numpy()]
    drawn = turned(rows, np.array(odd, dtype=bool))
    parts = {"all": drawn, "own": turned(rows, own_is_b)[own], "other": drawn[~own]}
    rows = pd.concat([part.assign(pairs=name) for name, part in parts.items()], ignore_index=True)
    rows["voted"] = rows.groupby(BY)["human"].transform("count").gt(0)
    # Where nobody voted, it is as if people preferred A.
    cells = data.cells(rows.assign(human=rows["human"].where(rows["voted"], 1.0)))
    enters = rows["x"].notna() & (cells.sum(axis=1) > 0)
    rows["n_dropped"] = rows.assign(out=~enters).groupby(BY)["out"].transform("sum")
    return rows[enters].astype({"pairs": PARTS})


def bin_edges(x: pd.Series, bins: int, binning: Binning) -> Floats:
    """Edges of `bins` bins of equal width (between the extremes) or of equal count.

    Args:
        x: The differences, one at least, without NaN.
        bins: How many; equal counts may give fewer where many values are equal.
        binning: `width` or `count`.

    Returns:
        Rising; two equal ones, of one bin, where all values are equal.
    """
    quantiles = np.linspace(0, 1, bins + 1)
    edges = np.quantile([x.min(), x.max()] if binning == "width" else x, quantiles)
    distinct: Floats = np.unique(edges)
    return distinct if len(distinct) > 1 else distinct.repeat(2)


def win_rates_by_bin(sets: Sets, reader: str = OWN, *, together: bool = False) -> pd.DataFrame:
    """Figs. 3, 4 and 6: share of wins of A by bin of x, for the judge and the human.

    Args:
        sets: The data sets.
        reader: Whose perplexity, as in `read_by`.
        together: Whether the judges of a data set count as one, `all judges`.

    Returns:
        `dataset, judge, pairs` (`all`, `own`, `other`), `who` (`judge`, `human`), `bin`, `left`,
        `right`, `x` (mean), `n`, `win_rate, win_rate_lo, win_rate_hi`, `n_dropped` (of the judge
        and part, not of the bin). The bins of a judge are the same for all pairs, own and other.
        Where nobody voted on any pair of a part, its rows are the judge's alone.
    """
    found, by = [], [*BY, "bin"]
    for data in sets:
        rows = entering(data, reader)
        if together and len(rows):
            lost = rows.drop_duplicates(BY).groupby("pairs", observed=True)["n_dropped"].sum()
            rows = rows.assign(judge="all judges", n_dropped=rows["pairs"].map(lost).astype(int))
        for _, mine in rows.groupby("judge"):
            first = mine[mine["pairs"].eq(mine["pairs"].iloc[0])]
            edges = bin_edges(first["x"], data.settings.bins, data.settings.binning)
            place = np.searchsorted(edges, mine["x"], side="right") - 1
            part = mine.assign(bin=place.clip(0, len(edges) - 2))
            means = part.groupby(by, observed=True).agg({"x": "mean", "n_dropped": "first"})
            long = part.melt([*by, "cluster"], [*WHO.values()], "who", "won")
            rates = group_shares(long, [*by, "who"], "won", data.bootstrap.level)
            rates.columns = [*by, "who", *bounded("win_rate"), "n"]
            rates = rates[rates["n"].gt(0)].astype({"bin": int}).join(means, on=by)
            rates["who"] = rates["who"].replace("decision", "judge")
            rates["left"], rates["right"] = edges[rates["bin"]], edges[rates["bin"] + 1]
            found.append(rates)
    return stacked(found, RATES)


def _slopes(totals: Floats) -> Floats:
    """Slope, controlled slope, of judge, human, difference: `[..., 2, 4, 4]` to `[..., 6]`.

    From sums of products of 1, x, q and y.
    """
    found = []
    for columns in ([0, 1, 3], [0, 2, 1, 3]):
        each = slope_of_sums(totals[..., columns, :][..., columns])
        found += [each, each[..., :1] - each[..., 1:]]
    return np.concatenate(found, axis=-1)


def slopes(sets: Sets) -> pd.DataFrame:
    """Slopes of wins on x, raw and with quality controlled, for judge, human and their difference.

    Returns:
        `dataset, judge, pairs, who` (`judge`, `human`, `judge - human`), `slope, slope_lo,
        slope_hi, controlled, controlled_lo, controlled_hi, n, n_dropped`; the judge alone where
        nobody voted.
    """
    rows = []
    for data in sets:
        for key, part in entering(data).groupby(BY, observed=True):
            # Without a vote there is no quality to control for: a column of zeros has no slope.
            x, q, *wins = part[[*BOTH]].fillna(0).to_numpy(float).T
            columns = np.stack([[np.ones_like(x), x, q, y] for y in wins]).transpose(2, 0, 1)
            products = columns[..., :, None] * columns[..., None, :]
            found = data.bootstrap.estimates(products, part["cluster"], _slopes, "slopes", *key[1:])
            told = dict(zip(BY, key, strict=True)) | {"n": len(part)}
            told["n_dropped"] = part["n_dropped"].iloc[0]
            for place, who in enumerate((*WHO, "judge - human")[: 3 if part["voted"].any() else 1]):
                both = intervals(("slope", "controlled"), found[place::3])
                rows.append({**told, "who": who, **both})
    return pd.DataFrame(rows, columns=SLOPES)


def log_perplexity(sets: Sets) -> pd.DataFrame:
    """Fig. 5: mean log-perplexity of own and others' texts.

    By row (`view` judge): one judge reads its own responses and the others'. By column (`view`
    text): one responder's texts are read by itself and by the other judges. The second compares
    the same texts, so that easy texts do not pass for familiar ones.

    Returns:
        `dataset, judge, view, conditional, own, own_lo, own_hi, other, other_lo, other_hi, gap,
        gap_lo, gap_hi` (nats a token), `n, n_dropped`; judges without responses have no `own`.
    """
    rows = []
    for data in sets:
        values = bias.response_perplexity(data.tables["perplexities"])
        values = values.merge(data.tables["items"][["item_id", "cluster"]], on="item_id")
        for conditional, every in values.groupby("conditional"):
            # A reader that judges nothing here has no figure of its own.
            judges = [name for name in data.readers if every["judge"].eq(name).any()]
            for judge, (view, who) in product(judges, VIEWS.items()):
                read = every[every[who].eq(judge)]
                if read.empty:
                    continue
                known = read.dropna(subset="value")
                itself = known["responder"].eq(known["judge"])
                own = np.stack([itself, ~itself], axis=-1)
                sums = np.stack([own * known[["value"]].to_numpy(float), own], axis=-1)
                place = known["cluster"], means_and_difference, view, judge, str(conditional)
                row = {"dataset": data.name, "judge": judge, "view": view, "n": len(known)}
                row |= {"conditional": conditional, "n_dropped": len(read) - len(known)}
                rows.append(row | intervals(VALUES, data.bootstrap.estimates(sums, *place)))
    return pd.DataFrame(rows, columns=TEXTS)


def outside_reader(sets: Sets) -> pd.DataFrame:
    """The slope b of each judge and of the people, by reader and by what is controlled for.

    Returns:
        `dataset, who, reader, readers` (the reader's name, or how many they are), `control` (of
        the four), `slope, slope_lo, slope_hi` (in preference a nat a token), `spread` (standard
        deviation of x), `n, n_dropped` (pairs without a decision or a perplexity).
    """
    found = []
    for data in sets:
        items = data.tables["items"][["item_id", "cluster"]]
        length = bias.text_lengths(data.tables["responses"])
        votes = bias.human_votes(data.tables["labels"]).merge(items, on="item_id")
        # Votes on texts that are not there say nothing about texts.
        votes = votes[gap(length, votes).notna()].assign(judge=HUMAN, decision=votes["human"])
        every = pd.concat([data.pairs, votes], ignore_index=True)
        for (who, rows), reader in product(every.groupby("judge"), (OUTSIDE, OWN)):
            readers, values = read_by(data, str(who), reader)
            if not readers:
                continue
            texts = between(rows).iloc[:, 1:].add_prefix("text of ")
            pairs = rows.join(texts).assign(
                y=rows["decision"] - 0.5,
                x=gap(values, rows),
                length=gap(length, rows),
                vote=rows["human"] - 0.5,
            )
            told = {"dataset": data.name, "who": who, "reader": reader}
            told["readers"] = readers[0] if len(readers) == 1 else f"{len(readers)} models"
            held = {"raw": ["x"], "responders": [*texts], "length": ["length"]}
            design: list[str] = []
            for control, more in (held if who == HUMAN else held | {"vote": ["vote"]}).items():
                design += more
                used = pairs.dropna(subset=["y", "length", *design])
                of = used["y"].to_numpy(float), used[design], used["cluster"]
                slope = fit(*of, ["x"], data.bootstrap.level)["x"].columns("slope")
                row = told | {"control": control, "spread": used["x"].std(), "n": len(used)}
                found.append(row | slope | {"n_dropped": len(pairs) - len(used)})
    return pd.DataFrame(found, columns=READERS)
