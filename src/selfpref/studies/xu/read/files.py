"""Where a file of the release stands, and its contents: the path says what it holds, of which step.

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

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

# Condition, language, responder and step.
Cell = tuple[str, str, str, int]
Kind = Literal["source", "reference", "text", "feedback", "bleurt", "mapped", "human"]
COMMONGEN = "commongen"
SECOND_RUN = "second-run"
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
        held = (f"best-of-{k}", responder, int(chosen), judge)
        return Place(kind, language, *held, samples=1 if chosen else int(k))
    if system := found.get("system"):
        rewritten = found["paraphrase"] is not None
        writer = (found["judge"] or "") if rewritten else system
        return Place(kind, language, f"paraphrase/{system}", writer, int(rewritten), judge)
    condition = SECOND_RUN if "beside" in found and responder in RAN_TWICE else ""
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
