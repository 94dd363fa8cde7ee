"""Reader of a user's own judgments: one JSONL or CSV file, one row a verdict.

| column | value |
|---|---|
| item | any id of the prompt |
| responder_a, responder_b | who wrote the two responses |
| judge | who judged; its own responses are those of the responder of the same name |
| label | the human's vote: `a`, `b`, `tie` or a responder's name; empty where nobody voted |
| order | which response the judge read first: `ab` or `ba`; empty where it is not known |
| verdict | the judge's choice, spelled as the label; empty where it gave none |
| probability_a, probability_b | instead of, or beside, the verdict: of the two labels |

`label` may be left out beside a file of votes, `order` where it is nowhere known. Optional, too:
`repeat` (a number, where a judge read one pair in one order more than once), `annotator`
(who voted), `cluster` (what a bootstrap resamples; default: the item), `category`, `prompt`,
`text_a`, `text_b`.
"""

import pandas as pd

from selfpref.formats.rows import PROBABILITIES, TEXTS, WHO, filled, numbers, refuse
from selfpref.tables.schemas import ROUNDING

REQUIRED = (*WHO, "judge")
# Of a file of votes alone.
VOTED = (*WHO, "label")
GIVEN = ("label", "order", "verdict", *PROBABILITIES)
OPTIONAL = (*GIVEN, "repeat", "annotator", "cluster", "category", *TEXTS)


def rows(raw: pd.DataFrame) -> pd.DataFrame:
    """The records with probabilities (NaN where none are given) and repeats as numbers.

    Raises:
        SelfprefError: They are none; names file, line and column.
    """
    one, two = (numbers(raw, name) for name in PROBABILITIES)
    given = filled(raw, PROBABILITIES[0]) | filled(raw, PROBABILITIES[1])
    both = raw.assign(**{name: raw.get(name) for name in PROBABILITIES})
    shown = "probabilities [{probability_a}, {probability_b}] are not "
    refuse(both, given & (one + two).isna(), f"{shown}two numbers; give two or none")
    good = one.ge(0) & two.ge(0) & (one + two).le(1 + ROUNDING)
    remedy = "give probabilities, not logarithms or percentages"
    refuse(both, given & ~good, f"{shown}in 0..1 with a sum of at most 1; {remedy}")
    if "repeat" not in raw:
        return raw.assign(probability_a=one, probability_b=two, repeat=0)
    repeat = raw["repeat"].astype("str").where(filled(raw, "repeat"), "0")
    number = repeat.str.isdecimal() & repeat.str.len().le(9)
    refuse(raw, ~number, "repeat {repeat} is not a number from 0; count readings 0, 1, ...")
    return raw.assign(probability_a=one, probability_b=two, repeat=repeat.astype("int64"))
