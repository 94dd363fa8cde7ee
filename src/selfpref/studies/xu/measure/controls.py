"""Whether a judge scores its own wording higher: a translator's text, and its paraphrase."""

import pandas as pd

from selfpref.studies.xu.measure.grid import QUANTITY_COLUMNS, by_group, summary
from selfpref.studies.xu.measure.rows import PARAPHRASE, Settings


def style(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """A translator's text, judged; then the judge's own paraphrase of it, judged by the same.

    Returns:
        `language, system, judge, text` (`translation` or `paraphrase`), `convention`, the
        quantities of `summary`, and for the paraphrase their change.
    """
    aside = rows[rows["condition"].str.startswith(PARAPHRASE)]
    aside = aside.assign(system=aside["condition"].str.removeprefix(PARAPHRASE))
    by = {"system": "system", "judge": "judge"}
    table = by_group(summary, aside, settings, "style", by=by)
    columns = ["language", "system", "judge", "text", "convention"]
    if table.empty:
        return pd.DataFrame(columns=[*columns, "n", *QUANTITY_COLUMNS])
    table = table.assign(text=table["step"].map({0: "translation", 1: "paraphrase"}))
    order = [*columns, *(name for name in table if name not in {*columns, "step"})]
    return table[order].sort_values(columns, ignore_index=True)
