"""Where a file of the release stands: the path says what it holds, whose, of which step.

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
from typing import Literal

# Condition, language, responder and step.
Cell = tuple[str, str, str, int]
Kind = Literal["source", "reference", "text", "feedback", "bleurt", "mapped", "human"]
COMMONGEN = "commongen"
SECOND_RUN = "second-run"
# Files beside `self_refine` on these models' texts are of their second run.
RAN_TWICE = {"gemini"}
HUMAN = "human"

_MODEL = r"model_outputs/(?P<responder>[^/]+)"
_REFINED = _MODEL + r"/self_refine/(?P<language>[^/]+)"
_STEP = r"_new_(?P<step>\d+)_rerun"
_SHARED: tuple[tuple[Kind, str], ...] = (
    ("source", r"srcs/(?P<language>.+)_src_\d+\.txt"),
    ("source", r"srcs/(?P<language>commongen)_hard\.jsonl"),
    ("reference", r"refs/en_ref_\d+\.txt"),
)
_CHAINS: tuple[tuple[Kind, str], ...] = (
    ("text", rf"{_REFINED}/(?P=responder)-outputs/[^/]+{_STEP}\.txt"),
    ("feedback", rf"{_REFINED}/(?P=responder)-scores/[^/]+{_STEP}\.txt"),
    ("bleurt", rf"{_REFINED}/bleurt-raw/[^/]+{_STEP}_bleurt\.txt"),
    ("mapped", rf"{_REFINED}/bleurt-nor/(?P=responder)_(?P<step>\d+)_bleurt_nor\.txt"),
    ("human", rf"{_REFINED}/human/human_(?P<step>\d+)\.txt"),
)
_BEST: tuple[tuple[Kind, str], ...] = (
    ("text", rf"{_REFINED}/(?P=responder)-outputs-(?P<best>1of)?(?P<k>\d+)/[^/]+\.txt"),
    ("feedback", rf"{_REFINED}/(?P=responder)-scores-(?P<best>1of)?(?P<k>\d+)/[^/]+\.txt"),
    ("bleurt", rf"{_REFINED}/(?P<best>1of)(?P<k>\d+)-bleurt-raw/[^/]+\.txt"),
    ("mapped", rf"{_REFINED}/(?P<best>1of)(?P<k>\d+)-bleurt-nor/[^/]+\.txt"),
)
_BESIDE: tuple[tuple[Kind, str], ...] = (
    (
        "feedback",
        r"model_outputs/(?P<judge>[^/]+)/(?:old_files/)?(?P<language>[^/]+?)_eval_\d+_one-shot_"
        r"(?P<responder>[^/]+?)(?:_new_(?P<step>\d+))?(?:_rerun)?\.txt",
    ),
    ("bleurt", rf"{_MODEL}/(?P<language>[^/]+)_base_outputs_(?P=responder)_bleurt\.txt"),
    (
        "bleurt",
        rf"{_MODEL}/(?P<language>[^/]+)_self_refinement_\d+_(?P=responder){_STEP}_bleurt\.txt",
    ),
)
_PARAPHRASE = (
    r"model_outputs/(?P<system>[^/]+)/(?P<language>[^/]+?)_\d+(?:_(?P<judge>(?!bleurt)[^_/]+))?"
    r"(?P<paraphrase>_paraphrase)?(?:_(?P<what>feedback|bleurt_raw|bleurt_nor))?\.txt"
)
_WHAT: dict[str | None, Kind] = {
    None: "text",
    "feedback": "feedback",
    "bleurt_raw": "bleurt",
    "bleurt_nor": "mapped",
}


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


def _first(path: str, patterns: tuple[tuple[Kind, str], ...]) -> tuple[Kind, re.Match[str]] | None:
    matches = ((kind, re.fullmatch(pattern, path)) for kind, pattern in patterns)
    return next(((kind, match) for kind, match in matches if match), None)


def place(path: str) -> Place | None:
    """What the file at a path of the release holds, or None for a file of no known kind."""
    if found := _first(path, _SHARED):
        kind, match = found
        return Place(kind, match.groupdict().get("language") or "")
    if found := _first(path, _CHAINS):
        kind, match = found
        judge = match["responder"] if kind == "feedback" else None
        return Place(kind, match["language"], "", match["responder"], int(match["step"]), judge)
    if found := _first(path, _BEST):
        kind, match = found
        step, samples = (1, 1) if match["best"] else (0, int(match["k"]))
        judge = match["responder"] if kind == "feedback" else None
        condition = f"best-of-{match['k']}"
        return Place(kind, match["language"], condition, match["responder"], step, judge, samples)
    if found := _first(path, _BESIDE):
        kind, match = found
        groups = match.groupdict()
        condition = SECOND_RUN if match["responder"] in RAN_TWICE else ""
        step = int(groups.get("step") or 0)
        return Place(
            kind, match["language"], condition, match["responder"], step, groups.get("judge")
        )
    if reworded := re.fullmatch(_PARAPHRASE, path):
        return _paraphrase(reworded)
    return None


def _paraphrase(match: re.Match[str]) -> Place:
    kind, rewritten = _WHAT[match["what"]], bool(match["paraphrase"])
    return Place(
        kind,
        match["language"],
        f"paraphrase/{match['system']}",
        match["judge"] if rewritten else match["system"],
        int(rewritten),
        match["judge"] if kind == "feedback" else None,
    )
