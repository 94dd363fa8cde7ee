"""Files of pairs that showed labels: the true ones, swapped ones, or random ones.

GPT models judged both orders. Llama judged one, the own text first; its raw probabilities lie in
one file a data set, and further files hold P("1") / (P("1") + P("2")) of each condition.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from selfpref.studies.panickssery.read.audit import Audit
from selfpref.studies.panickssery.read.files import Rows, Texts
from selfpref.studies.panickssery.read.pairs import ORDERS, note_answers, note_stored, note_tokens
from selfpref.studies.panickssery.read.verdicts import Pairs, Reading

# The condition of each file, and the word of the raw file for it.
VARIANTS = {"correct": "labels-correct", "wrong": "labels-swapped", "random": "labels-random"}
RAW = {"correct": "correct", "wrong": "incorrect", "random": "random"}


def _variant(rows: Rows, condition: str, own: str) -> str | Texts:
    """The variant of a condition; of random labels, that of what fell on each pair."""
    if condition != "random":
        return VARIANTS[condition]
    rows.need("random_labels")
    fallen = []
    for number, labels in enumerate(rows.column("random_labels")):
        if not isinstance(labels, list) or len(labels) != 2 or own not in labels:
            raise rows.error(number, f"'random_labels' is {labels!r}, not the labels of a pair")
        # The first label is the one that the own text got.
        fallen.append(f"{VARIANTS[condition]}-{'correct' if labels[0] == own else 'swapped'}")
    return np.array(fallen, dtype=object)


def read_labels(audit: Audit, rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
    """The verdicts of a file with both orders.

    Args:
        audit: Takes the findings.
        rows: The rows of the file.
        pairs: Their pairs.

    Raises:
        SelfprefError: Another schema; names the file.
    """
    fields = [f"{order}_comparison" for order in ORDERS]
    rows.need("self_preference", *fields)
    stored = rows.numbers("self_preference")
    answers = {
        name: Reading.of_tokens(rows, name, name.replace("comparison", "probability"))
        for name in fields
    }
    note_answers(audit, rows, "preference", stored, answers)
    note_tokens(audit, rows, "preference", stored, *answers.values())
    variant = _variant(rows, rows.file.condition, pairs.own)
    return pairs.verdicts(
        "preference", variant, stored, **dict(zip(ORDERS, answers.values(), strict=True))
    )


@dataclass
class SingleOrder:
    """The scores that the files of one order hold, by data set and condition.

    They are read before the raw probabilities that they belong to.
    """

    scores: dict[tuple[str, str], pd.Series] = field(default_factory=dict)

    def read(self, audit: Audit, rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
        """Keep the scores of a file; its rows of foreign articles become failed verdicts.

        Args:
            audit: Takes the findings.
            rows: The rows of the file.
            pairs: Their pairs.

        Raises:
            SelfprefError: Another schema; names the file.
        """
        rows.need("self_preference")
        stored = pd.Series(
            rows.numbers("self_preference"), index=[pairs.item_ids, pairs.others], dtype=float
        )
        again = stored.index.duplicated()
        audit.note(rows, "repeated-rows", again)
        audit.note(rows, "single-order", np.ones(len(rows), dtype=bool))
        self.scores[rows.file.dataset, rows.file.condition] = stored[~again]
        foreign = pairs.part(~pairs.known)
        return foreign.verdicts(
            "preference",
            VARIANTS[rows.file.condition],
            stored.to_numpy()[~pairs.known],
            forward=Reading.lost(len(foreign)),
        )

    def read_raw(self, audit: Audit, rows: Rows, pairs: Pairs) -> list[pd.DataFrame]:
        """The verdicts of a file of raw probabilities, with the scores kept for them."""
        audit.note(rows, "single-order", np.ones(len(rows), dtype=bool))
        frames = []
        for condition, word in RAW.items():
            name = f"{word}_label_output"
            rows.need(name)
            reading = Reading.of_probabilities(rows, name)
            known = self.scores.get((rows.file.dataset, condition), pd.Series(dtype=float))
            place = pd.MultiIndex.from_arrays([pairs.item_ids, pairs.others])
            stored = np.full(len(rows), np.nan)
            if len(known):
                stored = known.reindex(place).to_numpy(dtype=float)
            share = reading.shares()[:, 0]
            note_stored(audit, rows, f"preference, {condition} labels", stored, {"own": share})
            note_answers(audit, rows, f"preference, {condition} labels", stored, {name: reading})
            variant = _variant(rows, condition, pairs.own)
            frames += pairs.verdicts("preference", variant, stored, forward=reading)
        return frames
