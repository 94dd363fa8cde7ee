"""Reader of a user's own judgments: one JSONL or CSV file, one row a verdict.

| column | value |
|---|---|
| item | any id of the prompt |
| responder_a, responder_b | who wrote the two responses |
| label | the human's vote: `a`, `b`, `tie` or a responder's name; empty where nobody voted |
| judge | who judged; its own responses are those of the responder of the same name |
| order | which response the judge read first: `ab` or `ba`; empty where it is not known |
| verdict | the judge's choice, spelled as the label; empty where it gave none |
| probability_a, probability_b | instead of, or beside, the verdict: of the two labels |

Optional: `repeat` (a number, where a judge read one pair in one order more than once), `annotator`
(who voted), `cluster` (what a bootstrap resamples; default: the item), `category`, `prompt`,
`text_a`, `text_b`.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.formats.records import judges_of, rows_of
from selfpref.formats.rows import PROBABILITIES, WHO, Frames, Read, gather, places, tables_of
from selfpref.params import Dataset
from selfpref.tables.schemas import ROUNDING

REQUIRED = (*WHO, "label", "judge", "order")
# Of a file of votes alone.
VOTED = (*WHO, "label")
OPTIONAL = (
    *("verdict", *PROBABILITIES, "repeat", "annotator", "cluster", "category"),
    *("prompt", "text_a", "text_b"),
)
KNOWN = {*REQUIRED, *OPTIONAL}


def checked(
    read: Read, required: Iterable[str] = REQUIRED, word: str = "line"
) -> Iterator[tuple[Path, int, Mapping[str, Any]]]:
    """Rows whose columns are known and whose numbers are numbers.

    Args:
        read: File, line and row.
        required: Columns that every row has.
        word: What a place in a file is called.

    Raises:
        SelfprefError: Names file, line, column and remedy.
    """
    wanted = tuple(required)
    filled = [name for name in wanted if name in (*WHO, "judge")]
    columns: tuple[str, ...] = ()
    for path, number, values in read:
        # Rows mostly have the columns of the row before.
        if columns != (columns := tuple(values)):
            _columns(columns, wanted, f"{path}, {word} {number}")
        for key in filled:
            if values[key] is None or values[key] == "":
                raise SelfprefError(
                    f"{path}, {word} {number}: {key} is empty; fill it or remove the row"
                )
        row = values
        if _there(row.get(PROBABILITIES[0])) or _there(row.get(PROBABILITIES[1])):
            pair = _probabilities(row, f"{path}, {word} {number}")
            row = {**row, **dict(zip(PROBABILITIES, pair, strict=True))}
        if _there(row.get("repeat")):
            row = {**row, "repeat": _repeat(row["repeat"], f"{path}, {word} {number}")}
        yield path, number, row


def _columns(columns: tuple[str, ...], wanted: tuple[str, ...], where: str) -> None:
    """End where a column is missing or unknown."""
    if missing := [name for name in wanted if name not in columns]:
        raise SelfprefError(f"{where}: no column {missing[0]!r}; it needs {', '.join(wanted)}")
    if unknown := set(columns) - KNOWN:
        raise SelfprefError(f"{where}: unknown column {min(unknown)!r}; remove it")


def _there(value: Any) -> bool:
    return value is not None and value != ""


def _probabilities(row: Mapping[str, Any], where: str) -> list[float]:
    """P of either label."""
    given = [row.get(key) if _there(row.get(key)) else None for key in PROBABILITIES]
    try:
        pair = [float(value) for value in given]  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError) as error:
        shown = str(given)[:60]
        raise SelfprefError(f"{where}: probabilities {shown} are not two numbers") from error
    if not (min(pair) >= 0 and max(pair) <= 1 and sum(pair) <= 1 + ROUNDING):
        raise SelfprefError(
            f"{where}: probabilities {pair} are not in 0..1 with a sum of at most 1; "
            "give probabilities, not logarithms or percentages"
        )
    return pair


def _repeat(value: Any, where: str) -> int:
    """Which reading of this pair in this order, from 0."""
    if not str(value).isdecimal() or len(str(value)) > 9:
        raise SelfprefError(f"{where}: repeat {str(value)[:40]!r} is not a number from 0")
    return int(value)


def read(dataset: str, entry: Dataset, source: Path) -> Frames:
    """The tables of a user's file.

    Rows of judges that the entry leaves out are skipped. A vote that stands in several rows (once a
    judge and order) counts once.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<item>`.
        entry: The study, the judges to read, and other names.
        source: The .jsonl or .csv file.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: A row breaks the rules above; names file, line and column.
    """
    rows = gather(checked(places(rows_of(source), source))).renamed(entry.aliases)
    found = tables_of(rows, dataset, entry.study, entry.judges)
    judges_of(dataset, entry, rows.frame["judge"].unique())
    return found
