"""Reader of the release of Panickssery, Bowman & Feng (arXiv 2404.13076).

A thousand articles each of XSum and CNN/DailyMail, five sources of summaries, 35 judges: three
models and 32 that were fine-tuned from two of them. The release has no licence; it is read where it
lies, and only numbers derived from it are kept. The articles' texts are not part of the source.

- `item_id` is `xsum/<key>` or `cnn/<key>`, the cluster the article, the metadata its index: models
  were tuned on the first articles.
- A pair is two verdicts, one an order of presentation. The probabilities are those of the two
  labels in that order, as released; a GPT row holds the top token's probability p alone and gets
  p and 1 - p. A verdict of the task *inferiority* is the judge's answer: whom it named as worse.
- `stored` is the release's own score. It belongs to the pair, and both its verdicts carry it: the
  confidence in the own text, also where the question was which is worse. It is kept as it stands,
  with every defect; the metrics show it as the convention `released`.
- No release file holds the backward probability of GPT's recognition, nor any probability of the
  two base GPT models on XSum: those verdicts are choices without probabilities, and `stored` is
  all there is.
- Variants: `plain`; `rerun` (recognition asked again beside the inverted question);
  `others-named-human` and `others-named-model`; `labels-correct`, `labels-swapped`,
  `labels-random-correct` and `labels-random-swapped` (the random labels, split by what fell);
  `generations` (the tuned model's new summary, under the tuned model's name, against its base's).
- What a row lacks becomes a status: `unparsable` (a token that is no label), `low-mass` (no
  probability on the labels), `failed` (not a number, an order or a value missing, an article that
  is not among the thousand).
- `audit` tells what was found in every file; see `selfpref.studies.panickssery.read.audit`.

`files` knows paths and fields, `pairs` and `ratings` read the kinds of files. `articles` is apart:
it reads XSum and CNN/DailyMail themselves.
"""

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
from selfpref.studies.panickssery.read.articles import article_items, summaries
from selfpref.studies.panickssery.read.audit import Audit
from selfpref.studies.panickssery.read.files import (
    Released,
    Rows,
    Texts,
    load_rows,
    load_summaries,
    released_file,
)
from selfpref.studies.panickssery.read.pairs import (
    Pairs,
    SingleOrder,
    read_generations,
    read_labels,
    read_questions,
)
from selfpref.studies.panickssery.read.ratings import read_quality, read_recognition

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
            self.items.append(article_items(self.study, file.dataset, ids, [[] for _ in ids]))
        self.responses.append(summaries(self.study, ids, file.evaluator, list(texts.values())))
        self.audit.read(file.path, len(texts))

    def add(self, file: Released) -> None:
        """The rows of one file of judgments."""
        rows = load_rows(file, self.audit)
        keys, evaluator = rows.names("key"), self.evaluators[file.evaluator]
        if file.dataset not in self.index:
            raise SelfprefError(
                f"{file.local}: the source lists no summaries of {file.dataset}; add them"
            )
        index = self.index[file.dataset]
        _note_articles(rows, keys, index, evaluator)
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
        found = read(rows, pairs)
        for frame in found:
            if len(frame) == len(rows):
                rows.note("repeated-rows", frame["repeat"].gt(0).to_numpy())
        self.verdicts += found

    def _add_ratings(
        self, rows: Rows, ids: Texts, known: npt.NDArray[np.bool_], family: str
    ) -> None:
        found = (
            read_quality(rows, ids, self.study)
            if rows.file.kind == "quality"
            else read_recognition(rows, ids, self.study, family)
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


def _note_articles(rows: Rows, keys: Texts, index: dict[str, int], tuned: pd.Series) -> None:
    """Note foreign, tuned-on and missing articles of a file; `tuned` describes its judge."""
    at = np.array([index.get(key, -1) for key in keys])
    there, size = set(at[at >= 0].tolist()), len(index)
    rows.note("foreign-articles", at < 0)
    if tuned["trained_on"] == rows.file.dataset:
        rows.note("held-out-violation", (at >= 0) & (at < tuned["held_out_from"]))
    if rows.file.kind != "generations":
        wanted = range(tuned["held_out_from"], size)
        missing = sum(number not in there for number in wanted)
        detail = f"of {len(wanted)} held-out articles"
        rows.count("missing-articles", missing, detail)


def _sources(rows: Rows, family: str) -> tuple[str, Texts]:
    """Whose text is the own one, and the other source of each row."""
    if rows.file.kind == "generations":
        return rows.file.evaluator, np.full(len(rows), family, dtype=object)
    others = rows.names("model")
    if (same := others == family).any():
        raise rows.error(int(np.argmax(same)), f"compares {family!r} with itself")
    return family, others


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the release.

    Args:
        dataset: The key of the data set in the parameters; item ids carry the release's own names.
        entry: The study, and which judges to read.
        source: The pinned files.

    Returns:
        items, responses, verdicts, ratings and audit.

    Raises:
        SelfprefError: A file cannot be had or read, has another schema, or a judge is not in the
            release.
    """
    files = {path: released_file(path, local) for path, local in sorted(fetch(source).items())}
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
    return release.tables()
