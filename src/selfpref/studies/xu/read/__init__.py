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

- A file that does not hold one value a sentence (or candidate) cannot be aligned: it is left out
  whole, and the audit says why; nothing is guessed from what is left of it. So are steps of a
  translation without BLEURT (gpt-4, steps 11 and 12: another run).
- Feedback of Gemini on texts of others, and of gpt-4 on Gemini's, was given to texts of other runs,
  most of which are not released; it is read as the files are named. The texts of Gemini's second
  run are not released either. Whether feedback quotes the text at hand is for the metrics to check,
  and so is what the steps of a chain say about each other (`selfpref.studies.xu.chains`).

What a file holds, and of which step, its path says:

| path below `model_outputs/` (M: a model, L: a language pair or `commongen`, t: a step) | holds |
|---|---|
| `M/self_refine/L/M-outputs/…_new_t_rerun.txt` | texts, a line each |
| `M/self_refine/L/M-scores/…_new_t_rerun.txt` | M's feedback, records with a terminator |
| `M/self_refine/L/bleurt-{raw,nor}/…` | BLEURT, and the same on the scale of MQM |
| `M/self_refine/L/human/human_t.txt` | human MQM of the first sentences |
| `M/self_refine/L/M-{outputs,scores}-k/…`, `…-1ofk/…`, `1ofk-bleurt-{raw,nor}/…` | best of k |
| `S/L_100…` | a translator S, judged and paraphrased by other models |
| `M/[old_files/]L_eval_100_one-shot_R…` | M's feedback on the texts of R |
| `M/L_base_outputs_M_bleurt.txt`, `M/L_self_refinement_100_M_…` | BLEURT of a second run |
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.datasets import judges_of
from selfpref.formats.records import json_lines
from selfpref.params import Dataset
from selfpref.studies.xu import chains, feedback
from selfpref.studies.xu.items import Task
from selfpref.studies.xu.truths import MATCHERS, covers, recovered

KEY = ["study", "item_id", "responder", "step"]
COLUMNS = {
    "responses": [*KEY, "sample", "text", "status"],
    "ratings": [
        *(*KEY, "sample", "judge", "task", "variant", "repeat", "score", "marks", "reply"),
        *("stored", "status"),
    ],
    "truths": [*KEY, "metric", "score"],
    "audit": ["study", "file", "finding", "rows", "affected", "detail"],
}
METRICS = {"bleurt": "bleurt", "mapped": "bleurt-mqm", "human": "human-mqm"}


# Condition, language, responder and step.
Cell = tuple[str, str, str, int]
Kind = Literal["source", "reference", "text", "feedback", "bleurt", "mapped", "human"]
COMMONGEN = "commongen"
# Files beside `self_refine` on these models' texts are of their second run.
RAN_TWICE = {"gemini"}
HUMAN = "human"
# Every feedback record of the release ends with this.
TERMINATOR = "[SEP_TOKEN_WENDA]"

_MODEL = r"model_outputs/(?P<responder>[^/]+)"
_REFINED = _MODEL + r"/self_refine/(?P<language>[^/]+)"
_STEP = r"_new_(?P<step>\d+)_rerun"
_BEST = r"(?P<best>1of)?(?P<k>\d+)"
_SYSTEM = (
    r"model_outputs/(?P<system>[^/]+)/(?P<language>[^/]+?)_\d+(?:_(?P<judge>(?!bleurt)[^_/]+))?"
    r"(?P<paraphrase>_paraphrase)?"
)
# The first that fits counts. A group `beside` is that of a file outside `self_refine`.
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("source", r"srcs/(?P<language>.+)_src_\d+\.txt"),
    ("source", r"srcs/(?P<language>commongen)_hard\.jsonl"),
    ("reference", r"refs/en_ref_\d+\.txt"),
    ("text", rf"{_REFINED}/(?P=responder)-outputs/[^/]+{_STEP}\.txt"),
    ("feedback", rf"{_REFINED}/(?P=responder)-scores/[^/]+{_STEP}\.txt"),
    ("bleurt", rf"{_REFINED}/bleurt-raw/[^/]+{_STEP}_bleurt\.txt"),
    ("mapped", rf"{_REFINED}/bleurt-nor/(?P=responder)_(?P<step>\d+)_bleurt_nor\.txt"),
    ("human", rf"{_REFINED}/human/human_(?P<step>\d+)\.txt"),
    ("text", rf"{_REFINED}/(?P=responder)-outputs-{_BEST}/[^/]+\.txt"),
    ("feedback", rf"{_REFINED}/(?P=responder)-scores-{_BEST}/[^/]+\.txt"),
    ("bleurt", rf"{_REFINED}/(?P<best>1of)(?P<k>\d+)-bleurt-raw/[^/]+\.txt"),
    ("mapped", rf"{_REFINED}/(?P<best>1of)(?P<k>\d+)-bleurt-nor/[^/]+\.txt"),
    (
        "feedback",
        r"model_outputs/(?P<judge>[^/]+)(?P<beside>/)(?:old_files/)?(?P<language>[^/]+?)"
        r"_eval_\d+_one-shot_(?P<responder>[^/]+?)(?:_new_(?P<step>\d+))?(?:_rerun)?\.txt",
    ),
    (
        "bleurt",
        rf"{_MODEL}(?P<beside>/)(?P<language>[^/]+)_base_outputs_(?P=responder)_bleurt\.txt",
    ),
    (
        "bleurt",
        rf"{_MODEL}(?P<beside>/)(?P<language>[^/]+)_self_refinement_\d+_(?P=responder){_STEP}"
        r"_bleurt\.txt",
    ),
    ("feedback", rf"{_SYSTEM}_feedback\.txt"),
    ("bleurt", rf"{_SYSTEM}_bleurt_raw\.txt"),
    ("mapped", rf"{_SYSTEM}_bleurt_nor\.txt"),
    ("text", rf"{_SYSTEM}\.txt"),
)


@dataclass(frozen=True)
class Place:
    """What one file holds.

    Attributes:
        kind: Texts, feedback, or a true score.
        language: A language pair, or `commongen`; empty for the references, which all share.
        condition: How the texts came about: empty for self-refinement, else `second-run`,
            `best-of-<k>` or `paraphrase/<translator>`.
        responder: Whose texts.
        step: Of the refinement; of best-of-k 0 for the candidates and 1 for the one chosen; of a
            paraphrase 0 for the translation and 1 for the paraphrase.
        judge: Whose feedback; None for other kinds.
        samples: Candidates a sentence, else 1.
    """

    kind: Kind
    language: str = ""
    condition: str = ""
    responder: str = ""
    step: int = 0
    judge: str | None = None
    samples: int = 1

    @property
    def cell(self) -> Cell:
        """Condition, language, responder and step."""
        return self.condition, self.language, self.responder, self.step


def place(path: str) -> Place | None:
    """What the file at a path of the release holds, or None for a file of no known kind."""
    for kind, pattern in _PATTERNS:
        if match := re.fullmatch(pattern, path):
            return _placed(kind, match.groupdict())
    return None


def _placed(kind: Kind, found: dict[str, str | None]) -> Place:
    language, responder = found.get("language") or "", found.get("responder") or ""
    judge = (found.get("judge") or responder) if kind == "feedback" else None
    if k := found.get("k"):
        chosen = found["best"] is not None
        held = (f"{chains.BEST}{k}", responder, int(chosen), judge)
        return Place(kind, language, *held, samples=1 if chosen else int(k))
    if system := found.get("system"):
        rewritten = found["paraphrase"] is not None
        writer = (found["judge"] or "") if rewritten else system
        return Place(kind, language, f"{chains.PARAPHRASE}{system}", writer, int(rewritten), judge)
    condition = "second-run" if "beside" in found and responder in RAN_TWICE else ""
    return Place(kind, language, condition, responder, int(found.get("step") or 0), judge)


def lines_of(path: Path) -> list[str]:
    """The lines of a file; a missing line end at its end makes no difference."""
    lines = path.read_bytes().decode().split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def numbers_of(path: Path) -> list[float]:
    """The numbers of a file, one a line."""
    return [float(line) for line in lines_of(path)]


def records_of(path: Path) -> list[str]:
    """The feedback records of a file; what stands after the last terminator is none."""
    return path.read_bytes().decode().split(TERMINATOR)[:-1]


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the release.

    Args:
        dataset: Its key in the parameters, for errors.
        entry: Its entry: the study, and whose feedback to read.
        source: The pinned files.

    Returns:
        items, responses, ratings, truths and audit.

    Raises:
        SelfprefError: A file cannot be had or placed; a judge is not in the release; a step lacks
            its predecessor.
    """
    release = Release(entry.study, source)
    known = {where.judge for _, where in release.of("feedback") if where.judge}
    judges = judges_of(dataset, entry, known)
    _read_texts(release)
    _read_numbers(release)
    _read_feedback(release, judges)
    found = {
        name: pd.DataFrame(release.rows[name], columns=columns) for name, columns in COLUMNS.items()
    }
    found["ratings"] = found["ratings"].assign(mass=None, distribution=None)
    return {"items": release.items(), **found}


class Release:
    """One release while it is read: its files, its sentences, and the rows found so far."""

    def __init__(self, study: str, source: Path) -> None:
        self.study, self.files = study, dict(fetch(source))
        self.places: dict[str, Place] = {}
        for path in sorted(self.files):
            if (where := place(path)) is None:
                raise SelfprefError(f"{source}: {path} is no file of this release; remove the line")
            self.places[path] = where
        _every_step_follows(self.places)
        self.rows: dict[str, list[dict[str, object]]] = {name: [] for name in COLUMNS}
        # What is asked, by language.
        self.asked: dict[str, list[str]] = {}
        self.references: list[str] = []
        for path, where in self.of("source", "reference"):
            if where.language == COMMONGEN:
                lines = [", ".join(row["concepts"]) for _, row in json_lines(self.files[path])]
            else:
                lines = lines_of(self.files[path])
            used = self._used(where, lines)
            if where.kind == "source":
                self.asked[where.language] = used
            else:
                self.references = used
            self.note(path, "read", len(lines), len(used))
        scored = {where.cell for _, where in self.of("bleurt", "mapped")}
        in_chains = {cell[:3] for cell in scored}
        # Steps of a translation that no BLEURT was computed for, where other steps have it.
        self.unscored = {
            where.cell
            for _, where in self.of("text", "feedback")
            if where.cell[:3] in in_chains and not where.condition and where.cell not in scored
        }

    def of(self, *kinds: str) -> Iterator[tuple[str, Place]]:
        """Paths and places of some kinds, in order."""
        return ((path, where) for path, where in self.places.items() if where.kind in kinds)

    def _used(self, where: Place, lines: list[str]) -> list[str]:
        """Of the list of concepts, which goes on, as many as the names of the texts say."""
        if where.language != COMMONGEN:
            return lines
        named = [path.partition(f"{COMMONGEN}_refinement_")[2] for path, _ in self.of("text")]
        return lines[: max((int(name.partition("_")[0]) for name in named if name), default=0)]

    def note(
        self, path: str, finding: str, rows: int, affected: int, detail: str | None = None
    ) -> None:
        """One row of the audit; `affected` of the file's `rows`."""
        row = (self.study, path, finding, rows, affected, detail)
        self.rows["audit"].append(dict(zip(COLUMNS["audit"], row, strict=True)))

    def items_of(self, where: Place) -> list[dict[str, object]]:
        """Study and item_id of each sentence of a place."""
        name = f"{where.condition}/{where.language}" if where.condition else where.language
        sentences = range(1, len(self.asked[where.language]) + 1)
        return [{"study": self.study, "item_id": f"{name}/{n}"} for n in sentences]

    def fits(self, path: str, values: Sequence[object], kind: str) -> bool:
        """Whether a file has one value a text, so that they can be aligned; noted either way."""
        where, n = self.places[path], len(values)
        wanted = len(self.asked[where.language]) * where.samples
        if n == wanted:
            self.note(path, "read", n, n)
        else:
            reason = f"{n} {kind} for {wanted} texts"
            self.note(path, f"left out: {kind} are not texts", n, n, reason)
        return n == wanted

    def wanted(self, path: str, judges: set[str]) -> bool:
        """Whether a file of texts or feedback is to be read; noted if not."""
        where, reason = self.places[path], ""
        if where.cell in self.unscored:
            reason = "no true score"
        elif where.judge and where.judge not in judges:
            reason = "judge not wanted"
        if reason:
            n = len(self.asked[where.language]) * where.samples
            self.note(path, f"left out: {reason}", n, n)
        return not reason

    def items(self) -> pd.DataFrame:
        """The items table: every condition and language in which there is anything."""
        wheres = {(w.condition, w.language): w for _, w in self.of("text", "feedback", "mapped")}
        rows = []
        for (_, language), where in sorted(wheres.items()):
            given = language == COMMONGEN
            asked = zip(self.items_of(where), self.asked[language], strict=True)
            for n, (identity, text) in enumerate(asked):
                concepts = {"concepts": text.split(", ")} if given else {}
                rows.append(
                    identity
                    | {
                        "category": COMMONGEN if given else "translation",
                        "cluster": f"{COMMONGEN if given else 'flores'}/{n + 1}",
                        "messages": [{"role": "user", "content": text}],
                        "reference": None if given else self.references[n],
                        "metadata": json.dumps(concepts),
                    }
                )
        return pd.DataFrame(rows)

    def add(self, table: str, where: Place, values: Sequence[Mapping[str, object]]) -> None:
        """Add a row for each text of a place; human ratings are of the first texts only."""
        slots = product(self.items_of(where), range(where.samples))
        held = {"responder": where.responder, "step": where.step}
        for (item, sample), value in zip(slots, values, strict=False):
            self.rows[table].append({**item, **held, "sample": sample, **value})

    def add_truths(self, where: Place, metric: str, scores: Sequence[float]) -> None:
        """Add the true scores of a place's texts."""
        self.add("truths", where, [{"metric": metric, "score": score} for score in scores])


def _every_step_follows(places: Mapping[str, Place]) -> None:
    """Refuse a list of files in which a step lacks its predecessor."""
    steps: dict[tuple[str, str], set[int]] = {}
    for path, where in places.items():
        own = where.kind == "text" or (where.kind == "feedback" and where.judge == where.responder)
        if own and not where.condition and where.responder != HUMAN:
            what = f"{where.language}, {where.responder}: no {where.kind}"
            steps.setdefault((path.rpartition("/")[0], what), set()).add(where.step)
    for (folder, what), held in sorted(steps.items()):
        if (missing := chains.gap(pd.Series(sorted(held)))) is not None:
            raise SelfprefError(
                f"{folder}: {what} of step {missing}, but of step {max(held)}; list every step up "
                "to the last"
            )


def _read_texts(release: Release) -> None:
    """The texts, and which concepts they hold; the references that a judge read as texts."""
    for path, where in release.of("text"):
        if not release.wanted(path, set()):
            continue
        texts = lines_of(release.files[path])
        if not release.fits(path, texts, "lines"):
            continue
        release.add("responses", where, [{"text": text, "status": "ok"} for text in texts])
        for matcher in MATCHERS if where.language == COMMONGEN else ():
            pairs = zip(texts, release.asked[COMMONGEN], strict=True)
            covered = [covers(text, concepts.split(", "), matcher) for text, concepts in pairs]
            release.add_truths(where, f"coverage-{matcher}", covered)
    judged = {w.language: w for _, w in release.of("feedback") if w.responder == HUMAN}
    for _, where in sorted(judged.items()):
        texts = release.references
        release.add("responses", where, [{"text": text, "status": "ok"} for text in texts])


def _read_numbers(release: Release) -> None:
    """BLEURT, its map to the scale of MQM, and human MQM."""
    held: dict[str, dict[Cell, list[float]]] = {"bleurt": {}, "mapped": {}}
    for path, where in release.of(*METRICS):
        values = numbers_of(release.files[path])
        if where.kind == "human":
            release.note(path, "read", len(values), len(values))
        elif release.fits(path, values, "numbers"):
            held[where.kind][where.cell] = values
        else:
            continue
        release.add_truths(where, METRICS[where.kind], values)
    raw, mapped = held["bleurt"], held["mapped"]
    both = [cell for cell in mapped if cell in raw]
    if not both:
        return
    scale = recovered(*(np.concatenate([of[cell] for cell in both]) for of in (raw, mapped)))
    for _, where in release.of("bleurt"):
        if where.cell in raw and where.cell not in mapped:
            here = scale(np.array(raw[where.cell])).tolist()
            release.add_truths(where, METRICS["mapped"], here)


def _read_feedback(release: Release, judges: set[str]) -> None:
    """What the judges say; of several files of a judge on the same texts, each is a repeat."""
    times: Counter[tuple[object, ...]] = Counter()
    for path, where in release.of("feedback"):
        repeat = times[where.cell, where.judge, where.samples]
        times[where.cell, where.judge, where.samples] += 1
        if not release.wanted(path, judges):
            continue
        records = records_of(release.files[path])
        if not release.fits(path, records, "records"):
            continue
        echoes = sum(feedback.without_echo(record) != record for record in records)
        if echoes:
            release.note(path, "instruction repeated", len(records), echoes)
        given = where.language == COMMONGEN
        task: Task = "coverage" if given else "mqm"
        rule = feedback.released_coverage if given else feedback.released_mqm
        held = {"judge": where.judge, "task": task, "variant": "plain", "repeat": repeat}
        rows = []
        for record in records:
            said = feedback.read(task, record)
            row = {"reply": record, "stored": rule(record), "score": said.score}
            row |= {"status": said.status, "marks": None if given else said.marks}
            rows.append(held | row)
        release.add("ratings", where, rows)
