"""The audit of a release: what is wrong in a file, and what its files say about each other.

A file that does not hold one value a sentence (or candidate) cannot be aligned. It is left out
whole, and the audit says why; nothing is guessed from what is left of it.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import pandas as pd

from selfpref.errors import SelfprefError
from selfpref.studies.xu import chains, feedback
from selfpref.studies.xu.read.files import HUMAN, SECOND_RUN, Cell, Place

Value = TypeVar("Value")
Places = Mapping[str, Place]

CHAIN_FINDINGS = (
    ("text", "text_without_truth", "text changed, true score did not"),
    ("bleurt", "truth_without_text", "true score changed, text did not"),
    ("feedback", "self_decreased", "own score fell"),
    ("feedback", "rescored", "same text, other feedback"),
)


class Ledger:
    """The audit: what was found in which file, in the order of the files.

    Args:
        study: Whose files these are.
    """

    def __init__(self, study: str) -> None:
        self._study = study
        self._rows: list[dict[str, object]] = []

    def note(
        self, path: str, finding: str, rows: int, affected: int, detail: str | None = None
    ) -> None:
        """One finding; `affected` of the file's `rows`."""
        counted = {"rows": rows, "affected": affected, "detail": detail}
        self._rows.append({"study": self._study, "file": path, "finding": finding, **counted})

    def count(
        self, path: str, values: Sequence[Value], findings: Mapping[str, Callable[[Value], bool]]
    ) -> None:
        """Findings that concern some of a file's values; none, no finding."""
        for finding, holds in findings.items():
            if affected := sum(map(holds, values)):
                self.note(path, finding, len(values), affected)

    def duplicates(self, files: Mapping[str, Path]) -> None:
        """Name the files that are byte for byte an earlier one."""
        first: dict[str, str] = {}
        for path, local in sorted(files.items()):
            body = local.read_bytes()
            same = first.setdefault(hashlib.sha256(body).hexdigest(), path)
            if same != path and body:
                rows = body.count(b"\n")
                self.note(path, "duplicate", rows, rows, f"the same bytes as {same}")

    def table(self) -> pd.DataFrame:
        """The audit table."""
        return pd.DataFrame(self._rows)


def every_step_follows(places: Places) -> None:
    """Refuse a list of files in which a step lacks its predecessor."""
    steps: dict[tuple[str, str, str, str], set[int]] = {}
    for path, where in places.items():
        if _own(where) and where.condition == "" and where.responder != HUMAN:
            key = (where.language, where.responder, where.kind, path.rpartition("/")[0])
            steps.setdefault(key, set()).add(where.step)
    for (language, responder, kind, folder), held in sorted(steps.items()):
        if (missing := chains.gap(pd.Series(sorted(held)))) is not None:
            raise SelfprefError(
                f"{folder}: {language}, {responder}: no {kind} of step {missing}, but of step "
                f"{max(held)}; list every step up to the last"
            )


def _own(where: Place) -> bool:
    """Whether a file is texts, or a writer's feedback on its own."""
    return where.kind == "text" or (where.kind == "feedback" and where.judge == where.responder)


def without_truth(places: Places) -> set[Cell]:
    """Steps of a translation that no BLEURT was computed for, where other steps have it."""
    scored = {where.cell for where in places.values() if where.kind in ("bleurt", "mapped")}
    chains_scored = {cell[:3] for cell in scored}
    return {
        where.cell
        for where in places.values()
        if where.kind in ("text", "feedback")
        and where.cell[:3] in chains_scored
        and where.condition == ""
        and where.cell not in scored
    }


def check_chains(
    places: Places,
    ledger: Ledger,
    responses: pd.DataFrame,
    ratings: pd.DataFrame,
    truths: pd.DataFrame,
) -> None:
    """Note what the steps of each chain say about each other."""
    own = ratings[ratings["judge"].eq(ratings["responder"])]
    own = own.join(chains.addressed(own["item_id"]))
    own = own[own["condition"].isin(["", SECOND_RUN])]
    key = ["item_id", "responder", "step"]
    texts = responses.loc[responses["sample"].eq(0), [*key, "text"]]
    exact = truths.loc[truths["metric"].eq("bleurt"), [*key, "score"]]
    rows = own.drop(columns="score").merge(texts, on=key, how="left")
    rows = rows.merge(exact, on=key, how="left").rename(columns={"score": "truth"})
    # The release's loop compared scores without their floor.
    unclipped = [
        feedback.released_mqm(reply, floor=-np.inf) if task == "mqm" else stored
        for reply, task, stored in zip(rows["reply"], rows["task"], rows["stored"], strict=True)
    ]
    paths: dict[tuple[object, ...], str] = {
        (where.kind, *where.cell): path
        for path, where in places.items()
        if where.kind == "bleurt" or _own(where)
    }
    for row in chains.cells(rows.assign(said=unclipped, fine=True)).to_dict("records"):
        cell = tuple(row[name] for name in chains.CELL)
        for kind, column, finding in CHAIN_FINDINGS:
            if row[column] and (kind, *cell) in paths:
                ledger.note(paths[kind, *cell], finding, row["n"], int(row[column]))
        if row["contaminated"]:
            ledger.note(paths["feedback", *cell], "contaminated step", row["n"], row["n"])


def check_choices(places: Places, ledger: Ledger, ratings: pd.DataFrame) -> None:
    """Note where the chosen of k candidates is not the first with the greatest score."""
    best = ratings.join(chains.addressed(ratings["item_id"]))
    best = best[best["condition"].str.startswith("best-of-")]
    best = best.assign(
        exact=[feedback.released_mqm(reply, floor=-np.inf) for reply in best["reply"]]
    ).sort_values(["item_id", "responder", "step", "sample"])
    candidates, chosen = best[best["step"].eq(0)], best[best["step"].eq(1)]
    # idxmax takes the first of equals.
    key = ["item_id", "responder"]
    first = candidates.loc[candidates.groupby(key)["exact"].idxmax(), [*key, "reply"]]
    joined = chosen.merge(first, on=key, suffixes=("", "_first"))
    joined = joined.assign(other=joined["reply"].ne(joined["reply_first"]))
    for path, where in places.items():
        if where.kind == "feedback" and where.condition.startswith("best-of-") and where.step == 1:
            here = joined[
                joined["condition"].eq(where.condition) & joined["responder"].eq(where.responder)
            ]
            ledger.count(path, here["other"].tolist(), {"not the first maximum": bool})
