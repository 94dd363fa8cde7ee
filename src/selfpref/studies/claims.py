"""The papers' claims beside what came out on the released data.

What a paper claims, and what became of it on the released data, stands in data/claims.yaml: by
study its `paper`, and `claims`, each with

    claim, place, test   what the paper says, in our words; where (`our question` if it does not);
                         how it is tested here
    number               the address of a number, `table[column=value, ...].column`
    holds                what is true of the number's `value`, `lo` and `hi` if the verdict stands
    finding              the key of the sentence that says what came out
    no_data              in place of these three: why nothing can be said
    verdict              one of `VERDICTS`
    part                 of what holds in part, which part
    figure               the name of the figure that shows it; none without data

The numbers stand in the CSVs of figures/recorded, which git holds; so data/claims.csv is of the
released data whichever profile is active.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from ruamel.yaml import YAML

from selfpref import paths
from selfpref.files import atomic
from selfpref.plots.save import tables
from selfpref.say import Estimate, at, said

ADDRESS = re.compile(r"(\w+)(?:\[([^\]]*)\])?\.(\w+)")
Frames = Mapping[str, pd.DataFrame]
COLUMNS = ["study", "paper", "claim", "place", "test", "finding", "verdict", "part", "value"]
COLUMNS += ["lo", "hi", "cell", "figure"]
VERDICTS = {
    "holds": "held",
    "holds in part": "held in part",
    "number holds, reading open": "came out as numbers that something else makes too",
    "does not hold": "did not hold",
    "undecided": "stayed undecided",
    "no data": "lacked their data",
}


def papers() -> dict[str, Any]:
    """data/claims.yaml: by study its `paper` and its `claims`."""
    return dict(YAML(typ="safe").load(paths.root() / "data/claims.yaml"))


def tested(study: str, frames: Frames) -> pd.DataFrame:
    """The claims of a study in the columns of data/claims.yaml, with the number that tests each.

    Args:
        study: Whose.
        frames: Its figures' tables, by name.

    Returns:
        `verdict` is missing where its condition is not true of the data; further `value, lo, hi`,
        how they are `written`, and the `cell` where they stand; without data no number and cell.
    """
    rows = []
    for claim in papers()[study]["claims"]:
        number, stands, cell = Estimate(float("nan")), True, ""
        if address := ADDRESS.fullmatch(claim.get("number", "")):
            table, where, column = address.groups(default="")
            named = re.findall(r"(\w+)=([^,]+)", where)
            chosen = {name: int(of) if of.isdigit() else of for name, of in named}
            number = at(frames.get(table, pd.DataFrame()), column, **chosen)
            stands = pd.DataFrame([number]).eval(claim["holds"]).item()
            cell = f"{table}.csv: {column}{' where ' * bool(where)}{where.replace('=', ' = ')}"
        made = {"cell": cell, "written": f"{number:.2f}", **number._asdict()}
        if not stands:
            made |= {"verdict": None, "part": ""}
        missing = dict.fromkeys(("no_data", "finding", "figure")) | {"part": ""}
        rows.append(missing | claim | made)
    return pd.DataFrame(rows)


def head(study: str, frames: Frames) -> pd.DataFrame:
    """The claims that the data can be asked about, for the head of a study's chapter."""
    rows = tested(study, frames)
    rows["tested here"] = rows["no_data"].fillna(rows["test"].str[:-1] + ", " + rows["written"])
    rows["the paper's claim"] = rows["claim"] + " (" + rows["place"] + ")"
    parts = rows["part"].mask(rows["part"].ne(""), ": " + rows["part"])
    rows["verdict"] = rows["verdict"].astype("str") + parts
    known = rows["no_data"].notna() | rows["value"].notna()
    return rows.loc[known, ["the paper's claim", "verdict", "tested here"]]


def table() -> pd.DataFrame:
    """Every claim with what came out, in `COLUMNS`.

    The verdict is missing also where a word of the finding is not true of the data, and of a study
    that was not drawn.
    """
    parts = []
    for study, paper in papers().items():
        folder = paths.figure_dir(paths.RELEASED, study)
        rows, place = tested(study, tables(folder)), folder.relative_to(paths.root())
        sentences = said(folder)
        true = [key for key, one in sentences.items() if not one["untrue"]]
        told = [sentences.get(key, {}).get("text", "") for key in rows["finding"]]
        made = {
            "study": study,
            "paper": paper["paper"],
            "finding": rows["no_data"].fillna(pd.Series(told, rows.index, "str")),
            "verdict": rows["verdict"].where(rows["no_data"].notna() | rows["finding"].isin(true)),
            "cell": rows["cell"].where(rows["cell"].eq(""), f"{place}/" + rows["cell"]),
            "figure": (f"{place}/" + rows["figure"] + ".svg").fillna(""),
        }
        parts.append(rows.assign(**made)[COLUMNS])
    return pd.concat(parts, ignore_index=True)


def counted(found: pd.DataFrame) -> str:
    """A sentence: how many of the papers' claims there are of each verdict; empty without one."""
    papers = found[~found["place"].str.startswith("our question")]
    count = papers["verdict"].value_counts()
    told = ", ".join(f"{count[name]} {words}" for name, words in VERDICTS.items() if name in count)
    return f"On public data, of {len(papers)} claims of papers and releases, {told}." * bool(told)


def write(path: Path) -> None:
    """Write the table as CSV."""
    with atomic(path) as scratch:
        table().to_csv(scratch, index=False, float_format="%.6g", lineterminator="\n")
