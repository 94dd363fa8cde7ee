"""Captions beyond the papers; every number comes from the frame that the figure draws."""

from typing import Any

import pandas as pd

from selfpref.studies.beyond.measure.mitigations import MEAN
from selfpref.studies.beyond.measure.results import POOLED

SOURCE = "Definitions and sources: `src/selfpref/studies/beyond/measure`"


def _interval(params: Any) -> str:
    boot = params.bootstrap
    return (
        f"{boot.level:.0%} intervals: {'BCa' if boot.method == 'bca' else boot.method}, "
        f"{boot.resamples} resamples of prompts; of coefficients, robust to clusters of prompts"
    )


def _counted(rows: pd.DataFrame) -> str:
    """Rows of the widest statistic of each judge, by data set, and of the strictest."""
    told = []
    for dataset, part in rows[rows["judge"].ne(POOLED) & rows["n"].gt(0)].groupby("dataset"):
        by_judge = part.groupby("judge")[["n", "dropped"]].max()
        told.append(
            f"{dataset}: {by_judge['n'].sum():g} own sets, judges: {len(by_judge)}; the strictest "
            f"statistics drop {by_judge['dropped'].sum():g} of them"
        )
    return "; ".join(told) if told else "no judge with own responses"


def _certain(rows: pd.DataFrame) -> str:
    """Values that did not vary in the sample."""
    flat = rows[rows["n"].gt(0) & rows["lo"].eq(rows["hi"])]
    if flat.empty:
        return ""
    names = ", ".join(sorted(set(flat["judge"])))
    return f" {len(flat)} values do not vary in the sample, hence no honest interval: {names}."


def forest(rows: pd.DataFrame, study: str, params: Any) -> str:
    """One study's judges."""
    shown = rows[rows["study"].eq(study) & rows["unit"].eq("probability")]
    missing = int(shown["n"].eq(0).sum())
    return (
        f"Profile `{params.profile}`, {study}. {_counted(shown)}. {missing} values do not exist "
        f"and are not drawn (reasons in beyond.csv). {_interval(params)}.{_certain(shown)} "
        f"{SOURCE}."
    )


def ratings(rows: pd.DataFrame, params: Any) -> str:
    """Gaps of scores."""
    shown = rows[rows["unit"].ne("probability")]
    if shown.empty:
        return "No judge scored texts of its own."
    return (
        f"Profile `{params.profile}`. Scores of own texts minus gold scores of the same texts, and "
        f"coefficients of own text. {shown['n'].sum():g} rows, {shown['dropped'].sum():g} dropped "
        f"for want of a score or a gold score; {int(shown['n'].eq(0).sum())} values do not exist. "
        f"{_interval(params)}. {SOURCE}."
    )


def preferences(rows: pd.DataFrame, params: Any) -> str:
    """Pairs without gold labels."""
    shown = rows[rows["study"].eq("panickssery") & rows["n"].gt(0)]
    if shown.empty:
        return "Without the study of Panickssery et al. there are no such judges."
    parity = shown[shown["statistic"].eq("demographic_parity") & shown["gold"].eq("none")]
    oracle = shown["gold"].eq("oracle").any()
    held = "the gap is to the oracle" if oracle else "no gold label: quality is not held"
    return (
        f"Profile `{params.profile}`, panickssery. {parity['n'].sum():g} pairs decided in both "
        f"orders by {parity['judge'].nunique()} evaluators, {parity['dropped'].sum():g} dropped "
        "(no usable answer, or a tie); articles that a model was tuned on are left out; "
        f"{held}. {_interval(params)}. {SOURCE}."
    )


def recovery(rows: pd.DataFrame, params: Any) -> str:
    """Which statistic follows what was put in."""
    if rows.empty:
        return "Nothing was planted in this profile: only the laboratory knows the truth."
    return (
        f"Profile `{params.profile}`. Correlation of each statistic with the planted bonus over "
        f"{rows['n'].min()} to {rows['n'].max()} judges; {params.bootstrap.level:.0%} intervals "
        f"after Fisher, of judges. {SOURCE}."
    )


def mitigations(rows: pd.DataFrame, params: Any) -> str:
    """Bias against agreement."""
    if rows.empty:
        return "Fewer than three judges with human labels: there is nothing to combine."
    one = rows[rows["rule"].eq("single") & rows["measure"].eq("eo") & rows["judge"].ne(MEAN)]
    told = [
        f"{dataset}: {len(part)} judges, {part['n'].sum():g} own pairs that the human decides, "
        f"{part['dropped'].sum():g} dropped for want of a score"
        for dataset, part in one.groupby("dataset")
    ]
    return (
        f"Profile `{params.profile}`. {'; '.join(told)}. A tie of a rule counts half. Each judge's "
        "own responses, judged by itself (hollow) and by each rule; intervals in the next figure. "
        f"{SOURCE}."
    )


def changes(rows: pd.DataFrame, params: Any) -> str:
    """Differences against the single judge."""
    if rows.empty:
        return "Fewer than three judges with human labels: there is nothing to compare."
    return (
        f"Each rule minus the single judge, on the same pairs. `{MEAN}`: of agreement, and of the "
        f"size of the excess, which mere noise keeps above 0. {_interval(params)}. {SOURCE}."
    )


def verdict(rows: pd.DataFrame) -> str:
    """In words: for how many judges each rule moves bias and agreement beyond its interval."""
    lines = []
    for (dataset, rule), part in rows[rows["judge"].ne(MEAN)].groupby(["dataset", "rule"]):
        if rule == "single":
            continue
        told = []
        for measure in ("excess", "agreement"):
            one = part[part["measure"].eq(measure)]
            down, up = int(one["change_hi"].lt(0).sum()), int(one["change_lo"].gt(0).sum())
            told.append(
                f"{measure} falls for {down} and rises for {up} of {len(one)} judges, the others "
                "cannot be told apart"
            )
        lines.append(f"- {dataset}, {rule}: {'; '.join(told)}.")
    return "\n".join(lines)


def power(rows: pd.DataFrame, params: Any) -> str:
    """What a bias takes."""
    if rows.empty:
        return "No statistic that varies: nothing can be planned."
    one = rows[rows["bias"].eq(rows["bias"].min())]
    return (
        f"Profile `{params.profile}`. Two-sided test at 0.05 with 80 % power; variance and design "
        f"effect of {len(one)} statistics of {one['judge'].nunique()} judges, from "
        f"{one['n'].min()} to {one['n'].max()} decided sets each (bars: at hand). Design effects "
        f"{one['effect'].min():.2f} to {one['effect'].max():.2f}. A statistic that does not vary "
        f"in the sample is left out. {SOURCE}."
    )
