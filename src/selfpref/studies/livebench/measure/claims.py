"""What the release prints and what its README claims, beside what the data say.

Both stand in data/published/livebench.csv, the claims in our own words, each with the judge it is
about and a name; a name is a rule below that reads the frames. A claim about a judge who is not in
the data is left out.
"""

from collections.abc import Callable, Mapping

import pandas as pd

from selfpref.studies.livebench.measure.panel import ALL
from selfpref.studies.livebench.measure.preferences import FIRST

Frames = Mapping[str, pd.DataFrame]
CLAIMS = ["claim", "judge", "verdict", "data"]
CHECKS = ["item", "category", "task", "judge", "responder", "published", "recomputed", "difference"]
HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"


def checks(frames: Frames, published: pd.DataFrame) -> pd.DataFrame:
    """The percentages that the release prints beside the recomputed ones, in the columns `CHECKS`.

    Differences are in points; a printed percentage is rounded to a tenth.
    """
    key = ["category", "task", "judge", "responder"]
    votes = frames["majority_vote"].query("rule == 'released'").assign(task=ALL, judge="")
    sources = {"share": frames["preference_shares"], "vote": votes}
    printed = published.assign(judge=published["judge"].fillna(""))
    parts = [
        printed[printed["item"].eq(item)].merge(found[[*key, "share"]], on=key)
        for item, found in sources.items()
    ]
    table = pd.concat(parts, ignore_index=True).rename(columns={"value": "published"})
    table["recomputed"] = 100 * table["share"]
    table["difference"] = table["recomputed"] - table["published"]
    return table[CHECKS]


def _listed(names: list[str]) -> str:
    return ", ".join(names) if names else "none"


def _where(frame: pd.DataFrame, **values: str) -> pd.DataFrame:
    """The rows that have these values."""
    for column, value in values.items():
        frame = frame[frame[column].eq(value)]
    return frame


def _tops(frames: Frames, **values: str) -> pd.DataFrame:
    """The responder that each judge chose most, by category and task."""
    shares = _where(frames["preference_shares"], **values)
    order = shares.sort_values("share", kind="stable", ascending=False)
    return order.drop_duplicates(["category", "task", "judge"])


def _plurality(frames: Frames, claim: pd.Series) -> tuple[str, str]:
    tops = _tops(frames, task=ALL, judge=claim["judge"])
    own = _where(tops, responder=claim["judge"])
    others = sorted(set(tops["category"]) - set(own["category"]))
    first = _where(frames["position"], quantity=FIRST, judge=claim["judge"], category=ALL)["share"]
    spread = f"{own['share'].min():.1%} to {own['share'].max():.1%}" if len(own) else "none"
    return (
        HOLDS if not others else FAILS if own.empty else PARTLY,
        f"The most frequent choice in {len(own)} of {len(tops)} categories ({spread}); not in: "
        f"{_listed(others)}. It chose the response that it read first in {first.mean():.1%}.",
    )


def _vote_lowers(frames: Frames, claim: pd.Series) -> tuple[str, str]:
    shares = _where(frames["preference_shares"], task=ALL, responder=claim["judge"])
    own = _where(shares, judge=claim["judge"]).set_index("category")["share"]
    mean = shares.groupby("category")["share"].mean()
    votes = _where(frames["majority_vote"], rule="released", responder=claim["judge"])
    vote = votes.set_index("category")["share"].reindex(own.index)
    lower = int(vote.lt(own).sum())
    above = int(vote.gt(mean.reindex(own.index)).sum())
    return (
        HOLDS if lower == len(own) else PARTLY if lower else FAILS,
        f"The vote is below the judge's own share in {lower} of {len(own)} categories, but above "
        f"the mean share over all judges in {above}.",
    )


def _never_first(frames: Frames, claim: pd.Series) -> tuple[str, str]:
    own = _where(_tops(frames, judge=claim["judge"]), responder=claim["judge"])
    whole = own[own["task"].eq(ALL)]
    tasks = [f"{row.task} {row.share:.1%}" for row in own[own["task"].ne(ALL)].itertuples()]
    return (
        HOLDS if own.empty else PARTLY if whole.empty else FAILS,
        f"The most frequent choice in {len(whole)} categories, and in these tasks: "
        f"{_listed(tasks)}.",
    )


def _prefers_other(frames: Frames, claim: pd.Series) -> tuple[str, str]:
    tops = _tops(frames, task=ALL, judge=claim["judge"])
    found = set(_where(tops, responder=claim["responder"])["category"])
    claimed = set(str(claim["category"]).split())
    return (
        HOLDS if found == claimed else PARTLY if found & claimed else FAILS,
        f"{claim['responder']} is its most frequent choice in: {_listed(sorted(found))}.",
    )


def _neutral(frames: Frames, claim: pd.Series) -> tuple[str, str]:
    own = _where(frames["excess"], task=ALL, judge=claim["judge"])
    away = own[own["lo"].gt(0) | own["hi"].lt(0)]
    told = [f"{row.category} {100 * row.excess:+.0f}" for row in away.itertuples()]
    return (
        HOLDS if away.empty else FAILS if 2 * len(away) > len(own) else PARTLY,
        "Points by which it chooses itself more than the other judges choose it, where the "
        f"interval excludes 0: {_listed(told)} ({len(away)} of {len(own)} categories).",
    )


RULES: dict[str, Callable[[Frames, pd.Series], tuple[str, str]]] = {
    "plurality": _plurality,
    "vote lowers": _vote_lowers,
    "never first": _never_first,
    "prefers other": _prefers_other,
    "neutral": _neutral,
}


def claims(frames: Frames, published: pd.DataFrame) -> pd.DataFrame:
    """Every claim about a judge at hand, in the columns `CLAIMS`.

    Args:
        frames: `preference_shares`, `majority_vote`, `excess` and `position`.
        published: data/published/livebench.csv.
    """
    judges = set(frames["preference_shares"]["judge"])
    found = []
    for _, claim in published[published["item"].isin(RULES)].iterrows():
        if claim["judge"] in judges:
            verdict, data = RULES[claim["item"]](frames, claim)
            found.append((f"{claim['judge']} {claim['text']}", claim["judge"], verdict, data))
    return pd.DataFrame(found, columns=CLAIMS)
