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

by least squares with errors clustered by question (`selfpref.statistics.regression`). There is no
intercept: whichever response is called A, all signs turn together, and b stays. Below 0 the less
predictable response loses. Where responders differ in predictability and in quality, a slope over
all pairs tells who wrote the better texts as much as it tells of perplexity; `responders` takes
that away. Either way it is an association: a text may be probable for reasons that also make it
good.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from selfpref.seeds import seed_of
from selfpref.statistics.bias import (
    PAIR,
    by_judge,
    gap,
    human_votes,
    names_of,
    response_perplexity,
    text_lengths,
)
from selfpref.statistics.bootstrap import Floats, bounded, ratio
from selfpref.statistics.effects import between
from selfpref.statistics.judged import Binning, Judged
from selfpref.statistics.regression import fit, slope_of_sums
from selfpref.statistics.shares import share_interval
from selfpref.statistics.threads import at_once

WHO, HUMAN = ("judge", "human"), "human"
OWN, OUTSIDE = "own", "outside"
CONTROLS = ("raw", "responders", "length", "vote")
RATES = [
    *("dataset", "judge", "pairs", "who", "bin", "left", "right", "x", "n"),
    *(*bounded("win_rate"), "n_dropped"),
]
SLOPES = [
    *("dataset", "judge", "pairs", "who", *bounded("slope", "controlled"), "n", "n_dropped"),
]
TEXTS = [
    *("dataset", "judge", "view", "conditional", *bounded("own", "other", "gap")),
    *("n", "n_dropped"),
]
READERS = [
    *("dataset", "who", "reader", "readers", "control", *bounded("slope"), "spread"),
    *("n", "n_dropped"),
]


def read_by(data: Judged, who: str, reader: str) -> tuple[list[str], pd.Series]:
    """Mean log-perplexity of each text, given its prompt.

    Args:
        data: One data set.
        who: Who judges.
        reader: `own`, the judge itself, or `outside`, all readers but the judge.

    Returns:
        The readers, and nats a token by (item_id, responder).
    """
    scored = data.tables["perplexities"]
    scored = scored[scored["conditional"] & (scored["judge"].eq(who) == (reader == OWN))]
    values = response_perplexity(scored, "log-perplexity")
    means = values.groupby(["item_id", "responder"])["value"].mean()
    return names_of(values["judge"]), means


def pair_differences(pairs: pd.DataFrame, values: pd.Series, quality: pd.Series) -> pd.DataFrame:
    """Each judged pair with the difference in perplexity, one of its responses drawn as A.

    Args:
        pairs: As `judged_pairs` returns them.
        values: Perplexity by (item_id, responder).
        quality: True quality by (item_id, responder); may be empty.

    Returns:
        `item_id, judge, cluster, own` (the pair holds the judge's response), `own_is_b` (and it
        was drawn as B), `x`, `judge_wins`, `human_wins` (for A), `q` (difference in quality, else
        the human's vote as -1, 0, 1).
    """
    own_second = pairs["second"].eq(pairs["judge"])
    names = zip(*(pairs[column] for column in PAIR), strict=True)
    drawn = np.array([seed_of(*key) % 2 == 1 for key in names], dtype=bool)
    held = 2 * pairs["human"] - 1 if quality.empty else gap(quality, pairs)
    rows = pairs[["item_id", "judge", "cluster"]].assign(
        own=own_second | pairs["first"].eq(pairs["judge"]),
        x=gap(values, pairs),
        judge_wins=pairs["decision"],
        human_wins=pairs["human"],
        q=held,
    )
    return turned(rows, drawn).assign(own_is_b=rows["own"] & (own_second != drawn))


def turned(rows: pd.DataFrame, which: pd.Series | np.ndarray) -> pd.DataFrame:
    """The same pairs, some of them with A and B the other way round."""
    signed = {name: rows[name].where(~which, -rows[name]) for name in ("x", "q")}
    wins = {name: rows[name].where(~which, 1 - rows[name]) for name in ("judge_wins", "human_wins")}
    return rows.assign(**signed, **wins)


def parts(data: Judged, reader: str = OWN) -> Iterator[tuple[str, dict[str, pd.DataFrame]]]:
    """Of each judge the judged pairs that enter: with both perplexities, a decision and a vote.

    Ties enter as the settings say. Where people voted on none of the pairs, the judge stands alone.

    Args:
        data: One data set.
        reader: Whose perplexity, as in `read_by`.

    Yields:
        The judge, and by name `all` pairs that enter, those with the judge's `own` response (which
        is A) and all `other` ones, where there are any: as `pair_differences` returns them, with
        `n_dropped`, how many of the part do not enter.
    """
    use, quality = data.settings, data.truth("quality")
    for judge, mine in by_judge(data.pairs):
        _, values = read_by(data, judge, reader)
        values = values if use.scale == "log-perplexity" else np.exp(values)
        rows = pair_differences(mine, values, quality)
        decided, voted = (
            rows[f"{who}_wins"].notna() & (rows[f"{who}_wins"].ne(0.5) | (ties == "half"))
            for who, ties in (("judge", use.judge_ties), ("human", use.human_ties))
        )
        decided &= rows["x"].notna()
        own = rows["own"]
        found = {}
        for name, part in (
            ("all", rows),
            ("own", turned(rows[own], rows.loc[own, "own_is_b"])),
            ("other", rows[~own]),
        ):
            asked = part["human_wins"].notna().any()
            kept = part[(decided & voted if asked else decided)[part.index]]
            if len(kept):
                found[name] = kept.assign(n_dropped=len(part) - len(kept))
        if found:
            yield judge, found


def bin_edges(x: pd.Series, bins: int, binning: Binning) -> Floats:
    """Edges of `bins` bins of equal width (between the extremes) or of equal count.

    Args:
        x: The differences, one at least, without NaN.
        bins: How many; equal counts may give fewer where many values are equal.
        binning: `width` or `count`.

    Returns:
        Rising; two equal ones, of one bin, where all values are equal.
    """
    if binning == "width":
        edges = np.linspace(x.min(), x.max(), bins + 1)
    else:
        edges = np.quantile(x, np.linspace(0, 1, bins + 1))
    distinct: Floats = np.unique(edges)
    return distinct if len(distinct) > 1 else distinct.repeat(2)


def win_rates_by_bin(sets: Sequence[Judged], reader: str = OWN) -> pd.DataFrame:
    """Figs. 3, 4 and 6: share of wins of A by bin of x, for the judge and the human.

    Args:
        sets: The data sets.
        reader: Whose perplexity, as in `read_by`.

    Returns:
        `dataset, judge, pairs` (`all`, `own`, `other`), `who` (`judge`, `human`), `bin`, `left`,
        `right`, `x` (mean), `n`, `win_rate, win_rate_lo, win_rate_hi`, `n_dropped` (of the judge
        and part, not of the bin). The bins of a judge are the same for all pairs, own and other.
        Where nobody voted on any pair of a part, its rows are the judge's alone.
    """
    rows = []
    for data in sets:
        use = data.settings
        for judge, found in parts(data, reader):
            edges = bin_edges(next(iter(found.values()))["x"], use.bins, use.binning)
            for pairs, part in found.items():
                inner = np.searchsorted(edges, part["x"], side="right") - 1
                for number, cell in part.groupby(np.clip(inner, 0, len(edges) - 2)):
                    for who in _who(part):
                        won = share_interval(
                            cell[f"{who}_wins"], cell["cluster"], data.bootstrap.level
                        )
                        rows.append(
                            {"dataset": data.name, "judge": judge, "pairs": pairs, "who": who}
                            | {"bin": number, "left": edges[number], "right": edges[number + 1]}
                            | {"x": cell["x"].mean(), "n": len(cell), **won.columns("win_rate")}
                            | {"n_dropped": cell["n_dropped"].iloc[0]}
                        )
    return pd.DataFrame(rows, columns=RATES)


def _who(part: pd.DataFrame) -> tuple[str, ...]:
    return WHO if part["human_wins"].notna().any() else WHO[:1]


def products(x: Floats, q: Floats, y: Floats) -> Floats:
    """What a pair adds to the sums of products of 1, x, q and y: `[rows, 4, 4]`."""
    columns = np.stack([np.ones_like(x), x, q, y], axis=-1)
    found: Floats = columns[:, :, None] * columns[:, None, :]
    return found


def both_slopes(sums: Floats) -> list[Floats]:
    """The slope of y on x, raw and with q held, from sums of `products`, `[..., 4, 4]`."""
    raw, held = [0, 1, 3], [0, 2, 1, 3]
    return [slope_of_sums(sums[..., columns, :][..., columns]) for columns in (raw, held)]


def _slopes(totals: Floats) -> Floats:
    """Slope, controlled slope, of judge, human, difference: `[..., 2, 4, 4]` to `[..., 6]`."""
    found = [part for each in both_slopes(totals) for part in (each, each[..., :1] - each[..., 1:])]
    return np.concatenate(found, axis=-1)


def slopes(sets: Sequence[Judged]) -> pd.DataFrame:
    """Slopes of wins on x, raw and with quality controlled, for judge, human and their difference.

    Returns:
        `dataset, judge, pairs, who` (`judge`, `human`, `judge - human`), `slope, slope_lo,
        slope_hi, controlled, controlled_lo, controlled_hi, n, n_dropped`; the judge alone where
        nobody voted.
    """
    rows = []
    for data in sets:
        for judge, found in parts(data):
            asked = [(data, judge, pairs, part) for pairs, part in found.items()]
            rows += [row for made in at_once(_slopes_of, asked) for row in made]
    return pd.DataFrame(rows, columns=SLOPES)


def _slopes_of(data: Judged, judge: str, pairs: str, part: pd.DataFrame) -> list[dict[str, object]]:
    # Without a vote there is no quality to control for: a column of zeros has no slope.
    x, q, *wins = part[["x", "q", "judge_wins", "human_wins"]].fillna(0.0).to_numpy(float).T
    values = np.stack([products(x, q, y) for y in wins], axis=1)
    found = data.bootstrap.estimates(values, part["cluster"], _slopes, "slopes", judge, pairs)
    who = (*WHO, "judge - human") if len(_who(part)) > 1 else WHO[:1]
    return [
        {"dataset": data.name, "judge": judge, "pairs": pairs, "who": one}
        | {**raw.columns("slope"), **held.columns("controlled")}
        | {"n": len(part), "n_dropped": part["n_dropped"].iloc[0]}
        for one, raw, held in zip(who, found[:3], found[3:], strict=False)
    ]


def log_perplexity(sets: Sequence[Judged]) -> pd.DataFrame:
    """Fig. 5: mean log-perplexity of own and others' texts.

    By row (`view` judge): one judge reads its own responses and the others'. By column (`view`
    text): one responder's texts are read by itself and by the other judges. The second compares
    the same texts, so that easy texts do not pass for familiar ones.

    Returns:
        `dataset, judge, view, conditional, own, own_lo, own_hi, other, other_lo, other_hi, gap,
        gap_lo, gap_hi` (nats a token), `n, n_dropped`; judges without responses have no `own`.
    """
    asked = []
    for data in sets:
        values = response_perplexity(data.tables["perplexities"], "log-perplexity")
        values = values.merge(data.tables["items"][["item_id", "cluster"]], on="item_id")
        for conditional, part in values.groupby("conditional"):
            # A reader that judges nothing here has no figure of its own.
            for judge in sorted(set(part["judge"]) & set(data.pairs["judge"])):
                for view, who in (("judge", "judge"), ("text", "responder")):
                    place = (data, view, judge, str(conditional))
                    asked.append((*place, part[part[who].eq(judge)]))
    found = at_once(_own_and_other, asked)
    return pd.DataFrame([row for row in found if row], columns=TEXTS)


def _own_and_other(
    data: Judged, view: str, judge: str, conditional: str, read: pd.DataFrame
) -> dict[str, object]:
    known = read[read["value"].notna()]
    own = known["responder"].eq(known["judge"]).to_numpy()
    value = known["value"].to_numpy(dtype=float)
    sums = np.stack([value * own, own, value * ~own, ~own], axis=-1)
    names = (view, judge, conditional)
    found = data.bootstrap.estimates(sums, known["cluster"], _own_other_gap, *names)
    row: dict[str, object] = {"dataset": data.name, "judge": judge, "view": view}
    for name, interval in zip(("own", "other", "gap"), found, strict=True):
        row |= interval.columns(name)
    row |= {"conditional": conditional == "True", "n": len(known)}
    return {**row, "n_dropped": len(read) - len(known)} if len(read) else {}


def _own_other_gap(totals: Floats) -> Floats:
    """Means of own and other, and other minus own: positive where own texts are more probable."""
    own, other = ratio(totals[..., 0:2]), ratio(totals[..., 2:4])
    return np.stack([own, other, other - own], axis=-1)


def sides(data: Judged) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Every pair with a vote or a verdict, its texts there, by who decided and by reader.

    Args:
        data: One data set.

    Yields:
        Who (a judge, or `human`), reader (`own`, `outside`) and their rows: `item_id, first,
        second, cluster`, `readers` (the reader's name, or how many they are), `y`, `human` (-1/2,
        0, 1/2, NaN where nobody voted), `x`, `length`; y and x are NaN where there is no decision
        or no perplexity.
    """
    if data.tables["perplexities"].empty:
        return
    responses, items = data.tables["responses"], data.tables["items"]
    length = text_lengths(responses, responses["length"])
    votes = human_votes(data.tables["labels"]).merge(items[["item_id", "cluster"]], on="item_id")
    # Votes on texts that are not there say nothing about texts.
    votes = votes[gap(length, votes).notna()].assign(judge=HUMAN, decision=votes["human"])
    for who in names_of(data.pairs["judge"], votes["judge"]):
        rows = votes if who == HUMAN else data.pairs[data.pairs["judge"].eq(who)]
        for reader in (OUTSIDE, OWN):
            readers, values = read_by(data, who, reader)
            if readers:
                yield (
                    *(who, reader),
                    rows[[*PAIR, "cluster"]].assign(
                        readers=readers[0] if len(readers) == 1 else f"{len(readers)} models",
                        y=rows["decision"] - 0.5,
                        human=rows["human"] - 0.5,
                        x=gap(values, rows),
                        length=gap(length, rows),
                    ),
                )


def outside_reader(sets: Sequence[Judged]) -> pd.DataFrame:
    """The slope b of each judge and of the people, by reader and by what is controlled for.

    Returns:
        `dataset, who, reader, readers, control` (of `CONTROLS`), `slope, slope_lo, slope_hi` (in
        preference a nat a token), `spread` (standard deviation of x), `n, n_dropped` (pairs without
        a decision or a perplexity).
    """
    rows = []
    for data in sets:
        for who, reader, every in sides(data):
            for control in CONTROLS if who != HUMAN else CONTROLS[:-1]:
                design = _design(every, control)
                used = every[["x", "y", "length"]].notna().all(axis=1)
                used &= design.notna().all(axis=1)
                kept = every[used]
                y, level = kept["y"].to_numpy(float), data.bootstrap.level
                found = fit(y, design[used], kept["cluster"], ["x"], level)["x"]
                rows.append(
                    {"dataset": data.name, "who": who, "reader": reader, "control": control}
                    | {"readers": every["readers"].iloc[0], "spread": kept["x"].std()}
                    | {
                        **found.columns("slope"),
                        "n": len(kept),
                        "n_dropped": len(every) - len(kept),
                    }
                )
    return pd.DataFrame(rows, columns=READERS)


def _design(rows: pd.DataFrame, control: str) -> pd.DataFrame:
    """The columns of a fit: x, and all controls up to the named one."""
    columns = [rows[["x"]], between(rows), rows[["length"]], rows[["human"]]]
    return pd.concat(columns[: CONTROLS.index(control) + 1], axis=1)
