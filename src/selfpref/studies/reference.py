"""What the testbed shows over several seeds: sentences on the CSVs of docs/lab-reference.

One run of the testbed is one draw of models, so no chapter quotes it. A sentence here rests on
intervals over seeds (`make lab-reference`).
"""

from collections.abc import Mapping

import pandas as pd

from selfpref import paths
from selfpref.statements import Statement

FINDINGS: Mapping[str, Mapping[str, Statement]] = {
    "wataoka": {},
    "livebench": {},
    "panickssery": {},
    "xu": {},
    "beyond": {},
}


def tables() -> dict[str, pd.DataFrame]:
    """The reference's tables by study."""
    folder = paths.reference_dir()
    return {study: pd.read_csv(folder / f"{study}.csv") for study in FINDINGS}


def said(study: str) -> list[str]:
    """The sentences of a study."""
    frames = tables()
    return [text for one in FINDINGS[study].values() if (text := one.said(frames))]
