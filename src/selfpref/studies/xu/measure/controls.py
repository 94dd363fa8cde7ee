"""What else raises a score: a second scoring of the same text, and a judge's own style.

- Re-scoring: an unchanged text that is judged again and kept because the second score is kinder.
- Style: a translator's text, and the judge's own paraphrase of it.

What selection does by itself is in `selfpref.studies.xu.measure.selection`.
"""

import numpy as np
import pandas as pd

from selfpref.statistics.shares import share_interval
from selfpref.studies.xu import chains
from selfpref.studies.xu.measure.grid import QUANTITY_COLUMNS, by_group, summary
from selfpref.studies.xu.measure.rows import (
    CONVENTIONS,
    PARAPHRASE,
    Settings,
    paper_chains,
    read_as,
)

# Translations of every language in one pool.
POOLED = "all translations"
RESCORING = [
    *("language", "model", "convention", "links", "edited", "rescored", "gain", "gain_edited"),
    *("gain_rescored", "share", "share_lo", "share_hi"),
]
# What the comparison of a step with its predecessor needs.
_LINKED = (
    *("item_id", "language", "responder", "step", "cluster", "text", "reply", "truth"),
    *("contaminated", "task"),
)


def rescoring(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """How much of the gain in the own score came without any change of the text.

    Returns:
        `language` (and `POOLED`: the translations of all languages, where there are any), `model,
        convention, links` (pairs of a step and its predecessor, with scores for
        both), `edited`, `rescored`, `gain` (points summed over sentences and steps), `gain_edited`,
        `gain_rescored`, and `share` (of `gain_rescored` in `gain`) with Wilson's interval,
        by sentences.
    """
    own = paper_chains(rows)
    found = []
    for convention in CONVENTIONS:
        read = read_as(own, convention)
        linked = chains.links(read[[*_LINKED]].assign(said=read["said"], fine=False))
        chain = linked.groupby(["item_id", "responder"])
        before = chain[["step", "said", "contaminated"]].shift()
        gain = (linked["said"] - before["said"]).where(before["step"].eq(linked["step"] - 1))
        if convention == "corrected":
            gain = gain.mask(linked["contaminated"] | before["contaminated"].eq(True))
        linked = linked.assign(gain=gain)[gain.notna()]
        pooled = linked[linked["task"].eq("mqm")].assign(language=POOLED)
        groups = pd.concat([linked, pooled]).groupby(["language", "responder"])
        for (language, model), part in groups:
            again = part["gain"].where(part["rescored"], 0.0)
            each = np.stack([again, part["gain"]], axis=1)
            share = share_interval(each, part["cluster"], settings.bootstrap.level)
            found.append(
                {
                    "language": language,
                    "model": model,
                    "convention": convention,
                    "links": len(part),
                    "edited": int(part["text_changed"].sum()),
                    "rescored": int(part["rescored"].sum()),
                    "gain": part["gain"].sum(),
                    "gain_edited": part["gain"].where(part["text_changed"], 0.0).sum(),
                    "gain_rescored": again.sum(),
                }
                | share.columns("share")
            )
    return pd.DataFrame(found, columns=RESCORING)


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
