"""Reader of FastChat's pairwise judgments, such as `model_judgment/gpt-4_pair.jsonl`.

One row a question and turn: `model_1` and `model_2`, the winner of the first game, in which
`model_1` is read first (`g1_winner`), and of the second, with the order swapped (`g2_winner`). A
game is an `error` where FastChat got no answer or found no verdict in it: the verdict is missing,
`failed` or `unparsable`, and never a tie. `judge` is the judge's name, or a list of it and its
prompt. An item is `<question_id>/<turn>`, a cluster the question. The votes on the same questions
are a file of their own (`selfpref.formats.arena`).
"""

import pandas as pd

from selfpref.formats.rows import filled, named, refuse
from selfpref.tables.schemas import TIE

FIELDS = ("question_id", "model_1", "model_2", "g1_winner", "g2_winner", "judge")
WINNERS = {"model_1": "a", "model_2": "b", "tie": TIE}
GAMES = (("g1_winner", "g1_judgment", "ab"), ("g2_winner", "g2_judgment", "ba"))
# What FastChat writes where a request failed.
ERROR = "$ERROR$"


def judge_of(judges: pd.Series) -> pd.Series:
    """The judges' names: themselves, or the first of a list of name and prompt."""
    names = judges.map(lambda value: value[0] if isinstance(value, list) and value else value)
    return names.astype("str").replace("", None)


def item_of(raw: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Who stands in two columns; the item (a turn of a question) and the cluster (the question)."""
    question = raw["question_id"].astype("str")
    turned = filled(raw, "turn")
    item = (question + "/" + raw["turn"].astype("str")) if turned.any() else question
    sides = named(raw, {first: "responder_a", second: "responder_b"})
    return sides.assign(item=item.where(turned, question), cluster=question)


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """A row a game.

    Raises:
        SelfprefError: An unknown winner; names file, line and field.
    """
    shared, games = item_of(raw, "model_1", "model_2").assign(judge=judge_of(raw["judge"])), []
    for field, text, order in GAMES:
        winner = raw[field].astype("str").replace(["", "error"], None)
        refuse(
            raw,
            winner.notna() & ~winner.isin(WINNERS),
            f"{field} {{{field}}}; give model_1, model_2, tie or error",
        )
        sent = raw[text].astype("str").replace("", None) if text in raw else winner
        failed = sent.isna() | sent.str.contains(ERROR, regex=False)
        status = failed.map({True: "failed", False: "unparsable"}).where(winner.isna())
        games.append(shared.assign(order=order, verdict=winner.map(WINNERS), status=status))
    # Both games of a row stand together.
    return pd.concat(games).sort_index(kind="stable")
