"""What the pictures call statistics, gold labels, data sets and judges, and how they look."""

import re
from collections.abc import Iterable

import pandas as pd

from selfpref.plots import names
from selfpref.plots.frame import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, Look
from selfpref.studies.panickssery.draw import names as panickssery
from selfpref.studies.xu.draw import names as xu
from selfpref.tables.schemas import PANEL

# Colour and marker of each gold label.
GOLDS = {
    "no gold label": Look(GREY, "s"),
    "gold: human": Look(BLUE),
    "gold: oracle": Look(ORANGE, "D"),
    "gold: answer key, strict": Look(GREEN, "^"),
    "gold: answer key, tolerant": Look(PURPLE, "v"),
    "gold: a panel of judges": Look(BLACK, "P"),
}
KINDS = ("none", "human", "oracle", "key-strict", "key-tolerant", PANEL)
LABELS = dict(zip(KINDS, GOLDS, strict=True))
# The statistics in their order, as the figures name them.
NAMES = {
    "demographic_parity": "demographic parity",
    "equal_length": "equal length",
    "paired_excess": "paired excess",
    "equal_opportunity": "equal opportunity",
    "excess": "excess, own pairs",
    "excess_common": "excess, common pairs",
    "excess_half_ties": "excess, ties as half",
    "beyond_no_preference": "EO beyond another person's",
    "gold_gap": "DBG score",
    "regression": "regression",
    "regression_length": "regression, controlling for length",
    "regression_scaled": "regression, scale by judge",
    "equal_quality": "equal quality",
    "harmful": "harmful",
    "neutral": "neutral",
    "legitimate": "legitimate",
}
# Where a judge of pairs without any preference for its own stands, if it follows the gold label.
RATES = {"harmful": 0.0, "neutral": 0.5, "legitimate": 1.0}
KNOWN = {**panickssery.TITLES, "livebench": "LiveBench", **xu.MODELS}
HOLLOW = "too few: under ten rows, or pairs on one human side"


def called(name: str) -> str:
    """A data set, judge or responder by the name that readers know."""
    (found,) = names.called([name])
    return KNOWN.get(name, name) if found == name else found


def by_family(given: Iterable[str]) -> list[str]:
    """Names in the order of the alphabet, and of their numbers: families stay together.

    >>> by_family(["Llama2-13B", "GPT-4", "Llama2-7B", "GPT-3.5"])
    ['GPT-3.5', 'GPT-4', 'Llama2-7B', 'Llama2-13B']
    """

    def key(name: str) -> list[tuple[float, str]]:
        parts = re.findall(r"\d+(?:\.\d+)?|\D+", name.lower())
        return [(float(part), "") if part[0].isdigit() else (-1.0, part) for part in parts]

    return sorted(set(given), key=key)


def evaluators(found: pd.DataFrame) -> pd.DataFrame:
    """Judges of pairs with an own summary: family, whether a control, name; an index of judges.

    Args:
        found: The frame `evaluators`.
    """
    told = panickssery.judge_names(found)
    recognising = [panickssery.BASE, panickssery.TUNED, panickssery.REPLAY]
    control = ~found["variant"].isin(recognising)
    return found.assign(
        control=control,
        family=found["family"].map(panickssery.writer),
        name=found["evaluator"].map(told),
        base=found["variant"].eq(panickssery.BASE),
    ).set_index("evaluator")


def described(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of `NAMES`, with names for readers, series, no-preference and hollow."""
    drawn = rows.assign(
        name=rows["statistic"].map(NAMES),
        series=[LABELS.get(gold, gold) for gold in rows["gold"]],
        neutral=rows["statistic"].map(RATES).fillna(0.0),
        hollow=rows["few"].to_numpy(),
    )
    if "dataset" in drawn:
        drawn["set"] = drawn["dataset"].map(called)
    if "judge" in drawn:
        drawn["judge"] = drawn["judge"].map(called)
    order = {name: place for place, name in enumerate(NAMES)}
    return drawn.sort_values("statistic", key=lambda name: name.map(order), kind="stable")


def named(rows: pd.DataFrame) -> pd.DataFrame:
    """A table with names for readers in the place of keys.

    >>> named(pd.DataFrame({"judge": ["gpt-4"], "statistic": ["gold_gap"]})).values.tolist()
    [['GPT-4', 'DBG score']]
    """
    words = {
        **dict.fromkeys(("judge", "responder", "dataset"), called),
        "statistic": lambda name: NAMES.get(name, name),
        "gold": lambda gold: LABELS.get(gold, f"gold: {gold}").removeprefix("gold: "),
    }
    told = {name: rows[name].map(word) for name, word in words.items() if name in rows}
    return rows.assign(**told).rename(columns={"dataset": "data set", "gold": "gold label"})
