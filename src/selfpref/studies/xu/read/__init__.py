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
  and so is what the steps of a chain say about each other (`selfpref.studies.xu.bias`).

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
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from selfpref import tables
from selfpref.download.fetch import fetch
from selfpref.errors import SelfprefError
from selfpref.formats.datasets import judges_of
from selfpref.formats.records import json_lines
from selfpref.params import Dataset
from selfpref.studies.xu import feedback
from selfpref.studies.xu.items import BEST, MATCHERS, PARAPHRASE, Task, covers, recovered

COMMONGEN, HUMAN = "commongen", "human"

_MODEL = r"model_outputs/(?P<responder>[^/]+)"
_REFINED = _MODEL + r"/self_refine/(?P<language>[^/]+)"
_STEP = r"_new_(?P<step>\d+)_rerun"
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
    rf"{_MODEL}(?P<beside>/)(?P<language>[^/]+)_(?:base_outputs|self_refinement_\d+)"
    rf"_(?P=responder)(?:{_STEP})?_(?P<kind>bleurt)\.txt",
    r"model_outputs/(?P<system>[^/]+)/(?P<language>[^/]+?)_\d+"
    r"(?:_(?P<judge>(?!bleurt|feedback)[^_/]+))?(?P<paraphrase>_paraphrase)?"
    r"(?:_(?P<kind>feedback|bleurt_raw|bleurt_nor))?\.txt",
)
# What the words in the names of files stand for; other files hold texts.
_KINDS = {
    **{"src": "asked", "hard": "concepts", "ref": "asked", "human": "human-mqm"},
    **dict.fromkeys(("scores", "eval", "feedback"), "feedback"),
    **dict.fromkeys(("bleurt", "bleurt-raw", "bleurt_raw"), "bleurt"),
    **dict.fromkeys(("bleurt-nor", "bleurt_nor"), "bleurt-mqm"),
}
ASKED = ("asked", "concepts")
METRICS = ("bleurt", "bleurt-mqm", "human-mqm")
# What a file of these kinds holds; one of a metric holds numbers.
HELD = {"text": "lines", "feedback": "records"}


class Place(NamedTuple):
    """What one file holds.

    Attributes:
        kind: `asked` (sources and references), `concepts`, `text`, `feedback`, or the metric of a
            true score.
        condition: How the texts came about: empty for self-refinement, else `second-run`,
            `best-of-<k>` or `paraphrase/<translator>`.
        language: A language pair, or `commongen`; empty for the references, which all share.
        responder: Whose texts.
        step: Of the refinement; of best-of-k 0 for the candidates and 1 for the one chosen; of a
            paraphrase 0 for the translation and 1 for the paraphrase.
        judge: Whose feedback; empty for other kinds.
        samples: Candidates a sentence, else 1.
    """

    kind: str
    condition: str = ""
    language: str = ""
    responder: str = ""
    step: int = 0
    judge: str = ""
    samples: int = 1

    @property
    def cell(self) -> tuple[str, str, str, int]:
        """Condition, language, responder and step."""
        return self[1:5]

    def item(self, line: int) -> str:
        """The name of the item of a line, which counts from 0."""
        return f"{self.condition}/" * bool(self.condition) + f"{self.language}/{line + 1}"


def place(path: str) -> Place:
    """What the file at a path of the release holds.

    Raises:
        SelfprefError: It is of no known kind.
    """
    matches = filter(None, (re.fullmatch(pattern, path) for pattern in _PATTERNS))
    if (match := next(matches, None)) is None:
        raise SelfprefError(f"{path} is no file of this release; remove the line")
    found = defaultdict(str, match.groupdict(default=""))
    kind = _KINDS.get(found["kind"], "text")
    step = int(found["step"] or 0)
    condition = ""
    responder = found["responder"]
    samples = 1
    if k := found["k"]:
        condition = f"{BEST}{k}"
        step = int(found["best"] != "")
        samples = 1 if step else int(k)
    elif system := found["system"]:
        condition = f"{PARAPHRASE}{system}"
        step = int(found["paraphrase"] != "")
        responder = found["judge"] if step else system
    elif found["beside"] and responder == "gemini":
        # Of the models whose texts others read, this one ran twice.
        condition = "second-run"
    judge = (found["judge"] or responder) if kind == "feedback" else ""
    return Place(kind, condition, found["language"], responder, step, judge, samples)


def values_of(path: Path, kind: str) -> list[Any]:
    """The feedback records of a file, its lines, its lists of concepts, or its numbers.

    What stands after the last terminator is no record; a line end at the end of a file makes no
    difference.
    """
    if kind == "concepts":
        return [", ".join(row["concepts"]) for _, row in json_lines(path)]
    text = path.read_bytes().decode()
    if kind == "feedback":
        return text.split("[SEP_TOKEN_WENDA]")[:-1]
    *lines, last = text.split("\n")
    lines += [last] * bool(last)
    return [float(line) for line in lines] if kind in METRICS else lines


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of the release.

    Args:
        dataset: Its key in the parameters, for errors.
        entry: Its entry: the study, and whose feedback to read.
        source: The pinned files.

    Returns:
        items, responses, ratings, truths and audit.

    Raises:
        SelfprefError: A file cannot be had or placed; a judge is not in the release.
    """
    release = Release(source)
    known = {where.judge for where in release.places.values()} - {""}
    release.read({"", *judges_of(dataset, entry, known)})
    found = {"items": release.items(), **release.rows}
    return {name: tables.fill(rows, name, study=entry.study) for name, rows in found.items()}


class Release:
    """One release while it is read: its files, its sentences, and the rows found so far."""

    def __init__(self, source: Path) -> None:
        self.files = dict(sorted(fetch(source).items()))
        self.places = {path: place(path) for path in self.files}
        self.rows = defaultdict[str, list[dict[str, object]]](list)
        # The list of concepts goes on after those that were used; the texts' names say how many.
        numbers = re.findall(rf"{COMMONGEN}_refinement_(\d+)_", "\n".join(self.files))
        used = {COMMONGEN: max(map(int, numbers), default=0)}
        # What is asked, by language; the references, which all share, by none.
        self.asked: dict[str, list[str]] = {}
        for path, where in self.places.items():
            if where.kind not in ASKED:
                continue
            lines = values_of(self.files[path], where.kind)
            self.asked[where.language] = lines[: used.get(where.language)]
            self.note(path, "read", len(lines), len(self.asked[where.language]))

    def note(
        self, path: str, finding: str, rows: int, affected: int, detail: str | None = None
    ) -> None:
        """One row of the audit; `affected` of the file's `rows`."""
        row = {"file": path, "finding": finding, "rows": rows, "affected": affected}
        self.rows["audit"].append(row | {"detail": detail})

    def add(self, table: str, where: Place, **columns: object) -> None:
        """A row for each text of a place, from the first on."""
        rows = pd.DataFrame(columns)
        line, sample = np.divmod(np.arange(len(rows)), where.samples)
        rows["item_id"] = [where.item(one) for one in line]
        # Truths are of texts that stand alone.
        if table != "truths":
            rows["sample"] = sample
        rows = rows.assign(responder=where.responder, step=where.step)
        self.rows[table] += rows.to_dict("records")

    def held(self, judges: Collection[str]) -> Iterator[tuple[str, Place, list[Any]]]:
        """Each file with its values, one a text; what is left out is noted."""
        scored = {where.cell for where in self.places.values() if where.kind in METRICS[:2]}
        in_chains = {cell[:3] for cell in scored}
        for path, where in self.places.items():
            if where.kind in ASKED:
                continue
            n = wanted = len(self.asked[where.language]) * where.samples
            # A step of a translation that no BLEURT was computed for, where other steps have it.
            bare = where.cell not in scored and where.cell[:3] in in_chains
            finding = "read"
            detail = None
            if bare and where.kind in HELD and not where.condition:
                finding = "left out: no true score"
            elif where.judge not in judges:
                finding = "left out: judge not wanted"
            else:
                values = values_of(self.files[path], where.kind)
                n = len(values)
                # People rated the first texts only.
                if n != wanted and where.kind != "human-mqm":
                    held = HELD.get(where.kind, "numbers")
                    finding = f"left out: {held} are not texts"
                    detail = f"{n} {held} for {wanted} texts"
            self.note(path, finding, n, n, detail)
            if finding == "read":
                yield path, where, values

    def read(self, judges: Collection[str]) -> None:
        """Texts, what the judges say of them, and what is true of them.

        Of several files of a judge on the same texts each is a repeat. References are texts where a
        judge read them. What has BLEURT alone gets its map to the scale of MQM.
        """
        times: Counter[Place] = Counter()
        scored = defaultdict[str, dict[Place, list[float]]](dict)
        for path, where, values in self.held(judges):
            if where.kind == "text":
                self.add("responses", where, text=values)
                for matcher in MATCHERS if where.language == COMMONGEN else ():
                    asked = [concepts.split(", ") for concepts in self.asked[COMMONGEN]]
                    covered = map(covers, values, asked, repeat(matcher))
                    self.add("truths", where, metric=f"coverage-{matcher}", score=[*covered])
            elif where.kind == "feedback":
                task: Task = "coverage" if where.language == COMMONGEN else "mqm"
                read = pd.DataFrame([vars(feedback.read(task, reply)) for reply in values])
                self.add(
                    "ratings",
                    where,
                    **read[["status", "score", "reply"]],
                    marks=read["marks"] if task == "mqm" else None,
                    judge=where.judge,
                    task=task,
                    repeat=times[where],
                    stored=[feedback.released(task, reply) for reply in values],
                )
                times[where] += 1
                if echoes := sum(feedback.ECHO.match(reply) is not None for reply in values):
                    self.note(path, "instruction repeated", len(values), echoes)
            else:
                scored[where.kind][where._replace(kind="")] = values
                self.add("truths", where, metric=where.kind, score=values)
        for where in {w._replace(judge="") for w in self.places.values() if w.responder == HUMAN}:
            self.add("responses", where, text=self.asked[""])
        raw = scored["bleurt"]
        mapped = scored["bleurt-mqm"]
        if both := [where for where in mapped if where in raw]:
            scale = recovered(*(np.concatenate([of[at] for at in both]) for of in (raw, mapped)))
            for where in raw.keys() - mapped.keys():
                score = np.interp(raw[where], *scale)
                self.add("truths", where, metric="bleurt-mqm", score=score)

    def items(self) -> Iterator[dict[str, object]]:
        """The rows of items: every condition and language in which there is anything."""
        for where in {
            where[1:3]: where for where in self.places.values() if where.kind in HELD
        }.values():
            given = where.language == COMMONGEN
            for line, text in enumerate(self.asked[where.language]):
                concepts = {"concepts": text.split(", ")} if given else {}
                yield {
                    "item_id": where.item(line),
                    "category": COMMONGEN if given else "translation",
                    "cluster": f"{COMMONGEN if given else 'flores'}/{line + 1}",
                    "messages": [{"role": "user", "content": text}],
                    "reference": None if given else self.asked[""][line],
                    "metadata": json.dumps(concepts),
                }
