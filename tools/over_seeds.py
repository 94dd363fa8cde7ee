"""What holds over several runs of one experiment: quantities of their tables, side by side.

Over the n runs in which a quantity x exists,

    mean ± t(0.975; n - 1) · s / √n,    s² = Σ (x - mean)² / (n - 1),

of correlations by way of Fisher's z = artanh(x), and back. `same_side` counts the runs whose x lies
on the mean's side of `no_effect`.
A run without the quantity is an empty cell and is counted in no n.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

ENDS = ("seeds", "mean", "mean_lo", "mean_hi", "same_side", "no_effect")


def quantities(table: pd.DataFrame, kept: Mapping[str, Any]) -> pd.DataFrame:
    """What is kept of one run's table: `number` (which one), the keys, `value`.

    Args:
        table: A frame of the run's metrics.
        kept: An entry of lab_reference.yaml, which says what its parts mean.
    """
    for name, formula in kept.get("add", {}).items():
        table = table.assign(**{name: table.eval(formula, engine="python")})
    rows = table.query(kept["rows"], engine="python") if "rows" in kept else table
    values = {name: rows.eval(text, engine="python") for name, text in kept["values"].items()}
    found = pd.concat(
        [rows.assign(number=name, value=x.astype(float)) for name, x in values.items()]
    )
    if minus := kept.get("minus"):
        by = ["number", *minus["on"]]
        taken = found.query(minus["rows"], engine="python")[[*by, "value"]]
        found = found.query(f"not ({minus['rows']})", engine="python")
        found = found.merge(taken, on=by, suffixes=("", "_taken"), validate="many_to_one")
        found["value"] -= found.pop("value_taken")
    return found.groupby(["number", *kept["keys"]], as_index=False, sort=False)["value"].mean()


def summary(values: pd.DataFrame, no_effect: float, *, correlations: bool) -> pd.DataFrame:
    """Over the columns of each row: n, mean, 95 % interval, and how many lie on the mean's side."""
    scaled = np.arctanh(values) if correlations else values
    n, mean = scaled.notna().sum(axis=1), scaled.mean(axis=1)
    half = stats.t.ppf(0.975, n.where(n > 1) - 1) * scaled.std(axis=1) / n**0.5
    found = mean, mean - half, mean + half
    mean, lo, hi = map(np.tanh, found) if correlations else found
    same = np.sign(values - no_effect).eq(np.sign(mean - no_effect), axis=0).sum(axis=1)
    ends = (n, mean, lo, hi, same, no_effect)
    return values.assign(**dict(zip(ENDS, ends, strict=True)))


def over_seeds(runs: Mapping[int, Path | None], kept: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A row a quantity: table, number, keys, `seed_<n>`, and what `summary` adds.

    Args:
        runs: By seed, the folder of a study's frames, or None for a run that is missing.
        kept: The study's entries of lab_reference.yaml.

    Raises:
        LookupError: No run has the rows of an entry.
    """
    parts = []
    for entry in kept:
        found = {
            f"seed_{seed}": quantities(pd.read_parquet(path), entry)
            for seed, folder in runs.items()
            if folder and (path := folder / f"{entry['table']}.parquet").is_file()
        }
        if not any(map(len, found.values())):
            raise LookupError(f"{entry['table']}: no run has {entry}")
        long = pd.concat([rows.assign(seed=seed) for seed, rows in found.items()])
        wide = long.pivot(index=["number", *entry["keys"]], columns="seed", values="value")
        wide = wide.reindex(columns=[f"seed_{seed}" for seed in runs])
        correlations = entry.get("correlations", False)
        rows = summary(wide, entry.get("no_effect", 0.0), correlations=correlations).reset_index()
        parts.append(rows.rename_axis(columns=None).assign(table=entry["table"]))
    whole = pd.concat(parts, ignore_index=True)
    ends = [*(f"seed_{seed}" for seed in runs), *ENDS]
    keys = [name for name in whole if name not in ("table", "number", *ends)]
    return whole[["table", "number", *keys, *ends]]
