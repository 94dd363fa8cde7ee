r"""Items of self-refinement: what is asked, and what is true of a text that answers it.

An item is `<language>/<number>`, such as `yor-en/12`; texts that came about otherwise have the
condition in front: `best-of-8/yor-en/12`, `accept-all/lab-en/12`.

The items table holds the request in `messages` (the source sentence, the concepts, the problem),
the right translation or answer in `reference`, and the rest in `metadata`:

    task        mqm | coverage | correctness
    language    of the source, in words ("Yoruba"); mqm only
    target      of the translation, in words ("English"); mqm only
    concepts    list of words; coverage only
    oracle      true where the grammar of the testbed says what is wrong; mqm only

**What is true of a text**, to compare a judge's score with:

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

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

import numpy as np
import pandas as pd

from selfpref import paths
from selfpref.statistics.bootstrap import Floats
from selfpref.texts import boxes

Task = Literal["mqm", "coverage", "correctness"]
CATEGORIES: Final[dict[Task, str]] = {
    "mqm": "translation",
    "coverage": "commongen",
    "correctness": "mathematics",
}
TASKS: Final = tuple(CATEGORIES)
# Conditions: the best of so many candidates, and the paraphrase of a translator's text.
BEST = "best-of-"
PARAPHRASE = "paraphrase/"
# The variant of ratings of kept texts that were read afresh, by draws that selected nothing.
RESCORED = "rescored"
Matcher = Literal["surface", "lemma"]
MATCHERS: tuple[Matcher, ...] = ("surface", "lemma")
# A rising, piecewise straight map, constant outside its knots (`numpy.interp`): knots on the scale
# mapped from, ascending, each once, and their values on the other.
Scale = tuple[Floats, Floats]

# What an answer's one spelling puts for what, in this order.
_SPELLING = (
    # Spacing and delimiters, degrees and percent, a final full stop, a unit behind a number.
    (r"\\(?:left|right|displaystyle)(?![a-zA-Z])|\\[,;:! ]|\\\(|\\\)|[$~]", ""),
    (r"\^\{?\\circ\}?|\\degree|\\?%", ""),
    (r"\s*\.?\s*$", ""),
    (r"(?<=[\w})])\\(?:text|mbox|mathrm)\{[^{}]*\}$", ""),
    (r"\s+", ""),
    # Roots and fractions in full.
    (r"[dt]frac", "frac"),
    (r"\{,\}", ","),
    (r"\\sqrt(\w)", r"\\sqrt{\1}"),
    (r"\\frac(?:\{([^{}]+)\}|(\w))(?:\{([^{}]+)\}|(\w))", r"\\frac{\1\2}{\3\4}"),
    (r"^(-?)(\w+)/(\w+)$", r"\1\\frac{\2}{\3}"),
    # Words, and thousands.
    (r"^\\(?:text|mbox|mathrm|textbf)\{(.*)\}$", r"\1"),
    (r"(?<=\d),(?=\d{3}(?!\d))", ""),
)


@dataclass(frozen=True)
class Item:
    """One item.

    Attributes:
        item_id: `<language or task>/<number>`.
        task: By what its answers are judged.
        request: The source sentence, the concepts joined by commas, or the problem.
        reference: The right translation or answer; None for concepts.
        language: Of the source; empty but for translations.
        target: Of the translation; empty but for translations.
        concepts: Which an answer has to hold; empty but for constrained generation.
        oracle: Whether the testbed's grammar knows the errors of a translation.
        cluster: What a bootstrap resamples; the item itself unless said.
    """

    item_id: str
    task: Task
    request: str
    reference: str | None = None
    language: str = ""
    target: str = ""
    concepts: tuple[str, ...] = ()
    oracle: bool = False
    cluster: str = ""


def to_table(study: str, items: Iterable[Item]) -> pd.DataFrame:
    """The items table."""
    known = pd.DataFrame([vars(item) for item in items])
    held = known[["task", "language", "target", "concepts", "oracle"]].to_dict("records")
    return known[["item_id", "reference"]].assign(
        study=study,
        category=known["task"].map(CATEGORIES),
        cluster=known["cluster"].where(known["cluster"].ne(""), known["item_id"]),
        messages=[[{"role": "user", "content": request}] for request in known["request"]],
        metadata=[json.dumps({key: of for key, of in row.items() if of}) for row in held],
    )


def from_table(items: pd.DataFrame) -> list[Item]:
    """The items of a table, in its order."""
    found = []
    for row in items.to_dict("records"):
        held = json.loads(row["metadata"])
        held["concepts"] = tuple(held.get("concepts", ()))
        reference = None if pd.isna(row["reference"]) else row["reference"]
        asked = {"request": row["messages"][-1]["content"], "cluster": row["cluster"]}
        found.append(Item(row["item_id"], reference=reference, **asked, **held))
    return found


def addressed(item_ids: pd.Series) -> pd.DataFrame:
    """What an item's name holds: `<condition>/<language>/<sentence>`, the condition often empty.

    Args:
        item_ids: Such as `yor-en/12` or `best-of-8/yor-en/12`.

    Returns:
        `condition, language`; a condition may hold slashes itself.
    """
    found = item_ids.astype("str").str.extract(
        r"^(?:(?P<condition>.+)/)?(?P<language>[^/]+)/[^/]+$"
    )
    return found.fillna("")


def under_conditions(items: pd.DataFrame, item_ids: pd.Series) -> pd.DataFrame:
    """The items table with a row for every item that occurs under a condition.

    Args:
        items: The items table; a source may name items under conditions itself.
        item_ids: Those that occur in other tables, such as `accept-all/lab-en/12`.
    """
    named = pd.DataFrame({"item_id": sorted(set(item_ids) - set(items["item_id"]))}, dtype="str")
    named["plain"] = named["item_id"].str.extract(r"([^/]+/[^/]+)$", expand=False)
    plain = items.rename(columns={"item_id": "plain"})
    added = named.merge(plain, on="plain").reindex(columns=list(items))
    return pd.concat([items, added], ignore_index=True)


def covers(text: str, concepts: Iterable[str], matcher: Matcher) -> float:
    """1 if every concept is there, else 0 (the paper's truth of a sentence).

    Args:
        text: A sentence, in English.
        concepts: Single words, as the data set writes them.
        matcher: `surface` or `lemma`.
    """
    held = {word.lower() for word in re.findall(r"[^\W\d_]+", text)}
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
    for given, put in _SPELLING:
        answer = re.sub(given, put, answer)
    number = re.fullmatch(r"[-+]?(?:\d+\.?\d*|\.\d+)", answer)
    return format(Decimal(answer).normalize(), "f") if number else answer


def answer_of(text: str) -> str | None:
    """The normalised final answer of a solution; None where it gives none."""
    return normalised(boxed(text) or "") or None


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
    mapped = pd.Series(np.quantile(target, ranks))
    found = mapped.groupby(np.quantile(source, ranks)).mean()
    return found.index.to_numpy(), found.to_numpy()


def chrf(text: str, reference: str) -> float:
    """Sentence chrF of a translation (sacrebleu's defaults), 0..100."""
    # What has its truths already needs no sacrebleu.
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415

    return float(CHRF().sentence_score(text, [reference]).score)


def chrf_mqm(text: str, reference: str) -> float:
    """Sentence chrF of a translation into English on the scale of MQM, -25..0."""
    knots = pd.read_csv(paths.published_file("chrf_mqm"))
    return float(np.interp(chrf(text, reference), knots["chrf"], knots["mqm"]))
