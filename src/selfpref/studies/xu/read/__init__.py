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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.datasets import judges_of
from selfpref.formats.records import json_lines
from selfpref.params import Dataset
from selfpref.studies.xu import chains, feedback
from selfpref.studies.xu.items import Task
from selfpref.studies.xu.truths import MATCHERS, covers, recovered

METRICS = {"bleurt": "bleurt", "mapped": "bleurt-mqm", "human": "human-mqm"}
# Condition, language, responder and step.
Cell = tuple[str, str, str, int]
COMMONGEN = "commongen"
# Files beside `self_refine` on these models' texts are of their second run.
RAN_TWICE = {"gemini"}
HUMAN = "human"
# Every feedback record of the release ends with this.
TERMINATOR = "[SEP_TOKEN_WENDA]"

_MODEL = r"model_outputs/(?P<responder>[^/]+)"
_REFINED = _MODEL + r"/self_refine/(?P<language>[^/]+)"
_STEP = r"_new_(?P<step>\d+)_rerun"
_BESIDE = _MODEL + r"(?P<beside>/)(?P<language>[^/]+)"
_SYSTEM = (
    r"model_outputs/(?P<system>[^/]+)/(?P<language>[^/]+?)_\d+(?:_(?P<judge>(?!bleurt)[^_/]+))?"
    r"(?P<paraphrase>_paraphrase)?"
)
# The first that fits counts. A group `beside` is that of a file outside `self_refine`.
_PATTERNS = (
    r"srcs/(?P<language>.+)_(?P<kind>src)_\d+\.txt",
    r"srcs/(?P<language>commongen)_(?P<kind>hard)\.jsonl",
    r"refs/en_(?P<kind>ref)_\d+\.txt",
    rf"{_REFINED}/(?P=responder)-(?P<kind>outputs|scores)/[^/]+{_STEP}\.txt",
    rf"{_REFINED}/(?P<kind>bleurt-raw)/[^/]+{_STEP}_bleurt\.txt",
    rf"{_REFINED}/(?P<kind>bleurt-nor)/(?P=responder)_(?P<step>\d+)_bleurt_nor\.txt",
    rf"{_REFINED}/(?P<kind>human)/human_(?P<step>\d+)\.txt",
    rf"{_REFINED}/(?P=responder)-(?P<kind>outputs|scores)-(?P<best>1of)?(?P<k>\d+)/[^/]+\.txt",
    rf"{_REFINED}/(?P<best>1of)(?P<k>\d+)-(?P<kind>bleurt-(?:raw|nor))/[^/]+\.txt",
    r"model_outputs/(?P<judge>[^/]+)(?P<beside>/)(?:old_files/)?(?P<language>[^/]+?)"
    r"_(?P<kind>eval)_\d+_one-shot_(?P<responder>[^/]+?)(?:_new_(?P<step>\d+))?(?:_rerun)?\.txt",
    rf"{_BESIDE}_base_outputs_(?P=responder)_(?P<kind>bleurt)\.txt",
    rf"{_BESIDE}_self_refinement_\d+_(?P=responder){_STEP}_(?P<kind>bleurt)\.txt",
    rf"{_SYSTEM}_(?P<kind>feedback|bleurt_raw|bleurt_nor)\.txt",
    rf"{_SYSTEM}(?P<kind>)\.txt",
)
# What the words in the names of files stand for.
_KINDS = {"src": "source", "hard": "source", "ref": "reference", "human": "human"}
_KINDS |= dict.fromkeys(("outputs", ""), "text")
_KINDS |= dict.fromkeys(("scores", "eval", "feedback"), "feedback")
_KINDS |= dict.fromkeys(("bleurt", "bleurt-raw", "bleurt_raw"), "bleurt")
_KINDS |= dict.fromkeys(("bleurt-nor", "bleurt_nor"), "mapped")


@dataclass(frozen=True)
class Place:
    """What one file holds.

    Attributes:
        kind: `source`, `reference`, `text`, `feedback`, or a true score, a key of `METRICS`.
        language: A language pair, or `commongen`; empty for the references, which all share.
        condition: How the texts came about: empty for self-refinement, else `second-run`,
            `best-of-<k>` or `paraphrase/<translator>`.
        responder: Whose texts.
        step: Of the refinement; of best-of-k 0 for the candidates and 1 for the one chosen; of a
            paraphrase 0 for the translation and 1 for the paraphrase.
        judge: Whose feedback; None for other kinds.
        samples: Candidates a sentence, else 1.
    """

    kind: str
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

    def item(self, line: int) -> str:
        """The name of the item of a line, which counts from 0."""
        front = f"{self.condition}/" if self.condition else ""
        return f"{front}{self.language}/{line + 1}"


def place(path: str) -> Place | None:
    """What the file at a path of the release holds, or None for a file of no known kind."""
    for pattern in _PATTERNS:
        if match := re.fullmatch(pattern, path):
            return _placed(match.groupdict())
    return None


def _placed(found: dict[str, str | None]) -> Place:
    kind = _KINDS[found["kind"] or ""]
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


# How a file of a kind is read, and what it holds.
_LOADED: dict[str, tuple[Callable[[Path], list[Any]], str]] = {
    "text": (lines_of, "lines"),
    "feedback": (records_of, "records"),
    **dict.fromkeys(METRICS, (numbers_of, "numbers")),
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
        SelfprefError: A file cannot be had or placed; a judge is not in the release; a step lacks
            its predecessor.
    """
    release = Release(source)
    known = {where.judge for _, where in release.of("feedback") if where.judge}
    judges = judges_of(dataset, entry, known)
    release.read_texts()
    release.read_numbers()
    release.read_feedback(judges)
    found = {"items": release.items(), **release.rows}
    return {name: tables.fill(rows, name, study=entry.study) for name, rows in found.items()}


class Release:
    """One release while it is read: its files, its sentences, and the rows found so far."""

    def __init__(self, source: Path) -> None:
        self.files = dict(fetch(source))
        self.places: dict[str, Place] = {}
        for path in sorted(self.files):
            if (where := place(path)) is None:
                raise SelfprefError(f"{source}: {path} is no file of this release; remove the line")
            self.places[path] = where
        _every_step_follows(self.places)
        self.rows: dict[str, list[dict[str, object]]] = {
            name: [] for name in ("responses", "ratings", "truths", "audit")
        }
        # What is asked, by language; the references, which all share, by none.
        self.asked: dict[str, list[str]] = {}
        for path, where in self.of("source", "reference"):
            if where.language == COMMONGEN:
                lines = [", ".join(row["concepts"]) for _, row in json_lines(self.files[path])]
                # The list goes on after the items that were used; the texts' names say how many.
                names = [
                    name.partition(f"{COMMONGEN}_refinement_")[2] for name, _ in self.of("text")
                ]
                used = lines[: max((int(n.partition("_")[0]) for n in names if n), default=0)]
            else:
                lines = used = lines_of(self.files[path])
            self.asked[where.language] = used
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

    def note(
        self, path: str, finding: str, rows: int, affected: int, detail: str | None = None
    ) -> None:
        """One row of the audit; `affected` of the file's `rows`."""
        row = {"file": path, "finding": finding, "rows": rows, "affected": affected}
        self.rows["audit"].append(row | {"detail": detail})

    def values(self, path: str, judges: Collection[str] = ()) -> list[Any] | None:
        """What a file holds, a value a text; None where it is left out. Noted either way."""
        where = self.places[path]
        load, kind = _LOADED[where.kind]
        wanted = len(self.asked[where.language]) * where.samples
        reason = ""
        if where.kind in ("text", "feedback") and where.cell in self.unscored:
            reason = "no true score"
        elif where.judge and where.judge not in judges:
            reason = "judge not wanted"
        if reason:
            self.note(path, f"left out: {reason}", wanted, wanted)
            return None
        values = load(self.files[path])
        n = len(values)
        # People rated the first texts only.
        fits = n == wanted or where.kind == "human"
        detail = None if fits else f"{n} {kind} for {wanted} texts"
        self.note(path, "read" if fits else f"left out: {kind} are not texts", n, n, detail)
        return values if fits else None

    def items(self) -> list[dict[str, object]]:
        """The rows of items: every condition and language in which there is anything."""
        places = {(w.condition, w.language): w for _, w in self.of("text", "feedback", "mapped")}
        rows = []
        for (_, language), where in sorted(places.items()):
            given = language == COMMONGEN
            kind, cluster = (COMMONGEN, COMMONGEN) if given else ("translation", "flores")
            for n, text in enumerate(self.asked[language]):
                concepts = {"concepts": text.split(", ")} if given else {}
                row: dict[str, object] = {"item_id": where.item(n), "category": kind}
                row |= {"cluster": f"{cluster}/{n + 1}", "metadata": json.dumps(concepts)}
                row |= {"messages": [{"role": "user", "content": text}]}
                rows.append(row | {"reference": None if given else self.asked[""][n]})
        return rows

    def add(self, table: str, where: Place, values: Sequence[Mapping[str, object]]) -> None:
        """Add a row for each text of a place; human ratings are of the first texts only."""
        slots = product(range(len(self.asked[where.language])), range(where.samples))
        held = {"responder": where.responder, "step": where.step}
        for (n, sample), value in zip(slots, values, strict=False):
            # Truths are of texts that stand alone.
            slot = {"sample": sample} if table != "truths" else {}
            self.rows[table].append({"item_id": where.item(n), **held, **slot, **value})

    def add_texts(self, where: Place, texts: Sequence[str]) -> None:
        """Add the texts of a place."""
        self.add("responses", where, [{"text": text, "status": "ok"} for text in texts])

    def add_truths(self, where: Place, metric: str, scores: Sequence[float]) -> None:
        """Add the true scores of a place's texts."""
        self.add("truths", where, [{"metric": metric, "score": score} for score in scores])

    def read_texts(self) -> None:
        """The texts, and which concepts they hold; the references that a judge read as texts."""
        for path, where in self.of("text"):
            if (texts := self.values(path)) is None:
                continue
            self.add_texts(where, texts)
            for matcher in MATCHERS if where.language == COMMONGEN else ():
                pairs = zip(texts, self.asked[COMMONGEN], strict=True)
                covered = [covers(text, concepts.split(", "), matcher) for text, concepts in pairs]
                self.add_truths(where, f"coverage-{matcher}", covered)
        judged = {w.language: w for _, w in self.of("feedback") if w.responder == HUMAN}
        for _, where in sorted(judged.items()):
            self.add_texts(where, self.asked[""])

    def read_numbers(self) -> None:
        """BLEURT, its map to the scale of MQM, and human MQM."""
        held: dict[str, dict[Cell, list[float]]] = {kind: {} for kind in METRICS}
        for path, where in self.of(*METRICS):
            if (values := self.values(path)) is None:
                continue
            held[where.kind][where.cell] = values
            self.add_truths(where, METRICS[where.kind], values)
        raw, mapped = held["bleurt"], held["mapped"]
        both = [cell for cell in mapped if cell in raw]
        if not both:
            return
        scale = recovered(*(np.concatenate([of[cell] for cell in both]) for of in (raw, mapped)))
        for _, where in self.of("bleurt"):
            if where.cell in raw and where.cell not in mapped:
                here = scale(np.array(raw[where.cell])).tolist()
                self.add_truths(where, METRICS["mapped"], here)

    def read_feedback(self, judges: set[str]) -> None:
        """What the judges say; of several files of a judge on the same texts, each is a repeat."""
        times: Counter[tuple[object, ...]] = Counter()
        for path, where in self.of("feedback"):
            repeat = times[where.cell, where.judge, where.samples]
            times[where.cell, where.judge, where.samples] += 1
            if (records := self.values(path, judges)) is None:
                continue
            echoes = sum(feedback.without_echo(record) != record for record in records)
            if echoes:
                self.note(path, "instruction repeated", len(records), echoes)
            given = where.language == COMMONGEN
            task: Task = "coverage" if given else "mqm"
            rule = feedback.released_coverage if given else feedback.released_mqm
            held = {"judge": where.judge, "task": task, "repeat": repeat}
            rows = []
            for record in records:
                said = feedback.read(task, record)
                row = {"reply": record, "stored": rule(record), "score": said.score}
                row |= {"status": said.status, "marks": None if given else said.marks}
                rows.append(held | row)
            self.add("ratings", where, rows)


def _every_step_follows(places: Mapping[str, Place]) -> None:
    """Refuse a list of files in which a step lacks its predecessor."""
    steps: dict[tuple[str, str], set[int]] = {}
    for path, where in places.items():
        own = where.kind == "text" or (where.kind == "feedback" and where.judge == where.responder)
        if own and not where.condition and where.responder != HUMAN:
            what = f"{where.language}, {where.responder}: no {where.kind}"
            steps.setdefault((path.rpartition("/")[0], what), set()).add(where.step)
    for (folder, what), held in sorted(steps.items()):
        if missing := sorted({*range(max(held))} - held):
            raise SelfprefError(
                f"{folder}: {what} of step {missing[0]}, but of step {max(held)}; list every step "
                "up to the last"
            )
