"""Reader of the release of Xu et al. (arXiv 2402.11436): six models that refine their own texts.

Translation into English from Yoruba, Javanese, Armenian and Igbo (FLORES-200, 100 sentences each),
and sentences from given concepts (CommonGen-Hard, 100 items). How the tables hold it:

- An item is `<language>/<line>`, such as `yor-en/12` or `commongen/7`; lines count from 1. Texts
  that came about otherwise have the condition in front: `best-of-8/yor-en/12`,
  `paraphrase/nllb-moe-54b/yor-en/12`, `second-run/yor-en/12`. What stands before the last slash but
  one is the condition, between the last two the language. The same line of FLORES in any language
  and condition is one cluster, `flores/12`.
- Responses: the step of the refinement is `step`. Best of k: the candidates are step 0, samples
  0..k-1, and the one that the model chose is step 1. Paraphrases: the translator's text is step 0
  under the translator's name, a model's paraphrase is step 1 under that model's name. The reference
  translations are those of the responder `human`.
- Ratings: `score` is what the feedback says (`selfpref.studies.xu.feedback`), null with a status
  where it says nothing; `stored` is the score by the release's own rule, to which everything that
  it does not find is perfect. A judge's second file on the same texts has `repeat` 1.
- Truths: `bleurt`, `bleurt-mqm` (the release's map to the scale of MQM; recovered from the files
  that hold both, and applied to those that hold raw scores only), `human-mqm`, and for concepts
  `coverage-surface` and `coverage-lemma`, computed here.

What matters in reading it:

- A file that does not hold one value a sentence is left out. So are steps of a translation without
  BLEURT (gpt-4, steps 11 and 12: another run).
- Feedback of Gemini on texts of others, and of gpt-4 on Gemini's, was given to texts of other runs,
  most of which are not released; it is read as the files are named. The texts of Gemini's second
  run are not released either. Whether feedback quotes the text at hand is for the metrics to check.
- Findings that concern a chain of steps are those of `selfpref.studies.xu.chains`. The release's
  score enters there without its floor of -25, as the release's loop compared it.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.records import json_lines, judges_of, need
from selfpref.params import Dataset
from selfpref.studies.xu import chains, feedback
from selfpref.studies.xu.read import audit
from selfpref.studies.xu.read.files import (
    COMMONGEN,
    HUMAN,
    Cell,
    Place,
    lines_of,
    numbers_of,
    place,
    records_of,
)
from selfpref.studies.xu.truths import MATCHERS, Scale, covers, recovered

Row = Mapping[str, object]
KEY = ["study", "item_id", "responder", "step"]
COLUMNS = {
    "responses": [*KEY, "sample", "text", "status"],
    "ratings": [
        *(*KEY, "sample", "judge", "task", "variant", "repeat", "score", "marks", "reply"),
        *("stored", "status"),
    ],
    "truths": [*KEY, "metric", "score"],
}
METRICS = {"bleurt": "bleurt", "mapped": "bleurt-mqm"}
TEXT_FINDINGS: dict[str, Callable[[str], bool]] = {
    "boilerplate": chains.boilerplate,
    "blocked text": lambda text: feedback.BLOCKED in text,
    "empty text": lambda text: not text.strip(),
}
STATUS_FINDINGS: dict[str, Callable[[str], bool]] = {
    "blocked": lambda status: status == "refused",
    "unparsable": lambda status: status == "unparsable",
}
FEEDBACK_FINDINGS: dict[str, Callable[[str], bool]] = {
    # U+FFFD stands where a character could not be decoded.
    "lost characters": lambda reply: "\ufffd" in reply,
    "instruction repeated": lambda reply: feedback.without_echo(reply) != reply,
    "unknown severity": feedback.unknown_severity,
}


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the release.

    Args:
        dataset: Its key in the parameters, for errors.
        entry: Its entry: the study, and whose feedback to read.
        source: The pinned files.

    Returns:
        items, responses, ratings, truths and audit.

    Raises:
        SelfprefError: A file cannot be had, read or placed; a judge is not in the release; a step
            lacks its predecessor; the map from BLEURT to MQM contradicts itself.
    """
    release = Release(entry.study, source)
    known = {where.judge for _, where in release.of("feedback") if where.judge}
    judges = judges_of(dataset, entry, known)
    audit.every_step_follows(release.places)
    skipped = audit.without_truth(release.places)
    _read_texts(release, skipped)
    _read_numbers(release)
    _read_feedback(release, judges, skipped)
    _read_references(release)
    found = {
        name: pd.DataFrame(release.rows[name], columns=columns) for name, columns in COLUMNS.items()
    }
    audit.check_chains(release.places, release.ledger, **found)
    audit.check_choices(release.places, release.ledger, found["ratings"])
    release.ledger.duplicates(release.files)
    found["ratings"] = found["ratings"].assign(mass=None, distribution=None)
    return {"items": release.items(), **found, "audit": release.ledger.table()}


class Release:
    """One release while it is read: its files, its sentences, and the rows found so far."""

    def __init__(self, study: str, source: Path) -> None:
        self.study = study
        self.ledger = audit.Ledger(study)
        self.files = dict(fetch(source))
        self.places: dict[str, Place] = {}
        for path in sorted(self.files):
            if (where := place(path)) is None:
                raise SelfprefError(f"{source}: {path} is no file of this release; remove the line")
            self.places[path] = where
        self.rows: dict[str, list[dict[str, object]]] = {name: [] for name in COLUMNS}
        self.concepts: list[list[str]] = []
        self.sources: dict[str, list[str]] = {}
        self.references: list[str] = []
        self._read_sources()

    def of(self, *kinds: str) -> Iterator[tuple[str, Place]]:
        """Paths and places of some kinds, in order."""
        return ((path, where) for path, where in self.places.items() if where.kind in kinds)

    def _read_sources(self) -> None:
        for path, where in self.of("source", "reference"):
            local = self.files[path]
            if where.language == COMMONGEN:
                lists = [need(row, "concepts", local, n) for n, row in json_lines(local)]
                # The list goes on after the items that were used; the texts' names hold how many.
                sizes = [
                    int(text.partition(f"{COMMONGEN}_refinement_")[2].partition("_")[0])
                    for text, of in self.of("text")
                    if of.language == COMMONGEN
                ]
                self.concepts = lists[: max(sizes, default=0)]
                self.ledger.note(path, "read", len(lists), len(self.concepts))
                continue
            lines = lines_of(local)
            if where.kind == "source":
                self.sources[where.language] = lines
            else:
                self.references = lines
            self.ledger.note(path, "read", len(lines), len(lines))
        for language, lines in self.sources.items():
            if len(lines) != len(self.references):
                raise SelfprefError(
                    f"{language}: {len(lines)} sentences to translate and {len(self.references)} "
                    "references; both files are lists of the same sentences"
                )

    def size(self, where: Place) -> int:
        """How many sentences the items of a place have."""
        if where.language == COMMONGEN:
            return len(self.concepts)
        if where.language not in self.sources:
            raise SelfprefError(f"{where.language}: no file of its source sentences is listed")
        return len(self.sources[where.language])

    def items_of(self, where: Place) -> list[dict[str, object]]:
        """Study and item_id of each sentence of a place."""
        name = f"{where.condition}/{where.language}" if where.condition else where.language
        return [
            {"study": self.study, "item_id": f"{name}/{i + 1}"} for i in range(self.size(where))
        ]

    def fits(self, path: str, values: Sequence[object], kind: str) -> bool:
        """Whether a file has one value a text, so that they can be aligned; noted either way."""
        n, wanted = len(values), self.size(self.places[path]) * self.places[path].samples
        if n == wanted:
            self.ledger.note(path, "read", n, n)
            return True
        reason = f"{n} {kind} for {wanted} texts"
        self.ledger.note(path, f"left out: {kind} are not texts", n, n, reason)
        return False

    def left_out(self, path: str, reason: str) -> None:
        """Note that a file is not read."""
        n = self.size(self.places[path]) * self.places[path].samples
        self.ledger.note(path, f"left out: {reason}", n, n)

    def items(self) -> pd.DataFrame:
        """The items table: every condition and language in which there is anything."""
        wheres = {(w.condition, w.language): w for _, w in self.of("text", "feedback", "mapped")}
        rows = []
        for (_, language), where in sorted(wheres.items()):
            given = language == COMMONGEN
            for i, identity in enumerate(self.items_of(where)):
                asked = ", ".join(self.concepts[i]) if given else self.sources[language][i]
                rows.append(
                    identity
                    | {
                        "category": COMMONGEN if given else "translation",
                        "cluster": f"{COMMONGEN if given else 'flores'}/{i + 1}",
                        "messages": [{"role": "user", "content": asked}],
                        "reference": None if given else self.references[i],
                        "metadata": json.dumps({"concepts": self.concepts[i]} if given else {}),
                    }
                )
        return pd.DataFrame(rows)

    def add(self, table: str, where: Place, values: Sequence[Row]) -> None:
        """Add a row for each text of a place; human ratings are of the first texts only."""
        slots = product(self.items_of(where), range(where.samples))
        held = {"responder": where.responder, "step": where.step}
        for (item, sample), value in zip(slots, values, strict=False):
            self.rows[table].append({**item, **held, "sample": sample, **value})

    def add_truths(self, where: Place, metric: str, scores: Sequence[float]) -> None:
        """Add the true scores of a place's texts."""
        self.add("truths", where, [{"metric": metric, "score": score} for score in scores])


def _read_texts(release: Release, skipped: set[Cell]) -> None:
    """The texts, and which concepts they hold."""
    for path, where in release.of("text"):
        if where.cell in skipped:
            release.left_out(path, "no true score")
            continue
        texts = lines_of(release.files[path])
        if not release.fits(path, texts, "lines"):
            continue
        release.ledger.count(path, texts, TEXT_FINDINGS)
        release.add("responses", where, [{"text": text, "status": "ok"} for text in texts])
        if where.language == COMMONGEN:
            for matcher in MATCHERS:
                pairs = zip(texts, release.concepts, strict=True)
                covered = [covers(text, concepts, matcher) for text, concepts in pairs]
                release.add_truths(where, f"coverage-{matcher}", covered)


def _read_references(release: Release) -> None:
    """The reference translations, where a judge read them as one more translator's."""
    judged = {w.language: w for _, w in release.of("feedback") if w.responder == HUMAN}
    for _, where in sorted(judged.items()):
        texts = [{"text": text, "status": "ok"} for text in release.references]
        release.add("responses", where, texts)


def _read_numbers(release: Release) -> None:
    """BLEURT, its map to the scale of MQM, and human MQM."""
    held: dict[str, dict[Cell, list[float]]] = {"bleurt": {}, "mapped": {}}
    for path, where in release.of(*held):
        values = numbers_of(release.files[path])
        if release.fits(path, values, "numbers"):
            held[where.kind][where.cell] = values
            release.add_truths(where, METRICS[where.kind], values)
    scale = _scale(release, held["bleurt"], held["mapped"])
    for path, where in release.of("bleurt"):
        if where.cell in held["bleurt"] and where.cell not in held["mapped"] and scale is not None:
            mapped = scale(np.array(held["bleurt"][where.cell])).tolist()
            release.add_truths(where, METRICS["mapped"], mapped)
            release.ledger.note(path, "mapped here", len(mapped), len(mapped))
    for path, where in release.of("human"):
        values = numbers_of(release.files[path])
        if len(values) > release.size(where):
            raise SelfprefError(f"{path}: more ratings than sentences")
        release.ledger.note(path, "read", len(values), len(values))
        release.add_truths(where, "human-mqm", values)


def _scale(
    release: Release, raw: dict[Cell, list[float]], mapped: dict[Cell, list[float]]
) -> Scale | None:
    """The release's map from BLEURT to MQM; None where no step has both."""
    both = [
        (path, where.cell)
        for path, where in release.of("mapped")
        if where.cell in raw and where.cell in mapped
    ]

    def of_first(count: int) -> Scale:
        cells = [cell for _, cell in both[:count]]
        return recovered(*(np.concatenate([of[cell] for cell in cells]) for of in (raw, mapped)))

    if not both:
        return None
    try:
        return of_first(len(both))
    except ValueError:
        # Which file brings the contradiction in is asked only now.
        for count, (path, _) in enumerate(both, start=1):
            try:
                of_first(count)
            except ValueError as error:
                raise SelfprefError(
                    f"{path}: no rising map takes BLEURT to it: {error}; is it of another step?"
                ) from error
        raise


def _read_feedback(release: Release, judges: set[str], skipped: set[Cell]) -> None:
    """What the judges say; of several files of a judge on the same texts, each is a repeat."""
    times: Counter[tuple[object, ...]] = Counter()
    for path, where in release.of("feedback"):
        repeat = times[where.cell, where.judge, where.samples]
        times[where.cell, where.judge, where.samples] += 1
        if where.cell in skipped:
            release.left_out(path, "no true score")
        elif where.judge not in judges:
            release.left_out(path, "judge not wanted")
        else:
            _read_ratings(release, path, where, repeat)


def _read_ratings(release: Release, path: str, where: Place, repeat: int) -> None:
    records, rest = records_of(release.files[path])
    if rest:
        release.ledger.note(path, "text after the last terminator", len(records), 1)
    if not release.fits(path, records, "records"):
        return
    concepts = where.language == COMMONGEN
    parse = feedback.coverage if concepts else feedback.mqm
    rule = feedback.released_coverage if concepts else feedback.released_mqm
    said = [parse(record) for record in records]
    release.ledger.count(path, [one.status for one in said], STATUS_FINDINGS)
    release.ledger.count(path, records, FEEDBACK_FINDINGS)
    held = {"judge": where.judge, "task": "coverage" if concepts else "mqm", "variant": "plain"}
    release.add(
        "ratings",
        where,
        [
            {
                **held,
                "repeat": repeat,
                "score": one.score,
                "marks": None if concepts else one.marks,
                "status": one.status,
                "reply": record,
                "stored": rule(record),
            }
            for record, one in zip(records, said, strict=True)
        ],
    )
