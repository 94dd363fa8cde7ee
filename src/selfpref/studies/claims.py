"""The papers' claims beside what came out: data/claims.csv, from the released data's tables.

The tables are the CSVs of figures/recorded, which git holds; so the claims are of the released data
whichever profile is active.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pandas as pd

from selfpref import paths, say
from selfpref.files import atomic
from selfpref.statements import AbsentError, Claim, Statement

# Whose claims a study tests; `beyond` tests a proposal of the first.
PAPERS = {
    "wataoka": "Wataoka et al., arXiv 2410.21819",
    "panickssery": "Panickssery et al., arXiv 2404.13076",
    "xu": "Xu et al., arXiv 2402.11436",
    "livebench": "Self-bias in LLM as Judge (basusum/LLM-Judge)",
    "beyond": "Wataoka et al., arXiv 2410.21819",
}


def findings(study: str) -> Mapping[str, Statement]:
    """The sentences of a study's chapter, by key."""
    found: Mapping[str, Statement] = getattr(_module(study), "FINDINGS", {})
    return found


def sentence(study: str, key: str) -> str:
    """What the chapter of a study says of the released data under a key.

    Raises:
        LookupError: It says no such thing.
    """
    if study in say.papers():
        return str(say.said(paths.figure_dir(paths.RELEASED, study))[key]["text"])
    return findings(study)[key].said(Tables(study))


def claims(study: str) -> Sequence[Claim]:
    """The claims that a study tests."""
    found: Sequence[Claim] = getattr(_module(study), "CLAIMS", ())
    return found


def _module(study: str) -> ModuleType | None:
    name = f"selfpref.studies.{study}.findings"
    return import_module(name) if find_spec(name) else None


class Tables(dict[str, pd.DataFrame]):
    """A study's tables of the released data by name, each read when it is asked for.

    A study that was not drawn has none: its claims keep their rows, without a finding.
    """

    def __init__(self, study: str) -> None:
        super().__init__()
        self.folder = paths.figure_dir(paths.RELEASED, study)

    def __missing__(self, name: str) -> pd.DataFrame:
        if not self.folder.is_dir():
            raise AbsentError(f"{self.folder} is not there")
        path = self.folder / f"{name}.csv"
        if not path.is_file():
            raise LookupError(f"{path.relative_to(paths.root())} is not there")
        if not path.read_bytes().strip():
            raise AbsentError(f"{path} has no columns: nothing could be computed")
        self[name] = pd.read_csv(path)
        return self[name]


def table() -> pd.DataFrame:
    """Every claim: study, paper, claim, place, test, finding, verdict, value, lo, hi, cell, figure.

    `cell` and `figure` are paths within the repository; a claim about which there are no released
    data has no cell.
    """
    rows: list[dict[str, object]] = []
    for study, paper in PAPERS.items():
        frames: say.Frames = Tables(study)
        if study in say.papers():
            place = paths.figure_dir(paths.RELEASED, study)
            given = frames if place.is_dir() else defaultdict(pd.DataFrame)
            rows += say.claim_rows(study, given, place)
            continue
        folder = f"figures/{paths.RELEASED}/{study}"
        for claim in claims(study):
            row = claim.row(frames)
            for name, end in (("cell", ""), ("figure", ".svg")):
                row[name] = f"{folder}/{row[name]}{end}" if row[name] else ""
            rows.append({"study": study, "paper": paper, **row})
    return pd.DataFrame(rows)


def counted(found: pd.DataFrame) -> str:
    """A sentence: how many claims of a table there are of each verdict; empty without a verdict."""
    count = found["verdict"].value_counts() if len(found) else found
    told = [f"{count[name]} {words}" for name, words in say.VERDICTS.items() if name in count]
    if not told:
        return ""
    parts = ", and ".join(filter(None, (", ".join(told[:-1]), told[-1])))
    return f"Of {len(found)} claims of the papers and their releases, {parts}, on public data."


def write(path: Path) -> None:
    """Write the table as CSV."""
    with atomic(path) as scratch:
        table().to_csv(scratch, index=False, float_format="%.6g", lineterminator="\n")
