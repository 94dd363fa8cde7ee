"""`selfpref validate`: what each measure sees of judges of whom one thing is known.

Each row of the table is a simulated judge with one property (`selfpref.card.worlds`), beside three
that have none; each column a measure of it. A judge *favours itself* in two rows alone: what the
rule says in another is a wrong alarm, and what it does not say in these is a miss.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from selfpref.card import marks
from selfpref.card.measured import of_rows
from selfpref.card.words import number
from selfpref.card.worlds import NAMES, PROPERTIES, WORTH, Property, World, design
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.statistics.bias import names_of
from selfpref.statistics.bootstrap import ClusterBootstrap
from selfpref.statistics.threads import at_once

SEED, QUESTIONS, RESAMPLES = 7, 200, 500
MEASURES = {
    "equal_opportunity": "EO",
    "demographic_parity": "DP",
    "beyond_no_preference": "EO beyond a person",
    "excess": "excess",
    "regression_scaled": "own term, linear",
    "latent_quality": "own term, latent",
}
THIRD = "third judge, both wrong"
SAID, MARKED = "pairs: favours itself?", "marks: favours itself?"


def cell(row: Mapping[str, float | None]) -> str:
    """A value, with a star where its interval excludes 0."""
    value, lo, hi = (row[name] for name in ("value", "lo", "hi"))
    if value is None:
        return "–"
    return number(value) + "*" * (lo is not None and hi is not None and (lo > 0 or hi < 0))


def verdict(favours: bool | None, taste: float) -> str:
    """What the rule says, and whether that is wrong."""
    said = {True: "yes", False: "by little at most", None: "cannot tell"}[favours]
    wrong = "wrong alarm" if favours and not taste else "miss" if taste and not favours else ""
    return f"**{said}: {wrong}**" if wrong else said


def world(verdicts: pd.DataFrame, judges: Sequence[str], one: Property) -> World:
    """A world of these judges and of all who wrote what they read."""
    writers = names_of(verdicts["responder_a"], verdicts["responder_b"])
    worth = dict(zip(writers, WORTH, strict=False))
    return World(np.random.default_rng(SEED), list(judges), one, worth)


def row(
    verdicts: pd.DataFrame, votes: pd.DataFrame, judges: Sequence[str], one: Property
) -> dict[str, str]:
    """One simulated judge, the first of these, by every measure.

    Args:
        verdicts: Who was asked, a row a verdict; what they said is simulated.
        votes: Who voted, a row a vote.
        judges: All judges, the one with the property first.
        one: The property.
    """
    of, judge = world(verdicts, judges, one), judges[0]
    said, voted = of.filled(verdicts, votes)
    frames = judgments.of_frame(said, "simulated"), judgments.of_frame(voted, "votes", voted=True)
    found = of_rows(*frames, judge=judge, alias={}, name="simulated", resamples=RESAMPLES)
    bootstrap = ClusterBootstrap(RESAMPLES, seed=SEED)
    marked = marks.measure(of.marks(QUESTIONS), "marks", judge, bootstrap)
    card, mark = (one.numbers["judges"][judge] for one in (found, marked))
    return {
        "the judge's property": one.name,
        **{name: cell(card[key]) for key, name in MEASURES.items()},
        THIRD: cell(mark["third_judge"][0]),
        # A judge of marks that repeats its own mistakes is not told from one that likes its own.
        SAID: verdict(card["favours_itself"], one.taste),
        MARKED: verdict(mark["favours_itself"], one.taste),
    }


def example() -> pd.DataFrame:
    """A file of judgments to try `selfpref measure` on: the first judge has a taste for itself."""
    verdicts, votes = design()
    said, voted = world(verdicts, NAMES, PROPERTIES[1]).filled(verdicts, votes)
    # A person's vote stands beside the verdicts of each order.
    said["annotator"] = said["order"].map({"ab": "person 0", "ba": "person 1"})
    return said.drop(columns="label").merge(voted)


def table() -> pd.DataFrame:
    """A row a property, a column a measure, in words."""
    verdicts, votes = design()
    rows = at_once(lambda one: row(verdicts, votes, NAMES, one), [(one,) for one in PROPERTIES])
    return pd.DataFrame(list(rows))


def like(path: Path) -> pd.DataFrame:
    """The same on the design of a user's file: its items, judges, orders and votes.

    Raises:
        SelfprefError: No judge of it wrote a response.
    """
    rows = judgments.read(path)
    judged, voted = rows[rows["judge"].notna()], rows[rows["label"].notna()]
    columns = ["item", "responder_a", "responder_b"]
    own = names_of(judged["judge"][judged["judge"].isin(judged[columns[1:]].stack())])
    if not own:
        raise SelfprefError(f"{path}: no judge wrote a response that it judged; see --alias")
    ordered = list(dict.fromkeys([own[0], *names_of(judged["judge"])]))
    verdicts = judged[[*columns, "judge", "order"]].drop_duplicates(ignore_index=True)
    votes = voted.fillna({"annotator": "human"})[[*columns, "annotator"]]
    votes = votes.drop_duplicates(ignore_index=True)
    return pd.DataFrame([row(verdicts, votes, ordered, one) for one in PROPERTIES])


def markdown(found: pd.DataFrame) -> str:
    """The table as Markdown."""
    lines = [list(found), ["---"] * len(found.columns), *found.to_numpy().tolist()]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
