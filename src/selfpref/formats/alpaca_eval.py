"""Reader of AlpacaEval's `annotations.json`.

One entry an instruction: `output_1` by `generator_1` against `output_2` by `generator_2`, and the
`preference` of the `annotator`: 1 or 2; 1.5 (0 in older files) for a draw; between 1 and 2 where
the annotator is weighted, 1 + P(output_2); null, or -1, where none could be read, which is missing.
AlpacaEval shuffles the two outputs and does not say how, so the order is not known. An item is the
instruction, by its hash. The annotator's name is that of its configuration: name the model behind
it with an alias.
"""

import math
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from selfpref.errors import SelfprefError
from selfpref.formats.rows import PROBABILITIES, Read
from selfpref.tables.schemas import TIE

FIELDS = ("instruction", "generator_1", "generator_2", "annotator", "preference")
CHOICES = {0.0: TIE, 1.0: "a", 1.5: TIE, 2.0: "b"}


def _preference(value: Any, where: str) -> float:
    """A number; NaN where there is none."""
    if value in (None, "", -1):
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.inf
    if math.isnan(number) or number == -1:
        return math.nan
    if number not in CHOICES and not 1 < number < 2:
        raise SelfprefError(f"{where}: preference {value!r}; give 1, 2, 1.5, between, or null")
    return number


def rows(records: Read, votes: bool = False) -> Iterator[tuple[Path, int, dict[str, Any]]]:
    """A row an annotation; of `votes`, the annotators are people.

    Raises:
        SelfprefError: A preference that is none; names file, entry and field.
    """
    for path, number, record in records:
        preference = _preference(record["preference"], f"{path}, entry {number}")
        choice = CHOICES.get(preference)
        row: dict[str, Any] = {
            "item": sha256(str(record["instruction"]).encode()).hexdigest()[:16],
            "category": record.get("dataset"),
            "responder_a": record["generator_1"],
            "responder_b": record["generator_2"],
            "prompt": record["instruction"],
            "text_a": record.get("output_1"),
            "text_b": record.get("output_2"),
        }
        if votes:
            yield path, number, {**row, "annotator": record["annotator"], "label": choice}
            continue
        row |= {"judge": record["annotator"], "verdict": choice}
        if choice is None and not math.isnan(preference):
            row |= dict(zip(PROBABILITIES, (2 - preference, preference - 1), strict=True))
        yield path, number, row
