"""Tables and lines for readers: which rows are used, another person, the excess by variant."""

import pandas as pd

from selfpref.params import Params
from selfpref.plots.captions import counted, interval, signed
from selfpref.studies.wataoka.draw.names import WHY, readable
from selfpref.tables.asked import NO_TABLE


def rows_used(
    bias: pd.DataFrame, responses: pd.DataFrame, asked: pd.DataFrame, params: Params
) -> str:
    """Which rows the parameters let in, how many there are, and which tables are missing.

    Args:
        bias: The frame `fig1b_bias`.
        responses: The frame `responses`.
        asked: The frame `asked`.
        params: Of the chapter.
    """
    gone = asked[asked["status"].eq(NO_TABLE)].sort_values(["table", "judge"])
    missing = ", ".join(gone["table"] + " of " + gone["judge"])
    missing = f" **Not there, since its stage failed: {missing}.**" if missing else ""
    use = params.wataoka
    panel = (
        f"Data sets `… (panel)`: where nobody voted, the majority of {', '.join(use.panel)}. "
        if use.panel
        else ""
    )
    texts, cut = responses["n"].sum(), responses["cut_off"].sum()
    own = counted(readable(bias), "pairs", why=WHY)
    return (
        f"Pairs with the judge's own response and a vote: {own}. "
        f"{panel}Responses: {texts:g}, of them {cut:g} cut off at their limit. Settings, as "
        f"`params.yaml` calls them: people's ties `{use.human_ties}`, the judge's ties "
        f"`{use.judge_ties}` (`{use.judge_tie}`), turns `{use.turns}`, threshold "
        f"{use.threshold:g}. "
        f"{interval('prompts', params)}.{missing}"
    )


def _bounded(rows: pd.DataFrame, name: str, few: pd.Series | None = None) -> list[str]:
    """Values with their intervals as text: empty where missing, and not quoted of too few pairs."""
    weak = [False] * len(rows) if few is None else few
    columns = (rows[part] for part in (name, f"{name}_lo", f"{name}_hi"))
    return [
        "too few"
        if one
        else f"{signed(value)} [{signed(lo)}, {signed(hi)}]"
        if pd.notna(value)
        else ""
        for one, value, lo, hi in zip(weak, *columns, strict=True)
    ]


def another_person(rows: pd.DataFrame) -> pd.DataFrame:
    """For readers: another person in the judge's place, and the judge against the same votes.

    Args:
        rows: The frame `fig1b_bias`; judges whose pairs have too few votes are left out.
    """
    rows = readable(rows[rows["no_preference_status"].eq("ok")])
    return pd.DataFrame(
        {
            "data set": rows["dataset"],
            "judge": rows["judge"],
            "another person": _bounded(rows, "eo_no_preference"),
            "judge, single votes": _bounded(rows, "eo_one_vote"),
            "difference": _bounded(rows, "beyond_no_preference"),
            "pairs with two votes": rows["n_two_votes"],
        }
    )


def excess_by_variant(rows: pd.DataFrame) -> pd.DataFrame:
    """For readers: the excess in its variants with both human sides; empty without a second judge.

    Args:
        rows: The frame `excess`.
    """
    if rows.empty:
        return rows
    rows = readable(rows)
    least = zip(rows["n_human_own_least"], rows["n_human_other_least"], strict=True)
    sides = zip(rows["n_human_own"], rows["n_human_other"], strict=True)
    return pd.DataFrame(
        {
            "data set": rows["dataset"],
            "judge": rows["judge"],
            "variant": rows["variant"],
            "excess": _bounded(rows, "excess", rows["few"]),
            "bias": [
                "too few" if few else signed(eo)
                for few, eo in zip(rows["few"], rows["eo"], strict=True)
            ],
            "other judges' mean": _bounded(rows, "eo_others", rows["few"]),
            "pairs": [f"{own:g} + {other:g}" for own, other in sides],
            "fewest of another judge": [f"{own:g} + {other:g}" for own, other in least],
        }
    )


def excess_signs(rows: pd.DataFrame) -> str:
    """Where the variants of the excess that have enough pairs agree in sign, and where not."""
    if rows.empty:
        return "No second judge read the same responses: there is no excess."
    lines = []
    for (dataset, judge), part in readable(rows).groupby(["dataset", "judge"]):
        enough = part[~part["few"]]
        values = [
            f"{row.variant} {signed(row.excess)} [{signed(row.excess_lo)}, {signed(row.excess_hi)}]"
            for row in enough.itertuples()
        ]
        few = part.loc[part["few"], "variant"]
        told = ["; ".join(values) or "no value"]
        if len(enough) > 1:
            one = enough["excess"].gt(0).nunique() == 1
            told.append("one sign" if one else "**different signs**")
        if len(few):
            told.append(f"too few pairs: {', '.join(few)}")
        lines.append(f"- {judge} ({dataset}): {'; '.join(told)}.")
    return "\n".join(lines)
