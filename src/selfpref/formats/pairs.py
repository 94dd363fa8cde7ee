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

from pathlib import Path
from typing import Any

import pandas as pd

from selfpref import tables
from selfpref.errors import SelfprefError
from selfpref.formats.records import judges_of, rows_of
from selfpref.params import Dataset
from selfpref.tables.schemas import ROUNDING, TIE

REQUIRED = ("item", "responder_a", "responder_b", "label", "judge", "order")
PROBABILITIES = ("probability_a", "probability_b")
VOTED = ("repeat", "annotator", "cluster", "category")
OPTIONAL = ("verdict", *PROBABILITIES, *VOTED, "prompt", "text_a", "text_b")
ORDERS = ("ab", "ba")


class _Row:
    """One row of the file, with its place for error messages."""

    def __init__(self, path: Path, number: int, values: dict[str, Any]) -> None:
        self.where = f"{path}, line {number}"
        if missing := [key for key in REQUIRED if key not in values]:
            raise SelfprefError(
                f"{self.where}: no column {missing[0]!r}; it needs {', '.join(REQUIRED)}"
            )
        if unknown := sorted(set(values) - {*REQUIRED, *OPTIONAL}):
            raise SelfprefError(f"{self.where}: unknown column {unknown[0]!r}; remove it")
        self.values = {key: value for key, value in values.items() if value not in (None, "")}
        for key in ("item", "responder_a", "responder_b", "judge"):
            if key not in self.values:
                raise SelfprefError(f"{self.where}: {key} is empty; fill it or remove the row")
            if not str(self.values[key]).isprintable():
                raise SelfprefError(
                    f"{self.where}: {key} {self.values[key]!r} is not printable; rename it"
                )
        self.pair = (str(values["responder_a"]), str(values["responder_b"]))
        if self.pair[0] == self.pair[1]:
            raise SelfprefError(
                f"{self.where}: responder_a and responder_b are both {self.pair[0]!r}"
            )

    def text(self, key: str) -> str | None:
        """A value as text, None where it is empty."""
        return str(self.values[key]) if key in self.values else None

    def side(self, key: str) -> str | None:
        """A label or verdict as `a`, `b` or `tie`, None where it is empty."""
        if (value := self.text(key)) is None:
            return None
        sides = {"a": "a", "b": "b", TIE: TIE, self.pair[0]: "a", self.pair[1]: "b"}
        if value not in sides:
            raise SelfprefError(
                f"{self.where}: {key} names the unknown responder {value!r}; "
                f"give a, b, tie, {self.pair[0]!r} or {self.pair[1]!r}"
            )
        return sides[value]

    def probabilities(self) -> list[float] | None:
        """P of either label, None where the row has none."""
        given = [self.values.get(key) for key in PROBABILITIES]
        if given == [None, None]:
            return None
        try:
            pair = [float(value) for value in given]  # type: ignore[arg-type]
        except (TypeError, ValueError) as error:
            raise SelfprefError(
                f"{self.where}: probabilities {given} are not two numbers"
            ) from error
        if not (min(pair) >= 0 and max(pair) <= 1 and sum(pair) <= 1 + ROUNDING):
            raise SelfprefError(
                f"{self.where}: probabilities {pair} are not in 0..1 with a sum of at most 1; "
                "give probabilities, not logarithms or percentages"
            )
        return pair

    def repeat(self) -> int:
        """Which reading of this pair in this order, from 0."""
        text = self.text("repeat") or "0"
        if not text.isdigit():
            raise SelfprefError(f"{self.where}: repeat {text!r} is not a number from 0")
        return int(text)

    def order(self) -> str | None:
        """`ab`, `ba`, or None where it is not known."""
        order = self.text("order")
        if order not in (*ORDERS, None):
            raise SelfprefError(f"{self.where}: order {order!r}; give ab, ba or leave it empty")
        return order


def _verdict(row: _Row) -> dict[str, Any]:
    """Candidates in presented order, what the judge gave for them, and the status."""
    order, side, probabilities = row.order(), row.side("verdict"), row.probabilities()
    empty = probabilities is not None and sum(probabilities) == 0
    if probabilities is not None and not empty:
        first, second = probabilities
        likelier = TIE if first == second else ("a" if first > second else "b")
        if side not in (None, likelier):
            raise SelfprefError(
                f"{row.where}: the verdict {side!r} contradicts the probabilities; give one of them"
            )
        side = likelier
    candidates = list(row.pair)
    choice = None if empty else {"a": row.pair[0], "b": row.pair[1], TIE: TIE, None: None}[side]
    if order == "ba":
        candidates.reverse()
        probabilities = probabilities and probabilities[::-1]
    return {
        "candidates": candidates,
        "order_known": order is not None,
        "probabilities": probabilities,
        "mass": None if probabilities is None else sum(probabilities),
        "choice": choice,
        "repeat": row.repeat(),
        "status": "ok" if choice else ("low-mass" if empty else "unparsable"),
    }


def read(dataset: str, entry: Dataset, source: Path) -> dict[str, pd.DataFrame]:
    """The tables of a user's file.

    Rows of judges that the entry leaves out are skipped. A vote that stands in several rows (once a
    judge and order) counts once.

    Args:
        dataset: Prefix of the item ids, `<dataset>/<item>`.
        entry: The study, and the judges to read.
        source: The .jsonl or .csv file.

    Returns:
        items, responses, labels and verdicts.

    Raises:
        SelfprefError: A row breaks the rules above; names file, line and column.
    """
    items: dict[str, dict[str, Any]] = {}
    responses: dict[tuple[str, str], dict[str, Any]] = {}
    votes: dict[tuple[str, str, str, str], tuple[str, _Row]] = {}
    readings: dict[tuple[str | int, ...], _Row] = {}
    verdicts: list[dict[str, Any]] = []
    seen: set[str] = set()
    for row in (_Row(source, number, values) for number, values in rows_of(source)):
        item_id = f"{dataset}/{row.text('item')}"
        identity = {"study": entry.study, "item_id": item_id}
        judge = str(row.text("judge"))
        seen.add(judge)
        prompt = row.text("prompt")
        items.setdefault(
            item_id,
            identity
            | {
                "category": row.text("category"),
                "cluster": f"{dataset}/{row.text('cluster') or row.text('item')}",
                "messages": [] if prompt is None else [{"role": "user", "content": prompt}],
            },
        )
        for responder, column in zip(row.pair, ("text_a", "text_b"), strict=True):
            if (text := row.text(column)) is not None:
                written = {"responder": responder, "text": text}
                responses.setdefault((item_id, responder), identity | written)
        if (label := row.side("label")) is not None:
            # A vote is for a responder, whichever column it stands in.
            first, second = sorted(row.pair)
            voted = TIE if label == TIE else row.pair["ab".index(label)]
            vote = (item_id, first, second, row.text("annotator") or "human")
            before, voter = votes.setdefault(vote, (voted, row))
            if before != voted:
                raise SelfprefError(
                    f"{row.where}: label {label!r} contradicts {voter.where}; if two people voted, "
                    "name them in a column `annotator`"
                )
        if entry.judges is None or judge in entry.judges:
            verdict = identity | {"judge": judge} | _verdict(row)
            key = (item_id, judge, *verdict["candidates"], verdict["repeat"])
            if (earlier := readings.setdefault(key, row)) is not row:
                raise SelfprefError(
                    f"{row.where}: the same item, pair, judge and order as {earlier.where}; "
                    "remove one, or number them in a column `repeat`"
                )
            verdicts.append(verdict)
    judges_of(dataset, entry, seen)
    labels = [
        {"study": entry.study, "item_id": item_id, "responder_a": first, "responder_b": second}
        | {"annotator": annotator, "label": {first: "a", second: "b", TIE: TIE}[voted]}
        for (item_id, first, second, annotator), (voted, _) in votes.items()
    ]
    return {
        "items": tables.fill(items.values(), "items"),
        "responses": tables.fill(responses.values(), "responses"),
        "labels": tables.fill(labels, "labels"),
        "verdicts": tables.fill(verdicts, "verdicts"),
    }
