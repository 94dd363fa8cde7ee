"""Beyond the papers: every statistic for every judge, mitigations, and the data a bias takes.

Reads the tables of all studies that are switched on, and of Panickssery et al. the frame of pairs.
Each statistic is defined in the module that computes it: `choices` (a judge's own choices),
`effects` and `scaled` (the regressions), `ratings` (gaps of scores), `mitigations`, `power`; the
rows that they read, and the table that they fill, in `sets`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from scipy.special import ndtri

from selfpref.statistics.bias import whole_counts
from selfpref.statistics.judged import Judged, Settings, by_panel
from selfpref.statistics.regression import pearson
from selfpref.studies.beyond.measure import (
    choices,
    effects,
    mitigations,
    power,
    ratings,
    scaled,
    sets,
)
from selfpref.studies.beyond.measure.sets import KEY, LONG, STATISTICS, Row
from selfpref.studies.livebench.measure.panel import Panel
from selfpref.studies.livebench.scorers import READINGS
from selfpref.studies.xu.rows import Settings as XuSettings
from selfpref.studies.xu.rows import rated
from selfpref.tables.schemas import PANEL

__all__ = ["Found", "compute", "contests", "pairs", "preferences", "refinement", "wide"]

# Of the frames that some profiles leave empty.
COLUMNS = {
    "scales": scaled.SCALES,
    "placebo": scaled.PLACEBO,
    "mitigations": mitigations.RULED,
    "mitigation_changes": mitigations.CHANGED,
    "power": power.NEEDED,
    "betas": ["dataset", "judge", "beta"],
}
RECOVERY = ["gold", "statistic", "r", "lo", "hi", "n"]
# The interval of a correlation needs n - 3 > 0.
FEWEST = 4
PERFECT = 1 - 1e-12


@dataclass
class Found:
    """What one study adds to the frames."""

    rows: list[Row] = field(default_factory=list)
    power: list[pd.DataFrame] = field(default_factory=list)
    scales: list[pd.DataFrame] = field(default_factory=list)
    placebo: list[pd.DataFrame] = field(default_factory=list)
    mitigations: list[pd.DataFrame] = field(default_factory=list)
    mitigation_changes: list[pd.DataFrame] = field(default_factory=list)
    betas: list[pd.DataFrame] = field(default_factory=list)


def pairs(datasets: Iterable[Judged]) -> Found:
    """Of wataoka: pairwise verdicts with human labels, and the oracle's where there is one."""
    found = Found()
    for data in datasets:
        if data.pairs.empty:
            continue
        judged = sets.from_pairs(data, data.pairs, sets.HUMAN)
        found.rows += choices.without_gold(judged)
        if any(data.own(judge)["human"].isna().all() for judge in data.judges):
            # The regressions can do without a gold label.
            _regressions(data, data.pairs.assign(human=0.5), sets.NONE, found)
        found.rows += choices.against_people(data)
        if data.pairs["human"].notna().any():
            _with_gold(data, data.pairs, sets.HUMAN, found)
            found.placebo.append(scaled.placebos(data))
            rules, changes = mitigations.by_rule(data)
            found.mitigations.append(rules)
            found.mitigation_changes.append(changes)
        else:
            found.rows += choices.with_gold(judged)
        if (oracle := sets.by_oracle(data.pairs, data.tables["truths"])) is not None:
            _with_gold(data, oracle, sets.ORACLE, found)
        if (panel := by_panel(data)) is not None:
            _with_gold(panel, panel.pairs, PANEL, found)
        bonus = data.betas.rename("beta").rename_axis("judge").reset_index()
        found.betas.append(bonus.assign(dataset=data.name))
    return found


def _with_gold(data: Judged, labelled: pd.DataFrame, gold: str, found: Found) -> None:
    """Add what is measured against one kind of labels."""
    judged = sets.from_pairs(data, labelled, gold)
    found.rows += choices.with_gold(judged)
    _regressions(data, labelled, gold, found)
    found.power.append(power.needed(judged))


def _regressions(data: Judged, labelled: pd.DataFrame, gold: str, found: Found) -> None:
    found.rows += effects.of_pairs(data, labelled, gold)
    rows, scales = scaled.of_pairs(data, labelled, gold)
    found.rows += rows
    found.scales.append(scales)


def contests(panel: Panel, settings: Settings) -> Found:
    """Of livebench: choices among several responses, and rubric totals, with answer keys."""
    found = Found()
    if panel.choices.empty:
        return found
    judged = [sets.from_choices(panel, reading, settings) for reading in READINGS]
    found.rows += choices.without_gold(judged[0])
    for one in judged:
        found.rows += choices.with_gold(one)
        found.power.append(power.needed(one))
    found.rows += ratings.of_contests(panel, settings.bootstrap.level)
    return found


def preferences(
    confidences: pd.DataFrame, tables: Mapping[str, pd.DataFrame], settings: Settings
) -> Found:
    """Of panickssery: preferences between its own and another text; the oracle's where known."""
    found = Found()
    texts, truths = tables["responses"], tables["truths"]
    for judged in sets.from_confidences(confidences, texts, truths, settings):
        found.rows += choices.without_gold(judged)
        if judged.gold != sets.NONE:
            found.rows += choices.with_gold(judged)
            found.power.append(power.needed(judged))
    return found


def refinement(tables: Mapping[str, pd.DataFrame], settings: XuSettings) -> Found:
    """Of xu: scores of own texts before any refinement."""
    rows = rated(tables, settings)
    return Found(list(ratings.of_refinement(rows, tables["truths"], settings)))


def _shown(value: float, lo: float, hi: float, few: bool) -> str:
    shown = f"{value:.2f}" + ("" if np.isnan(lo) else f" [{lo:.2f}, {hi:.2f}]")
    return "too few" if few else shown


def wide(long: pd.DataFrame) -> pd.DataFrame:
    """The table for readers: one row a judge, gold label and unit, `value [lo, hi]` a statistic.

    What rests on too few pairs is not quoted.
    """
    keys = [*KEY[:-1], "unit"]
    if long.empty:
        return pd.DataFrame(columns=keys)
    # A minus sign, where a hyphen would make a spreadsheet read a formula.
    cells = long.assign(
        cell=[
            _shown(value, lo, hi, few).replace("-", "\N{MINUS SIGN}") if n else ""
            for value, lo, hi, few, n in long[["value", "lo", "hi", "few", "n"]].itertuples(
                index=False
            )
        ]
    )
    table = cells.pivot(index=keys, columns="statistic", values="cell").fillna("")
    return table[[name for name in STATISTICS if name in table]].reset_index()


def recovery(long: pd.DataFrame, betas: pd.DataFrame, level: float) -> pd.DataFrame:
    """Which statistic follows a preference that was put in: only the testbed knows.

    There each judge's labels carried a bonus *beta* for its own style (`wataoka.testbed`).
    Over the judges of all data sets, for each statistic and gold label,

        r = correlation of the judges' values with their betas
        interval: tanh(atanh r -+ z / sqrt(n - 3))                       (Fisher 1915), n judges

    The interval takes the judges for a sample of judges; with few of them it is wide, and two
    correlations of the same judges are not to be compared by it. Within one seed beta is confounded
    with style. A high r says that the measure orders judges by their preference, not that 0 means
    none.

    Args:
        long: The long table.
        betas: `dataset, judge, beta`.
        level: Coverage of the intervals.

    Returns:
        The columns `RECOVERY`, in the order of the long table; empty where nothing was injected.
    """
    if betas.empty:
        return pd.DataFrame(columns=RECOVERY)
    known = long[long["n"].gt(0)].merge(betas, on=["dataset", "judge"])
    z = ndtri((1 + level) / 2)
    rows = []
    for (gold, statistic), part in known.groupby(["gold", "statistic"], sort=False):
        if len(part) < FEWEST or not part["value"].std() > 0:
            continue
        r = float(pearson(part["value"].to_numpy(float), part["beta"].to_numpy(float)))
        # A perfect line has no interval: the transform of 1 is infinite.
        line = np.arctanh(r) if abs(r) < PERFECT else np.nan
        half = z / np.sqrt(len(part) - 3)
        rows.append((gold, statistic, r, np.tanh(line - half), np.tanh(line + half), len(part)))
    return pd.DataFrame(rows, columns=RECOVERY)


def _joined(found: list[Found], name: str) -> pd.DataFrame:
    parts = [frame for part in found for frame in getattr(part, name) if len(frame)]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=COLUMNS[name])


def compute(parts: Iterable[Found], level: float) -> dict[str, pd.DataFrame]:
    """The frames of the chapter.

    Args:
        parts: What each study adds.
        level: Coverage of the intervals.

    Returns:
        `beyond` (the long table, in the columns `LONG`), `beyond_wide`, `recovery`, `scales`,
        `placebo`, `mitigations`, `mitigation_changes`, `power`.
    """
    found = list(parts)
    long = pd.DataFrame([row for part in found for row in part.rows], columns=LONG)
    long["few"] = sets.too_few(long)
    place = {name: number for number, name in enumerate(STATISTICS)}
    long = long.sort_values(
        KEY, key=lambda names: names.map(place) if names.name == "statistic" else names
    ).reset_index(drop=True)
    frames = {name: _joined(found, name) for name in COLUMNS}
    return {
        "beyond": whole_counts(long),
        "beyond_wide": wide(long),
        "recovery": recovery(long, frames.pop("betas"), level),
        **{name: frame.assign(few=sets.too_few(frame)) for name, frame in frames.items()},
    }
