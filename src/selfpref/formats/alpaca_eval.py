"""Reader of AlpacaEval's `annotations.json`.

One entry an instruction: `output_1` by `generator_1` against `output_2` by `generator_2`, and the
`preference` of the `annotator`: 1 or 2; 1.5 (0 in older files) for a draw; between 1 and 2 where
the annotator is weighted, 1 + P(output_2); null, or -1, where none could be read, which is missing.
AlpacaEval shuffles the two outputs and does not say how, so the order is not known. An item is the
instruction, by its hash. The annotator's name is that of its configuration: name the model behind
it with an alias.
"""

from hashlib import sha256

import pandas as pd

from selfpref.formats.rows import PROBABILITIES, filled, named, numbers, refuse
from selfpref.tables.schemas import TIE

FIELDS = ("instruction", "generator_1", "generator_2", "annotator", "preference")
CHOICES = {0.0: TIE, 1.0: "a", 1.5: TIE, 2.0: "b"}
NAMES = {
    "dataset": "category",
    "generator_1": "responder_a",
    "generator_2": "responder_b",
    "instruction": "prompt",
    "output_1": "text_a",
    "output_2": "text_b",
}


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """A row an annotation.

    Raises:
        SelfprefError: A preference that is none; names file, entry and field.
    """
    preference = numbers(raw, "preference")
    known = preference.isin((-1, *CHOICES)) | preference.between(1, 2)
    reason = "preference {preference}; give 1, 2, 1.5, between, or null"
    refuse(raw, filled(raw, "preference") & ~known, reason)
    item = [sha256(str(text).encode()).hexdigest()[:16] for text in raw["instruction"]]
    found = named(raw, NAMES).assign(item=item)
    choice = preference.map(CHOICES)
    weighted = preference.where(choice.isna() & preference.ge(1))
    shares = dict(zip(PROBABILITIES, (2 - weighted, weighted - 1), strict=True))
    return found.assign(judge=raw["annotator"], verdict=choice, **shares)
