"""Reader of battles as Chatbot Arena releases them, and MT-Bench's votes and merged verdicts.

One row a comparison: `question_id` (in later releases `id`), `model_a`, `model_b`, `winner`
(`model_a`, `model_b`, `tie`, `tie (...)` or `both_bad`; in one release a column each of 0 and 1,
`winner_model_a`, `winner_model_b`, `winner_tie`), and `judge`, who said so. People are those whom
the releases name as people: `human`, `arena_user_<n>`, `expert_<n>`, `author_<n>`, and everyone in
a file of votes; all others are judges. Which response was read first is not told. An item is
`<question_id>/<turn>` where there are turns, a cluster the question. Every row of a person is a
vote of its own.
"""

import pandas as pd

from selfpref.formats.fastchat import item_of, judge_of
from selfpref.formats.rows import numbers, refuse
from selfpref.tables.schemas import TIE

FIELDS = ("question_id or id", "model_a", "model_b", "winner or winner_tie")
PERSON = r"human|(?:arena_user|expert|author)_\w+"
WINNERS = {"model_a": "a", "model_b": "b", "both_bad": TIE}


def _named(raw: pd.DataFrame) -> pd.Series:
    """The winner that columns of 0 and 1 tell, in the words of the other releases."""
    names = ["model_a", "model_b", TIE]
    told = pd.DataFrame({name: numbers(raw, f"winner_{name}") for name in names}).eq(1)
    return told.idxmax(axis=1).where(told.sum(axis=1).eq(1), "no winner, or several")


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """A row a comparison; a vote where a person made it.

    Raises:
        SelfprefError: An unknown winner; names file, line and field.
    """
    if "question_id" not in raw:
        raw = raw.rename(columns={"id": "question_id"})
    if "winner" not in raw:
        raw = raw.assign(winner=_named(raw))
    winner = raw["winner"].astype("str").replace("", None)
    choice = winner.map(WINNERS).mask(winner.str.startswith(TIE), TIE)
    refuse(
        raw,
        winner.notna() & winner.ne("error") & choice.isna(),
        "winner {winner}; give model_a, model_b, tie or error",
    )
    by = judge_of(raw["judge"]) if "judge" in raw else pd.Series(None, raw.index, "str")
    person = by.str.fullmatch(PERSON)
    return item_of(raw, "model_a", "model_b").assign(
        annotator=by.where(person),
        label=choice.where(person),
        judge=by.mask(person),
        verdict=choice.mask(person),
        status=winner.map({"error": "failed"}),
    )
