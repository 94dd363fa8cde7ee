"""Feedback by format: how much of it keeps to the declared grammar."""

import numpy as np
import pandas as pd

from selfpref.statistics.shares import share_interval
from selfpref.studies.xu import feedback
from selfpref.studies.xu.curves import AVERAGE
from selfpref.studies.xu.rows import Settings, paper_chains

FORMS = ("well_formed", "but_for_cut", "usable")


def format_accuracy(rows: pd.DataFrame, settings: Settings) -> pd.DataFrame:
    """The share of feedback on one's own translations that keeps to the declared grammar.

    Args:
        rows: As `rated` returns them.
        settings: The level of the intervals, which are Wilson's (`selfpref.statistics.shares`).

    Returns:
        `language` (and `average`, the mean of the languages), `model, step, n`, and the shares
        `well_formed` (`selfpref.studies.xu.feedback.well_formed`), `but_for_cut` (well formed, or
        so but for a last line that was cut off) and `usable` (a score can be read), each with its
        bounds.
    """
    own = paper_chains(rows, "mqm")
    own = own[own["reply"].notna()]
    whole = [feedback.well_formed(reply) for reply in own["reply"]]
    cut = [
        good or feedback.well_formed(_without_last_line(reply))
        for good, reply in zip(whole, own["reply"], strict=True)
    ]
    own = own.assign(
        well_formed=whole, but_for_cut=cut, usable=own["status"].eq("ok"), weight=1.0
    ).rename(columns={"responder": "model"})
    languages = own["language"].nunique()
    cell = own.groupby(["language", "model", "step"])["weight"].transform("size")
    held = own.groupby(["model", "step"])["language"].transform("nunique")
    # Each language counts the same, however many replies it has.
    mean = own.assign(language=AVERAGE, weight=1 / cell)[held.eq(languages) & (languages > 1)]
    level, found = settings.bootstrap.level, []
    for place in (own, mean):
        for values, part in place.groupby(["language", "model", "step"]):
            row: dict[str, object] = dict(zip(("language", "model", "step"), values, strict=True))
            row["n"] = len(part)
            for name in FORMS:
                each = np.stack([part[name] * part["weight"], part["weight"]], axis=-1)
                row |= share_interval(each, part["cluster"], level).columns(name)
            found.append(row)
    bounded = [f"{name}{end}" for name in FORMS for end in ("", "_lo", "_hi")]
    return pd.DataFrame(found, columns=["language", "model", "step", "n", *bounded])


def _without_last_line(reply: str) -> str:
    return reply.rstrip().rpartition("\n")[0]
