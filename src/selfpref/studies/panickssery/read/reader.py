"""From the files of the release to the tables."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from selfpref import progress
from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.records import judges_of
from selfpref.params import Dataset
from selfpref.studies.panickssery import evaluators
from selfpref.studies.panickssery.read.audit import Audit, articles
from selfpref.studies.panickssery.read.files import (
    Released,
    Rows,
    Texts,
    described,
    load_rows,
    load_summaries,
)
from selfpref.studies.panickssery.read.labels import SingleOrder, read_labels
from selfpref.studies.panickssery.read.pairs import read_generations, read_questions
from selfpref.studies.panickssery.read.ratings import read_quality, read_recognition
from selfpref.studies.panickssery.read.verdicts import Pairs

# Scores of one order come before the raw probabilities that they belong to.
KINDS = ("pairwise", "worse", "named", "labels", "raw-labels", "generations")
RATINGS = ("recognition", "quality")


@dataclass
class _Release:
    """What the files read so far have given."""

    study: str
    audit: Audit
    evaluators: Mapping[str, pd.Series]
    one_order: frozenset[str]
    index: dict[str, dict[str, int]] = field(default_factory=dict)
    items: list[pd.DataFrame] = field(default_factory=list)
    responses: list[pd.DataFrame] = field(default_factory=list)
    verdicts: list[pd.DataFrame] = field(default_factory=list)
    ratings: list[pd.DataFrame] = field(default_factory=list)
    single: SingleOrder = field(default_factory=SingleOrder)

    def add_summaries(self, file: Released) -> None:
        """One source's summaries; the first source gives the articles and their order."""
        texts = load_summaries(file)
        index = self.index.setdefault(file.dataset, {key: n for n, key in enumerate(texts)})
        if list(texts) != list(index):
            raise SelfprefError(
                f"{file.local}: not the articles of the other sources in their order; "
                "not a file of this release"
            )
        ids = [f"{file.dataset}/{key}" for key in texts]
        if not any(items["category"].iloc[0] == file.dataset for items in self.items):
            self.items.append(
                pd.DataFrame(
                    {
                        "study": self.study,
                        "item_id": ids,
                        "category": file.dataset,
                        "cluster": ids,
                        "messages": [[] for _ in ids],
                        "reference": None,
                        "metadata": [json.dumps({"index": n}) for n in range(len(ids))],
                    }
                )
            )
        self.responses.append(
            pd.DataFrame(
                {
                    "study": self.study,
                    "item_id": ids,
                    "responder": file.evaluator,
                    "step": 0,
                    "sample": 0,
                    "text": list(texts.values()),
                    "status": "ok",
                }
            )
        )
        self.audit.read(file.path, len(texts))

    def add(self, file: Released) -> None:
        """The rows of one file of judgments."""
        rows = load_rows(file)
        keys, evaluator = rows.names("key"), self.evaluators[file.evaluator]
        if file.dataset not in self.index:
            raise SelfprefError(
                f"{file.local}: the source lists no summaries of {file.dataset}; add them"
            )
        index = self.index[file.dataset]
        self.audit.count(rows, "bare-nan", rows.bare)
        articles(self.audit, rows, keys, index, evaluator)
        ids = np.array([f"{file.dataset}/{key}" for key in keys], dtype=object)
        known = np.array([key in index for key in keys])
        if file.kind in RATINGS:
            self._add_ratings(rows, ids, known, str(evaluator["family"]))
        else:
            own, others = _sources(rows, str(evaluator["family"]))
            pairs = Pairs(self.study, file.evaluator, own, others, ids, known)
            self._add_verdicts(rows, pairs)
        self.audit.read(file.path, len(rows))

    def _add_verdicts(self, rows: Rows, pairs: Pairs) -> None:
        kind = rows.file.kind
        if kind == "labels" and rows.file.evaluator in self.one_order:
            kind = "single-order"
        read = {
            "generations": read_generations,
            "labels": read_labels,
            "raw-labels": self.single.read_raw,
            "single-order": self.single.read,
        }.get(kind, read_questions)
        found = read(self.audit, rows, pairs)
        for frame in found:
            if len(frame) == len(rows):
                self.audit.note(rows, "repeated-rows", frame["repeat"].gt(0).to_numpy())
        self.verdicts += found

    def _add_ratings(
        self, rows: Rows, ids: Texts, known: npt.NDArray[np.bool_], family: str
    ) -> None:
        found = (
            read_quality(self.audit, rows, ids, self.study)
            if rows.file.kind == "quality"
            else read_recognition(self.audit, rows, ids, self.study, family)
        )
        foreign = ~found["item_id"].isin(ids[known])
        lost = {"score": found["score"].mask(foreign)}
        lost["status"] = found["status"].mask(foreign, "failed")
        self.ratings.append(found.assign(**lost))

    def tables(self) -> dict[str, pd.DataFrame]:
        """All tables; the parts are let go one table after another."""
        found = {"audit": self.audit.table()}
        for name in ("items", "responses", "verdicts", "ratings"):
            if parts := getattr(self, name):
                found[name] = pd.concat(parts, ignore_index=True)
                parts.clear()
        return found


def _sources(rows: Rows, family: str) -> tuple[str, Texts]:
    """Whose text is the own one, and the other source of each row."""
    if rows.file.kind == "generations":
        return rows.file.evaluator, np.full(len(rows), family, dtype=object)
    others = rows.names("model")
    if (same := others == family).any():
        raise rows.error(int(np.argmax(same)), f"compares {family!r} with itself")
    return family, others


def _note_duplicates(release: _Release, files: Mapping[str, Released]) -> None:
    """Note evaluators whose quality scores are those of another one."""
    parts = [part[part["task"].eq("quality")] for part in release.ratings]
    names = {"judge": "evaluator", "responder": "target", "item_id": "cluster"}
    grades = pd.concat([pd.DataFrame(columns=[*names, "stored"]), *parts], ignore_index=True)
    grades = grades.rename(columns=names | {"stored": "released"})
    twins = evaluators.duplicated(evaluators.grade_distances(grades))
    for file in files.values():
        if file.evaluator in twins and file.kind != "summaries":
            release.audit.mark(file.path, "duplicated-model", twins[file.evaluator])


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the release.

    Args:
        dataset: The key of the data set in the parameters; item ids carry the release's own names.
        entry: The study, and which evaluators to read.
        source: The pinned files.

    Returns:
        items, responses, verdicts, ratings and audit.

    Raises:
        SelfprefError: A file cannot be had or read, has another schema, or a judge is not in the
            release.
    """
    local = fetch(source)
    files = {path: described(path, place) for path, place in sorted(local.items())}
    known = {path: file for path, file in files.items() if file is not None}
    names = {file.evaluator for file in known.values() if file.kind != "summaries"}
    wanted = judges_of(dataset, entry, names)
    audit = Audit(entry.study)
    table = evaluators.from_names(names)
    release = _Release(
        entry.study,
        audit,
        {row["evaluator"]: row for _, row in table.iterrows()},
        frozenset(file.evaluator for file in known.values() if file.kind == "raw-labels"),
    )
    for path in files.keys() - known.keys():
        audit.mark(path, "unknown-file")
    for file in known.values():
        if file.kind == "summaries":
            release.add_summaries(file)
    size = sum(file.local.stat().st_size for file in known.values())
    order = {kind: place for place, kind in enumerate((*KINDS, *RATINGS))}
    judged = [file for file in known.values() if file.kind in order]
    with progress.bar(size, f"read {dataset}", unit="B", unit_scale=True) as bar:
        for file in sorted(judged, key=lambda file: (order[file.kind], file.path)):
            if file.evaluator not in wanted:
                audit.mark(file.path, "left-out")
            else:
                release.add(file)
            bar.update(file.local.stat().st_size)
    _note_duplicates(release, known)
    return release.tables()
