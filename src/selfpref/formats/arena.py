"""Reader of battles as Chatbot Arena releases them, and MT-Bench's votes and merged verdicts.

One row a comparison: `question_id`, `model_a`, `model_b`, `winner` (`model_a`, `model_b`, `tie` or
`tie (...)`), and `judge`, who said so. People are those whom the releases name as people:
`human`, `arena_user_<n>`, `expert_<n>`, `author_<n>`, and everyone in a file of votes; all others
are judges. Which response was read first is not told. An item is `<question_id>/<turn>` where there
are turns, a cluster the question. Every row of a person is a vote of its own.
"""

import pandas as pd

from selfpref.formats.fastchat import item_of, judge_of
from selfpref.formats.rows import refuse
from selfpref.tables.schemas import TIE

FIELDS = ("question_id", "model_a", "model_b", "winner")
PERSON = r"human|(?:arena_user|expert|author)_\w+"
WINNERS = {"model_a": "a", "model_b": "b"}


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """A row a comparison; a vote where a person made it.

    Raises:
        SelfprefError: An unknown winner; names file, line and field.
    """
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
