"""Rules of the language, reasoning and data-analysis tasks, and where a response states its answer.

A response states its answer in a box, in bold, after the word "answer", or in its last line. A rule
gives what a response gets in strict form, and what in the forms that are tolerated beside it.
"""

import ast
import csv
import difflib
import html
import json
import math
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from selfpref.texts import boxes

# Strict, and tolerant: 0..1 each.
Both = tuple[float, float]
BOLD = re.compile(r"\*\*+([^*]+)\*\*+")
TRIPLE = re.compile(r"\*\*\*([^*\n]+)\*\*\*")
COMMAND = re.compile(r"\\(?:text|textbf|mathbf|mathrm|boxed)\b")
STATED = re.compile(r"(?i).*\banswer\b(?:\s+is)?\s*:?(.*)")
WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
DIGITS = {word: str(number) for number, word in enumerate(WORDS.split())}


def bolds(text: str) -> list[str]:
    """Everything in bold, in order."""
    return [found.strip() for found in BOLD.findall(text)]


def boxed(text: str) -> list[str]:
    """The contents of every box that closes, in order."""
    return [content for content in boxes(text) if content is not None]


def edited(wanted: Sequence[int], given: Sequence[int]) -> int:
    """The edit distance of two lists of numbers."""
    # What is measured without scoring anew needs none of it.
    from rapidfuzz.distance import Levenshtein  # noqa: PLC0415

    return Levenshtein.distance(wanted, given)


def lines(text: str) -> list[str]:
    """The lines that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def plain(text: str) -> str:
    """Words and digits alone, in lower case, number words as digits; a hyphen parts no word."""
    bare = COMMAND.sub(" ", unicodedata.normalize("NFKC", text)).casefold()
    return " ".join(DIGITS.get(word, word) for word in re.findall(r"[\w&'-]+", bare))


def states(text: str, key: str) -> bool:
    """Whether a response states the key where an answer may stand, or ends with it.

    That is its last box, last bold words, what follows the last word "answer", and last line.
    """
    wanted = plain(key)
    end = lines(text)
    after = [match[1] for line in end if (match := STATED.fullmatch(line))]
    places = [plain(part[-1]) for part in (boxed(text), bolds(text), after, end) if part]
    return wanted in places or (bool(places) and f" {places[-1]}".endswith(f" {wanted}"))


GROUP = 4
QUOTES = str.maketrans("‘’“”–—−", "''\"\"---")
VERDICT = re.compile(r"\b(yes|no|unknown)\b")
# A shape may be named with an adjective ("equilateral triangle"), but not in a list of shapes.
SHAPES = ("tetrahedra", "tetrahedron", "triangle", "square")


def _typography(text: str) -> str:
    """One kind of quote, dash and blank; no emphasis."""
    unified = unicodedata.normalize("NFKC", text).translate(QUOTES)
    return " ".join(unified.replace("*", "").split())


def typos(question: str, key: str, text: str) -> Both:
    """The corrected text stands in the response, line breaks aside; tolerant: typography too."""
    joined = " ".join(line for line in text.split("\n") if line)
    return key in joined, _typography(key) in _typography(text)


def _groups(items: list[str]) -> list[frozenset[str]]:
    names = [item.strip().strip("*.").lower() for item in items]
    return [frozenset(names[at : at + GROUP]) for at in range(0, len(names), GROUP)]


def connections(question: str, key: str, text: str) -> Both:
    """Share of the key's groups of four in the best list in bold.

    Tolerant: also in the last lines that list groups after a heading.
    """
    wanted = _groups(key.split(","))
    answers = [part.split(",") for part in bolds(text.replace("\n", ""))]
    rows = [line.replace("*", "").rpartition(":")[2].split(",") for line in lines(text)]
    listed = [item for row in rows if len(row) % GROUP == 0 for item in row]
    answers.append(listed[-GROUP * len(wanted) :])
    *bold, last = (sum(one in _groups(given) for one in wanted) / len(wanted) for given in answers)
    return max(bold, default=0), last


def plot_unscrambling(question: str, key: str, text: str) -> Both:
    """1 - edit distance / sentences, after each sentence of the key finds the nearest given one.

    The question asks for no form: there is nothing to tolerate.
    """
    wanted, given = (
        [part.strip() for part in plot.split(".") if part.strip()]
        for plot in (key, text.partition("<PLOT_SUMMARY>")[2] or text)
    )
    order = list[int]()
    for sentence in wanted:
        # The most similar one by the ratio of matching characters; to look for it takes long.
        same = [sentence] if sentence in given else difflib.get_close_matches(sentence, given, 1, 0)
        order += map(given.index, same)
    return 1 - edited(range(len(wanted)), order) / len(wanted), 0.0


def web_of_lies(question: str, key: str, text: str) -> Both:
    """Three words yes or no: the last three in bold; tolerant: in a box, or in the last line."""
    places = key, " ".join(bolds(text)), *boxed(text)[-1:], *lines(text)[-1:]
    wanted, bold, *given = (VERDICT.findall(place.lower())[-3:] for place in places)
    return wanted == bold, wanted in given


def zebra(question: str, key: str, text: str) -> Both:
    """One word or name: the last in triple stars; tolerant: wherever the answer is stated."""
    starred = [plain(word) for word in TRIPLE.findall(text)[-1:]]
    right = any(plain(one) in starred for one in (key, key.removesuffix(" movies")))
    return right, states(text, key)


def spatial(question: str, key: str, text: str) -> Both:
    """A number or shape: any of the last three in bold; tolerant: wherever it is stated."""
    wanted = plain(key)
    words = [plain(word) for word in bolds(text)[-3:]]
    named = [word for word in words if wanted in word and len(word) < 2 * len(wanted) + 5]
    right = wanted in words or (wanted in SHAPES and bool(named))
    return right, states(text, key)


FENCE = re.compile(r"```[a-z]*\n?(.*?)```", re.DOTALL)
FORMATS = re.compile(r"from (\w+) format to (\w+) format")
CELLS, TAG = re.compile(r"(?is)<t[dh]\b[^>]*>(.*?)</t[dh]>"), re.compile(r"<[^>]*>")
MISSING = {"", "nan", "null", "none", "n/a", "na", "<na>"}
# Two numbers are the same cell within this.
CLOSE = 1e-6
Row = dict[str, object]


def column_type(question: str, key: str, text: str) -> Both:
    """The name of a class, letters and digits compared; tolerant: wherever it is stated."""
    given, wanted = (re.sub(r"\W", "", one.lower()) for one in ([text, *boxed(text)][-1], key))
    return given == wanted, states(text, key)


def _fenced(text: str) -> str:
    """What stands in the last code fence, or the whole text."""
    return str([text, *FENCE.findall(text)][-1]).strip()


def _mapping(text: str) -> dict[Any, Any]:
    braces = "".join(re.findall(r"\{.*\}", text, re.DOTALL))
    try:
        found = ast.literal_eval(re.sub(r"\bnull\b", "None", braces))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def join(question: str, key: str, text: str) -> Both:
    """F1 over the pairs of columns; a pair without a target is wrong, tolerant: left out."""
    wanted = _mapping(key)
    given = _mapping(_fenced(text))
    named = {column: target for column, target in given.items() if target}
    hits = sum(wanted.get(column) == target for column, target in named.items())
    strict, tolerant = (2 * hits / max(1, len(wanted) + len(of)) for of in (given, named))
    return strict, tolerant


def _rows(text: str, kind: str) -> list[Row]:
    """The rows of a table, the first one its header; none where the text is no such table."""
    lines = text.splitlines(keepends=True)
    try:
        if kind == "json":
            found = json.loads(text)
            return [dict(row) for row in (found.values() if isinstance(found, dict) else found)]
        if kind == "jsonl":
            return [dict(json.loads(line)) for line in lines if line.strip()]
        if kind == "html":
            parts = [CELLS.findall(row) for row in re.split(r"(?i)<tr\b", text)[1:]]
            cells = [[html.unescape(TAG.sub("", cell)) for cell in row] for row in parts]
        elif kind == "markdown":
            cells = [re.split(r"(?<!\\)\|", line.strip().strip("|")) for line in lines]
            cells = [row for row in cells if not re.fullmatch(r"[\s:|-]*", "|".join(row))]
        else:
            cells = list(csv.reader(lines, delimiter={"csv": ",", "tsv": "\t"}[kind]))
        head, *rows = filter(None, cells)
        return [dict(zip(head, row, strict=True)) for row in rows]
    except (ValueError, TypeError, LookupError, csv.Error):
        return []


def _cell(value: object, *, tolerant: bool) -> object:
    r"""A number, a text, or None where the cell is missing.

    Tolerant: entities and escapes (`\/`, `\u00f4`) are resolved, blanks collapsed.
    """
    text = str(value).strip()
    if value is None or text.lower() in MISSING:
        return None
    try:
        return float(text)
    except ValueError:
        if not tolerant:
            return text
    resolved = re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), text)
    return " ".join(html.unescape(resolved.replace("\\/", "/")).split())


def _same(one: object, two: object) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=0, abs_tol=CLOSE)
    return one == two


def _reformatted(kind: str, key: str, text: str, *, tolerant: bool) -> bool:
    """Whether a text holds the rows of the key, cell for cell."""

    def named(column: str) -> str:
        return re.sub(r"\W|_", "", column).lower() if tolerant else column.strip()

    def read(row: Row) -> Row:
        return {named(name): _cell(cell, tolerant=tolerant) for name, cell in row.items()}

    def same(one: Row, two: Row) -> bool:
        there = one.keys() <= two.keys() if tolerant else one.keys() == two.keys()
        return there and all(_same(one[name], two[name]) for name in one)

    wanted, given = ([*map(read, _rows(table, kind))] for table in (key, text))
    return bool(wanted) and len(wanted) == len(given) and all(map(same, wanted, given))


def reformat(question: str, key: str, text: str) -> Both:
    """The same columns, and cell for cell the same values, in the format asked for.

    Tolerant: columns too many, capitals and signs in their names, and escapes are set aside.
    """
    formats = FORMATS.search(question)
    table = _fenced(text)
    asked = formats[2].lower() if formats else "", key, table
    return _reformatted(*asked, tolerant=False), _reformatted(*asked, tolerant=True)
