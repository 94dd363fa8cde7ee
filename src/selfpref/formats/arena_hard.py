"""Reader of Arena-Hard-Auto's judgments, `model_judgment/<judge>/<model>.jsonl`, v0.1 and v2.

One row a question: the `model` against the `baseline`, and two `games`, in the first of which the
baseline is read first. A game's `score` is a label such as `A>>B`, `B>A` or `A=B`; none, or one
that is no such label, is missing (`unparsable`), and so is a game that was never answered
(`failed`). Files of v0.1 have `question_id` for `uid` and no baseline: it was GPT-4 0314.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from selfpref.formats.rows import filled, named
from selfpref.tables.schemas import TIE

FIELDS = ("uid or question_id", "model", "judge", "games")
# The baseline of v0.1, which its files do not name.
BASELINE = "gpt-4-0314"
# By which text is read first, the one that each label names.
LABELS = {
    **dict.fromkeys(("A>>B", "A>B", "B<A", "B<<A"), 0),
    **dict.fromkeys(("B>>A", "B>A", "A<B", "A<<B"), 1),
    **dict.fromkeys(("A=B", "B=A"), 2),
}
ORDERS = {"ab": ("a", "b", TIE), "ba": ("b", "a", TIE)}


def _said(game: Mapping[str, Any] | None, sides: tuple[str, ...]) -> tuple[str | None, str]:
    """The side that a game's label names, and why there is none."""
    place = LABELS.get(str(game["score"]).strip("[]\n ")) if game else None
    return (None if place is None else sides[place]), "unparsable" if game else "failed"


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """A row a game; the baseline is `responder_a`."""
    item = raw["uid"] if "uid" in raw else raw["question_id"]
    shared = named(raw, {"model": "responder_b", "judge": "judge", "category": "category"})
    there = filled(raw, "baseline")
    baseline = raw["baseline"].where(there, BASELINE) if there.any() else BASELINE
    shared = shared.assign(item=item, responder_a=baseline)
    made = []
    for number, (order, sides) in enumerate(ORDERS.items()):
        said = [
            _said(games[number] if len(games) > number else None, sides) for games in raw["games"]
        ]
        verdict, status = zip(*said, strict=True)
        made.append(shared.assign(order=order, verdict=verdict, status=status))
    # Both games of a row stand together.
    return pd.concat(made).sort_index(kind="stable")
