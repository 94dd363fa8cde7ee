"""Do verdicts follow perplexity, the judge's own or another reader's, or only who wrote the texts?

For a pair (A, B), a reader's log-perplexities of both responses given the prompt, and lengths,

    x = lppl(A) - lppl(B)                                     nats a token
    l = ln(1 + characters of A) - ln(1 + characters of B)
    y = 1/2, -1/2, 0: the judge (or the people) prefers A, prefers B, ties
    h = the people's vote, as y
    a_r: an effect of each responder r, whoever judges

and b is the slope in

    y = b x                                    `raw`
    y = b x + (a_A - a_B)                      `responders`
    y = b x + (a_A - a_B) + c l                `length`
    y = b x + (a_A - a_B) + c l + d h          `vote`; of judges alone

by least squares with errors clustered by question (`selfpref.statistics.regression`). There is no
intercept: whichever response is called A, all signs turn together, and b stays. Below 0 the less
predictable response loses.

The paper's x is the judge's own (`own`). Of most judges no perplexity can be had; x is then the
mean over the data set's readers that are not the judge (`outside`), a proxy: how predictable a
text is, not how predictable it is to the judge. Where responders differ in both, a slope over all
pairs tells who wrote the better texts as much as it tells of perplexity; `responders` takes that
away.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from selfpref.statistics.regression import fit
from selfpref.statistics.scores import PAIR, human_votes, names_of, response_perplexity
from selfpref.studies.wataoka.measure.by_perplexity import win_rates_by_bin
from selfpref.studies.wataoka.measure.judged import Judged

HUMAN = "human"
OWN, OUTSIDE = "own", "outside"
CONTROLS = ("raw", "responders", "length", "vote")


def sides(data: Judged) -> Iterator[tuple[tuple[str, str], pd.DataFrame]]:
    """Every pair with a vote or a verdict, its texts there, by who decided and by reader.

    Args:
        data: One data set, with perplexities.

    Yields:
        Who (a judge, or `human`) and reader (`own`, `outside`), and their rows: `item_id, first,
        second, cluster`, `readers` (the reader's name, or how many they are), `y`, `human` (-1/2,
        0, 1/2, NaN where nobody voted), `x`, `length`; y and x are NaN where there is no decision
        or no perplexity.
    """
    if data.tables["perplexities"].empty:
        return
    given = response_perplexity(data.tables["perplexities"], "log-perplexity")
    given = given[given["conditional"]]
    texts = data.tables["responses"].query("step == 0 and sample == 0")
    length = np.log1p(texts.set_index(["item_id", "responder"])["length"])
    votes = human_votes(data.tables["labels"]).merge(
        data.tables["items"][["item_id", "cluster"]], on="item_id"
    )
    # Votes on texts that are not there say nothing about texts.
    votes = votes[_difference(length, votes).notna()]
    voted = votes.assign(judge=HUMAN, decision=votes["human"])
    for who in sorted({*names_of(data.pairs["judge"]), *names_of(voted["judge"])}):
        rows = voted if who == HUMAN else data.pairs[data.pairs["judge"].eq(who)]
        for reader, read in ((OUTSIDE, given["judge"].ne(who)), (OWN, given["judge"].eq(who))):
            mine = given[read]
            if mine.empty:
                continue
            mean = mine.groupby(["item_id", "responder"])["value"].mean()
            yield (
                (who, reader),
                rows[[*PAIR, "cluster"]].assign(
                    readers=_named(sorted(set(mine["judge"]))),
                    y=rows["decision"] - 0.5,
                    human=rows["human"] - 0.5,
                    x=_difference(mean, rows),
                    length=_difference(length, rows),
                ),
            )


def to_outsiders(data: Judged, rows: pd.DataFrame, judge: str) -> pd.Series:
    """X of pairs to the data set's readers that are not the judge; NaN where none read both texts.

    Args:
        data: One data set.
        rows: Pairs, with `item_id, first, second`.
        judge: Who judges them.
    """
    values = _of_outsiders(data, judge)
    return pd.Series(np.nan, index=rows.index) if values.empty else _difference(values, rows)


def outside_reader(data: Judged) -> pd.DataFrame:
    """The slope b of each judge and of the people, by reader and by what is controlled for.

    Args:
        data: One data set, with perplexities.

    Returns:
        `dataset, who, reader, readers, control` (of `CONTROLS`), `slope, slope_lo, slope_hi` (in
        preference a nat a token), `spread` (standard deviation of x), `n, n_dropped` (pairs without
        a decision or a perplexity).
    """
    rows = []
    for (who, reader), every in sides(data):
        used = every[every[["x", "y", "length"]].notna().all(axis=1)]
        for control in CONTROLS:
            if control == "vote" and who == HUMAN:
                continue
            kept = used if control != "vote" else used[used["human"].notna()]
            found = fit(
                kept["y"].to_numpy(float),
                _design(kept, control),
                kept["cluster"],
                ["x"],
                data.bootstrap.level,
            )["x"]
            rows.append(
                {"dataset": data.name, "who": who, "reader": reader}
                | {"readers": every["readers"].iloc[0], "control": control}
                | {"slope": found.value, "slope_lo": found.lo, "slope_hi": found.hi}
                | {"spread": kept["x"].std(), "n": len(kept), "n_dropped": len(every) - len(kept)}
            )
    return pd.DataFrame(rows)


def outside_win_rates(data: Judged) -> pd.DataFrame:
    """Fig. 3 with outside readers: `win_rates_by_bin` as if their perplexity were the judge's own.

    Args:
        data: One data set, with perplexities.
    """

    def read(data: Judged, judge: str) -> pd.DataFrame:
        values = _of_outsiders(data, judge)
        values = values if data.settings.scale == "log-perplexity" else np.exp(values)
        return values.reset_index().assign(judge=judge, conditional=True)

    return win_rates_by_bin(data, read)


def _of_outsiders(data: Judged, judge: str) -> pd.Series:
    """Mean log-perplexity of each response to the readers that are not the judge."""
    values = response_perplexity(data.tables["perplexities"], "log-perplexity")
    read = values[values["conditional"] & values["judge"].ne(judge)]
    return read.groupby(["item_id", "responder"])["value"].mean()


def _named(readers: list[str]) -> str:
    return readers[0] if len(readers) == 1 else f"{len(readers)} models"


def _difference(of: pd.Series, pairs: pd.DataFrame) -> pd.Series:
    """The first response's value minus the second's; NaN where one of them has none."""
    first, second = (
        of.reindex(pd.MultiIndex.from_frame(pairs[["item_id", side]])).to_numpy(float)
        for side in ("first", "second")
    )
    return pd.Series(first - second, index=pairs.index)


def _design(rows: pd.DataFrame, control: str) -> pd.DataFrame:
    """The columns of a fit: x, and all controls up to the named one."""
    wanted = CONTROLS.index(control)
    design = {"x": rows["x"]}
    if wanted >= CONTROLS.index("responders"):
        names = sorted({*rows["first"], *rows["second"]})
        # The effects are relative to the first responder's.
        for name in names[1:]:
            is_first, is_second = rows["first"].eq(name), rows["second"].eq(name)
            design[f"responder {name}"] = is_first.astype(float) - is_second.astype(float)
    if wanted >= CONTROLS.index("length"):
        design["length"] = rows["length"]
    if wanted >= CONTROLS.index("vote"):
        design["human"] = rows["human"]
    return pd.DataFrame(design)
