"""Fig. 1a: one pair on which a judge prefers its own response, and people the other."""

import pandas as pd

from selfpref.statistics.scores import pairs_with
from selfpref.studies.wataoka.measure.judged import Judged

EXAMPLE = [
    *("dataset", "item_id", "judge", "opponent", "score", "margin"),
    *("opponent_agrees_with_human", "length"),
]
# Which pair shows the bias best, in this order; True and greater first where not ascending.
RANKED = {"opponent_agrees_with_human": False, "margin": True, "length": True}


def example(data: Judged) -> pd.DataFrame:
    """Candidates for Fig. 1a: a judge prefers its own response, the human majority the other.

    The rule: both texts are released; pairs whose opponent, as a judge, sides with the human come
    first (as in the paper's example), then the clearest human majority, then the shortest texts.

    Returns:
        At most one row.
    """
    texts = data.tables["responses"].query("step == 0 and sample == 0")
    length = texts.set_index(["item_id", "responder"])["length"]
    found = [pd.DataFrame()]
    for judge in data.judges:
        rows = pairs_with(data.pairs, judge)
        sided = rows[rows["judge"].eq(rows["opponent"]) & rows["decision"].eq(0)]
        own = rows[rows["judge"].eq(judge) & rows["human"].eq(0) & rows["decision"].eq(1)]
        mine, other = (
            length.reindex(pd.MultiIndex.from_frame(own[["item_id", side]]))
            for side in ("judge", "opponent")
        )
        witnesses = pd.MultiIndex.from_frame(sided[["item_id", "opponent"]])
        found.append(
            own.assign(
                dataset=data.name,
                opponent_agrees_with_human=other.index.isin(witnesses),
                length=mine.to_numpy() + other.to_numpy(),
            )
        )
    frame = pd.concat(found)
    if frame.empty or frame["length"].isna().all():
        return pd.DataFrame()
    frame = frame[EXAMPLE].dropna(subset="length").astype({"length": int})
    order = RANKED | dict.fromkeys(("item_id", "judge", "opponent"), True)
    return frame.sort_values([*order], ascending=[*order.values()]).head(1)


def quoted(example: pd.DataFrame, items: pd.DataFrame, responses: pd.DataFrame) -> pd.DataFrame:
    """The example with its prompt and both texts.

    Args:
        example: As `compute` returns it.
        items: The items table, the example's item at least.
        responses: The responses table, those to this item at least.
    """
    texts = responses.query("step == 0 and sample == 0").set_index(["item_id", "responder"])["text"]
    messages = items.set_index("item_id")["messages"]
    return example.assign(
        prompt=["\n\n".join(m["content"] for m in messages[item]) for item in example["item_id"]],
        own_text=[texts[row.item_id, row.judge] for row in example.itertuples()],
        other_text=[texts[row.item_id, row.opponent] for row in example.itertuples()],
    )
