r"""What is true of a text, to compare a judge's score with; and maps between the scales of truths.

| task | truth |
|---|---|
| mqm | BLEURT on the scale of MQM, human MQM (a release's); sentence chrF on the scale of MQM |
| coverage | 1 if every concept is in the sentence, else 0 |
| correctness | 1 if the boxed answer is the right one, else 0 |

**Concepts** (CommonGen-Hard). Two matchers, both on lower-cased words: `surface` asks for the
concept as a word of the sentence; `lemma` asks for it as a word or as the lemma of one. Lemmas come
from simplemma's English dictionary, one lemma a form whatever its part of speech. Xu et al. (arXiv
2402.11436) took spaCy's, which look at the part of speech: coverage may differ from theirs by a few
points.

**Answers** (MATH). The final answer of a solution is what its last `\boxed{...}` holds, braces
balanced. Two answers are equal if they are after normalisation. Spacing commands, `\left` and
`\right`, math delimiters, a trailing unit in `\text{}`, degree and percent signs and a final full
stop are dropped; `\dfrac` and `\tfrac` are `\frac`, `\frac12` is `\frac{1}{2}`, a plain a/b is
`\frac{a}{b}`; numbers lose thousands separators and trailing zeros. The rules are our own, after
those of Hendrycks et al. (arXiv 2103.03874). A solution without an answer is not correct.

**Scales.** A self-score of a translation is on the scale of MQM, -25..0, and so is what it is
compared with. Xu et al. put BLEURT there by quantile mapping on WMT22: all scores of one metric
sorted beside all scores of the other, straight lines between equal ranks. Their map needs no WMT
data to be known: it is what takes the released raw scores to the released mapped ones. Sentence
chrF to the reference, 0..100, comes there in the same way, by the released translations into
English, which have both (tools/scale.py; on sentences that it was not made of the map is off by
what data/published/chrf_mqm_errors.csv tells).
"""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Final, Literal

import numpy as np
import pandas as pd

from selfpref import paths
from selfpref.statistics.bootstrap import Floats
from selfpref.texts import boxes

Matcher = Literal["surface", "lemma"]
MATCHERS: tuple[Matcher, ...] = ("surface", "lemma")
# A rising, piecewise straight map, constant outside its knots (`numpy.interp`): knots on the scale
# mapped from, ascending, each once, and their values on the other.
Scale = tuple[Floats, Floats]

_WORD = re.compile(r"[^\W\d_]+")
_DROPPED: Final = re.compile(r"\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[,;:! ]|\\\(|\\\)|[$~]")
_UNITS: Final = re.compile(r"(?<=[\w})])\\(?:text|mbox|mathrm)\{[^{}]*\}$")
_DEGREES: Final = re.compile(r"\^\{?\\circ\}?|\\degree|\\?%")
_SHORT_FRACTION: Final = re.compile(r"\\frac(?:\{([^{}]+)\}|(\w))(?:\{([^{}]+)\}|(\w))")
_SLASH: Final = re.compile(r"(-?)(\w+)/(\w+)")
_SHORT_ROOT: Final = re.compile(r"\\sqrt(\w)")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)")


def covers(text: str, concepts: Iterable[str], matcher: Matcher) -> float:
    """1 if every concept is there, else 0 (the paper's truth of a sentence).

    Args:
        text: A sentence, in English.
        concepts: Single words, as the data set writes them.
        matcher: `surface` or `lemma`.
    """
    held = {word.lower() for word in _WORD.findall(text)}
    if matcher == "lemma":
        # What is measured without matching anew needs no dictionary.
        import simplemma  # noqa: PLC0415

        held |= {simplemma.lemmatize(word, lang="en").lower() for word in held}
    return float(held.issuperset(concept.lower() for concept in concepts))


def boxed(text: str) -> str | None:
    """The content of the last box; None without one, or if its braces never close."""
    return next(reversed(boxes(text)), None)


def normalised(answer: str) -> str:
    """An answer in the one spelling by which answers are compared."""
    text = _DEGREES.sub("", _DROPPED.sub("", answer)).strip().removesuffix(".")
    text = re.sub(r"\s+", "", _UNITS.sub("", text.strip()))
    text = text.replace("dfrac", "frac").replace("tfrac", "frac").replace("{,}", ",")
    text = _SHORT_ROOT.sub(r"\\sqrt{\1}", text)
    text = _SHORT_FRACTION.sub(lambda m: rf"\frac{{{m[1] or m[2]}}}{{{m[3] or m[4]}}}", text)
    if slash := _SLASH.fullmatch(text):
        text = rf"{slash[1]}\frac{{{slash[2]}}}{{{slash[3]}}}"
    if plain := re.fullmatch(r"\\(?:text|mbox|mathrm|textbf)\{(.*)\}", text):
        text = plain[1]
    text = _THOUSANDS.sub("", text)
    return format(Decimal(text).normalize(), "f") if _NUMBER.fullmatch(text) else text


def answer_of(text: str) -> str | None:
    """The normalised final answer of a solution; None where it gives none."""
    found = boxed(text)
    return normalised(found) or None if found is not None else None


def correct(text: str, reference: str) -> float:
    """1 if a solution's final answer is the reference, else 0.

    Args:
        text: The solution.
        reference: The right answer, without its box.
    """
    return float(answer_of(text) == normalised(reference))


def recovered(raw: Floats, mapped: Floats) -> Scale:
    """The map that took `raw` to `mapped`, both `[n]`, n > 0; equal raw values have one mapped."""
    knots, first = np.unique(raw, return_index=True)
    return knots, mapped[first]


def quantile_map(source: Floats, target: Floats, knots: int = 101) -> Scale:
    """Equal ranks of two samples.

    Args:
        source: Scores to be mapped from, `[n]`, n > 0.
        target: Scores on the scale wanted, `[m]`, m > 0.
        knots: At how many ranks, evenly from the least to the greatest score.

    Returns:
        The map; values of `source` that are tied get the mean of their ranks' targets.
    """
    ranks = np.linspace(0, 1, knots)
    raw, owner, counts = np.unique(
        np.quantile(source, ranks), return_inverse=True, return_counts=True
    )
    return raw, np.bincount(owner, weights=np.quantile(target, ranks)) / counts


def chrf(text: str, reference: str) -> float:
    """Sentence chrF of a translation (sacrebleu's defaults), 0..100."""
    # What has its truths already needs no sacrebleu.
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415

    return float(CHRF().sentence_score(text, [reference]).score)


def chrf_mqm(text: str, reference: str) -> float:
    """Sentence chrF of a translation into English on the scale of MQM, -25..0."""
    knots = pd.read_csv(paths.published_file("chrf_mqm"))
    return float(np.interp(chrf(text, reference), knots["chrf"], knots["mqm"]))
