"""The rows that the files of a release give: texts, true scores, feedback."""

from collections import Counter
from collections.abc import Callable
from itertools import product

import numpy as np

from selfpref.errors import SelfprefError
from selfpref.prompts import feedback
from selfpref.prompts.feedback import Feedback
from selfpref.studies.xu import chains
from selfpref.studies.xu.concepts import MATCHERS, covers
from selfpref.studies.xu.read.contents import (
    aligned_lines,
    aligned_numbers,
    aligned_records,
    numbers_of,
)
from selfpref.studies.xu.read.layout import COMMONGEN, HUMAN, Cell, Place
from selfpref.studies.xu.read.release import Release
from selfpref.studies.xu.scales import Scale, recovered

_METRICS = {"bleurt": "bleurt", "mapped": "bleurt-mqm"}
TEXT_FINDINGS: dict[str, Callable[[str], bool]] = {
    "boilerplate": chains.boilerplate,
    "blocked text": lambda text: feedback.BLOCKED in text,
    "empty text": lambda text: not text.strip(),
}
FEEDBACK_FINDINGS: dict[str, Callable[[str], bool]] = {
    "instruction repeated": lambda reply: feedback.without_echo(reply) != reply,
    "unknown severity": feedback.unknown_severity,
}


def read_texts(release: Release, skipped: set[Cell]) -> None:
    """Add the texts, and which concepts they hold.

    Args:
        release: Where they go.
        skipped: Cells to leave out.
    """
    for path, where in release.of("text"):
        local, wanted = release.files[path], release.size(where) * where.samples
        if where.cell in skipped:
            release.ledger.note(path, "left out: no true score", wanted, wanted)
            continue
        texts = aligned_lines(path, local, wanted, release.ledger)
        if texts is None:
            continue
        for finding, found in TEXT_FINDINGS.items():
            release.ledger.count(path, finding, [found(text) for text in texts])
        slots = product(release.items_of(where), range(where.samples))
        held = {"responder": where.responder, "step": where.step, "status": "ok"}
        release.responses += [
            item | held | {"sample": sample, "text": text}
            for (item, sample), text in zip(slots, texts, strict=True)
        ]
        if where.language == COMMONGEN:
            for matcher in MATCHERS:
                covered = [
                    covers(text, concepts, matcher)
                    for text, concepts in zip(texts, release.concepts, strict=True)
                ]
                _add_truths(release, where, f"coverage-{matcher}", covered)


def read_references(release: Release) -> None:
    """Add the reference translations, where a judge read them as one more translator's.

    Args:
        release: Where they go.
    """
    judged = {w.language: w for _, w in release.of("feedback") if w.responder == HUMAN}
    held = {"responder": HUMAN, "step": 0, "sample": 0, "status": "ok"}
    for _, where in sorted(judged.items()):
        release.responses += [
            item | held | {"text": text}
            for item, text in zip(release.items_of(where), release.references, strict=True)
        ]


def _add_truths(release: Release, where: Place, metric: str, values: list[float]) -> None:
    held = {"responder": where.responder, "step": where.step, "metric": metric}
    release.truths += [
        item | held | {"score": value}
        for item, value in zip(release.items_of(where), values, strict=False)
    ]


def read_numbers(release: Release) -> None:
    """Add BLEURT, its map to the scale of MQM, and human MQM.

    Args:
        release: Where they go.

    Raises:
        SelfprefError: A line is no number, or the map contradicts itself.
    """
    raw: dict[Cell, list[float]] = {}
    mapped: dict[Cell, list[float]] = {}
    for path, where in release.of("bleurt", "mapped"):
        wanted = release.size(where)
        values = aligned_numbers(path, release.files[path], wanted, release.ledger)
        if values is not None:
            (raw if where.kind == "bleurt" else mapped)[where.cell] = values
            _add_truths(release, where, _METRICS[where.kind], values)
    scale = _scale(release, raw, mapped)
    for path, where in release.of("bleurt"):
        if where.cell in raw and where.cell not in mapped and scale is not None:
            values = [float(value) for value in scale(np.array(raw[where.cell]))]
            _add_truths(release, where, _METRICS["mapped"], values)
            release.ledger.note(path, "mapped here", len(values), len(values))
    for path, where in release.of("human"):
        values = numbers_of(release.files[path])
        if len(values) > release.size(where):
            raise SelfprefError(f"{path}: more ratings than sentences")
        # Raters saw the first sentences only.
        release.ledger.note(path, "read", len(values), len(values))
        _add_truths(release, where, "human-mqm", values)


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
        pair = (
            np.concatenate([np.array(values[cell]) for cell in cells]) for values in (raw, mapped)
        )
        return recovered(*pair)

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


def read_feedback(release: Release, judges: list[str] | None, skipped: set[Cell]) -> None:
    """Add what the judges say.

    Args:
        release: Where it goes.
        judges: Whose feedback; None: everyone's.
        skipped: Cells to leave out.
    """
    times: Counter[tuple[object, ...]] = Counter()
    for path, where in release.of("feedback"):
        repeat = times[where.cell, where.judge, where.samples]
        times[where.cell, where.judge, where.samples] += 1
        local, wanted = release.files[path], release.size(where) * where.samples
        if where.cell in skipped or (judges is not None and where.judge not in judges):
            reason = "no true score" if where.cell in skipped else "judge not wanted"
            release.ledger.note(path, f"left out: {reason}", wanted, wanted)
            continue
        records = aligned_records(path, local, wanted, release.ledger)
        if records is not None:
            _add_ratings(release, path, where, repeat, records)


def _add_ratings(
    release: Release, path: str, where: Place, repeat: int, records: list[str]
) -> None:
    concepts = where.language == COMMONGEN
    read: Callable[[str], Feedback] = feedback.coverage if concepts else feedback.mqm
    rule = feedback.released_coverage if concepts else feedback.released_mqm
    found = [read(record) for record in records]
    release.ledger.count(path, "blocked", [one.status == "refused" for one in found])
    release.ledger.count(path, "unparsable", [one.status == "unparsable" for one in found])
    for finding, hit in FEEDBACK_FINDINGS.items():
        release.ledger.count(path, finding, [hit(record) for record in records])
    slots = product(release.items_of(where), range(where.samples))
    held = {
        "responder": where.responder,
        "step": where.step,
        "judge": where.judge,
        "task": "coverage" if concepts else "mqm",
        "variant": "plain",
        "repeat": repeat,
    }
    release.ratings += [
        item
        | held
        | {"sample": sample, "score": said.score, "marks": said.marks, "status": said.status}
        | {"reply": record, "stored": rule(record)}
        for (item, sample), record, said in zip(slots, records, found, strict=True)
    ]
