"""`selfpref validate`: what each measure sees of judges of whom one thing is known.

Each row of the table is a simulated judge with one property beside three
that have none, in many simulated sets; each column says in what share of them a measure lies above
0, or `selfpref measure` gives an answer. A judge *favours itself* in the first two rows alone.

A text has a quality: what its writer is worth, and what is particular to the text,

    q = worth + u,      u ~ N(0, 1)

and judges and people answer as `selfpref.statistics.latent` has it, A, a tie or B by an ordered
logit of

    x = scale (q_A - q_B) + pull place + taste own + more

where all but the first judge differ in scale, pull and tie width alone. The first judge has one
*property* of `PROPERTIES` besides. Marks of single texts, 0 to 10, are 5 + 1.5 q with noise; by the
key an answer is right where q > 0.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

from selfpref.card import marks
from selfpref.card.measured import measure
from selfpref.errors import SelfprefError
from selfpref.formats import judgments
from selfpref.formats.records import PAIR, WHO
from selfpref.statistics.bias import names_of
from selfpref.statistics.bootstrap import ClusterBootstrap, Floats, at_once

SEED, QUESTIONS, RESAMPLES = 7, 200, 500
PROPERTY = "the judge's property"
# Of answers, the first two on pairs and the last on marks.
STARTS = ("favours itself", "by at most", "marks its own mistakes up")
MEASURES = {
    "equal_opportunity": "EO",
    "demographic_parity": "DP",
    "beyond_no_preference": "EO beyond a person",
    "excess": "excess",
    "regression_scaled": "own term, linear",
    "latent_quality": "own term, latent",
}
NAMES = ("ada", "bea", "cyd", "dot")
WORTH = (0.8, 0.3, 0.0, -0.6)
# Of each judge in turn, and of people: scale, pull of the first place, tie width.
READERS = ((1.0, 0.3, 0.2), (1.3, -0.3, 0.2), (0.8, 0.2, 0.3), (0.6, 0.5, 0.2))
PEOPLE = (0.7, 0.0, 0.2)


@dataclass(frozen=True)
class Property:
    """What is true of the first judge; of the others nothing is.

    Attributes:
        name: In plain words.
        taste: Logits that it adds for its own texts; points, of marks.
        scale: What its scale is multiplied with, and what divides the noise of its marks.
        pull: Logits that it adds for the first place.
        length: Logits for a text longer by a standard deviation; its own are longer by one.
        writer: Of what it answers by, the part that is the writer's worth, 0..1.
        mistakes: Whether it takes its own mistakes, u below 0, for none.
    """

    name: str
    taste: float = 0.0
    scale: float = 1.0
    pull: float = 0.0
    length: float = 0.0
    writer: float = 0.0
    mistakes: bool = False


NOTHING = Property("nothing")
PROPERTIES = (
    Property("a taste for itself", taste=1.0),
    Property("half that taste", taste=0.5),
    NOTHING,
    Property("noise", scale=0.3),
    Property("sharper than people", scale=3.0),
    Property("the first place", pull=2.0),
    Property("length, its own texts long", length=1.0),
    Property("follows the better writer", writer=1.0),
    Property("repeats its own mistakes", mistakes=True),
)


def design(prompts: int = 80, votes: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """All of `NAMES` judge all pairs of their texts in both orders; so many people vote.

    Returns:
        Rows of verdicts and of votes, as `selfpref.formats.judgments` has them, nothing said yet.
    """
    pairs = [(item, *pair) for item in range(prompts) for pair in combinations(NAMES, 2)]
    rows = pd.DataFrame(pairs, columns=WHO)
    asked = [rows.assign(judge=judge, order=order) for judge, order in product(NAMES, ("ab", "ba"))]
    people = [rows.assign(annotator=f"person {number}") for number in range(votes)]
    return pd.concat(asked, ignore_index=True), pd.concat(people, ignore_index=True)


class World:
    """Texts with a quality, and those who read them."""

    def __init__(
        self, writers: Iterable[str], judges: Sequence[str], one: Property, seed: int = SEED
    ) -> None:
        """Nothing is read yet.

        Args:
            writers: Whose texts are read; the first ones have the qualities `WORTH`.
            judges: Who reads; the first one has the property.
            one: Which.
            seed: Of all that is drawn.
        """
        self.rng = np.random.default_rng(seed)
        self.worth = dict(zip(writers, WORTH, strict=False))
        self.judges, self.true = list(judges), {judges[0]: one}
        self.texts: dict[object, Floats] = defaultdict(lambda: self.rng.normal(size=2))

    def seen(self, judge: str, items: pd.Series, writers: pd.Series) -> tuple[Floats, Floats]:
        """What a reader answers by; an empty name is people.

        Returns:
            Quality in its own eyes, and what it likes a text for besides, `[rows]` each.
        """
        drawn = [self.texts[key] for key in zip(items, writers, strict=True)]
        special, length = np.reshape(drawn, (-1, 2)).T
        true, own = self.true.get(judge, NOTHING), writers.eq(judge).to_numpy(float)
        if true.mistakes:
            special = np.where(own, np.maximum(special, 0.0), special)
        worth = writers.map(self.worth).fillna(0.0).to_numpy(float)
        return worth + (1 - true.writer) * special, true.taste * own + true.length * (length + own)

    def answers(self, judge: str, rows: pd.DataFrame) -> pd.Series:
        """`a`, `tie` or `b` of one reader; an empty name is people.

        Args:
            judge: Who reads.
            rows: `item, responder_a, responder_b` and, where it is known, `order`.
        """
        reader = READERS[self.judges.index(judge) % len(READERS)] if judge else PEOPLE
        (scale, pull, width), true = reader, self.true.get(judge, NOTHING)
        (a, likes_a), (b, likes_b) = (self.seen(judge, rows["item"], rows[side]) for side in PAIR)
        place = rows["order"].map({"ab": 1.0, "ba": -1.0}).fillna(0.0) if "order" in rows else 0.0
        x = true.scale * scale * (a - b) + (pull + true.pull) * place + likes_a - likes_b
        draw = self.rng.random(len(rows))
        said = np.select([draw < expit(x - width), draw < expit(x + width)], ["a", "tie"], "b")
        return pd.Series(said, index=rows.index)

    def filled(
        self, verdicts: pd.DataFrame, votes: pd.DataFrame
    ) -> tuple[pd.DataFrame, pd.DataFrame]:
        """The same rows with `verdict` and `label` as this world has them."""
        said = [self.answers(str(judge), rows) for judge, rows in verdicts.groupby("judge")]
        votes = votes.assign(label=self.answers("", votes))
        return verdicts.assign(verdict=pd.concat(said), label=None), votes

    def marks(self) -> pd.DataFrame:
        """Marks of all judges for all texts, as `selfpref.card.marks.read` returns them.

        The four writers are worth 0.125 in the mean, and 5 + 1.5 * 0.125 is 5.19.

        >>> f"{World(NAMES, NAMES, NOTHING).marks()['score'].mean():.1f}"
        '5.2'
        """
        frames = []
        for judge, writer in product(self.judges, self.judges):
            rows = pd.DataFrame({"item": range(QUESTIONS), "judge": judge, "responder": writer})
            text, true = (rows["item"], rows["responder"]), self.true.get(judge, NOTHING)
            noise = self.rng.normal(size=QUESTIONS) / true.scale
            quality, likes = self.seen(judge, *text)
            score = np.clip(5 + 1.5 * quality + likes + noise, 0, 10)
            key = (self.seen("", *text)[0] > 0).astype(float)
            frames.append(rows.assign(score=score, key=key, cluster=rows["item"], task=""))
        return pd.concat(frames, ignore_index=True)


def found(
    verdicts: pd.DataFrame, votes: pd.DataFrame, judges: Sequence[str], one: Property, seed: int
) -> dict[str, object]:
    """Of one simulated judge, the first of these, which intervals lie above 0; and the answers.

    Args:
        verdicts: Who was asked, a row a verdict; what they said is simulated.
        votes: Who voted, a row a vote.
        judges: All judges, the one with the property first.
        one: The property.
        seed: Of what they say, and of marks.

    Returns:
        The property, and 1 or 0 by column of the table; NaN for what the set cannot give.
    """
    world = World(names_of(*(verdicts[side] for side in PAIR)), judges, one, seed)
    judge = judges[0]
    filled, voted = world.filled(verdicts, votes)
    pairs = measure(filled, judge=judge, votes=voted, resamples=RESAMPLES)
    marked = marks.measure(world.marks(), "marks", judge, ClusterBootstrap(RESAMPLES, seed=SEED))
    card, mark = (of.numbers["judges"][judge] for of in (pairs, marked))
    lows = {name: card[key]["lo"] for key, name in MEASURES.items()}
    lows["third judge"] = mark["third_judge"][0]["lo"]
    above = {name: np.nan if low is None else float(low > 0) for name, low in lows.items()}
    said = [of.answers[judge].verdict for of in (pairs, pairs, marked)]
    answers = {
        f"*{start}*": float(of.startswith(start)) for start, of in zip(STARTS, said, strict=True)
    }
    return {PROPERTY: one.name, **above, **answers}


def example() -> pd.DataFrame:
    """A file of judgments to try `selfpref measure` on: the first judge has a taste for itself."""
    said, voted = World(NAMES, NAMES, PROPERTIES[0]).filled(*design())
    # A person's vote stands beside the verdicts of each order.
    said["annotator"] = said["order"].map({"ab": "person 0", "ba": "person 1"})
    return said.drop(columns="label").merge(voted)


def played(
    verdicts: pd.DataFrame, votes: pd.DataFrame, judges: Sequence[str], sets: int
) -> pd.DataFrame:
    """A row a property and a simulated set, as of `found`.

    Raises:
        SelfprefError: No set is asked for.
    """
    if sets < 1:
        raise SelfprefError(f"--sets: {sets} is too few, give 1 or more")
    calls = product([verdicts], [votes], [judges], PROPERTIES, range(SEED, SEED + sets))
    return pd.DataFrame(at_once(found, calls))


def table(sets: pd.DataFrame) -> str:
    """The share of the sets by property, in per cent, as Markdown.

    >>> print(table(pd.DataFrame({PROPERTY: ["noise"] * 2, "EO": [1.0, 0.0], "DP": np.nan})))
    | the judge's property | EO | DP |
    | --- | --- | --- |
    | noise | 50 | – |
    <BLANKLINE>
    """
    shares = sets.groupby(PROPERTY, sort=False).mean().mul(100)
    texts = shares.map("{:.0f}".format).replace("nan", "–").reset_index()
    lines = [[*texts], ["---"] * len(texts.columns), *texts.to_numpy().tolist()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def like(path: Path) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """What `played` needs of a user's file: its items, judges, orders and votes.

    Raises:
        SelfprefError: No judge of it wrote a response.
    """
    rows = judgments.read(path)
    judged, voted = rows[rows["judge"].notna()], rows[rows["label"].notna()]
    judges = names_of(judged["judge"])
    own = [judge for judge in judges if judge in judged[[*PAIR]].to_numpy()]
    if not own:
        raise SelfprefError(f"{path}: no judge wrote a response that it judged; see --alias")
    verdicts = judged[[*WHO, "judge", "order"]].drop_duplicates(ignore_index=True)
    votes = voted.fillna({"annotator": "human"})[[*WHO, "annotator"]]
    votes = votes.drop_duplicates(ignore_index=True)
    return verdicts, votes, [*dict.fromkeys([own[0], *judges])]
